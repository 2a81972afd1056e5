//! The pages of a Parquet file, before the decoder gets them.
//!
//! A chunk of a column is pages one after the other, each with a header that says how long the page is. Here
//! every header of the columns that will be read is walked over as the footer was, in the order in which the
//! decoder reads them. So it is known beforehand how large the largest page becomes: the decoder holds one page
//! and one dictionary a column.

use bytes::Bytes as Buffer;
use parquet::basic::{Compression, Type};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::ChunkReader;

use super::footer::STATISTICS;
use super::walk::Field::{self, Is, Kept, Of};
use super::walk::{Bytes, I32, Key, Stop, TRUE, Walk, Walked};
use super::watch::Costs;
use crate::Progress;

const PAGE_HEADER: &[(i16, Field)] = &[
    (1, Kept(Key::Kind)),
    (2, Kept(Key::Uncompressed)),
    (3, Kept(Key::Compressed)),
    (4, Is(I32)),
    (5, Of(DATA_PAGE)),
    (6, Of(&[])),
    (7, Of(&[(1, Kept(Key::DictionaryValues)), (2, Is(I32)), (3, Is(TRUE))])),
    (8, Of(DATA_PAGE_V2)),
];
const DATA_PAGE: &[(i16, Field)] = &[
    (1, Kept(Key::Values)),
    (2, Kept(Key::Encoding)),
    (3, Is(I32)),
    (4, Is(I32)),
    (5, Of(STATISTICS)),
];
const DATA_PAGE_V2: &[(i16, Field)] = &[
    (1, Kept(Key::ValuesV2)),
    (2, Is(I32)),
    (3, Is(I32)),
    (4, Kept(Key::EncodingV2)),
    (5, Is(I32)),
    (6, Is(I32)),
    (7, Is(TRUE)),
    (8, Of(STATISTICS)),
];

/// Kinds of pages.
const DATA: i32 = 0;
const INDEX: i32 = 1;
const DICTIONARY: i32 = 2;
const V2: i32 = 3;
/// Encodings in which a few bits stand for a long value: its number in the dictionary, and
/// how much of it is as in the value before.
const PLAIN_DICTIONARY: i32 = 2;
const RLE_DICTIONARY: i32 = 8;
const DELTA_LENGTH_BYTE_ARRAY: i32 = 6;
const DELTA_BYTE_ARRAY: i32 = 7;
/// What the decoder takes for a value of a list, besides its bytes: levels, a number, an offset.
const LEVELS: u64 = 16;
/// How much of a file is read at once.
const WINDOW: u64 = 1 << 13;

/// A part of a file, read a little at a time.
struct Window<'a, R> {
    file: &'a R,
    /// Where the walk is, and where the part ends.
    at: u64,
    end: u64,
    /// What was read, and where it begins.
    read: Buffer,
    from: u64,
}

impl<R: ChunkReader> Bytes for Window<'_, R> {
    fn byte(&mut self) -> Walked<u8> {
        if self.at >= self.end {
            return Err(Stop::Wrong);
        }
        if self.at >= self.from + self.read.len() as u64 {
            let length = WINDOW.min(self.end - self.at) as usize;
            self.read = self.file.get_bytes(self.at, length).map_err(Stop::Unread)?;
            self.from = self.at;
        }
        let byte = self.read.get((self.at - self.from) as usize).ok_or(Stop::Wrong)?;
        self.at += 1;
        Ok(*byte)
    }

    fn skip(&mut self, bytes: u64) -> Walked {
        if bytes > self.left() {
            return Err(Stop::Wrong);
        }
        self.at += bytes;
        Ok(())
    }

    fn left(&self) -> u64 {
        self.end - self.at
    }
}

/// What the decoder takes at its highest for one column.
#[derive(Clone, Copy, Default)]
struct Column {
    page: u64,
    dictionary: u64,
    /// The bytes of its dictionary, which may all be one value.
    entry: u64,
    /// The bytes of one value at most; on average, if they all stand in a page.
    value: u64,
    /// The bytes of a row of lists, on average.
    list: u64,
}

/// What the decoder takes for all columns.
#[derive(Default)]
pub(super) struct Needs {
    pub(super) pages: u64,
    /// Of that, the dictionaries.
    pub(super) dictionaries: u64,
    /// For each row that it hands out at once.
    pub(super) row: u64,
    /// For each page.
    pub(super) costs: Costs,
    /// The chunks of which some pages say themselves how many lengths they have: numbers of row groups and columns.
    pub(super) deltas: Vec<(usize, usize)>,
}

/// A chunk that is walked over.
struct Chunk<'a> {
    metadata: &'a ColumnChunkMetaData,
    /// Whether bytes of the file are read into memory of their own.
    copied: bool,
    column: &'a mut Column,
    costs: &'a mut Costs,
    /// What its pages cost.
    sum: u64,
    /// Whether pages say themselves how many lengths they have.
    deltas: bool,
}

