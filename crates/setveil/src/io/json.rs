//! The lines of a release as JSON: written by hand for speed, read by serde.
//!
//! Writing copies labels that were escaped once; reading borrows labels from
//! the line and interns them, so neither allocates per item.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::release::MAX_DEPTH;
use crate::data::{Interner, ItemId, Vocabulary};
use crate::release::{Bag, Cluster, Group, JointCluster, Leaf, SimpleCluster};

/// Every label as a JSON string, quotes included, and a comma.
pub(super) struct Labels {
    text: Vec<u8>,
    ends: Vec<usize>,
}

/// Labels of up to this many bytes are copied together with what comes after them: that takes
/// one step for all lengths.
const AT_ONCE: usize = 16;

impl Labels {
    pub(super) fn new(vocabulary: &Vocabulary) -> Self {
        let (mut text, mut ends) = (Vec::new(), Vec::with_capacity(vocabulary.len()));
        for label in vocabulary.labels() {
            serde_json::to_writer(&mut text, label).expect("a string is always JSON");
            text.push(b',');
            ends.push(text.len());
        }
        text.extend_from_slice(&[0; AT_ONCE]);
        Self { text, ends }
    }

    fn get(&self, item: ItemId) -> &[u8] {
        let (start, end) = self.span(item);
        &self.text[start..end - 1]
    }

    /// Where a label stands with its comma.
    fn span(&self, item: ItemId) -> (usize, usize) {
        let i = item as usize;
        (if i == 0 { 0 } else { self.ends[i - 1] }, self.ends[i])
    }

    /// Appends a label and a comma.
    fn push(&self, item: ItemId, out: &mut Vec<u8>) {
        let (start, end) = self.span(item);
        let length = out.len() + (end - start);
        match self.text[start..].first_chunk::<AT_ONCE>() {
            Some(all) if end - start <= AT_ONCE => {
                out.extend_from_slice(all);
                out.truncate(length);
            }
            _ => out.extend_from_slice(&self.text[start..end]),
        }
    }
}

/// Appends release lines to a buffer.
pub(super) struct LineWriter<'a> {
    pub(super) labels: &'a Labels,
    pub(super) out: Vec<u8>,
}

