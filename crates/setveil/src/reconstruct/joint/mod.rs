//! Joint clusters: shared sub-records dealt to the leaves that may take them.
//!
//! Chunks are dealt one after the other: in one chunk a record gets at most
//! one sub-record. Memory is linear in the cluster, whatever the number of its
//! chunks and leaves.

mod chunk;
mod needs;
mod tree;

use rand_chacha::ChaCha8Rng;

use super::TermOccurrences;
use super::assemble::{Dealt, Records};
use super::cover::Scratch;
use super::leaf;
use crate::data::ItemId;
use crate::release::Cluster;
use crate::{Error, Result};
use chunk::Dealer;
use tree::Tree;

/// Plain draws before the leaves that need sub-records are served first.
const DRAWS: usize = 32;
/// Steps that one joint cluster may take to find a place for everything. What
/// verifies needs about one a shared sub-record.
const WORK: u64 = 1 << 28;

/// A shared sub-record and the slot that it goes to.
type Shared<'a> = (u32, &'a [ItemId]);

/// Fills the records of a joint cluster.
pub(super) fn place(
    cluster: &Cluster,
    terms: (TermOccurrences, Option<u32>),
    scratch: &mut Scratch,
    rng: &mut ChaCha8Rng,
    records: &mut Records,
) -> Result<()> {
    let tree = Tree::new(cluster)?;
    let mut shared = deal(&tree, rng)?.ok_or_else(|| Error::Infeasible {
        what: format!(
            "no data set fits the release: in a joint cluster of {} records the shared chunks \
             find no records that may take them",
            cluster.size()
        ),
        hint: "verify tells what is wrong with the release".into(),
    })?;
    shared.sort_by_key(|s| s.0);
    let (mut rest, mut dealt) = (shared.as_slice(), Dealt::default());
    for (l, leaf) in tree.leaves.iter().enumerate() {
        let (start, end) = (tree.starts[l], tree.starts[l + 1]);
        let (mine, others) = rest.split_at(rest.partition_point(|s| s.0 < end));
        mine.iter().for_each(|&(slot, items)| dealt.deal(slot - start, items));
        rest = others;
        leaf::place(leaf, &mut dealt, terms, scratch, rng)?;
        records.push_dealt(&mut dealt, leaf.size as usize);
    }
    Ok(())
}

/// A slot for every shared sub-record, so that every leaf can be completed;
/// none if no placement is found.
fn deal<'a>(tree: &Tree<'a>, rng: &mut ChaCha8Rng) -> Result<Option<Vec<Shared<'a>>>> {
    let needs: Vec<usize> = tree.leaves.iter().map(|l| leaf::deficit(l)).collect();
    let needy = needs.iter().any(|&need| need > 0);
    let mut dealer = Dealer::new(tree, WORK);
    for _ in 0..if needy { DRAWS } else { 1 } {
        let Some(shared) = dealer.deal(&[], rng)? else { return Ok(None) };
        if !needy || satisfied(tree, &needs, &shared) {
            return Ok(Some(shared));
        }
    }
    // Leaves that cannot fill themselves first; the rest as before.
    let Some(first) = needs::serve(tree, &needs)? else { return Ok(None) };
    let shared = dealer.deal(&first, rng)?;
    Ok(shared.filter(|shared| satisfied(tree, &needs, shared)))
}

/// Whether every leaf has as many different slots filled as it needs.
fn satisfied(tree: &Tree, needs: &[usize], shared: &[Shared]) -> bool {
    let mut filled: Vec<u32> = shared.iter().map(|s| s.0).collect();
    filled.sort_unstable();
    filled.dedup();
    needs.iter().enumerate().all(|(l, &need)| {
        let below = |end: u32| filled.partition_point(|&slot| slot < end);
        below(tree.starts[l + 1]) - below(tree.starts[l]) >= need
    })
}

/// A joint cluster that asks for more work than any that verifies.
fn too_much(what: &'static str) -> Error {
    Error::TooLarge {
        what,
        found: u64::MAX,
        limit: WORK,
        hint: "a joint cluster asks for more work than one that holds its guarantee can; verify \
               tells what is wrong",
    }
}
