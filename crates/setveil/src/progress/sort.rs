//! Sorting that can be stopped: the sorts of the standard library and of rayon
//! do not ask, and on millions of records they take seconds.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::{Progress, Pulse};
use crate::Result;

/// So many are sorted without asking.
const RUN: usize = 1 << 15;

/// Sorts `items`. Equal ones may change places, but the outcome depends neither
/// on threads nor on when it asks. When it was stopped, `items` hold what they
/// held in some order, or some of it twice.
pub(crate) fn sort_unstable_by<T, F>(
    items: &mut Vec<T>,
    compare: F,
    progress: &dyn Progress,
) -> Result<()>
where
    T: Copy + Send + Sync,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    if items.len() <= RUN {
        items.sort_unstable_by(compare);
        return Ok(());
    }
    items.par_chunks_mut(RUN).try_for_each(|run| {
        run.sort_unstable_by(&compare);
        progress.step(0)
    })?;
    let (mut run, mut merged) = (RUN, items.clone());
    while run < items.len() {
        let pairs = items.par_chunks(2 * run).zip(merged.par_chunks_mut(2 * run));
        pairs.try_for_each(|(pair, to)| merge(pair, run, to, &compare, progress))?;
        std::mem::swap(items, &mut merged);
        run *= 2;
    }
    Ok(())
}

/// Merges the first `run` of `pair` with the others.
fn merge<T: Copy>(
    pair: &[T],
    run: usize,
    to: &mut [T],
    compare: &impl Fn(&T, &T) -> Ordering,
    progress: &dyn Progress,
) -> Result<()> {
    let (mut left, mut right) = pair.split_at(run.min(pair.len()));
    let mut pulse = Pulse::new(progress);
    for portion in to.chunks_mut(RUN) {
        for place in portion {
            let from_right = match (left.first(), right.first()) {
                (Some(l), Some(r)) => compare(r, l).is_lt(),
                (None, _) => true,
                (_, None) => false,
            };
            let from = if from_right { &mut right } else { &mut left };
            *place = from[0];
            *from = &from[1..];
        }
        pulse.work(RUN)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_as_the_standard_library_does() {
        for len in [0, 1, 5, RUN - 1, RUN, RUN + 1, 2 * RUN + 7, 5 * RUN + 3] {
            let mut items: Vec<u64> = (0..len as u64).map(|i| i * 7_919 % 10_007).collect();
            let mut expected = items.clone();
            expected.sort_unstable();
            sort_unstable_by(&mut items, u64::cmp, &()).unwrap();
            assert_eq!(items, expected);
        }
    }
}
