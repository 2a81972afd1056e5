//! Joint clusters: shared sub-records dealt to the leaves that may take them.
//!
//! For a leaf, every item has at most one source on the way up: the leaf's
//! own chunks, or else the nearest joint cluster with the item in a shared
//! chunk. A sub-record of J may go to a leaf if J is the source of each of
//! its items there.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;

use super::TermOccurrences;
use super::assemble::Records;
use super::leaf::{self, Received};
use crate::data::ItemId;
use crate::release::{Bag, Cluster, SimpleCluster};
use crate::{Error, Progress, Result};

/// Plain draws before the leaves that need sub-records are served first.
const DRAWS: usize = 32;

/// The leaves of a joint cluster and who may take what.
struct Tree<'a> {
    leaves: Vec<&'a SimpleCluster>,
    /// Leaf `l` has the slots `starts[l]..starts[l + 1]`.
    starts: Vec<usize>,
    /// Per leaf: the node that an item comes from; leaves themselves are `OWN`.
    sources: Vec<FxHashMap<ItemId, usize>>,
    /// The shared chunks with the number of their node and its range of leaves.
    chunks: Vec<(usize, std::ops::Range<usize>, &'a Bag)>,
}

const OWN: usize = usize::MAX;

impl<'a> Tree<'a> {
    fn new(cluster: &'a Cluster) -> Self {
        let mut tree = Self { leaves: vec![], starts: vec![0], sources: vec![], chunks: vec![] };
        tree.visit(cluster, &mut 0);
        tree
    }

    fn visit(&mut self, cluster: &'a Cluster, nodes: &mut usize) {
        let first = self.leaves.len();
        match cluster {
            Cluster::Simple(leaf) => {
                let own = leaf.record_chunks.iter().flat_map(|c| c.items());
                let own = own.chain(&leaf.term_chunk).map(|&item| (item, OWN));
                self.sources.push(own.collect());
                self.starts.push(self.starts[first] + leaf.size as usize);
                self.leaves.push(leaf);
            }
            Cluster::Joint(joint) => {
                joint.children.iter().for_each(|child| self.visit(child, nodes));
                // After the children, so what is nearer to the leaf stands first.
                let node = *nodes;
                *nodes += 1;
                let range = first..self.leaves.len();
                for chunk in &joint.shared_chunks {
                    for item in chunk.domain() {
                        for sources in &mut self.sources[range.clone()] {
                            sources.entry(item).or_insert(node);
                        }
                    }
                    self.chunks.push((node, range.clone(), chunk));
                }
            }
        }
    }

    /// The leaves that may take `items` from a shared chunk of `node`.
    fn takers(&self, node: usize, range: std::ops::Range<usize>, items: &[ItemId]) -> Vec<usize> {
        range
            .filter(|&l| items.iter().all(|item| self.sources[l].get(item) == Some(&node)))
            .collect()
    }
}

/// A sub-record to be dealt.
struct Piece<'a> {
    chunk: usize,
    items: &'a [ItemId],
    /// An index into the lists of takers.
    takers: usize,
}

/// Fills the records of a joint cluster.
pub(super) fn place(
    cluster: &Cluster,
    terms: TermOccurrences,
    k: Option<u32>,
    rng: &mut ChaCha8Rng,
    records: &mut Records,
    progress: &dyn Progress,
) -> Result<()> {
    let tree = Tree::new(cluster);
    let mut takers = Vec::new();
    let mut pieces = Vec::new();
    for (c, (node, range, chunk)) in tree.chunks.iter().enumerate() {
        for (items, count) in chunk.iter() {
            progress.step(0)?;
            takers.push(tree.takers(*node, range.clone(), items));
            let piece = || Piece { chunk: c, items, takers: takers.len() - 1 };
            pieces.extend((0..count).map(|_| piece()));
        }
    }
    let slots =
        deal(&tree, &mut pieces, &takers, rng, progress)?.ok_or_else(|| Error::Infeasible {
            what: format!(
                "no data set fits the release: in a joint cluster of {} records the shared chunks \
             find no records that may take them",
                cluster.size()
            ),
            hint: "see `setveil verify`".into(),
        })?;
    let mut received: Vec<Vec<Received>> = vec![Vec::new(); tree.leaves.len()];
    for (piece, slot) in pieces.iter().zip(slots) {
        let l = tree.starts.partition_point(|&start| start <= slot) - 1;
        received[l].push((slot - tree.starts[l], piece.items));
    }
    for (leaf, received) in tree.leaves.iter().zip(&received) {
        progress.step(leaf.size.into())?;
        leaf::place(leaf, received, terms, k, rng)?.push_into(records);
    }
    Ok(())
}

