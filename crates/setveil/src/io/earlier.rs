//! Whether a release of the same data was made before, by the custodian's
//! private receipts. Two releases of the same data can be put together, and
//! then neither keeps its promise.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::release::hex;
use super::{Sorter, Spooled};
use crate::data::{Dataset, ItemId, Vocabulary};
use crate::{Progress, Result};

/// So many files beside a receipt are looked at.
const FILES: usize = 1_000;
/// Larger files are no receipts.
const BYTES: u64 = 1 << 20;

/// An earlier release of the same data.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Earlier {
    /// When it was made.
    pub time: String,
    /// Where it was written to.
    pub release: PathBuf,
    /// By which method.
    pub method: String,
}

/// A checksum of the records, whatever their order and the format of the file.
/// Private, as whoever has it can test a guess about the data.
pub fn data_sha256(data: &Dataset) -> String {
    let digest = |record| digest(record, data.vocabulary());
    let mut records: Vec<[u8; 32]> = data.records().map(digest).collect();
    records.sort_unstable();
    let mut hash = Sha256::new();
    records.iter().for_each(|record| hash.update(record));
    hex(&hash.finalize())
}

/// [`data_sha256`] of data on disk.
///
/// # Errors
/// If the disk cannot be read or written, or `progress` says stop.
pub fn spooled_sha256(data: &mut Spooled, progress: &dyn Progress) -> Result<String> {
    let mut records = Sorter::new(&data.shelves, data.memory.part(4).bytes(), progress);
    let vocabulary = std::mem::take(&mut data.vocabulary);
    let read = data.each_record(progress, &mut |record| records.add(&digest(record, &vocabulary)));
    data.vocabulary = vocabulary;
    read?;
    let mut hash = Sha256::new();
    records.each(&mut |record| {
        hash.update(record);
        Ok(())
    })?;
    Ok(hex(&hash.finalize()))
}

/// The checksum of a record, whatever the numbers of its items.
fn digest(record: &[ItemId], vocabulary: &Vocabulary) -> [u8; 32] {
    let mut hash = Sha256::new();
    for &item in record {
        let label = vocabulary.label(item);
        hash.update((label.len() as u64).to_le_bytes());
        hash.update(label);
    }
    hash.finalize().into()
}

/// The earlier releases that `receipt`, if it is there already, and the other
/// receipts in its directory tell of.
pub fn earlier_releases(receipt: &Path, data_sha256: &str) -> Vec<Earlier> {
    let parent = receipt.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path());
    let json = |path: &PathBuf| path.extension().is_some_and(|e| e == "json");
    let paths = beside.filter(json).take(FILES).chain([receipt.to_owned()]);
    let mut found: Vec<Earlier> = paths.flat_map(|path| told_by(&path, data_sha256)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// What one file tells; nothing if it is no receipt of this data.
fn told_by(path: &Path, data_sha256: &str) -> Vec<Earlier> {
    let small = fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= BYTES);
    let text = if small { fs::read(path).unwrap_or_default() } else { Vec::new() };
    let Ok(Value::Object(receipt)) = serde_json::from_slice(&text) else { return Vec::new() };
    if receipt.get("data_sha256").and_then(Value::as_str) != Some(data_sha256) {
        return Vec::new();
    }
    let earlier = receipt.get("earlier").cloned().unwrap_or_default();
    let mut all: Vec<Earlier> = serde_json::from_value(earlier).unwrap_or_default();
    all.extend(serde_json::from_value::<Earlier>(Value::Object(receipt)).ok());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_of_the_records_and_not_of_their_order() {
        let one = Dataset::from_records([vec!["a", "b"], vec!["c"], vec!["c"]]);
        let same = Dataset::from_records([vec!["c"], vec!["b", "a"], vec!["c"]]);
        assert_eq!(data_sha256(&one), data_sha256(&same));
        for other in [
            vec![vec!["ab"], vec!["c"], vec!["c"]],
            vec![vec!["a", "b"], vec!["c"]],
            vec![vec!["a"], vec!["b", "c"], vec!["c"]],
        ] {
            assert_ne!(data_sha256(&one), data_sha256(&Dataset::from_records(other)));
        }
    }
}
