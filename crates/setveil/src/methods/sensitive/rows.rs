//! Records as rows of a flat array, and records split into what may be known
//! and what must not be linked.

use crate::Result;
use crate::data::{Dataset, ItemId};
use crate::methods::limits;
use crate::progress::{Progress, Pulse, sort_unstable_by};

/// Slices of numbers in one allocation; unlike a data set, with empty ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Row `i` is `items[offsets[i]..offsets[i + 1]]`.
    offsets: Vec<usize>,
    items: Vec<u32>,
}

impl Default for Rows {
    fn default() -> Self {
        Self { offsets: vec![0], items: Vec::new() }
    }
}

impl Rows {
    /// Appends a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = u32>) {
        self.items.extend(row);
        self.offsets.push(self.items.len());
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[u32] {
        &self.items[self.offsets[i]..self.offsets[i + 1]]
    }

    /// All rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> + Clone {
        self.offsets.windows(2).map(|w| &self.items[w[0]..w[1]])
    }

    /// All numbers of all rows.
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    /// For every number below `columns`, the rows that hold it, ascending.
    pub fn transposed(&self, columns: usize) -> Self {
        let mut offsets = vec![0; columns + 1];
        for &item in &self.items {
            offsets[item as usize + 1] += 1;
        }
        for c in 0..columns {
            offsets[c + 1] += offsets[c];
        }
        let mut cursor = offsets.clone();
        let mut items = vec![0; self.items.len()];
        for (r, row) in self.iter().enumerate() {
            for &item in row {
                items[cursor[item as usize]] = r as u32;
                cursor[item as usize] += 1;
            }
        }
        Self { offsets, items }
    }

    fn with_capacity(rows: usize, items: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { offsets, items: Vec::with_capacity(items) }
    }
}

impl<R: IntoIterator<Item = u32>> FromIterator<R> for Rows {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> Self {
        let mut all = Self::default();
        rows.into_iter().for_each(|row| all.push(row));
        all
    }
}

/// Every record in two parts, in the order of their content: by the
/// non-sensitive items, then by the sensitive ones.
///
/// The same records in another order give the same split, apart from
/// `source`; so whatever is computed from a split, and breaks ties by the
/// number of the row, does not depend on the order of the input.
#[derive(Clone, Debug)]
pub struct Split {
    /// The non-sensitive items of each row: the quasi-identifier.
    pub qid: Rows,
    /// The sensitive items of each row, as indices into the list of sensitive items.
    pub sensitive: Rows,
    /// The sensitive items, ascending.
    pub items: Vec<ItemId>,
    /// The record of the input that each row is.
    pub source: Vec<u32>,
}

impl Split {
    /// Splits `data` by the `sensitive` items, which must ascend.
    ///
    /// # Errors
    /// If there is more data than can be numbered, or `progress` says stop.
    pub fn new(data: &Dataset, sensitive: &[ItemId], progress: &dyn Progress) -> Result<Self> {
        limits::check(data)?;
        let mut index = vec![u32::MAX; data.item_count()];
        for (i, &item) in sensitive.iter().enumerate() {
            index[item as usize] = i as u32;
        }
        let is_qid = |item: &ItemId| index[*item as usize] == u32::MAX;
        let mut keyed: Vec<(u64, u32)> = data
            .records()
            .enumerate()
            .map(|(r, record)| {
                // The first two items decide most comparisons without touching the record.
                let mut qid = record.iter().copied().filter(is_qid).map(|i| u64::from(i) + 1);
                let (first, second) = (qid.next().unwrap_or(0), qid.next().unwrap_or(0));
                (first << 32 | second, r as u32)
            })
            .collect();
        let order = |a: &(u64, u32), b: &(u64, u32)| {
            a.0.cmp(&b.0).then_with(|| {
                let (x, y) = (data.record(a.1 as usize), data.record(b.1 as usize));
                compare(x, y, is_qid)
                    .then_with(|| compare(x, y, |i| !is_qid(i)))
                    .then(a.1.cmp(&b.1))
            })
        };
        sort_unstable_by(&mut keyed, order, progress)?;
        let mut pulse = Pulse::new(progress);
        let mut qid = Rows::with_capacity(data.len(), data.occurrences().len());
        let mut own = Rows::with_capacity(data.len(), 0);
        let mut source = Vec::with_capacity(data.len());
        for (_, r) in keyed {
            let record = data.record(r as usize);
            qid.push(record.iter().copied().filter(is_qid));
            own.push(record.iter().map(|&i| index[i as usize]).filter(|&i| i != u32::MAX));
            source.push(r);
            pulse.work(record.len())?;
        }
        Ok(Self { qid, sensitive: own, items: sensitive.to_vec(), source })
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.qid.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The distinct rows of non-sensitive items, and the first row of each
    /// (with the number of rows at the end): equal rows stand together.
    pub fn distinct(&self) -> (Rows, Vec<u32>) {
        let (mut rows, mut starts) = (Rows::default(), Vec::new());
        for r in 0..self.len() {
            let row = self.qid.row(r);
            if r == 0 || self.qid.row(r - 1) != row {
                rows.push(row.iter().copied());
                starts.push(r as u32);
            }
        }
        starts.push(self.len() as u32);
        (rows, starts)
    }
}

/// Compares the items of two records that `keep` lets pass.
fn compare(a: &[ItemId], b: &[ItemId], keep: impl Fn(&ItemId) -> bool) -> std::cmp::Ordering {
    a.iter().filter(|i| keep(i)).cmp(b.iter().filter(|i| keep(i)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_split_does_not_know_the_order_of_the_rows() {
        let rows = [vec!["b", "x"], vec!["a", "c"], vec!["x"], vec!["b"], vec!["a", "c", "x", "y"]];
        let forward = Dataset::from_records(rows.iter().cloned());
        let backward = Dataset::from_records(rows.iter().rev().cloned());
        let sensitive: Vec<ItemId> =
            ["x", "y"].iter().map(|l| forward.vocabulary().id(l).unwrap()).collect();
        let split = |data| Split::new(data, &sensitive, &()).unwrap();
        let (f, b) = (split(&forward), split(&backward));
        assert_eq!((&f.qid, &f.sensitive), (&b.qid, &b.sensitive));
        let qid: Vec<&[u32]> = f.qid.iter().collect();
        assert_eq!(qid, [&[][..], &[0, 2], &[0, 2], &[1], &[1]]);
        let own: Vec<&[u32]> = f.sensitive.iter().collect();
        assert_eq!(own, [&[0][..], &[], &[0, 1], &[], &[0]]);
        assert_eq!(f.source, [2, 1, 4, 3, 0]);
        let (distinct, starts) = f.distinct();
        assert_eq!((distinct.len(), starts), (3, vec![0, 1, 3, 5]));
    }

    #[test]
    fn transposing_lists_the_rows_of_each_column() {
        let rows: Rows = [vec![0, 2], vec![], vec![2]].into_iter().collect();
        let columns = rows.transposed(4);
        assert_eq!(columns.iter().collect::<Vec<_>>(), [&[0][..], &[], &[0, 2], &[]]);
        assert_eq!(columns.transposed(3), rows);
    }
}
