//! Data that does not fit into memory, from a file to a release: records lie on
//! a disk, are anonymized part by part, and clusters are sorted on the disk.
//!
//! How much memory there is decides how large the parts are, and nothing else:
//! neither the release nor its manifest says that there were any.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::*;

use super::Anonymized;
use super::files::{Origin, Original, Target};
use crate::budget::Budget;
use crate::caution::{SeenClusters, cluster_cautions};
use crate::data::damaged;
use crate::error::{Hint, Setting};
use crate::io::{self, ClusterWriter, DirectorySink, DiskShelves, ReadOptions, Sorter, Spooled};
use crate::methods::Details;
use crate::methods::disassociation::parts::{
    Counted, Numbered, PartSize, Sizes, anonymize_numbered, check,
};
use crate::methods::disassociation::{Parameters, publish};
use crate::release::{Cluster, Disassociated, Manifest};
use crate::{Error, Method, Progress, Result, inspect};

/// The least memory that the work can be done with.
const LEAST: u64 = 128 << 20;
/// What the program itself takes, its threads and what they read.
const PROGRAM: u64 = 40 << 20;
/// What a part takes at its highest for each of its items, and for each record.
const ITEM: u64 = 40;
const RECORD: u64 = 100;
/// What the plan takes at its highest for each count: a table that grows, and what is kept of it.
const COUNT: u64 = 100;
/// What a join takes at its highest for each byte of its clusters.
const JOIN: u64 = 16;

/// How much memory all of it takes, and where the rest lies.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OnDisk {
    /// The memory of the whole process.
    pub memory: Budget,
    /// Where the file with raw data is made; by default beside the release.
    pub temporary: Option<PathBuf>,
}

impl OnDisk {
    /// With so much memory, and the rest beside the release.
    ///
    /// # Errors
    /// If that is too little for anything.
    pub fn new(memory: Budget) -> Result<Self> {
        if memory.bytes() < LEAST {
            return Err(Error::Setting {
                setting: Setting::Memory,
                found: memory.bytes().to_string(),
                expected: "at least 128M".into(),
            });
        }
        Ok(Self { memory, temporary: None })
    }

    /// Refuses a method or parameters that need all data at once.
    ///
    /// # Errors
    /// With all methods but disassociation, and with some of its parameters.
    pub fn check(&self, method: &Method) -> Result<()> {
        parameters(method).map(drop)
    }

    /// Beside what the file with raw data is made.
    pub fn place(&self, target: &Target) -> PathBuf {
        DiskShelves::place(&target.output, self.temporary.as_deref())
    }

    fn shelves(&self, target: &Target, progress: &dyn Progress) -> Result<DiskShelves> {
        progress.budget().check("the work with data on disk", self.memory.bytes())?;
        let buffers = usize::try_from(self.memory.part(16).bytes()).unwrap_or(usize::MAX);
        DiskShelves::new(&target.output, self.temporary.as_deref(), buffers.min(1 << 28))
    }
}

setters!(OnDisk {
    /// Where the file with raw data is made.
    temporary: Option<PathBuf>,
});

/// Refuses a method that needs all data at once.
fn parameters(method: &Method) -> Result<&Parameters> {
    let Method::Disassociation(parameters) = method else {
        return Err(Error::Setting {
            setting: Setting::Memory,
            found: method.name().into(),
            expected: "disassociation: the other methods need all data at once".into(),
        });
    };
    check(parameters)?;
    Ok(parameters)
}

/// Reads a file to a disk.
///
/// # Errors
/// If it cannot be read, its distinct items do not fit into memory, or the
/// disk is full. Nothing is left then.
pub fn spool(
    data: Original,
    target: &Target,
    on_disk: &OnDisk,
    progress: &dyn Progress,
) -> Result<Spooled> {
    let shelves = on_disk.shelves(target, progress)?;
    io::spool_dataset(data.path, data.options, &shelves, on_disk.memory, progress)
}

/// The same for a stream, as if it were the content of a file called `name`.
///
/// # Errors
/// As [`spool`].
pub fn spool_from(
    stream: impl Read + Send,
    name: &Path,
    options: &ReadOptions,
    target: &Target,
    on_disk: &OnDisk,
    progress: &dyn Progress,
) -> Result<Spooled> {
    let shelves = on_disk.shelves(target, progress)?;
    io::spool_dataset_from(stream, name, options, &shelves, on_disk.memory, progress)
}

/// [`anonymize`](super::files::anonymize)s a file that need not fit into memory.
///
/// # Guarantee
/// That of the method. The result depends on the records as a bag and on the
/// memory. If all of it fits, it is that of [`anonymize`](super::files::anonymize).
///
/// # Errors
/// As [`anonymize`](super::files::anonymize), and with a method or parameters
/// that need all data at once.
pub fn anonymize_on_disk(
    data: Original,
    method: &Method,
    target: &Target,
    on_disk: &OnDisk,
    progress: &dyn Progress,
) -> Result<Anonymized> {
    parameters(method)?;
    target.check()?;
    let spooled = spool(data, target, on_disk, progress)?;
    publish_spooled(spooled, data.path, method, target, progress)
}

