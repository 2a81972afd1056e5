//! Compressions by their first bytes.

/// As much as must be seen to tell the compression.
pub(super) const MAGIC: usize = 10;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Zstd,
    /// One that is known by name only.
    Other(&'static str),
}

const OTHERS: &[(&[u8], &str)] = &[
    (b"\xfd7zXZ\x00", "xz data"),
    (b"\x04\x22\x4d\x18", "LZ4 data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"\x1f\x9d", "data of Unix compress (.Z)"),
    (b"\xff\x06\x00\x00sNaPpY", "Snappy data"),
    (b"LZIP\x01", "lzip data"),
    (b"PK\x03\x04", "a zip archive (an Excel workbook is one, too: save it as CSV)"),
];

impl Compression {
    /// The compression that the first bytes tell.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(b"\x1f\x8b") {
            return Some(Self::Gzip);
        }
        if head.starts_with(b"\x28\xb5\x2f\xfd") {
            return Some(Self::Zstd);
        }
        // `BZh1` alone could be an item.
        if head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY") {
            return Some(Self::Other("bzip2 data"));
        }
        let known = OTHERS.iter().find(|(magic, _)| head.starts_with(magic));
        known.map(|(_, name)| Self::Other(name))
    }

    /// The name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Other(name) => name,
        }
    }
}
