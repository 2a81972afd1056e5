//! Where the subsets of a row stand in its block of element numbers.
//!
//! A row of n items has a slot for every subset of 1 to `size` of them: first
//! the items, then the pairs, the triples and so on, each size in
//! colexicographic order. The place of positions p1 < p2 < ... < ps among the
//! subsets of size s is C(p1, 1) + C(p2, 2) + ... + C(ps, s), whatever n is.

/// C(n, r), or the greatest number if it does not fit.
pub(super) fn choose(n: u64, r: u64) -> u64 {
    if r > n {
        return 0;
    }
    let r = r.min(n - r);
    let mut result: u128 = 1;
    for i in 0..r {
        result = result * u128::from(n - i) / u128::from(i + 1);
        if result > u128::from(u64::MAX) {
            return u64::MAX;
        }
    }
    result as u64
}

/// The number of subsets of 1 to `size` of `n` items.
pub(super) fn slots(n: usize, size: u32) -> u64 {
    let sizes = 1..=u64::from(size).min(n as u64);
    sizes.fold(0, |sum: u64, s| sum.saturating_add(choose(n as u64, s)))
}

/// Slots of subsets, with the binomials at hand.
pub(super) struct Places {
    size: usize,
    /// `choose[s][p]` is C(p, s).
    choose: Vec<Vec<u32>>,
}

impl Places {
    /// For rows of at most `longest` items.
    pub(super) fn new(size: u32, longest: usize) -> Self {
        let row = |s: u64| {
            let all = (0..=longest as u64).map(|p| choose(p, s));
            all.map(|c| u32::try_from(c).unwrap_or(u32::MAX)).collect()
        };
        Self { size: size as usize, choose: (0..=u64::from(size)).map(row).collect() }
    }

    /// The largest subsets that have slots.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Where the subsets of `size` begin in a row of `n` items.
    pub(super) fn base(&self, n: usize, size: usize) -> usize {
        (1..size).map(|s| self.choose[s][n] as usize).sum()
    }

    /// What position `p` adds as the `s`-th smallest of a subset.
    pub(super) fn step(&self, p: usize, s: usize) -> usize {
        self.choose[s][p] as usize
    }

    /// The slot of the pair `a`, `b` in a row of `n` items.
    pub(super) fn pair(n: usize, a: usize, b: usize) -> usize {
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        n + high * (high - 1) / 2 + low
    }

    /// The slots of all sets of `x` and up to `size - 1` of `others`, with the
    /// members besides `x`. Neither has to be in order.
    pub(super) fn each_with(
        &self,
        n: usize,
        x: usize,
        others: &[usize],
        each: &mut impl FnMut(usize, &[usize]),
    ) {
        each(x, &[]);
        if self.size < 2 {
            return;
        }
        for &y in others {
            each(Self::pair(n, x, y), &[y]);
        }
        for size in 3..=self.size {
            let base = self.base(n, size);
            self.combine(base, x, others, size - 1, &mut Vec::with_capacity(size), each);
        }
    }

    fn combine(
        &self,
        base: usize,
        x: usize,
        others: &[usize],
        left: usize,
        chosen: &mut Vec<usize>,
        each: &mut impl FnMut(usize, &[usize]),
    ) {
        if left == 0 {
            let mut sorted = [0; 32];
            let len = chosen.len() + 1;
            sorted[..len - 1].copy_from_slice(chosen);
            sorted[len - 1] = x;
            sorted[..len].sort_unstable();
            let place: usize = (0..len).map(|s| self.step(sorted[s], s + 1)).sum();
            each(base + place, chosen);
            return;
        }
        for i in 0..others.len().saturating_sub(left - 1) {
            chosen.push(others[i]);
            self.combine(base, x, &others[i + 1..], left - 1, chosen, each);
            chosen.pop();
        }
    }

    /// The slots of all subsets of 1 to `size` of `members`.
    pub(super) fn each_subset(&self, n: usize, members: &[usize], each: &mut impl FnMut(usize)) {
        for (i, &x) in members.iter().enumerate() {
            self.each_with(n, x, &members[i + 1..], &mut |slot, _| each(slot));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subset_has_a_slot_of_its_own() {
        for (n, size) in [(1, 1), (5, 1), (6, 2), (7, 3), (6, 4), (5, 5), (3, 5)] {
            let places = Places::new(size, n);
            let mut seen = Vec::new();
            let all: Vec<usize> = (0..n).rev().collect();
            places.each_subset(n, &all, &mut |slot| seen.push(slot));
            seen.sort_unstable();
            assert_eq!(seen, (0..slots(n, size) as usize).collect::<Vec<_>>(), "{n} {size}");
        }
    }

    #[test]
    fn binomials_do_not_overflow() {
        assert_eq!((choose(10, 3), choose(3, 10), choose(5, 0)), (120, 0, 1));
        assert_eq!(choose(10_000, 16), u64::MAX);
        assert_eq!(slots(4, 2), 10);
    }
}
