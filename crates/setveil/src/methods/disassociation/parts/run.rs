//! All steps of data in parts, one part at a time.

use rayon::prelude::*;

use super::round::Round;
use super::watch::Watch;
use super::{PartSize, Plan, Planner, Ranks, Records, Shelf, Shelves};
use super::{check, close, split};
use crate::data::ItemId;
use crate::error::{Hint, Setting};
use crate::methods::disassociation::Parameters;
use crate::progress::{Progress, Pulse, Stage};
use crate::release::key::{numbers, put_number};
use crate::{Error, Result};

/// After the parts come so many rounds of joins; each has so many times fewer
/// parts than there are parts of records. Chosen by measurement: see
/// `docs/disassociation.md`.
pub const JOIN_ROUNDS: [u64; 3] = [4, 8, 16];

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
}

impl From<PartSize> for Sizes {
    /// No other limit than the number of records.
    fn from(records: PartSize) -> Self {
        Self { records: Some(records), items: u64::MAX, join: u64::MAX }
    }
}

/// Anonymizes records in parts of this size. `take` gets the published
/// clusters as keys ([`Cluster::key`](crate::release::Cluster::key)), in no
/// particular order.
///
/// # Guarantee
/// See [the module](super).
///
/// # Errors
/// As for [`anonymize`](crate::methods::disassociation::anonymize) and
/// [`check`]; and what shelves and `take` say.
pub fn anonymize_in_parts<S: Shelves>(
    data: Counted<S::Shelf>,
    parameters: &Parameters,
    size: PartSize,
    shelves: &mut S,
    take: &mut dyn FnMut(&[u8]) -> Result<()>,
    progress: &dyn Progress,
) -> Result<()> {
    let data = Numbered { counted: data, numbers: None };
    anonymize_numbered(data, parameters, size.into(), shelves, take, progress).map(drop)
}

/// [`anonymize_in_parts`] with more to say about numbers and sizes. How many
/// parts there were.
///
/// # Errors
/// As for [`anonymize_in_parts`], and if a part cannot be made small enough.
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
            let round = Round { parameters, items, parts, fewer, most: sizes.join };
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

/// The number of parts, and their clusters.
fn split_all<S: Shelves>(
    mut data: Numbered<S::Shelf>,
    parameters: &Parameters,
    sizes: Sizes,
    shelves: &mut S,
    progress: &dyn Progress,
) -> Result<(usize, S::Shelf)> {
    let Some(mut size) = sizes.records else {
        let Numbered { counted, numbers } = data;
        let mut open = shelves.shelf()?;
        let records = take_part(counted.records, numbers.as_deref())?;
        put_all(split(records, parameters, progress)?, &mut open)?;
        return Ok((1, open));
    };
    let ranks = Ranks::new(&data.counted.counts);
    let (plan, parts) = loop {
        let plan = plan(&mut data, &ranks, size, progress)?;
        let parts = plan.sizes().iter().map(|_| shelves.shelf()).collect::<Result<Vec<_>>>()?;
        match distribute(&mut data, &ranks, &plan, parts, sizes.items, progress)? {
            Ok(parts) => break (plan, parts),
            Err(items) => size = smaller(size, parameters, items, sizes.items)?,
        }
    };
    let Numbered { counted, numbers } = data;
    drop(counted);
    progress.stage(Stage::Clustering, Some(plan.sizes().iter().sum()));
    let watch = Watch::new(Stage::Clustering, progress);
    let mut open = shelves.shelf()?;
    for (part, shelf) in parts.into_iter().enumerate() {
        let mut records = take_part(shelf, numbers.as_deref())?;
        for equal in plan.equal().iter().filter(|equal| equal.part as usize == part) {
            records.push(&ranks.items(&equal.ranks), equal.count);
        }
        put_all(split(records, parameters, &watch)?, &mut open)?;
    }
    Ok((plan.sizes().len(), open))
}

/// The records of a shelf, which goes.
fn take_part<S: Shelf>(mut shelf: S, own: Option<&[ItemId]>) -> Result<Records> {
    let (mut records, mut items) = (Records::default(), Vec::new());
    shelf.each(&mut |bytes| {
        numbers(bytes, &mut items)?;
        let number = |&item: &ItemId| own.map_or(item, |own| own[item as usize]);
        records.push_unsorted(items.iter().map(number));
        Ok(())
    })?;
    if own.is_some() {
        records.sort();
    }
    Ok(records)
}

fn put_all(strings: Vec<Vec<u8>>, shelf: &mut impl Shelf) -> Result<()> {
    strings.iter().try_for_each(|bytes| shelf.put(bytes))
}

/// Counts, level by level, until the plan is there.
fn plan<S: Shelf>(
    data: &mut Numbered<S>,
    ranks: &Ranks,
    size: PartSize,
    progress: &dyn Progress,
) -> Result<Plan> {
    let (mut items, mut own) = (Vec::new(), Vec::new());
    let mut planner = Planner::new(size, true);
    while planner.counts() {
        progress.stage(Stage::Ordering, None);
        let (mut counter, mut pulse) = (planner.counter(), Pulse::new(progress));
        data.counted.records.each(&mut |bytes| {
            numbers(bytes, &mut items)?;
            ranks.of_numbers(&items, data.numbers.as_deref(), &mut own);
            planner.count_unsorted(&mut own, 1, &mut counter);
            pulse.work(items.len())?;
            pulse.done(1)
        })?;
        pulse.flush()?;
        planner.take(counter);
    }
    Ok(planner.finish())
}

/// Puts every record into its part; how many items a part has that is too large.
fn distribute<S: Shelf>(
    data: &mut Numbered<S>,
    ranks: &Ranks,
    plan: &Plan,
    mut parts: Vec<S>,
    most: u64,
    progress: &dyn Progress,
) -> Result<Result<Vec<S>, u64>> {
    let mut taken = vec![0; parts.len()];
    for equal in plan.equal() {
        taken[equal.part as usize] += equal.count * equal.ranks.len() as u64;
    }
    let (mut items, mut own) = (Vec::new(), Vec::new());
    let (mut pulse, mut most_found) = (Pulse::new(progress), 0);
    let Numbered { counted, numbers: own_numbers } = data;
    let done = counted.records.each(&mut |bytes| {
        numbers(bytes, &mut items)?;
        ranks.of_numbers(&items, own_numbers.as_deref(), &mut own);
        pulse.work(items.len())?;
        let Some(part) = plan.part_unsorted(&mut own) else { return Ok(()) };
        let part = part as usize;
        taken[part] += items.len() as u64;
        most_found = most_found.max(taken[part]);
        if most_found > most {
            return Ok(());
        }
        parts[part].put(bytes)
    });
    done.map(|()| if most_found > most { Err(most_found) } else { Ok(parts) })
}

/// Half of the records a part, if there can still be parts then.
fn smaller(size: PartSize, parameters: &Parameters, items: u64, most: u64) -> Result<PartSize> {
    PartSize::records(size.max() / 2, parameters.max_cluster_size).map_err(|_| Error::Infeasible {
        what: format!(
            "a part of at most {} records has {items} items, and {most} fit into memory",
            size.max()
        ),
        hint: Hint::of("allow more with {}", &[Setting::Memory]),
    })
}
