//! The workflows for callers that have files: what is read and written, and
//! in which order, so that nothing half-made is left.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use serde::Serialize;

pub use super::on_disk::{OnDisk, anonymize_on_disk, publish_spooled, spool, spool_from};
#[cfg(feature = "arrow")]
pub use super::tables::export;
pub use super::tables::{Exported, write_answers, write_rules};
use super::{Anonymized, Attacked, Profiled, QueryOptions, ReconstructOptions, Reported};
use crate::error::{Hint, Setting};
use crate::io::{self, DirectorySink, DirectorySource, ExportFormat, Input, ReadOptions, Receipt};
use crate::measure::{self, Evaluation};
use crate::query::Answer;
use crate::release::Manifest;
use crate::report::About;
use crate::verify::Verdict;
use crate::{Dataset, Error, Method, Progress, Release, Result, attack, inspect, profile};

/// Where a release goes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Target {
    /// The directory of the release.
    pub output: PathBuf,
    /// Whether an earlier release (and receipt) of that name is replaced.
    pub force: bool,
    /// A private file that says where the release came from.
    pub receipt: Option<PathBuf>,
    /// The largest size of a file of clusters, in bytes: there are several then.
    pub file_size: Option<u64>,
    /// Whether the data is meant as it was read, even if it looks like a table
    /// or like identifiers.
    pub as_baskets: bool,
    /// Whether the same data may be published again, although receipts tell of an
    /// earlier release of it.
    pub again: bool,
}

impl Target {
    /// A new directory, without a receipt.
    pub fn new(output: impl Into<PathBuf>) -> Self {
        Self {
            output: output.into(),
            force: false,
            receipt: None,
            file_size: None,
            as_baskets: false,
            again: false,
        }
    }

    /// Checks before any work that release and receipt can be written.
    ///
    /// # Errors
    /// If something is in the way.
    pub fn check(&self) -> Result<()> {
        io::check_target(&self.output, self.force)?;
        match &self.receipt {
            // What an earlier receipt says is kept in the new one.
            Some(receipt) => io::check_receipt(receipt, &self.output, self.force || self.again),
            None => Ok(()),
        }
    }

    /// The earlier releases of the same data, and its checksum, for the receipt.
    ///
    /// # Errors
    /// If there are some, and the data may not be published again.
    pub(super) fn earlier(
        &self,
        checksum: impl FnOnce() -> Result<String>,
    ) -> Result<(String, Vec<io::Earlier>)> {
        let Some(receipt) = &self.receipt else { return Ok(Default::default()) };
        let checksum = checksum()?;
        let earlier = io::earlier_releases(receipt, &checksum);
        match earlier.last() {
            Some(last) if !self.again => Err(Error::input(
                receipt,
                None,
                format!(
                    "the same data was published before: {} by {}, {}",
                    last.release.display(),
                    last.method,
                    last.time
                ),
                Hint::of(
                    "two releases of the same data can be put together, and neither keeps its \
                     promise then; publish the earlier one, or say {} if it was never handed on",
                    &[Setting::Again],
                ),
            )),
            _ => Ok((checksum, earlier)),
        }
    }
}

impl Target {
    /// The receipt of a release with this manifest, if one is asked for.
    pub(super) fn receipt_of(
        &self,
        manifest: &Manifest,
        origin: &Origin,
        earlier: (String, Vec<io::Earlier>),
    ) -> Result<Option<Receipt>> {
        let Origin { path, format, left_out } = *origin;
        let now = SystemTime::now();
        let make = |_: &PathBuf| {
            Receipt::new(path, earlier, format, left_out, &self.output, manifest, now)
        };
        self.receipt.as_ref().map(make).transpose()
    }

    /// Writes the receipt, after the release.
    pub(super) fn write_receipt(&self, receipt: Option<Receipt>) -> Result<()> {
        match (receipt, &self.receipt) {
            (Some(receipt), Some(file)) => receipt.write(file, self.force),
            _ => Ok(()),
        }
    }
}

setters!(Target {
    /// Whether an earlier release (and receipt) of that name is replaced.
    force: bool,
    /// A private file that says where the release came from.
    receipt: Option<PathBuf>,
    /// The largest size of a file of clusters.
    file_size: Option<u64>,
    /// Whether the data is meant as it was read.
    as_baskets: bool,
    /// Whether the same data may be published again.
    again: bool,
});

