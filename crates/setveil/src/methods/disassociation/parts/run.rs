//! All steps of data in parts, one part at a time.

use super::{PartSize, Plan, Planner, Ranks, Records, Shelf, Shelves};
use super::{check, close, join, split, terms};
use crate::data::ItemId;
use crate::methods::disassociation::Parameters;
use crate::progress::{Progress, Pulse};
use crate::release::key::{Reader, put_number};
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

fn read_record(bytes: &[u8], items: &mut Vec<ItemId>) -> Result<()> {
    items.clear();
    let mut reader = Reader::new(bytes);
    while reader.finish().is_err() {
        items.push(reader.number()?);
    }
    Ok(())
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
    check(parameters)?;
    let ids: Vec<ItemId> = (0..data.counts.len() as ItemId).collect();
    let mut publish = |cluster: &[u8]| take(&close(cluster)?.key(&ids));
    let (parts, mut open) = split_all(data, parameters, size, shelves, progress)?;
    if parts > 1 && parameters.refine {
        for fewer in JOIN_ROUNDS {
            let round = Round { parameters, items: ids.len(), parts, fewer };
            open = round.run(open, shelves, &mut publish, progress)?;
        }
    }
    open.each(&mut publish)
}

/// The number of parts, and their clusters.
fn split_all<S: Shelves>(
    data: Counted<S::Shelf>,
    parameters: &Parameters,
    size: PartSize,
    shelves: &mut S,
    progress: &dyn Progress,
) -> Result<(usize, S::Shelf)> {
    let Counted { mut records, counts } = data;
    let ranks = Ranks::new(&counts);
    let (mut items, mut own) = (Vec::new(), Vec::new());
    let mut planner = Planner::new(size, true);
    while planner.counts() {
        let (mut counter, mut pulse) = (planner.counter(), Pulse::new(progress));
        records.each(&mut |bytes| {
            read_record(bytes, &mut items)?;
            ranks.of(&items, &mut own);
            planner.count(&own, 1, &mut counter);
            pulse.work(items.len())
        })?;
        planner.take(counter);
    }
    let plan = planner.finish();
    let mut parts = shelves_for(&plan, shelves)?;
    let mut pulse = Pulse::new(progress);
    records.each(&mut |bytes| {
        read_record(bytes, &mut items)?;
        ranks.of(&items, &mut own);
        pulse.work(items.len())?;
        plan.part(&own).map_or(Ok(()), |part| parts[part as usize].put(bytes))
    })?;
    drop(records);
    let mut open = shelves.shelf()?;
    for (part, mut shelf) in parts.into_iter().enumerate() {
        let mut records = Records::default();
        shelf.each(&mut |bytes| {
            read_record(bytes, &mut items)?;
            records.push(&items, 1);
            Ok(())
        })?;
        drop(shelf);
        for equal in plan.equal().iter().filter(|equal| equal.part as usize == part) {
            records.push(&ranks.items(&equal.ranks), equal.count);
        }
        for cluster in split(records, parameters, progress)? {
            open.put(&cluster)?;
        }
    }
    Ok((plan.sizes().len(), open))
}

fn shelves_for<S: Shelves>(plan: &Plan, shelves: &mut S) -> Result<Vec<S::Shelf>> {
    plan.sizes().iter().map(|_| shelves.shelf()).collect()
}

/// One round of joins.
struct Round<'a> {
    parameters: &'a Parameters,
    items: usize,
    parts: usize,
    fewer: u64,
}

impl Round<'_> {
    /// Clusters that can share nothing more are published; the others come back.
    fn run<S: Shelves>(
        &self,
        mut open: S::Shelf,
        shelves: &mut S,
        publish: &mut dyn FnMut(&[u8]) -> Result<()>,
        progress: &dyn Progress,
    ) -> Result<S::Shelf> {
        let (ranks, bytes) = self.rare_first(&mut open, progress)?;
        let mut own = Vec::new();
        let ranked = |cluster: &[u8], own: &mut Vec<u32>| -> Result<()> {
            let items: Vec<ItemId> = terms(cluster)?.iter().map(|term| term.0).collect();
            ranks.of(&items, own);
            progress.step(0)
        };
        let size = join_size(bytes, self.parts, self.fewer);
        let mut planner = Planner::new(size, false);
        while planner.counts() {
            let mut counter = planner.counter();
            open.each(&mut |cluster| {
                ranked(cluster, &mut own)?;
                if !own.is_empty() {
                    planner.count(&own, cluster.len() as u64, &mut counter);
                }
                Ok(())
            })?;
            planner.take(counter);
        }
        let plan = planner.finish();
        let mut parts = shelves_for(&plan, shelves)?;
        open.each(&mut |cluster| {
            ranked(cluster, &mut own)?;
            if own.is_empty() {
                return publish(cluster);
            }
            let part = plan.part(&own).ok_or_else(|| changed("a cluster without a part"))?;
            parts[part as usize].put(cluster)
        })?;
        drop(open);
        let mut joined = shelves.shelf()?;
        for mut part in parts {
            let mut clusters = Vec::new();
            part.each(&mut |cluster| {
                clusters.push(cluster.to_vec());
                Ok(())
            })?;
            drop(part);
            for cluster in join(clusters, &ranks, self.parameters, progress)? {
                joined.put(&cluster)?;
            }
        }
        Ok(joined)
    }

    /// Ranks of the terms that several clusters have, k records together, the
    /// rarest first: common ones find each other inside of a part. And how
    /// many bytes the clusters have that can share one.
    fn rare_first(&self, open: &mut impl Shelf, progress: &dyn Progress) -> Result<(Ranks, u64)> {
        let (mut clusters, mut records) = (vec![0u64; self.items], vec![0u64; self.items]);
        open.each(&mut |cluster| {
            for (term, support) in terms(cluster)? {
                clusters[term as usize] += 1;
                records[term as usize] += u64::from(support);
            }
            progress.step(0)
        })?;
        let ranks = Ranks::rare_first(&clusters, &records, self.parameters.k);
        let mut bytes = 0;
        open.each(&mut |cluster| {
            let some = terms(cluster)?.iter().any(|term| ranks.has(term.0));
            bytes += if some { cluster.len() as u64 } else { 0 };
            Ok(())
        })?;
        Ok((ranks, bytes))
    }
}

fn changed(what: &str) -> Error {
    Error::Infeasible {
        what: what.into(),
        hint: "the data changed between two steps: run all of them again".into(),
    }
}
