//! A record or shared chunk, prepared for questions about its sub-records.

use crate::data::ItemId;
use crate::release::Bag;

/// Chunks with at most so many items are searched; larger ones are indexed.
const SEARCHED: usize = 48;

/// A record or shared chunk.
#[derive(Debug)]
pub(super) struct Chunk<'a> {
    pub(super) bag: &'a Bag,
    /// How many sub-records it has.
    pub(super) total: u64,
    index: Option<Box<Index>>,
    /// For a shared chunk: where its sub-records may go.
    pub(super) inflow: Option<Box<Inflow>>,
}

/// Where each item of a chunk stands.
#[derive(Debug)]
struct Index {
    /// Ascending.
    domain: Vec<ItemId>,
    supports: Vec<u64>,
    /// The sub-records with `domain[i]` are `postings[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    postings: Vec<u32>,
}

/// How the sub-records of a shared chunk spread over the leaves below.
#[derive(Debug, Default)]
pub(super) struct Inflow {
    /// Its joint cluster.
    pub(super) node: usize,
    /// How many records each distinct sub-record may go to.
    pub(super) open: Vec<u64>,
    /// The mean number of sub-records per record that is open to all.
    pub(super) mean: f64,
    /// For each item of the domain: the mean number per record that is open to it.
    pub(super) means: Vec<f64>,
    /// The positions of the exceptions among the leaves, which ascend.
    pub(super) exceptions: std::ops::Range<u32>,
}

impl<'a> Chunk<'a> {
    pub(super) fn new(bag: &'a Bag, shared: bool) -> Self {
        let indexed = shared || bag.items().len() > SEARCHED;
        Self {
            bag,
            total: bag.total(),
            index: indexed.then(|| Box::new(Index::new(bag))),
            inflow: shared.then(Box::default),
        }
    }

    pub(super) fn is_shared(&self) -> bool {
        self.inflow.is_some()
    }

    /// The distinct items of an indexed chunk, ascending.
    pub(super) fn domain(&self) -> &[ItemId] {
        self.index.as_ref().map_or(&[], |index| &index.domain)
    }

    /// How many records a sub-record of a shared chunk may go to.
    pub(super) fn open(&self, sub_record: usize) -> f64 {
        self.inflow.as_ref().map_or(1.0, |inflow| inflow.open[sub_record].max(1) as f64)
    }

    pub(super) fn has(&self, item: ItemId) -> bool {
        match &self.index {
            Some(index) => index.at(item).is_some(),
            None => self.bag.items().contains(&item),
        }
    }

    /// How many sub-records have all of `items`.
    pub(super) fn support(&self, items: &[ItemId]) -> u64 {
        match (items, &self.index) {
            ([item], Some(index)) => index.at(*item).map_or(0, |i| index.supports[i]),
            (_, Some(_)) => {
                let mut support = 0;
                self.each_with(items, |_, _, count| support += u64::from(count));
                support
            }
            (_, None) => self.bag.support(items),
        }
    }

    /// The positions of the distinct sub-records with `item`, in an indexed chunk.
    pub(super) fn postings(&self, item: ItemId) -> &[u32] {
        let Some(index) = &self.index else { return &[] };
        index.at(item).map_or(&[], |i| index.list(i))
    }

    /// Calls `each` with position, items and count of the sub-records that
    /// have all of `items`.
    pub(super) fn each_with(&self, items: &[ItemId], mut each: impl FnMut(usize, &[ItemId], u32)) {
        let shortest = items.iter().map(|&i| self.postings(i)).min_by_key(|p| p.len());
        match shortest.filter(|_| self.index.is_some()) {
            Some(shortest) => {
                for &u in shortest {
                    let (sub_record, count) = self.bag.get(u as usize);
                    if items.len() == 1 || contains(sub_record, items) {
                        each(u as usize, sub_record, count);
                    }
                }
            }
            None => {
                for (u, (sub_record, count)) in self.bag.iter().enumerate() {
                    if contains(sub_record, items) {
                        each(u, sub_record, count);
                    }
                }
            }
        }
    }