/// The original data of a release.
#[derive(Clone, Copy, Debug)]
pub struct Original<'a> {
    /// The file.
    pub path: &'a Path,
    /// How it is read.
    pub options: &'a ReadOptions,
}

impl Original<'_> {
    fn read(&self, progress: &dyn Progress) -> Result<Input> {
        io::read_dataset(self.path, self.options, progress)
    }
}

/// [`profile`](super::profile()) of a file.
///
/// # Errors
/// If it cannot be read, or `progress` says stop.
pub fn profile(
    data: Original,
    options: &profile::Options,
    progress: &dyn Progress,
) -> Result<Profiled> {
    let input = data.read(progress)?;
    let profiled = super::profile(&input.dataset, options, progress)?;
    let findings = inspect::check(&input);
    Ok(profiled.left_out(Some(input.left_out())).findings(Some(findings)))
}

/// [`anonymize`](super::anonymize()) a file into a directory.
///
/// # Errors
/// As [`Target::check`], [`Findings::refuse`](inspect::Findings::refuse) and
/// [`Method::run`], or if a file cannot be read or written. Nothing is left then.
pub fn anonymize(
    data: Original,
    method: &Method,
    target: &Target,
    progress: &dyn Progress,
) -> Result<Anonymized> {
    target.check()?;
    let input = data.read(progress)?;
    publish(input, data.path, method, target, progress)
}

/// The same for data that was read from `source` already: makes the release,
/// gives the memory of the records back, and writes.
///
/// # Errors
/// As [`anonymize`].
pub fn publish(
    input: Input,
    source: &Path,
    method: &Method,
    target: &Target,
    progress: &dyn Progress,
) -> Result<Anonymized> {
    let start = Instant::now();
    if !target.as_baskets {
        inspect::check(&input).refuse(source)?;
    }
    let origin = Origin { path: source, format: input.format, left_out: input.left_out() };
    let earlier = target.earlier(|| Ok(io::data_sha256(&input.dataset)))?;
    let outcome = method.run(&input.dataset, progress)?;
    let release = Arc::new(outcome.release);
    let kept = super::keep::kept(&method.keep(), &input.dataset, &release, progress)?;
    let earlier_releases = earlier.1.len() as u64;
    // Writing needs memory too, and the records no longer.
    drop(input);
    let manifest = write(&release, &origin, earlier, target, progress)?;
    let mut answer = Anonymized::new(&release, &manifest, outcome.details, start);
    answer.earlier_releases = earlier_releases;
    answer.kept = kept;
    (answer.release, answer.left_out) = (Some(target.output.clone()), Some(origin.left_out));
    // List by list, taking the memory back takes a tenth as long as the work:
    // that is done beside the caller.
    rayon::spawn(move || drop(release));
    Ok(answer)
}

/// Where the data of a release came from, for its receipt.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The file.
    pub path: &'a Path,
    /// The layout it was read as.
    pub format: io::Format,
    /// What was left out of it.
    pub left_out: io::LeftOut,
}

/// Writes a release that was made of `data` in memory, and its receipt: what
/// was looked at is what is published, also where a method draws at random.
/// How many earlier releases of the same data receipts tell of.
///
/// # Errors
/// As [`Target::check`], or if a file cannot be read or written. Nothing is left then.
pub fn save(
    release: &Release,
    data: &Dataset,
    origin: &Origin,
    target: &Target,
    progress: &dyn Progress,
) -> Result<u64> {
    target.check()?;
    let earlier = target.earlier(|| Ok(io::data_sha256(data)))?;
    let earlier_releases = earlier.1.len() as u64;
    write(release, origin, earlier, target, progress)?;
    Ok(earlier_releases)
}

/// Writes a release, and its receipt if the target asks for one.
fn write(
    release: &Release,
    origin: &Origin,
    earlier: (String, Vec<io::Earlier>),
    target: &Target,
    progress: &dyn Progress,
) -> Result<Manifest> {
    // What can fail about the receipt fails before anything is published.
    let receipt = target.receipt_of(&release.manifest, origin, earlier)?;
    let sink = DirectorySink::new(&target.output, target.force)?;
    let manifest = match target.file_size {
        None => io::write_release_to(release, sink, progress)?,
        Some(bytes) => io::write_release_in_files(release, sink, bytes, progress)?,
    };
    target.write_receipt(receipt)?;
    Ok(manifest)
}

