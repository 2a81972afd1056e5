//! Which class does a record stand in? After local recoding the release does
//! not say, and several answers may agree with the published counts.
//!
//! A record fits a class if it generalises to exactly the class's nodes. This
//! module assigns every record to a class that it fits so that all counts are
//! met: records with most to lose by a second choice come first, each to the
//! cheapest class with room, and whoever finds no room gets it along a chain
//! of moves. The loss of this assignment is the measure. It is the true loss
//! whenever each record fits one class, or all classes it fits cost it the
//! same; otherwise it is the loss of one assignment that agrees with
//! everything published, and usually close to the smallest.
//!
//! Nothing here knows how the release was made.

use std::cmp::Reverse;
use std::collections::VecDeque;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{penalty, unfit};
use crate::Result;
use crate::data::hierarchy::NodeId;
use crate::data::{Dataset, Hierarchy};
use crate::release::Bag;

/// A class that a record fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Choice {
    /// What the record loses there, in leaves.
    loss: u64,
    class: u32,
}

/// The loss of all records, in leaves, and the class of each.
pub(super) fn assign(
    tree: &Hierarchy,
    classes: &Bag,
    labels: &[NodeId],
    original: &Dataset,
    bound: &[NodeId],
) -> Result<(u64, Vec<Option<u32>>)> {
    let records = original.len() as u64;
    if classes.total() != records {
        return Err(unfit(&format!("{} records against {records}", classes.total())));
    }
    let trie = Trie::new(classes, labels);
    let (rows, row_of) = distinct(original, bound);
    let choices: Vec<Vec<Choice>> =
        rows.par_iter().map(|(leaves, _)| trie.choices(tree, leaves)).collect();
    let mut assignment = Assignment::new(&rows, &choices, classes);
    assignment.greedy();
    assignment.repair()?;
    let loss = assignment.loss();
    Ok((loss, assignment.class_of(&row_of)))
}

/// Leaves of a record, ascending, and how often they occur.
type Row = (Vec<NodeId>, u32);

/// The distinct records, and which of them each record is.
fn distinct(original: &Dataset, bound: &[NodeId]) -> (Vec<Row>, Vec<u32>) {
    let mut all: Vec<(Vec<NodeId>, u32)> = original
        .records()
        .zip(0..)
        .map(|(record, number)| {
            let mut leaves: Vec<NodeId> = record.iter().map(|&i| bound[i as usize]).collect();
            leaves.sort_unstable();
            (leaves, number)
        })
        .collect();
    all.par_sort_unstable();
    let mut rows: Vec<Row> = Vec::new();
    let mut row_of = vec![0; all.len()];
    for (leaves, number) in all {
        match rows.last_mut() {
            Some((last, count)) if *last == leaves => *count += 1,
            _ => rows.push((leaves, 1)),
        }
        row_of[number as usize] = rows.len() as u32 - 1;
    }
    (rows, row_of)
}

/// The classes by their nodes in preorder.
struct Trie {
    steps: FxHashMap<(u32, NodeId), u32>,
    class: Vec<Option<u32>>,
}

impl Trie {
    fn new(classes: &Bag, labels: &[NodeId]) -> Self {
        let mut trie = Self { steps: FxHashMap::default(), class: vec![None] };
        for (class, (items, _)) in classes.iter().enumerate() {
            let mut nodes: Vec<NodeId> = items.iter().map(|&i| labels[i as usize]).collect();
            nodes.sort_unstable();
            let mut state = 0;
            for node in nodes {
                let new = trie.class.len() as u32;
                state = *trie.steps.entry((state, node)).or_insert(new);
                if state == new {
                    trie.class.push(None);
                }
            }
            trie.class[state as usize] = Some(class as u32);
        }
        trie
    }

    /// Every class the record fits, cheapest first.
    fn choices(&self, tree: &Hierarchy, leaves: &[NodeId]) -> Vec<Choice> {
        let mut found = Vec::new();
        let mut stack = vec![(0u32, 0usize, 0u64)];
        while let Some((state, at, loss)) = stack.pop() {
            if at == leaves.len() {
                if let Some(class) = self.class[state as usize] {
                    found.push(Choice { loss, class });
                }
                continue;
            }
            // The next leaf stands under the class's next node.
            let mut node = leaves[at];
            loop {
                if let Some(&next) = self.steps.get(&(state, node)) {
                    let end = tree.subtree(node).end;
                    let under = leaves[at..].partition_point(|&leaf| leaf < end);
                    stack.push((next, at + under, loss + penalty(tree, node) * under as u64));
                }
                if node == 0 {
                    break;
                }
                node = tree.parent(node);
            }
        }
        found.sort_unstable();
        found
    }
}

