//! Who shares terms with whom in a safe release, and which terms: by the record
//! chunks and by totals alone (`docs/safe.md`).
//!
//! Blocks of a release have vocabularies of their own, so what is kept of one
//! block for the others is kept as text. Memory: the chunks of all open leaves.

use std::collections::BTreeMap;

use super::super::{Findings, Violation};
use super::Rules;
use super::chunks::Leaf;
use crate::data::{ItemId, Vocabulary};
use crate::release::{Bag, Cluster, Disassociated, JointCluster, SimpleCluster};

type Label = Box<str>;
/// A chunk as text.
type Chunk = Vec<(Vec<Label>, u32)>;

/// The open leaves of a stretch of a release.
pub(in crate::verify) struct Joins {
    rules: Rules,
    open: Vec<Open>,
    /// How many clusters there were.
    clusters: u64,
    /// Where leaves that must not be joined are, with how many these are.
    wrong: Vec<(u64, u64)>,
}

/// An open leaf. Derived order: that of the rule.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    chunks: Vec<Chunk>,
    size: u32,
    /// The number of its joint cluster, with the number of children.
    joint: Option<(u64, usize)>,
    terms: Vec<Label>,
}

impl Open {
    fn key(&self) -> (&[Chunk], u32) {
        (&self.chunks, self.size)
    }
}

impl Joins {
    pub(in crate::verify) fn new(rules: Rules) -> Self {
        Self { rules, open: Vec::new(), clusters: 0, wrong: Vec::new() }
    }

    pub(in crate::verify) fn rules(&self) -> Rules {
        self.rules
    }

    /// Takes the next block.
    pub(in crate::verify) fn add(&mut self, block: &Disassociated) {
        for cluster in &block.clusters {
            let number = self.clusters;
            self.clusters += 1;
            match cluster {
                Cluster::Simple(leaf) => {
                    self.leaf(leaf, None, &block.vocabulary);
                }
                Cluster::Joint(joint) => {
                    let own = Some((number, joint.children.len()));
                    let mut wrong = 0;
                    for child in &joint.children {
                        let fits = match child {
                            Cluster::Simple(leaf) => self.leaf(leaf, own, &block.vocabulary),
                            Cluster::Joint(_) => false,
                        };
                        wrong += u64::from(!(fits && self.rules.refine));
                    }
                    if wrong > 0 {
                        self.wrong.push((number, wrong));
                    }
                }
            }
        }
    }

    /// Keeps an open leaf; whether it is one.
    fn leaf(
        &mut self,
        leaf: &SimpleCluster,
        joint: Option<(u64, usize)>,
        labels: &Vocabulary,
    ) -> bool {
        if !Leaf::new(leaf, self.rules).is_open(self.rules) {
            return false;
        }
        let text = |items: &[ItemId]| -> Vec<Label> {
            items.iter().map(|&item| labels.label(item).into()).collect()
        };
        let chunk = |bag: &Bag| bag.iter().map(|(items, count)| (text(items), count)).collect();
        self.open.push(Open {
            chunks: leaf.record_chunks.iter().map(chunk).collect(),
            size: leaf.size,
            joint,
            terms: text(&leaf.term_chunk),
        });
        true
    }

    /// Appends what follows directly.
    pub(in crate::verify) fn merge(&mut self, later: Self) {
        let shift = self.clusters;
        self.open.extend(later.open.into_iter().map(|mut open| {
            open.joint = open.joint.map(|(number, children)| (number + shift, children));
            open
        }));
        self.wrong.extend(later.wrong.into_iter().map(|(number, wrong)| (number + shift, wrong)));
        self.clusters += later.clusters;
    }

    /// What is to be said about the whole release.
    pub(in crate::verify) fn check(mut self, findings: &mut Findings) {
        for &(number, wrong) in &self.wrong {
            let place = format!("cluster {}: leaves that stay alone", number + 1);
            findings.take(violation("safe-joins", place, None, wrong, 0));
        }
        if !self.rules.refine {
            return;
        }
        self.open.sort_unstable();
        let mut rest = &self.open[..];
        for len in self.runs() {
            let (run, others) = rest.split_at(len);
            rest = others;
            joined(run, findings);
            listed(run, self.rules, findings);
        }
    }