    /// Whether a sub-record has just these items.
    pub(super) fn has_whole(&self, items: &[ItemId]) -> bool {
        let shortest = items.iter().map(|&i| self.postings(i)).min_by_key(|p| p.len());
        match shortest.filter(|_| self.index.is_some()) {
            Some(shortest) => shortest.iter().any(|&u| self.bag.get(u as usize).0 == items),
            None => self.bag.iter().any(|(sub_record, _)| sub_record == items),
        }
    }

    /// Calls `each` with the items and their supports; an item may come in
    /// several portions.
    pub(super) fn each_item(&self, mut each: impl FnMut(ItemId, u64)) {
        match &self.index {
            Some(index) => {
                index
                    .domain
                    .iter()
                    .zip(&index.supports)
                    .for_each(|(&i, &support)| each(i, support));
            }
            None => {
                for (items, count) in self.bag.iter() {
                    items.iter().for_each(|&item| each(item, count.into()));
                }
            }
        }
    }

    /// How many sub-records of a shared chunk with all of `items` may come
    /// in spite of `blocked`, and how many do on average to one record.
    pub(super) fn coming(&self, blocked: &[ItemId], items: &[ItemId]) -> (u64, f64) {
        let Some(inflow) = &self.inflow else { return (0, 0.0) };
        match (items, blocked.is_empty(), &self.index) {
            ([], true, _) => return (self.total, inflow.mean),
            ([item], true, Some(index)) => {
                let at = index.at(*item);
                return at.map_or((0, 0.0), |i| (index.supports[i], inflow.means[i]));
            }
            _ => {}
        }
        let (mut most, mut mean) = (0, 0.0);
        self.each_with(items, |u, sub_record, count| {
            if lets_in(blocked, sub_record) {
                most += u64::from(count);
                mean += f64::from(count) / self.open(u);
            }
        });
        (most, mean)
    }

    /// What a leaf takes off the chunk's total by `blocked` items: sub-records
    /// and their mean number per record.
    pub(super) fn kept_out(&self, blocked: &[ItemId]) -> (u64, f64) {
        let (mut kept_out, mut mean) = (0, 0.0);
        for (i, &item) in blocked.iter().enumerate() {
            for &u in self.postings(item) {
                let (sub_record, count) = self.bag.get(u as usize);
                // Counted with its first blocked item.
                if lets_in(&blocked[..i], sub_record) {
                    kept_out += u64::from(count);
                    mean += f64::from(count) / self.open(u as usize);
                }
            }
        }
        (kept_out, mean)
    }
}

impl Index {
    fn new(bag: &Bag) -> Self {
        let domain = bag.domain();
        let place = |item: &ItemId| domain.binary_search(item).expect("the domain has it");
        let mut starts = vec![0_u32; domain.len() + 1];
        let mut supports = vec![0; domain.len()];
        let places: Vec<u32> = bag.items().iter().map(|item| place(item) as u32).collect();
        places.iter().for_each(|&p| starts[p as usize + 1] += 1);
        for i in 0..domain.len() {
            starts[i + 1] += starts[i];
        }
        let (mut next, mut postings) = (starts.clone(), vec![0; places.len()]);
        let mut places = places.iter();
        for (u, (items, count)) in bag.iter().enumerate() {
            for &p in places.by_ref().take(items.len()) {
                supports[p as usize] += u64::from(count);
                postings[next[p as usize] as usize] = u as u32;
                next[p as usize] += 1;
            }
        }
        Self { domain, supports, starts, postings }
    }

    fn at(&self, item: ItemId) -> Option<usize> {
        self.domain.binary_search(&item).ok()
    }

    fn list(&self, i: usize) -> &[u32] {
        &self.postings[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}

/// Whether a sub-record with these items may come in spite of `blocked`.
pub(super) fn lets_in(blocked: &[ItemId], sub_record: &[ItemId]) -> bool {
    blocked.is_empty() || !sub_record.iter().any(|i| blocked.binary_search(i).is_ok())
}

/// Whether ascending `items` has all of `itemset`.
pub(super) fn contains(items: &[ItemId], itemset: &[ItemId]) -> bool {
    itemset.iter().all(|i| items.binary_search(i).is_ok())
}
