//! Neighbouring beginnings come together in parts: the end of a [plan](super::plan).

use serde::{Deserialize, Serialize};

use super::plan::{Child, Next, Split, code, find, next_code};
use super::ranks::PartSize;

/// Parts that are being filled.
pub(super) struct Parts {
    size: PartSize,
    sizes: Vec<u64>,
    equal: Vec<Equal>,
    /// The part that is being filled, and who is in it: split and child.
    open: Option<(u64, Vec<(usize, usize)>)>,
}

impl Parts {
    /// Parts of all that was counted.
    pub(super) fn fill_all(size: PartSize, mut tree: Vec<Split>) -> Plan {
        let mut parts = Self { size, sizes: Vec::new(), equal: Vec::new(), open: None };
        parts.walk(&mut tree);
        parts.close(&mut tree);
        Plan { tree, sizes: parts.sizes, equal: parts.equal }
    }

    fn walk(&mut self, tree: &mut [Split]) {
        // Split, child, and the ranks on the way.
        let (mut stack, mut path) = (vec![(0usize, 0usize)], Vec::new());
        while let Some((split, at)) = stack.pop() {
            let Some(&Child { code, weight, next }) = tree[split].children.get(at) else {
                path.pop();
                continue;
            };
            stack.push((split, at + 1));
            match next {
                Next::Split(below) => {
                    path.push(code - 1);
                    stack.push((below as usize, 0));
                }
                Next::Divided => self.divide(&path, weight),
                Next::Alike(below) => self.divide(&tree[below as usize].ranks(), weight),
                Next::Part(_) => self.fill(tree, (split, at), weight),
            }
        }
    }

    fn fill(&mut self, tree: &mut [Split], who: (usize, usize), weight: u64) {
        if self.open.as_ref().is_some_and(|(filled, _)| {
            filled + weight > self.size.max() && *filled >= self.size.min()
        }) {
            self.end(tree);
        }
        let (filled, members) = self.open.get_or_insert_default();
        *filled += weight;
        members.push(who);
    }

    /// Equal ones fill parts of their own.
    fn divide(&mut self, ranks: &[u32], weight: u64) {
        let pieces = self.size.pieces(weight);
        for piece in 0..pieces {
            let count = weight * (piece + 1) / pieces - weight * piece / pieces;
            self.equal.push(Equal { ranks: ranks.to_vec(), count, part: self.sizes.len() as u32 });
            self.sizes.push(count);
        }
    }

    /// The open part is full.
    fn end(&mut self, tree: &mut [Split]) {
        if let Some((filled, members)) = self.open.take() {
            self.put(tree, self.sizes.len(), &members);
            self.sizes.push(filled);
        }
    }

    /// What is left at the end and too small alone joins the part before.
    fn close(&mut self, tree: &mut [Split]) {
        match (&self.open, self.sizes.len().checked_sub(1)) {
            (Some((filled, _)), Some(last)) if *filled < self.size.min() => {
                let (filled, members) = self.open.take().expect("it was there");
                self.put(tree, last, &members);
                self.sizes[last] += filled;
            }
            _ => self.end(tree),
        }
    }

    fn put(&self, tree: &mut [Split], part: usize, members: &[(usize, usize)]) {
        for &(split, at) in members {
            tree[split].children[at].next = Next::Part(part as u32);
        }
    }
}

/// Equal records of which a part has some: which of them is all the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Equal {
    /// The ranks of their items.
    pub ranks: Vec<u32>,
    /// How many the part has.
    pub count: u64,
    /// The part.
    pub part: u32,
}

/// Which records come into which part.
///
/// # Guarantee
/// Who comes into a part depends on the records as a bag: not on their order,
/// nor on how they were counted. Every part has at least the least size, if
/// there is so much at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    tree: Vec<Split>,
    sizes: Vec<u64>,
    equal: Vec<Equal>,
}

impl Plan {
    /// The part of who has these ranks, ascending. None for one of many equal
    /// ones: [`equal`](Self::equal) says how many of those a part has.
    pub fn part(&self, ranks: &[u32]) -> Option<u32> {
        self.part_by(|i| code(ranks, i))
    }

    /// As [`part`](Self::part), for ranks in any order.
    pub(super) fn part_unsorted(&self, ranks: &mut [u32]) -> Option<u32> {
        self.part_by(|i| next_code(ranks, i))
    }

    fn part_by(&self, mut code: impl FnMut(usize) -> u32) -> Option<u32> {
        let mut split = 0;
        for i in 0.. {
            match find(&self.tree[split].children, code(i))?.next {
                Next::Split(next) => split = next as usize,
                Next::Part(part) => return Some(part),
                Next::Divided | Next::Alike(_) => return None,
            }
        }
        None
    }

    /// How much every part has.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Equal ones that are divided among parts.
    pub fn equal(&self) -> &[Equal] {
        &self.equal
    }
}