/// A slot for every piece, so that every leaf can be completed.
fn deal(
    tree: &Tree,
    pieces: &mut [Piece],
    takers: &[Vec<usize>],
    rng: &mut ChaCha8Rng,
    progress: &dyn Progress,
) -> Result<Option<Vec<usize>>> {
    let needs: Vec<usize> = tree.leaves.iter().map(|l| leaf::deficit(l)).collect();
    for _ in 0..DRAWS {
        pieces.shuffle(rng);
        let none = vec![None; pieces.len()];
        if let Some(slots) = deal_rest(tree, pieces, takers, none, rng, progress)?
            && satisfied(tree, &needs, &slots)
        {
            return Ok(Some(slots));
        }
    }
    // Leaves that cannot fill themselves first; the rest as before.
    let Some(wanted) = serve_needs(tree, pieces, takers, &needs, progress)? else {
        return Ok(None);
    };
    let slots = deal_rest(tree, pieces, takers, wanted, rng, progress)?;
    Ok(slots.filter(|slots| satisfied(tree, &needs, slots)))
}

fn satisfied(tree: &Tree, needs: &[usize], slots: &[usize]) -> bool {
    if needs.iter().all(|&need| need == 0) {
        return true;
    }
    let mut filled = slots.to_vec();
    filled.sort_unstable();
    filled.dedup();
    needs.iter().enumerate().all(|(l, &need)| {
        let below = |end: usize| filled.partition_point(|&slot| slot < end);
        below(tree.starts[l + 1]) - below(tree.starts[l]) >= need
    })
}

/// Deals every piece that has no slot yet to a free slot of a leaf that may
/// take it: per chunk, a slot holds one piece.
fn deal_rest(
    tree: &Tree,
    pieces: &[Piece],
    takers: &[Vec<usize>],
    mut slots: Vec<Option<usize>>,
    rng: &mut ChaCha8Rng,
    progress: &dyn Progress,
) -> Result<Option<Vec<usize>>> {
    let total = *tree.starts.last().expect("starts with 0");
    let mut used = vec![vec![None; total]; tree.chunks.len()];
    for (p, slot) in slots.iter().enumerate() {
        if let Some(slot) = *slot {
            used[pieces[p].chunk][slot] = Some(p);
        }
    }
    for p in 0..pieces.len() {
        if slots[p].is_some() {
            continue;
        }
        progress.step(0)?;
        let (used, takers_of) = (&mut used[pieces[p].chunk], &takers[pieces[p].takers]);
        let slot = match free_slot(tree, used, takers_of, rng) {
            Some(slot) => slot,
            None => match make_room(tree, pieces, takers, p, used, &mut slots) {
                Some(slot) => slot,
                None => return Ok(None),
            },
        };
        used[slot] = Some(p);
        slots[p] = Some(slot);
    }
    Ok(slots.into_iter().collect())
}

