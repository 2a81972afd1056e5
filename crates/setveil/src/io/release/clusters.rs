//! Clusters written block by block, into one file or several.
//!
//! The files are one after the other what `clusters.jsonl` would be, cut before
//! the line that would make a file larger than the limit: where they are cut
//! depends on the lines alone, not on the blocks they came in.

use std::cmp::Ordering;

use super::super::json::{Labels, LineWriter};
use super::files::numbered;
use super::store::{Checked, ReleaseSink};
use super::write::{cluster_fault, publish, write_lines};
use crate::data::{Interner, Vocabulary};
use crate::release::{Body, Cluster, Disassociated, FileEntry, Manifest, Release};
use crate::{Error, Progress, Result, Stage};

/// Writes a release of clusters that come in canonical order, block by block.
/// Dropped before [`finish`](Self::finish), it leaves nothing.
///
/// Memory: the block, and the distinct labels.
pub struct ClusterWriter<'a, S: ReleaseSink> {
    sink: S,
    progress: &'a dyn Progress,
    /// The largest number of bytes in a file; none for one file.
    limit: Option<u64>,
    file: Option<Checked>,
    entries: Vec<FileEntry>,
    labels: Interner,
    records: u64,
    /// The cluster before, with its labels: the next one must not come before it.
    last: Option<Disassociated>,
}

impl<'a, S: ReleaseSink> ClusterWriter<'a, S> {
    /// A writer of one file, `clusters.jsonl`.
    pub fn one_file(sink: S, progress: &'a dyn Progress) -> Self {
        progress.stage(Stage::Writing, None);
        Self {
            sink,
            progress,
            limit: None,
            file: None,
            entries: Vec::new(),
            labels: Interner::default(),
            records: 0,
            last: None,
        }
    }

    /// A writer of files `clusters-00000.jsonl`, ... of at most `limit` bytes,
    /// or of one line that is longer.
    pub fn several_files(sink: S, limit: u64, progress: &'a dyn Progress) -> Self {
        Self { limit: Some(limit.max(1)), ..Self::one_file(sink, progress) }
    }

    /// Appends clusters, which must be in canonical order among themselves
    /// and not come before any that was added.
    ///
    /// # Errors
    /// If they are not in order, or such that no reader would accept them.
    pub fn add(&mut self, block: &Disassociated) -> Result<()> {
        let refuse = |what: String| {
            Err(Error::Infeasible { what, hint: "no reader would accept the release".into() })
        };
        if let Some(what) = cluster_fault(block) {
            return refuse(what);
        }
        if !self.ascends(block) {
            return refuse("the clusters do not come in canonical order".into());
        }
        let Some(last) = block.clusters.last() else { return Ok(()) };
        let mut used = vec![false; block.vocabulary.len()];
        for cluster in &block.clusters {
            self.records += u64::from(cluster.size());
            mark(cluster, &mut used);
        }
        let texts = block.vocabulary.labels().zip(&used).filter(|(_, used)| **used);
        texts.for_each(|(label, _)| {
            self.labels.intern(label);
        });
        let labels = Labels::new(&block.vocabulary);
        let progress = self.progress;
        let clusters = &block.clusters;
        let line = |w: &mut LineWriter, i: usize| w.cluster_line(&clusters[i]);
        write_lines(clusters.len(), &labels, progress, |piece| self.piece(piece), line)?;
        self.last = Some(alone(last, &block.vocabulary));
        Ok(())
    }

    /// Completes the manifest with the files and the numbers of records and
    /// items that were written, and publishes.
    pub fn finish(mut self, manifest: &Manifest) -> Result<Manifest> {
        if self.file.is_none() {
            self.begin()?;
        }
        self.end();
        let manifest = Manifest {
            records: self.records,
            items: self.labels.len() as u64,
            files: std::mem::take(&mut self.entries),
            ..manifest.clone()
        };
        publish(manifest, &mut self.sink, self.progress)
    }

    fn begin(&mut self) -> Result<()> {
        self.end();
        let name = match self.limit {
            None => "clusters.jsonl".into(),
            Some(_) => numbered(self.entries.len() as u64),
        };
        self.file = Some(Checked::create(&mut self.sink, &name)?);
        Ok(())
    }

