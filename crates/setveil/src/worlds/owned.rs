//! The worlds of a release together with the release: they can be kept, and
//! handed to another thread.

use std::fmt;
use std::sync::Arc;

use rand::RngExt;
use self_cell::self_cell;

use super::posterior::Posterior;
use super::release::BodyWorlds;
use super::{Answer, Knowledge, Room};
use crate::data::ItemId;
use crate::release::Disassociated;
use crate::{Progress, Result};

self_cell!(
    struct Owned {
        owner: Arc<Disassociated>,
        #[not_covariant]
        dependent: BodyWorlds,
    }
);

/// The worlds of a disassociated release.
///
/// ```
/// use setveil::release::{Bag, Cluster, Disassociated, SimpleCluster};
/// use setveil::worlds::{Knowledge, ReleaseWorlds};
/// use setveil::data::Vocabulary;
///
/// let body = Disassociated {
///     vocabulary: Vocabulary::new(["flu", "itunes", "viagra"]),
///     clusters: vec![Cluster::Simple(SimpleCluster {
///         size: 4,
///         record_chunks: vec![Bag::from_counted([(&[0, 1][..], 3), (&[1], 1)])],
///         term_chunk: vec![2],
///     })],
/// };
/// let worlds = ReleaseWorlds::new(body, Knowledge::Format);
/// let posterior = worlds.posterior(&[1]);
/// assert_eq!(posterior.of(0), 0.75); // three of the four with itunes have flu
/// assert!((posterior.of(2) - 8.0 / 15.0).abs() < 1e-9);
/// ```
pub struct ReleaseWorlds(Owned);

impl ReleaseWorlds {
    /// Prepares all clusters, for bounds and expectations over the same worlds.
    pub fn new(body: impl Into<Arc<Disassociated>>, knowledge: Knowledge) -> Self {
        let prepared = Self::expecting(body, knowledge, move |_| knowledge, &());
        prepared.expect("nobody says stop")
    }

    /// Prepares all clusters for bounds over all worlds that are `possible` and
    /// expectations over those in which the terms of each leaf occur as
    /// `likely` says.
    ///
    /// # Errors
    /// If `progress` says stop.
    ///
    /// # Complexity
    /// Linear in the release. A cluster is prepared when a question first comes
    /// to it; an answer looks only at the leaves in which all items have a source.
    pub fn expecting(
        body: impl Into<Arc<Disassociated>>,
        possible: Knowledge,
        likely: impl Fn(Room) -> Knowledge + Send + Sync + 'static,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let likely = Box::new(likely);
        Owned::try_new(body.into(), |body| BodyWorlds::expecting(body, possible, likely, progress))
            .map(Self)
    }

    /// Bounds and expectation over all clusters (ascending, distinct items).
    pub fn answer(&self, itemset: &[ItemId]) -> Answer {
        self.0.with_dependent(|_, worlds| worlds.answer(itemset))
    }

    /// The upper bound of [`answer`](Self::answer) alone.
    pub fn upper_bound(&self, itemset: &[ItemId]) -> u64 {
        self.0.with_dependent(|_, worlds| worlds.upper_bound(itemset))
    }

    /// The clusters in which every item of a non-empty itemset has a source in
    /// one leaf, each with the upper bound there.
    pub fn upper_bounds(&self, itemset: &[ItemId]) -> Vec<(usize, u64)> {
        self.0.with_dependent(|_, worlds| worlds.upper_bounds(itemset))
    }

    /// Draws a record as it could be: a random leaf, for each chunk a random
    /// place, each term of the term chunk by its share. Chunks are drawn
    /// independently, so this is a record of a random world only up to the
    /// rule that no other record is empty; an empty one is drawn again, and
    /// given up after a while.
    pub fn draw(&self, rng: &mut impl RngExt) -> Vec<ItemId> {
        self.0.with_dependent(|_, worlds| worlds.draw(rng))
    }

    /// Whether a record could be one of the cluster's: every part of it stands
    /// in a chunk, and every item has a source in one and the same leaf.
    pub fn fits(&self, cluster: usize, record: &[ItemId]) -> bool {
        self.0.with_dependent(|_, worlds| worlds.fits(cluster, record))
    }

    /// The probability of every further item of somebody who has `known`
    /// (ascending, distinct items).
    pub fn posterior(&self, known: &[ItemId]) -> Posterior {
        self.0.with_dependent(|_, worlds| worlds.posterior(known))
    }
}

impl fmt::Debug for ReleaseWorlds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.with_dependent(|_, worlds| f.debug_tuple("ReleaseWorlds").field(worlds).finish())
    }
}
