//! A part as bytes, for machines that verify a release together.
//!
//! What is short is JSON; clusters and parts stay bytes, which JSON would
//! write as lists of numbers, three times as long.
//!
//! The clusters at its borders are written as they are, in whatever order
//! their items stand: a release that breaks the order must get its verdict too.

use serde::{Deserialize, Serialize};

use super::{Border, Part, Witness};
use crate::data::{ItemId, Vocabulary};
use crate::release::key::{Reader, put_number};
use crate::release::{Bag, Cluster, JointCluster, Manifest, SimpleCluster};
use crate::verify::Violation;
use crate::{Error, Result};

/// The rules that a part finds broken in clusters and in their text.
const RULES: [&str; 11] = [
    "canonical-order",
    "children",
    "disjoint",
    "km",
    "lemma-2",
    "property-1",
    "room",
    "sensitive",
    "sensitive-room",
    "size",
    "text",
];
/// How deep clusters may be nested: no stack is at the mercy of bytes.
const MAX_DEPTH: usize = 64;

#[derive(Serialize, Deserialize)]
struct Written {
    files: Vec<(Option<String>, u64)>,
    records: u64,
    labels: Vec<Box<str>>,
    most: Vec<(Box<str>, u64)>,
    /// The labels of the two clusters, whose bytes come after this.
    borders: Option<[Vec<String>; 2]>,
    found: Vec<Found>,
    count: u64,
}

#[derive(Serialize, Deserialize)]
struct Found {
    file: usize,
    line: u64,
    place: String,
    itemset: Vec<String>,
    support: u64,
    required: u64,
    rule: String,
}

impl Part {
    /// For another machine.
    ///
    /// # Errors
    /// For a release that says it is safe: who shares terms with whom is a
    /// question about all of its clusters at once.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        if self.joins.is_some() {
            return Err(Error::Infeasible {
                what: "a safe release was to be verified on several machines".into(),
                hint: "verify it on one: who shares terms with whom is a question about all of \
                       its clusters at once"
                    .into(),
            });
        }
        let mut labels: Vec<Box<str>> = self.labels.iter().cloned().collect();
        labels.sort_unstable();
        let mut most: Vec<(Box<str>, u64)> =
            self.most.iter().map(|(label, &most)| (label.clone(), most)).collect();
        most.sort_unstable();
        let borders = self.borders.as_ref();
        let [first, last] = borders.map_or_else(Default::default, |(first, last)| {
            [first, last].map(|border| border.to_bytes())
        });
        let written = Written {
            files: self.files.clone(),
            records: self.records,
            labels,
            most,
            borders: borders.map(|(first, last)| [first, last].map(Border::labels)),
            found: self.found.iter().map(Found::new).collect(),
            count: self.count,
        };
        let written = serde_json::to_vec(&written).expect("texts and numbers");
        Ok(framed([&written, &first, &last]))
    }

    /// A part of a release with this manifest, from another machine.
    ///
    /// # Errors
    /// If these are no bytes of [`to_bytes`](Self::to_bytes).
    pub fn from_bytes(manifest: &Manifest, bytes: &[u8]) -> Result<Self> {
        let [written, first, last] = pieces(bytes).ok_or_else(Self::broken)?;
        let read: Written = serde_json::from_slice(written).map_err(|_| Self::broken())?;
        let files = read.files.len();
        let borders = read.borders.map(|[of_first, of_last]| -> Result<_> {
            Ok((Border::from_bytes(first, &of_first)?, Border::from_bytes(last, &of_last)?))
        });
        let found = read.found.into_iter().map(|found| found.witness(files));
        let new = Self::new(manifest);
        if files == 0 || new.joins.is_some() {
            return Err(Self::broken());
        }
        Ok(Self {
            files: read.files,
            records: read.records,
            labels: read.labels.into_iter().collect(),
            most: read.most.into_iter().collect(),
            borders: borders.transpose()?,
            found: found.collect::<Result<_>>()?,
            count: read.count,
            ..new
        })
    }

    /// Bytes that somebody changed on the way.
    pub(crate) fn broken() -> Error {
        Error::Infeasible {
            what: "bytes that are no checked part of a release".into(),
            hint: "they were changed on the way: verify again".into(),
        }
    }
}