impl Chunk<'_> {
    fn is_list(&self) -> bool {
        self.metadata.column_descr().max_rep_level() > 0
    }

    /// A page, by its header.
    fn page<R: ChunkReader>(&mut self, walk: &mut Walk<'_, Window<'_, R>>) -> Walked {
        let kept = &walk.kept;
        let size = |key| kept.size(key).ok_or(Stop::Wrong);
        let (compressed, uncompressed) = (size(Key::Compressed)?, size(Key::Uncompressed)?);
        let plain = self.metadata.compression() == Compression::UNCOMPRESSED;
        let full = if plain { compressed } else { uncompressed };
        let held = if self.copied { compressed } else { 0 } + if plain { 0 } else { uncompressed };
        let column = &mut *self.column;
        match kept.get(Key::Kind) {
            Some(DICTIONARY) => {
                // Its texts are copied behind each other, with their offsets.
                let values = kept.size(Key::DictionaryValues).unwrap_or(0);
                column.dictionary = column.dictionary.max(held + 2 * full + 4 * values);
                column.entry = column.entry.max(full);
            }
            Some(kind @ (DATA | V2)) => {
                let keys = [(Key::Values, Key::Encoding), (Key::ValuesV2, Key::EncodingV2)];
                let (values, encoding) = keys[usize::from(kind == V2)];
                let (values, encoding) = (size(values)?, kept.get(encoding));
                let deltas = [Some(DELTA_LENGTH_BYTE_ARRAY), Some(DELTA_BYTE_ARRAY)];
                let deltas = deltas.contains(&encoding);
                self.deltas |= deltas;
                // Two lengths for a text.
                column.page = column.page.max(held + if deltas { 8 * values } else { 0 });
                let longest = match encoding {
                    Some(PLAIN_DICTIONARY | RLE_DICTIONARY) => column.entry,
                    Some(DELTA_BYTE_ARRAY) => full,
                    _ => full / values.max(1),
                };
                column.value = column.value.max(longest);
                let levels = if self.is_list() { values.saturating_mul(LEVELS) } else { 0 };
                let cost = full.saturating_add(levels);
                self.sum = self.sum.saturating_add(cost);
                self.costs.add(walk.bytes.at, cost, walk.bytes.file.len());
            }
            // Between the pages of a list the decoder looks into an index as if it were a page.
            Some(INDEX) if !self.is_list() => {}
            _ => return Err(Stop::Wrong),
        }
        walk.bytes.skip(compressed)
    }

    fn walk(
        &mut self,
        file: &impl ChunkReader,
        (at, end): (u64, u64),
        rows: u64,
        progress: &dyn Progress,
    ) -> Walked {
        self.costs.begin(at);
        let window = Window { file, at, end, read: Buffer::new(), from: at };
        let mut walk = Walk::new(window, progress);
        while walk.bytes.left() > 0 {
            walk.kept = Default::default();
            walk.whole(PAGE_HEADER)?;
            self.page(&mut walk)?;
        }
        if self.is_list() {
            self.column.list = self.column.list.max(self.sum / rows.max(1));
        }
        Ok(())
    }
}

/// Where a chunk begins and ends, if that is in the file.
fn range(chunk: &ColumnChunkMetaData, length: u64) -> Option<(u64, u64)> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let start = u64::try_from(start).ok()?;
    let end = start.checked_add(u64::try_from(chunk.compressed_size()).ok()?)?;
    (end <= length).then_some((start, end))
}

/// A chunk that is not as it must be: the number of its column, and why.
pub(super) type Fault = (usize, Stop);

/// The chunks of the columns that `read` names by their number, in the order of the file.
///
/// # Errors
/// The first column that lies outside of the file or where another one lies.
pub(super) fn places(
    metadata: &ParquetMetaData,
    read: impl Fn(usize) -> bool,
    length: u64,
) -> Result<Vec<(u64, u64, usize, usize)>, usize> {
    let mut places = Vec::new();
    for (group, columns) in metadata.row_groups().iter().enumerate() {
        for (leaf, chunk) in columns.columns().iter().enumerate().filter(|(leaf, _)| read(*leaf)) {
            let (start, end) = range(chunk, length).ok_or(leaf)?;
            if start < end {
                places.push((start, end, group, leaf));
            }
        }
    }
    places.sort_unstable();
    let twice = places.windows(2).find(|pair| pair[0].1 > pair[1].0);
    twice.map_or(Ok(()), |pair| Err(pair[1].3))?;
    Ok(places)
}

/// Walks over all pages at `places`.
///
/// # Errors
/// If a header is damaged, or a page is longer than its chunk.
pub(super) fn needs<R: ChunkReader>(
    file: &R,
    metadata: &ParquetMetaData,
    places: &[(u64, u64, usize, usize)],
    copied: bool,
    progress: &dyn Progress,
) -> Result<Needs, Fault> {
    let schema = metadata.file_metadata().schema_descr();
    let mut columns = vec![Column::default(); schema.num_columns()];
    let mut needs = Needs::default();
    for &(start, end, group, leaf) in places {
        let row_group = metadata.row_group(group);
        let (metadata, column, costs) =
            (row_group.column(leaf), &mut columns[leaf], &mut needs.costs);
        let mut chunk = Chunk { metadata, copied, column, costs, sum: 0, deltas: false };
        let rows = u64::try_from(row_group.num_rows()).unwrap_or(0);
        chunk.walk(file, (start, end), rows, progress).map_err(|stop| (leaf, stop))?;
        if chunk.deltas {
            needs.deltas.push((group, leaf));
        }
    }
    for (leaf, column) in columns.iter().enumerate() {
        needs.dictionaries = needs.dictionaries.saturating_add(column.dictionary);
        needs.pages = needs.pages.saturating_add(column.page).saturating_add(column.dictionary);
        let texts = [Type::BYTE_ARRAY, Type::FIXED_LEN_BYTE_ARRAY];
        let texts = texts.contains(&schema.column(leaf).physical_type());
        let value = if texts { column.value } else { 0 };
        needs.row = needs.row.saturating_add(value).saturating_add(column.list);
    }
    Ok(needs)
}
