//! The custodian's private receipt: what a release must never hold, kept
//! apart from it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::new_file::{check_file, write_file};
use super::release::hex;
use super::{Earlier, LeftOut};
use crate::release::Manifest;
use crate::{Error, Result};

/// Where a release came from.
#[derive(Clone, Debug, Serialize)]
pub struct Receipt {
    /// A warning to whoever finds the file.
    pub note: &'static str,
    /// The data that was read.
    pub input: PathBuf,
    /// The SHA-256 of the input as it is stored; none for standard input.
    pub input_sha256: Option<String>,
    /// A checksum of the records, whatever their order and the format: see
    /// [`data_sha256`](super::data_sha256).
    pub data_sha256: String,
    /// Releases of the same data that were made before.
    pub earlier: Vec<Earlier>,
    /// The format it was read as.
    pub format: &'static str,
    /// What was left out of it.
    pub left_out: LeftOut,
    /// The release.
    pub release: PathBuf,
    /// When it was made, in UTC.
    pub time: String,
    /// The method.
    pub method: String,
    /// The method's parameters.
    pub parameters: BTreeMap<String, Value>,
    /// The program.
    pub tool: String,
}

const NOTE: &str = "private: never publish this file beside the release";

impl Receipt {
    /// Collects what belongs in a receipt; reads the input once more for its checksum.
    pub fn new(
        input: &Path,
        (data_sha256, earlier): (String, Vec<Earlier>),
        format: super::Format,
        left_out: LeftOut,
        release: &Path,
        manifest: &Manifest,
        time: SystemTime,
    ) -> Result<Self> {
        Ok(Self {
            note: NOTE,
            input: fs::canonicalize(input).unwrap_or_else(|_| input.to_owned()),
            input_sha256: sha256(input)?,
            data_sha256,
            earlier,
            format: format.name(),
            left_out,
            release: release.to_owned(),
            time: utc(time),
            method: manifest.method.clone(),
            parameters: manifest.parameters.clone(),
            tool: manifest.tool.clone(),
        })
    }

    /// Writes the receipt of a release that is published; see [`check_receipt`].
    ///
    /// # Errors
    /// An [`Error::Stands`]: the release is there, whatever happens to its receipt.
    pub fn write(&self, path: &Path, replace: bool) -> Result<()> {
        let mut json = serde_json::to_vec_pretty(self).map_err(|e| Error::io(path, e.into()))?;
        json.push(b'\n');
        write_file(path, &json, replace).map_err(|source| Error::Stands {
            release: self.release.clone(),
            source: Box::new(source),
        })
    }
}

/// Checks before any work that a receipt can be written to `path`: not inside
/// the release, not over something else unless `replace` is given, and into a
/// directory that exists.
pub fn check_receipt(path: &Path, release: &Path, replace: bool) -> Result<()> {
    let refuse = |found: &str, hint: &str| Err(Error::input(path, None, found, hint));
    if resolve(path).starts_with(resolve(release)) {
        return refuse(
            "the receipt would lie inside the release",
            "it is private: keep it in another directory",
        );
    }
    check_file(path, replace)?;
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !parent.is_dir() {
        return refuse("its directory does not exist", "make the directory first");
    }
    Ok(())
}

/// The path without links and dots, as far as it exists.
fn resolve(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for ancestor in path.ancestors() {
        if let Ok(real) = fs::canonicalize(ancestor) {
            let rest = path.strip_prefix(ancestor).expect("an ancestor is a prefix");
            let mut resolved = real;
            for part in rest.components() {
                match part {
                    std::path::Component::ParentDir => {
                        resolved.pop();
                    }
                    std::path::Component::CurDir => {}
                    other => resolved.push(other),
                }
            }
            return resolved;
        }
    }
    path
}

fn sha256(path: &Path) -> Result<Option<String>> {
    if !path.is_file() {
        return Ok(None);
    }
    let fail = |e| Error::io(path, e);
    let mut file = File::open(path).map_err(fail)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer).map_err(fail)? {
            0 => return Ok(Some(hex(&hash.finalize()))),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// The day of a time, in UTC, as `2026-01-31`.
pub fn day(time: SystemTime) -> String {
    utc(time).split('T').next().unwrap_or_default().to_owned()
}

/// A time as `2026-01-31T12:00:00Z`.
fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (day, of_day) = (seconds / 86_400, seconds % 86_400);
    let (mut year, mut rest) = (1970, day);
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    while rest >= 365 + u64::from(leap(year)) {
        rest -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if rest < days {
            break;
        }
        rest -= days;
        month += 1;
    }
    format!(
        "{year}-{month:02}-{:02}T{:02}:{:02}:{:02}Z",
        rest + 1,
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_calendar_times() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (1_735_689_600, "2025-01-01T00:00:00Z"),
        ] {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn a_receipt_is_never_inside_the_release() {
        let inside = |path: &str| check_receipt(path.as_ref(), "no-such/release".as_ref(), false);
        for path in ["no-such/release/r.json", "no-such/x/../release/r.json", "no-such/release"] {
            let error = inside(path).unwrap_err().to_string();
            assert!(error.contains("inside the release"), "{error}");
        }
        assert!(inside("no-such/release.json").unwrap_err().to_string().contains("does not exist"));
        assert!(inside("receipt.json").is_ok());
    }
}