impl Found {
    fn new(witness: &Witness) -> Self {
        let Violation { r#where, itemset, support, required, rule } = &witness.violation;
        Self {
            file: witness.file,
            line: witness.line,
            place: r#where.clone(),
            itemset: itemset.clone(),
            support: *support,
            required: *required,
            rule: (*rule).to_owned(),
        }
    }

    fn witness(self, files: usize) -> Result<Witness> {
        let rule = RULES.iter().find(|rule| **rule == self.rule);
        let rule = rule.filter(|_| self.file < files).ok_or_else(Part::broken)?;
        let violation = Violation {
            r#where: self.place,
            itemset: self.itemset,
            support: self.support,
            required: self.required,
            rule,
        };
        Ok(Witness { file: self.file, line: self.line, violation })
    }
}

impl Border {
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_cluster(&self.cluster, &mut out);
        out
    }

    fn labels(&self) -> Vec<String> {
        self.labels.labels().map(str::to_owned).collect()
    }

    fn from_bytes(bytes: &[u8], labels: &[String]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        let most = labels.len();
        let cluster = read_cluster(&mut reader, most, 0)?;
        reader.finish()?;
        let labels = Vocabulary::new(labels.iter().map(String::as_str));
        if labels.len() != most {
            return Err(Part::broken());
        }
        Ok(Self { cluster, labels })
    }
}

/// Several pieces one after the other, each behind its length.
pub(crate) fn framed<const N: usize>(pieces: [&[u8]; N]) -> Vec<u8> {
    let mut out = Vec::with_capacity(pieces.iter().map(|piece| piece.len() + 8).sum());
    for piece in pieces {
        out.extend((piece.len() as u64).to_le_bytes());
        out.extend(piece);
    }
    out
}

/// The `N` pieces that were [`framed`], if there is nothing else.
pub(crate) fn pieces<const N: usize>(bytes: &[u8]) -> Option<[&[u8]; N]> {
    let mut rest = bytes;
    let mut found = [rest; N];
    for piece in &mut found {
        let (length, behind) = rest.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        (*piece, rest) = behind.split_at_checked(length)?;
    }
    rest.is_empty().then_some(found)
}

fn put_length(length: usize, out: &mut Vec<u8>) {
    put_number(u32::try_from(length).expect("bags and clusters have fewer elements"), out);
}

fn put_items(items: &[ItemId], out: &mut Vec<u8>) {
    put_length(items.len(), out);
    items.iter().for_each(|&item| put_number(item, out));
}

fn put_cluster(cluster: &Cluster, out: &mut Vec<u8>) {
    put_number(cluster.size(), out);
    put_length(cluster.chunks().len(), out);
    for chunk in cluster.chunks() {
        put_length(chunk.len(), out);
        for (items, count) in chunk.iter() {
            put_items(items, out);
            put_number(count, out);
        }
    }
    match cluster {
        Cluster::Simple(leaf) => {
            out.push(0);
            put_items(&leaf.term_chunk, out);
        }
        Cluster::Joint(joint) => {
            out.push(1);
            put_length(joint.children.len(), out);
            joint.children.iter().for_each(|child| put_cluster(child, out));
        }
    }
}

fn read_items(reader: &mut Reader, most: usize) -> Result<Vec<ItemId>> {
    let length = reader.number()?;
    let item = |_| {
        reader.number().and_then(|item| match (item as usize) < most {
            true => Ok(item),
            false => Err(Part::broken()),
        })
    };
    (0..length).map(item).collect()
}

fn read_cluster(reader: &mut Reader, most: usize, depth: usize) -> Result<Cluster> {
    if depth > MAX_DEPTH {
        return Err(Part::broken());
    }
    let size = reader.number()?;
    let mut chunks = Vec::new();
    for _ in 0..reader.number()? {
        let mut bag = Bag::default();
        for _ in 0..reader.number()? {
            let items = read_items(reader, most)?;
            bag.try_push(&items, reader.number()?)?;
        }
        chunks.push(bag);
    }
    if reader.byte()? == 0 {
        let term_chunk = read_items(reader, most)?;
        return Ok(Cluster::Simple(SimpleCluster { size, record_chunks: chunks, term_chunk }));
    }
    let children = (0..reader.number()?).map(|_| read_cluster(reader, most, depth + 1));
    let children = children.collect::<Result<_>>()?;
    Ok(Cluster::Joint(JointCluster { size, shared_chunks: chunks, children }))
}
