//! Bounds for every single item of a release, in one pass over it.

use super::{ClusterModel, Knowledge, bounds};
use crate::Result;
use crate::data::ItemId;
use crate::progress::{Progress, Pulse};
use crate::release::{Bag, Cluster, Disassociated, SimpleCluster};

/// For every item the least and the greatest number of records that can have
/// it, as far as the format tells. No world is outside; where one term stands alone in
/// the term chunk of a leaf below shared chunks, an
/// [`answer`](super::ReleaseWorlds::answer) can be narrower.
///
/// # Errors
/// If `progress` says stop.
pub(crate) fn item_bounds(
    body: &Disassociated,
    progress: &dyn Progress,
) -> Result<Vec<(u64, u64)>> {
    let mut found = vec![(0, 0); body.vocabulary.len()];
    let mut pulse = Pulse::new(progress);
    for cluster in &body.clusters {
        pulse.work(1)?;
        // With the sub-records that shared chunks above can bring.
        let mut stack: Vec<(&Cluster, u64)> = vec![(cluster, 0)];
        while let Some((cluster, shared)) = stack.pop() {
            let bags = cluster.chunks();
            for bag in bags {
                add_chunk(bag, &mut found);
                pulse.work(bag.items().len())?;
            }
            match cluster {
                Cluster::Simple(leaf) => {
                    add_terms(leaf, shared, &mut found);
                    pulse.work(leaf.term_chunk.len())?;
                }
                Cluster::Joint(joint) => {
                    let shared = bags.iter().map(Bag::total).fold(shared, u64::saturating_add);
                    stack.extend(joint.children.iter().map(|child| (child, shared)));
                }
            }
        }
    }
    Ok(found)
}

fn add(found: &mut [(u64, u64)], item: ItemId, least: u64, most: u64) {
    if let Some(bounds) = found.get_mut(item as usize) {
        *bounds = (bounds.0.saturating_add(least), bounds.1.saturating_add(most));
    }
}

fn add_chunk(bag: &Bag, found: &mut [(u64, u64)]) {
    for (items, count) in bag.iter() {
        items.iter().for_each(|&item| add(found, item, count.into(), count.into()));
    }
}

fn add_terms(leaf: &SimpleCluster, shared: u64, found: &mut [(u64, u64)]) {
    if leaf.term_chunk.is_empty() {
        return;
    }
    let model = ClusterModel::without_repetitions(leaf, Knowledge::Format);
    let (least, most) = (bounds::lower(&model, &[], 1, shared), model.size());
    leaf.term_chunk.iter().for_each(|&item| add(found, item, least.min(most), most));
}
