//! The format guarantee of a located release (`docs/local-suppression.md`).
//!
//! The rules are sufficient for it, and for the linking bound. Each is checked
//! on what is published:
//!
//! - **G**: all kept sub-records together are k^m-anonymous.
//! - **L**: in a leaf that counts or lists anything, its own kept sub-records
//!   are k^(m-1)-anonymous, and it has at least k records.
//! - **C**: a count is at least k, and no more than the records that do not
//!   keep the item. A listed item has such a record.
//! - **T**: a total is at least k and one for every other leaf that lists the
//!   item, and no more than the records that do not keep it.
//! - **N**: the records that keep nothing can be filled, with k times m
//!   occurrences to spare, or by a listed item without a total.
//! - **B**: none or at least k records of a leaf keep nothing. The format
//!   guarantee does not need it, the linking bound does.
//!
//! Also checked: canonical order, sums, that nothing is said twice, and that
//! sensitive items are in no kept sub-record.

use rayon::prelude::*;

use super::everywhere::{Class, Search};
use super::km::KmSearch;
use super::work::{Meter, Work};
use super::{Findings, manifest, order};
use crate::data::ItemId;
use crate::release::{Leaf, Located, Manifest, Model, VERSION_LOCATED};
use crate::{Progress, Result};

pub(super) fn check(
    manifest: &Manifest,
    body: &Located,
    progress: &dyn Progress,
    findings: &mut Findings,
) -> Result<()> {
    let published = |label: &str| body.vocabulary.id(label).is_some();
    manifest::check(manifest, manifest::Kind::Leaves, &published, findings);
    let Model::FormatKmAnonymity { k, m, l: None } = manifest.guarantee.model else {
        findings.add("manifest", || "manifest.json: model of another kind".into(), &[], 0, 0);
        return Ok(());
    };
    if k < 2 || m < 1 {
        return Ok(()); // `manifest` has said so.
    }
    if manifest.version != VERSION_LOCATED {
        let place = || "manifest.json: version".into();
        findings.add("manifest", place, &[], manifest.version.into(), VERSION_LOCATED.into());
    }
    totals_of(manifest, body, findings);
    uncounted(manifest, body, findings);
    let k = u64::from(k);
    let occurrences = body.leaves.iter().map(|leaf| leaf.kept.items().len() as u64).sum();
    let work = Work::new(occurrences, progress);
    everywhere(body, (k, m), &work, findings)?;
    let free = totals(body, k, findings);
    let hidden = manifest::sensitive_marks(manifest, &body.vocabulary);
    let vocabulary = findings.vocabulary;
    let found: Result<Vec<Findings>> = body
        .leaves
        .par_iter()
        .enumerate()
        .map_init(KmSearch::default, |search, (i, leaf)| {
            let mut own = Findings::new(vocabulary);
            if i > 0 && order::located(&body.leaves[i - 1], leaf).is_gt() {
                own.add("canonical-order", || line(i), &[], 0, 0);
            }
            let rules = Rules { k, m, items: vocabulary.len(), free: &free, hidden: &hidden };
            let mut meter = work.meter();
            rules.leaf(leaf, &line(i), (search, &mut meter), &mut own)?;
            meter.flush()?;
            Ok(own)
        })
        .collect();
    found?.into_iter().for_each(|own| findings.append(own));
    progress.step(body.leaves.len() as u64)
}

fn line(leaf: usize) -> String {
    format!("leaves.jsonl:{}", leaf + 1)
}

fn totals_of(manifest: &Manifest, body: &Located, findings: &mut Findings) {
    let mut used = vec![false; body.vocabulary.len()];
    for leaf in &body.leaves {
        let loose = leaf.counted.iter().map(|c| &c.0).chain(&leaf.listed);
        leaf.kept.items().iter().chain(loose).for_each(|&item| used[item as usize] = true);
    }
    let items = used.iter().filter(|u| **u).count() as u64;
    for (what, found, expected) in
        [("records", body.records(), manifest.records), ("items", items, manifest.items)]
    {
        if found != expected {
            findings.add("totals", || format!("manifest.json: {what}"), &[], found, expected);
        }
    }
}

/// Who says that nothing is counted, counts nothing.
fn uncounted(manifest: &Manifest, body: &Located, findings: &mut Findings) {
    let said = manifest.parameters.get("no_item_counts").and_then(|value| value.as_bool());
    let counts: usize = body.leaves.iter().map(|leaf| leaf.counted.len()).sum();
    let found = (counts + body.totals.len()) as u64;
    if said == Some(true) && found > 0 {
        let place = || "manifest.json: parameters.no_item_counts".into();
        findings.add("parameters", place, &[], found, 0);
    }
}

/// Rule G. Sub-records that several leaves keep are one class.
fn everywhere(
    body: &Located,
    (k, m): (u64, u32),
    work: &Work,
    findings: &mut Findings,
) -> Result<()> {
    let kept = body.leaves.iter().flat_map(|leaf| leaf.kept.iter());
    let mut classes: Vec<Class> = kept.map(|(items, count)| (items, count.into())).collect();
    classes.par_sort_unstable();
    classes.dedup_by(|later, first| {
        let same = later.0 == first.0;
        if same {
            first.1 += later.1;
        }
        same
    });
    // Which do not ascend are faults of their leaf and cannot be counted.
    classes.retain(|class| order::ascend(class.0));
    let search = Search { k, m: m as usize, rule: "G", place: "leaves.jsonl: kept" };
    search.check(&classes, work, findings)
}

