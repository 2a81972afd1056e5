//! Rare-item removal: drop every item that fewer than k records have, the
//! log-removal baseline of partition-2009, section 6.
//!
//! It hides who has a rare item and nothing else: two frequent items
//! together may still single out a person. No hierarchy is needed.

use serde::{Deserialize, Serialize};

use super::generalization::check_size;
use super::limits;
use super::recipe::{Details, Knob, Recipe};
use crate::data::{Dataset, ItemId, K, Vocabulary};
use crate::progress::{Progress, Pulse, Stage};
use crate::release::{Bag, Body, Generalized, Guarantee, Model, Release, Supports};
use crate::{Error, Result};

/// The parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Parameters {
    /// In how many records an item must occur.
    pub k: K,
}

impl Parameters {
    /// Items in fewer than `k` records are dropped.
    pub fn new(k: K) -> Self {
        Self { k }
    }
}

/// The method by its name.
pub(super) struct Method;

impl Recipe for Method {
    type Parameters = Parameters;
    const NAME: &'static str = "suppress-rare";
    const IN_WORDS: &'static str =
        "Every item that fewer than k people have was removed. Nothing else was changed.";
    const KNOBS: &'static [Knob] = &[Knob::K];

    fn guarantee(parameters: &Parameters) -> Guarantee {
        let model = Model::KmAnonymity { k: parameters.k.get(), m: 1 };
        Guarantee { model, supports: Supports::Exact }
    }

    fn run(
        parameters: &Parameters,
        data: &Dataset,
        progress: &dyn Progress,
    ) -> Result<super::Outcome> {
        let Outcome { release, items_dropped, occurrences_dropped, records_dropped } =
            run(data, parameters, progress)?;
        let dropped = Details::Dropped { items_dropped, occurrences_dropped, records_dropped };
        Ok(super::Outcome::new(release, dropped))
    }
}

/// A release and what was dropped for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// What is published.
    pub release: Release,
    /// Items that were dropped.
    pub items_dropped: u64,
    /// Their occurrences.
    pub occurrences_dropped: u64,
    /// Records that became empty; they are not published.
    pub records_dropped: u64,
}

/// Publishes the records without the items that fewer than k of them have.
///
/// # Guarantee
/// k^1-anonymity: every published item occurs in at least k records, and its
/// published support is the original's. Sets of two or more items are not
/// protected.
///
/// # Complexity
/// Linear, but for sorting the records.
///
/// ```
/// use setveil::{Dataset, data::K, methods::suppress_rare, verify};
/// let data = Dataset::from_records([vec!["a", "b"], vec!["a"], vec!["c"]]);
/// let outcome = suppress_rare::run(&data, &suppress_rare::Parameters::new(K::new(2)?), &())?;
/// assert_eq!((outcome.release.manifest.records, outcome.records_dropped), (2, 1));
/// assert!(verify::verify(&outcome.release, &())?.holds);
/// # Ok::<(), setveil::Error>(())
/// ```
pub fn run(data: &Dataset, parameters: &Parameters, progress: &dyn Progress) -> Result<Outcome> {
    let k = parameters.k;
    check_size(data, k)?;
    limits::check(data)?;
    progress.stage(Stage::Suppressing, Some(data.len() as u64));
    let supports = data.supports();
    let keeps = |item: ItemId| supports[item as usize] >= k.get();
    let kept: Vec<ItemId> = (0..data.item_count() as ItemId).filter(|&i| keeps(i)).collect();
    if kept.is_empty() {
        return Err(Error::Infeasible {
            what: format!("no item occurs in {k} records: nothing would be published"),
            hint: "choose a smaller k or another method".into(),
        });
    }
    let vocabulary = Vocabulary::from_sorted(kept.iter().map(|&i| data.vocabulary().label(i)));
    let mut renumber = vec![ItemId::MAX; data.item_count()];
    for (new, &old) in kept.iter().enumerate() {
        renumber[old as usize] = new as ItemId;
    }
    let (mut items, mut ends) = (Vec::new(), vec![0]);
    let mut pulse = Pulse::new(progress);
    for record in data.records() {
        items.extend(record.iter().filter(|&&i| keeps(i)).map(|&i| renumber[i as usize]));
        ends.push(items.len());
        pulse.work(record.len())?;
        pulse.done(1)?;
    }
    pulse.flush()?;
    let rows = ends.windows(2).map(|w| &items[w[0]..w[1]]);
    let classes = Bag::try_from_itemsets(rows, progress)?;
    let records = classes.total();
    let manifest = Method::manifest(parameters, records, vocabulary.len() as u64);
    Ok(Outcome {
        items_dropped: (data.item_count() - kept.len()) as u64,
        occurrences_dropped: (data.occurrences().len() - items.len()) as u64,
        records_dropped: data.len() as u64 - records,
        release: Release {
            manifest,
            body: Body::Generalized(Generalized { vocabulary, classes, hierarchy: None }),
        },
    })
}

/// Like [`run`], the release alone.
pub fn anonymize(
    data: &Dataset,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Release> {
    Ok(run(data, parameters, progress)?.release)
}
