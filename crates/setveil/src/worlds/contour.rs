//! The alternating sums of a simple cluster as integrals, for the clusters in
//! which the sums cancel too much.
//!
//! Let s be the records and W(r) the placements that use r of them
//! ([`model`](super::model)). By Cauchy's theorem (Noerlund and Rice),
//!
//! sum_r (-1)^(s-r) C(s, r) W(r) = s! / (2 pi i) * integral of W(z) / (z (z - 1) ... (z - s)) dz
//!
//! along a closed curve around the whole numbers at which W is not zero. W is
//! a product of falling factorials and of powers of g, and so has a value at
//! every complex z. On the real axis to the right of s the integrand is positive
//! and has one minimum: along a circle through it nothing cancels, its
//! absolute value falls like a bell curve, and the trapezoidal rule converges
//! faster than any power of the step. The work depends on how many chunks there
//! are, and hardly on their sizes.
//!
//! The step is halved until nothing changes. What changed last, and how much
//! larger the sum of the absolute values is than the sum, bound the error.

use std::f64::consts::PI;

use super::Knowledge;
use super::complex::{Complex, Falling, ln_gamma};
use super::sums::Sums;

/// Points of the circle that are looked at before it is given up.
const MOST_POINTS: u32 = 1 << 14;
/// What may change when the step is halved.
const CONVERGED: f64 = 1e-10;
/// Points with a smaller share of the largest value than this add nothing.
const NOTHING: f64 = 1e-24;

/// The circle through the minimum on the real axis.
struct Circle<'a> {
    sums: &'a Sums,
    centre: f64,
    radius: f64,
    /// ln of the integrand at the minimum.
    top: f64,
    /// At this angle the integrand is about as large as at the minimum.
    angle: f64,
}

/// A value with a bound for its relative error.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) value: f64,
    pub(super) error: f64,
}

/// ln(sum_j a_j / a_0). The caller has made sure that there is a world.
pub(super) fn ln_share_without_empty(sums: &Sums) -> f64 {
    let s = Complex::from(sums.size as f64);
    if sums.tight() {
        return ln_tight(sums);
    }
    let circle = Circle::new(sums, 1);
    let (all, _) = circle.integrate(&|_| Complex::from(1.0));
    let ln_factorial = ln_gamma(s + Complex::from(1.0)).re;
    all.value.abs().ln() + circle.radius.ln() + circle.top + ln_factorial
        - ln_placements(sums, s, &Falling::new(s)).re
}

/// sum_j a_j (s - j)^(1-q) phi(s - j)^w / sum_j a_j. The caller has made sure
/// that there is a world.
pub(super) fn ratio(sums: &Sums, q: usize, w: usize) -> Value {
    if sums.tight() {
        // Every record holds one part: a term is where it fits, two are never together.
        let most = sums.knowledge.max_occurrences(sums.size) as f64;
        let value = match (q, w) {
            (0, 0) => sums.size as f64,
            (1, 0) => 1.0,
            (0, 1) => most,
            _ => 0.0,
        };
        return Value { value, error: 0.0 };
    }
    let weight = |z: Complex| {
        let mut weight = (z.ln() * (1.0 - q as f64)).exp();
        if w > 0 {
            weight = weight * (phi(z, sums).ln() * w as f64).exp();
        }
        weight
    };
    let circle = Circle::new(sums, q);
    let (all, weighted) = circle.integrate(&weight);
    Value { value: (weighted.value / all.value).max(0.0), error: all.error + weighted.error }
}

impl<'a> Circle<'a> {
    fn new(sums: &'a Sums, q: usize) -> Self {
        let s = sums.size as f64;
        let right = s + *sums.minimum.get_or_init(|| minimum(sums));
        let mut totals = sums.totals.clone();
        totals.sort_unstable();
        let second = totals.iter().rev().nth(1).copied().unwrap_or(0) as f64;
        // Left of the first pole, near the zeros of W, the integrand is tiny. A
        // circle much larger than the poles goes around all of them, if 0 is none.
        let removable = totals.len() >= q;
        let wide = removable && right > 3.0 * s;
        let left = if wide { s - right } else { (second - 0.5).max(0.5) };
        let (centre, radius) = ((left + right) / 2.0, (right - left) / 2.0);
        let mut circle = Self { sums, centre, radius, top: 0.0, angle: PI };
        circle.top = ln_integrand(sums, Complex::from(right)).re;
        while circle.angle > 1e-9 && circle.at(circle.angle).1.abs() < 0.6 {
            circle.angle /= 2.0;
        }
        circle
    }

