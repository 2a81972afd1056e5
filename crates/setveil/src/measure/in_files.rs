//! `tlost` and `pairs_kept` of a release that nobody has as a whole: every file
//! of clusters adds what it has, and of the original only counts are needed.

use std::collections::BTreeSet;

use super::{Evaluation, chunks};
use crate::release::Release;

/// What stands in record and shared chunks, of some clusters of a release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InChunks {
    /// How many pairs of items stand together, in all records.
    pub pairs: u64,
    /// The items that stand in some chunk.
    pub items: BTreeSet<String>,
}

impl InChunks {
    /// What the chunks of `release` have; none for a release without chunks.
    pub fn of(release: &Release) -> Option<Self> {
        let mut found = Self::default();
        let mut kept = vec![false; release.body.vocabulary().len()];
        for chunk in chunks(release)? {
            for (items, count) in chunk.iter() {
                found.pairs += pairs_of(items.len()) * u64::from(count);
                items.iter().for_each(|&item| kept[item as usize] = true);
            }
        }
        let labels = release.body.vocabulary().labels().zip(kept).filter(|(_, kept)| *kept);
        found.items = labels.map(|(label, _)| label.to_owned()).collect();
        Some(found)
    }

    /// The measures, for an original with these supports and with so many pairs
    /// of items in all of its records.
    ///
    /// # Guarantee
    /// Those of [`evaluate`](super::evaluate), if all chunks of the release are in it.
    pub fn evaluation<'a>(
        &self,
        supports: impl IntoIterator<Item = (&'a str, u64)>,
        original_pairs: u64,
        k: u32,
    ) -> Evaluation {
        let (mut frequent, mut lost) = (0u64, 0u64);
        for (label, _) in supports.into_iter().filter(|&(_, support)| support >= u64::from(k)) {
            frequent += 1;
            lost += u64::from(!self.items.contains(label));
        }
        let share = |part: u64, whole: u64, none| match whole {
            0 => none,
            whole => part as f64 / whole as f64,
        };
        Evaluation {
            tlost: Some(share(lost, frequent, 0.0)),
            pairs_kept: Some(share(self.pairs, original_pairs, 1.0)),
            ..Evaluation::default()
        }
    }
}

/// The pairs among so many items.
pub fn pairs_of(items: usize) -> u64 {
    (items * items.saturating_sub(1) / 2) as u64
}
