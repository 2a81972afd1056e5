//! The canonical order, checked without the order that the methods sort by.
//!
//! `docs/release-format.md`, "Canonical order", read once more: this module
//! compares what is published piece by piece and never asks `Ord` of a bag, a
//! cluster or a group. A mistake there cannot hide here. Items are compared by
//! a function that the caller gives: numbers inside one vocabulary, texts
//! where two parts of a release meet.

use std::cmp::Ordering::{self, Equal, Greater, Less};

use crate::data::{ItemId, Vocabulary};
use crate::release::{Bag, Cluster, Group, JointCluster, Leaf, SimpleCluster};

/// How two items compare.
pub(super) trait ItemOrder: Copy {
    fn items(self, a: ItemId, b: ItemId) -> Ordering;
}

/// Inside one vocabulary, numbers follow the texts.
#[derive(Clone, Copy)]
pub(super) struct ByNumber;

impl ItemOrder for ByNumber {
    fn items(self, a: ItemId, b: ItemId) -> Ordering {
        a.cmp(&b)
    }
}

/// Items of two vocabularies compare by the bytes of their labels.
#[derive(Clone, Copy)]
pub(super) struct ByText<'a>(pub(super) &'a Vocabulary, pub(super) &'a Vocabulary);

impl ItemOrder for ByText<'_> {
    fn items(self, a: ItemId, b: ItemId) -> Ordering {
        self.0.label(a).as_bytes().cmp(self.1.label(b).as_bytes())
    }
}

/// Element by element; a beginning comes before the whole.
fn lists<T>(a: &[T], b: &[T], mut compare: impl FnMut(&T, &T) -> Ordering) -> Ordering {
    for (x, y) in a.iter().zip(b) {
        match compare(x, y) {
            Equal => {}
            different => return different,
        }
    }
    numbers(a.len() as u64, b.len() as u64)
}

fn numbers(a: u64, b: u64) -> Ordering {
    a.cmp(&b)
}

fn itemsets(a: &[ItemId], b: &[ItemId], by: impl ItemOrder) -> Ordering {
    lists(a, b, |&x, &y| by.items(x, y))
}

/// Sub-record by sub-record: items, then count.
pub(super) fn bags(a: &Bag, b: &Bag, by: impl ItemOrder) -> Ordering {
    for i in 0..a.len().min(b.len()) {
        let ((x, more), (y, less)) = (a.get(i), b.get(i));
        match itemsets(x, y, by) {
            Equal if more == less => {}
            Equal => return numbers(more.into(), less.into()),
            different => return different,
        }
    }
    numbers(a.len() as u64, b.len() as u64)
}

/// By size, simple before joint, then by chunks, then by term chunk or children.
pub(super) fn clusters(a: &Cluster, b: &Cluster, by: impl ItemOrder) -> Ordering {
    match numbers(a.size().into(), b.size().into()) {
        Equal => {}
        different => return different,
    }
    match (a, b) {
        (Cluster::Simple(_), Cluster::Joint(_)) => Less,
        (Cluster::Joint(_), Cluster::Simple(_)) => Greater,
        (Cluster::Simple(a), Cluster::Simple(b)) => leaves(a, b, by),
        (Cluster::Joint(a), Cluster::Joint(b)) => joints(a, b, by),
    }
}

fn leaves(a: &SimpleCluster, b: &SimpleCluster, by: impl ItemOrder) -> Ordering {
    match lists(&a.record_chunks, &b.record_chunks, |x, y| bags(x, y, by)) {
        Equal => itemsets(&a.term_chunk, &b.term_chunk, by),
        different => different,
    }
}

fn joints(a: &JointCluster, b: &JointCluster, by: impl ItemOrder) -> Ordering {
    match lists(&a.shared_chunks, &b.shared_chunks, |x, y| bags(x, y, by)) {
        Equal => lists(&a.children, &b.children, |x, y| clusters(x, y, by)),
        different => different,
    }
}

/// By size, records, sensitive items.
pub(super) fn groups(a: &Group, b: &Group) -> Ordering {
    let by = ByNumber;
    match numbers(a.size.into(), b.size.into()) {
        Equal => {}
        different => return different,
    }
    match bags(&a.records, &b.records, by) {
        Equal => counted(&a.sensitive, &b.sensitive, by),
        different => different,
    }
}

/// By size, kept sub-records, counted items, listed items.
pub(super) fn located(a: &Leaf, b: &Leaf) -> Ordering {
    let by = ByNumber;
    match numbers(a.size.into(), b.size.into()) {
        Equal => {}
        different => return different,
    }
    match bags(&a.kept, &b.kept, by) {
        Equal => {}
        different => return different,
    }
    match counted(&a.counted, &b.counted, by) {
        Equal => itemsets(&a.listed, &b.listed, by),
        different => different,
    }
}

/// Item by item, with its count.
fn counted(a: &[(ItemId, u32)], b: &[(ItemId, u32)], by: impl ItemOrder) -> Ordering {
    lists(a, b, |x, y| match by.items(x.0, y.0) {
        Equal => numbers(x.1.into(), y.1.into()),
        different => different,
    })
}

/// Whether items ascend and none stands twice.
pub(super) fn ascend(items: &[ItemId]) -> bool {
    (1..items.len()).all(|i| ByNumber.items(items[i - 1], items[i]) == Less)
}

/// What is wrong with the form of a bag, and at which itemset.
pub(super) fn bag_fault(bag: &Bag) -> Option<(usize, &'static str)> {
    for i in 0..bag.len() {
        let (items, count) = bag.get(i);
        let fault = match (items.is_empty(), count == 0) {
            (true, _) => "an empty itemset",
            (_, true) => "a count of zero",
            _ if !ascend(items) => "items that do not ascend",
            _ if i > 0 && itemsets(bag.get(i - 1).0, items, ByNumber) != Less => {
                "itemsets that do not ascend"
            }
            _ => continue,
        };
        return Some((i, fault));
    }
    None
}