    /// Runs of `width` leaves, longer where the next leaf looks like the last, the
    /// last one longer by what is left.
    fn runs(&self) -> Vec<usize> {
        let open = &self.open;
        let Some(width) = self.rules.join_width else { return vec![open.len()] };
        let (mut runs, mut start) = (Vec::new(), 0);
        for end in 1..=open.len() {
            let apart = end == open.len() || open[end].key() != open[end - 1].key();
            if apart && end - start >= width as usize {
                runs.push(end - start);
                start = end;
            }
        }
        let left = open.len() - start;
        match runs.last_mut() {
            Some(last) => *last += left,
            None => runs.push(left),
        }
        runs
    }
}

fn violation(
    rule: &'static str,
    place: String,
    item: Option<&Label>,
    support: u64,
    required: u64,
) -> Violation {
    let itemset = item.map(|label| label.to_string()).into_iter().collect();
    Violation { r#where: place, itemset, support, required, rule }
}

/// The leaves of a run are the children of one joint cluster, or all alone.
fn joined(run: &[Open], findings: &mut Findings) {
    let Some(first) = run.first() else { return };
    let whole = first.joint.is_none_or(|(_, children)| children == run.len());
    if !whole || run.iter().any(|leaf| leaf.joint != first.joint) {
        let joint = run.iter().find_map(|leaf| leaf.joint);
        let (number, children) = joint.unwrap_or_default();
        let place = format!("cluster {}: joins others than the rule does", number + 1);
        findings.take(violation("safe-joins", place, None, children as u64, run.len() as u64));
    }
}

/// A term that is left in the term chunks of a run totals fewer than k, so fewer
/// than k of them list it.
fn listed(run: &[Open], rules: Rules, findings: &mut Findings) {
    if run.len() < 2 {
        return;
    }
    let mut lists: BTreeMap<&Label, u64> = BTreeMap::new();
    for term in run.iter().flat_map(|leaf| &leaf.terms) {
        *lists.entry(term).or_default() += 1;
    }
    let k = u64::from(rules.k);
    for (term, count) in lists.into_iter().filter(|(_, count)| *count >= k) {
        let place = "clusters that could share it".to_owned();
        findings.take(violation("safe-refine", place, Some(term), count, k - 1));
    }
}

/// A shared chunk has one term, which no leaf below lists, and no more
/// occurrences than the leaves without it can have.
pub(super) fn shared(joint: &JointCluster, rules: Rules, findings: &mut Findings) {
    // In how many leaves a term stands in a record chunk, and in a term chunk.
    let mut places: BTreeMap<ItemId, (u64, u64)> = BTreeMap::new();
    for child in &joint.children {
        if let Cluster::Simple(leaf) = child {
            for term in leaf.record_chunks.iter().flat_map(Bag::domain) {
                places.entry(term).or_default().0 += 1;
            }
            leaf.term_chunk.iter().for_each(|&t| places.entry(t).or_default().1 += 1);
        }
    }
    let all = joint.children.len() as u64;
    for (i, chunk) in joint.shared_chunks.iter().enumerate() {
        let place = || format!(" shared_chunks[{i}]");
        let domain = chunk.domain();
        let [term] = domain[..] else {
            findings.add("safe-refine", place, &domain, domain.len() as u64, 1);
            continue;
        };
        let (recorded, listed) = places.get(&term).copied().unwrap_or_default();
        if listed > 0 {
            findings.add("safe-refine", place, &[term], listed, 0);
        }
        let most = all.saturating_sub(recorded) * (u64::from(rules.k) - 1);
        if chunk.total() > most {
            findings.add("safe-refine", place, &[term], chunk.total(), most);
        }
    }
}
