//! What became of the sets of items that should stay together. For the
//! custodian: the list is not published.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::data::{ItemId, Keep, KeepSet, Wanted};
use crate::progress::Pulse;
use crate::query::{Answer, Index};
use crate::reconstruct::TermOccurrences;
use crate::{Dataset, Progress, Release, Result};

/// What a release tells about a set of items that should stay together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct KeptSet {
    /// The items, ascending.
    pub items: Vec<String>,
    /// How much the set counted beside the others.
    pub weight: u32,
    /// In how many records of the original all of them are.
    pub records: u64,
    /// The release says: in at least so many.
    pub lower: u64,
    /// And in at most so many; none where it does not say.
    pub upper: Option<u64>,
    /// Pairs of them that some record has.
    pub pairs: u64,
    /// Of these, whose number of records the release tells exactly.
    pub exact: u64,
    /// Of these, of which it tells that at least some records have them.
    pub bounded: u64,
    /// Of these, of which it does not tell that any record has them.
    pub not_at_all: u64,
    /// How often these pairs occur, all together.
    pub occurrences: u64,
    /// How many of these occurrences the release shows.
    pub occurrences_kept: u64,
}

/// What `release` tells about each set of `keep`, beside `original`.
///
/// # Errors
/// If `progress` says stop.
pub(super) fn kept(
    keep: &Keep,
    original: &Dataset,
    release: &Arc<Release>,
    progress: &dyn Progress,
) -> Result<Vec<KeptSet>> {
    if keep.is_empty() {
        return Ok(Vec::new());
    }
    let counted = Counted::new(keep, original, progress)?;
    let vocabulary = original.vocabulary();
    let asked: Vec<Vec<&str>> = counted
        .pairs
        .keys()
        .map(|&(a, b)| vec![vocabulary.label(a), vocabulary.label(b)])
        .chain(keep.sets().iter().map(|set| set.items.iter().map(String::as_str).collect()))
        .collect();
    let index = Index::prepare(release.clone(), TermOccurrences::default(), progress)?;
    let mut answers = index.ask_all(&asked, progress)?;
    let whole = answers.split_off(counted.pairs.len());
    let told: Vec<Told> = counted
        .pairs
        .iter()
        .zip(&answers)
        .map(|((&pair, &support), answer)| Told { pair, support, answer })
        .collect();
    let mut sets = Vec::new();
    for ((number, set), answer) in keep.sets().iter().enumerate().zip(&whole) {
        let has = |item: ItemId| {
            let label = vocabulary.label(item);
            set.items.binary_search_by(|i| i.as_str().cmp(label)).is_ok()
        };
        let own = told.iter().filter(|told| has(told.pair.0) && has(told.pair.1));
        sets.push(KeptSet::new(set, counted.records[number], answer, own));
    }
    Ok(sets)
}

/// A pair with its support and what the release says about it.
struct Told<'a> {
    pair: (ItemId, ItemId),
    support: u64,
    answer: &'a Answer,
}

impl KeptSet {
    fn new<'a>(
        set: &KeepSet,
        records: u64,
        answer: &Answer,
        pairs: impl Iterator<Item = &'a Told<'a>>,
    ) -> Self {
        let mut kept = Self {
            items: set.items.clone(),
            weight: set.weight,
            records,
            lower: answer.lower,
            upper: answer.upper,
            pairs: 0,
            exact: 0,
            bounded: 0,
            not_at_all: 0,
            occurrences: 0,
            occurrences_kept: 0,
        };
        for Told { support, answer, .. } in pairs {
            kept.pairs += 1;
            kept.occurrences += support;
            kept.occurrences_kept += answer.lower.min(*support);
            match (answer.lower, answer.upper) {
                (lower, Some(upper)) if lower == upper => kept.exact += 1,
                (0, _) => kept.not_at_all += 1,
                _ => kept.bounded += 1,
            }
        }
        kept
    }
}

/// Supports in the original.
struct Counted {
    /// Pairs of items that are in one set together.
    pairs: BTreeMap<(ItemId, ItemId), u64>,
    /// Per set: records with all of its items.
    records: Vec<u64>,
}

impl Counted {
    fn new(keep: &Keep, original: &Dataset, progress: &dyn Progress) -> Result<Self> {
        let wanted = Wanted::new(keep, original.vocabulary());
        let sizes: Vec<usize> = keep.sets().iter().map(|set| set.items.len()).collect();
        let mut counted = Self { pairs: BTreeMap::new(), records: vec![0; sizes.len()] };
        let (mut own, mut have) = (Vec::new(), vec![0; sizes.len()]);
        let mut pulse = Pulse::new(progress);
        for record in original.records() {
            pulse.work(record.len())?;
            own.clear();
            own.extend(record.iter().copied().filter(|&i| !wanted.sets_of(i).is_empty()));
            for (i, &b) in own.iter().enumerate() {
                for &a in own[..i].iter().filter(|&&a| wanted.together(a, b) > 0) {
                    *counted.pairs.entry((a, b)).or_default() += 1;
                }
                for &set in wanted.sets_of(b) {
                    have[set as usize] += 1;
                    counted.records[set as usize] +=
                        u64::from(have[set as usize] == sizes[set as usize]);
                }
            }
            for &set in own.iter().flat_map(|&item| wanted.sets_of(item)) {
                have[set as usize] = 0;
            }
        }
        pulse.flush()?;
        Ok(counted)
    }
}
