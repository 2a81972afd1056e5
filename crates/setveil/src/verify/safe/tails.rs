//! How likely two terms meet so often by chance: hypergeometric tails as whole
//! numbers of 2^-96, rounded up, as `docs/safe.md` defines them.

use std::collections::hash_map::Entry;

use num_bigint::BigUint;
use rustc_hash::FxHashMap;

use super::super::work::Meter;
use crate::Result;

/// One, in units of 2^-96.
pub(super) const ONE: u128 = 1 << 96;

/// Tails that were computed before, per (records, support, support).
#[derive(Default)]
pub(in crate::verify) struct Tails(FxHashMap<[u32; 3], Vec<u128>>);

impl Tails {
    /// `result[o]` is the probability of `o` or more meetings; nothing beyond
    /// the end.
    pub(super) fn of(&mut self, n: u32, a: u32, b: u32, meter: &mut Meter) -> Result<&[u128]> {
        let (a, b) = (a.max(b), a.min(b));
        match self.0.entry([n, a, b]) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(unknown) => {
                // Long numbers: as many digits as records, as many of them as meetings.
                let different = u64::from(b - (a + b).saturating_sub(n));
                meter.step(u64::from(b) + different * different)?;
                Ok(unknown.insert(tails(n, a, b)))
            }
        }
    }
}

/// The tail at `o`.
pub(super) fn at(tails: &[u128], o: u32) -> u128 {
    tails.get(o as usize).copied().unwrap_or(0)
}

fn tails(n: u32, a: u32, b: u32) -> Vec<u128> {
    // The b places of one term are chosen among n; i of them fall on the a.
    let all = binomial(n, b);
    let first = (a + b).saturating_sub(n);
    let mut above: BigUint = BigUint::default();
    let mut result = vec![ONE; b as usize + 1];
    for i in (first..=b).rev() {
        above += binomial(a, i) * binomial(n - a, b - i);
        let scaled: BigUint = &above << 96u32;
        let (whole, exact) = (&scaled / &all, &scaled % &all == BigUint::default());
        let whole: u128 = whole.try_into().unwrap_or(ONE);
        result[i as usize] = whole + u128::from(!exact);
    }
    result
}

fn binomial(n: u32, i: u32) -> BigUint {
    let mut value = BigUint::from(1u32);
    for j in 1..=i.min(n - i) {
        value = value * (n - j + 1) / j;
    }
    value
}
