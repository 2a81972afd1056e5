//! The blind grouping once more, written down plainly: sets of labels, no
//! queues, no scratch memory. With the same shuffles it must give the same
//! groups as the library, and its own invariants are asserted on the way.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use setveil::methods::cahd::blind::{Secret, Step};

/// A record in two parts.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Its non-sensitive items.
    pub qid: BTreeSet<u32>,
    /// Its sensitive items.
    pub own: BTreeSet<u32>,
}

/// The groups of `records`, which stand in the band order with runs of equal
/// non-sensitive items already shuffled. Groups are lists of places.
pub fn groups(records: &[Record], p: usize, secret: &dyn Secret) -> Vec<Vec<u32>> {
    let mut plain = Plain { records, p, secret, groups: Vec::new() };
    plain.divide(0, (0..records.len() as u32).collect());
    plain.groups
}

struct Plain<'a> {
    records: &'a [Record],
    p: usize,
    secret: &'a dyn Secret,
    groups: Vec<Vec<u32>>,
}

impl Plain<'_> {
    fn qid(&self, place: u32) -> &BTreeSet<u32> {
        &self.records[place as usize].qid
    }

    fn own(&self, place: u32) -> &BTreeSet<u32> {
        &self.records[place as usize].own
    }

    fn count(&self, part: &[u32], s: u32) -> usize {
        part.iter().filter(|&&place| self.own(place).contains(&s)).count()
    }

    fn items(&self, part: &[u32]) -> BTreeSet<u32> {
        part.iter().flat_map(|&place| self.own(place)).copied().collect()
    }

    fn largest(&self, part: &[u32]) -> usize {
        self.items(part).into_iter().map(|s| self.count(part, s)).max().unwrap_or(0)
    }

    fn emit(&mut self, part: Vec<u32>) {
        assert!(part.len() >= self.p, "a group of {}", part.len());
        assert!(self.largest(&part) * self.p <= part.len(), "a group below the degree");
        self.groups.push(part);
    }

    fn divide(&mut self, start: usize, part: Vec<u32>) {
        assert!(part.is_sorted(), "the order of a part must say nothing");
        let largest = self.largest(&part);
        assert!(largest * self.p <= part.len(), "a part below the degree");
        if largest == 0 || part.len() < 2 * self.p {
            return self.emit(part);
        }
        let least = self.p * largest;
        if part.len() < 2 * least {
            return self.peel(start, part);
        }
        let parts = match part.len() <= 16 * least {
            true => self.around_the_longest(part, least),
            false => self.cut(part, least),
        };
        let mut start = start;
        for part in parts {
            assert!(part.len() >= least, "a part that some placement would break");
            let next = start + part.len();
            self.divide(start, part);
            start = next;
        }
    }

    fn around_the_longest(&self, mut left: Vec<u32>, least: usize) -> Vec<Vec<u32>> {
        let mut parts = Vec::new();
        while left.len() >= 2 * least {
            let longest = |place: &&u32| (Reverse(self.qid(**place).len()), **place);
            let seed = *left.iter().min_by_key(longest).unwrap();
            let mut sorted = left.clone();
            sorted.sort_by(|&a, &b| self.nearness(seed, a, b));
            let mut part = sorted[..least].to_vec();
            part.sort_unstable();
            left.retain(|place| !part.contains(place));
            parts.push(part);
        }
        parts.push(left);
        parts
    }

    /// Which of `a` and `b` is nearer to `seed`.
    fn nearness(&self, seed: u32, a: u32, b: u32) -> std::cmp::Ordering {
        let of = |place: u32| {
            let common = self.qid(seed).intersection(self.qid(place)).count();
            let union = self.qid(seed).union(self.qid(place)).count();
            (common, union, self.qid(place).len() - common)
        };
        let ((ca, ua, oa), (cb, ub, ob)) = (of(a), of(b));
        (cb * ua)
            .cmp(&(ca * ub))
            .then(oa.cmp(&ob))
            .then_with(|| (a.abs_diff(seed), a).cmp(&(b.abs_diff(seed), b)))
    }

    fn cut(&self, part: Vec<u32>, least: usize) -> Vec<Vec<u32>> {
        let least = least.max(part.len() / 64);
        let items: BTreeSet<u32> = part.iter().flat_map(|&p| self.qid(p)).copied().collect();
        let with = |i: u32| part.iter().filter(|&&p| self.qid(p).contains(&i)).count();
        let allowed = |&i: &u32| with(i) >= least && part.len() - with(i) >= least;
        let score = |i: u32| {
            let (n, own) = (part.len() as i128, with(i) as i128);
            let sum: i128 = items
                .iter()
                .map(|&j| {
                    let has = |p: &&u32| self.qid(**p).contains(&i) && self.qid(**p).contains(&j);
                    (n * part.iter().filter(has).count() as i128 - own * with(j) as i128).pow(2)
                })
                .sum();
            sum / (own * (n - own))
        };
        let best = items.iter().copied().filter(allowed).max_by_key(|&i| (score(i), Reverse(i)));
        match best {
            Some(item) => {
                let (a, b) = part.iter().partition(|&&p| self.qid(p).contains(&item));
                vec![a, b]
            }
            None => {
                let middle = part.len() / 2;
                let reach = part.len() / 8;
                let common =
                    |cut: usize| self.qid(part[cut - 1]).intersection(self.qid(part[cut])).count();
                let least = self.p * self.largest(&part);
                let cut = (middle - reach..=middle + reach)
                    .filter(|&cut| cut >= least && part.len() - cut >= least)
                    .min_by_key(|&cut| (common(cut), cut.abs_diff(middle), cut));
                let (a, b) = part.split_at(cut.unwrap());
                vec![a.to_vec(), b.to_vec()]
            }
        }
    }

    fn peel(&mut self, mut start: usize, part: Vec<u32>) {
        let mut left = part;
        self.secret.shuffle(Step::Part(start as u64), &mut left);
        let p = self.p;
        loop {
            let largest = self.largest(&left);
            assert!(largest * p <= left.len(), "a rest below the degree");
            if left.len() < 2 * p || largest == 0 {
                return self.emit(left);
            }
            if left.len() >= 2 * p * largest {
                left.sort_unstable();
                return self.divide(start, left);
            }
            let group = self.next_group(&left);
            let rest: Vec<u32> = left.iter().copied().filter(|r| !group.contains(r)).collect();
            let fits =
                self.largest(&rest) * p <= rest.len() && (rest.is_empty() || rest.len() >= p);
            if group.len() < p || !fits {
                return self.emit(left);
            }
            start += group.len();
            self.emit(group);
            left = rest;
        }
    }

    fn next_group(&self, left: &[u32]) -> Vec<u32> {
        let mut urgent: Vec<(Reverse<usize>, u32)> =
            self.items(left).into_iter().map(|s| (Reverse(self.count(left, s)), s)).collect();
        urgent.sort_unstable();
        let mut group: Vec<u32> = Vec::new();
        let free = |group: &[u32], r: u32| self.own(r).is_disjoint(&self.items(group));
        for (Reverse(count), s) in urgent {
            if 2 * self.p * count > left.len() || self.p * count > left.len() - self.p {
                let holds = |r: &&u32| self.own(**r).contains(&s) && free(&group, **r);
                group.extend(left.iter().find(holds).copied().into_iter().collect::<Vec<_>>());
            }
        }
        for &r in left {
            if group.len() < self.p && !group.contains(&r) && free(&group, r) {
                group.push(r);
            }
        }
        group
    }
}
