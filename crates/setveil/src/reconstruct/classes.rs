//! Generalised classes: one leaf for every node.

use rand::RngExt;
use rayon::prelude::*;

use super::assemble::{Records, assemble};
use super::{Options, random};
use crate::data::{Dataset, Hierarchy, ItemId, Vocabulary};
use crate::release::Generalized;
use crate::{Error, Result};

/// Classes that one task deals with.
const PIECE: usize = 1 << 10;

pub(super) fn reconstruct(body: &Generalized, options: Options, number: u32) -> Result<Dataset> {
    let Some(hierarchy) = &body.hierarchy else {
        return Ok(draw(body, &body.vocabulary, options, number, |item, _| item));
    };
    let (vocabulary, candidates) = leaves(body, hierarchy)?;
    Ok(draw(body, &vocabulary, options, number, |node, rng| {
        let under = &candidates[node as usize];
        under[rng.random_range(0..under.len())]
    }))
}

/// All leaves as items in the order of their text, and for every published
/// node the leaves under it.
fn leaves(body: &Generalized, hierarchy: &Hierarchy) -> Result<(Vocabulary, Vec<Vec<ItemId>>)> {
    let vocabulary = Vocabulary::new(hierarchy.leaves(0).map(|leaf| hierarchy.label(leaf)));
    let candidates = body.vocabulary.labels().map(|label| {
        let node = hierarchy.node(label).ok_or_else(|| Error::Unknown {
            what: format!("`{label}` stands in a class and not in the release's hierarchy"),
            hint: "verify tells what is wrong with the release".into(),
        })?;
        let id = |leaf| vocabulary.id(hierarchy.label(leaf)).expect("every leaf is in it");
        Ok(hierarchy.leaves(node).map(id).collect())
    });
    let candidates = candidates.collect::<Result<_>>()?;
    Ok((vocabulary, candidates))
}

fn draw(
    body: &Generalized,
    vocabulary: &Vocabulary,
    options: Options,
    number: u32,
    leaf: impl Fn(ItemId, &mut rand_chacha::ChaCha8Rng) -> ItemId + Sync,
) -> Dataset {
    let pieces: Vec<Records> = (0..body.classes.len().div_ceil(PIECE))
        .into_par_iter()
        .map(|part| {
            let mut rng = random(options, number, part);
            let mut records = Records::default();
            let end = ((part + 1) * PIECE).min(body.classes.len());
            for class in part * PIECE..end {
                let (items, count) = body.classes.get(class);
                for _ in 0..count {
                    let mut record: Vec<ItemId> =
                        items.iter().map(|&item| leaf(item, &mut rng)).collect();
                    // A node and its ancestor may draw the same leaf.
                    record.sort_unstable();
                    record.dedup();
                    records.push(record);
                }
            }
            records
        })
        .collect();
    assemble(vocabulary, pieces)
}
