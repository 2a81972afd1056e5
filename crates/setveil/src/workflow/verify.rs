//! Whether a release keeps its promise, its files included.

use std::collections::BTreeMap;

use crate::caution::{self, Caution};
use crate::io::{self, ClusterBlocks, FileFault, OpenedRelease, ReleaseSource};
use crate::release::Manifest;
use crate::verify::{self, Files, Verdict, Violation};
use crate::{Method, Progress, Release, Result};

/// Checks a release against its own manifest.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when `progress` says stop, and
/// [`Error::Undecided`](crate::Error::Undecided) when counting would take too long.
pub fn verify(release: &Release, progress: &dyn Progress) -> Result<Verdict> {
    verify::verify(release, progress)
}

/// The same for a release that was read: whatever is wrong with its files is
/// a violation too, and comes first.
///
/// # Errors
/// As [`verify()`](crate::verify::verify).
pub fn check(opened: &OpenedRelease, progress: &dyn Progress) -> Result<Verdict> {
    Ok(verify(&opened.release, progress)?.with_violations(violations(&opened.faults)))
}

fn violations(faults: &[FileFault]) -> Vec<Violation> {
    let violation = |fault: &FileFault| Violation {
        r#where: format!("{}: {}", fault.file, fault.what),
        itemset: Vec::new(),
        support: 0,
        required: 0,
        rule: "file",
    };
    faults.iter().map(violation).collect()
}

/// Checks the release that `source` gives, its files and their bytes included.
/// Clusters are read block by block: memory for one block and the distinct
/// labels suffices, whatever the size of the release.
///
/// # Errors
/// If it is no release at all, as [`verify()`](crate::verify::verify), and if
/// something does not fit into the budget.
pub fn verify_from(source: &dyn ReleaseSource, progress: &dyn Progress) -> Result<Verdict> {
    let Some(mut blocks) = ClusterBlocks::find(source, progress)? else {
        let opened = io::open_release_from(source, progress)?;
        let files = io::read_listed(source, &opened.release.manifest, progress)?;
        let spelling = spelling(&opened.release, &files);
        return Ok(check(&opened, progress)?.with_violations(spelling));
    };
    let manifest = blocks.manifest().clone();
    let part = checked(&mut blocks, progress)?;
    let faults = blocks.finish()?;
    ended(source, &manifest, part, &faults, progress)
}

/// The clusters of all blocks.
fn checked(blocks: &mut ClusterBlocks, progress: &dyn Progress) -> Result<verify::Part> {
    let mut part = verify::Part::new(blocks.manifest());
    let mut file = None;
    for block in blocks.by_ref() {
        let block = block?;
        if file.as_ref() != Some(&block.file) {
            part.file(&block.file);
            file = Some(block.file);
        }
        part.add_with_text(&block.body, &block.text, progress)?;
    }
    Ok(part)
}

/// The verdict about clusters that were checked, and about the small files.
fn ended(
    source: &dyn ReleaseSource,
    manifest: &Manifest,
    part: verify::Part,
    faults: &[FileFault],
    progress: &dyn Progress,
) -> Result<Verdict> {
    let bytes = io::read_manifest_bytes(source, progress)?;
    let mut spelling = verify::manifest_text(manifest, &bytes);
    spelling.extend(verify::explained(manifest, &io::read_explained(source, manifest, progress)?));
    Ok(part.finish().with_violations(violations(faults)).with_violations(spelling))
}

/// One file of clusters, checked by itself: with those of all files, on
/// whatever machines, [`verify_files`] gives the verdict of [`verify_from`].
pub struct CheckedFile {
    part: verify::Part,
    faults: Vec<FileFault>,
}

/// Checks file `name` of a release of clusters. `source` needs no other file
/// but the manifest.
///
/// # Errors
/// As [`verify_from`], and if the manifest lists no such file.
pub fn verify_file(
    source: &dyn ReleaseSource,
    name: &str,
    progress: &dyn Progress,
) -> Result<CheckedFile> {
    let mut blocks = ClusterBlocks::of_file(source, name, progress)?;
    let part = checked(&mut blocks, progress)?;
    Ok(CheckedFile { part, faults: blocks.finish()? })
}

impl CheckedFile {
    /// The distinct labels in the file, ascending, which this has no more: [`verify_files`] wants those of all
    /// files once.
    pub fn take_labels(&mut self) -> Vec<Box<str>> {
        self.part.take_labels()
    }

    /// For another machine.
    ///
    /// # Errors
    /// If the release is one of which files say little by themselves: a safe one.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let faults: Vec<_> = self.faults.iter().map(|fault| (&fault.file, &fault.what)).collect();
        let faults = serde_json::to_vec(&faults).expect("texts");
        Ok(verify::framed([&self.part.to_bytes()?, &faults]))
    }

    /// From another machine.
    ///
    /// # Errors
    /// If these are no bytes of [`to_bytes`](Self::to_bytes).
    pub fn from_bytes(manifest: &Manifest, bytes: &[u8]) -> Result<Self> {
        let [part, faults] = verify::pieces(bytes).ok_or_else(verify::Part::broken)?;
        let faults: Vec<(String, String)> =
            serde_json::from_slice(faults).map_err(|_| verify::Part::broken())?;
        let fault = |(file, what)| FileFault { file, what };
        let part = verify::Part::from_bytes(manifest, part)?;
        Ok(Self { part, faults: faults.into_iter().map(fault).collect() })
    }
}

/// The verdict of [`verify_from`] about a release of clusters whose files were
/// checked one by one. `source` has the manifest and what explains the release,
/// and the names of all files; `checked` gives what was found in each, and
/// `labels` are those that were [taken](CheckedFile::take_labels) from them.
///
/// # Errors
/// As [`verify_from`], if the release has no clusters, and what `checked` says.
pub fn verify_files(
    source: &dyn ReleaseSource,
    labels: impl IntoIterator<Item = Box<str>>,
    mut checked: impl FnMut(&Manifest, &str) -> Result<CheckedFile>,
    progress: &dyn Progress,
) -> Result<Verdict> {
    let blocks = ClusterBlocks::open(source, progress)?;
    let manifest = blocks.manifest().clone();
    let (names, mut faults, behind) = blocks.elsewhere();
    let mut whole = verify::Part::new(&manifest);
    whole.add_labels(labels);
    for name in names {
        let CheckedFile { part, faults: of_file } = checked(&manifest, &name)?;
        whole.merge(part);
        faults.extend(of_file);
    }
    faults.extend(behind);
    ended(source, &manifest, whole, &faults, progress)
}

/// What to know about a release before it is handed out, although its promise
/// holds.
pub fn cautions(release: &Release) -> Vec<Caution> {
    let method = Method::of(&release.manifest);
    caution::cautions(release, method.as_ref().map_or(&[], |m| m.sensitive()))
}

/// Where the files of a release, by their names, are not the only bytes that
/// may stand there.
pub fn spelling(release: &Release, all: &BTreeMap<String, Vec<u8>>) -> Vec<Violation> {
    let bytes = |name: &str| all.get(name).map(Vec::as_slice);
    let body: Vec<(&str, &[u8])> = release
        .manifest
        .files
        .iter()
        .filter(|file| file.name.ends_with(".jsonl"))
        .map(|file| (&*file.name, bytes(&file.name).unwrap_or_default()))
        .collect();
    let manifest = bytes("manifest.json").unwrap_or_default();
    let files = Files { manifest, body: &body, hierarchy: bytes("hierarchy.csv") };
    let mut found = verify::text(release, &files);
    found.extend(verify::explained(&release.manifest, all));
    found
}
