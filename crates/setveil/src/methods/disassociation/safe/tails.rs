//! How likely it is that two terms meet often by chance, in exact arithmetic.
//!
//! Two chunks are placed in a cluster of n records independently of each
//! other, so the number of records in which a term with support a meets a term
//! with support b is hypergeometric. `tail(o)` is the probability of o or more
//! meetings as a whole number of 2^-96, rounded up: sums of tails are never too
//! small, and every machine finds the same number.

use num_bigint::BigUint;
use rustc_hash::FxHashMap;

/// Binary digits behind the point.
pub(super) const DIGITS: u32 = 96;
/// Up to so many records, binomial coefficients fit into a word.
const SMALL: usize = 64;
/// So many distributions are remembered.
const REMEMBERED: usize = 1 << 16;

/// The tails of one distribution.
#[derive(Debug)]
pub(super) struct Tail {
    /// Fewer meetings are impossible.
    least: u32,
    /// The tails from there on; nothing behind them.
    tails: Box<[u128]>,
}

impl Tail {
    /// The probability of `o` or more, in units of 2^-96.
    pub(super) fn at(&self, o: u32) -> u128 {
        match o.checked_sub(self.least) {
            None => 1 << DIGITS,
            Some(i) => self.tails.get(i as usize).copied().unwrap_or(0),
        }
    }

    /// The smallest number of meetings whose tail is at most `alpha` < 1.
    pub(super) fn threshold(&self, alpha: u128) -> u32 {
        self.least + self.tails.partition_point(|&tail| tail > alpha) as u32
    }

    fn new(n: u32, a: u32, b: u32, binomials: &mut Binomials) -> Self {
        let least = (a + b).saturating_sub(n);
        let tails = if n as usize <= SMALL {
            small(n as usize, a as usize, b as usize, least as usize, binomials)
        } else {
            large(n, a, b, least)
        };
        Self { least, tails }
    }
}

/// Pascal's triangle up to 64, in one array.
#[derive(Debug, Default)]
struct Binomials(Vec<u64>);

impl Binomials {
    fn get(&mut self, n: usize, i: usize) -> u128 {
        const SIDE: usize = SMALL + 1;
        if self.0.is_empty() {
            self.0 = vec![0; SIDE * SIDE];
            for row in 0..SIDE {
                self.0[row * SIDE] = 1;
                for column in 1..=row {
                    self.0[row * SIDE + column] =
                        self.0[(row - 1) * SIDE + column - 1] + self.0[(row - 1) * SIDE + column];
                }
            }
        }
        self.0[n * SIDE + i].into()
    }
}

fn small(n: usize, a: usize, b: usize, least: usize, binomials: &mut Binomials) -> Box<[u128]> {
    let whole = binomials.get(n, b);
    let mut sum = 0;
    let mut tails: Vec<u128> = (least..=a.min(b))
        .rev()
        .map(|i| {
            sum += binomials.get(a, i) * binomials.get(n - a, b - i);
            // sum * 2^96 / whole in two steps that fit into 128 bits.
            let (high, rest) = ((sum << 48) / whole, (sum << 48) % whole);
            (high << 48) + (rest << 48).div_ceil(whole)
        })
        .collect();
    tails.reverse();
    tails.into()
}

/// The same with long numbers: the ratio of neighbouring terms is small.
fn large(n: u32, a: u32, b: u32, least: u32) -> Box<[u128]> {
    let mut terms = vec![ways(n, a, b, least)];
    for i in u64::from(least)..u64::from(a.min(b)) {
        let (n, a, b) = (u64::from(n), u64::from(a), u64::from(b));
        let last = terms.last().expect("one at least");
        terms.push(last * ((a - i) * (b - i)) / ((i + 1) * (n + i + 1 - a - b)));
    }
    let whole: BigUint = terms.iter().sum();
    let mut sum = BigUint::default();
    let mut tails: Vec<u128> = terms
        .iter()
        .rev()
        .map(|term| {
            sum += term;
            let up = (&sum << DIGITS) + &whole - 1u32;
            (up / &whole).try_into().expect("at most 2^96")
        })
        .collect();
    tails.reverse();
    tails.into()
}

/// C(a, i) * C(n - a, b - i).
fn ways(n: u32, a: u32, b: u32, i: u32) -> BigUint {
    let choose = |n: u32, i: u32| {
        let i = i.min(n - i);
        (0..i).fold(BigUint::from(1u32), |c, j| c * (n - j) / (j + 1))
    };
    choose(a, i) * choose(n - a, b - i)
}

/// Distributions by records and supports.
#[derive(Debug, Default)]
pub(super) struct Tails {
    known: FxHashMap<(u32, u32, u32), Tail>,
    binomials: Binomials,
}

impl Tails {
    /// The tails for supports `a` and `b` among `n` records.
    pub(super) fn get(&mut self, n: u32, a: u32, b: u32) -> &Tail {
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        let Self { known, binomials } = self;
        let (a, b) = (a.min(b), a.max(b));
        known.entry((n, a, b)).or_insert_with(|| Tail::new(n, a, b, binomials))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_numbers_agree() {
        let mut binomials = Binomials::default();
        for n in [5u32, 12, 50, 64] {
            for a in 1..n {
                for b in 1..n {
                    let least = (a + b).saturating_sub(n);
                    let short =
                        small(n as usize, a as usize, b as usize, least as usize, &mut binomials);
                    assert_eq!(short, large(n, a, b, least), "{n} {a} {b}");
                    assert_eq!(short[0], 1 << DIGITS);
                }
            }
        }
    }

    #[test]
    fn as_counted_by_hand() {
        // Two of four and two of four: both meet in 1 of 6 ways, one at least in 5.
        let mut tails = Tails::default();
        let tail = tails.get(4, 2, 2);
        let sixth = (1u128 << DIGITS).div_ceil(6);
        assert_eq!((tail.at(2), tail.at(3)), (sixth, 0));
        assert_eq!(tail.at(1), (5u128 << DIGITS).div_ceil(6));
        assert_eq!((tail.threshold(sixth), tail.threshold(sixth - 1)), (2, 3));
        assert_eq!(tails.get(10, 9, 9).at(8), 1 << DIGITS);
    }
}
