//! How long work tells its caller how far it has come, and asks whether to go on.
//!
//! The library prints nothing. A caller that wants a progress bar, or a way to
//! stop, implements [`Progress`]; `&()` is the observer that does not look.
//!
//! Long loops call [`Progress::step`] at least every few thousandths of a
//! second. It fails with [`Error::Cancelled`] once the caller has said "stop",
//! and the `?` behind it carries that up: nothing is published, nothing is left.

mod pulse;
mod sort;

use std::ops::ControlFlow;

pub(crate) use pulse::Pulse;
pub(crate) use sort::sort_unstable_by;

use crate::budget::Budget;
use crate::{Error, Result};

/// What long work is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Reading data or a release; steps are bytes.
    Reading,
    /// Writing; steps are records, or clusters, classes and groups.
    Writing,
    /// Making up data; steps are records.
    Generating,
    /// Playing the attacker on raw data; steps are guesses.
    Guessing,
    /// Looking for itemsets that break k^m-anonymity; steps are records.
    Problematic,
    /// Horizontal partitioning; steps are records.
    Clustering,
    /// Vertical partitioning; steps are clusters.
    Splitting,
    /// Joining clusters; steps are clusters.
    Refining,
    /// Generalising; steps are records or itemsets.
    Generalizing,
    /// Dropping rare items; steps are records.
    Suppressing,
    /// Ordering records so that similar ones are near each other; steps are records.
    Ordering,
    /// Forming groups around sensitive items; steps are records.
    Grouping,
    /// Checking a release; steps are clusters, classes or groups.
    Verifying,
    /// Counting the possible data sets of a release; steps are clusters.
    Worlds,
    /// Looking for covers; steps are clusters.
    Covers,
    /// Probabilities after the attack; steps are targets.
    Posteriors,
    /// Replaying the method on possible data sets; steps are worlds.
    Replaying,
    /// Playing out attackers who know some items; steps are targets.
    Linking,
    /// Drawing possible data sets; steps are records.
    Reconstructing,
    /// Answering queries; steps are queries.
    Querying,
    /// Mining itemsets; steps are items.
    Mining,
    /// Computing measures; steps are records.
    Measuring,
    /// Trying settings; steps are settings.
    Comparing,
}

impl Stage {
    /// One word for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Writing => "writing",
            Self::Generating => "generating",
            Self::Guessing => "guessing",
            Self::Problematic => "problematic",
            Self::Clustering => "clustering",
            Self::Splitting => "splitting",
            Self::Refining => "refining",
            Self::Generalizing => "generalizing",
            Self::Suppressing => "suppressing",
            Self::Ordering => "ordering",
            Self::Grouping => "grouping",
            Self::Verifying => "verifying",
            Self::Worlds => "worlds",
            Self::Covers => "covers",
            Self::Posteriors => "posteriors",
            Self::Replaying => "replaying",
            Self::Linking => "linking",
            Self::Reconstructing => "reconstructing",
            Self::Querying => "querying",
            Self::Mining => "mining",
            Self::Measuring => "measuring",
            Self::Comparing => "comparing",
        }
    }
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// An observer of long work. Calls come from any thread.
pub trait Progress: Sync {
    /// A new stage begins; `total` is its number of steps where it is known.
    fn stage(&self, stage: Stage, total: Option<u64>);

    /// `steps` more of the current stage are done (0 asks only). Whether the
    /// work shall go on or stop; once "stop", always "stop".
    fn advance(&self, steps: u64) -> ControlFlow<()>;

    /// How much memory the work may take; by default three quarters of the machine's.
    fn budget(&self) -> Budget {
        Budget::of_the_machine()
    }

    /// [`advance`](Self::advance) for `?`: [`Error::Cancelled`] means stop.
    fn step(&self, steps: u64) -> Result<()> {
        match self.advance(steps) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled),
        }
    }
}

/// An observer that does not look, and allows so much memory.
impl Progress for Budget {
    fn stage(&self, _stage: Stage, _total: Option<u64>) {}
    fn advance(&self, _steps: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    fn budget(&self) -> Budget {
        *self
    }
}

impl Progress for () {
    fn stage(&self, _stage: Stage, _total: Option<u64>) {}
    fn advance(&self, _steps: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
