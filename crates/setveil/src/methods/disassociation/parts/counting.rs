//! The plan of a step, of records or of clusters: counts, level by level, that keep to the memory.

use super::{Plan, Planner, Shelf, Shelves, Sizes};
use crate::data::damaged;
use crate::error::{Hint, Setting};
use crate::progress::{Progress, Pulse, Stage};
use crate::{Error, Result};

/// Writes the ranks of something, in any order, and gives its weight; none for what comes into no part.
pub(super) type Ranked<'a> = dyn FnMut(&[u8], &mut Vec<u32>) -> Result<Option<u64>> + 'a;

/// Counts what lies on `source` until the plan is there.
///
/// Those that still count, wherever they are half as much as were read for the level before, lie
/// on a shelf of their own from then on, and their ranks in memory once they are few: what is alike
/// for long is followed to the last level, and nobody reads everything for each of these.
///
/// # Errors
/// If the plan has more counts or parts than `sizes` allow, as `ranked`, and what shelves say.
pub(super) fn plan<S: Shelves>(
    mut planner: Planner,
    source: &mut S::Shelf,
    ranked: &mut Ranked,
    (shelves, sizes): (&mut S, &Sizes),
    progress: &dyn Progress,
) -> Result<Plan> {
    let (mut few, mut weight, mut own) = (None::<S::Shelf>, 0, Vec::new());
    let mut listed = List::default();
    while planner.counts() {
        progress.stage(Stage::Ordering, None);
        let (mut counter, mut pulse) = (planner.counter(), Pulse::new(progress));
        let (before, awaited) = (planner.len(), planner.awaited());
        let mut count = |own: &mut [u32], weight| {
            let counts = planner.count_unsorted(own, weight, &mut counter);
            pulse.work(own.len())?;
            pulse.done(1)?;
            check_counts((before + counter.len()) as u64, sizes.counts).map(|()| counts)
        };
        if awaited.is_some() && !listed.full {
            listed.each(&mut |own, weight| count(own, weight).map(drop))?;
        } else {
            let half = awaited.filter(|&awaited| awaited <= weight / 2);
            let mut fewer = half.map(|_| shelves.shelf()).transpose()?;
            listed = List::default();
            few.as_mut().unwrap_or(&mut *source).each(&mut |bytes| {
                if let Some(weight) = ranked(bytes, &mut own)?
                    && count(&mut own, weight)?
                {
                    listed.put(&own, weight);
                    fewer.as_mut().map_or(Ok(()), |fewer| fewer.put(bytes))?;
                }
                Ok(())
            })?;
            if let Some(half) = half {
                (few, weight) = (fewer, half);
            }
        }
        pulse.flush()?;
        // Who counts nothing where something was would do so for ever.
        if counter.len() == 0 && awaited.is_some() {
            return Err(damaged());
        }
        planner.take(counter);
        if awaited.is_none() {
            weight = planner.all();
        }
    }
    // Before it is made: every one of these has a copy of its ranks, which may be many.
    check_parts(planner.equal_parts(), sizes.parts)?;
    let plan = planner.finish();
    check_parts(plan.sizes().len() as u64, sizes.parts)?;
    Ok(plan)
}

/// Ranks and weights in memory, until there are too many of them.
#[derive(Default)]
struct List {
    ranks: Vec<u32>,
    /// Where the ranks of each end, and its weight.
    ends: Vec<(usize, u64)>,
    full: bool,
}

impl List {
    /// So many numbers of 32 bits: half a megabyte.
    const MOST: usize = 1 << 17;

    fn put(&mut self, ranks: &[u32], weight: u64) {
        self.full |= self.ranks.len() + ranks.len() + 4 * self.ends.len() > Self::MOST;
        if self.full {
            (self.ranks, self.ends) = (Vec::new(), Vec::new());
        } else {
            self.ranks.extend_from_slice(ranks);
            self.ends.push((self.ranks.len(), weight));
        }
    }

    fn each(&mut self, visit: &mut dyn FnMut(&mut [u32], u64) -> Result<()>) -> Result<()> {
        let mut start = 0;
        for &(end, weight) in &self.ends {
            visit(&mut self.ranks[start..end], weight)?;
            start = end;
        }
        Ok(())
    }
}

fn check_counts(counts: u64, most: u64) -> Result<()> {
    if counts <= most {
        return Ok(());
    }
    refuse(format!(
        "a plan of parts takes more than {most} counts, and the memory is enough for {most}"
    ))
}

fn check_parts(parts: u64, most: u64) -> Result<()> {
    if parts <= most {
        return Ok(());
    }
    let apart = format!("the data comes apart into at least {parts} parts");
    refuse(format!("{apart}, and the memory is enough for {most}"))
}

/// More memory is what helps.
pub(super) fn refuse<T>(what: String) -> Result<T> {
    Err(Error::Infeasible { what, hint: Hint::of("allow more with {}", &[Setting::Memory]) })
}
