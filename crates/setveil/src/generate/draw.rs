//! The distributions the generators draw from.

use std::f64::consts::TAU;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// An exponential variable with mean 1.
pub(super) fn exponential(rng: &mut ChaCha8Rng) -> f64 {
    -(1.0 - rng.random::<f64>()).ln()
}

/// A normal variable with mean 0 and variance 1 (Box and Muller).
pub(super) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    (2.0 * exponential(rng)).sqrt() * (TAU * rng.random::<f64>()).cos()
}

/// An index, each with its share of the weights' sum; by binary search.
pub(super) struct Weighted {
    /// Sums up to and including each weight.
    sums: Vec<f64>,
}

impl Weighted {
    pub(super) fn new(weights: impl IntoIterator<Item = f64>) -> Self {
        let add = |sum: &mut f64, weight: f64| {
            *sum += weight;
            Some(*sum)
        };
        Self { sums: weights.into_iter().scan(0.0, add).collect() }
    }

    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> usize {
        let total = self.sums.last().copied().unwrap_or(0.0);
        let at = rng.random::<f64>() * total;
        self.sums.partition_point(|&sum| sum <= at).min(self.sums.len() - 1)
    }
}

/// A Poisson variable, by its table of probabilities.
pub(super) struct Poisson(Weighted);

impl Poisson {
    pub(super) fn new(mean: f64) -> Self {
        let most = (mean + 12.0 * mean.sqrt() + 12.0) as usize;
        let term = |log: &mut f64, n: usize| {
            if n > 0 {
                *log += mean.ln() - (n as f64).ln();
            }
            Some(log.exp())
        };
        Self(Weighted::new((0..=most).scan(-mean, term)))
    }

    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> usize {
        self.0.draw(rng)
    }
}

/// A rank from 1 to `n` whose probability falls as rank^-s, without a table:
/// a point under a curve above the probabilities is drawn and kept if it lies
/// under its own bar (rejection-inversion, Hörmann and Derflinger 1996).
pub(super) struct Zipf {
    n: f64,
    s: f64,
    low: f64,
    high: f64,
}

impl Zipf {
    pub(super) fn new(n: u64, s: f64) -> Self {
        let mut zipf = Self { n: n as f64, s, low: 0.0, high: 0.0 };
        // Rank 1 gets exactly its own weight, the others the area half a rank to both sides.
        zipf.low = zipf.area(1.5) - 1.0;
        zipf.high = zipf.area(zipf.n + 0.5);
        zipf
    }

    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> u64 {
        loop {
            let u = self.low + rng.random::<f64>() * (self.high - self.low);
            let rank = self.inverse(u).round().clamp(1.0, self.n);
            // The curve is convex: its area over a rank is at least the rank's weight.
            if u >= self.area(rank + 0.5) - rank.powf(-self.s) {
                return rank as u64;
            }
        }
    }

    /// The integral of x^-s.
    fn area(&self, x: f64) -> f64 {
        if (self.s - 1.0).abs() < 1e-9 { x.ln() } else { x.powf(1.0 - self.s) / (1.0 - self.s) }
    }

    fn inverse(&self, area: f64) -> f64 {
        if (self.s - 1.0).abs() < 1e-9 {
            area.exp()
        } else {
            (area * (1.0 - self.s)).powf(1.0 / (1.0 - self.s))
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    const DRAWS: usize = 200_000;

    /// Mean and variance of `draw`.
    fn moments(mut draw: impl FnMut(&mut ChaCha8Rng) -> f64) -> (f64, f64) {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let all: Vec<f64> = (0..DRAWS).map(|_| draw(&mut rng)).collect();
        let mean = all.iter().sum::<f64>() / DRAWS as f64;
        (mean, all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / DRAWS as f64)
    }

    #[test]
    fn means_and_variances_are_those_of_the_distributions() {
        let (mean, variance) = moments(exponential);
        assert!((mean - 1.0).abs() < 0.02 && (variance - 1.0).abs() < 0.05);
        let (mean, variance) = moments(normal);
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.05);
        for lambda in [0.5, 4.0, 300.0] {
            let poisson = Poisson::new(lambda);
            let (mean, variance) = moments(|rng| poisson.draw(rng) as f64);
            assert!((mean / lambda - 1.0).abs() < 0.02 && (variance / lambda - 1.0).abs() < 0.05);
        }
    }

    #[test]
    fn zipf_shares_are_those_of_the_law() {
        for s in [0.7, 1.0, 1.3] {
            let zipf = Zipf::new(50, s);
            let mut rng = ChaCha8Rng::seed_from_u64(6);
            let mut counts = [0u32; 51];
            (0..DRAWS).for_each(|_| counts[zipf.draw(&mut rng) as usize] += 1);
            let total: f64 = (1..=50).map(|r| f64::from(r).powf(-s)).sum();
            for rank in [1, 2, 3, 10, 50] {
                let expected = f64::from(rank).powf(-s) / total;
                let found = f64::from(counts[rank as usize]) / DRAWS as f64;
                let error = (expected / DRAWS as f64).sqrt();
                assert!((found - expected).abs() < 5.0 * error, "s {s}, rank {rank}: {found}");
            }
        }
    }
}