/// The same for data that was read from `source` already.
///
/// # Errors
/// As [`anonymize_on_disk`].
pub fn publish_spooled(
    mut data: Spooled,
    source: &Path,
    method: &Method,
    target: &Target,
    progress: &dyn Progress,
) -> Result<Anonymized> {
    let start = Instant::now();
    let parameters = parameters(method)?;
    if !target.as_baskets {
        inspect::check_spooled(&mut data, progress)?.refuse(source)?;
    }
    let origin = Origin { path: source, format: data.format, left_out: data.left_out() };
    let earlier = target.earlier(|| io::spooled_sha256(&mut data, progress))?;
    let earlier_releases = earlier.1.len() as u64;
    let (sizes, records) = (sizes(&data, parameters)?, data.records);
    let Spooled { vocabulary, counts, shelf, numbers, mut shelves, memory, .. } = data;
    let numbered = Numbered { counted: Counted { records: shelf, counts }, numbers: Some(numbers) };
    let mut sorter = Sorter::new(&shelves, memory.part(8).bytes(), progress);
    let mut take = |key: &[u8]| sorter.add(key);
    let parts = anonymize_numbered(numbered, parameters, sizes, &mut shelves, &mut take, progress)?;
    let mut body = Disassociated { vocabulary, clusters: Vec::new() };
    let manifest = publish(parameters, Disassociated::default()).manifest;
    let receipt = target.receipt_of(&manifest, &origin, earlier)?;
    let blocks = Blocks { sorter, records, bytes: memory.part(128).bytes() };
    let (manifest, seen) = blocks.write(&mut body, &manifest, target, progress)?;
    target.write_receipt(receipt)?;
    let cautions = cluster_cautions(&manifest, &body.vocabulary, &seen);
    let mut answer = Anonymized::with_cautions(&manifest, Details::Nothing {}, cautions, start);
    answer.earlier_releases = earlier_releases;
    answer.parts = Some(parts as u64);
    (answer.release, answer.left_out) = (Some(target.output.clone()), Some(origin.left_out));
    Ok(answer)
}

/// Clusters in their order, block by block.
struct Blocks<'a> {
    sorter: Sorter<'a>,
    /// How many records they must have together.
    records: u64,
    /// How many bytes of keys a block has. In memory, clusters are several times as large.
    bytes: u64,
}

impl Blocks<'_> {
    /// Writes them. Nothing is published if a record was lost, or came twice, on its way over the disk.
    fn write(
        self,
        body: &mut Disassociated,
        manifest: &Manifest,
        target: &Target,
        progress: &dyn Progress,
    ) -> Result<(Manifest, SeenClusters)> {
        let sink = DirectorySink::new(&target.output, target.force)?;
        let mut writer = match target.file_size {
            None => ClusterWriter::one_file(sink, progress),
            Some(bytes) => ClusterWriter::several_files(sink, bytes, progress),
        };
        let (mut seen, mut bytes, mut keys) = (SeenClusters::default(), 0, Vec::new());
        let mut records = 0;
        let mut add = |keys: &mut Vec<Vec<u8>>| -> Result<()> {
            let read = |key: &Vec<u8>| Cluster::from_key(key);
            body.clusters = keys.par_iter().map(read).collect::<Result<_>>()?;
            keys.clear();
            records += body.clusters.iter().map(|cluster| u64::from(cluster.size())).sum::<u64>();
            seen.add(body);
            writer.add(body)
        };
        self.sorter.each(&mut |key| {
            bytes += key.len() as u64;
            keys.push(key.to_vec());
            if bytes < self.bytes {
                return Ok(());
            }
            bytes = 0;
            add(&mut keys)
        })?;
        add(&mut keys)?;
        if records != self.records {
            return Err(damaged());
        }
        Ok((writer.finish(manifest)?, seen))
    }
}

/// How large parts may be.
fn sizes(data: &Spooled, parameters: &Parameters) -> Result<Sizes> {
    let memory = data.memory;
    // Shelves keep a sixteenth, and the sort of the clusters an eighth.
    let others = PROGRAM + data.labels + memory.part(16).bytes() + memory.part(8).bytes();
    let free = memory.bytes().saturating_sub(others);
    let all = data.occurrences.saturating_mul(ITEM).saturating_add(data.records * RECORD);
    if all <= free {
        return Ok(Sizes { records: None, items: u64::MAX, join: u64::MAX, parts: 1, counts: 0 });
    }
    // Four fifths: the last part may have a quarter more, and parts differ.
    let share = free / 5 * 4;
    let most = (u128::from(data.records) * u128::from(share) / u128::from(all)) as u64;
    let records = PartSize::records(most, parameters.max_cluster_size).map_err(|_| {
        let (records, cluster) = (most, parameters.max_cluster_size);
        Error::Infeasible {
            what: format!(
                "{records} records fit into memory, and a part must have 16 clusters of {cluster}"
            ),
            hint: Hint::of("allow more with {}", &[Setting::Memory]),
        }
    })?;
    let items = (free - (most * RECORD).min(free)) / ITEM;
    // As much again as shelves keep in all.
    let parts = memory.part(16).bytes() / io::SHELF;
    // Nothing else is there while it is made.
    Ok(Sizes { records: Some(records), items, join: free / JOIN, parts, counts: free / COUNT })
}
