//! A cluster as bytes that sort in the canonical order.
//!
//! Clusters that are made in different places, and are too many for one
//! memory, are sorted by whatever can sort bytes: files that are merged, or a
//! cluster of machines. The bytes hold the whole cluster, so that nothing has
//! to travel beside them. Items are numbers of one vocabulary for all.
//!
//! Numbers ascend with their bytes, and every list ends with a byte that is
//! smaller than whatever could follow: a list that is the beginning of another
//! comes first, as in the canonical order.

use super::{Bag, Cluster, JointCluster, SimpleCluster};
use crate::data::ItemId;
use crate::{Error, Result};

/// Ends a list; no number and no element begins with it.
const END: u8 = 0;
/// Begins an element of a list of lists.
const NEXT: u8 = 1;
/// Numbers below this are one byte.
const SHORT: u32 = 240;
/// How deep clusters may be nested: no stack is at the mercy of bytes.
const MAX_DEPTH: usize = 64;

/// Appends `number`: larger numbers have larger bytes.
pub(crate) fn put_number(number: u32, out: &mut Vec<u8>) {
    if number < SHORT {
        return out.push(number as u8 + 1);
    }
    let bytes = number.to_be_bytes();
    let zeros = (number.leading_zeros() / 8) as usize;
    out.push(SHORT as u8 + (4 - zeros) as u8);
    out.extend_from_slice(&bytes[zeros..]);
}

/// Appends ascending items as the list of their numbers in `ids`.
pub(crate) fn put_items(items: &[ItemId], ids: &[ItemId], out: &mut Vec<u8>) {
    items.iter().for_each(|&item| put_number(ids[item as usize], out));
    out.push(END);
}

/// Appends a bag.
pub(crate) fn put_bag(bag: &Bag, ids: &[ItemId], out: &mut Vec<u8>) {
    for (items, count) in bag.iter() {
        out.push(NEXT);
        put_items(items, ids, out);
        put_number(count, out);
    }
    out.push(END);
}

/// Appends a list of bags.
pub(crate) fn put_bags(bags: &[Bag], ids: &[ItemId], out: &mut Vec<u8>) {
    for bag in bags {
        out.push(NEXT);
        put_bag(bag, ids, out);
    }
    out.push(END);
}

impl Cluster {
    /// The cluster, which must be in canonical order, as bytes. Item `i` is
    /// written as `ids[i]`; `ids` must ascend. Whoever reads the bytes has a
    /// cluster of these numbers.
    ///
    /// ```
    /// use setveil::release::{Cluster, SimpleCluster};
    ///
    /// let leaf = |size, term| {
    ///     Cluster::Simple(SimpleCluster { size, term_chunk: vec![term], ..Default::default() })
    /// };
    /// let (a, b) = (leaf(5, 0), leaf(5, 1));
    /// assert!(a < b && a.key(&[7, 900]) < b.key(&[7, 900]));
    /// assert_eq!(Cluster::from_key(&b.key(&[7, 900]))?, leaf(5, 900));
    /// # Ok::<(), setveil::Error>(())
    /// ```
    pub fn key(&self, ids: &[ItemId]) -> Vec<u8> {
        let mut out = Vec::new();
        self.put_key(ids, &mut out);
        out
    }

    fn put_key(&self, ids: &[ItemId], out: &mut Vec<u8>) {
        put_number(self.size(), out);
        out.push(u8::from(matches!(self, Self::Joint(_))));
        put_bags(self.chunks(), ids, out);
        match self {
            Self::Simple(leaf) => put_items(&leaf.term_chunk, ids, out),
            Self::Joint(joint) => {
                for child in &joint.children {
                    out.push(NEXT);
                    child.put_key(ids, out);
                }
                out.push(END);
            }
        }
    }

    /// The cluster that [`key`](Self::key) made the bytes of.
    ///
    /// # Errors
    /// If they are no such bytes.
    pub fn from_key(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        let cluster = reader.cluster(0)?;
        reader.finish()?;
        Ok(cluster)
    }
}

/// Replaces `items` by the numbers that [`put_number`] wrote.
pub(crate) fn numbers(bytes: &[u8], items: &mut Vec<ItemId>) -> Result<()> {
    items.clear();
    more_numbers(bytes, items)
}

/// As [`numbers`], behind what is there.
pub(crate) fn more_numbers(bytes: &[u8], items: &mut Vec<ItemId>) -> Result<()> {
    let mut reader = Reader::new(bytes);
    while !reader.rest.is_empty() {
        items.push(reader.number()?);
    }
    Ok(())
}