/// Records on their way to classes.
struct Assignment<'a> {
    rows: &'a [Row],
    choices: &'a [Vec<Choice>],
    /// Records of row `r` in its choice `c`: `placed[r][c]`.
    placed: Vec<Vec<u32>>,
    /// Room that is left in every class.
    room: Vec<u32>,
    /// Rows and choices that ever had records in every class.
    members: Vec<Vec<(u32, u32)>>,
    /// Records of every row that have no class.
    waiting: Vec<u32>,
}

impl<'a> Assignment<'a> {
    fn new(rows: &'a [Row], choices: &'a [Vec<Choice>], classes: &Bag) -> Self {
        Self {
            rows,
            choices,
            placed: choices.iter().map(|c| vec![0; c.len()]).collect(),
            room: classes.iter().map(|c| c.1).collect(),
            members: vec![Vec::new(); classes.len()],
            waiting: rows.iter().map(|r| r.1).collect(),
        }
    }

    /// Records with most to lose first, each to the cheapest class with room.
    fn greedy(&mut self) {
        let regret = |row: usize| match self.choices[row].as_slice() {
            [first, second, ..] => second.loss - first.loss,
            _ => u64::MAX,
        };
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_cached_key(|&row| Reverse(regret(row)));
        for row in order {
            for choice in 0..self.choices[row].len() {
                let class = self.choices[row][choice].class as usize;
                let take = self.waiting[row].min(self.room[class]);
                if take > 0 {
                    self.waiting[row] -= take;
                    self.room[class] -= take;
                    self.place(row, choice, take);
                }
            }
        }
    }

    fn place(&mut self, row: usize, choice: usize, count: u32) {
        if self.placed[row][choice] == 0 {
            let class = self.choices[row][choice].class as usize;
            self.members[class].push((row as u32, choice as u32));
        }
        self.placed[row][choice] += count;
    }

    /// Makes room along the shortest chain of moves for every record that waits.
    fn repair(&mut self) -> Result<()> {
        for row in 0..self.rows.len() {
            while self.waiting[row] > 0 {
                if !self.make_room(row) {
                    return Err(unfit("some records fit no class that has room for them"));
                }
            }
        }
        Ok(())
    }

    /// Breadth first from `start` over classes: a full class is left by a
    /// record that has another choice.
    fn make_room(&mut self, start: usize) -> bool {
        // How each class was reached: the row and the choice that leads there,
        // and the choice it leaves (none for the row that waits).
        let mut reached: FxHashMap<u32, (usize, usize, Option<usize>)> = FxHashMap::default();
        let mut queue = VecDeque::new();
        for (c, choice) in self.choices[start].iter().enumerate() {
            reached.entry(choice.class).or_insert_with(|| {
                queue.push_back(choice.class);
                (start, c, None)
            });
        }
        while let Some(class) = queue.pop_front() {
            if self.room[class as usize] > 0 {
                self.shift(class, &reached);
                return true;
            }
            let (placed, choices) = (&self.placed, &self.choices);
            self.members[class as usize].retain(|&(r, c)| placed[r as usize][c as usize] > 0);
            for &(row, from) in &self.members[class as usize] {
                for (to, choice) in choices[row as usize].iter().enumerate() {
                    reached.entry(choice.class).or_insert_with(|| {
                        queue.push_back(choice.class);
                        (row as usize, to, Some(from as usize))
                    });
                }
            }
        }
        false
    }

    /// Moves one record along the chain that ends in `class`.
    fn shift(&mut self, class: u32, reached: &FxHashMap<u32, (usize, usize, Option<usize>)>) {
        self.room[class as usize] -= 1;
        let mut class = class;
        loop {
            let (row, to, from) = reached[&class];
            self.place(row, to, 1);
            match from {
                Some(from) => {
                    self.placed[row][from] -= 1;
                    class = self.choices[row][from].class;
                }
                None => {
                    self.waiting[row] -= 1;
                    return;
                }
            }
        }
    }

    /// The class of every record; equal records take theirs one after the other.
    fn class_of(mut self, row_of: &[u32]) -> Vec<Option<u32>> {
        let next = |&row: &u32| {
            let placed = &mut self.placed[row as usize];
            let choice = placed.iter().position(|&n| n > 0)?;
            placed[choice] -= 1;
            Some(self.choices[row as usize][choice].class)
        };
        row_of.iter().map(next).collect()
    }

    fn loss(&self) -> u64 {
        let row = |r: usize| -> u64 {
            self.choices[r].iter().zip(&self.placed[r]).map(|(c, &n)| c.loss * u64::from(n)).sum()
        };
        (0..self.rows.len()).map(row).sum()
    }
}
