//! The alternating sums of a simple cluster, with a certified error.
//!
//! Terms follow each other by a ratio: with r = s - j,
//!
//! a_{j+1} / a_j = - r / (j + 1) * prod_i (r - n_i) / r * (1 - phi(r))^tau,
//!
//! because g(r - 1) / g(r) = 1 - phi(r) for both kinds of knowledge. A sum in
//! floating point is accepted if the error bound of its terms, times how much
//! the alternation cancels, stays below [`RELATIVE_ERROR`]; otherwise it is
//! found by an integral ([`contour`]). Both take time that does not grow with
//! the cluster: a sum that grows has cancelled too much after a few terms.

use std::sync::OnceLock;

use super::complex::{Complex, ln_gamma};
use super::{Knowledge, RELATIVE_ERROR, contour};

/// What the sums of one cluster share.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    pub(super) size: u64,
    pub(super) totals: Box<[u64]>,
    pub(super) terms: u64,
    pub(super) knowledge: Knowledge,
    /// Once they have been asked for: a_j / a_0 until it vanishes, empty if there is no
    /// world or if floating point cannot hold it, and a bound for the sum of all
    /// |a_j / a_0| that are left out.
    first: OnceLock<(Box<[f64]>, f64)>,
    /// Relative error that each step from a_j to a_{j+1} adds at most.
    step_error: f64,
    /// How far from the records the integrand is smallest, once it is asked for.
    pub(super) minimum: OnceLock<f64>,
    /// n and ln n! for one n, which is nearly always the same.
    ln_factorial: OnceLock<(f64, Complex)>,
}

impl Sums {
    pub(super) fn new(size: u64, totals: &[u64], terms: u64, knowledge: Knowledge) -> Self {
        let occurrences = knowledge.max_occurrences(size);
        let phi_error = match knowledge {
            Knowledge::Format => 4.0,
            Knowledge::Algorithm(_) => 4.0 * (occurrences as f64 + 2.0),
        };
        let operations = 2.0 * totals.len() as f64 + 4.0 + terms as f64 * (phi_error + 2.0);
        let step_error = operations * f64::EPSILON;
        let (totals, first, minimum) = (totals.into(), OnceLock::new(), OnceLock::new());
        let ln_factorial = OnceLock::new();
        Self { size, totals, terms, knowledge, first, step_error, minimum, ln_factorial }
    }

    /// ln n!.
    pub(super) fn ln_factorial(&self, n: f64) -> Complex {
        let find = || ln_gamma(Complex::from(n) + Complex::from(1.0));
        match self.ln_factorial.get_or_init(|| (n, find())) {
            (known, ln) if *known == n => *ln,
            _ => find(),
        }
    }

    /// The first terms, and a bound for the others.
    fn first(&self) -> (&[f64], f64) {
        let (a, tail) = self.first.get_or_init(|| {
            let possible = possible(self.size, &self.totals, self.terms, self.knowledge);
            let (a, tail) =
                if possible { self.terms_in_floating_point() } else { (Vec::new(), 0.0) };
            (a.into(), tail)
        });
        (a, *tail)
    }

    /// The smallest r with W(r) > 0: every chunk and every term fits.
    pub(super) fn least_occupied(&self) -> u64 {
        self.totals.iter().copied().max().unwrap_or(0).max(1)
    }

    fn terms_in_floating_point(&self) -> (Vec<f64>, f64) {
        let mut a = vec![1.0];
        let mut last = 1.0;
        let least = self.least_occupied();
        for r in (least + 1..=self.size).rev() {
            let j = self.size - r;
            let mut ratio = -(r as f64) / (j + 1) as f64;
            for &n in &self.totals {
                ratio *= (r - n) as f64 / r as f64;
            }
            if self.terms > 0 {
                // As a power of f64: tau fits wherever the result is not zero.
                let power = i32::try_from(self.terms).unwrap_or(i32::MAX);
                ratio *= (1.0 - self.phi(r)).powi(power);
            }
            last *= ratio;
            // The sum is a probability: with a term this large, rounding alone
            // exceeds the error that is allowed.
            if !last.is_finite() || last.abs() > 1e8 || a.len() > MOST_TERMS {
                return (Vec::new(), 0.0);
            }
            // The ratio falls with r, so the later terms fall ever faster.
            if last.abs() < 1e-30 && ratio.abs() < 0.5 {
                return (a, 2.0 * last.abs() + f64::MIN_POSITIVE);
            }
            a.push(last);
        }
        (a, 0.0)
    }

