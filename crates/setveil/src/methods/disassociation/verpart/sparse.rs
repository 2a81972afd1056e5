//! The greedy loop of VERPART on any number of records.
//!
//! A chunk is k^m-anonymous if every combination of 1..m of its terms that
//! some record contains is contained in at least k records. A term joins a
//! chunk if no combination with it is rarer: the records that have the term
//! become the bits of a set per co-occurring term, and a depth-first search
//! over intersections stops at the first that is present but rare.

use crate::Result;
use crate::data::{ItemId, K, M};
use crate::methods::limits;
use crate::progress::{Progress, Pulse};
use crate::release::Bag;

const NONE: u32 = u32::MAX;

/// Records over some terms, which are numbered by rank and falling support.
#[derive(Debug, Default)]
pub(super) struct TermMatrix {
    /// By rank, then by falling support, ties by text.
    terms: Vec<ItemId>,
    /// Term `t` is in the records `postings[posting_starts[t]..posting_starts[t + 1]]`.
    posting_starts: Vec<u32>,
    postings: Vec<u32>,
    /// Record `r` has the terms `rows[row_starts[r]..row_starts[r + 1]]`, in the order of their text.
    row_starts: Vec<u32>,
    rows: Vec<u32>,
}

impl TermMatrix {
    /// Builds the matrix from the terms with their supports, in any order,
    /// and the occurrences: pairs of a record's number and an index into
    /// `terms`, by ascending record and within it by ascending text.
    pub(super) fn new(
        terms: &[(ItemId, u32)],
        rank: impl Fn(ItemId) -> u32,
        records: usize,
        occurrences: &[(u32, u32)],
        progress: &dyn Progress,
    ) -> Result<Self> {
        limits::number("occurrences in one cluster", occurrences.len() as u64)?;
        let mut order: Vec<u32> = (0..terms.len() as u32).collect();
        order.sort_unstable_by_key(|&i| {
            let (item, support) = terms[i as usize];
            (rank(item), std::cmp::Reverse(support), item)
        });
        let mut matrix = Self {
            terms: order.iter().map(|&i| terms[i as usize].0).collect(),
            posting_starts: Vec::with_capacity(terms.len() + 1),
            postings: vec![0; occurrences.len()],
            row_starts: vec![0; records + 1],
            rows: Vec::with_capacity(occurrences.len()),
        };
        let (mut number, mut start) = (vec![0; terms.len()], 0);
        for (n, &i) in order.iter().enumerate() {
            number[i as usize] = n as u32;
            matrix.posting_starts.push(start);
            start += terms[i as usize].1;
        }
        debug_assert_eq!(start as usize, occurrences.len());
        matrix.posting_starts.push(start);
        let mut next = matrix.posting_starts.clone();
        for portion in occurrences.chunks(Pulse::PORTION as usize) {
            for &(record, i) in portion {
                let n = number[i as usize];
                matrix.postings[next[n as usize] as usize] = record;
                next[n as usize] += 1;
                matrix.rows.push(n);
                matrix.row_starts[record as usize + 1] += 1;
            }
            progress.step(0)?;
        }
        for r in 0..records {
            matrix.row_starts[r + 1] += matrix.row_starts[r];
        }
        Ok(matrix)
    }

    fn posting(&self, t: u32) -> &[u32] {
        let t = t as usize;
        &self.postings[self.posting_starts[t] as usize..self.posting_starts[t + 1] as usize]
    }

    fn row(&self, r: u32) -> &[u32] {
        let r = r as usize;
        &self.rows[self.row_starts[r] as usize..self.row_starts[r + 1] as usize]
    }

    /// Divides the terms, each of support >= k, into k^m-anonymous chunks
    /// (Alg. VERPART, lines 8 to 15) and projects the records on them.
    ///
    /// Each term goes to the first chunk that accepts it. That is what the
    /// paper's loop does as well, chunk after chunk: a chunk judges a term by
    /// its members that come before it in the order.
    pub(super) fn chunks(&self, k: K, m: M, progress: &dyn Progress) -> Result<Vec<Bag>> {
        let mut search = Search::new(self, k, m, progress);
        for t in 0..self.terms.len() as u32 {
            let chunk = search.first_chunk(t)?;
            search.chunk_of[t as usize] = chunk;
            search.chunks = search.chunks.max(chunk + 1);
        }
        self.project(&search.chunk_of, search.chunks as usize, progress)
    }

    /// The bags of the records' parts in each chunk.
    fn project(
        &self,
        chunk_of: &[u32],
        chunks: usize,
        progress: &dyn Progress,
    ) -> Result<Vec<Bag>> {
        let mut pulse = Pulse::new(progress);
        let mut parts: Vec<(Vec<ItemId>, Vec<usize>)> = vec![Default::default(); chunks];
        for row in self.row_starts.windows(2) {
            let row = &self.rows[row[0] as usize..row[1] as usize];
            for &t in row {
                parts[chunk_of[t as usize] as usize].0.push(self.terms[t as usize]);
            }
            for &t in row {
                let (items, ends) = &mut parts[chunk_of[t as usize] as usize];
                if ends.last().copied().unwrap_or(0) < items.len() {
                    ends.push(items.len());
                }
            }
            pulse.work(row.len())?;
        }
        let bag = |(items, ends): (Vec<ItemId>, Vec<usize>)| {
            let mut start = 0;
            let part = |end| &items[std::mem::replace(&mut start, end)..end];
            Bag::try_from_itemsets(ends.into_iter().map(part), progress)
        };
        parts.into_iter().map(bag).collect()
    }
}

