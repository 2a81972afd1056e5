//! Noise whose distribution is exactly what the proof says.
//!
//! Everything is drawn from whole numbers: rates are fractions, and no
//! floating point number takes part. The gaps between floating point numbers
//! would otherwise tell what was added to what (I. Mironov: On Significance
//! of the Least Significant Bits for Differential Privacy. CCS 2012). The
//! samplers are Algorithms 1 and 2 of C. Canonne, G. Kamath, T. Steinke: The
//! Discrete Gaussian for Differential Privacy. NeurIPS 2020.
//!
//! The generator must be cryptographically secure: whoever can predict it
//! subtracts the noise. How long a draw takes depends on what is drawn; this
//! module does not hide that.

use rand::CryptoRng;

/// How fast the noise falls off: a step costs a factor of exp(-s/t).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    s: u128,
    t: u64,
}

impl Rate {
    /// exp(-s/t) a step. Neither may be 0.
    pub(super) fn new(s: u128, t: u64) -> Self {
        debug_assert!(s > 0 && t > 0);
        let (mut a, mut b) = (s, u128::from(t));
        while b > 0 {
            (a, b) = (b, a % b);
        }
        // `a` divides `t`, so the quotient fits.
        Self { s: s / a, t: (u128::from(t) / a) as u64 }
    }

    /// s / t for thresholds, which need not be exact.
    pub(super) fn approximate(self) -> f64 {
        self.s as f64 / self.t as f64
    }

    /// `steps` times s / t as a whole number and a remainder in units of 1 / t.
    fn times(self, steps: u64) -> (u64, u64) {
        let x = u128::from(steps) * self.s;
        let t = u128::from(self.t);
        (u64::try_from(x / t).unwrap_or(u64::MAX), (x % t) as u64)
    }
}

/// Draws from a secure generator.
#[derive(Debug)]
pub(super) struct Noise<'a, R> {
    rng: &'a mut R,
}

impl<'a, R: CryptoRng> Noise<'a, R> {
    pub(super) fn new(rng: &'a mut R) -> Self {
        Self { rng }
    }

    /// The two-sided geometric distribution: x with probability proportional
    /// to exp(-|x| s/t).
    pub(super) fn two_sided(&mut self, rate: Rate) -> i64 {
        loop {
            let (negative, size) = (self.coin(), self.geometric(rate));
            // There is one zero, not two.
            if !(negative && size == 0) {
                let size = i64::try_from(size).unwrap_or(i64::MAX);
                return if negative { -size } else { size };
            }
        }
    }

    /// y or more with probability exp(-y s/t).
    pub(super) fn geometric(&mut self, rate: Rate) -> u64 {
        let fraction = loop {
            let u = self.below(rate.t);
            if self.exp_of_fraction(u, rate.t) {
                break u;
            }
        };
        let mut x = u128::from(fraction);
        while self.exp_of_one() {
            x += u128::from(rate.t);
        }
        u64::try_from(x / rate.s).unwrap_or(u64::MAX)
    }

    /// Which of the cells `0..cells`, all with a count of 0, reach `threshold`
    /// when [`two_sided`](Self::two_sided) noise is added to each; ascending.
    /// How far above it each gets is [`geometric`](Self::geometric).
    ///
    /// Each cell passes by itself with probability r^threshold / (1 + r), r =
    /// exp(-s/t), so their number is binomial and which they are is uniform.
    /// The probability is a product in which each factor of exp(-1) begins
    /// with a fair coin: the coins of 64 cells are drawn at once, and the few
    /// cells that are left are decided one by one.
    pub(super) fn passing(&mut self, rate: Rate, threshold: u64, cells: u64) -> Vec<u64> {
        let (ones, rest) = rate.times(threshold);
        let mut found = Vec::new();
        for base in (0..cells).step_by(64) {
            let mut left = u64::MAX >> (64 - (cells - base).min(64));
            for _ in 0..ones {
                if left == 0 {
                    break;
                }
                left &= self.rng.next_u64();
            }
            while left != 0 {
                let cell = base + u64::from(left.trailing_zeros());
                left &= left - 1;
                if (0..ones).all(|_| self.exp_of_one_after_coin())
                    && self.exp_of_fraction(rest, rate.t)
                    && self.not_negative(rate)
                {
                    found.push(cell);
                }
            }
        }
        found
    }