    /// The point at an angle, and the integrand there compared with the minimum.
    fn at(&self, angle: f64) -> (Complex, Complex) {
        let (sin, cos) = angle.sin_cos();
        let z = Complex::new(self.centre + self.radius * cos, self.radius * sin);
        let value = (ln_integrand(self.sums, z) - Complex::new(self.top, -angle)).exp();
        (z, value)
    }

    /// The mean of the integrand over the circle, without and with a weight.
    fn integrate(&self, weight: &dyn Fn(Complex) -> Complex) -> (Value, Value) {
        let mut points = 32_u32;
        while 2.0 * PI / f64::from(points) > self.angle && points < MOST_POINTS {
            points *= 2;
        }
        let mut sum = self.every(points, 0.0, weight);
        loop {
            let between = self.every(points, 0.5, weight);
            let before = sum;
            sum = sum.plus(between);
            let change = |now: f64, then: f64| (now / 2.0 - then).abs() / (now / 2.0).abs();
            let all = change(sum.all, before.all);
            let weighted = change(sum.weighted, before.weighted);
            points *= 2;
            let done = all.max(weighted) <= CONVERGED;
            if done || points >= MOST_POINTS {
                let value = |sum: f64, size: f64, change: f64| Value {
                    value: sum / f64::from(points),
                    // Rounding, and what the last halving changed.
                    error: change + 1e-14 * size / sum.abs(),
                };
                return (
                    value(sum.all, sum.all_size, all),
                    value(sum.weighted, sum.weighted_size, weighted),
                );
            }
        }
    }

    /// Adds up the points `shift` steps from the real axis on, until they add
    /// nothing. The lower half of the circle mirrors the upper one.
    fn every(&self, points: u32, shift: f64, weight: &dyn Fn(Complex) -> Complex) -> Points {
        let mut sum = Points::default();
        let half = points / 2;
        for i in 0..=half {
            let step = f64::from(i) + shift;
            if step > f64::from(half) {
                break;
            }
            let (z, value) = self.at(2.0 * PI * step / f64::from(points));
            let times = if step == 0.0 || step == f64::from(half) { 1.0 } else { 2.0 };
            if value.abs() < NOTHING {
                break;
            }
            let weighted = value * weight(z);
            sum.all += times * value.re;
            sum.all_size += times * value.abs();
            sum.weighted += times * weighted.re;
            sum.weighted_size += times * weighted.abs();
        }
        sum
    }
}

#[derive(Clone, Copy, Default)]
struct Points {
    all: f64,
    all_size: f64,
    weighted: f64,
    weighted_size: f64,
}

impl Points {
    fn plus(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            all_size: self.all_size + other.all_size,
            weighted: self.weighted + other.weighted,
            weighted_size: self.weighted_size + other.weighted_size,
        }
    }
}

/// How far to the right of s the integrand is smallest, by golden sections of
/// the logarithm of the distance.
fn minimum(sums: &Sums) -> f64 {
    let s = sums.size as f64;
    let value = |ln: f64| ln_integrand(sums, Complex::from(s + ln.exp())).re + (s + ln.exp()).ln();
    let golden = (5_f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (0.01_f64.ln(), (1e3 * s * s).ln());
    let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_a, mut at_b) = (value(a), value(b));
    for _ in 0..32 {
        if at_a < at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - golden * (high - low);
            at_a = value(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + golden * (high - low);
            at_b = value(b);
        }
    }
    ((low + high) / 2.0).exp()
}

/// ln of W(z) / (z (z - 1) ... (z - s)).
fn ln_integrand(sums: &Sums, z: Complex) -> Complex {
    let falling = Falling::new(z);
    ln_placements(sums, z, &falling) - falling.ln(sums.size as f64 + 1.0)
}

/// ln W(z), with sub-records that are told apart.
fn ln_placements(sums: &Sums, z: Complex, falling: &Falling) -> Complex {
    let mut ln = Complex::from(0.0);
    for same in sums.totals.chunk_by(|a, b| a == b) {
        let one = falling.ln(same[0] as f64);
        same.iter().for_each(|_| ln = ln + one);
    }
    if sums.terms > 0 {
        ln = ln + ln_places(z, sums, falling) * sums.terms as f64;
    }
    ln
}

