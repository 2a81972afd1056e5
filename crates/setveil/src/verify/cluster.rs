//! The rules of one cluster (disassociation-2012, section 5, as corrected in
//! `docs/guarantees.md`).
//!
//! The rules are sufficient: each is checked on what is published, and
//! together they imply that for every set of at most m terms that some record
//! could contain, some possible data set has k records with it.

use super::Findings;
use super::km::KmSearch;
use super::order::{self, ByNumber};
use super::work::Meter;
use crate::Result;
use crate::data::ItemId;
use crate::release::{Bag, Cluster, JointCluster, SimpleCluster};

/// What the manifest asks for.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) k: u64,
    pub(super) m: u32,
    pub(super) l: Option<u32>,
}

impl Rules {
    /// In how many records of a cluster a sensitive term is at most, for who
    /// believes l.
    pub(super) fn most(&self, size: u32) -> u64 {
        self.l.map_or(u64::from(size), |l| u64::from(size / l.max(1)))
    }
}

/// The items of a block and which of them are sensitive.
pub(super) struct Items {
    pub(super) len: usize,
    /// Per item; empty if there are none.
    pub(super) sensitive: Vec<bool>,
}

impl Items {
    fn is_sensitive(&self, item: ItemId) -> bool {
        self.sensitive.get(item as usize).copied().unwrap_or(false)
    }
}

/// Where something is in the file; only turned into text for a violation.
pub(super) struct Place<'a> {
    above: Option<&'a Place<'a>>,
    name: &'static str,
    index: usize,
}

impl<'a> Place<'a> {
    /// The cluster itself; its line is known to whoever reads the file.
    pub(super) fn cluster() -> Self {
        Place { above: None, name: "", index: 0 }
    }

    fn child(&'a self, name: &'static str, index: usize) -> Self {
        Place { above: Some(self), name, index }
    }
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.above {
            None => Ok(()),
            Some(above) => write!(f, "{above} {}[{}]", self.name, self.index),
        }
    }
}

/// What stands below a cluster, as far as the clusters above must know.
#[derive(Default)]
pub(super) struct Below {
    /// How many records.
    size: u64,
    /// The terms of record, shared and term chunks, ascending, each with the
    /// records of the leaves that no shared chunk above can bring it to.
    terms: Vec<(ItemId, u64)>,
}

impl Below {
    /// The records of the leaves that have nothing of `term` yet.
    fn room(&self, term: ItemId) -> Option<u64> {
        let place = self.terms.binary_search_by_key(&term, |t| t.0).ok()?;
        Some(self.size - self.terms[place].1)
    }

    fn add(&mut self, terms: impl IntoIterator<Item = (ItemId, u64)>) {
        self.terms.extend(terms);
        self.terms.sort_unstable();
        self.terms.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                first.1 += later.1;
            }
            same
        });
    }
}

/// Checks one cluster after the other.
pub(super) struct Checker<'a, 'b, 'c> {
    pub(super) rules: Rules,
    pub(super) items: &'a Items,
    pub(super) search: &'a mut KmSearch,
    pub(super) meter: &'a mut Meter<'c>,
    pub(super) findings: &'a mut Findings<'b>,
}

