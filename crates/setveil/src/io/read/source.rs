//! Where bytes come from: a mapped file, standard input or another stream,
//! memory; compressed or not.

use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind, IsTerminal, Read};
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use crate::{Error, Progress, Result, Stage};

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// As much as must be seen to tell the compression.
const MAGIC: usize = 4;

/// An open input.
pub(super) struct Source<'a> {
    name: PathBuf,
    content: Content<'a>,
    progress: &'a dyn Progress,
}

/// Bytes that are all there, or that come one after the other.
pub(super) enum Content<'a> {
    /// An uncompressed file.
    Mapped(Mmap),
    /// Uncompressed memory.
    Memory(&'a [u8]),
    /// Everything else, decompressed on the way. The progress is the stream's affair.
    Stream(Box<dyn Read + Send + 'a>),
}

impl<'a> Source<'a> {
    /// Opens `path`; `-` is standard input.
    pub(super) fn open(path: &Path, progress: &'a dyn Progress) -> Result<Self> {
        if path == Path::new("-") {
            let stdin = std::io::stdin();
            if stdin.is_terminal() {
                let hint = "pipe the data in, or name a file";
                return Err(Error::input("(standard input)", None, "this is a terminal", hint));
            }
            progress.stage(Stage::Reading, None);
            return Self::stream("(standard input)".into(), Box::new(stdin), progress);
        }
        let fail = |e| Error::io(path, e);
        let file = File::open(path).map_err(|e| match e.kind() {
            ErrorKind::NotFound => {
                Error::input(path, None, "there is no such file", "check the name")
            }
            _ => fail(e),
        })?;
        let meta = file.metadata().map_err(fail)?;
        if meta.is_dir() {
            let hint = "name a file, or `-` for standard input";
            return Err(Error::input(path, None, "this is a directory", hint));
        }
        if !meta.is_file() {
            progress.stage(Stage::Reading, None);
            return Self::stream(path.to_owned(), Box::new(file), progress);
        }
        progress.stage(Stage::Reading, Some(meta.len()));
        if meta.len() == 0 {
            return Ok(Self { name: path.to_owned(), content: Content::Memory(&[]), progress });
        }
        // SAFETY: the map is read only and lives as long as the reading. As with every
        // mapped file, a program that shortens the file meanwhile can end this one.
        let map = unsafe { Mmap::map(&file) }.map_err(fail)?;
        if compression(&map).is_some() {
            drop(map);
            let counted = Box::new(Counted { stream: file, progress });
            return Self::stream(path.to_owned(), counted, progress);
        }
        Ok(Self { name: path.to_owned(), content: Content::Mapped(map), progress })
    }

    /// Takes bytes that are in memory; `name` is for messages.
    pub(super) fn memory(name: &Path, bytes: &'a [u8]) -> Result<Self> {
        if compression(bytes).is_some() {
            return Self::stream(name.to_owned(), Box::new(bytes), &());
        }
        Ok(Self { name: name.to_owned(), content: Content::Memory(bytes), progress: &() })
    }

    /// Looks at the first bytes and decompresses if they say so.
    fn stream(
        name: PathBuf,
        mut raw: Box<dyn Read + Send + 'a>,
        progress: &'a dyn Progress,
    ) -> Result<Self> {
        let mut head = Vec::new();
        raw.by_ref().take(MAGIC as u64).read_to_end(&mut head).map_err(|e| Error::io(&name, e))?;
        let kind = compression(&head);
        let whole = Cursor::new(head).chain(raw);
        let stream: Box<dyn Read + Send + 'a> = match kind {
            None => Box::new(whole),
            Some("gzip") => Box::new(flate2::bufread::MultiGzDecoder::new(
                BufReader::with_capacity(1 << 16, whole),
            )),
            Some(_) => Box::new(zstd::Decoder::new(whole).map_err(|e| Error::io(&name, e))?),
        };
        let stream = Box::new(Broken { kind, stream });
        Ok(Self { name, content: Content::Stream(stream), progress })
    }

    /// The name for messages.
    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    /// The bytes one after the other.
    pub(super) fn into_reader(self) -> Box<dyn Read + Send + 'a> {
        let progress = self.progress;
        match self.content {
            Content::Mapped(map) => Box::new(Counted { stream: Cursor::new(map), progress }),
            Content::Memory(bytes) => Box::new(Counted { stream: bytes, progress }),
            Content::Stream(stream) => stream,
        }
    }

    /// The bytes all together.
    #[cfg(feature = "parquet")]
    pub(super) fn into_bytes(self) -> Result<bytes::Bytes> {
        match self.content {
            Content::Mapped(map) => Ok(bytes::Bytes::from_owner(map)),
            Content::Memory(bytes) => Ok(bytes::Bytes::copy_from_slice(bytes)),
            Content::Stream(mut stream) => {
                let mut bytes = Vec::new();
                stream.read_to_end(&mut bytes).map_err(|e| read_error(&self.name, e))?;
                Ok(bytes.into())
            }
        }
    }

    /// The bytes, and who watches.
    pub(super) fn into_parts(self) -> (Content<'a>, &'a dyn Progress) {
        (self.content, self.progress)
    }
}

impl Content<'_> {
    /// The bytes, if all of them are there.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Mapped(map) => Some(map),
            Self::Memory(bytes) => Some(bytes),
            Self::Stream(_) => None,
        }
    }
}

fn compression(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(GZIP) {
        Some("gzip")
    } else if head.starts_with(ZSTD) {
        Some("zstd")
    } else {
        None
    }
}

/// The error that a reading of `name` ends with.
pub(super) fn read_error(name: &Path, error: std::io::Error) -> Error {
    match error.get_ref().and_then(|e| e.downcast_ref::<BrokenData>()) {
        None => Error::io(name, error),
        Some(broken) => Error::input(
            name,
            None,
            broken.to_string(),
            "the file is damaged or incomplete: get it again",
        ),
    }
}

/// Says of an error of the decompressor which compression it is about.
struct Broken<'a> {
    kind: Option<&'static str>,
    stream: Box<dyn Read + Send + 'a>,
}

#[derive(Debug, thiserror::Error)]
#[error("broken {kind} data ({reason})")]
struct BrokenData {
    kind: &'static str,
    reason: String,
}

impl Read for Broken<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        self.stream.read(buf).map_err(|e| match (self.kind, e.kind()) {
            (_, ErrorKind::Interrupted) | (None, _) => e,
            (Some(kind), _) => std::io::Error::other(BrokenData { kind, reason: e.to_string() }),
        })
    }
}

/// A file whose progress is counted in its own bytes, before decompression.
struct Counted<'a, R> {
    stream: R,
    progress: &'a dyn Progress,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let read = self.stream.read(buf)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}
