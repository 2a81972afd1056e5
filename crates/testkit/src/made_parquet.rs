//! Parquet files that are made byte by byte: what no writer makes.

/// The fields of a structure of Thrift's compact protocol, in ascending order of their numbers.
#[derive(Clone, Default)]
pub struct Fields {
    bytes: Vec<u8>,
    last: u8,
}

/// A number of the protocol.
pub fn varint(mut n: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while n >= 128 {
        bytes.push(n as u8 | 128);
        n >>= 7;
    }
    bytes.push(n as u8);
    bytes
}

fn zigzag(n: i64) -> Vec<u8> {
    varint((n << 1 ^ n >> 63) as u64)
}

fn text(text: &[u8]) -> Vec<u8> {
    [varint(text.len() as u64), text.to_vec()].concat()
}

impl Fields {
    /// A field of any type.
    pub fn raw(mut self, number: u8, kind: u8, value: &[u8]) -> Self {
        self.bytes.push((number - self.last) << 4 | kind);
        self.bytes.extend(value);
        self.last = number;
        self
    }

    /// A number of 32 bits.
    pub fn i32(self, number: u8, value: i64) -> Self {
        self.raw(number, 5, &zigzag(value))
    }

    /// A number of 64 bits.
    pub fn i64(self, number: u8, value: i64) -> Self {
        self.raw(number, 6, &zigzag(value))
    }

    /// A text.
    pub fn text(self, number: u8, value: &[u8]) -> Self {
        self.raw(number, 8, &text(value))
    }

    /// A structure.
    pub fn of(self, number: u8, value: Self) -> Self {
        self.raw(number, 12, &value.end())
    }

    /// A list of elements of one type.
    pub fn list(self, number: u8, kind: u8, elements: &[Vec<u8>]) -> Self {
        let head = [vec![0xf0 | kind], varint(elements.len() as u64)].concat();
        self.raw(number, 9, &[head, elements.concat()].concat())
    }

