//! Reverse Cuthill-McKee over the rows of a binary matrix (cahd-2008,
//! section III, Fig. 4 and 5).
//!
//! Two rows are neighbours if they share an item, which is what the non-zeros
//! of A x A^T say; that product is never built. A breadth-first search on the
//! bipartite graph of rows and items reaches the same rows in the same order:
//! once an item's list of rows was expanded all of them are seen, so no list
//! is expanded twice.
//!
//! Invariant: ties are broken by the number of the row. With rows in the order
//! of their content the result does not depend on the order of the input.

use crate::Result;
use crate::methods::sensitive::Rows;
use crate::progress::{Progress, Pulse};

/// How often the search for a far end may begin again. Each round must find a
/// longer search, and rarely more than three do.
const ROUNDS: usize = 8;

/// The rows in an order in which rows with common items stand close together.
///
/// `rows` should be distinct, `weights` says how often each occurs, and every
/// item is below `columns`. Components of the graph come one after another in
/// the order of their first row; rows that share no item with another come last.
///
/// # Complexity
/// O(nnz) per search, at most ten searches per component, plus sorting the
/// rows that one row reaches: O(nnz + n log n). Memory O(nnz).
///
/// # Deviations
/// - Line 8 of Fig. 4 sorts the rows that are reached from the same row by
///   degree. Here they keep their order: with rows in the order of their
///   items, rows that begin with the same items stay together, while degrees
///   scatter them among thousands of siblings (one popular item is enough).
///   On BMS-WebView-2 that takes a tenth off the reconstruction error.
/// - To find the root, the number of neighbours of a row is replaced by the
///   sum of its items' supports: counting distinct neighbours costs as much
///   as A x A^T.
pub fn rcm(
    rows: &Rows,
    weights: &[u32],
    columns: usize,
    progress: &dyn Progress,
) -> Result<Vec<u32>> {
    let mut search = Search::new(rows, weights, columns, progress);
    let (mut order, mut isolated) = (Vec::with_capacity(rows.len()), Vec::new());
    let mut done = vec![false; rows.len()];
    for first in 0..rows.len() as u32 {
        if done[first as usize] {
            continue;
        }
        if search.is_isolated(first) {
            isolated.push(first);
            continue;
        }
        let root = search.far_end(first)?;
        search.run(root, true)?;
        search.reached.iter().for_each(|&r| done[r as usize] = true);
        // Fig. 4, line 14.
        order.extend(search.reached.iter().rev());
    }
    order.append(&mut isolated);
    search.pulse.flush()?;
    Ok(order)
}

/// A breadth-first search that is used again and again.
struct Search<'a> {
    rows: &'a Rows,
    postings: Rows,
    degree: Vec<u64>,
    /// The search in which a row was seen, an item expanded.
    seen: Vec<u32>,
    expanded: Vec<u32>,
    now: u32,
    /// The rows of the current search in the order in which they were reached.
    reached: Vec<u32>,
    pulse: Pulse<'a>,
}

impl<'a> Search<'a> {
    fn new(rows: &'a Rows, weights: &[u32], columns: usize, progress: &'a dyn Progress) -> Self {
        let mut support = vec![0u64; columns];
        for (row, &weight) in rows.iter().zip(weights) {
            row.iter().for_each(|&item| support[item as usize] += u64::from(weight));
        }
        let degree = rows.iter().map(|row| row.iter().map(|&i| support[i as usize]).sum());
        Self {
            rows,
            postings: rows.transposed(columns),
            degree: degree.collect(),
            seen: vec![0; rows.len()],
            expanded: vec![0; columns],
            now: 0,
            reached: Vec::new(),
            pulse: Pulse::new(progress),
        }
    }

    fn is_isolated(&self, row: u32) -> bool {
        self.rows.row(row as usize).iter().all(|&i| self.postings.row(i as usize).len() == 1)
    }