    /// ln(sum_j a_j / a_0): how likely it is that no record is empty.
    pub(super) fn ln_share_without_empty(&self) -> f64 {
        match self.certified(|_| 1.0, 0.0) {
            Some(share) => share.ln(),
            None => contour::ln_share_without_empty(self),
        }
    }

    /// sum_j a_j (s - j)^(1-q) phi(s - j)^w / sum_j a_j.
    pub(super) fn ratio(&self, q: usize, w: usize) -> f64 {
        if !self.together(q, w) {
            return 0.0;
        }
        let weight = |r: u64| {
            let mut weight = if q == 0 { r as f64 } else { (r as f64).powi(1 - q as i32) };
            if w > 0 {
                weight *= self.phi(r).powi(w as i32);
            }
            weight
        };
        let extra = (q + 2) as f64 * f64::EPSILON + w as f64 * self.step_error;
        match (self.certified(weight, extra), self.certified(|_| 1.0, 0.0)) {
            (Some(numerator), Some(denominator)) => numerator / denominator,
            _ => contour::ratio(self, q, w).value,
        }
    }

    /// Whether some world has a record with parts of `q` chunks and `w` terms:
    /// the other records must still find something each.
    pub(super) fn together(&self, q: usize, w: usize) -> bool {
        let most = self.knowledge.max_occurrences(self.size);
        let parts = self.totals.iter().sum::<u64>() as u128;
        let placed = parts + u128::from(self.terms) * u128::from(most);
        placed + 1 >= u128::from(self.size) + (q + w) as u128 || self.size == 1
    }

    /// The share of a term's places in `r` records that use a given one.
    fn phi(&self, r: u64) -> f64 {
        match self.few() {
            Some(1) => 1.0 / r as f64,
            _ => contour::phi(Complex::from(r as f64), self).re,
        }
    }

    /// The weighted sum, if its relative error is certainly small enough.
    fn certified(&self, weight: impl Fn(u64) -> f64, extra_error: f64) -> Option<f64> {
        let (mut sum, mut magnitude, mut error) = (0.0, 0.0, 0.0);
        let (terms, tail) = self.first();
        for (j, a) in terms.iter().enumerate() {
            let term = a * weight(self.size - j as u64);
            sum += term;
            magnitude += term.abs();
            error += term.abs() * (j as f64 * self.step_error + extra_error + f64::EPSILON);
        }
        // Rounding of the additions, and the tail: weights are monotone in r.
        let heaviest = weight(self.size).max(weight(self.least_occupied()));
        let error = error + magnitude * terms.len() as f64 * f64::EPSILON + tail * heaviest;
        (!terms.is_empty() && sum > 0.0 && error <= sum * RELATIVE_ERROR / 2.0).then_some(sum)
    }
}

/// Whether there is a world at all: no chunk has more sub-records than there
/// are records, and there is something for every record.
pub(super) fn possible(size: u64, totals: &[u64], terms: u64, knowledge: Knowledge) -> bool {
    let sub_records: u64 = totals.iter().sum();
    let most = knowledge.max_occurrences(size);
    size > 0
        && totals.iter().all(|&n| n <= size)
        && sub_records.saturating_add(terms.saturating_mul(most)) >= size
}

/// Terms of a sum in floating point; sums that need more are integrated.
const MOST_TERMS: usize = 1 << 12;
