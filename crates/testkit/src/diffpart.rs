//! The exact probability of every output of DiffPart, from the definition:
//! every sub-partition is looked at, none is drawn. For trees of a few leaves.
//!
//! Shares nothing with the method: nested nodes, sets of letters, floating
//! point numbers.

use std::collections::{BTreeMap, BTreeSet};

/// A taxonomy of single-letter items.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// An item.
    Leaf(char),
    /// A node with children.
    Inner(Vec<Node>),
}

/// A set of items.
pub type Set = BTreeSet<char>;
/// What is published: sets with counts.
pub type Output = BTreeMap<Set, u32>;

impl Node {
    /// `((ab)c)` is a root over a node over a and b, and c.
    pub fn parse(text: &str) -> Self {
        fn nodes(letters: &mut std::str::Chars) -> Vec<Node> {
            let mut found = Vec::new();
            loop {
                match letters.next() {
                    None | Some(')') => return found,
                    Some('(') => found.push(Node::Inner(nodes(letters))),
                    Some(item) => found.push(Node::Leaf(item)),
                }
            }
        }
        nodes(&mut text.chars()).remove(0)
    }

    /// Lines `item;parent;...;*` for the method.
    pub fn lines(&self) -> Vec<String> {
        fn walk(node: &Node, above: &str, lines: &mut Vec<String>) {
            match node {
                Node::Leaf(item) => lines.push(format!("{item}{above}")),
                Node::Inner(children) => {
                    let items: String = node.items().into_iter().collect();
                    let name = format!(";node-{items}{above}");
                    children.iter().for_each(|c| walk(c, &name, lines));
                }
            }
        }
        let (mut lines, Self::Inner(children)) = (Vec::new(), self) else {
            panic!("a root with children");
        };
        children.iter().for_each(|c| walk(c, ";*", &mut lines));
        lines
    }

    /// All items below.
    pub fn items(&self) -> Set {
        match self {
            Self::Leaf(item) => [*item].into(),
            Self::Inner(children) => children.iter().flat_map(Self::items).collect(),
        }
    }

    fn inner(&self) -> f64 {
        match self {
            Self::Leaf(_) => 0.0,
            Self::Inner(children) => 1.0 + children.iter().map(Self::inner).sum::<f64>(),
        }
    }

    fn height(&self) -> u32 {
        match self {
            Self::Leaf(_) => 0,
            Self::Inner(children) => 1 + children.iter().map(Self::height).max().unwrap_or(0),
        }
    }
}

/// The mechanism, or a broken one.
#[derive(Clone, Debug)]
pub struct Oracle {
    /// The taxonomy.
    pub root: Node,
    /// The budget.
    pub epsilon: f64,
    /// The saboteur: sub-partitions without a record are forgotten.
    pub skips_empty: bool,
    /// The saboteur: every operation spends this many times its share.
    pub spends: f64,
}

impl Oracle {
    /// The mechanism as it should be.
    pub fn new(root: &str, epsilon: f64) -> Self {
        Self { root: Node::parse(root), epsilon, skips_empty: false, spends: 1.0 }
    }

    /// The probability that `records` are published as `output`.
    pub fn probability(&self, records: &[Set], output: &Output) -> f64 {
        let outputs: Vec<(&Set, u32)> = output.iter().map(|(set, &count)| (set, count)).collect();
        let records: Vec<&Set> = records.iter().collect();
        self.descend(&[&self.root], &records, &outputs, self.epsilon / 2.0)
    }

    fn descend(&self, open: &[&Node], records: &[&Set], outputs: &[(&Set, u32)], left: f64) -> f64 {
        // The first of the highest.
        let at = (0..open.len()).rev().max_by_key(|&i| open[i].height()).expect("a node");
        let Node::Inner(children) = open[at] else { panic!("an inner node") };
        let below: Vec<Set> = children.iter().map(Node::items).collect();
        let operations: f64 = open.iter().map(|n| n.inner()).sum();
        let spent = left / operations;
        let cells = (1u32 << children.len()) - 1;
        let mut probability = 1.0;
        for cell in 1..=cells {
            let has = |set: &Set| {
                (0..children.len()).all(|i| (cell >> i & 1 == 1) != below[i].is_disjoint(set))
            };
            let records: Vec<&Set> = records.iter().filter(|r| has(r)).copied().collect();
            let outputs: Vec<_> = outputs.iter().filter(|o| has(o.0)).copied().collect();
            let chosen = (0..children.len()).filter(|i| cell >> i & 1 == 1).map(|i| &children[i]);
            let mut next: Vec<&Node> = open.to_vec();
            next.splice(at..=at, chosen);
            next.retain(|n| n.inner() > 0.0);
            let count = records.len() as i32;
            let forgotten = self.skips_empty && records.is_empty();
            probability *= if next.is_empty() {
                let noise = Noise(self.spends * (self.epsilon / 2.0 + left));
                let threshold = noise.threshold(cells, 0.5);
                match outputs[..] {
                    [] if forgotten => 1.0,
                    [] => 1.0 - noise.at_least(threshold - count),
                    [(_, published)] if !forgotten && published as i32 >= threshold => {
                        noise.exactly(published as i32 - count)
                    }
                    _ => 0.0,
                }
            } else {
                let noise = Noise(self.spends * spent);
                let threshold = noise.threshold(cells, 0.1);
                let pass = if forgotten { 0.0 } else { noise.at_least(threshold - count) };
                let below = self.descend(&next, &records, &outputs, left - spent);
                pass * below + if outputs.is_empty() { 1.0 - pass } else { 0.0 }
            };
        }
        probability
    }
}

/// x with probability proportional to exp(-|x| rate).
struct Noise(f64);

impl Noise {
    fn exactly(&self, x: i32) -> f64 {
        let r = (-self.0).exp();
        (1.0 - r) / (1.0 + r) * r.powi(x.abs())
    }

    fn at_least(&self, x: i32) -> f64 {
        let r = (-self.0).exp();
        if x > 0 { r.powi(x) / (1.0 + r) } else { 1.0 - r.powi(1 - x) / (1.0 + r) }
    }

    /// The least count that at most `passing` of `cells` empty ones reach on average.
    fn threshold(&self, cells: u32, passing: f64) -> i32 {
        (1..).find(|&x| f64::from(cells) * self.at_least(x) <= passing).expect("it falls to 0")
    }
}