/// Takes bytes apart again.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What is left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Fails if something is left.
    pub(crate) fn finish(&self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(broken()) }
    }

    pub(crate) fn byte(&mut self) -> Result<u8> {
        let (&byte, rest) = self.rest.split_first().ok_or_else(broken)?;
        self.rest = rest;
        Ok(byte)
    }

    /// Whether another element follows; takes the byte that says so.
    pub(crate) fn more(&mut self) -> Result<bool> {
        match self.byte()? {
            END => Ok(false),
            NEXT => Ok(true),
            _ => Err(broken()),
        }
    }

    pub(crate) fn number(&mut self) -> Result<u32> {
        let first = self.byte()?;
        self.number_after(first)
    }

    fn number_after(&mut self, first: u8) -> Result<u32> {
        match u32::from(first) {
            0 => Err(broken()),
            short if short <= SHORT => Ok(short - 1),
            long => {
                let length = (long - SHORT) as usize;
                let (bytes, rest) = self
                    .rest
                    .split_at_checked(length)
                    .filter(|_| length <= 4)
                    .ok_or_else(broken)?;
                self.rest = rest;
                Ok(bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte)))
            }
        }
    }

    /// Appends a list of items, which must ascend.
    pub(crate) fn items(&mut self, items: &mut Vec<ItemId>) -> Result<()> {
        let mut last = None;
        loop {
            let first = self.byte()?;
            if first == END {
                return Ok(());
            }
            let item = self.number_after(first)?;
            if last.is_some_and(|last| last >= item) {
                return Err(broken());
            }
            items.push(item);
            last = Some(item);
        }
    }

    /// Passes over a list of items.
    pub(crate) fn skip_items(&mut self) -> Result<()> {
        loop {
            match self.byte()? {
                END => return Ok(()),
                first => self.number_after(first)?,
            };
        }
    }

    /// Passes over lists of items, each with a count behind it.
    fn skip_bag(&mut self) -> Result<()> {
        while self.more()? {
            self.skip_items()?;
            self.number()?;
        }
        Ok(())
    }

    /// Passes over what [`put_bags`] wrote.
    pub(crate) fn skip_bags(&mut self) -> Result<()> {
        while self.more()? {
            self.skip_bag()?;
        }
        Ok(())
    }

    pub(crate) fn bag(&mut self) -> Result<Bag> {
        let (mut bag, mut items) = (Bag::default(), Vec::new());
        while self.more()? {
            items.clear();
            self.items(&mut items)?;
            bag.try_push(&items, self.number()?)?;
        }
        Ok(bag)
    }

    pub(crate) fn bags(&mut self) -> Result<Vec<Bag>> {
        let mut bags = Vec::new();
        while self.more()? {
            bags.push(self.bag()?);
        }
        Ok(bags)
    }

    fn cluster(&mut self, depth: usize) -> Result<Cluster> {
        if depth > MAX_DEPTH {
            return Err(broken());
        }
        let size = self.number()?;
        let joint = self.byte()?;
        let chunks = self.bags()?;
        match joint {
            0 => {
                let mut term_chunk = Vec::new();
                self.items(&mut term_chunk)?;
                Ok(Cluster::Simple(SimpleCluster { size, record_chunks: chunks, term_chunk }))
            }
            1 => {
                let mut children = Vec::new();
                while self.more()? {
                    children.push(self.cluster(depth + 1)?);
                }
                Ok(Cluster::Joint(JointCluster { size, shared_chunks: chunks, children }))
            }
            _ => Err(broken()),
        }
    }
}

pub(crate) fn broken() -> Error {
    Error::Infeasible {
        what: "bytes that are no cluster".into(),
        hint: "they were changed on the way between two steps: run all steps again".into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bag() -> impl Strategy<Value = Bag> {
        let itemset = prop::collection::btree_set(0u32..6, 1..4);
        prop::collection::vec(itemset, 0..4).prop_map(|sets| {
            let sets: Vec<Vec<ItemId>> =
                sets.into_iter().map(|set| set.into_iter().collect()).collect();
            Bag::from_itemsets(sets.iter().map(Vec::as_slice))
        })
    }

    fn cluster() -> impl Strategy<Value = Cluster> {
        let leaf = (
            prop_oneof![1u32..4, 230u32..260, any::<u32>()],
            prop::collection::vec(bag(), 0..3),
            prop::collection::btree_set(0u32..6, 0..3),
        );
        let leaf = leaf.prop_map(|(size, record_chunks, terms)| {
            let term_chunk = terms.into_iter().collect();
            Cluster::Simple(SimpleCluster { size, record_chunks, term_chunk })
        });
        leaf.prop_recursive(3, 12, 3, |child| {
            let children = prop::collection::vec(child, 2..4);
            (1u32..4, prop::collection::vec(bag(), 0..3), children).prop_map(
                |(size, shared_chunks, children)| {
                    Cluster::Joint(JointCluster { size, shared_chunks, children })
                },
            )
        })
    }

    const IDS: [ItemId; 6] = [3, 239, 240, 70_000, 70_001, u32::MAX];

    proptest! {
        #![proptest_config(testkit::settings::cases(512))]

        #[test]
        fn bytes_sort_like_clusters(mut a in cluster(), mut b in cluster()) {
            a.canonicalize();
            b.canonicalize();
            prop_assert_eq!(a.key(&IDS).cmp(&b.key(&IDS)), a.cmp(&b));
        }

        #[test]
        fn what_is_written_is_read(mut a in cluster()) {
            a.canonicalize();
            let key = a.key(&IDS);
            a.renumber(&IDS);
            prop_assert_eq!(Cluster::from_key(&key).unwrap(), a);
            for end in 0..key.len() {
                prop_assert!(Cluster::from_key(&key[..end]).is_err());
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = Cluster::from_key(&bytes);
        }
    }

    #[test]
    fn numbers_ascend_with_their_bytes() {
        let numbers = [0, 1, 238, 239, 240, 255, 256, 65_535, 65_536, 1 << 24, u32::MAX];
        let bytes = |number| {
            let mut out = Vec::new();
            put_number(number, &mut out);
            assert_eq!(Reader::new(&out).number().unwrap(), number);
            out
        };
        assert!(numbers.map(bytes).is_sorted_by(|a, b| a < b));
    }
}
