//! Who holds what, given a release in groups and the whole program: every
//! placement of the sensitive items and every path of the random choices, for a
//! handful of records.
//!
//! The grouping under test is the real code; what stands here is the attacker:
//! a prior in which every placement is equally likely, and Bayes' rule in whole
//! numbers.

use std::collections::BTreeMap;
use std::sync::Mutex;

use setveil::Dataset;
use setveil::methods::cahd::blind::{Secret, Step, Streams};
use setveil::methods::cahd::{Rows, Split};

/// A source of shuffles that goes through all of them: the same program is run
/// again and again, each time along another path.
#[derive(Debug, Default)]
pub struct Paths {
    walk: Mutex<Walk>,
}

#[derive(Debug, Default)]
struct Walk {
    /// For each shuffle on the path which of how many orders is taken.
    choices: Vec<(u32, u32)>,
    at: usize,
}

/// A source of shuffles of which the attacker knows every path and how likely
/// it is.
pub trait Source: Secret {
    /// One in how many paths the last one was.
    fn one_in(&self) -> u128;
    /// Goes to the next path; false after the last.
    fn advance(&mut self) -> bool;
}

impl Source for Paths {
    fn one_in(&self) -> u128 {
        let walk = self.walk.lock().expect("no test panics while it shuffles");
        walk.choices.iter().map(|&(_, all)| u128::from(all)).product()
    }

    fn advance(&mut self) -> bool {
        let walk = self.walk.get_mut().expect("no test panics while it shuffles");
        walk.at = 0;
        while let Some((choice, all)) = walk.choices.last_mut() {
            *choice += 1;
            if choice < all {
                return true;
            }
            walk.choices.pop();
        }
        false
    }
}

/// Streams whose key the attacker knows: there is one path.
impl Source for Streams {
    fn one_in(&self) -> u128 {
        1
    }

    fn advance(&mut self) -> bool {
        false
    }
}

impl Secret for Paths {
    fn shuffle(&self, _step: Step, rows: &mut [u32]) {
        let mut walk = self.walk.lock().expect("no test panics while it shuffles");
        if walk.at == walk.choices.len() {
            walk.choices.push((0, (1..=rows.len() as u32).product()));
        }
        let mut order = walk.choices[walk.at].0 as usize;
        walk.at += 1;
        for i in (1..rows.len()).rev() {
            rows.swap(i, order % (i + 1));
            order /= i + 1;
        }
    }
}

/// Records without their sensitive items, and what may be placed on them.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The non-sensitive items of each record; none is empty.
    pub qid: Vec<Vec<String>>,
    /// How many sensitive items there are: one or two.
    pub sensitive: usize,
    /// The degree.
    pub p: usize,
}

const LABELS: [&str; 2] = ["x", "y"];

/// A group as published: which non-sensitive parts, how many of each sensitive item.
type Seen = Vec<(Vec<usize>, [usize; 2])>;

/// What the attacker found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Placements for which there is a release.
    pub placements: u64,
    /// Runs of the program.
    pub paths: u64,
    /// Pairs of a release and a record-item pair that were judged.
    pub judged: u64,
    /// Those in which the record holds the item with more than 1/p.
    pub above: u64,
    /// Those in which the probability is not what the counts of the groups say.
    pub unequal: u64,
}

impl Found {
    /// Adds what another instance gave.
    pub fn add(&mut self, other: Self) {
        self.placements += other.placements;
        self.paths += other.paths;
        self.judged += other.judged;
        self.above += other.above;
        self.unequal += other.unequal;
    }
}

/// Every number of paths divides this, for up to seven records.
const UNIT: u128 = 5040u128.pow(6);

/// The weight of a release, in all and per record and sensitive item that it holds.
#[derive(Default)]
struct Weight {
    all: u128,
    holds: Vec<[u128; 2]>,
}

impl Weight {
    fn add(&mut self, weight: u128, held: &[usize]) {
        self.all += weight;
        self.holds.resize(held.len(), [0; 2]);
        for (sum, held) in self.holds.iter_mut().zip(held) {
            for (s, sum) in sum.iter_mut().enumerate() {
                *sum += weight * (held >> s & 1) as u128;
            }
        }
    }
}

