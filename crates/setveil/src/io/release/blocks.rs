//! A release of clusters read block by block, in bounded memory.
//!
//! A block is a number of whole lines, as they stand in the file and parsed,
//! with a vocabulary of its own. Together the blocks are the whole body, in its
//! order, across the files. Nothing is kept but the block, the manifest, and
//! what was found out about the files.

use std::io::Read;

use super::files::{FileFault, Kind, Layout};
use super::read::{Files, number_clusters, parse_cluster, read_manifest};
use super::store::ReleaseSource;
use super::text::{Observed, Origin, as_text, fill, merge, parse_lines};
use crate::release::{Disassociated, FileEntry, Manifest};
use crate::{Error, Progress, Result, Stage};

/// Bytes of text in a block; one line may be longer.
const BLOCK: usize = 4 << 20;

/// Some consecutive clusters of a release.
#[derive(Clone, Debug)]
pub struct ClusterBlock {
    /// The file that they stand in.
    pub file: String,
    /// The number of the first line in that file, from 1.
    pub first_line: u64,
    /// The number of the first cluster in the whole release, from 0.
    pub first_cluster: u64,
    /// The lines as they stand in the file, line feeds included.
    pub text: Vec<u8>,
    /// The clusters, with a vocabulary of their own.
    pub body: Disassociated,
}

/// The blocks of a release, one after the other.
///
/// ```
/// use setveil::io::{ClusterBlocks, MemoryRelease, write_release_to};
/// use setveil::{Dataset, data::{K, M}, methods::disassociation};
///
/// let data = Dataset::from_records([["flu", "itunes"], ["flu", "itunes"], ["flu", "itunes"]]);
/// let parameters = disassociation::Parameters::new(K::new(2)?, M::new(2)?);
/// let release = disassociation::anonymize(&data, &parameters, &())?;
/// let mut memory = MemoryRelease::default();
/// write_release_to(&release, &mut memory, &())?;
/// let mut blocks = ClusterBlocks::open(&memory, &())?;
/// let mut records = 0;
/// for block in &mut blocks {
///     records += block?.body.records();
/// }
/// assert_eq!(records, 3);
/// assert!(blocks.finish()?.is_empty());
/// # Ok::<(), setveil::Error>(())
/// ```
pub struct ClusterBlocks<'a> {
    source: &'a dyn ReleaseSource,
    progress: &'a dyn Progress,
    manifest: Manifest,
    /// The files that are not read yet, the next one last.
    entries: Vec<FileEntry>,
    open: Option<OpenFile<'a>>,
    clusters: u64,
    block: usize,
    faults: Vec<FileFault>,
    /// Faults of files that are not read; they come last, as in a whole reading.
    unknown: Vec<FileFault>,
    /// After an error there is nothing more.
    failed: bool,
}

/// A file that is being read.
struct OpenFile<'a> {
    entry: FileEntry,
    file: Box<dyn Read + Send + 'a>,
    observed: Observed,
    /// Bytes that were read and not handed out: less than a line, after the cut.
    rest: Vec<u8>,
    /// Lines that were handed out.
    lines: u64,
    ended: bool,
}

impl<'a> ClusterBlocks<'a> {
    /// Opens a release of clusters.
    ///
    /// # Errors
    /// If it holds classes or groups, besides what any reading can fail with.
    pub fn open(source: &'a dyn ReleaseSource, progress: &'a dyn Progress) -> Result<Self> {
        Self::find(source, progress)?.ok_or_else(|| {
            let found = "the body holds no clusters";
            let hint = "only a release of clusters is read block by block";
            Error::input(source.path(""), None, found, hint)
        })
    }

    /// Opens a release; none if its body holds something else than clusters.
    ///
    /// # Errors
    /// What any reading can fail with.
    pub fn find(source: &'a dyn ReleaseSource, progress: &'a dyn Progress) -> Result<Option<Self>> {
        let manifest = read_manifest(source, progress)?;
        let mut faults = Vec::new();
        let layout = Layout::of(&manifest, source, &mut faults)?;
        if layout.kind != Kind::Clusters {
            return Ok(None);
        }
        progress.stage(Stage::Reading, Some(layout.bytes()));
        let mut others = Files { source, progress, faults: Vec::new() };
        layout.explained.iter().try_for_each(|entry| others.look_at(entry))?;
        let mut unknown = others.faults;
        layout.unknown(&manifest, source, &mut unknown)?;
        let entries = layout.body.iter().rev().map(|entry| (*entry).clone()).collect();
        Ok(Some(Self { faults, unknown, ..Self::new(source, manifest, entries, progress) }))
    }

    /// Opens one file of a release of clusters; `source` needs no other but the
    /// manifest.
    ///
    /// # Errors
    /// If the manifest lists no such file of clusters, besides what any reading
    /// can fail with.
    pub fn of_file(
        source: &'a dyn ReleaseSource,
        name: &str,
        progress: &'a dyn Progress,
    ) -> Result<Self> {
        let manifest = read_manifest(source, progress)?;
        let layout = Layout::of(&manifest, source, &mut Vec::new())?;
        let listed = layout.body.iter().find(|entry| entry.name == name);
        let Some(entry) = listed.filter(|_| layout.kind == Kind::Clusters) else {
            let found = format!("the manifest lists no clusters in {name}");
            return Err(Error::input(source.path(name), None, found, "name one of its files"));
        };
        let entries = vec![(*entry).clone()];
        Ok(Self::new(source, manifest, entries, progress))
    }