/// [`check`](super::check())s a release directory, and compares its bytes with
/// the only ones that may stand there.
///
/// # Errors
/// If it is no release at all, or `progress` says stop.
pub fn verify(release: &Path, progress: &dyn Progress) -> Result<(Release, Verdict)> {
    let source = DirectorySource::new(release);
    let opened = io::open_release_from(&source, progress)?;
    let files = io::read_listed(&source, &opened.release.manifest, progress)?;
    let spelling = super::spelling(&opened.release, &files);
    let verdict = super::check(&opened, progress)?.with_violations(spelling);
    Ok((opened.release, verdict))
}

/// Reads a release directory, and refuses one whose files differ from its
/// manifest.
///
/// # Errors
/// If it cannot be read, needs more memory than there may be, or `progress` says stop.
pub fn read(release: &Path, progress: &dyn Progress) -> Result<Release> {
    io::read_release_from(&DirectorySource::new(release), progress)
}

/// [`attack`](super::attack())s a release directory.
///
/// # Errors
/// If something cannot be read, and as [`attack`](super::attack()).
pub fn attack(
    release: &Path,
    original: Option<Original>,
    options: &attack::Options,
    progress: &dyn Progress,
) -> Result<Attacked> {
    let release = read(release, progress)?;
    let original = original.map(|data| data.read(progress)).transpose()?;
    super::attack(&release, original.as_ref().map(|o| &o.dataset), options, progress)
}

/// [`evaluate`](super::evaluate())s a release directory.
///
/// # Errors
/// If something cannot be read, and as [`evaluate`](super::evaluate()).
pub fn evaluate(
    release: &Path,
    original: Original,
    options: &measure::Options,
    progress: &dyn Progress,
) -> Result<Evaluation> {
    let release = read(release, progress)?;
    super::evaluate(&release, &original.read(progress)?.dataset, options, progress)
}

/// Answers [`query`](super::query())s from a release directory.
///
/// # Errors
/// If it cannot be read, and as [`query`](super::query()).
pub fn query<S: AsRef<str> + Sync>(
    release: &Path,
    itemsets: &[Vec<S>],
    options: &QueryOptions,
    progress: &dyn Progress,
) -> Result<Vec<Answer>> {
    super::query(&read(release, progress)?, itemsets, options, progress)
}

/// What was reconstructed.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Reconstructed {
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// How many records each holds.
    pub records: usize,
    /// Over how many items.
    pub items: usize,
}

/// Writes [`reconstruct`](super::reconstruct())ions of a release to the
/// directory `output`, in the simplest layout that can hold the labels unless
/// one is chosen.
///
/// # Errors
/// If something cannot be written, and as [`reconstruct`](super::reconstruct()).
pub fn reconstruct(
    release: &Release,
    options: &ReconstructOptions,
    layout: Option<ExportFormat>,
    output: &Path,
    force: bool,
    progress: &dyn Progress,
) -> Result<Reconstructed> {
    let sets = super::reconstruct(release, options, progress)?;
    let layout = layout.unwrap_or_else(|| ExportFormat::for_labels(release.body.vocabulary()));
    let files = io::write_datasets(&sets, output, "reconstruction", layout, force)?;
    Ok(Reconstructed { files, records: sets[0].len(), items: sets[0].item_count() })
}

/// Writes the [`report`](super::report()) about a release directory to the
/// file `output`.
///
/// # Errors
/// If something cannot be read or written, and as [`report`](super::report()).
pub fn report(
    release: &Path,
    original: Option<Original>,
    about: &About,
    options: &measure::Options,
    output: &Path,
    force: bool,
    progress: &dyn Progress,
) -> Result<Reported> {
    io::check_file(output, force)?;
    let (release, verdict) = verify(release, progress)?;
    let original = original.map(|data| data.read(progress)).transpose()?;
    let original = original.as_ref().map(|o| &o.dataset);
    let reported = super::report(&release, &verdict, original, about, options, progress)?;
    io::write_file(output, reported.page.as_bytes(), force)?;
    Ok(reported)
}
