//! A simple cluster, reduced to the numbers that its worlds depend on.
//!
//! With s records, chunks of n_i non-empty sub-records and tau terms in the
//! term chunk, the placements that leave all but r records empty are
//!
//! W(r) = g(r)^tau * prod_i r! / ((r - n_i)! * prod_u m_iu!),
//!
//! where a term has g(r) = 2^r - 1 places (format) or sum_{c<k} C(r, c)
//! (algorithm). Inclusion and exclusion over the empty records gives the number
//! of worlds N = sum_j (-1)^j C(s, j) W(s - j), and for an itemset with counts
//! c_i in q record chunks and w terms of the term chunk the expected support
//!
//! E = prod c_i * 1/N * sum_j (-1)^j C(s, j) W(s - j) (s - j)^(1-q) phi(s - j)^w,
//!
//! phi(r) being the share of a term's places that use a given record. The sums
//! alternate: see [`sums`](super::sums) for how they are evaluated.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use super::complex::{Complex, ln_gamma};
use super::sums::{self, Sums};
use super::{Answer, Knowledge, bounds};
use crate::release::{Bag, SimpleCluster};

/// The worlds of a simple cluster.
///
/// # Guarantee
/// Expected supports have a relative error of at most
/// [`RELATIVE_ERROR`](super::RELATIVE_ERROR), for any size of the cluster; tests
/// compare them with exact arithmetic.
///
/// # Complexity
/// O(chunks) per [`ratio`](Self::ratio), times some hundred steps, for any size
/// of the cluster. The first sums are kept.
///
/// ```
/// use setveil::worlds::{ClusterModel, Knowledge};
///
/// // Five records, {a} three times, {b, c} three times, no term chunk
/// // (disassociation-2012, Example 1): one record must hold both.
/// let model = ClusterModel::from_totals(5, &[3, 3], 0, Knowledge::Format);
/// assert!((model.expected_support(&[3, 3], 0) - 1.0).abs() < 1e-9);
/// assert_eq!(model.bounds(&[3, 3], 0), (1, 1));
/// ```
#[derive(Clone, Debug)]
pub struct ClusterModel {
    pub(super) size: u64,
    pub(super) totals: Vec<u64>,
    pub(super) term_chunk_len: u64,
    pub(super) knowledge: Knowledge,
    /// ln of the repetitions of equal sub-records, prod_u m_iu!.
    ln_repetitions: f64,
    /// What is needed for expectations, once they have been asked for; it may assume
    /// other numbers than `totals` and another `knowledge`.
    expectation: OnceLock<Arc<Expectation>>,
}

#[derive(Debug)]
struct Expectation {
    sums: Sums,
    /// Ratios for small q and w, once they have been asked for; until then [`UNKNOWN`].
    ratios: [AtomicU64; CACHED * CACHED],
}

/// Not a number that a ratio can be.
const UNKNOWN: u64 = u64::MAX;

/// What models with the same numbers share: there are far fewer different ones than
/// leaves of joint clusters.
#[derive(Debug, Default)]
pub(super) struct SharedSums(Mutex<FxHashMap<Numbers, Arc<Expectation>>>);

/// Size, totals, terms, and in how many records a term can be.
type Numbers = (u64, Box<[u64]>, u64, u64);

impl SharedSums {
    fn of(
        &self,
        size: u64,
        totals: Vec<u64>,
        terms: u64,
        knowledge: Knowledge,
    ) -> Arc<Expectation> {
        // 0: any number, as the format says.
        let most = match knowledge {
            Knowledge::Format => 0,
            Knowledge::Algorithm(k) => u64::from(k.get()),
        };
        let numbers = (size, totals.into_boxed_slice(), terms, most);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = known.get(&numbers) {
            return shared.clone();
        }
        let made = Arc::new(Expectation::new(size, &numbers.1, terms, knowledge));
        known.insert(numbers, made.clone());
        made
    }
}

impl Expectation {
    fn new(size: u64, totals: &[u64], terms: u64, knowledge: Knowledge) -> Self {
        let ratios = [const { AtomicU64::new(UNKNOWN) }; CACHED * CACHED];
        Self { sums: Sums::new(size, totals, terms, knowledge), ratios }
    }
}

/// Ratios for fewer chunks and fewer terms than this are kept.
const CACHED: usize = 4;

impl ClusterModel {
    /// The model of a cluster of `size` records with these record chunks and
    /// so many terms in its term chunk.
    pub fn new(size: u64, chunks: &[Bag], term_chunk_len: usize, knowledge: Knowledge) -> Self {
        let totals: Vec<u64> = chunks.iter().map(Bag::total).collect();
        let mut model = Self::from_totals(size, &totals, term_chunk_len, knowledge);
        model.ln_repetitions = chunks
            .iter()
            .flat_map(Bag::iter)
            .map(|(_, count)| ln_falling(u64::from(count), u64::from(count)))
            .sum();
        model
    }

    /// The model of a published simple cluster.
    pub fn of(cluster: &SimpleCluster, knowledge: Knowledge) -> Self {
        let SimpleCluster { size, record_chunks, term_chunk } = cluster;
        Self::new(u64::from(*size), record_chunks, term_chunk.len(), knowledge)
    }

    /// The model from the chunks' numbers of sub-records. Expected supports and
    /// bounds need nothing else; [`log_worlds`](Self::log_worlds) takes the
    /// sub-records for distinct.
    pub fn from_totals(
        size: u64,
        totals: &[u64],
        term_chunk_len: usize,
        knowledge: Knowledge,
    ) -> Self {
        Self {
            size,
            totals: totals.iter().copied().filter(|&n| n > 0).collect(),
            term_chunk_len: term_chunk_len as u64,
            knowledge,
            ln_repetitions: 0.0,
            expectation: OnceLock::new(),
        }
    }

