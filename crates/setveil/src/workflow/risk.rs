//! How surely an attacker who is played out finds somebody, and what she learns.

use crate::caution::{Caution, Severity};
use crate::data::{ItemId, Keep};
use crate::measure::{self, ncp};
use crate::methods::local_suppression::Slots as Kept;
use crate::release::{Bag, Body, Generalized, Located, Release, Supports};
use crate::risk::{self, Level, Options, Slots};
use crate::{Dataset, Method, Progress, Result};

/// Plays the attacker against `release` for 1 up to `options.known` known items.
///
/// # Errors
/// If `original` cannot be the one that the release was made from, no data set
/// fits the release, or `progress` says stop.
pub fn risk(
    release: &Release,
    original: &Dataset,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Vec<Level>> {
    measure::check_original(release, original, progress)?;
    played(release, original, options, progress)
}

/// The same for an original that was checked.
pub(super) fn played(
    release: &Release,
    original: &Dataset,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Vec<Level>> {
    played_by(release, original, None, options, progress)
}

/// The same where `members` may have the records of each published leaf already.
pub(super) fn played_by(
    release: &Release,
    original: &Dataset,
    members: Option<Vec<Vec<u32>>>,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Vec<Level>> {
    let slots = match members {
        Some(members) => clusters(&members, original.len()),
        None => slots(release, original, &options.keep, progress)?,
    };
    risk::play(release, original, &slots, options, progress)
}

/// Up to how many known items the risk is shown for: two more than the promise
/// speaks of, and four at least.
pub(super) fn known(release: &Release) -> u32 {
    release.manifest.guarantee.model.m().map_or(4, |m| (m + 2).max(4))
}

/// A word about a release in which people are found more often than k suggests:
/// one of k, for as many known items as the promise speaks of.
pub(super) fn caution(release: &Release, levels: &[Level]) -> Option<Caution> {
    let model = &release.manifest.guarantee.model;
    let k = model.k()?;
    let covered = levels.iter().filter(|level| model.m().is_none_or(|m| level.known <= m));
    let above = |level: &&Level| {
        let error = level.linking_error.unwrap_or(0.0);
        level.linking.is_some_and(|found| found > 1.0 / f64::from(k) + 2.0 * error)
    };
    let worst = covered
        .filter(above)
        .max_by(|a, b| a.linking.unwrap_or(0.0).total_cmp(&b.linking.unwrap_or(0.0)))?;
    let (known, found) = (worst.known, 100.0 * worst.linking?);
    let items = if known == 1 { "item" } else { "items" };
    let what = format!(
        "who knows {known} {items} of a person finds the right record in {found:.0} % of all cases, \
         more often than one of k = {k}: the promise speaks of possible candidates, not of \
         likely ones. Choose a larger k"
    );
    Some(Caution { severity: Severity::Amber, kind: "risk", what })
}

/// Where each record of the original went, as far as repeating the method tells.
fn slots(
    release: &Release,
    original: &Dataset,
    keep: &Keep,
    progress: &dyn Progress,
) -> Result<Slots> {
    let Ok(method) = Method::of(&release.manifest) else { return Ok(Slots::Unknown) };
    let method = method.with_keep(keep.clone())?;
    match &release.body {
        Body::Grouped(_) => Ok(Slots::Rows),
        Body::Disassociated(_) => {
            let members = method.members(release, original, progress)?;
            Ok(members.map_or(Slots::Unknown, |members| clusters(&members, original.len())))
        }
        Body::Generalized(body) if release.manifest.guarantee.supports == Supports::Noisy => {
            let _ = body;
            Ok(Slots::Unknown)
        }
        Body::Generalized(body) => match method.kept(original, progress)? {
            Some(kept) => {
                let record = |r| kept.kept(r);
                let classes = kept_classes(body, original, record);
                let mut counts = vec![0; body.classes.len()];
                for &class in classes.iter().filter(|&&class| class != Slots::LEFT_OUT) {
                    counts[class as usize] += 1;
                }
                // With a list to keep that is not given, records went elsewhere.
                let same = body.classes.iter().map(|(_, count)| count).eq(counts);
                Ok(if same { Slots::Classes(classes) } else { Slots::Unknown })
            }
            None if hides_leaves(body, original) => Ok(Slots::Unknown),
            None => {
                let classes = ncp::classes_of(body, original, None)?;
                let number = |class: Option<u32>| class.unwrap_or(Slots::LEFT_OUT);
                Ok(Slots::Classes(classes.into_iter().map(number).collect()))
            }
        },
        Body::Located(body) => Ok(match method.kept(original, progress)? {
            // With a list to keep that is not given, records went elsewhere.
            Some(kept) if fits(body, original, &kept) => {
                let place = |r: usize| (kept.leaf[r], kept.kept(r).to_vec());
                Slots::Leaves((0..original.len()).map(place).collect())
            }
            _ => Slots::Unknown,
        }),
    }
}

/// Whether the leaves keep just what these records keep in them.
fn fits(body: &Located, original: &Dataset, kept: &Kept) -> bool {
    let mut leaves: Vec<Vec<&[ItemId]>> = vec![Vec::new(); body.leaves.len()];
    for r in 0..original.len() {
        match leaves.get_mut(kept.leaf[r] as usize) {
            Some(leaf) => leaf.push(kept.kept(r)),
            None => return false,
        }
    }
    body.vocabulary == *original.vocabulary()
        && body.leaves.iter().zip(leaves).all(|(leaf, kept)| {
            let size = kept.len() == leaf.size as usize;
            size && Bag::from_counted(kept.into_iter().map(|items| (items, 1))) == leaf.kept
        })
}

fn clusters(members: &[Vec<u32>], records: usize) -> Slots {
    let mut leaf_of = vec![0; records];
    for (leaf, members) in members.iter().enumerate() {
        members.iter().for_each(|&record| leaf_of[record as usize] = leaf as u32);
    }
    Slots::Clusters(leaf_of)
}

/// The class of each record that gave up items of its own.
fn kept_classes<'a>(
    body: &Generalized,
    original: &Dataset,
    kept: impl Fn(usize) -> &'a [ItemId],
) -> Vec<u32> {
    let published: Vec<Option<ItemId>> =
        original.vocabulary().labels().map(|label| body.vocabulary.id(label)).collect();
    let numbers: std::collections::HashMap<&[ItemId], u32> =
        body.classes.iter().zip(0..).map(|((items, _), number)| (items, number)).collect();
    let class = |r: usize| {
        let items: Option<Vec<ItemId>> =
            kept(r).iter().map(|&item| published[item as usize]).collect();
        items.and_then(|items| numbers.get(&items[..]).copied()).unwrap_or(Slots::LEFT_OUT)
    };
    (0..original.len()).map(class).collect()
}

/// Whether the names of some leaves are not in the published hierarchy.
fn hides_leaves(body: &Generalized, original: &Dataset) -> bool {
    body.hierarchy
        .as_ref()
        .is_some_and(|tree| original.vocabulary().labels().any(|label| tree.node(label).is_none()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn people_who_are_found_more_often_than_one_of_k_are_a_caution() {
        let data = Dataset::from_records([["a", "b"], ["a", "b"], ["a", "b"], ["a", "b"]]);
        let parameters = json!({"k": 4, "m": 2, "max_cluster_size": 8, "refine": false});
        let method = Method::named("disassociation", parameters.as_object().unwrap().clone());
        let release = method.unwrap().run(&data, &()).unwrap().release;
        let level = |known: u32, found: f64| Level {
            known,
            linking: Some(found),
            linking_error: Some(0.01),
            ..Level::default()
        };
        assert_eq!(caution(&release, &[level(1, 0.2), level(2, 0.26), level(3, 0.9)]), None);
        let word = caution(&release, &[level(1, 0.2), level(2, 0.31)]).unwrap().what;
        assert!(word.contains("knows 2 items") && word.contains("31 %"), "{word}");
        assert!(word.contains("more often than one of k = 4"), "{word}");
    }
}