/// ln g(z).
fn ln_places(z: Complex, sums: &Sums, falling: &Falling) -> Complex {
    match sums.few() {
        None => {
            let halves = z * -std::f64::consts::LN_2;
            (Complex::from(1.0) - halves.exp()).ln() - halves
        }
        Some(most) => {
            let subsets = Subsets::new(z, most);
            let largest = subsets.largest as f64;
            let ln_largest = falling.ln(largest) - sums.ln_factorial(largest);
            ln_largest + subsets.all.ln()
        }
    }
}

/// phi(z): the share of a term's places that use a given record.
pub(super) fn phi(z: Complex, sums: &Sums) -> Complex {
    match sums.few() {
        None => {
            let one = Complex::from(1.0);
            Complex::from(0.5) / (one - (z * -std::f64::consts::LN_2).exp())
        }
        Some(most) => {
            let subsets = Subsets::new(z, most);
            subsets.used / (subsets.all * z)
        }
    }
}

/// The sum over C(z, c), c = 1..=most, compared with its largest term.
struct Subsets {
    /// The c of the largest term.
    largest: u64,
    all: Complex,
    /// The same with each term times c.
    used: Complex,
}

/// Terms that are added up on each side of the largest. They fall off within a
/// few square roots of z, except far to the left, where nothing depends on them.
const SUBSETS: u64 = 1 << 14;

impl Subsets {
    fn new(z: Complex, most: u64) -> Self {
        let one = Complex::from(1.0);
        let middle = if z.re < 2.0 { most } else { (z.re / 2.0) as u64 };
        let largest = middle.clamp(1, most);
        let mut sum = Self { largest, all: Complex::from(0.0), used: Complex::from(0.0) };
        let mut term = one;
        for c in (1..=largest).rev().take(SUBSETS as usize) {
            if !sum.add(term, c) {
                break;
            }
            term = term * (c as f64) / (z - Complex::from(c as f64 - 1.0));
        }
        let mut term = one;
        for c in (largest..most).take(SUBSETS as usize) {
            term = term * (z - Complex::from(c as f64)) / Complex::from(c as f64 + 1.0);
            if !sum.add(term, c + 1) {
                break;
            }
        }
        sum
    }

    fn add(&mut self, term: Complex, c: u64) -> bool {
        self.all = self.all + term;
        self.used = self.used + term * c as f64;
        term.abs() > 1e-19 * self.all.abs()
    }
}

/// ln(sum_j a_j / a_0) where the parts just fill the records: every part has
/// records of its own.
fn ln_tight(sums: &Sums) -> f64 {
    let ln_factorial = |n: f64| ln_gamma(Complex::from(n + 1.0)).re;
    let s = sums.size as f64;
    let most = sums.knowledge.max_occurrences(sums.size) as f64;
    let worlds = ln_factorial(s) - sums.terms as f64 * ln_factorial(most);
    let s = Complex::from(s);
    worlds - ln_placements(sums, s, &Falling::new(s)).re
}

impl Sums {
    /// Whether the parts just suffice to leave no record empty.
    fn tight(&self) -> bool {
        let most = self.knowledge.max_occurrences(self.size);
        let parts: u64 = self.totals.iter().sum();
        parts.saturating_add(self.terms.saturating_mul(most)) == self.size
    }

