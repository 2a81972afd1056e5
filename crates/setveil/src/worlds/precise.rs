//! The alternating sums with as many bits as they lose.
//!
//! A number is a whole mantissa of at most P bits times a power of two; every
//! operation cuts off downwards, with a relative error below 2^(1-P). Positive
//! and negative terms are added apart and subtracted once. If the difference
//! has lost too many of the P bits, everything is done again with twice as
//! many: a sum that is known not to be zero is found after finitely many
//! rounds.

use num_bigint::BigUint;

use super::Knowledge;
use super::sums::Sums;

/// Bits of the result that must be right.
const RIGHT: u64 = 50;

/// A mantissa times a power of two.
#[derive(Clone, Debug)]
struct Big {
    mantissa: BigUint,
    exponent: i64,
}

impl Big {
    fn new(value: u64) -> Self {
        Self { mantissa: value.into(), exponent: 0 }
    }

    fn zero() -> Self {
        Self::new(0)
    }

    /// Cuts the mantissa to `bits`.
    fn cut(mut self, bits: u64) -> Self {
        let surplus = self.mantissa.bits().saturating_sub(bits);
        if surplus > 0 {
            self.mantissa >>= surplus;
            self.exponent += surplus as i64;
        }
        self
    }

    fn times_small(mut self, factor: u64, bits: u64) -> Self {
        self.mantissa *= factor;
        self.cut(bits)
    }

    fn over_small(mut self, divisor: u64, bits: u64) -> Self {
        // 64 more bits first, so that the quotient keeps its precision.
        let shift = (bits + 64).saturating_sub(self.mantissa.bits());
        self.mantissa <<= shift;
        self.exponent -= shift as i64;
        self.mantissa /= divisor;
        self.cut(bits)
    }

    fn times(&self, other: &Self, bits: u64) -> Self {
        let mantissa = &self.mantissa * &other.mantissa;
        Self { mantissa, exponent: self.exponent + other.exponent }.cut(bits)
    }

    fn power(&self, mut power: u64, bits: u64) -> Self {
        let (mut result, mut square) = (Self::new(1), self.clone());
        while power > 0 {
            if power & 1 == 1 {
                result = result.times(&square, bits);
            }
            power >>= 1;
            if power > 0 {
                square = square.times(&square, bits);
            }
        }
        result
    }

    fn quotient(numerator: &BigUint, denominator: &BigUint, bits: u64) -> Self {
        let shift = (bits + 1 + denominator.bits()).saturating_sub(numerator.bits());
        let mantissa = (numerator << shift) / denominator;
        Self { mantissa, exponent: -(shift as i64) }.cut(bits)
    }

    fn plus(&self, other: &Self, bits: u64) -> Self {
        let (low, high) = if self.top() <= other.top() { (self, other) } else { (other, self) };
        if low.mantissa == BigUint::ZERO || high.top() - low.top() > bits as i64 + 2 {
            return high.clone();
        }
        let exponent = low.exponent.min(high.exponent);
        let mantissa = (&low.mantissa << (low.exponent - exponent) as u64)
            + (&high.mantissa << (high.exponent - exponent) as u64);
        Self { mantissa, exponent }.cut(bits)
    }

    /// The difference, zero where it would be negative.
    fn minus(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let left = &self.mantissa << (self.exponent - exponent) as u64;
        let right = &other.mantissa << (other.exponent - exponent) as u64;
        let mantissa = if left > right { left - right } else { BigUint::ZERO };
        Self { mantissa, exponent }
    }

    /// Where its leading bit is; meaningless for zero.
    fn top(&self) -> i64 {
        if self.mantissa == BigUint::ZERO {
            return i64::MIN / 2;
        }
        self.exponent + self.mantissa.bits() as i64
    }

    fn ln(&self) -> f64 {
        let shift = self.mantissa.bits().saturating_sub(64);
        let leading = u64::try_from(&self.mantissa >> shift).expect("64 bits remain");
        (leading as f64).ln() + (self.exponent as f64 + shift as f64) * std::f64::consts::LN_2
    }
}

/// An alternating sum: positive and negative terms apart.
struct Alternating {
    positive: Big,
    negative: Big,
    bits: u64,
}

impl Alternating {
    fn new(bits: u64) -> Self {
        Self { positive: Big::zero(), negative: Big::zero(), bits }
    }

    fn add(&mut self, j: u64, term: &Big) {
        let side = if j.is_multiple_of(2) { &mut self.positive } else { &mut self.negative };
        *side = side.plus(term, self.bits);
    }

