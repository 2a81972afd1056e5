//! Clusters that leave REFINE before it is finished, to go on with others.
//!
//! When data is anonymized in parts, REFINE ends where a part ends. What it
//! has not shared by then goes to another part of clusters with the same
//! terms: every leaf with its chunks and, of its records, what they have of
//! the terms that are still in the term chunk. Bytes say all of that, in the
//! spelling of [`release::key`](crate::release::key), so that equal clusters
//! have equal bytes and the order in which they come can be made the same.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::leaves::{Block, Leaves, Term};
use super::node::{Node, Tree};
use super::rounds;
use crate::Result;
use crate::data::{Dataset, ItemId, Vocabulary};
use crate::methods::disassociation::index::LeafId;
use crate::methods::disassociation::{Clusters, Parameters, VerticalPartitioning};
use crate::progress::{Progress, Stage};
use crate::release::key::{Reader, broken, put_bag, put_bags, put_items, put_number};
use crate::release::{Bag, Cluster, JointCluster, SimpleCluster};

const LEAF: u8 = 0;
const JOINT: u8 = 1;
/// How deep clusters may be nested: no stack is at the mercy of bytes.
const MAX_DEPTH: u32 = 64;

/// A cluster that may still share terms with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::methods::disassociation) enum OpenCluster {
    /// The term chunk of `cluster` has the terms that stay there. `open` has,
    /// of every record, the others of the term chunk.
    Leaf {
        cluster: SimpleCluster,
        open: Bag,
    },
    Joint {
        shared_chunks: Vec<Bag>,
        children: Vec<OpenCluster>,
    },
}

impl OpenCluster {
    pub(in crate::methods::disassociation) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        let cluster = Self::read(&mut reader, 0)?;
        reader.finish()?;
        Ok(cluster)
    }

    fn read(reader: &mut Reader, depth: u32) -> Result<Self> {
        match reader.byte()? {
            LEAF => {
                let size = reader.number()?;
                let record_chunks = reader.bags()?;
                let mut term_chunk = Vec::new();
                reader.items(&mut term_chunk)?;
                let cluster = SimpleCluster { size, record_chunks, term_chunk };
                Ok(Self::Leaf { cluster, open: reader.bag()? })
            }
            JOINT if depth < MAX_DEPTH => {
                let shared_chunks = reader.bags()?;
                let mut children = Vec::new();
                while reader.more()? {
                    children.push(Self::read(reader, depth + 1)?);
                }
                Ok(Self::Joint { shared_chunks, children })
            }
            _ => Err(broken()),
        }
    }

    /// The published form, if nothing more is shared.
    pub(in crate::methods::disassociation) fn close(self) -> Cluster {
        match self {
            Self::Leaf { mut cluster, open } => {
                cluster.term_chunk.extend(open.domain());
                cluster.term_chunk.sort_unstable();
                Cluster::Simple(cluster)
            }
            Self::Joint { shared_chunks, children } => {
                let children: Vec<Cluster> = children.into_iter().map(Self::close).collect();
                let size = children.iter().map(Cluster::size).sum();
                Cluster::Joint(JointCluster { size, shared_chunks, children })
            }
        }
    }
}

/// The terms that a cluster may share, ascending, with the number of records.
/// Only these are read: nothing else is taken apart.
pub(in crate::methods::disassociation) fn open_terms_of(
    bytes: &[u8],
    terms: &mut Vec<(ItemId, u32)>,
) -> Result<()> {
    terms.clear();
    let (mut reader, mut items) = (Reader::new(bytes), Vec::new());
    // Whether another child may follow, for every level.
    let mut depth = 0;
    loop {
        match reader.byte()? {
            LEAF => {
                reader.number()?;
                reader.skip_bags()?;
                reader.skip_items()?;
                while reader.more()? {
                    items.clear();
                    reader.items(&mut items)?;
                    let count = reader.number()?;
                    terms.extend(items.iter().map(|&item| (item, count)));
                }
            }
            JOINT if depth < MAX_DEPTH => {
                reader.skip_bags()?;
                depth += 1;
            }
            _ => return Err(broken()),
        }
        while depth > 0 && !reader.more()? {
            depth -= 1;
        }
        if depth == 0 {
            break;
        }
    }
    reader.finish()?;
    terms.sort_unstable();
    terms.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 += if same { next.1 } else { 0 };
        same
    });
    Ok(())
}