impl LineWriter<'_> {
    pub(super) fn cluster_line(&mut self, cluster: &Cluster) {
        self.cluster(cluster);
        self.out.push(b'\n');
    }

    pub(super) fn class_line(&mut self, items: &[ItemId], count: u32) {
        self.counted(items, count);
        self.out.push(b'\n');
    }

    pub(super) fn group_line(&mut self, group: &Group) {
        self.text(b"{\"size\":");
        self.number(group.size);
        self.text(b",\"records\":");
        self.bag(&group.records);
        self.text(b",\"sensitive\":");
        self.list(group.sensitive.iter(), |w, &(item, count)| w.item_count(item, count.into()));
        self.text(b"}\n");
    }

    pub(super) fn leaf_line(&mut self, leaf: &Leaf) {
        self.text(b"{\"size\":");
        self.number(leaf.size);
        self.text(b",\"kept\":");
        self.bag(&leaf.kept);
        self.text(b",\"counted\":");
        self.list(leaf.counted.iter(), |w, &(item, count)| w.item_count(item, count.into()));
        self.text(b",\"listed\":");
        self.items(&leaf.listed);
        self.text(b"}\n");
    }

    pub(super) fn total_line(&mut self, item: ItemId, total: u64) {
        self.item_count(item, total);
        self.out.push(b'\n');
    }

    fn item_count(&mut self, item: ItemId, count: u64) {
        self.text(b"{\"item\":");
        self.text(self.labels.get(item));
        self.text(b",\"count\":");
        self.out.extend_from_slice(count.to_string().as_bytes());
        self.out.push(b'}');
    }

    fn cluster(&mut self, cluster: &Cluster) {
        self.text(b"{\"size\":");
        self.number(cluster.size());
        match cluster {
            Cluster::Simple(simple) => {
                self.text(b",\"record_chunks\":");
                self.chunks(&simple.record_chunks);
                self.text(b",\"term_chunk\":");
                self.items(&simple.term_chunk);
            }
            Cluster::Joint(joint) => {
                self.text(b",\"shared_chunks\":");
                self.chunks(&joint.shared_chunks);
                self.text(b",\"children\":");
                self.list(joint.children.iter(), Self::cluster);
            }
        }
        self.out.push(b'}');
    }

    fn chunks(&mut self, chunks: &[Bag]) {
        self.list(chunks.iter(), |w, bag| {
            w.text(b"{\"subrecords\":");
            w.bag(bag);
            w.out.push(b'}');
        });
    }

    fn bag(&mut self, bag: &Bag) {
        self.list(bag.iter(), |w, (items, count)| w.counted(items, count));
    }

    fn counted(&mut self, items: &[ItemId], count: u32) {
        self.text(b"{\"items\":");
        self.items(items);
        self.text(b",\"count\":");
        self.number(count);
        self.out.push(b'}');
    }

    fn items(&mut self, items: &[ItemId]) {
        self.out.push(b'[');
        let start = self.out.len();
        items.iter().for_each(|&item| self.labels.push(item, &mut self.out));
        if self.out.len() > start {
            self.out.pop();
        }
        self.out.push(b']');
    }

    fn list<T>(&mut self, list: impl Iterator<Item = T>, mut each: impl FnMut(&mut Self, T)) {
        self.out.push(b'[');
        for (i, element) in list.enumerate() {
            if i > 0 {
                self.out.push(b',');
            }
            each(self, element);
        }
        self.out.push(b']');
    }

    fn number(&mut self, number: u32) {
        if number < 10 {
            self.out.push(b'0' + number as u8);
        } else {
            self.out.extend_from_slice(number.to_string().as_bytes());
        }
    }

    fn text(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClusterLine<'a> {
    size: u32,
    #[serde(borrow)]
    record_chunks: Option<Vec<Object<ChunkLine<'a>>>>,
    #[serde(borrow)]
    term_chunk: Option<Vec<Label<'a>>>,
    #[serde(borrow)]
    shared_chunks: Option<Vec<Object<ChunkLine<'a>>>>,
    #[serde(borrow)]
    children: Option<Vec<Object<ClusterLine<'a>>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChunkLine<'a> {
    #[serde(borrow)]
    subrecords: Vec<Object<CountedLine<'a>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CountedLine<'a> {
    #[serde(borrow)]
    items: Vec<Label<'a>>,
    count: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupLine<'a> {
    size: u32,
    #[serde(borrow)]
    records: Vec<Object<CountedLine<'a>>>,
    #[serde(borrow)]
    sensitive: Vec<Object<ItemLine<'a>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ItemLine<'a> {
    #[serde(borrow)]
    item: Label<'a>,
    count: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TotalLine<'a> {
    #[serde(borrow)]
    item: Label<'a>,
    count: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LeafLine<'a> {
    size: u32,
    #[serde(borrow)]
    kept: Vec<Object<CountedLine<'a>>>,
    #[serde(borrow)]
    counted: Vec<Object<ItemLine<'a>>>,
    #[serde(borrow)]
    listed: Vec<Label<'a>>,
}

/// A JSON object, and not the array of its values that serde would take as well:
/// what is published has one spelling.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

/// A label, borrowed unless it has escapes.
#[derive(Deserialize)]
struct Label<'a>(#[serde(borrow)] Cow<'a, str>);

/// What serde says, without the line: it parses one line of the file at a time.
fn reason(error: serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line 1 column ") {
        Some(at) => format!("{} (column {})", &text[..at], error.column()),
        None => text,
    }
}

/// Parses release lines; the items get the interner's ids.
#[derive(Default)]
pub(super) struct LineReader {
    pub(super) labels: Interner,
    scratch: Vec<ItemId>,
}

impl LineReader {
    pub(super) fn cluster(&mut self, line: &str) -> Result<Cluster, String> {
        let Object(line): Object<ClusterLine> = serde_json::from_str(line).map_err(reason)?;
        self.build_cluster(line, 0)
    }

    pub(super) fn class_into(&mut self, line: &str, bag: &mut Bag) -> Result<(), String> {
        let Object(line): Object<CountedLine> = serde_json::from_str(line).map_err(reason)?;
        self.push(bag, &line)
    }

    pub(super) fn group(&mut self, line: &str) -> Result<Group, String> {
        let Object(line): Object<GroupLine> = serde_json::from_str(line).map_err(reason)?;
        Ok(Group {
            size: positive("size", line.size)?,
            records: self.bag(&line.records)?,
            sensitive: self.item_counts(&line.sensitive)?,
        })
    }

    pub(super) fn leaf(&mut self, line: &str) -> Result<Leaf, String> {
        let Object(line): Object<LeafLine> = serde_json::from_str(line).map_err(reason)?;
        Ok(Leaf {
            size: positive("size", line.size)?,
            kept: self.bag(&line.kept)?,
            counted: self.item_counts(&line.counted)?,
            listed: line.listed.iter().map(|t| self.labels.intern(&t.0)).collect(),
        })
    }

    /// The item and the number of a line of `totals.jsonl`.
    pub(super) fn total(&mut self, line: &str) -> Result<(ItemId, u64), String> {
        let Object(line): Object<TotalLine> = serde_json::from_str(line).map_err(reason)?;
        Ok((self.labels.intern(&line.item.0), positive("count", line.count)?))
    }

    fn item_counts(&mut self, lines: &[Object<ItemLine>]) -> Result<Vec<(ItemId, u32)>, String> {
        let count = |Object(line): &Object<ItemLine>| {
            Ok((self.labels.intern(&line.item.0), positive("count", line.count)?))
        };
        lines.iter().map(count).collect()
    }

    fn build_cluster(&mut self, line: ClusterLine, depth: usize) -> Result<Cluster, String> {
        if depth > MAX_DEPTH {
            return Err(format!("joint clusters are nested more than {MAX_DEPTH} deep"));
        }
        let size = positive("size", line.size)?;
        match (line.record_chunks, line.term_chunk, line.shared_chunks, line.children) {
            (Some(chunks), Some(terms), None, None) => Ok(Cluster::Simple(SimpleCluster {
                size,
                record_chunks: self.chunks(&chunks)?,
                term_chunk: terms.iter().map(|t| self.labels.intern(&t.0)).collect(),
            })),
            (None, None, Some(chunks), Some(children)) => Ok(Cluster::Joint(JointCluster {
                size,
                shared_chunks: self.chunks(&chunks)?,
                children: children
                    .into_iter()
                    .map(|Object(child)| self.build_cluster(child, depth + 1))
                    .collect::<Result<_, _>>()?,
            })),
            _ => Err("a cluster has either `record_chunks` and `term_chunk` or `shared_chunks` \
                      and `children`"
                .into()),
        }
    }

    fn chunks(&mut self, chunks: &[Object<ChunkLine>]) -> Result<Vec<Bag>, String> {
        let chunk = |Object(chunk): &Object<ChunkLine>| match &chunk.subrecords[..] {
            [] => Err("an empty chunk: it says nothing and is not written".into()),
            subrecords => self.bag(subrecords),
        };
        chunks.iter().map(chunk).collect()
    }

    fn bag(&mut self, lines: &[Object<CountedLine>]) -> Result<Bag, String> {
        let mut bag = Bag::default();
        lines.iter().try_for_each(|Object(line)| self.push(&mut bag, line))?;
        Ok(bag)
    }

    fn push(&mut self, bag: &mut Bag, line: &CountedLine) -> Result<(), String> {
        if line.items.is_empty() {
            return Err("an empty itemset: it says nothing and is not written".into());
        }
        let mut items = std::mem::take(&mut self.scratch);
        items.clear();
        items.extend(line.items.iter().map(|l| self.labels.intern(&l.0)));
        bag.try_push(&items, positive("count", line.count)?).map_err(|e| e.to_string())?;
        self.scratch = items;
        Ok(())
    }
}

/// Sizes and counts start at 1: what does not occur is not written.
fn positive<N: Default + PartialEq>(name: &str, number: N) -> Result<N, String> {
    if number == N::default() {
        Err(format!("`{name}` is 0, expected at least 1"))
    } else {
        Ok(number)
    }
}