    fn new(
        source: &'a dyn ReleaseSource,
        manifest: Manifest,
        entries: Vec<FileEntry>,
        progress: &'a dyn Progress,
    ) -> Self {
        Self {
            source,
            progress,
            manifest,
            entries,
            open: None,
            clusters: 0,
            // The text, what is parsed of it, and what is made of that.
            block: BLOCK.min((progress.budget().bytes() / 16).max(1) as usize),
            faults: Vec::new(),
            unknown: Vec::new(),
            failed: false,
        }
    }

    /// The files of clusters that are not read yet, in their order: whoever has
    /// read them elsewhere takes the names and what is wrong with the list
    /// before them and behind them.
    pub fn elsewhere(self) -> (Vec<String>, Vec<FileFault>, Vec<FileFault>) {
        let names = self.entries.into_iter().rev().map(|entry| entry.name);
        (names.collect(), self.faults, self.unknown)
    }

    /// Sets about how many bytes of text a block has.
    pub fn block_bytes(mut self, bytes: usize) -> Self {
        self.block = bytes.max(1);
        self
    }

    /// What the release promises.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Reads what is left, and says what is wrong with the files.
    pub fn finish(mut self) -> Result<Vec<FileFault>> {
        for block in self.by_ref() {
            block?;
        }
        self.faults.append(&mut self.unknown);
        Ok(self.faults)
    }

    /// The next lines, or none after the last file.
    fn next_lines(&mut self) -> Result<Option<(String, u64, Vec<u8>)>> {
        loop {
            let Some(open) = &mut self.open else {
                let Some(entry) = self.entries.pop() else { return Ok(None) };
                let (file, _) = self.source.open(&entry.name)?;
                self.open = Some(OpenFile::new(entry, file));
                continue;
            };
            let name = open.entry.name.clone();
            let fail = |e| Error::io(self.source.path(&name), e);
            let first_line = open.lines + 1;
            if let Some(text) = open.lines(self.block, self.progress, fail)? {
                return Ok(Some((name, first_line, text)));
            }
            let open = self.open.take().expect("it was there a moment ago");
            open.observed.compare(&open.entry, true, &mut self.faults);
        }
    }

    fn next_block(&mut self) -> Result<Option<ClusterBlock>> {
        let Some((file, first_line, text)) = self.next_lines()? else { return Ok(None) };
        let path = self.source.path(&file);
        let origin = Origin { path: &path, first_line };
        let utf8 = as_text(&path, &text, first_line)?;
        let pieces = parse_lines(origin, utf8, self.progress, Vec::new, parse_cluster)?;
        let (vocabulary, pieces) = merge(pieces);
        let body = Disassociated { vocabulary, clusters: number_clusters(pieces) };
        let first_cluster = self.clusters;
        self.clusters += body.clusters.len() as u64;
        Ok(Some(ClusterBlock { file, first_line, first_cluster, text, body }))
    }
}

impl Iterator for ClusterBlocks<'_> {
    type Item = Result<ClusterBlock>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let block = self.next_block();
        self.failed = block.is_err();
        block.transpose()
    }
}

impl<'a> OpenFile<'a> {
    fn new(entry: FileEntry, file: Box<dyn Read + Send + 'a>) -> Self {
        let observed = Observed::default();
        Self { entry, file, observed, rest: Vec::new(), lines: 0, ended: false }
    }

    /// About `block` bytes of whole lines, or none at the end.
    fn lines(
        &mut self,
        block: usize,
        progress: &dyn Progress,
        fail: impl Fn(std::io::Error) -> Error,
    ) -> Result<Option<Vec<u8>>> {
        // Where the search for the last line feed starts: before it there is none.
        let mut searched = 0;
        let cut = loop {
            if self.rest.len() >= block || self.ended {
                match memchr::memrchr(b'\n', &self.rest[searched..]) {
                    Some(at) => break searched + at + 1,
                    None if self.ended => break self.rest.len(),
                    // One long line: go on reading it, as far as the budget allows.
                    None => searched = self.rest.len(),
                }
            }
            let before = self.rest.len();
            let step = block.saturating_sub(before).max(before).max(1 << 16);
            let read = fill(&mut *self.file, &mut self.rest, step, &fail)?;
            self.observed.add(&self.rest[before..]);
            progress.step(read as u64)?;
            progress.budget().check("bytes of one line of the release", self.rest.len() as u64)?;
            self.ended = read < step;
        };
        if cut == 0 {
            return Ok(None);
        }
        // Without a line feed at its end, the last line waits until all else is out.
        let tail = self.rest.split_off(cut);
        let text = std::mem::replace(&mut self.rest, tail);
        self.lines += memchr::memchr_iter(b'\n', &text).count() as u64;
        Ok(Some(text))
    }
}
