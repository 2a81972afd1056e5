//! What a release would take, before it is taken: a few hundred bytes can
//! speak of billions of records.

use crate::reconstruct::TermOccurrences;
use crate::release::Body;
use crate::{Progress, Release, Result};

/// Bytes of a record beside its items: list, offset and what is said of it.
const RECORD: u64 = 64;

/// Refuses to draw `count` data sets that do not fit into the budget.
pub(super) fn drawn(
    release: &Release,
    terms: TermOccurrences,
    count: u32,
    progress: &dyn Progress,
) -> Result<()> {
    let (records, published) = release.body.extent();
    let mut occurrences = published;
    if let Body::Disassociated(body) = &release.body {
        let k = release.manifest.guarantee.model.k();
        for leaf in body.clusters.iter().flat_map(|cluster| cluster.leaves()) {
            let (size, len) = (leaf.size as usize, leaf.term_chunk.len());
            let own: u64 = leaf.record_chunks.iter().map(|chunk| chunk.total()).sum();
            let uncovered = u64::from(leaf.size).saturating_sub(own) as usize;
            let most = terms.cap(k, size, uncovered, len) as u64;
            occurrences = occurrences.saturating_add(most.saturating_mul(len as u64));
        }
    }
    // What is kept of each, and two that are being made.
    let kept = records.checked_mul(8).and_then(|r| r.checked_add(occurrences.checked_mul(4)?));
    let made = records.checked_mul(RECORD).and_then(|r| r.checked_add(occurrences.checked_mul(4)?));
    let kept = kept.and_then(|kept| kept.checked_mul(count.into()));
    let needed = made.and_then(|made| kept?.checked_add(made.checked_mul(2)?));
    progress.budget().check("the reconstructed records", needed)
}

/// Refuses a release whose records do not fit into the budget.
pub(super) fn records(release: &Release, progress: &dyn Progress) -> Result<()> {
    let (records, occurrences) = release.body.extent();
    let needed =
        records.checked_mul(RECORD).and_then(|r| r.checked_add(occurrences.checked_mul(4)?));
    progress.budget().check("the records that the release speaks of", needed)
}
