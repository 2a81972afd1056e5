//! Groups: sensitive items dealt to the records of their group (cahd-2008,
//! section II).

use rayon::prelude::*;

use super::assemble::{Dealt, Records, assemble};
use super::cover::{Cover, Scratch};
use super::{Options, random};
use crate::data::Dataset;
use crate::release::{Group, Grouped};
use crate::{Error, Result};

pub(super) fn reconstruct(body: &Grouped, options: Options, number: u32) -> Result<Dataset> {
    let pieces: Vec<Records> = body
        .groups
        .par_iter()
        .enumerate()
        .map_init(Scratch::default, |scratch, (part, group)| {
            let mut rng = random(options, number, part);
            let (plain, size) = (group.records.total() as usize, group.size as usize);
            let cover = Cover {
                filled: (0..size).map(|slot| slot < plain).collect(),
                parts: group.sensitive.iter().map(|s| s.1 as usize).collect(),
                terms: 0,
                cap: 0,
            };
            if plain > size || !cover.feasible() {
                return Err(impossible(group));
            }
            let mut dealt = Dealt::default();
            let repeat = |(items, count)| std::iter::repeat_n(items, count as usize);
            let rows = group.records.iter().flat_map(repeat);
            (0..).zip(rows).for_each(|(slot, items)| dealt.deal(slot, items));
            let placement = cover.draw(scratch, &mut rng);
            for ((item, _), slots) in group.sensitive.iter().zip(placement.steps()) {
                slots.iter().for_each(|&slot| dealt.deal(slot, std::slice::from_ref(item)));
            }
            let mut drawn = Records::default();
            drawn.push_dealt(&mut dealt, size);
            Ok(drawn)
        })
        .collect::<Result<_>>()?;
    Ok(assemble(&body.vocabulary, pieces))
}

fn impossible(group: &Group) -> Error {
    Error::Infeasible {
        what: format!(
            "no data set fits the release: a group of {} records has {} with other items and \
             sensitive items that cannot be dealt to them",
            group.size,
            group.records.total()
        ),
        hint: "verify tells what is wrong with the release".into(),
    }
}