/// Rule T. Returns per item whether it is listed freely: without a total.
fn totals(body: &Located, k: u64, findings: &mut Findings) -> Vec<bool> {
    let items = body.vocabulary.len();
    let (mut leaves, mut room) = (vec![0_u64; items], vec![0_u64; items]);
    for leaf in &body.leaves {
        let keepers = Keepers::of(leaf);
        for &item in &leaf.listed {
            leaves[item as usize] += 1;
            room[item as usize] += keepers.others(item);
        }
    }
    let mut free: Vec<bool> = leaves.iter().map(|&l| l > 0).collect();
    if !body.totals.is_sorted_by(|a, b| a.0 < b.0) {
        findings.add("canonical-order", || "totals.jsonl".into(), &[], 0, 0);
    }
    for &(item, total) in &body.totals {
        let i = item as usize;
        free[i] = false;
        let least = k + leaves[i].saturating_sub(1);
        if leaves[i] == 0 || total < least {
            findings.add("T", || "totals.jsonl".into(), &[item], total, least);
        } else if total > room[i] {
            findings.add("T", || "totals.jsonl: room".into(), &[item], room[i], total);
        }
    }
    free
}

struct Rules<'a> {
    k: u64,
    m: u32,
    items: usize,
    /// Per item: listed without a total.
    free: &'a [bool],
    hidden: &'a [bool],
}

impl Rules<'_> {
    fn leaf(
        &self,
        leaf: &Leaf,
        place: &str,
        (search, meter): (&mut KmSearch, &mut Meter),
        findings: &mut Findings,
    ) -> Result<()> {
        self.form(leaf, place, findings);
        let k = self.k;
        let loose = !leaf.counted.is_empty() || !leaf.listed.is_empty();
        if loose && u64::from(leaf.size) < k {
            findings.add("L", || place.to_owned(), &[], leaf.size.into(), k);
        }
        if loose && self.m > 1 {
            let met = search.rare(&leaf.kept, self.items, k, self.m - 1, meter)?;
            findings.all("L", &place, met, k);
        }
        let keepers = Keepers::of(leaf);
        for &(item, count) in &leaf.counted {
            let room = keepers.others(item);
            if u64::from(count) < k {
                findings.add("C", || place.to_owned(), &[item], count.into(), k);
            } else if u64::from(count) > room {
                findings.add("C", || format!("{place}: room"), &[item], room, count.into());
            }
        }
        for &item in leaf.listed.iter().filter(|&&item| keepers.others(item) == 0) {
            findings.add("C", || format!("{place}: room"), &[item], 0, 1);
        }
        self.filled(leaf, place, findings);
        if (1..k).contains(&leaf.bare()) {
            findings.add("B", || place.to_owned(), &[], leaf.bare(), k);
        }
        Ok(())
    }

    /// Whether the manifest calls `item` sensitive.
    fn hides(&self, item: ItemId) -> bool {
        self.hidden.get(item as usize) == Some(&true)
    }

    /// Rule N.
    fn filled(&self, leaf: &Leaf, place: &str, findings: &mut Findings) {
        let bare = leaf.bare();
        if bare == 0 || leaf.listed.iter().any(|&item| self.free[item as usize]) {
            return;
        }
        let copies: u64 = leaf.counted.iter().map(|&(_, c)| u64::from(c).min(bare)).sum();
        let required = bare + self.k * u64::from(self.m);
        if copies < required {
            findings.add("N", || place.to_owned(), &[], copies, required);
        }
    }

    /// What is said, is said once and in order.
    fn form(&self, leaf: &Leaf, place: &str, findings: &mut Findings) {
        if let Some((i, what)) = order::bag_fault(&leaf.kept) {
            let items = leaf.kept.get(i).0;
            findings.add("canonical-order", || format!("{place}: {what}"), items, 0, 0);
        }
        let counted: Vec<ItemId> = leaf.counted.iter().map(|c| c.0).collect();
        let ascends = order::ascend(&counted) && order::ascend(&leaf.listed);
        if !ascends {
            let place = || format!("{place}: items that do not ascend");
            findings.add("canonical-order", place, &[], 0, 0);
        }
        if leaf.kept.total() > u64::from(leaf.size) {
            let (found, size) = (leaf.kept.total(), leaf.size.into());
            findings.add("size", || place.to_owned(), &[], found, size);
        }
        if leaf.size == 0 {
            findings.add("size", || place.to_owned(), &[], 0, 1);
        }
        for &(item, _) in leaf.counted.iter().filter(|c| leaf.listed.binary_search(&c.0).is_ok()) {
            findings.add("twice", || place.to_owned(), &[item], 2, 1);
        }
        for &item in leaf.kept.items().iter().filter(|&&item| self.hides(item)) {
            findings.add("sensitive", || place.to_owned(), &[item], 1, 0);
        }
    }
}

/// How many records of a leaf keep each item, by item.
struct Keepers {
    size: u64,
    counts: Vec<(ItemId, u64)>,
}

impl Keepers {
    fn of(leaf: &Leaf) -> Self {
        let occurrences = leaf.kept.iter();
        let mut all: Vec<(ItemId, u64)> = occurrences
            .flat_map(|(items, count)| items.iter().map(move |&item| (item, u64::from(count))))
            .collect();
        all.sort_unstable_by_key(|a| a.0);
        let runs = all.chunk_by(|a, b| a.0 == b.0);
        let counts = runs.map(|run| (run[0].0, run.iter().map(|r| r.1).sum())).collect();
        Self { size: leaf.size.into(), counts }
    }

    /// The records that do not keep `item`.
    fn others(&self, item: ItemId) -> u64 {
        let at = self.counts.binary_search_by_key(&item, |c| c.0);
        self.size.saturating_sub(at.map_or(0, |at| self.counts[at].1))
    }
}
