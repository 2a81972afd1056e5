//! Hierarchies made from nothing but an order of the leaves.
//!
//! Neighbours are grouped bottom-up, `fanout` at a time, until one group is
//! left: the construction of partition-2009, section 5.1.2, which gives 5, 7
//! and 6 levels for the domains of its three data sets with a fan-out of 5.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::{Hierarchy, NodeId, ROOT};
use crate::data::{ItemId, Vocabulary};
use crate::{Error, Result};

/// In which order the leaves of a balanced hierarchy stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafOrder {
    /// Runs of digits compare by value: `item9` before `item10`. For items
    /// that are numbers this is their numeric order.
    Natural,
    /// By text: for queries, neighbours share their first words.
    Alphabetical,
}

/// A balanced hierarchy over the items of `vocabulary`.
///
/// The inner nodes are called `L1:0007`: the seventh group (counted from 0)
/// of the level just above the leaves. If an item has such a name, more `L`s
/// stand in front.
pub fn balanced(vocabulary: &Vocabulary, fanout: usize, order: LeafOrder) -> Result<Hierarchy> {
    if fanout < 2 {
        return Err(Error::Parameter {
            name: "fanout",
            found: fanout.to_string(),
            expected: "a whole number of at least 2",
        });
    }
    for bad in ["", ROOT] {
        if vocabulary.id(bad).is_some() {
            return Err(Error::Unknown {
                what: format!("the item `{bad}` cannot be a leaf of a hierarchy"),
                hint: "rename it in the data".into(),
            });
        }
    }
    if vocabulary.is_empty() {
        return Err(Error::Infeasible {
            what: "there is no item".into(),
            hint: "a hierarchy needs at least one".into(),
        });
    }
    let mut leaves: Vec<ItemId> = (0..vocabulary.len() as ItemId).collect();
    if order == LeafOrder::Natural {
        leaves.par_sort_unstable_by(|&a, &b| {
            natural(vocabulary.label(a), vocabulary.label(b)).then(a.cmp(&b))
        });
    }
    Ok(group(vocabulary, &leaves, fanout))
}

fn group(vocabulary: &Vocabulary, leaves: &[ItemId], fanout: usize) -> Hierarchy {
    // Node 0 is the root, then the leaves, then level by level.
    let first_leaf = 1;
    let mut parents: Vec<NodeId> = vec![0; 1 + leaves.len()];
    let (mut text, mut ends) = (String::new(), Vec::new());
    let prefix = free_prefix(vocabulary);
    let (mut start, mut width) = (first_leaf, leaves.len());
    for level in 1.. {
        if width <= fanout {
            break; // These hang below the root, which has been their parent from the beginning.
        }
        let groups = width.div_ceil(fanout);
        let digits = (groups - 1).to_string().len();
        let next = parents.len();
        for i in 0..width {
            parents[start + i] = (next + i / fanout) as NodeId;
        }
        for i in 0..groups {
            parents.push(0);
            text.push_str(&format!("{prefix}{level}:{i:0digits$}"));
            ends.push(text.len());
        }
        (start, width) = (next, groups);
    }
    let label = |node: NodeId| {
        let n = node as usize;
        if n == 0 {
            ROOT
        } else if n <= leaves.len() {
            vocabulary.label(leaves[n - 1])
        } else {
            let i = n - 1 - leaves.len();
            &text[if i == 0 { 0 } else { ends[i - 1] }..ends[i]]
        }
    };
    Hierarchy::number(label, &parents)
}

/// `L`, or as many as it takes to differ from every item.
fn free_prefix(vocabulary: &Vocabulary) -> String {
    let mut prefix = String::from("L");
    let looks_like = |label: &str, prefix: &str| {
        label.strip_prefix(prefix).and_then(|rest| rest.split_once(':')).is_some_and(|(a, b)| {
            let digits = |s: &str| !s.is_empty() && s.bytes().all(|c| c.is_ascii_digit());
            digits(a) && digits(b)
        })
    };
    while vocabulary.labels().any(|label| looks_like(label, &prefix)) {
        prefix.push('L');
    }
    prefix
}

/// Compares texts with their runs of digits as numbers.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    let digits = |s: &[u8]| s.iter().take_while(|c| c.is_ascii_digit()).count();
    loop {
        let (x, y) = (digits(a), digits(b));
        if x > 0 && y > 0 {
            let value = |s: &'_ [u8]| s.iter().take_while(|&&c| c == b'0').count();
            let (da, db) = (&a[value(&a[..x])..x], &b[value(&b[..y])..y]);
            let order = da.len().cmp(&db.len()).then_with(|| da.cmp(db));
            if order != Ordering::Equal {
                return order;
            }
            (a, b) = (&a[x..], &b[y..]);
        } else {
            match (a.first(), b.first()) {
                (Some(p), Some(q)) if p == q => (a, b) = (&a[1..], &b[1..]),
                (p, q) => return p.cmp(&q),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_those_of_the_paper() {
        // partition-2009, section 5.1.2: heights 5, 7 and 6 with a fan-out of 5.
        for (items, levels) in [(497, 5), (3340, 7), (1657, 6)] {
            let vocabulary = Vocabulary::new((0..items).map(|i| i.to_string()));
            let tree = balanced(&vocabulary, 5, LeafOrder::Natural).unwrap();
            let depth = tree.leaves(0).map(|l| tree.depth(l)).max().unwrap();
            assert_eq!(depth + 1, levels);
            assert_eq!(tree.leaf_count(0), items);
        }
    }

    #[test]
    fn neighbours_are_neighbours_by_value() {
        let vocabulary = Vocabulary::new(["10", "9", "2", "1", "007"]);
        let tree = balanced(&vocabulary, 2, LeafOrder::Natural).unwrap();
        let parent = |l: &str| tree.label(tree.parent(tree.node(l).unwrap()));
        assert_eq!([parent("1"), parent("2"), parent("007")], ["L1:0", "L1:0", "L1:1"]);
        assert_eq!([parent("9"), parent("10")], ["L1:1", "L1:2"]);
        let tree = balanced(&vocabulary, 2, LeafOrder::Alphabetical).unwrap();
        let parent = |l: &str| tree.label(tree.parent(tree.node(l).unwrap()));
        assert_eq!([parent("007"), parent("1"), parent("10")], ["L1:0", "L1:0", "L1:1"]);
    }

    #[test]
    fn names_of_groups_never_are_names_of_items() {
        let vocabulary = Vocabulary::new(["L1:0", "a", "LL2:44"]);
        let tree = balanced(&vocabulary, 2, LeafOrder::Natural).unwrap();
        assert_eq!(tree.leaf_count(0), 3);
        assert_eq!(tree.node("LLL1:0").map(|n| tree.is_leaf(n)), Some(false));
        assert!(balanced(&Vocabulary::new(["*"]), 2, LeafOrder::Natural).is_err());
        assert!(balanced(&Vocabulary::new(["a"]), 1, LeafOrder::Natural).is_err());
    }

    #[test]
    fn natural_order_is_an_order() {
        let sorted = ["", "1", "2", "10", "10a", "10b", "11", "a", "a1", "a1b", "a2", "a10", "b"];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(natural(a, b), i.cmp(&j), "{a} {b}");
            }
        }
    }
}
