//! Whether a release can have been made from an original: with another one,
//! every number about risk and utility is meaningless.

use rustc_hash::FxHashMap;

use super::ncp;
use crate::data::{Dataset, ItemId};
use crate::query::Prepared;
use crate::release::{Body, Generalized, Grouped, LeavesOut, Release, Supports};
use crate::{Error, Progress, Result};

/// So many contradictions are shown.
const SHOWN: usize = 3;

/// Fails if records, items or supports of `original` contradict `release`. A
/// release with noise contradicts nothing but an original that shares no item
/// with it.
///
/// # Errors
/// [`Error::Infeasible`] with both sides of what does not fit.
///
/// # Complexity
/// Linear in the release and the original; for groups and leaves one
/// [`query`](crate::query) an item, for generalised releases the assignment of records
/// to classes.
pub fn check_original(
    release: &Release,
    original: &Dataset,
    progress: &dyn Progress,
) -> Result<()> {
    let mut contradictions = Vec::new();
    records(release, original, &mut contradictions);
    items(release, original, &mut contradictions);
    if release.manifest.guarantee.supports != Supports::Noisy && contradictions.is_empty() {
        match &release.body {
            Body::Generalized(body) if body.hierarchy.is_some() => {
                progress.step(0)?;
                classes(body, original)?;
            }
            body => {
                supports(release, original, &mut contradictions, progress)?;
                if let (Body::Grouped(body), true) = (body, contradictions.is_empty()) {
                    rows(body, original, &mut contradictions);
                    if release.leaves_out() == LeavesOut::BareRecords {
                        sensitive(body, original, &mut contradictions);
                    }
                }
            }
        }
    }
    if contradictions.is_empty() {
        return Ok(());
    }
    let more = contradictions.len().saturating_sub(SHOWN);
    contradictions.truncate(SHOWN);
    let mut what =
        format!("the release was not made from this original: {}", contradictions.join("; "));
    if more > 0 {
        what += &format!("; and {more} more contradictions");
    }
    let hint = "name the data that the release was made from, and read it in the same way";
    Err(Error::Infeasible { what, hint: hint.into() })
}

fn records(release: &Release, original: &Dataset, found: &mut Vec<String>) {
    if release.manifest.guarantee.supports == Supports::Noisy {
        return;
    }
    let (there, here) = (release.manifest.records, original.len() as u64);
    if there > here || (there < here && release.leaves_out() == LeavesOut::Nothing) {
        found.push(format!("the release has {there} records, the original {here}"));
    }
}

fn items(release: &Release, original: &Dataset, found: &mut Vec<String>) {
    let vocabulary = original.vocabulary();
    if release.manifest.guarantee.supports == Supports::Noisy {
        let Body::Generalized(body) = &release.body else { return };
        let Some(tree) = &body.hierarchy else { return };
        if !original.is_empty() && vocabulary.labels().all(|label| tree.node(label).is_none()) {
            found.push("the hierarchy of the release has no item of the original".to_owned());
        }
        return;
    }
    // What generalised items stand for is looked at with the classes.
    if matches!(&release.body, Body::Generalized(body) if body.hierarchy.is_some()) {
        return;
    }
    let published = release.body.vocabulary();
    let only = |a: &crate::data::Vocabulary, b: &crate::data::Vocabulary| {
        let only: Vec<String> =
            a.labels().filter(|l| b.id(l).is_none()).map(|l| format!("`{l}`")).collect();
        (only.len(), only.into_iter().take(SHOWN).collect::<Vec<_>>().join(", "))
    };
    let (count, names) = only(published, vocabulary);
    if count > 0 {
        let items = if count == 1 { "item" } else { "items" };
        found.push(format!("{count} {items} of the release are not in the original: {names}"));
    }
    let all = release.leaves_out() == LeavesOut::Nothing
        && release.manifest.guarantee.supports == Supports::Exact;
    let (count, names) = only(vocabulary, published);
    if all && count > 0 {
        let items = if count == 1 { "item" } else { "items" };
        found.push(format!("{count} {items} of the original are not in the release: {names}"));
    }
}

