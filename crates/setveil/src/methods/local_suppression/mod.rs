//! Local suppression: each record gives up the few items that would make a
//! rare combination, and what it keeps is published together
//! (`docs/local-suppression.md`).
//!
//! Records come together in leaves ([`Horpart`]). Each leaf publishes the
//! sub-records that its records keep; combinations of m items occur k times
//! over all leaves together, smaller ones k times inside of their leaf. Of items
//! that are not kept it is said how often they occur, as far as that is safe.
//! The size of the leaves is a dial: small ones tell more about rare
//! combinations, large ones keep more of the frequent ones.
//!
//! Not done here: nothing is generalised, and no two parts of the same record
//! are published apart but single items.

mod bits;
mod choose;
mod elements;
mod keepers;
mod numbering;
mod pairs;
mod parameters;
mod postings;
mod publish;
mod revive;
mod rows;
mod solve;
mod store;
mod subsets;
mod weak;

pub use parameters::{DEFAULT_MAX_CLUSTER_SIZE, LeafSize, Parameters};

use self::publish::Published;
use self::rows::{Grouped, Rows, group};
use self::solve::{Effort, solve};
use super::disassociation::{Clusters, HorizontalPartitioning, Horpart, Together};
use super::limits;
use super::recipe::{Knob, Outcome, Recipe};
use crate::data::{Dataset, ItemId, Keep, Vocabulary, Wanted};
use crate::release::{
    Bag, Body, Generalized, Guarantee, Model, Release, Supports, VERSION_LOCATED,
};
use crate::{Error, Progress, Result, Stage};

/// Anonymizes `data` by local suppression.
///
/// # Guarantee
/// The format guarantee of k^m-anonymity: for every set of at most m items
/// that some record could contain, some data set that is consistent with the
/// release has k records which contain it. Over all such data sets no slot is
/// that of a person of whom at most m items are known with more than 1/k. With
/// [`only_combinations`](Parameters::only_combinations), k^m-anonymity itself:
/// every published set of at most m items is in k published records.
///
/// # Complexity
/// Linear in the subsets of at most m items of the records, as far as k records
/// of a leaf have the items; records with more than about 400 items (78 for
/// triples) are looked at only in their most frequent ones.
///
/// # Errors
/// If there are fewer than k records, the largest leaf is smaller than 2k, a
/// sensitive term does not occur, or nothing would be published.
///
/// ```
/// use setveil::{Dataset, data::{K, M}, methods::local_suppression, verify};
///
/// let data = Dataset::from_records([
///     vec!["flu", "itunes"], vec!["flu", "itunes", "viagra"], vec!["flu", "itunes", "ikea"],
///     vec!["ikea", "ruby"], vec!["ikea", "ruby"], vec!["ikea"],
/// ]);
/// let parameters = local_suppression::Parameters::new(K::new(2)?, M::new(2)?);
/// let release = local_suppression::anonymize(&data, &parameters, &())?;
/// assert!(verify::verify(&release, &())?.holds);
/// # Ok::<(), setveil::Error>(())
/// ```
pub fn anonymize(
    data: &Dataset,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Release> {
    let settled = parameters.settled()?;
    let solution = Solution::new(data, parameters, progress)?;
    if parameters.only_combinations {
        let body = solution.classes(parameters)?;
        let items = body.vocabulary.len() as u64;
        let manifest = Method::manifest(&settled, body.classes.total(), items);
        return Ok(Release { manifest, body: Body::Generalized(body) });
    }
    let body = solution.published(parameters, progress)?.body;
    let items = body.vocabulary.len() as u64;
    let mut manifest = Method::manifest(&settled, body.records(), items);
    manifest.version = VERSION_LOCATED;
    Ok(Release { manifest, body: Body::Located(body) })
}

/// Where every record of the original went: for the custodian, who may know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// Per record the published leaf, counted from 0; with classes always 0.
    pub leaf: Vec<u32>,
    /// Record `r` keeps `items[offsets[r]..offsets[r + 1]]`.
    offsets: Vec<usize>,
    items: Vec<ItemId>,
}

impl Slots {
    /// What record `r` keeps, as items of the original; nothing, perhaps.
    pub fn kept(&self, r: usize) -> &[ItemId] {
        &self.items[self.offsets[r]..self.offsets[r + 1]]
    }
}

/// Repeats the method and says where each record of `data` went. Leaves that are
/// published alike cannot be told apart and may be exchanged.
///
/// # Errors
/// As [`anonymize`].
pub fn slots(data: &Dataset, parameters: &Parameters, progress: &dyn Progress) -> Result<Slots> {
    let solution = Solution::new(data, parameters, progress)?;
    let mut slots = Slots { leaf: vec![0; data.len()], offsets: vec![0], items: Vec::new() };
    if !parameters.only_combinations {
        let published = solution.published(parameters, progress)?;
        for (leaf, &l) in published.order.iter().enumerate() {
            for &record in solution.clusters.get(l) {
                slots.leaf[record as usize] = leaf as u32;
            }
        }
    }
    for &row in &solution.row_of {
        slots.items.extend(solution.kept_items(row as usize));
        slots.offsets.push(slots.items.len());
    }
    Ok(slots)
}

/// What the records keep.
struct Solution<'a> {
    data: &'a Dataset,
    clusters: Clusters,
    rows: Rows,
    row_of: Vec<u32>,
    kept: Vec<bool>,
}

