//! A release as Arrow record batches, for analysts' tools.
//!
//! One row is one sub-record of a cluster, one class, one record or sensitive
//! item of a group, or one sub-record or counted item of a leaf:
//!
//! | column | type | in | what |
//! |---|---|---|---|
//! | `cluster`, `class`, `group`, `leaf` | uint64 | all | its number in the release, from 0; null for a total |
//! | `path` | list of uint32 | clusters | the way from the cluster down to the joint or simple cluster that has the chunk: numbers of children, from 0; empty for the cluster itself |
//! | `size` | uint32 | clusters, groups, leaves | how many records it holds (the one that `path` leads to); null for a total |
//! | `kind` | dictionary of text | clusters, groups, leaves | `record`, `shared` or `term`; in groups `record` or `sensitive`; in leaves `kept`, `counted`, `listed` or `total` |
//! | `chunk` | uint32 | clusters | the number of the chunk among those of its kind, from 0 |
//! | `items` | list of dictionary of text | all | the items |
//! | `count` | uint32, uint64 with leaves | all | how often they occur; null for a term chunk and listed items, which do not say |
//!
//! A term chunk is one row, also if it is empty: so every simple cluster has a
//! row. So are the listed items of a leaf. The records of a group that have no
//! item but sensitive ones, and those of a leaf that keep nothing, are one row
//! without items. Totals come last, an item a row. All batches of one body share one dictionary of items.

use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, DictionaryArray, Int8Array, Int32Array, ListArray, RecordBatch, StringArray,
    UInt32Array, UInt64Array,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use super::blocks::ClusterBlock;
use crate::data::{ItemId, Vocabulary};
use crate::release::{Bag, Body, Cluster, Disassociated, Group, Leaf, Located};
use crate::{Error, Result};

/// The kinds of rows; the column holds their numbers.
const KINDS: [&str; 8] =
    ["record", "shared", "term", "sensitive", "kept", "counted", "listed", "total"];
const RECORD: i8 = 0;
const SHARED: i8 = 1;
const TERM: i8 = 2;
const SENSITIVE: i8 = 3;
const KEPT: i8 = 4;
const COUNTED: i8 = 5;
const LISTED: i8 = 6;
const TOTAL: i8 = 7;
/// What the offsets of a list can count.
const MOST: usize = i32::MAX as usize;

/// The rows of a release, in batches of bounded size.
pub struct ReleaseBatches<'a> {
    body: Rows<'a>,
    schema: SchemaRef,
    labels: ArrayRef,
    kinds: ArrayRef,
    /// Rows in a batch.
    rows: usize,
    /// The next cluster, class, group, leaf or total, and the number of the first one.
    next: usize,
    first: u64,
    /// Rows that are made and not handed out.
    page: Option<RecordBatch>,
}