    fn end(&mut self) {
        self.entries.extend(self.file.take().map(Checked::finish));
    }

    /// Writes whole lines, cut where a file is full.
    fn piece(&mut self, mut lines: &[u8]) -> Result<()> {
        while !lines.is_empty() {
            let written = self.file.as_ref().map(|file| file.bytes);
            let room = match self.limit {
                None => u64::MAX,
                Some(limit) => limit.saturating_sub(written.unwrap_or(0)),
            };
            let fits = if lines.len() as u64 <= room {
                lines.len()
            } else {
                memchr::memrchr(b'\n', &lines[..room as usize]).map_or(0, |at| at + 1)
            };
            let part = match (fits, written) {
                (0, None | Some(0)) => {
                    // A line that is longer than the limit has a file of its own.
                    memchr::memchr(b'\n', lines).map_or(lines.len(), |at| at + 1)
                }
                (0, _) => {
                    self.begin()?;
                    continue;
                }
                (fits, _) => fits,
            };
            if self.file.is_none() {
                self.begin()?;
            }
            let file = self.file.as_mut().expect("it was begun");
            file.write(&mut self.sink, &lines[..part])?;
            lines = &lines[part..];
        }
        Ok(())
    }

    /// Whether the clusters ascend, and follow those before.
    fn ascends(&self, block: &Disassociated) -> bool {
        let follows = match (&self.last, block.clusters.first()) {
            (Some(last), Some(first)) => {
                let after = alone(first, &block.vocabulary);
                compare(&last.clusters[0], &last.vocabulary, &after.clusters[0], &after.vocabulary)
                    != Ordering::Greater
            }
            _ => true,
        };
        follows && block.clusters.is_sorted()
    }
}

/// Writes a release of clusters in files of at most `limit` bytes each; the
/// other bodies in one file.
pub fn write_release_in_files(
    release: &Release,
    sink: impl ReleaseSink,
    limit: u64,
    progress: &dyn Progress,
) -> Result<Manifest> {
    let Body::Disassociated(body) = &release.body else {
        return super::write_release_to(release, sink, progress);
    };
    let mut writer = ClusterWriter::several_files(sink, limit, progress);
    writer.add(body)?;
    writer.finish(&release.manifest)
}

/// Marks the items of a cluster.
fn mark(cluster: &Cluster, used: &mut [bool]) {
    let chunks = cluster.chunks().iter().flat_map(|bag| bag.items());
    let terms: &[u32] = match cluster {
        Cluster::Simple(simple) => &simple.term_chunk,
        Cluster::Joint(_) => &[],
    };
    chunks.chain(terms).for_each(|&item| used[item as usize] = true);
    cluster.children().iter().for_each(|child| mark(child, used));
}

/// One cluster with a vocabulary of its labels only.
fn alone(cluster: &Cluster, vocabulary: &Vocabulary) -> Disassociated {
    let mut used = vec![false; vocabulary.len()];
    mark(cluster, &mut used);
    let labels = vocabulary.labels().zip(&used).filter(|(_, used)| **used).map(|(label, _)| label);
    let own = Vocabulary::new(labels);
    // The order of the labels is the order of the numbers in both.
    let mut next = 0;
    let ids: Vec<u32> = used
        .iter()
        .map(|&used| {
            next += u32::from(used);
            next.saturating_sub(1)
        })
        .collect();
    let mut cluster = cluster.clone();
    super::read::renumber_cluster(&mut cluster, &ids);
    Disassociated { vocabulary: own, clusters: vec![cluster] }
}

/// The canonical order of two clusters with vocabularies of their own.
fn compare(a: &Cluster, a_labels: &Vocabulary, b: &Cluster, b_labels: &Vocabulary) -> Ordering {
    let common = Vocabulary::new(a_labels.labels().chain(b_labels.labels()));
    let numbered = |cluster: &Cluster, labels: &Vocabulary| {
        let id = |label| common.id(label).expect("every label was merged");
        let ids: Vec<u32> = labels.labels().map(id).collect();
        let mut cluster = cluster.clone();
        super::read::renumber_cluster(&mut cluster, &ids);
        cluster
    };
    numbered(a, a_labels).cmp(&numbered(b, b_labels))
}