/// A uniformly chosen free slot of the leaves `takers`.
fn free_slot(
    tree: &Tree,
    used: &[Option<usize>],
    takers: &[usize],
    rng: &mut ChaCha8Rng,
) -> Option<usize> {
    let size = |l: usize| tree.starts[l + 1] - tree.starts[l];
    let total: usize = takers.iter().map(|&l| size(l)).sum();
    if total == 0 {
        return None;
    }
    let slot_at = |mut at: usize| {
        for &l in takers {
            if at < size(l) {
                return tree.starts[l] + at;
            }
            at -= size(l);
        }
        unreachable!("at is below the total")
    };
    for _ in 0..8 {
        let slot = slot_at(rng.random_range(0..total));
        if used[slot].is_none() {
            return Some(slot);
        }
    }
    let free: Vec<usize> = (0..total).map(slot_at).filter(|&s| used[s].is_none()).collect();
    if free.is_empty() { None } else { Some(free[rng.random_range(0..free.len())]) }
}

/// Moves pieces of the chunk along an alternating path so that a slot becomes
/// free for piece `p`; none if there is no such path, that is, no placement.
fn make_room(
    tree: &Tree,
    pieces: &[Piece],
    takers: &[Vec<usize>],
    p: usize,
    used: &mut [Option<usize>],
    slots: &mut [Option<usize>],
) -> Option<usize> {
    let leaf_slots = |l: usize| tree.starts[l]..tree.starts[l + 1];
    // Breadth first over leaves: `from[l]` is the piece that could move into
    // leaf `l`, and the leaf it would leave.
    let mut from: Vec<Option<(usize, Option<usize>)>> = vec![None; tree.leaves.len()];
    let mut queue = std::collections::VecDeque::new();
    for &l in &takers[pieces[p].takers] {
        from[l] = Some((p, None));
        queue.push_back(l);
    }
    while let Some(l) = queue.pop_front() {
        if let Some(free) = leaf_slots(l).find(|&s| used[s].is_none()) {
            let mut to = free;
            let mut at = l;
            while let Some((piece, Some(left))) = from[at] {
                let old = slots[piece].expect("it stands in the leaf it leaves");
                slots[piece] = Some(to);
                used[to] = Some(piece);
                used[old] = None;
                (to, at) = (old, left);
            }
            return Some(to);
        }
        for s in leaf_slots(l) {
            let piece = used[s].expect("the leaf is full");
            for &next in &takers[pieces[piece].takers] {
                if from[next].is_none() {
                    from[next] = Some((piece, Some(l)));
                    queue.push_back(next);
                }
            }
        }
    }
    None
}

/// Gives each leaf that cannot fill itself as many pieces as it needs, in
/// slots of their own: a bipartite matching by augmenting paths.
fn serve_needs(
    tree: &Tree,
    pieces: &[Piece],
    takers: &[Vec<usize>],
    needs: &[usize],
    progress: &dyn Progress,
) -> Result<Option<Vec<Option<usize>>>> {
    let mut slots: Vec<Option<usize>> = vec![None; pieces.len()];
    let may_take: Vec<Vec<usize>> = (0..tree.leaves.len())
        .map(|l| (0..pieces.len()).filter(|&p| takers[pieces[p].takers].contains(&l)).collect())
        .collect();
    for (l, &need) in needs.iter().enumerate() {
        for slot in tree.starts[l]..tree.starts[l] + need {
            progress.step(0)?;
            let mut tried = vec![false; pieces.len()];
            if !augment(tree, &may_take, slot, &mut tried, &mut slots) {
                return Ok(None);
            }
        }
    }
    Ok(Some(slots))
}

fn augment(
    tree: &Tree,
    may_take: &[Vec<usize>],
    slot: usize,
    tried: &mut [bool],
    slots: &mut [Option<usize>],
) -> bool {
    let l = tree.starts.partition_point(|&start| start <= slot) - 1;
    for &p in &may_take[l] {
        if std::mem::replace(&mut tried[p], true) {
            continue;
        }
        if slots[p].is_none_or(|held| augment(tree, may_take, held, tried, slots)) {
            slots[p] = Some(slot);
            return true;
        }
    }
    false
}