/// Runs `group` for every placement on every path of `source`, and judges
/// every release. `group` gets the records in two parts and how many items there are.
pub fn judge<S: Source>(
    instance: &Instance,
    source: impl Fn() -> S,
    group: impl Fn(&Split, usize, &S) -> Rows,
) -> Found {
    let n = instance.qid.len();
    let kinds = 1usize << instance.sensitive;
    let mut releases: BTreeMap<Seen, Weight> = BTreeMap::new();
    let mut found = Found::default();
    for placement in 1..kinds.pow(n as u32) {
        let held: Vec<usize> = (0..n).map(|r| placement / kinds.pow(r as u32) % kinds).collect();
        let count = |s: usize| held.iter().filter(|&&h| h >> s & 1 == 1).count();
        if (0..2).any(|s| count(s) * instance.p > n) {
            continue;
        }
        found.placements += 1;
        let (split, columns) = prepare(instance, &held);
        let mut source = source();
        loop {
            let release = seen(instance, &held, &split, &group(&split, columns, &source));
            found.paths += 1;
            let one_in = source.one_in();
            assert_eq!(UNIT % one_in, 0, "more shuffles than expected");
            releases.entry(release).or_default().add(UNIT / one_in, &held);
            if !source.advance() {
                break;
            }
        }
    }
    for (release, weight) in &releases {
        judge_release(instance, release, weight, &mut found);
    }
    found
}

fn prepare(instance: &Instance, held: &[usize]) -> (Split, usize) {
    let rows = instance.qid.iter().zip(held).map(|(qid, held)| {
        let own = (0..2).filter(move |s| held >> s & 1 == 1).map(|s| LABELS[s]);
        qid.iter().map(String::as_str).chain(own).collect::<Vec<_>>()
    });
    let data = Dataset::from_records(rows);
    let items: Vec<u32> = LABELS.iter().filter_map(|label| data.vocabulary().id(label)).collect();
    (Split::new(&data, &items, &()).expect("nobody stops it"), data.item_count())
}

/// What is published of the groups: records with the same non-sensitive items
/// cannot be told apart.
fn seen(instance: &Instance, held: &[usize], split: &Split, groups: &Rows) -> Seen {
    let kind = |r: usize| {
        instance.qid.iter().position(|qid| *qid == instance.qid[r]).expect("it is one of them")
    };
    let mut published: Seen = groups
        .iter()
        .map(|rows| {
            let records: Vec<usize> =
                rows.iter().map(|&row| split.source[row as usize] as usize).collect();
            let count = |s: usize| records.iter().filter(|&&r| held[r] >> s & 1 == 1).count();
            let mut kinds: Vec<usize> = records.iter().map(|&r| kind(r)).collect();
            kinds.sort_unstable();
            (kinds, [count(0), count(1)])
        })
        .collect();
    published.sort_unstable();
    published
}

/// Compares, for every record and item, the probability after the release
/// with 1/p and with the counts: count / size of the group, or the mean of that
/// over the records that look the same.
fn judge_release(instance: &Instance, release: &Seen, weight: &Weight, found: &mut Found) {
    for (r, qid) in instance.qid.iter().enumerate() {
        let kind = instance.qid.iter().position(|other| other == qid).expect("it is one of them");
        let alike = instance.qid.iter().filter(|other| *other == qid).count();
        for s in 0..instance.sensitive {
            // In 420ths: every size up to seven divides that.
            let expected: usize = release
                .iter()
                .map(|(kinds, counts)| {
                    let here = kinds.iter().filter(|&&k| k == kind).count();
                    here * counts[s] * 420 / kinds.len()
                })
                .sum();
            let holds = weight.holds[r][s];
            found.judged += 1;
            found.above += u64::from(holds * instance.p as u128 > weight.all);
            let equal = holds * (420 * alike) as u128 == weight.all * expected as u128;
            found.unequal += u64::from(!equal);
        }
    }
}
