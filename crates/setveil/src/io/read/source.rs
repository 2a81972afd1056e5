//! Where bytes come from: a file, a stream, memory; compressed or not, in
//! UTF-8 or another encoding.
//!
//! Files are read, not mapped: a file that another program shortens meanwhile
//! is an error and not the end of this one. Every read asks whether to go on.

use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::compression::{Compression, MAGIC};
use super::encoding::Encoding;
use super::positioned::Positioned;
use super::stopping::{Broken, Watched, fill, read_error};
use super::{Assumption, ReadOptions};
use crate::{Error, Progress, Result, Stage};

/// How much of the beginning is kept to look at.
const HEAD: usize = 1 << 16;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// An open input.
pub(super) struct Source<'a> {
    name: PathBuf,
    /// The first bytes as UTF-8, or as they are; they are part of the content too.
    head: Vec<u8>,
    /// How many bytes of the head are not data.
    start: usize,
    content: Content<'a>,
    progress: &'a dyn Progress,
    /// What was taken for granted.
    pub(super) assumed: Vec<Assumption>,
}

/// Bytes that are all there, or that come one after the other.
pub(super) enum Content<'a> {
    /// A file that can be read from any place.
    File(Positioned),
    /// Memory.
    Memory(&'a [u8]),
    /// Everything else, decompressed and decoded on the way, behind the head.
    /// The progress is the stream's affair.
    Stream(Box<dyn Read + Send + 'a>),
}

impl<'a> Source<'a> {
    /// Opens the file `path`.
    pub(super) fn open(
        path: &Path,
        options: &ReadOptions,
        progress: &'a dyn Progress,
    ) -> Result<Self> {
        let fail = |e| Error::io(path, e);
        let file = File::open(path).map_err(|e| match e.kind() {
            ErrorKind::NotFound => {
                Error::input(path, None, "there is no such file", "check the name")
            }
            _ => fail(e),
        })?;
        let meta = file.metadata().map_err(fail)?;
        if meta.is_dir() {
            return Err(Error::input(path, None, "this is a directory", "name a file"));
        }
        if !meta.is_file() {
            return Self::stream(path, Box::new(file), options, progress);
        }
        progress.stage(Stage::Reading, Some(meta.len()));
        let file = match Positioned::new(file, meta.len()) {
            Ok(file) => file,
            Err(file) => {
                let counted = Box::new(Watched::new(file, progress, true));
                return Self::decode(path, counted, options, progress);
            }
        };
        let head = fill(&mut file.reader(0), HEAD).map_err(|e| read_error(path, e))?;
        if Compression::of(&head).is_some() || Encoding::of(&head, options).is_some() {
            let whole = Box::new(Watched::new(file.into_reader(0), progress, true));
            return Self::decode(path, whole, options, progress);
        }
        Ok(Self::plain(path, head, Content::File(file), progress))
    }

    /// Takes a stream; `name` is for messages.
    pub(super) fn stream(
        name: &Path,
        stream: Box<dyn Read + Send + 'a>,
        options: &ReadOptions,
        progress: &'a dyn Progress,
    ) -> Result<Self> {
        progress.stage(Stage::Reading, None);
        let counted = Box::new(Watched::new(stream, progress, true));
        Self::decode(name, counted, options, progress)
    }

    /// Takes bytes that are in memory; `name` is for messages.
    pub(super) fn memory(name: &Path, bytes: &'a [u8], options: &ReadOptions) -> Result<Self> {
        if Compression::of(bytes).is_some() || Encoding::of(bytes, options).is_some() {
            return Self::decode(name, Box::new(bytes), options, &());
        }
        let head = bytes[..bytes.len().min(HEAD)].to_vec();
        Ok(Self::plain(name, head, Content::Memory(bytes), &()))
    }

    fn plain(name: &Path, head: Vec<u8>, content: Content<'a>, progress: &'a dyn Progress) -> Self {
        let start = if head.starts_with(BOM) { BOM.len() } else { 0 };
        Self { name: name.to_owned(), head, start, content, progress, assumed: Vec::new() }
    }

    /// Looks at the first bytes, then decompresses and decodes if they say so.
    fn decode(
        name: &Path,
        mut raw: Box<dyn Read + Send + 'a>,
        options: &ReadOptions,
        progress: &'a dyn Progress,
    ) -> Result<Self> {
        let fail = |e| read_error(name, e);
        let head = fill(&mut raw, MAGIC).map_err(fail)?;
        let kind = Compression::of(&head);
        let whole = Cursor::new(head).chain(raw);
        let stream: Box<dyn Read + Send + 'a> = match kind {
            None => Box::new(whole),
            Some(Compression::Gzip) => Box::new(flate2::bufread::MultiGzDecoder::new(
                BufReader::with_capacity(1 << 16, whole),
            )),
            Some(Compression::Zstd) => {
                Box::new(zstd::Decoder::new(whole).map_err(|e| Error::io(name, e))?)
            }
            Some(Compression::Other(kind)) => {
                let hint = "decompress it first; gzip and zstd are read as they are";
                return Err(Error::input(name, None, format!("this is {kind}"), hint));
            }
        };
        let mut stream: Box<dyn Read + Send + 'a> =
            Box::new(Watched::new(Broken { kind, stream }, progress, false));
        let mut head = fill(&mut stream, HEAD).map_err(fail)?;
        let mut assumed = Vec::new();
        if let Some(encoding) = Encoding::of(&head, options) {
            if options.encoding.is_none() {
                assumed.push(Assumption::Encoding(encoding));
            }
            stream = Box::new(encoding.decoder(Cursor::new(head).chain(stream)));
            head = fill(&mut stream, HEAD).map_err(fail)?;
        }
        let mut source = Self::plain(name, head, Content::Stream(stream), progress);
        source.assumed = assumed;
        Ok(source)
    }

    /// The name for messages.
    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    /// The beginning of the data.
    pub(super) fn head(&self) -> &[u8] {
        &self.head[self.start..]
    }

    /// Leaves out bytes of the head.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.start = (self.start + bytes).min(self.head.len());
    }

    /// The bytes one after the other.
    pub(super) fn into_reader(self) -> Box<dyn Read + Send + 'a> {
        match self.content {
            Content::File(file) => {
                let data = file.into_reader(self.start as u64);
                Box::new(Watched::new(data, self.progress, true))
            }
            Content::Memory(bytes) => Box::new(&bytes[self.start..]),
            Content::Stream(stream) => {
                let mut head = self.head;
                head.drain(..self.start);
                Box::new(Cursor::new(head).chain(stream))
            }
        }
    }

    /// The content from `start` on, and who watches.
    pub(super) fn into_parts(self) -> (Content<'a>, u64, &'a dyn Progress) {
        let progress = self.progress;
        match self.content {
            Content::File(file) => (Content::File(file), self.start as u64, progress),
            Content::Memory(bytes) => (Content::Memory(&bytes[self.start..]), 0, progress),
            Content::Stream(_) => (Content::Stream(self.into_reader()), 0, progress),
        }
    }
}
