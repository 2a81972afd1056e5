//! Where each item of a release can be: the leaves with a source of it.

use super::cluster::ClusterWorlds;
use super::parts::TERM;
use crate::data::ItemId;
use crate::{Progress, Result};

/// For each item the leaves that can have it, with its source there.
#[derive(Clone, Debug)]
pub(super) struct Places(Vec<Vec<Place>>);

#[derive(Clone, Copy, Debug)]
struct Place {
    /// Cluster, and leaf of the cluster.
    at: (u32, u32),
    source: u32,
}

/// Leaves in which all items of an itemset have a source, ascending.
pub(super) struct Found {
    at: Vec<(u32, u32)>,
    /// For every leaf as many as the itemset has items, in its order.
    sources: Vec<u32>,
}

/// Leaves of one cluster, with the sources of an itemset's items.
#[derive(Clone, Copy)]
pub(super) struct Sites<'a> {
    at: &'a [(u32, u32)],
    sources: &'a [u32],
}

impl Places {
    pub(super) fn new(
        clusters: &[ClusterWorlds],
        items: usize,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut places = Self(vec![Vec::new(); items]);
        for (c, cluster) in clusters.iter().enumerate() {
            for (l, leaf) in cluster.leaves.iter().enumerate() {
                progress.step(0)?;
                let at = (c as u32, l as u32);
                for &chunk in &leaf.own {
                    let domain = &cluster.chunks[chunk].domain;
                    domain.iter().for_each(|&item| places.push(item, at, chunk as u32));
                }
                leaf.term_chunk.iter().for_each(|&item| places.push(item, at, TERM));
                for (chunk, blocked) in cluster.inflows(leaf) {
                    let domain = cluster.chunks[chunk].domain.iter();
                    // What is blocked has a source nearer to the leaf.
                    for &item in domain.filter(|item| !blocked.contains(item)) {
                        places.push(item, at, chunk as u32);
                    }
                }
            }
        }
        Ok(places)
    }

    fn push(&mut self, item: ItemId, at: (u32, u32), source: u32) {
        let places = &mut self.0[item as usize];
        // The nearest source counts.
        if places.last().is_none_or(|last| last.at != at) {
            places.push(Place { at, source });
        }
    }

    fn of(&self, item: ItemId) -> &[Place] {
        self.0.get(item as usize).map_or(&[], Vec::as_slice)
    }

    /// The leaves in which all items have a source; none for an empty itemset.
    pub(super) fn with(&self, itemset: &[ItemId]) -> Found {
        let mut lists: Vec<&[Place]> = itemset.iter().map(|&item| self.of(item)).collect();
        let mut found = Found { at: Vec::new(), sources: Vec::new() };
        let rarest = (0..lists.len()).min_by_key(|&i| lists[i].len());
        let Some(rarest) = rarest.map(|i| lists[i]) else { return found };
        'leaves: for &Place { at, .. } in rarest {
            let before = found.sources.len();
            for list in &mut lists {
                *list = &list[skip_to(list, at)..];
                match list.first() {
                    Some(place) if place.at == at => found.sources.push(place.source),
                    _ => {
                        found.sources.truncate(before);
                        continue 'leaves;
                    }
                }
            }
            found.at.push(at);
        }
        found
    }

    /// The leaves of one cluster in which all items have a source, with the
    /// sources.
    pub(super) fn with_in(&self, cluster: usize, itemset: &[ItemId]) -> Vec<(usize, Vec<u32>)> {
        let rarest = itemset.iter().map(|&i| self.of(i)).min_by_key(|list| list.len());
        let places = rarest.unwrap_or(&[]);
        let start = places.partition_point(|p| (p.at.0 as usize) < cluster);
        let here = places[start..].iter().take_while(|p| p.at.0 as usize == cluster);
        let sources = |at: (u32, u32)| -> Option<Vec<u32>> {
            let source = |&item: &ItemId| {
                let places = self.of(item);
                places.binary_search_by_key(&at, |p| p.at).ok().map(|p| places[p].source)
            };
            itemset.iter().map(source).collect()
        };
        here.filter_map(|p| Some((p.at.1 as usize, sources(p.at)?))).collect()
    }
}

impl Found {
    /// The clusters, each with its leaves.
    pub(super) fn clusters(&self) -> impl Iterator<Item = (usize, Sites<'_>)> {
        let items = self.sources.len() / self.at.len().max(1);
        let mut sources = &self.sources[..];
        self.at.chunk_by(|a, b| a.0 == b.0).map(move |at| {
            let (here, rest) = sources.split_at(at.len() * items);
            sources = rest;
            (at[0].0 as usize, Sites { at, sources: here })
        })
    }
}

impl<'a> Sites<'a> {
    /// The leaves with the sources of the items.
    pub(super) fn iter(self) -> impl Iterator<Item = (usize, &'a [u32])> {
        let sources = self.sources.chunks((self.sources.len() / self.at.len()).max(1));
        self.at.iter().map(|at| at.1 as usize).zip(sources)
    }
}

/// The first position that is not below `leaf`. Galloping pays where one list
/// is much longer than the other.
fn skip_to(list: &[Place], leaf: (u32, u32)) -> usize {
    let mut step = 1;
    while step < list.len() && list[step].at < leaf {
        step *= 2;
    }
    let end = (step + 1).min(list.len());
    step / 2 + list[step / 2..end].partition_point(|p| p.at < leaf)
}
