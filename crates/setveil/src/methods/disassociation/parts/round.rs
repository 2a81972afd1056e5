//! A round of joins: clusters of all parts with the same rare terms come
//! together, and REFINE goes on among them.

use super::counting::plan;
use super::watch::Watch;
use super::{Planner, Ranks, Shelf, Shelves, Sizes, join, join_size};
use crate::data::damaged;
use crate::methods::disassociation::Parameters;
use crate::methods::disassociation::refine::open_terms_of;
use crate::progress::{Progress, Stage};
use crate::{Error, Result};

/// One round of joins.
pub(super) struct Round<'a> {
    pub(super) parameters: &'a Parameters,
    pub(super) items: usize,
    pub(super) parts: usize,
    pub(super) fewer: u64,
    pub(super) sizes: &'a Sizes,
}

impl Round<'_> {
    /// Clusters that can share nothing more are published; the others come back.
    pub(super) fn run<S: Shelves>(
        &self,
        mut open: S::Shelf,
        shelves: &mut S,
        publish: &mut dyn FnMut(&[u8]) -> Result<()>,
        progress: &dyn Progress,
    ) -> Result<S::Shelf> {
        let (ranks, bytes, clusters) = self.rare_first(&mut open, progress)?;
        let mut terms = Vec::new();
        let mut ranked = |cluster: &[u8], own: &mut Vec<u32>| {
            open_terms_of(cluster, &mut terms)?;
            ranks.of_items(terms.iter().map(|term| Some(term.0)), own)?;
            progress.step(0)?;
            Ok((!own.is_empty()).then_some(cluster.len() as u64))
        };
        let size = join_size(bytes, self.parts, self.fewer).at_most(self.sizes.join);
        let planner = Planner::new(size, false);
        let plan = plan(planner, &mut open, &mut ranked, (shelves, self.sizes), progress)?;
        let mut own = Vec::new();
        let mut parts = plan.sizes().iter().map(|_| shelves.shelf()).collect::<Result<Vec<_>>>()?;
        open.each(&mut |cluster| {
            if ranked(cluster, &mut own)?.is_none() {
                return publish(cluster);
            }
            let part =
                plan.part_unsorted(&mut own).ok_or_else(|| changed("a cluster without a part"))?;
            parts[part as usize].put(cluster)
        })?;
        drop(open);
        progress.stage(Stage::Refining, Some(clusters));
        let (mut joined, watch) = (shelves.shelf()?, Watch::new(Stage::Refining, progress));
        for mut part in parts {
            let mut clusters = Vec::new();
            part.each(&mut |cluster| {
                clusters.push(cluster.to_vec());
                Ok(())
            })?;
            drop(part);
            for cluster in join(clusters, &ranks, self.parameters, &watch)? {
                joined.put(&cluster)?;
            }
        }
        Ok(joined)
    }

    /// Ranks of the terms that several clusters have, k records together, the
    /// rarest first: common ones find each other inside of a part. And how
    /// many bytes the clusters have that can share one, and how many they are.
    fn rare_first(
        &self,
        open: &mut impl Shelf,
        progress: &dyn Progress,
    ) -> Result<(Ranks, u64, u64)> {
        let (mut clusters, mut records) = (vec![0u64; self.items], vec![0u64; self.items]);
        let mut terms = Vec::new();
        open.each(&mut |cluster| {
            open_terms_of(cluster, &mut terms)?;
            for &(term, support) in &terms {
                let both = clusters.get_mut(term as usize).zip(records.get_mut(term as usize));
                let (clusters, records) = both.ok_or_else(damaged)?;
                *clusters += 1;
                *records += u64::from(support);
            }
            progress.step(0)
        })?;
        let ranks = Ranks::rare_first(&clusters, &records, self.parameters.k);
        let (mut bytes, mut sharing) = (0, 0);
        open.each(&mut |cluster| {
            open_terms_of(cluster, &mut terms)?;
            if terms.iter().any(|term| ranks.has(term.0)) {
                bytes += cluster.len() as u64;
                sharing += 1;
            }
            progress.step(0)
        })?;
        Ok((ranks, bytes, sharing))
    }
}

fn changed(what: &str) -> Error {
    Error::Infeasible {
        what: what.into(),
        hint: "the data changed between two steps: run all of them again".into(),
    }
}