impl Checker<'_, '_, '_> {
    pub(super) fn cluster(&mut self, cluster: &Cluster, place: &Place) -> Result<Below> {
        match cluster {
            Cluster::Simple(leaf) => self.leaf(leaf, place),
            Cluster::Joint(joint) => self.joint(joint, place),
        }
    }

    fn leaf(&mut self, leaf: &SimpleCluster, place: &Place) -> Result<Below> {
        let size = u64::from(leaf.size);
        if size < self.rules.k {
            self.findings.add("size", || place.to_string(), &[], size, self.rules.k);
        }
        self.chunks(&leaf.record_chunks, "record_chunks", size, place)?;
        if !order::ascend(&leaf.term_chunk) {
            let place = || format!("{place} term_chunk");
            self.findings.add("canonical-order", place, &leaf.term_chunk, 0, 0);
        }
        let mut terms = self.disjoint(&leaf.record_chunks, &leaf.term_chunk, place);
        terms.dedup();
        self.lemma_2(leaf, place);
        self.diversity(leaf, place);
        Ok(Below { size, terms: terms.into_iter().map(|t| (t, size)).collect() })
    }

    fn joint(&mut self, joint: &JointCluster, place: &Place) -> Result<Below> {
        let mut below = Below::default();
        for (i, child) in joint.children.iter().enumerate() {
            let place = place.child("children", i);
            if i > 0 && order::clusters(&joint.children[i - 1], child, ByNumber).is_gt() {
                self.findings.add("canonical-order", || place.to_string(), &[], 0, 0);
            }
            let child = self.cluster(child, &place)?;
            below.size += child.size;
            below.add(child.terms);
        }
        let children = joint.children.len() as u64;
        if children < 2 {
            self.findings.add("children", || place.to_string(), &[], children, 2);
        }
        let sum: u64 = joint.children.iter().map(|c| u64::from(c.size())).sum();
        if sum != u64::from(joint.size) {
            self.findings.add("size", || place.to_string(), &[], sum, joint.size.into());
        }
        self.chunks(&joint.shared_chunks, "shared_chunks", sum, place)?;
        for (i, chunk) in joint.shared_chunks.iter().enumerate() {
            self.property_1(chunk, &below, &place.child("shared_chunks", i));
        }
        // From here on no leaf below takes a shared term again.
        let mut shared = self.disjoint(&joint.shared_chunks, &[], place);
        shared.dedup();
        let missing: Vec<(ItemId, u64)> =
            shared.into_iter().map(|t| (t, below.room(t).unwrap_or(below.size))).collect();
        below.add(missing);
        Ok(below)
    }

    /// Order, number of sub-records and k^m of every chunk.
    fn chunks(
        &mut self,
        chunks: &[Bag],
        name: &'static str,
        room: u64,
        place: &Place,
    ) -> Result<()> {
        for (i, chunk) in chunks.iter().enumerate() {
            let place = place.child(name, i);
            let fault = order::bag_fault(chunk);
            let named = match fault {
                Some((s, what)) => Some(format!("{place} subrecords[{s}]: {what}")),
                None if chunk.is_empty() => Some(format!("{place}: an empty chunk")),
                None if i > 0 && order::bags(&chunks[i - 1], chunk, ByNumber).is_gt() => {
                    Some(place.to_string())
                }
                None => None,
            };
            if let Some(named) = named {
                self.findings.add("canonical-order", || named, &[], 0, 0);
            }
            if fault.is_some() {
                // The search relies on items that ascend.
                continue;
            }
            if chunk.total() > room {
                self.findings.add("room", || place.to_string(), &[], room, chunk.total());
            }
            self.km(chunk, &place)?;
            if !self.items.sensitive.is_empty() {
                for item in chunk.domain().into_iter().filter(|&i| self.items.is_sensitive(i)) {
                    self.findings.add("sensitive", || place.to_string(), &[item], 1, 0);
                }
            }
        }
        Ok(())
    }

    fn km(&mut self, chunk: &Bag, place: &Place) -> Result<()> {
        let Rules { k, m, .. } = self.rules;
        let met = self.search.rare(chunk, self.items.len, k, m, self.meter)?;
        self.findings.all("km", place, met, k);
        Ok(())
    }

    /// The domains of a cluster's chunks do not overlap; gives their union.
    fn disjoint(&mut self, chunks: &[Bag], term_chunk: &[ItemId], place: &Place) -> Vec<ItemId> {
        let mut terms: Vec<ItemId> = chunks.iter().flat_map(Bag::domain).collect();
        terms.extend_from_slice(term_chunk);
        terms.sort_unstable();
        for pair in terms.windows(2).filter(|pair| pair[0] == pair[1]) {
            self.findings.add("disjoint", || place.to_string(), &pair[..1], 2, 1);
        }
        terms
    }

    /// Lemma 2: enough sub-records to fill the cluster, or a term chunk that does.
    ///
    /// Who believes l knows that a sensitive term is in at most size / l
    /// records: it fills so many and no more, and takes part in a combination
    /// like a record chunk with as many sub-records.
    fn lemma_2(&mut self, leaf: &SimpleCluster, place: &Place) {
        let hidden = leaf.term_chunk.iter().filter(|&&t| self.bounded(t)).count();
        if leaf.term_chunk.len() > hidden {
            return;
        }
        let hidden = hidden as u64;
        let h = u64::from(self.rules.m).min(leaf.record_chunks.len() as u64 + hidden);
        let required = u64::from(leaf.size) + self.rules.k * h.saturating_sub(1);
        let subrecords: u64 = leaf.record_chunks.iter().map(Bag::total).sum();
        let filled = subrecords + hidden * self.rules.most(leaf.size);
        if filled < required {
            self.findings.add("lemma-2", || place.to_string(), &[], filled, required);
        }
    }

    /// Whether l bounds the support of a term.
    fn bounded(&self, term: ItemId) -> bool {
        self.rules.l.is_some() && self.items.is_sensitive(term)
    }

    /// Corrected Property 1: a term that stands anywhere below is alone in its
    /// shared chunk, and the leaves without it have room for its sub-records.
    fn property_1(&mut self, chunk: &Bag, below: &Below, place: &Place) {
        let domain = chunk.domain();
        for &term in &domain {
            let Some(room) = below.room(term) else { continue };
            if domain.len() > 1 {
                let others = domain.len() as u64;
                self.findings.add("property-1", || place.to_string(), &[term], others, 1);
            } else if chunk.total() > room {
                self.findings.add("room", || place.to_string(), &[term], room, chunk.total());
            }
        }
    }

    /// A sensitive term needs at least l records around it, and k l where it
    /// may be known together with another: no more than size / l of a
    /// cluster's records can have both.
    fn diversity(&mut self, leaf: &SimpleCluster, place: &Place) {
        let Some(l) = self.rules.l else { return };
        let size = u64::from(leaf.size);
        let needed = self.rules.k.saturating_mul(l.into());
        for &term in leaf.term_chunk.iter().filter(|&&t| self.items.is_sensitive(t)) {
            let place = || format!("{place} term_chunk");
            if leaf.size < l {
                self.findings.add("sensitive", place, &[term], size, l.into());
            } else if self.rules.m > 1 && size < needed {
                self.findings.add("sensitive-room", place, &[term], size, needed);
            }
        }
    }
}