    /// The sum, if `operations` cuts per term leave enough of it right.
    fn certified(&self, operations: u64) -> Option<Big> {
        let sum = self.positive.minus(&self.negative);
        let lost = self.positive.top().max(self.negative.top()) + 1 - sum.top();
        let error_bits = 2 + (64 - operations.leading_zeros()) as i64;
        (sum.mantissa != BigUint::ZERO && lost + error_bits + RIGHT as i64 <= self.bits as i64)
            .then_some(sum)
    }
}

/// g(r), exactly.
fn places(r: u64, knowledge: Knowledge) -> BigUint {
    match knowledge {
        Knowledge::Format => (BigUint::from(1u8) << r) - 1u8,
        Knowledge::Algorithm(_) => {
            let (mut sum, mut binomial) = (BigUint::ZERO, BigUint::from(1u8));
            for c in 1..=knowledge.max_occurrences(r) {
                binomial *= r - c + 1;
                binomial /= c;
                sum += &binomial;
            }
            sum
        }
    }
}

/// Calls `each(j, r, a_j / a_0, phi(r))` for every term that is not zero.
fn terms(sums: &Sums, bits: u64, mut each: impl FnMut(u64, u64, &Big, &Big)) {
    let mut a = Big::new(1);
    let mut here = places(sums.size, sums.knowledge);
    for r in (sums.least_occupied()..=sums.size).rev() {
        let j = sums.size - r;
        let below = places(r - 1, sums.knowledge);
        let phi = Big::quotient(&(&here - &below), &here, bits);
        each(j, r, &a, &phi);
        a = a.times_small(r, bits).over_small(j + 1, bits);
        for &n in &sums.totals {
            a = a.times_small(r - n, bits).over_small(r, bits);
        }
        if sums.terms > 0 {
            a = a.times(&Big::quotient(&below, &here, bits).power(sums.terms, bits), bits);
        }
        here = below;
    }
}

/// Tries `sum` with more and more bits until it is certified.
fn until_certified<T>(sums: &Sums, weight: u64, sum: impl Fn(u64, u64) -> Option<T>) -> T {
    // Cuts behind the last term: the steps before it, and its weight. The
    // relative error of a power grows with the exponent.
    let step = 2 * sums.totals.len() as u64 + 3 + 4 * sums.terms;
    let operations = (sums.size + 1).saturating_mul(step + 2).saturating_add(weight);
    let mut bits = 192;
    loop {
        if let Some(result) = sum(bits, operations) {
            return result;
        }
        bits *= 2;
    }
}

/// ln(sum_j a_j / a_0). The caller has made sure that there is a world.
pub(super) fn ln_share_without_empty(sums: &Sums) -> f64 {
    until_certified(sums, 0, |bits, operations| {
        let mut all = Alternating::new(bits);
        terms(sums, bits, |j, _, a, _| all.add(j, a));
        all.certified(operations).map(|sum| sum.ln())
    })
}

/// sum_j a_j (s - j)^(1-q) phi(s - j)^w / sum_j a_j. The caller has made sure
/// that there is a world.
pub(super) fn ratio(sums: &Sums, q: usize, w: usize) -> f64 {
    if !positive(sums, q, w) {
        return 0.0;
    }
    until_certified(sums, (q + 4 * w + 1) as u64, |bits, operations| {
        let (mut all, mut weighted) = (Alternating::new(bits), Alternating::new(bits));
        terms(sums, bits, |j, r, a, phi| {
            all.add(j, a);
            let mut term = a.clone();
            if q == 0 {
                term = term.times_small(r, bits);
            }
            for _ in 1..q {
                term = term.over_small(r, bits);
            }
            weighted.add(j, &term.times(&phi.power(w as u64, bits), bits));
        });
        let (all, weighted) = (all.certified(operations)?, weighted.certified(operations)?);
        Some((weighted.ln() - all.ln()).exp())
    })
}

/// Whether some world has a record with parts of `q` chunks and `w` terms: the
/// other records must still find something each.
fn positive(sums: &Sums, q: usize, w: usize) -> bool {
    let most = sums.knowledge.max_occurrences(sums.size);
    let placed =
        sums.totals.iter().sum::<u64>() as u128 + u128::from(sums.terms) * u128::from(most);
    placed >= u128::from(sums.size) + (q + w) as u128 - 1 || sums.size == 1
}