impl<'a> Solution<'a> {
    fn new(data: &'a Dataset, parameters: &Parameters, progress: &dyn Progress) -> Result<Self> {
        let (k, m) = (parameters.k.get(), parameters.m.get());
        if data.len() < k as usize {
            return Err(Error::Infeasible {
                what: format!("{}, fewer than k = {k}", limits::there_are(data.len())),
                hint: "nobody can be hidden among fewer than k: choose a smaller k or release \
                       nothing"
                    .into(),
            });
        }
        limits::check(data)?;
        let hidden = parameters.sensitive_items(data)?;
        let wanted = Wanted::new(&parameters.keep, data.vocabulary());
        let clusters = match parameters.sizes()? {
            Some(sizes) => {
                let may_split: Vec<bool> = hidden.iter().map(|h| !h).collect();
                let together = Together { wanted: &wanted, other: &Horpart };
                let steps: [&dyn HorizontalPartitioning; 2] = [&Horpart, &together];
                steps[usize::from(!wanted.is_empty())]
                    .partition(data, &may_split, sizes, progress)?
            }
            None => {
                let mut whole = Clusters::default();
                whole.push(0..data.len() as u32);
                whole
            }
        };
        progress.stage(Stage::Suppressing, None);
        let Grouped { rows, row_of } = group(data, &clusters, &hidden, k, progress)?;
        let effort = Effort { revivals: 8, leaves: !parameters.only_combinations };
        let (rows, kept) =
            solve(rows, &priorities(data, &wanted), (k, m), &wanted, effort, progress)?;
        Ok(Self { data, clusters, rows, row_of, kept })
    }

    fn kept_items(&self, row: usize) -> impl Iterator<Item = ItemId> {
        let both = self.rows.row(row).iter().zip(&self.kept[self.rows.range(row)]);
        both.filter(|(_, kept)| **kept).map(|(&item, _)| item)
    }

    fn published(&self, parameters: &Parameters, progress: &dyn Progress) -> Result<Published> {
        let kept = (&self.rows, &self.kept[..]);
        if parameters.no_item_counts {
            publish::without_counts(self.data, &self.clusters, kept, progress)
        } else {
            let km = (parameters.k.get(), parameters.m.get());
            publish::with_counts(self.data, &self.clusters, kept, km, progress)
        }
    }

    /// The kept sub-records alone. Records that keep nothing are not published.
    fn classes(&self, parameters: &Parameters) -> Result<Generalized> {
        let mut used = vec![false; self.data.item_count()];
        for r in 0..self.rows.len() {
            self.kept_items(r).for_each(|item| used[item as usize] = true);
        }
        let labels: Vec<ItemId> = (0..used.len() as ItemId).filter(|&i| used[i as usize]).collect();
        if labels.is_empty() {
            return Err(Error::Infeasible {
                what: format!(
                    "no item can be kept {} times: nothing would be published",
                    parameters.k
                ),
                hint: "choose a smaller k or another method".into(),
            });
        }
        let mut renumber = vec![0; used.len()];
        for (new, &old) in labels.iter().enumerate() {
            renumber[old as usize] = new as ItemId;
        }
        let (mut items, mut ends) = (Vec::new(), vec![0]);
        for r in 0..self.rows.len() {
            items.extend(self.kept_items(r).map(|item| renumber[item as usize]));
            ends.push(items.len());
        }
        let subrecords = ends.windows(2).map(|w| &items[w[0]..w[1]]);
        let weights = (0..self.rows.len()).map(|r| self.rows.weight(r));
        Ok(Generalized {
            vocabulary: Vocabulary::from_sorted(
                labels.iter().map(|&i| self.data.vocabulary().label(i)),
            ),
            classes: Bag::from_counted(subrecords.zip(weights)),
            hierarchy: None,
        })
    }
}

/// Which items of a record are looked at first where there are too many:
/// those that shall stay together, then the most frequent.
fn priorities(data: &Dataset, wanted: &Wanted) -> Vec<u32> {
    let mut priorities = data.supports();
    for (item, priority) in priorities.iter_mut().enumerate() {
        if !wanted.sets_of(item as ItemId).is_empty() {
            *priority = u32::MAX;
        }
    }
    priorities
}

/// Local suppression, as [`Method`](super::Method) sees it.
#[derive(Debug)]
pub(super) enum Method {}

impl Recipe for Method {
    type Parameters = Parameters;
    const NAME: &'static str = "local-suppression";
    const IN_WORDS: &'static str = "Every record gives up the few items that would make a rare \
        combination. What is left of each record is published together; of items that were given \
        up, only counts over groups of records are published.";
    const KNOBS: &'static [Knob] = &[Knob::K, Knob::M, Knob::MaxClusterSize];

    fn guarantee(parameters: &Parameters) -> Guarantee {
        let (k, m) = (parameters.k.get(), parameters.m.get());
        let model = match parameters.only_combinations {
            true => Model::KmAnonymity { k, m },
            false => Model::FormatKmAnonymity { k, m, l: None },
        };
        let exact = !parameters.only_combinations && !parameters.no_item_counts;
        let supports = if exact { Supports::Exact } else { Supports::LowerBound };
        Guarantee { model, supports }
    }

    fn run(parameters: &Parameters, data: &Dataset, progress: &dyn Progress) -> Result<Outcome> {
        parameters.keep.check(data.vocabulary())?;
        anonymize(data, parameters, progress).map(Into::into)
    }

    fn keep(parameters: &mut Parameters) -> Option<&mut Keep> {
        Some(&mut parameters.keep)
    }

    fn sensitive(parameters: &Parameters) -> &[String] {
        &parameters.sensitive
    }

    fn kept(
        parameters: &Parameters,
        data: &Dataset,
        progress: &dyn Progress,
    ) -> Result<Option<Slots>> {
        slots(data, parameters, progress).map(Some)
    }
}
