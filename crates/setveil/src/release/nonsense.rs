//! Bodies that no data set can have led to, as far as a glance tells.
//!
//! Whoever computes with a release relies on a few things: items ascend, a
//! leaf has an item from one chunk only, and so have the chunks that clusters
//! share, no chunk has more sub-records than
//! there are records. A file that was made up may say otherwise, so a reader
//! who is not [`verify`](crate::verify) refuses it. Linear in the release.

use super::{Bag, Body, Cluster, Group, Leaf, Located, SimpleCluster};
use crate::data::ItemId;

impl Body {
    /// What cannot be, with the place; none if nothing is wrong at a glance.
    pub fn nonsense(&self) -> Option<String> {
        let items = self.vocabulary().len();
        let mut seen = Seen(vec![0; items], 0);
        let number = |what: &str, i: usize, wrong: String| format!("{what} {}: {wrong}", i + 1);
        match self {
            Self::Disassociated(body) => body.clusters.iter().enumerate().find_map(|(i, c)| {
                of_cluster(c, &mut seen).err().map(|wrong| number("cluster", i, wrong))
            }),
            Self::Generalized(body) => ascending(&body.classes).err(),
            Self::Grouped(body) => body.groups.iter().enumerate().find_map(|(i, g)| {
                of_group(g, &mut seen).err().map(|wrong| number("group", i, wrong))
            }),
            Self::Located(body) => of_located(body, &mut seen),
        }
    }
}

type Checked = Result<(), String>;

/// Items that were seen since the last fresh start.
struct Seen(Vec<u32>, u32);

impl Seen {
    fn start(&mut self) {
        self.1 += 1;
    }

    /// Whether `item` was not seen since the start.
    fn first(&mut self, item: ItemId) -> bool {
        std::mem::replace(&mut self.0[item as usize], self.1) != self.1
    }
}

fn ascending(bag: &Bag) -> Checked {
    bag.iter().try_for_each(|(items, _)| set(items))
}

fn set(items: &[ItemId]) -> Checked {
    let ascend = items.is_sorted_by(|a, b| a < b);
    if ascend { Ok(()) } else { Err("items do not ascend".into()) }
}

fn at_most(what: &str, found: u64, size: u64) -> Checked {
    if found <= size { Ok(()) } else { Err(format!("{found} {what} in {size} records")) }
}

/// Checks a cluster; how many records its leaves have.
fn of_cluster(cluster: &Cluster, seen: &mut Seen) -> Result<u64, String> {
    let size = u64::from(cluster.size());
    match cluster {
        Cluster::Simple(leaf) => of_simple(leaf, seen)?,
        Cluster::Joint(joint) => {
            let mut below = 0_u64;
            for child in &joint.children {
                below = below.saturating_add(of_cluster(child, seen)?);
            }
            if below != size {
                return Err(format!("its size is {size}, that of its leaves {below}"));
            }
            seen.start();
            for chunk in &joint.shared_chunks {
                ascending(chunk)?;
                at_most("shared sub-records", chunk.total(), size)?;
                apart(chunk, seen)?;
            }
        }
    }
    Ok(size)
}

fn of_simple(leaf: &SimpleCluster, seen: &mut Seen) -> Checked {
    seen.start();
    for chunk in &leaf.record_chunks {
        ascending(chunk)?;
        at_most("sub-records", chunk.total(), leaf.size.into())?;
        apart(chunk, seen)?;
    }
    set(&leaf.term_chunk)?;
    once(leaf.term_chunk.iter().copied(), seen)
}

/// No item of a chunk was seen in another.
fn apart(chunk: &Bag, seen: &mut Seen) -> Checked {
    once(chunk.domain().into_iter(), seen)
}

fn once(mut items: impl Iterator<Item = ItemId>, seen: &mut Seen) -> Checked {
    let apart = items.all(|item| seen.first(item));
    if apart { Ok(()) } else { Err("an item stands in two chunks".into()) }
}

fn of_group(group: &Group, seen: &mut Seen) -> Checked {
    seen.start();
    ascending(&group.records)?;
    at_most("records with items", group.records.total(), group.size.into())?;
    for &item in group.records.items() {
        seen.first(item);
    }
    for &(item, count) in &group.sensitive {
        if !seen.first(item) {
            return Err("a sensitive item stands twice".into());
        }
        at_most("occurrences of an item", count.into(), group.size.into())?;
    }
    Ok(())
}

fn of_located(body: &Located, seen: &mut Seen) -> Option<String> {
    let mut supports = vec![0_u64; body.vocabulary.len()];
    for (i, leaf) in body.leaves.iter().enumerate() {
        if let Err(wrong) = of_leaf(leaf, seen, &mut supports) {
            return Some(format!("leaf {}: {wrong}", i + 1));
        }
    }
    let ascend = body.totals.is_sorted_by(|a, b| a.0 < b.0);
    (!ascend).then(|| "totals: items do not ascend".into())
}

fn of_leaf(leaf: &Leaf, seen: &mut Seen, kept: &mut [u64]) -> Checked {
    seen.start();
    let size = u64::from(leaf.size);
    ascending(&leaf.kept)?;
    at_most("kept sub-records", leaf.kept.total(), size)?;
    for (items, count) in leaf.kept.iter() {
        items.iter().for_each(|&item| kept[item as usize] += u64::from(count));
    }
    set(&leaf.listed)?;
    let counted = leaf.counted.iter().map(|&(item, count)| (item, u64::from(count)));
    let listed = leaf.listed.iter().map(|&item| (item, 1));
    let wrong = counted.chain(listed).find_map(|(item, count)| {
        if !seen.first(item) {
            return Some("an item is counted or listed twice".to_owned());
        }
        at_most("occurrences of an item", kept[item as usize] + count, size).err()
    });
    leaf.kept.items().iter().for_each(|&item| kept[item as usize] = 0);
    wrong.map_or(Ok(()), Err)
}
