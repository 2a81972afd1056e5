//! Rare-item removal: drop every item that fewer than k records have, the
//! log-removal baseline of partition-2009, section 6.
//!
//! It hides who has a rare item and nothing else: two frequent items
//! together may still single out a person. No hierarchy is needed.

use serde_json::json;

use super::generalization::check_size;
use crate::data::{Dataset, ItemId, K, Vocabulary};
use crate::release::{Bag, Body, Generalized, Guarantee, Manifest, Model, Release, Supports};
use crate::{Error, Progress, Result, Stage};

/// A release and what was dropped for it.
#[derive(Clone, Debug)]
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

/// Publishes the records without the items that fewer than `k` of them have.
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
/// let outcome = suppress_rare::run(&data, K::new(2)?, &())?;
/// assert_eq!((outcome.release.manifest.records, outcome.records_dropped), (2, 1));
/// assert!(verify::verify(&outcome.release).holds);
/// # Ok::<(), setveil::Error>(())
/// ```
pub fn run(data: &Dataset, k: K, progress: &dyn Progress) -> Result<Outcome> {
    check_size(data, k)?;
    progress.stage(Stage::Suppressing, None);
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
    for record in data.records() {
        items.extend(record.iter().filter(|&&i| keeps(i)).map(|&i| renumber[i as usize]));
        ends.push(items.len());
    }
    let classes = Bag::from_itemsets(ends.windows(2).map(|w| &items[w[0]..w[1]]));
    let records = classes.total();
    let manifest = Manifest::new(
        "suppress-rare",
        [("k", json!(k.get()))],
        Guarantee { model: Model::KmAnonymity { k: k.get(), m: 1 }, supports: Supports::Exact },
        records,
        vocabulary.len() as u64,
    );
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
pub fn anonymize(data: &Dataset, k: K, progress: &dyn Progress) -> Result<Release> {
    Ok(run(data, k, progress)?.release)
}