/// The search for the chunk of a term.
struct Search<'a> {
    matrix: &'a TermMatrix,
    k: u32,
    m: u32,
    /// Which chunk each term is in so far, and how many chunks there are.
    chunk_of: Vec<u32>,
    chunks: u32,
    /// Per term: how often it occurs together with the candidate.
    together: Vec<u32>,
    /// The terms that do, by chunk.
    met: Vec<(u32, u32)>,
    /// Those of one chunk.
    partners: Vec<u32>,
    /// Per partner a set of the candidate's records, and per level one more.
    bits: Vec<u64>,
    words: usize,
    pulse: Pulse<'a>,
}

impl<'a> Search<'a> {
    fn new(matrix: &'a TermMatrix, k: K, m: M, progress: &'a dyn Progress) -> Self {
        Self {
            matrix,
            k: k.get(),
            m: m.get(),
            chunk_of: vec![NONE; matrix.terms.len()],
            chunks: 0,
            together: vec![0; matrix.terms.len()],
            met: Vec::new(),
            partners: Vec::new(),
            bits: Vec::new(),
            words: 0,
            pulse: Pulse::new(progress),
        }
    }

    /// The first chunk that stays k^m-anonymous with the term `t`. All
    /// combinations without `t` are known to be frequent or absent.
    fn first_chunk(&mut self, t: u32) -> Result<u32> {
        if self.m == 1 {
            return Ok(0);
        }
        let posting = self.matrix.posting(t);
        for &r in posting {
            for &u in self.matrix.row(r) {
                if self.chunk_of[u as usize] != NONE {
                    if self.together[u as usize] == 0 {
                        self.met.push((self.chunk_of[u as usize], u));
                    }
                    self.together[u as usize] += 1;
                }
            }
            self.pulse.work(self.matrix.row(r).len())?;
        }
        self.met.sort_unstable();
        // A chunk that the candidate meets nobody of accepts it.
        let (mut chunk, mut at) = (0, 0);
        while at < self.met.len() && self.met[at].0 == chunk {
            let end = at + self.met[at..].partition_point(|m| m.0 == chunk);
            if self.accepts(posting, at..end)? {
                break;
            }
            (chunk, at) = (chunk + 1, end);
        }
        for (_, u) in self.met.drain(..) {
            self.together[u as usize] = 0;
        }
        Ok(chunk)
    }

    /// Whether the chunk stays k^m-anonymous whose terms `met[range]` the
    /// candidate with this posting list meets.
    fn accepts(&mut self, posting: &[u32], range: std::ops::Range<usize>) -> Result<bool> {
        let met = &self.met[range];
        if met.iter().any(|&(_, u)| self.together[u as usize] < self.k) {
            return Ok(false);
        }
        if self.m == 2 || met.len() < 2 {
            return Ok(true);
        }
        self.partners.clear();
        self.partners.extend(met.iter().map(|&(_, u)| u));
        self.fill_bits(posting)?;
        Ok(!self.rare_combination(posting.len() as u32)?)
    }

    /// Writes which of the candidate's records each partner is in.
    fn fill_bits(&mut self, posting: &[u32]) -> Result<()> {
        self.words = posting.len().div_ceil(64);
        self.bits.clear();
        self.bits.resize((self.partners.len() + self.m as usize) * self.words, 0);
        for (j, r) in posting.iter().enumerate() {
            for u in self.matrix.row(*r) {
                if let Ok(i) = self.partners.binary_search(u) {
                    self.bits[i * self.words + j / 64] |= 1 << (j % 64);
                }
            }
            self.pulse.work(self.matrix.row(*r).len())?;
        }
        Ok(())
    }

    /// Whether some combination of two or more partners, together with the
    /// candidate at most m terms, is present but rare.
    fn rare_combination(&mut self, records: u32) -> Result<bool> {
        let Self { words, k, m, pulse, .. } = self;
        let (partners, levels) = self.bits.split_at_mut(self.partners.len() * *words);
        for (i, set) in partners.chunks_exact(*words).enumerate() {
            let size = ones(set);
            levels[..*words].copy_from_slice(set);
            let rest = &partners[(i + 1) * *words..];
            let mut below = Below { words: *words, k: *k, pulse };
            if size < records && below.rare(rest, levels, size, *m - 2)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The search below one partner.
struct Below<'s, 'a> {
    words: usize,
    k: u32,
    pulse: &'s mut Pulse<'a>,
}

impl Below<'_, '_> {
    /// Whether the set of `size` records at the beginning of `levels`,
    /// intersected with at most `depth` of the `partners`, gives a set that is
    /// not empty and smaller than k.
    fn rare(
        &mut self,
        partners: &[u64],
        levels: &mut [u64],
        size: u32,
        depth: u32,
    ) -> Result<bool> {
        let words = self.words;
        let (here, deeper) = levels.split_at_mut(words);
        for (i, set) in partners.chunks_exact(words).enumerate() {
            for w in 0..words {
                deeper[w] = here[w] & set[w];
            }
            self.pulse.work(words)?;
            let common = ones(&deeper[..words]);
            if common == 0 {
                continue;
            }
            if common < self.k {
                return Ok(true);
            }
            // A partner that all of these records have changes no support: what
            // is rare with it is rare without it, and is found there.
            let rest = &partners[(i + 1) * words..];
            if common < size && depth > 1 && self.rare(rest, deeper, common, depth - 1)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn ones(set: &[u64]) -> u32 {
    set.iter().map(|w| w.count_ones()).sum()
}
