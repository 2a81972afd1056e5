//! Groups: sensitive items dealt to the records of their group (cahd-2008,
//! section II).

use rayon::prelude::*;

use super::assemble::{Records, assemble};
use super::cover::Cover;
use super::{Options, random};
use crate::data::Dataset;
use crate::release::{Group, Grouped};
use crate::{Error, Progress, Result};

pub(super) fn reconstruct(
    body: &Grouped,
    options: Options,
    number: u32,
    progress: &dyn Progress,
) -> Result<Dataset> {
    let pieces: Vec<Records> = body
        .groups
        .par_iter()
        .enumerate()
        .map(|(part, group)| {
            progress.step(group.size.into())?;
            let mut rng = random(options, number, part);
            let mut records = plain(group)?;
            let cover = Cover {
                filled: records.iter().map(|r| !r.is_empty()).collect(),
                parts: group.sensitive.iter().map(|s| s.1 as usize).collect(),
                terms: 0,
                cap: 0,
            };
            if !cover.feasible() {
                return Err(impossible(group));
            }
            let placement = cover.draw(&mut rng);
            for (&(item, _), slots) in group.sensitive.iter().zip(&placement.parts) {
                slots.iter().for_each(|&slot| records[slot].push(item));
            }
            let mut drawn = Records::default();
            records.into_iter().for_each(|record| drawn.push(record));
            Ok(drawn)
        })
        .collect::<Result<_>>()?;
    Ok(assemble(&body.vocabulary, &pieces))
}

/// The records without their sensitive items, the bare ones last.
fn plain(group: &Group) -> Result<Vec<Vec<u32>>> {
    let mut records = Vec::new();
    for (items, count) in group.records.iter() {
        records.extend((0..count).map(|_| items.to_vec()));
    }
    if records.len() > group.size as usize {
        return Err(impossible(group));
    }
    records.resize(group.size as usize, Vec::new());
    Ok(records)
}

fn impossible(group: &Group) -> Error {
    Error::Infeasible {
        what: format!(
            "no data set fits the release: a group of {} records has {} with other items and \
             sensitive items that cannot be dealt to them",
            group.size,
            group.records.total()
        ),
        hint: "see `setveil verify`".into(),
    }
}