    /// Searches from `root` and returns the number of levels and where the
    /// last begins in `reached`. `sorted`: rows reached from the same row in
    /// ascending order.
    fn run(&mut self, root: u32, sorted: bool) -> Result<(usize, usize)> {
        self.now += 1;
        self.reached.clear();
        self.reached.push(root);
        self.seen[root as usize] = self.now;
        let (mut levels, mut level, mut next) = (0, 0, 0);
        while next < self.reached.len() {
            levels += 1;
            level = next;
            let end = self.reached.len();
            while next < end {
                let from = self.reached.len();
                self.expand(self.reached[next]);
                if sorted {
                    self.reached[from..].sort_unstable();
                }
                next += 1;
                self.pulse.work(1 + self.reached.len() - from)?;
            }
        }
        Ok((levels, level))
    }

    /// Appends the rows that share an item with `row` and were not seen.
    fn expand(&mut self, row: u32) {
        for &item in self.rows.row(row as usize) {
            if std::mem::replace(&mut self.expanded[item as usize], self.now) == self.now {
                continue;
            }
            for &neighbour in self.postings.row(item as usize) {
                if std::mem::replace(&mut self.seen[neighbour as usize], self.now) != self.now {
                    self.reached.push(neighbour);
                }
            }
        }
    }

    /// A row at one end of a long shortest path: from any row to the row of
    /// least degree on the last level, as long as that makes the search deeper.
    fn far_end(&mut self, first: u32) -> Result<u32> {
        let (mut root, mut depth) = (first, 0);
        for _ in 0..ROUNDS {
            let (levels, last) = self.run(root, false)?;
            if levels <= depth {
                break;
            }
            depth = levels;
            let by_degree = |&&r: &&u32| (self.degree[r as usize], r);
            root = *self.reached[last..].iter().min_by_key(by_degree).expect("a level has a row");
        }
        Ok(root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path comes out as a path, from one of its ends.
    #[test]
    fn a_path_is_walked_from_end_to_end() {
        let path = [vec![0, 1], vec![4, 5], vec![1, 2], vec![3, 4], vec![2, 3]];
        let rows: Rows = path.into_iter().collect();
        let order = rcm(&rows, &[1; 5], 6, &()).unwrap();
        assert!(order == [0, 2, 4, 3, 1] || order == [1, 3, 4, 2, 0], "{order:?}");
    }

    #[test]
    fn components_one_after_another_and_isolated_rows_last() {
        let rows: Rows =
            [vec![9], vec![0, 1], vec![], vec![5, 6], vec![1, 2], vec![6, 7], vec![2, 3]]
                .into_iter()
                .collect();
        let order = rcm(&rows, &[1; 7], 10, &()).unwrap();
        let place = |r: u32| order.iter().position(|&o| o == r).unwrap();
        assert_eq!(order.len(), 7);
        assert_eq!(&order[5..], [0, 2], "isolated rows are last: {order:?}");
        assert!([1, 4, 6].iter().all(|&r| place(r) < 3), "{order:?}");
        assert_eq!(place(4), 1, "the middle of a path stands in the middle: {order:?}");
    }

    #[test]
    fn a_shuffled_path_is_put_in_line() {
        let n = 500u32;
        let link = |i: u32| (i * 193) % n;
        let mut rows = vec![vec![]; n as usize];
        for i in 0..n {
            rows[link(i) as usize] = vec![i, i + 1];
        }
        let rows: Rows = rows.into_iter().collect();
        let order = rcm(&rows, &vec![1; n as usize], n as usize + 1, &()).unwrap();
        let firsts: Vec<u32> = order.iter().map(|&r| rows.row(r as usize)[0]).collect();
        assert!(firsts.is_sorted() || firsts.is_sorted_by(|a, b| a > b), "{firsts:?}");
    }

    #[test]
    fn nothing_in_nothing_out() {
        assert!(rcm(&Rows::default(), &[], 3, &()).unwrap().is_empty());
    }
}
