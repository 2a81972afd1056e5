//! How much the decoder takes for the rows that it hands out at once.
//!
//! A run of a few bytes can be a thousand million values of one list, over many pages. No header says
//! where a list ends, so nobody knows beforehand how many pages the decoder takes for some rows. It asks for
//! each: here it is told no when those since the last rows are too large.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// So much is counted at once, and no less than such a part of the file.
const PORTION: u64 = 1 << 16;
const PARTS: u64 = 1 << 20;

/// What the pages of a file cost, in its order.
#[derive(Default)]
pub(super) struct Costs {
    /// Where some pages begin, and what they cost, until they were asked for.
    portions: Vec<(u64, AtomicU64)>,
    /// What was asked for since the last rows.
    since: AtomicU64,
    /// What is there besides.
    kept: u64,
    limit: u64,
}

impl Costs {
    /// The next pages are those of another column.
    pub(super) fn begin(&mut self, start: u64) {
        self.portions.push((start, AtomicU64::new(0)));
    }

    /// A page behind all others, in a file of this length.
    pub(super) fn add(&mut self, start: u64, cost: u64, length: u64) {
        if let Some((from, sum)) = self.portions.last_mut()
            && (*sum.get_mut() < PORTION || start - *from < length / PARTS)
        {
            *sum.get_mut() = sum.get_mut().saturating_add(cost);
        } else {
            self.portions.push((start, AtomicU64::new(cost)));
        }
    }

    /// With at most so much at once, of which something is `kept` all the time.
    pub(super) fn limited(self, limit: u64, kept: u64) -> Arc<Self> {
        Arc::new(Self { limit, kept, ..self })
    }

    /// Rows were handed out.
    pub(super) fn handed_out(&self) {
        self.since.store(0, Ordering::Relaxed);
    }

    /// How much is wanted, if it is too much.
    pub(super) fn too_much(&self) -> Option<u64> {
        let wanted = self.kept.saturating_add(self.since.load(Ordering::Relaxed));
        (wanted > self.limit).then_some(wanted)
    }

    /// Somebody wants the page at `start`.
    fn want(&self, start: u64) -> Result<()> {
        let behind = self.portions.partition_point(|portion| portion.0 <= start);
        if let Some((_, cost)) = behind.checked_sub(1).map(|last| &self.portions[last]) {
            let cost = cost.swap(0, Ordering::Relaxed);
            let since = self.since.load(Ordering::Relaxed).saturating_add(cost);
            self.since.store(since, Ordering::Relaxed);
        }
        match self.too_much() {
            Some(_) => Err(ParquetError::General("too much memory".into())),
            None => Ok(()),
        }
    }
}

/// A file whose pages are counted.
pub(super) struct Watched<R> {
    pub(super) file: Arc<R>,
    pub(super) costs: Arc<Costs>,
}

impl<R: Length> Length for Watched<R> {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl<R: ChunkReader> ChunkReader for Watched<R> {
    type T = R::T;

    fn get_read(&self, start: u64) -> Result<R::T> {
        self.file.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.costs.want(start)?;
        self.file.get_bytes(start, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_count_once_and_until_rows_are_handed_out() {
        let mut costs = Costs::default();
        costs.begin(4);
        (0..10).for_each(|page| costs.add(10 + page * 10, PORTION, 1000));
        costs.begin(200);
        costs.add(200, 1, 1000);
        let costs = costs.limited(3 * PORTION + 5, 5);
        assert!([10, 10, 20, 30].iter().all(|&start| costs.want(start).is_ok()));
        assert!(costs.want(200).is_err());
        assert_eq!(costs.too_much(), Some(3 * PORTION + 6));
        costs.handed_out();
        assert!([10, 30, 40, 50, 60].iter().all(|&start| costs.want(start).is_ok()));
        assert!(costs.want(70).is_err());
    }
}