    /// A published cluster for bounds and expectations, not for the number of
    /// its worlds.
    pub(super) fn without_repetitions(cluster: &SimpleCluster, knowledge: Knowledge) -> Self {
        let totals: Vec<u64> = cluster.record_chunks.iter().map(Bag::total).collect();
        Self::from_totals(cluster.size.into(), &totals, cluster.term_chunk.len(), knowledge)
    }

    /// Takes other chunks and another knowledge for expectations than for
    /// bounds. The number of worlds is then no longer this cluster's.
    pub(super) fn expect(&mut self, mut totals: Vec<u64>, knowledge: Knowledge, sums: &SharedSums) {
        totals.retain(|&n| n > 0);
        totals.sort_unstable();
        self.expectation = sums.of(self.size, totals, self.term_chunk_len, knowledge).into();
    }

    fn expectation(&self) -> &Expectation {
        self.expectation.get_or_init(|| {
            let Self { size, totals, term_chunk_len, knowledge, .. } = self;
            Arc::new(Expectation::new(*size, totals, *term_chunk_len, *knowledge))
        })
    }

    /// The number of records.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether there is a world at all: no chunk has more sub-records than
    /// there are records, and there is something for every record.
    pub fn possible(&self) -> bool {
        let Sums { totals, knowledge, .. } = &self.expectation().sums;
        sums::possible(self.size, totals, self.term_chunk_len, *knowledge)
    }

    /// The natural logarithm of the number of worlds; minus infinity if there
    /// is none.
    pub fn log_worlds(&self) -> f64 {
        if !self.possible() {
            return f64::NEG_INFINITY;
        }
        let chunks: f64 = self.totals.iter().map(|&n| ln_falling(self.size, n)).sum();
        let terms = self.term_chunk_len as f64 * ln_places(self.size, self.knowledge);
        chunks - self.ln_repetitions + terms + self.expectation().sums.ln_share_without_empty()
    }

    /// The probability that random placement leaves no record empty.
    pub fn share_without_empty(&self) -> f64 {
        if self.possible() { self.expectation().sums.ln_share_without_empty().exp() } else { 0.0 }
    }

    /// What the counts' product is to be multiplied by: the expected support
    /// of an itemset in `q` record chunks, with one sub-record in each, and `w`
    /// terms of the term chunk. Depends on nothing else.
    pub fn ratio(&self, q: usize, w: usize) -> f64 {
        match (q, w) {
            (0, 0) => self.size as f64,
            // One sub-record is in one record: the sum is N itself.
            (1, 0) => 1.0,
            _ if w as u64 > self.term_chunk_len => 0.0,
            _ => {
                let Expectation { sums, ratios } = self.expectation();
                let ratio = || if self.possible() { sums.ratio(q, w) } else { 0.0 };
                let kept = ratios.get(q * CACHED + w).filter(|_| q < CACHED && w < CACHED);
                let Some(kept) = kept else { return ratio() };
                match kept.load(Ordering::Relaxed) {
                    UNKNOWN => {
                        let ratio = ratio();
                        kept.store(ratio.to_bits(), Ordering::Relaxed);
                        ratio
                    }
                    bits => f64::from_bits(bits),
                }
            }
        }
    }

    /// The expected number of records that contain an itemset: the supports
    /// of its parts in the record chunks it touches, and how many of its terms
    /// are in the term chunk.
    pub fn expected_support(&self, counts_in_chunks: &[u64], w: usize) -> f64 {
        if counts_in_chunks.contains(&0) {
            return 0.0;
        }
        let product: f64 = counts_in_chunks.iter().map(|&c| c as f64).product();
        product * self.ratio(counts_in_chunks.len(), w)
    }

    /// The least and the greatest number of records that contain the itemset
    /// in any world (sound; attained wherever the itemset has no term of the
    /// term chunk).
    pub fn bounds(&self, counts_in_chunks: &[u64], w: usize) -> (u64, u64) {
        bounds::simple(self, counts_in_chunks, w, 0)
    }

    /// Bounds and expectation together.
    pub fn answer(&self, counts_in_chunks: &[u64], w: usize) -> Answer {
        let (lower, upper) = self.bounds(counts_in_chunks, w);
        let expected = self.expected_support(counts_in_chunks, w);
        Answer { lower, expected, upper, exact: true }
    }
}

/// ln(n! / (n - c)!).
fn ln_falling(n: u64, c: u64) -> f64 {
    let ln_factorial = |n: u64| ln_gamma(Complex::from(n as f64 + 1.0)).re;
    ln_factorial(n) - ln_factorial(n - c)
}

/// ln g(r): the logarithm of the number of places for one term.
fn ln_places(r: u64, knowledge: Knowledge) -> f64 {
    match knowledge {
        Knowledge::Format => r as f64 * std::f64::consts::LN_2 + (-(-(r as f64)).exp2()).ln_1p(),
        Knowledge::Algorithm(_) => {
            let most = knowledge.max_occurrences(r);
            // ln C(r, c) for c = 1..=most, added in order of size from the last.
            let mut ln = Vec::with_capacity(most as usize);
            let mut last = 0.0;
            for c in 1..=most {
                last += ((r - c + 1) as f64 / c as f64).ln();
                ln.push(last);
            }
            let top = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            top + ln.iter().map(|l| (l - top).exp()).sum::<f64>().ln()
        }
    }
}