/// The leaves after rounds of REFINE among them, if there are to be any.
pub(in crate::methods::disassociation) fn open_leaves<V: VerticalPartitioning>(
    leaves: &Leaves,
    ids: &[ItemId],
    parameters: &Parameters,
    vertical: &V,
    progress: &dyn Progress,
) -> Result<Vec<Vec<u8>>> {
    let nodes = (0..leaves.len() as u32).map(|leaf| Node::new(LeafId(leaf), leaves)).collect();
    let nodes = rounds(nodes, leaves, parameters, vertical, progress)?;
    Ok(open_clusters(nodes, leaves, ids))
}

/// What became of all leaves: bytes, with the numbers that `ids` gives the items.
fn open_clusters(nodes: Vec<Node>, leaves: &Leaves, ids: &[ItemId]) -> Vec<Vec<u8>> {
    let write = |mut node: Node| {
        let mut out = Vec::new();
        put(&node.take_tree(), leaves, ids, &mut out);
        out
    };
    nodes.into_par_iter().map(write).collect()
}

fn put(tree: &Tree, leaves: &Leaves, ids: &[ItemId], out: &mut Vec<u8>) {
    match tree {
        Tree::Leaf(leaf) => {
            let cluster = leaves.cluster(*leaf);
            out.push(LEAF);
            put_number(cluster.size, out);
            put_bags(&sorted(&cluster.record_chunks), ids, out);
            put_items(&cluster.term_chunk, ids, out);
            put_bag(&open_terms(leaves, *leaf), ids, out);
        }
        Tree::Joint { shared_chunks, children } => {
            out.push(JOINT);
            put_bags(&sorted(shared_chunks), ids, out);
            for child in children {
                out.push(1);
                put(child, leaves, ids, out);
            }
            out.push(0);
        }
    }
}

fn sorted(chunks: &[Bag]) -> Vec<Bag> {
    let mut chunks = chunks.to_vec();
    chunks.sort_unstable();
    chunks
}

/// What the records of a leaf have of the terms that are still in its term chunk.
fn open_terms(leaves: &Leaves, leaf: LeafId) -> Bag {
    let open = leaves.terms(leaf).iter().filter(|t| t.support() > 0).map(|t| t.item);
    let open: Vec<ItemId> = open.collect();
    let of_record = |record: &[ItemId]| -> Vec<ItemId> {
        record.iter().copied().filter(|item| open.binary_search(item).is_ok()).collect()
    };
    let records: Vec<Vec<ItemId>> = leaves.records(leaf).into_iter().map(of_record).collect();
    Bag::from_itemsets(records.iter().map(Vec::as_slice))
}

/// Goes on with clusters that come from anywhere: rounds of REFINE among
/// them. Only terms that `may_share` are shared. Bytes come in and bytes go out.
///
/// The result depends on the clusters as a bag.
pub(in crate::methods::disassociation) fn refine_open<V: VerticalPartitioning>(
    mut clusters: Vec<Vec<u8>>,
    may_share: &(dyn Fn(ItemId) -> bool + Sync),
    parameters: &Parameters,
    vertical: &V,
    progress: &dyn Progress,
) -> Result<Vec<Vec<u8>>> {
    progress.stage(Stage::Refining, Some(clusters.len() as u64));
    clusters.par_sort_unstable();
    let read = |bytes: &Vec<u8>| OpenCluster::from_bytes(bytes);
    let mut trees: Vec<OpenCluster> = clusters.par_iter().map(read).collect::<Result<_>>()?;
    drop(clusters);
    let ids = renumber(&mut trees);
    let mut opening = Opening::default();
    let mut opened = Vec::with_capacity(trees.len());
    for tree in trees {
        opened.push(opening.tree(tree, &|item| may_share(ids[item as usize])));
        progress.step(0)?;
    }
    let Opening { block, records, offsets, items, .. } = opening;
    let labels = ids.iter().map(|id| format!("{id:010}"));
    let data = Dataset::from_parts(Vocabulary::from_sorted(labels), offsets, items);
    let none = vec![false; ids.len()];
    let leaves = Leaves::new(vec![block], &records, &data, &none);
    let resume = |(tree, own, depth)| Node::resumed(tree, own, depth, &leaves);
    let nodes = opened.into_par_iter().map(resume).collect();
    let nodes = rounds(nodes, &leaves, parameters, vertical, progress)?;
    Ok(open_clusters(nodes, &leaves, &ids))
}

