//! All steps of data in parts, one part at a time.

use rayon::prelude::*;

use super::counting::{Ranked, plan, refuse};
use super::round::Round;
use super::watch::Watch;
use super::{PartSize, Plan, Planner, Ranks, Records, Shelf, Shelves};
use super::{check, close, split};
use crate::Result;
use crate::data::{ItemId, damaged};
use crate::methods::disassociation::Parameters;
use crate::progress::{Progress, Pulse, Stage};
use crate::release::key::{numbers, put_number};

/// After the parts come so many rounds of joins; each has so many times fewer
/// parts than there are parts of records. Every size comes twice: what a cluster
/// finds in one round depends on who happens to be its neighbour, and the second
/// one has other neighbours. Chosen by measurement: see `docs/disassociation.md`.
pub const JOIN_ROUNDS: [u64; 6] = [4, 4, 8, 8, 16, 16];

/// The size of the parts of a round of joins, of clusters that have so many
/// bytes together.
pub fn join_size(bytes: u64, parts: usize, fewer: u64) -> PartSize {
    let parts = (parts as u64).div_ceil(fewer).max(1);
    // Parts are filled to three quarters on average.
    PartSize::weight(bytes.div_ceil(parts).saturating_mul(4) / 3 + 1)
}

/// Records that are counted, on a shelf.
pub struct Counted<S> {
    /// Every record: ascending numbers of items, as [`Counted::record`] writes them.
    pub records: S,
    /// In how many records each item is.
    pub counts: Vec<u64>,
}

impl<S> Counted<S> {
    /// A record as bytes.
    pub fn record(items: &[ItemId], out: &mut Vec<u8>) {
        out.clear();
        items.iter().for_each(|&item| put_number(item, out));
    }
}

/// Counted records whose items may still have other numbers on the shelf, in
/// any order.
pub struct Numbered<S> {
    /// The records, and the counts of the items by their own numbers.
    pub counted: Counted<S>,
    /// The number of an item by its number on the shelf; none if it is the same.
    pub numbers: Option<Vec<ItemId>>,
}

/// How large parts may be.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// The records of a part; none for one part of all.
    pub records: Option<PartSize>,
    /// The items of all records of a part together. Where there are more, the
    /// parts have fewer records.
    pub items: u64,
    /// The bytes of the clusters of a part of a round of joins.
    pub join: u64,
    /// How many parts there may be: each takes some memory while records or clusters are divided.
    pub parts: u64,
    /// How many beginnings may be counted for a plan.
    pub counts: u64,
}

impl From<PartSize> for Sizes {
    /// No other limit than the number of records.
    fn from(records: PartSize) -> Self {
        let (items, join, parts, counts) = (u64::MAX, u64::MAX, u64::MAX, u64::MAX);
        Self { records: Some(records), items, join, parts, counts }
    }
}

/// Anonymizes records in parts of these sizes. `take` gets the published
/// clusters as keys ([`Cluster::key`](crate::release::Cluster::key)), in no
/// particular order. How many parts there were.
///
/// # Guarantee
/// See [the module](super).
///
/// # Errors
/// As for [`anonymize`](crate::methods::disassociation::anonymize) and
/// [`check`]; if a part cannot be made small enough, or something takes more
/// memory than `sizes` say; and what shelves and `take` say.
pub fn anonymize_numbered<S: Shelves>(
    data: Numbered<S::Shelf>,
    parameters: &Parameters,
    sizes: Sizes,
    shelves: &mut S,
    take: &mut dyn FnMut(&[u8]) -> Result<()>,
    progress: &dyn Progress,
) -> Result<usize> {
    check(parameters)?;
    let ids: Vec<ItemId> = (0..data.counted.counts.len() as ItemId).collect();
    let items = ids.len();
    let mut published = Published { ids, take, waiting: Vec::new(), bytes: 0 };
    let mut publish = |cluster: &[u8]| published.put(cluster);
    let (parts, mut open) = split_all(data, parameters, sizes, shelves, progress)?;
    if parts > 1 && parameters.refine {
        for fewer in JOIN_ROUNDS {
            let round = Round { parameters, items, parts, fewer, sizes: &sizes };
            open = round.run(open, shelves, &mut publish, progress)?;
        }
    }
    open.each(&mut publish)?;
    published.flush()?;
    Ok(parts)
}

/// Clusters that share nothing more, on their way to whoever takes their keys:
/// keys are made for many at once, on all threads.
struct Published<'a> {
    ids: Vec<ItemId>,
    take: &'a mut dyn FnMut(&[u8]) -> Result<()>,
    waiting: Vec<Vec<u8>>,
    bytes: usize,
}

impl Published<'_> {
    fn put(&mut self, cluster: &[u8]) -> Result<()> {
        self.bytes += cluster.len();
        self.waiting.push(cluster.to_vec());
        if self.bytes < 1 << 19 { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<()> {
        let key = |cluster: &Vec<u8>| Ok(close(cluster)?.key(&self.ids));
        let keys: Vec<Vec<u8>> = self.waiting.par_iter().map(key).collect::<Result<_>>()?;
        self.waiting.clear();
        self.bytes = 0;
        keys.iter().try_for_each(|key| (self.take)(key))
    }
}

/// Which items numbers on the shelf stand for.
#[derive(Clone, Copy)]
struct Numbers<'a> {
    own: Option<&'a [ItemId]>,
    /// How many items there are.
    items: usize,
}