fn supports(
    release: &Release,
    original: &Dataset,
    found: &mut Vec<String>,
    progress: &dyn Progress,
) -> Result<()> {
    let vocabulary = original.vocabulary();
    let bounds = Prepared::item_bounds(release, vocabulary.labels(), progress)?;
    let supports = original.supports().into_iter().map(u64::from);
    for ((label, support), (lower, upper)) in vocabulary.labels().zip(supports).zip(bounds) {
        if support < lower {
            found.push(format!(
                "`{label}` is in {lower} records by the release, in {support} of the original"
            ));
        }
        if let Some(upper) = upper.filter(|&upper| support > upper) {
            found.push(format!(
                "`{label}` is in at most {upper} records by the release, in {support} of the \
                 original"
            ));
        }
    }
    Ok(())
}

/// Which items of the original stand in rows of the release: the ordinary ones.
fn ordinary(body: &Grouped, original: &Dataset) -> Vec<bool> {
    let mut ordinary = vec![false; original.item_count()];
    for item in body.groups.iter().flat_map(|group| group.records.domain()) {
        if let Some(item) = original.vocabulary().id(body.vocabulary.label(item)) {
            ordinary[item as usize] = true;
        }
    }
    ordinary
}

/// Every ordinary row of the release is one of the original.
fn rows(body: &Grouped, original: &Dataset, found: &mut Vec<String>) {
    let there: Vec<Option<ItemId>> =
        body.vocabulary.labels().map(|label| original.vocabulary().id(label)).collect();
    let ordinary = ordinary(body, original);
    let mut left: FxHashMap<Vec<ItemId>, i64> = FxHashMap::default();
    for (items, count) in body.groups.iter().flat_map(|group| group.records.iter()) {
        let row: Vec<ItemId> = items.iter().filter_map(|&item| there[item as usize]).collect();
        *left.entry(row).or_default() -= i64::from(count);
    }
    for record in original.records() {
        let row: Vec<ItemId> =
            record.iter().copied().filter(|&item| ordinary[item as usize]).collect();
        if let Some(count) = left.get_mut(&row) {
            *count += 1;
        }
    }
    let missing = left.iter().filter(|(_, count)| **count < 0).map(|(row, _)| row).min();
    if let Some(row) = missing {
        let labels = original.vocabulary().texts(row).join(", ");
        found.push(format!("the release has the row {{{labels}}} more often than the original"));
    }
}

/// Where records of sensitive items only were left out, the others have each
/// sensitive item as often as the groups say. (Their supports alone have no
/// upper bound: nobody knows how often it was left out.)
fn sensitive(body: &Grouped, original: &Dataset, found: &mut Vec<String>) {
    let ordinary = ordinary(body, original);
    let mut here = vec![0_u64; original.item_count()];
    for record in original.records() {
        if record.iter().any(|&item| ordinary[item as usize]) {
            record.iter().for_each(|&item| here[item as usize] += 1);
        }
    }
    let mut there = vec![0_u64; original.item_count()];
    for &(item, count) in body.groups.iter().flat_map(|group| &group.sensitive) {
        if let Some(item) = original.vocabulary().id(body.vocabulary.label(item)) {
            there[item as usize] += u64::from(count);
        }
    }
    let differ = (0..here.len()).filter(|&item| !ordinary[item] && here[item] != there[item]);
    found.extend(differ.map(|item| {
        format!(
            "`{}` is in {} records with other items by the release, in {} of the original",
            original.vocabulary().label(item as ItemId),
            there[item],
            here[item]
        )
    }));
}

/// Fails if records cannot be dealt to the classes. A release that hides the
/// names of its leaves cannot be checked without its full hierarchy.
fn classes(body: &Generalized, original: &Dataset) -> Result<()> {
    let hidden = |tree: &crate::data::Hierarchy| {
        original.vocabulary().labels().any(|label| tree.node(label).is_none())
    };
    if body.hierarchy.as_ref().is_some_and(hidden) {
        return Ok(());
    }
    ncp::classes_of(body, original, None).map(|_| ())
}