    /// In how many records a term can be, if that is fewer than all.
    pub(super) fn few(&self) -> Option<u64> {
        match self.knowledge {
            Knowledge::Format => None,
            Knowledge::Algorithm(_) => {
                let most = self.knowledge.max_occurrences(self.size);
                (most < self.size).then_some(most)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::{BigInt, BigUint};

    use super::*;
    use crate::data::K;

    /// n (n - 1) ... (n - c + 1).
    fn falling(n: u64, c: u64) -> BigUint {
        (n + 1 - c..=n).fold(BigUint::from(1_u8), |product, i| product * i)
    }

    fn choose(n: u64, c: u64) -> BigUint {
        falling(n, c) / falling(c, c)
    }

    fn places(r: u64, knowledge: Knowledge) -> BigUint {
        (1..=knowledge.max_occurrences(r)).map(|c| choose(r, c)).sum()
    }

    /// sum_r (-1)^(s-r) C(s, r) W(r) r^(1-q) phi(r)^w, a whole number.
    fn exact(sums: &Sums, q: usize, w: usize) -> BigInt {
        let mut sum = BigInt::ZERO;
        for r in sums.totals.iter().copied().max().unwrap_or(1).max(1)..=sums.size {
            let mut term = choose(sums.size, r);
            sums.totals.iter().for_each(|&n| term *= falling(r, n));
            let here = places(r, sums.knowledge);
            let used = &here - places(r - 1, sums.knowledge);
            term *= here.pow(sums.terms as u32 - w as u32) * used.pow(w as u32);
            term = if q == 0 { term * r } else { term / BigUint::from(r).pow(q as u32 - 1) };
            let sign = if (sums.size - r).is_multiple_of(2) { 1 } else { -1 };
            sum += BigInt::from(term) * sign;
        }
        sum
    }

    /// The quotient of two positive numbers of any size.
    fn quotient(a: &BigInt, b: &BigInt) -> f64 {
        let shift = a.bits().max(b.bits()) as i64 - b.bits() as i64;
        let scaled: BigInt = (a << 120) >> shift;
        let whole = scaled / b;
        let bits = whole.bits().saturating_sub(64);
        let leading = u64::try_from(whole >> bits).unwrap() as f64;
        leading * 2_f64.powi(bits as i32 - 120 + shift as i32)
    }

    #[test]
    fn integrals_agree_with_exact_arithmetic() {
        let few = |most: u32| Knowledge::Algorithm(K::new(most + 1).unwrap());
        let mut worst = (0.0, String::new());
        for (size, totals, terms, knowledge) in [
            (7, vec![3, 3], 2, few(1)),
            (20, vec![9, 8, 4], 0, Knowledge::Format),
            (40, vec![11], 3, Knowledge::Format),
            (50, vec![], 60, few(1)),
            (60, vec![20, 30], 11, few(1)),
            (60, vec![30, 25, 6], 0, few(1)),
            (100, vec![10, 30, 25], 8, few(5)),
            (120, vec![70, 51], 0, few(1)),
            (150, vec![2, 2, 2], 30, few(9)),
            (200, vec![], 101, few(2)),
            (200, vec![150, 40], 3, few(30)),
            (200, vec![60, 60, 60, 30], 0, few(2)),
            (250, vec![1], 2, Knowledge::Format),
            (250, vec![100, 90], 1, few(200)),
        ] {
            let sums = Sums::new(size, &totals, terms, knowledge);
            let all = exact(&sums, 1, 0);
            assert!(all > BigInt::ZERO, "{size} {totals:?}");
            for (q, w) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 0), (2, 1), (3, 0)] {
                if q > totals.len() || w as u64 > terms {
                    continue;
                }
                let right = exact(&sums, q, w);
                let found = ratio(&sums, q, w);
                if right <= BigInt::ZERO {
                    assert_eq!(right, BigInt::ZERO);
                    assert!(!sums.together(q, w), "{size} {totals:?} {terms} {knowledge:?}");
                    continue;
                }
                let right = quotient(&right, &all);
                let error = (found.value - right).abs() / right;
                let place =
                    format!("{size} {totals:?} {terms} {knowledge:?} ({q}, {w}): {found:?}");
                assert!(error <= super::super::RELATIVE_ERROR, "{place}, not {right}: {error:e}");
                assert!(error <= found.error.max(1e-11) * 100.0, "{place}: {error:e}");
                if error > worst.0 {
                    worst = (error, place);
                }
            }
        }
        assert!(worst.0 > 0.0, "floating point is not exact: {worst:?}");
    }

    #[test]
    fn clusters_of_any_size_take_the_same_work() {
        for (size, totals, terms) in [
            (1_000_000, vec![400_000, 300_000, 350_000], 0),
            (1_000_000, vec![], 1_000_200),
            (4_000_000_000, vec![3_000_000_000, 1_000_000_001], 0),
        ] {
            let sums = Sums::new(size, &totals, terms, Knowledge::Algorithm(K::new(2).unwrap()));
            let found =
                ratio(&sums, 2.min(totals.len()), (2 - totals.len().min(2)).min(terms as usize));
            assert!(found.value > 0.0 && found.value.is_finite(), "{size} {totals:?}: {found:?}");
            assert!(found.error < 1e-4, "{size} {totals:?}: {found:?}");
        }
    }
}