/// Gives the items small numbers in the same order, and says which they had.
fn renumber(trees: &mut [OpenCluster]) -> Vec<ItemId> {
    let (mut ids, mut most) = (Vec::<ItemId>::new(), 1 << 24);
    for tree in &*trees {
        each_item(tree, &mut |items| ids.extend_from_slice(items));
        if ids.len() > most {
            ids.par_sort_unstable();
            ids.dedup();
            // Of many distinct ones, not again for every tree.
            most = most.max(2 * ids.len());
        }
    }
    ids.par_sort_unstable();
    ids.dedup();
    let numbers: FxHashMap<ItemId, ItemId> = ids.iter().copied().zip(0..).collect();
    trees.par_iter_mut().for_each(|tree| give(tree, &numbers));
    ids
}

fn each_item(tree: &OpenCluster, visit: &mut dyn FnMut(&[ItemId])) {
    match tree {
        OpenCluster::Leaf { cluster, open } => {
            cluster.record_chunks.iter().chain([open]).for_each(|bag| visit(bag.items()));
            visit(&cluster.term_chunk);
        }
        OpenCluster::Joint { shared_chunks, children } => {
            shared_chunks.iter().for_each(|bag| visit(bag.items()));
            children.iter().for_each(|child| each_item(child, visit));
        }
    }
}

fn give(tree: &mut OpenCluster, numbers: &FxHashMap<ItemId, ItemId>) {
    match tree {
        OpenCluster::Leaf { cluster, open } => {
            let bags = cluster.record_chunks.iter_mut().chain([open]);
            bags.for_each(|bag| bag.renumber_by(|item| numbers[&item]));
            cluster.term_chunk.iter_mut().for_each(|item| *item = numbers[item]);
        }
        OpenCluster::Joint { shared_chunks, children } => {
            shared_chunks.iter_mut().for_each(|bag| bag.renumber_by(|item| numbers[&item]));
            children.iter_mut().for_each(|child| give(child, numbers));
        }
    }
}

/// Puts leaves where REFINE looks for them.
struct Opening {
    block: Block,
    /// The open terms of the leaves' records.
    records: Clusters,
    offsets: Vec<usize>,
    items: Vec<ItemId>,
    leaves: u32,
}

impl Default for Opening {
    fn default() -> Self {
        let (block, records) = (Block::default(), Clusters::default());
        Self { block, records, offsets: vec![0], items: Vec::new(), leaves: 0 }
    }
}

impl Opening {
    /// The tree with numbers of leaves, these numbers, and its depth.
    fn tree(
        &mut self,
        tree: OpenCluster,
        may_share: &dyn Fn(ItemId) -> bool,
    ) -> (Tree, Vec<LeafId>, u32) {
        let (mut own, mut depth) = (Vec::new(), 0);
        let tree = self.add(tree, may_share, &mut own, 0, &mut depth);
        (tree, own, depth)
    }

    fn add(
        &mut self,
        tree: OpenCluster,
        may_share: &dyn Fn(ItemId) -> bool,
        own: &mut Vec<LeafId>,
        level: u32,
        depth: &mut u32,
    ) -> Tree {
        *depth = level.max(*depth);
        match tree {
            OpenCluster::Leaf { cluster, open } => {
                self.leaf(cluster, &open, may_share);
                own.push(LeafId(self.leaves - 1));
                Tree::Leaf(LeafId(self.leaves - 1))
            }
            OpenCluster::Joint { shared_chunks, children } => {
                let add = |child| self.add(child, may_share, own, level + 1, depth);
                Tree::Joint { shared_chunks, children: children.into_iter().map(add).collect() }
            }
        }
    }

    fn leaf(&mut self, mut cluster: SimpleCluster, open: &Bag, may_share: &dyn Fn(ItemId) -> bool) {
        let (mut supports, mut rows) = (FxHashMap::default(), Vec::new());
        for (items, count) in open.iter() {
            for &item in items.iter().filter(|&&item| may_share(item)) {
                self.items.push(item);
                *supports.entry(item).or_default() += count;
            }
            if self.items.len() > self.offsets[self.offsets.len() - 1] {
                let row = self.offsets.len() as u32 - 1;
                self.offsets.push(self.items.len());
                rows.extend((0..count).map(|_| row));
            }
        }
        let closed = open.domain().into_iter().filter(|&item| !may_share(item));
        cluster.term_chunk.extend(closed);
        cluster.term_chunk.sort_unstable();
        let mut terms: Vec<(ItemId, u32)> = supports.into_iter().collect();
        terms.sort_unstable();
        self.block.push(cluster, terms.into_iter().map(|(item, s)| Term::new(item, s)));
        self.records.push(rows);
        self.leaves += 1;
    }
}