/// What the rows are made of.
enum Rows<'a> {
    Clusters(&'a [Cluster]),
    Classes(&'a Bag),
    Groups(&'a [Group]),
    Leaves(&'a Located),
}

impl<'a> ReleaseBatches<'a> {
    /// The batches of a body, each of at most `rows` rows.
    pub fn new(body: &'a Body, rows: usize) -> Result<Self> {
        match body {
            Body::Disassociated(body) => Self::clusters(body, 0, rows),
            Body::Generalized(body) => {
                let fields = vec![Field::new("class", DataType::UInt64, false)];
                Self::make(Rows::Classes(&body.classes), fields, &body.vocabulary, 0, rows)
            }
            Body::Grouped(body) => {
                let mut fields = vec![Field::new("group", DataType::UInt64, false)];
                fields.extend([size(), kind()]);
                Self::make(Rows::Groups(&body.groups), fields, &body.vocabulary, 0, rows)
            }
            Body::Located(body) => {
                let number = Field::new("leaf", DataType::UInt64, true);
                let fields = vec![number, size().with_nullable(true), kind()];
                Self::make(Rows::Leaves(body), fields, &body.vocabulary, 0, rows)
            }
        }
    }

    /// The batches of one block of a release that is read block by block.
    pub fn of_block(block: &'a ClusterBlock, rows: usize) -> Result<Self> {
        Self::clusters(&block.body, block.first_cluster, rows)
    }

    fn clusters(body: &'a Disassociated, first: u64, rows: usize) -> Result<Self> {
        let fields = vec![
            Field::new("cluster", DataType::UInt64, false),
            Field::new("path", list(DataType::UInt32), false),
            size(),
            kind(),
            Field::new("chunk", DataType::UInt32, false),
        ];
        Self::make(Rows::Clusters(&body.clusters), fields, &body.vocabulary, first, rows)
    }

    fn make(
        body: Rows<'a>,
        mut fields: Vec<Field>,
        vocabulary: &Vocabulary,
        first: u64,
        rows: usize,
    ) -> Result<Self> {
        let text: usize = vocabulary.labels().map(str::len).sum();
        fits("bytes of labels", text.max(vocabulary.len()))?;
        let items = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        fields.push(Field::new("items", list(items), false));
        fields.push(match body {
            Rows::Clusters(_) => Field::new("count", DataType::UInt32, true),
            Rows::Classes(_) | Rows::Groups(_) => Field::new("count", DataType::UInt32, false),
            // Totals go over all leaves.
            Rows::Leaves(_) => Field::new("count", DataType::UInt64, true),
        });
        Ok(Self {
            body,
            schema: Arc::new(Schema::new(fields)),
            labels: Arc::new(StringArray::from_iter_values(vocabulary.labels())),
            kinds: Arc::new(StringArray::from_iter_values(KINDS)),
            rows: rows.max(1),
            next: 0,
            first,
            page: None,
        })
    }

    /// The columns.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Makes at least one batch of rows, from whole clusters, classes or groups.
    fn make_page(&mut self) -> Result<Option<RecordBatch>> {
        let mut page = Page::default();
        while page.count.len() < self.rows {
            let number = self.first + self.next as u64;
            match self.body {
                Rows::Clusters(clusters) => {
                    let Some(cluster) = clusters.get(self.next) else { break };
                    page.cluster(number, cluster, &mut Vec::new());
                }
                Rows::Classes(classes) => {
                    if self.next >= classes.len() {
                        break;
                    }
                    let (items, count) = classes.get(self.next);
                    page.row(Some(number), items, Some(count.into()));
                }
                Rows::Groups(groups) => {
                    let Some(group) = groups.get(self.next) else { break };
                    page.group(number, group);
                }
                Rows::Leaves(body) => {
                    let Some(leaf) = body.leaves.get(self.next) else {
                        let Some(total) = body.totals.get(self.next - body.leaves.len()) else {
                            break;
                        };
                        page.place_in(None, TOTAL);
                        page.row(None, &[total.0], Some(total.1));
                        self.next += 1;
                        continue;
                    };
                    page.leaf(number, leaf);
                }
            }
            self.next += 1;
        }
        if page.count.is_empty() {
            return Ok(None);
        }
        fits("items in a batch", page.items.len().max(page.path.len()))?;
        page.finish(&self.schema, &self.labels, &self.kinds).map(Some).map_err(|e| {
            Error::Infeasible {
                what: e.to_string(),
                hint: "this is a mistake of the program".into(),
            }
        })
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let page = match self.page.take() {
            Some(page) => page,
            None => match self.make_page()? {
                None => return Ok(None),
                Some(page) => page,
            },
        };
        if page.num_rows() <= self.rows {
            return Ok(Some(page));
        }
        self.page = Some(page.slice(self.rows, page.num_rows() - self.rows));
        Ok(Some(page.slice(0, self.rows)))
    }
}

impl Iterator for ReleaseBatches<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

fn fits(what: &'static str, found: usize) -> Result<()> {
    if found <= MOST {
        return Ok(());
    }
    let hint = "Arrow's lists cannot hold more: split the release";
    Err(Error::TooLarge { what, found: found as u64, limit: MOST as u64, hint })
}

fn list(of: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", of, false)))
}

fn size() -> Field {
    Field::new("size", DataType::UInt32, false)
}

fn kind() -> Field {
    let kind = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    Field::new("kind", kind, false)
}

/// Rows in the making, column by column. Columns that the body does not have
/// stay empty.
#[derive(Default)]
struct Page {
    number: Vec<Option<u64>>,
    path: Vec<u32>,
    path_ends: Vec<usize>,
    size: Vec<Option<u32>>,
    kind: Vec<i8>,
    chunk: Vec<u32>,
    items: Vec<i32>,
    item_ends: Vec<usize>,
    count: Vec<Option<u64>>,
}

impl Page {
    fn row(&mut self, number: Option<u64>, items: &[ItemId], count: Option<u64>) {
        self.number.push(number);
        self.items.extend(items.iter().map(|&item| item as i32));
        self.item_ends.push(self.items.len());
        self.count.push(count);
    }

    /// The chunks of a cluster and of those below it, from the top down.
    fn cluster(&mut self, number: u64, cluster: &Cluster, path: &mut Vec<u32>) {
        let own = if matches!(cluster, Cluster::Simple(_)) { RECORD } else { SHARED };
        for (chunk, bag) in cluster.chunks().iter().enumerate() {
            for (items, count) in bag.iter() {
                self.place(path, cluster.size(), own, chunk as u32);
                self.row(Some(number), items, Some(count.into()));
            }
        }
        if let Cluster::Simple(simple) = cluster {
            self.place(path, simple.size, TERM, 0);
            self.row(Some(number), &simple.term_chunk, None);
        }
        for (i, child) in cluster.children().iter().enumerate() {
            path.push(i as u32);
            self.cluster(number, child, path);
            path.pop();
        }
    }

    fn place(&mut self, path: &[u32], size: u32, kind: i8, chunk: u32) {
        self.path.extend_from_slice(path);
        self.path_ends.push(self.path.len());
        self.place_in(Some(size), kind);
        self.chunk.push(chunk);
    }

    fn place_in(&mut self, size: Option<u32>, kind: i8) {
        self.size.push(size);
        self.kind.push(kind);
    }

    fn group(&mut self, number: u64, group: &Group) {
        let mut row = |kind: i8, items: &[ItemId], count: u32| {
            self.place_in(Some(group.size), kind);
            self.row(Some(number), items, Some(count.into()));
        };
        let rest = u64::from(group.size).saturating_sub(group.records.total());
        if rest > 0 {
            row(RECORD, &[], rest as u32);
        }
        group.records.iter().for_each(|(items, count)| row(RECORD, items, count));
        group.sensitive.iter().for_each(|&(item, count)| row(SENSITIVE, &[item], count));
    }

    fn leaf(&mut self, number: u64, leaf: &Leaf) {
        let mut row = |kind: i8, items: &[ItemId], count: Option<u64>| {
            self.place_in(Some(leaf.size), kind);
            self.row(Some(number), items, count);
        };
        if leaf.bare() > 0 {
            row(KEPT, &[], Some(leaf.bare()));
        }
        leaf.kept.iter().for_each(|(items, count)| row(KEPT, items, Some(count.into())));
        leaf.counted.iter().for_each(|&(item, count)| row(COUNTED, &[item], Some(count.into())));
        row(LISTED, &leaf.listed, None);
    }

    fn finish(
        self,
        schema: &SchemaRef,
        labels: &ArrayRef,
        kinds: &ArrayRef,
    ) -> Result<RecordBatch, ArrowError> {
        let keys = Int32Array::from(self.items);
        let items: ArrayRef =
            Arc::new(DictionaryArray::<Int32Type>::try_new(keys, labels.clone())?);
        let wide = schema.field_with_name("count")?.data_type() == &DataType::UInt64;
        let counts: ArrayRef = if wide {
            Arc::new(UInt64Array::from(self.count))
        } else {
            let narrow = |count: Option<u64>| count.map(|count| count as u32);
            Arc::new(self.count.into_iter().map(narrow).collect::<UInt32Array>())
        };
        let columns = [
            ("path", list_of(self.path_ends, Arc::new(UInt32Array::from(self.path)))?),
            ("size", Arc::new(UInt32Array::from(self.size)) as ArrayRef),
            (
                "kind",
                Arc::new(DictionaryArray::<Int8Type>::try_new(
                    Int8Array::from(self.kind),
                    kinds.clone(),
                )?),
            ),
            ("chunk", Arc::new(UInt32Array::from(self.chunk))),
            ("items", list_of(self.item_ends, items)?),
            ("count", counts),
        ];
        let mut all: Vec<ArrayRef> = vec![Arc::new(UInt64Array::from(self.number))];
        let wanted = |name: &str| schema.field_with_name(name).is_ok();
        all.extend(columns.into_iter().filter(|(name, _)| wanted(name)).map(|(_, column)| column));
        RecordBatch::try_new(schema.clone(), all)
    }
}

/// A column of lists, of which list `i` ends at `ends[i]`.
fn list_of(ends: Vec<usize>, values: ArrayRef) -> Result<ArrayRef, ArrowError> {
    let offsets: Vec<i32> = std::iter::once(0).chain(ends.iter().map(|&end| end as i32)).collect();
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let field = Arc::new(Field::new("item", values.data_type().clone(), false));
    Ok(Arc::new(ListArray::try_new(field, offsets, values, None)?))
}
