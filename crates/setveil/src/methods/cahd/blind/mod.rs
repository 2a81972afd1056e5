//! Groups that do not tell who: a recursion from all records down, in which a
//! step sees the non-sensitive items or who holds what, never both.
//!
//! - A Q-step (`known`) sees the non-sensitive items of a part and the
//!   largest count c of a sensitive item in it. Its parts have at least
//!   p * c records: right wherever the holders are.
//! - An S-step (`holders`) sees the sensitive sets of a part in a secret
//!   random order, and nothing that tells the records apart otherwise.
//!
//! Why the release says no more than the counts of its groups: let P be the
//! published partition and tau any permutation of sensitive sets inside its
//! groups. (1) Every part on the way to P is a union of groups of P, so its
//! counts are the same with and without tau; all Q-steps and all decisions
//! which step is next are the same. (2) An S-step gives pi(A(w o pi)) for a
//! uniform pi, where A does not see the non-sensitive items; with rho = tau pi
//! in the place of pi every outcome is as likely after tau as before. (3) By
//! induction P is. So for an exchangeable prior a member of a group holds s with
//! probability count / size, and for any other prior the release adds nothing
//! to the counts.
//!
//! Invariants: each sensitive item is in at most 1/p of every part; a part has
//! p or more records; the records of a part ascend in the band order; records
//! with the same non-sensitive items stand in it in a secret random order. An
//! S-step begins at a place where no other S-step of the same run begins, so
//! each has a stream of random numbers of its own, whatever the threads do.
//!
//! It does not hide what the data itself says: holders may differ from others
//! in their non-sensitive items.

mod holders;
mod known;
mod secret;

use std::sync::Mutex;

use rayon::Scope;

pub use secret::{Secret, Step, Streams};

use crate::methods::sensitive::{Rows, Split};
use crate::{Error, Progress, Result, Stage};
use holders::Holders;
use known::{Known, Scratch};

/// Parts of more records than this may go to another thread.
const PARALLEL: usize = 1 << 13;

/// Groups the rows of `split`, which stand in the band matrix in `order`.
/// The caller has checked that degree `p` is feasible and that every row has a
/// non-sensitive item. Public for tests that go through all shuffles.
pub fn group(
    split: &Split,
    order: Vec<u32>,
    p: usize,
    columns: usize,
    secret: &dyn Secret,
    progress: &dyn Progress,
) -> Result<Rows> {
    progress.stage(Stage::Grouping, Some(order.len() as u64));
    let order = shuffled(&split.qid, order, secret);
    let recursion = Recursion {
        p,
        columns,
        known: Known::new(&split.qid, &order),
        holders: Holders::new(&split.sensitive, &order, p),
        secret,
        progress,
        found: Mutex::default(),
    };
    let mut places: Vec<u32> = (0..order.len() as u32).collect();
    let root = Part { start: 0, places: &mut places };
    rayon::scope(|scope| recursion.task(root, scope));
    let Found { mut starts, error } = recursion.found.into_inner().unwrap_or_default();
    if let Some(error) = error {
        return Err(error);
    }
    starts.sort_unstable();
    starts.push(places.len());
    let rows = |w: &[usize]| places[w[0]..w[1]].iter().map(|&place| order[place as usize]);
    Ok(starts.windows(2).map(|w| rows(w).collect::<Vec<u32>>()).collect())
}

/// The band order with rows of the same non-sensitive items in a secret order:
/// they come in the order of their whole content, which would tell who holds what.
pub fn shuffled(qid: &Rows, mut order: Vec<u32>, secret: &dyn Secret) -> Vec<u32> {
    let mut start = 0;
    while start < order.len() {
        let own = qid.row(order[start] as usize);
        let same = order[start..].iter().take_while(|&&row| qid.row(row as usize) == own).count();
        if same > 1 {
            secret.shuffle(Step::Equal(start as u64), &mut order[start..start + same]);
        }
        start += same;
    }
    order
}

/// Records that are divided further or are a group: places in the band order,
/// and where among all places they are kept.
struct Part<'r> {
    start: usize,
    places: &'r mut [u32],
}

/// Where the groups begin, and why it was stopped.
#[derive(Default)]
struct Found {
    starts: Vec<usize>,
    error: Option<Error>,
}

struct Recursion<'a> {
    p: usize,
    columns: usize,
    known: Known<'a>,
    holders: Holders<'a>,
    secret: &'a dyn Secret,
    progress: &'a dyn Progress,
    found: Mutex<Found>,
}

impl Recursion<'_> {
    /// Divides `part` to the end; large parts of it are tasks of their own.
    fn task<'s>(&'s self, part: Part<'s>, scope: &Scope<'s>) {
        let mut starts = Vec::new();
        let outcome = self.divide(part, scope, &mut starts);
        if let Ok(mut found) = self.found.lock() {
            found.starts.append(&mut starts);
            found.error = found.error.take().or(outcome.err());
        }
    }

    fn divide<'s>(
        &'s self,
        part: Part<'s>,
        scope: &Scope<'s>,
        starts: &mut Vec<usize>,
    ) -> Result<()> {
        let mut scratch = Scratch::new(self.columns);
        let mut open = vec![part];
        while let Some(part) = open.pop() {
            self.progress.step(0)?;
            let mut rest = self.step(part, &mut scratch, starts)?;
            // One of the large parts stays here.
            let mut own = true;
            while let Some(part) = rest.pop() {
                if part.places.len() <= PARALLEL || std::mem::take(&mut own) {
                    open.push(part);
                } else {
                    scope.spawn(move |scope| self.task(part, scope));
                }
            }
        }
        Ok(())
    }

    /// One step: `part` is a group, or is divided. Returns what is not done.
    fn step<'s>(
        &self,
        part: Part<'s>,
        scratch: &mut Scratch,
        starts: &mut Vec<usize>,
    ) -> Result<Vec<Part<'s>>> {
        let size = part.places.len();
        let largest = self.holders.largest_count(part.places);
        if largest == 0 || size < 2 * self.p {
            starts.push(part.start);
            self.progress.step(size as u64)?;
            return Ok(Vec::new());
        }
        let least = self.p * largest;
        if size >= 2 * least {
            let sizes = self.known.divide(part.places, least, scratch);
            return Ok(split(part, &sizes));
        }
        self.secret.shuffle(Step::Part(part.start as u64), part.places);
        let peeled = self.holders.peel(part.places);
        let done = size - peeled.open;
        starts.extend(peeled.groups.iter().scan(part.start, |at, size| {
            let start = *at;
            *at += size;
            Some(start)
        }));
        self.progress.step(done as u64)?;
        let mut parts = split(part, &[done, peeled.open]);
        parts.retain(|part| !part.places.is_empty());
        Ok(if peeled.open > 0 { parts.drain(parts.len() - 1..).collect() } else { Vec::new() })
    }
}

/// Cuts a part into parts of the given sizes, which add up to its own.
fn split<'r>(part: Part<'r>, sizes: &[usize]) -> Vec<Part<'r>> {
    let Part { mut start, mut places } = part;
    let mut parts = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let (front, back) = places.split_at_mut(size);
        parts.push(Part { start, places: front });
        (start, places) = (start + size, back);
    }
    parts
}
