//! Whether a release keeps its promise, its files included.

use crate::io::OpenedRelease;
use crate::verify::{self, Verdict, Violation};
use crate::{Progress, Release, Result};

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
/// As [`verify`].
pub fn check(opened: &OpenedRelease, progress: &dyn Progress) -> Result<Verdict> {
    let faults = opened.faults.iter().map(|fault| Violation {
        r#where: format!("{}: {}", fault.file, fault.what),
        itemset: Vec::new(),
        support: 0,
        required: 0,
        rule: "file",
    });
    Ok(verify(&opened.release, progress)?.with_violations(faults.collect()))
}