    /// The structure.
    pub fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// A node of a schema: texts, or a group of so many.
pub fn node(name: &[u8], children: Option<i64>) -> Vec<u8> {
    match children {
        None => Fields::default().i32(1, 6).i32(3, 0).text(4, name).end(),
        Some(children) => Fields::default().i32(3, 0).text(4, name).i32(5, children).end(),
    }
}

/// A chunk of a column: its pages, and what the footer says of them.
#[derive(Clone)]
pub struct Chunk {
    /// Its pages.
    pub pages: Vec<u8>,
    /// Where it begins, if not where it does.
    pub start: Option<i64>,
    /// How long it is, if not as long as it is.
    pub length: Option<i64>,
    /// How it is compressed.
    pub codec: i64,
}

impl Chunk {
    /// The chunk of these pages.
    pub fn of(pages: Vec<u8>) -> Self {
        Self { pages, start: None, length: None, codec: 0 }
    }
}

/// A page of texts, with a header that `more` adds to.
pub fn page(texts: &[&str], more: impl FnOnce(Fields) -> Fields) -> Vec<u8> {
    let long = |text: &&str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let data: Vec<u8> = texts.iter().flat_map(long).collect();
    let size = data.len() as i64;
    let about = Fields::default().i32(1, texts.len() as i64).i32(2, 0).i32(3, 3).i32(4, 3);
    let header = Fields::default().i32(1, 0).i32(2, size).i32(3, size).of(5, about);
    [more(header).end(), data].concat()
}

/// A page in an encoding in which lengths are differences: `lists` of them, which say how many they are, then the texts.
pub fn deltas(values: usize, lists: &[(u64, &[u8])], texts: &[u8], version: u8) -> Vec<u8> {
    let list = |&(count, lengths): &(u64, &[u8])| {
        let first = u64::from(lengths.first().copied().unwrap_or(0));
        // Blocks of 128 differences in four parts; all lengths are equal, so no difference has a bit.
        let head = [varint(128), varint(4), varint(count), varint(first << 1)].concat();
        [head, if lengths.len() > 1 { vec![0; 5] } else { Vec::new() }].concat()
    };
    let data = [lists.iter().flat_map(list).collect(), texts.to_vec()].concat();
    let encoding = if lists.len() == 1 { 6 } else { 7 };
    let (size, values) = (data.len() as i64, values as i64);
    let header = Fields::default().i32(1, if version == 1 { 0 } else { 3 });
    let header = header.i32(2, size).i32(3, size);
    let about = Fields::default().i32(1, values);
    let header = match version {
        1 => header.of(5, about.i32(2, encoding).i32(3, 3).i32(4, 3)),
        _ => header.of(8, about.i32(2, 0).i32(3, values).i32(4, encoding).i32(5, 0).i32(6, 0)),
    };
    [header.end(), data].concat()
}

/// A table of texts, with columns of these names in one row group.
pub fn table(rows: i64, columns: &[(&str, Chunk)]) -> Vec<u8> {
    let mut file = b"PAR1".to_vec();
    let mut chunks = Vec::new();
    for (name, chunk) in columns {
        let start = chunk.start.unwrap_or(file.len() as i64);
        let length = chunk.length.unwrap_or(chunk.pages.len() as i64);
        let about = Fields::default().i32(1, 6).list(2, 5, &[zigzag(0)]);
        let about = about.list(3, 8, &[text(name.as_bytes())]).i32(4, chunk.codec);
        let about = about.i64(5, rows).i64(6, length).i64(7, length).i64(9, start);
        chunks.push(Fields::default().i64(2, start).of(3, about).end());
        file.extend(&chunk.pages);
    }
    let group = Fields::default().list(1, 12, &chunks).i64(2, file.len() as i64).i64(3, rows);
    let mut nodes = vec![node(b"schema", Some(columns.len() as i64))];
    nodes.extend(columns.iter().map(|(name, _)| node(name.as_bytes(), None)));
    with_footer(file, &nodes, rows, &[group.end()])
}

/// Pages, then a footer with this schema.
pub fn with_footer(pages: Vec<u8>, nodes: &[Vec<u8>], rows: i64, groups: &[Vec<u8>]) -> Vec<u8> {
    let footer = Fields::default().i32(1, 1).list(2, 12, nodes).i64(3, rows).list(4, 12, groups);
    let footer = footer.end();
    let length = (footer.len() as u32).to_le_bytes();
    [pages, footer, length.to_vec(), b"PAR1".to_vec()].concat()
}

/// A file whose footer says of `pages` that they are the texts of a column `what`, beside a column `who`.
pub fn long_table(pages: &[u8]) -> Vec<u8> {
    let who = page(&["p", "p", "q", "q"], |header| header);
    table(4, &[("who", Chunk::of(who)), ("what", Chunk::of(pages.to_vec()))])
}

/// A run in the encoding of levels and of numbers of a dictionary, of values of at most eight bits.
fn run(count: u64, value: u8) -> Vec<u8> {
    [varint(count << 1), vec![value]].concat()
}

/// A column of lists with one row: the same item, so often in each of so many pages. A page is a few bytes, and
/// the footer speaks of more `rows`.
pub fn one_list(items: u64, pages: usize, rows: i64) -> Vec<u8> {
    let levels = |runs: Vec<u8>| [(runs.len() as u32).to_le_bytes().to_vec(), runs].concat();
    let header = |kind, data: &[u8]| {
        let size = data.len() as i64;
        Fields::default().i32(1, kind).i32(2, size).i32(3, size)
    };
    let text = b"\x01\0\0\0a";
    let about = Fields::default().i32(1, 1).i32(2, 0);
    let dictionary = [header(2, text).of(7, about).end(), text.to_vec()].concat();
    let page = |number| {
        let first = if number == 0 { run(1, 0) } else { Vec::new() };
        let repeated = [first, run(items - u64::from(number == 0), 1)].concat();
        let data = [levels(repeated), levels(run(items, 1)), vec![1], run(items, 0)].concat();
        let about = Fields::default().i32(1, items as i64).i32(2, 8).i32(3, 3).i32(4, 3);
        [header(0, &data).of(5, about).end(), data].concat()
    };
    let pages: Vec<u8> = (0..pages).flat_map(page).collect();
    let length = (dictionary.len() + pages.len()) as i64;
    let about = Fields::default().i32(1, 6).list(2, 5, &[zigzag(0)]).list(3, 8, &[]).i32(4, 0);
    let about = about.i64(5, 1).i64(6, length).i64(7, length);
    let about = about.i64(9, 4 + dictionary.len() as i64).i64(11, 4);
    let chunk = Fields::default().i64(2, 4).of(3, about).end();
    let group = Fields::default().list(1, 12, &[chunk]).i64(2, length).i64(3, rows);
    let list = Fields::default().i32(3, 0).text(4, b"what").i32(5, 1).i32(6, 3).end();
    let repeated = Fields::default().i32(3, 2).text(4, b"list").i32(5, 1).end();
    let nodes = [node(b"schema", Some(1)), list, repeated, node(b"element", None)];
    with_footer([b"PAR1".to_vec(), dictionary, pages].concat(), &nodes, rows, &[group.end()])
}