impl Numbers<'_> {
    /// The item of a number that was read; none if there is no such number.
    fn item(self, number: ItemId) -> Option<ItemId> {
        let item = self.own.map_or(Some(number), |own| own.get(number as usize).copied())?;
        ((item as usize) < self.items).then_some(item)
    }
}

/// The number of parts, and their clusters.
fn split_all<S: Shelves>(
    data: Numbered<S::Shelf>,
    parameters: &Parameters,
    sizes: Sizes,
    shelves: &mut S,
    progress: &dyn Progress,
) -> Result<(usize, S::Shelf)> {
    let Numbered { counted: Counted { mut records, counts }, numbers: own } = data;
    let own = Numbers { own: own.as_deref(), items: counts.len() };
    let Some(mut size) = sizes.records else {
        let mut open = shelves.shelf()?;
        put_all(split(take_part(records, own)?, parameters, progress)?, &mut open)?;
        return Ok((1, open));
    };
    let mut items = Vec::new();
    let (ranks, plan, parts) = loop {
        let ranks = Ranks::of_records(&counts, size);
        let mut ranked = |bytes: &[u8], to: &mut Vec<u32>| {
            numbers(bytes, &mut items)?;
            ranks.of_items(items.iter().map(|&number| own.item(number)), to)?;
            Ok(Some(1))
        };
        let planner = Planner::new(size, true);
        let plan = plan(planner, &mut records, &mut ranked, (shelves, &sizes), progress)?;
        let parts = plan.sizes().iter().map(|_| shelves.shelf()).collect::<Result<Vec<_>>>()?;
        match distribute(&mut records, &mut ranked, &plan, parts, sizes.items, progress)? {
            Ok(parts) => break (ranks, plan, parts),
            Err(over) => size = smaller(size, parameters, &plan, over, sizes.items)?,
        }
    };
    drop(records);
    progress.stage(Stage::Clustering, Some(plan.sizes().iter().sum()));
    let watch = Watch::new(Stage::Clustering, progress);
    let mut open = shelves.shelf()?;
    for (part, shelf) in parts.into_iter().enumerate() {
        let mut records = take_part(shelf, own)?;
        for equal in plan.equal().iter().filter(|equal| equal.part as usize == part) {
            records.push(&ranks.items(&equal.ranks), equal.count);
        }
        put_all(split(records, parameters, &watch)?, &mut open)?;
    }
    Ok((plan.sizes().len(), open))
}

/// The records of a shelf, which goes.
fn take_part<S: Shelf>(mut shelf: S, own: Numbers) -> Result<Records> {
    let (mut records, mut items) = (Records::default(), Vec::new());
    shelf.each(&mut |bytes| {
        numbers(bytes, &mut items)?;
        // No record is empty.
        if items.is_empty() {
            return Err(damaged());
        }
        for item in &mut items {
            *item = own.item(*item).ok_or_else(damaged)?;
        }
        records.push_unsorted(items.iter().copied());
        Ok(())
    })?;
    if own.own.is_some() {
        records.sort();
    }
    Ok(records)
}

fn put_all(strings: Vec<Vec<u8>>, shelf: &mut impl Shelf) -> Result<()> {
    strings.iter().try_for_each(|bytes| shelf.put(bytes))
}

/// A part that is too large: which, and how many items it has.
type Over = (usize, u64);

/// Puts every record into its part, or says which is the largest of those that are too large.
fn distribute<S: Shelf>(
    records: &mut S,
    ranked: &mut Ranked,
    plan: &Plan,
    mut parts: Vec<S>,
    most: u64,
    progress: &dyn Progress,
) -> Result<Result<Vec<S>, Over>> {
    let mut taken = vec![0; parts.len()];
    for equal in plan.equal() {
        taken[equal.part as usize] += equal.count * equal.ranks.len() as u64;
    }
    if taken.iter().all(|&items| items <= most) {
        let (mut own, mut over) = (Vec::new(), false);
        let mut pulse = Pulse::new(progress);
        records.each(&mut |bytes| {
            ranked(bytes, &mut own)?;
            pulse.work(own.len())?;
            let Some(part) = plan.part_unsorted(&mut own) else { return Ok(()) };
            let part = part as usize;
            // Every item has a rank.
            taken[part] += own.len() as u64;
            over |= taken[part] > most;
            if over { Ok(()) } else { parts[part].put(bytes) }
        })?;
    }
    let largest = taken.iter().copied().enumerate().max_by_key(|&(part, items)| (items, part));
    Ok(match largest {
        Some(over) if over.1 > most => Err(over),
        _ => Ok(parts),
    })
}

/// Half of the records a part, if there can still be parts then, and fewer records in this one.
fn smaller(
    size: PartSize,
    parameters: &Parameters,
    plan: &Plan,
    (part, items): Over,
    most: u64,
) -> Result<PartSize> {
    let records = plan.sizes()[part];
    // Nothing but records that cannot be told apart makes a part so large.
    if records > size.max() + size.min() {
        return refuse(format!(
            "{records} records that cannot be told apart have {items} items, and {most} fit into memory"
        ));
    }
    PartSize::records(size.max() / 2, parameters.max_cluster_size).or_else(|_| {
        let size = size.max();
        refuse(format!(
            "a part of at most {size} records has {items} items, and {most} fit into memory"
        ))
    })
}
