//! Which records have an item, for all items of a data set.

use crate::data::{Dataset, ItemId};

/// An item that at least one of this many records has is common.
const COMMON: usize = 32;

/// For every item its records, ascending. A common item has a bit for every record instead: that
/// takes no more memory, and two of them are compared 64 records at a time.
pub(super) struct Postings {
    records: usize,
    /// The records of a rare item `i` are `rare[starts[i]..starts[i + 1]]`.
    starts: Vec<usize>,
    rare: Vec<u32>,
    /// Where the words of a common item begin in `bits`, and how many records have it.
    common: Vec<Option<(usize, usize)>>,
    bits: Vec<u64>,
}

/// The records of one item: one by one, or a bit for each record and how many there are.
#[derive(Clone, Copy)]
enum Holding<'a> {
    Rare(&'a [u32]),
    Common(&'a [u64], usize),
}

impl Postings {
    /// Record `place(r)` of `data` gets the number `r`.
    pub(super) fn new(data: &Dataset, place: impl Fn(u32) -> usize) -> Self {
        let (mut starts, mut common, mut bits) = (vec![0], Vec::new(), 0);
        for support in data.supports() {
            let support = support as usize;
            let many = support > 0 && support >= data.len() / COMMON;
            starts.push(starts[starts.len() - 1] + if many { 0 } else { support });
            common.push(many.then_some((bits, support)));
            bits += if many { data.len().div_ceil(64) } else { 0 };
        }
        let (mut rare, mut bits) = (vec![0; starts[starts.len() - 1]], vec![0u64; bits]);
        let mut next = starts.clone();
        for r in 0..data.len() as u32 {
            for &item in data.record(place(r)) {
                if let Some((start, _)) = common[item as usize] {
                    bits[start + r as usize / 64] |= 1 << (r % 64);
                } else {
                    rare[next[item as usize]] = r;
                    next[item as usize] += 1;
                }
            }
        }
        Self { records: data.len(), starts, rare, common, bits }
    }

    /// The records that have all of `items`; if there are none, those that have most of them; if
    /// nobody has any of them, all. Ascending. What is no item of the data set nobody has.
    pub(super) fn of(&self, items: impl Iterator<Item = Option<ItemId>>) -> Vec<u32> {
        let mut holdings: Vec<Holding> = items.map(|item| self.holding(item)).collect();
        // Those of rare items come first.
        holdings.sort_unstable_by_key(|holding| holding.len());
        let all = intersection(&holdings);
        if !all.is_empty() {
            return all;
        }
        let most = most(&holdings);
        if most.is_empty() { (0..self.records as u32).collect() } else { most }
    }

    fn holding(&self, item: Option<ItemId>) -> Holding<'_> {
        let Some(item) = item.map(|item| item as usize) else { return Holding::Rare(&[]) };
        match self.common[item] {
            Some((start, count)) => {
                Holding::Common(&self.bits[start..start + self.records.div_ceil(64)], count)
            }
            None => Holding::Rare(&self.rare[self.starts[item]..self.starts[item + 1]]),
        }
    }
}

impl<'a> Holding<'a> {
    fn len(self) -> usize {
        match self {
            Self::Rare(list) => list.len(),
            Self::Common(_, count) => count,
        }
    }

    /// The bits of a common item.
    fn words(&self) -> Option<&'a [u64]> {
        match *self {
            Self::Rare(_) => None,
            Self::Common(words, _) => Some(words),
        }
    }

    fn records(self) -> Vec<u32> {
        match self {
            Self::Rare(list) => list.to_vec(),
            Self::Common(words, _) => records_of(words.iter().copied()),
        }
    }

    /// Leaves those of `records`, which ascend, that have the item.
    fn keep(self, records: &mut Vec<u32>) {
        match self {
            Self::Rare(mut rest) => records.retain(|record| {
                rest = &rest[gallop(rest, *record)..];
                rest.first() == Some(record)
            }),
            Self::Common(words, _) => {
                records.retain(|&record| words[record as usize / 64] >> (record % 64) & 1 == 1);
            }
        }
    }
}

/// The records whose bits are set.
fn records_of(words: impl Iterator<Item = u64>) -> Vec<u32> {
    let mut found = Vec::new();
    for (mut word, first) in words.zip((0..).step_by(64)) {
        while word != 0 {
            found.push(first + word.trailing_zeros());
            word &= word - 1;
        }
    }
    found
}

/// Who has all of it; the shortest comes first.
fn intersection(holdings: &[Holding]) -> Vec<u32> {
    let words: Vec<&[u64]> = holdings.iter().filter_map(Holding::words).collect();
    match (holdings.split_first(), words.split_first()) {
        (Some(_), Some((first, others))) if words.len() == holdings.len() => {
            let all = |(at, &word): (usize, &u64)| others.iter().fold(word, |w, o| w & o[at]);
            records_of(first.iter().enumerate().map(all))
        }
        (Some((first, others)), _) => {
            let mut found = first.records();
            others.iter().for_each(|holding| holding.keep(&mut found));
            found
        }
        (None, _) => Vec::new(),
    }
}

/// The first position in `list` whose value is not below `value`.
fn gallop(list: &[u32], value: u32) -> usize {
    let mut step = 1;
    while step < list.len() && list[step] < value {
        step *= 2;
    }
    let (from, to) = (step / 2, (step + 1).min(list.len()));
    from + list[from..to].partition_point(|&x| x < value)
}

/// Who has most of it; nobody if nobody has any.
fn most(holdings: &[Holding]) -> Vec<u32> {
    let mut all: Vec<u32> = holdings.iter().flat_map(|h| h.records()).collect();
    all.sort_unstable();
    let runs = || all.chunk_by(|a, b| a == b);
    let longest = runs().map(<[u32]>::len).max().unwrap_or(0);
    runs().filter(|run| run.len() == longest).map(|run| run[0]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Rare and common items in all combinations, counted record by record.
    #[test]
    fn holders_are_those_that_a_look_at_every_record_finds() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let shares = [0.9, 0.5, 0.2, 0.04, 0.03, 0.02, 0.005];
        let mut record = |r: usize| -> Vec<String> {
            let has = shares.iter().enumerate().filter(|(_, share)| rng.random_bool(**share));
            has.map(|(item, _)| format!("{item}")).chain([format!("x{}", r % 700)]).collect()
        };
        let data = Dataset::from_records((0..1001).map(&mut record));
        let postings = Postings::new(&data, |r| 1000 - r as usize);
        let item = |i: usize| data.vocabulary().id(&format!("{i}"));
        for mask in 1usize..1 << shares.len() {
            let known: Vec<_> =
                (0..shares.len()).filter(|i| mask >> i & 1 == 1).map(item).collect();
            let had = |r: usize| {
                let record = data.record(1000 - r);
                known.iter().filter(|i| record.contains(&i.expect("occurs"))).count()
            };
            let most = (0..1001).map(had).max().expect("there are records");
            let expected: Vec<u32> = (0..1001).filter(|&r| had(r as usize) == most).collect();
            assert_eq!(postings.of(known.iter().copied()), expected, "{mask:b}");
        }
        assert_eq!(postings.of([None].into_iter()).len(), 1001);
        assert_eq!(postings.of([None, item(6)].into_iter()), postings.of([item(6)].into_iter()));
    }

    #[test]
    fn data_without_records_or_items_has_no_holders() {
        let empty = Dataset::from_records(Vec::<Vec<&str>>::new());
        assert!(Postings::new(&empty, |r| r as usize).of([None].into_iter()).is_empty());
    }
}