    /// True with probability 1 / (1 + r): the noise is not below 0.
    fn not_negative(&mut self, rate: Rate) -> bool {
        let (ones, rest) = rate.times(1);
        loop {
            if self.coin() {
                return true;
            }
            if (0..ones).all(|_| self.exp_of_one()) && self.exp_of_fraction(rest, rate.t) {
                return false;
            }
        }
    }

    /// True with probability exp(-a/b), a at most b.
    fn exp_of_fraction(&mut self, a: u64, b: u64) -> bool {
        let mut k = 1;
        // True with probability (a/b) / k.
        while self.below(b) < a && self.below(k) == 0 {
            k += 1;
        }
        k % 2 == 1
    }

    /// True with probability exp(-1).
    fn exp_of_one(&mut self) -> bool {
        self.coin() && self.exp_of_one_after_coin()
    }

    /// What [`exp_of_one`](Self::exp_of_one) goes on with if its coin fell right.
    fn exp_of_one_after_coin(&mut self) -> bool {
        let mut k = 3;
        while self.below(k) == 0 {
            k += 1;
        }
        k % 2 == 1
    }

    fn coin(&mut self) -> bool {
        self.rng.next_u64() >> 63 == 1
    }

    /// Uniform on 0..n. What is too large is drawn again, so nothing is
    /// rounded.
    fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0);
        let spare = (n - 1).leading_zeros();
        loop {
            // A shift by 64 is for n = 1, where there is nothing to draw.
            let drawn = self.rng.next_u64().checked_shr(spare).unwrap_or(0);
            if drawn < n {
                return drawn;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;

    const DRAWS: usize = 200_000;

    /// Pearson's statistic over the cells that are expected at least ten
    /// times, the rest being one cell, and the cells' number less one.
    fn chi_square(observed: &[u64], expected: &[f64]) -> (f64, f64) {
        let (mut sum, mut cells) = (0.0, 0.0);
        let (mut other_seen, mut other) = (0.0, 0.0);
        for (&o, &e) in observed.iter().zip(expected) {
            if e >= 10.0 {
                sum += (o as f64 - e).powi(2) / e;
                cells += 1.0;
            } else {
                other_seen += o as f64;
                other += e;
            }
        }
        (sum + (other_seen - other).powi(2) / other.max(1.0), cells)
    }

    /// Mean plus six standard deviations: for the right distribution a random
    /// seed stays below it but once in about a million (the seed is fixed).
    fn limit(cells: f64) -> f64 {
        cells + 6.0 * (2.0 * cells).sqrt() + 6.0
    }

    fn draw(seed: u64, mut one: impl FnMut(&mut Noise<ChaCha20Rng>) -> usize) -> Vec<u64> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut noise = Noise::new(&mut rng);
        let mut seen = vec![0; 401];
        for _ in 0..DRAWS {
            seen[one(&mut noise).min(400)] += 1;
        }
        seen
    }

    fn two_sided_expected(rate: f64) -> Vec<f64> {
        let r = (-rate).exp();
        let at = |i: i32| (1.0 - r) / (1.0 + r) * r.powi((i - 200).abs());
        (0..=400).map(|i| at(i) * DRAWS as f64).collect()
    }

    fn two_sided_seen(seed: u64, rate: Rate) -> Vec<u64> {
        draw(seed, |n| (n.two_sided(rate).clamp(-200, 200) + 200) as usize)
    }

    #[test]
    fn the_noise_has_its_distribution_and_the_test_can_tell() {
        for (seed, s, t) in [(1, 1, 10), (2, 1, 1), (3, 7, 3), (4, 123_456_789, 1 << 30)] {
            let seen = two_sided_seen(seed, Rate::new(s, t));
            let (sum, cells) = chi_square(&seen, &two_sided_expected(s as f64 / t as f64));
            assert!(sum < limit(cells), "{s}/{t}: {sum} over {cells}");
            // Off by a tenth, it is seen.
            let (sum, cells) = chi_square(&seen, &two_sided_expected(1.1 * s as f64 / t as f64));
            assert!(sum > limit(cells), "{s}/{t}: {sum} over {cells}");
        }
    }

    #[test]
    fn the_one_sided_noise_has_its_distribution() {
        for (seed, s, t) in [(5u64, 1u128, 5u64), (6, 5, 2)] {
            let seen = draw(seed, |n| n.geometric(Rate::new(s, t)) as usize);
            let r = (-(s as f64) / t as f64).exp();
            let expected: Vec<f64> =
                (0..=400).map(|i| (1.0 - r) * r.powi(i) * DRAWS as f64).collect();
            let (sum, cells) = chi_square(&seen, &expected);
            assert!(sum < limit(cells), "{s}/{t}: {sum} over {cells}");
        }
    }

    /// Passing cells are those that individual noise would let pass: every
    /// cell equally often, their number binomial.
    #[test]
    fn empty_cells_pass_as_often_as_if_each_had_been_drawn() {
        for (seed, s, t, threshold, cells) in
            [(7u64, 1u128, 2u64, 3u64, 70u64), (8, 3, 1, 1, 64), (9, 1, 7, 11, 3)]
        {
            let rate = Rate::new(s, t);
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            let mut noise = Noise::new(&mut rng);
            let runs = 40_000;
            let (mut by_cell, mut by_number) =
                (vec![0; cells as usize], vec![0; cells as usize + 1]);
            for _ in 0..runs {
                let found = noise.passing(rate, threshold, cells);
                assert!(found.is_sorted_by(|a, b| a < b));
                by_number[found.len()] += 1;
                found.iter().for_each(|&c| by_cell[c as usize] += 1);
            }
            let r = (-(s as f64) / t as f64).exp();
            let p = r.powi(threshold as i32) / (1.0 + r);
            let expected = vec![p * f64::from(runs); cells as usize];
            let (sum, n) = chi_square(&by_cell, &expected);
            assert!(sum < limit(n), "cells {s}/{t}: {sum} over {n}");
            let (mut binomial, mut mass) = (Vec::new(), (1.0 - p).powi(cells as i32));
            for k in 0..=cells {
                binomial.push(mass * f64::from(runs));
                mass *= (cells - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
            }
            let (sum, n) = chi_square(&by_number, &binomial);
            assert!(sum < limit(n), "numbers {s}/{t}: {sum} over {n}");
        }
    }

    #[test]
    fn small_uniform_numbers_are_uniform() {
        let mut rng = ChaCha20Rng::seed_from_u64(10);
        let mut noise = Noise::new(&mut rng);
        assert!((0..100).all(|_| noise.below(1) == 0));
        for n in [2u64, 3, 5, 64] {
            let mut seen = vec![0; n as usize];
            (0..DRAWS).for_each(|_| seen[noise.below(n) as usize] += 1);
            let (sum, cells) = chi_square(&seen, &vec![DRAWS as f64 / n as f64; n as usize]);
            assert!(sum < limit(cells), "{n}: {sum}");
        }
        assert!((0..100).all(|_| noise.below(u64::MAX) < u64::MAX));
    }

    #[test]
    fn rates_are_reduced_and_multiplied_exactly() {
        assert_eq!(Rate::new(6, 4), Rate::new(3, 2));
        assert_eq!(Rate::new(3, 2).times(5), (7, 1));
        // 2^68 / 2^62, as large as rates become.
        assert_eq!(Rate::new(1 << 68, 1 << 62), Rate::new(64, 1));
    }
}
