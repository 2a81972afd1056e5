//! What a session has opened and made. The last few things of each kind are
//! kept, and fewer where they are large.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use setveil::budget::Budget;
use setveil::caution::Caution;
use setveil::io::{Format, LeftOut, ReadOptions};
use setveil::query::{Answer, Index};
use setveil::report::Colour;
use setveil::verify::Verdict;
use setveil::workflow::compare::Compared;
use setveil::workflow::{Anonymized, Assessed, Catalogue, Example, Itemsets, Profiled, Understood};
use setveil::{Dataset, Hierarchy, Method, Release};

use crate::choice::Settings;

/// Data that was read.
pub(crate) struct Data {
    pub(crate) id: u32,
    /// The path from the folder on.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) reading: ReadOptions,
    pub(crate) format: Format,
    pub(crate) left_out: LeftOut,
    pub(crate) dataset: Dataset,
    pub(crate) understood: Understood,
    pub(crate) catalogue: Catalogue,
    pub(crate) profile: OnceLock<Profiled>,
    /// What the custodian said about it.
    said: Mutex<Said>,
}

/// What the custodian said about data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    /// It is meant as it was read, although it looks otherwise.
    pub(crate) as_baskets: bool,
    pub(crate) sensitive: BTreeSet<String>,
    pub(crate) tree: Option<Tree>,
    /// The settings of the form, as they were left.
    pub(crate) settings: Option<Settings>,
}

/// A hierarchy, and where it came from.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) tree: Arc<Hierarchy>,
    pub(crate) from: TreeFrom,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TreeFrom {
    /// A file, by its path from the folder on.
    File(String),
    /// Made from the items of the data, with so many children a node.
    Data(usize),
}

impl Data {
    pub(crate) fn new(
        name: String,
        path: PathBuf,
        reading: ReadOptions,
        input: setveil::io::Input,
        understood: Understood,
    ) -> Self {
        let (format, left_out) = (input.format, input.left_out());
        let catalogue = Catalogue::new(&input.dataset);
        Self {
            id: 0,
            name,
            path,
            reading,
            format,
            left_out,
            dataset: input.dataset,
            understood,
            catalogue,
            profile: OnceLock::new(),
            said: Mutex::new(Said::default()),
        }
    }

    pub(crate) fn said(&self) -> Said {
        self.said.lock().expect("no panic while holding it").clone()
    }

    pub(crate) fn say(&self, change: impl FnOnce(&mut Said)) {
        change(&mut self.said.lock().expect("no panic while holding it"));
    }

    /// Whether it may be published as far as its looks are concerned.
    pub(crate) fn cleared(&self) -> bool {
        !self.understood.findings.refused() || self.said().as_baskets
    }

    fn bytes(&self) -> u64 {
        self.dataset.occurrences().len() as u64 * 4 + self.dataset.len() as u64 * 8
    }
}

/// A release that was made in this session.
pub(crate) struct Run {
    pub(crate) id: u32,
    pub(crate) data: Arc<Data>,
    pub(crate) settings: Settings,
    pub(crate) method: Method,
    pub(crate) tree: Option<Tree>,
    pub(crate) as_baskets: bool,
    pub(crate) release: Release,
    pub(crate) made: Anonymized,
    pub(crate) assessed: Assessed,
    pub(crate) example: Option<Example>,
    pub(crate) saved: Mutex<Vec<Saved>>,
}

/// What was written of a run.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    /// The release, by its path from the folder on.
    pub(crate) release: String,
    /// Everything else, with a word about what it is.
    pub(crate) files: Vec<(&'static str, String)>,
    pub(crate) command: String,
    /// How many earlier releases of the same data receipts tell of.
    pub(crate) earlier: u64,
}

impl Run {
    pub(crate) fn saved(&self) -> Vec<Saved> {
        self.saved.lock().expect("no panic while holding it").clone()
    }

    fn bytes(&self) -> u64 {
        let (records, occurrences) = self.release.body.extent();
        records.saturating_mul(16).saturating_add(occurrences.saturating_mul(8))
    }

    /// The numbers that stay when the release goes.
    fn past(&self) -> Past {
        let measured = self.assessed.measured.as_ref();
        let known = self.release.manifest.guarantee.model.m().unwrap_or(2);
        let level = measured.and_then(|m| m.risk.iter().find(|level| level.known == known));
        let evaluation = measured.map(|m| m.evaluation.clone()).unwrap_or_default();
        Past {
            run: self.id,
            data: self.data.name.clone(),
            setting: self.settings.name(),
            colour: self.assessed.colour(),
            known,
            raw: level.and_then(|level| level.raw),
            found: level.and_then(|level| level.linking),
            error: level.and_then(|level| level.linking_error),
            tkd: evaluation.tkd,
            re: evaluation.re,
            tlost: evaluation.tlost,
            pairs_kept: evaluation.pairs_kept,
            seconds: self.made.seconds,
            saved: Vec::new(),
        }
    }
}

/// A run in numbers.
#[derive(Clone, Debug)]
pub(crate) struct Past {
    pub(crate) run: u32,
    pub(crate) data: String,
    pub(crate) setting: String,
    pub(crate) colour: Colour,
    pub(crate) known: u32,
    pub(crate) raw: Option<f64>,
    pub(crate) found: Option<f64>,
    pub(crate) error: Option<f64>,
    pub(crate) tkd: Option<f64>,
    pub(crate) re: Option<f64>,
    pub(crate) tlost: Option<f64>,
    pub(crate) pairs_kept: Option<f64>,
    pub(crate) seconds: f64,
    pub(crate) saved: Vec<String>,
}

/// A comparison of settings.
pub(crate) struct Sweep {
    pub(crate) id: u32,
    pub(crate) data: Arc<Data>,
    pub(crate) compared: Compared,
}

/// A release that somebody received.
pub(crate) struct Opened {
    pub(crate) id: u32,
    /// The path from the folder on.
    pub(crate) name: String,
    pub(crate) verdict: Verdict,
    pub(crate) cautions: Vec<Caution>,
    pub(crate) index: Index,
    /// Every item with its bounds.
    pub(crate) items: Vec<Answer>,
    pub(crate) itemsets: Mutex<Option<Arc<Itemsets>>>,
    /// What was written of it: what it is, and where.
    pub(crate) written: Mutex<Vec<(String, Vec<String>)>>,
}

/// Everything that is kept.
pub(crate) struct Shelf {
    data: Vec<Arc<Data>>,
    runs: Vec<Arc<Run>>,
    sweeps: Vec<Arc<Sweep>>,
    opened: Vec<Arc<Opened>>,
    past: Vec<Past>,
    /// For numbers: none is used twice.
    next: u32,
    /// How many bytes data and runs may take before old ones go.
    most: u64,
}

const DATA: usize = 4;
const RUNS: usize = 12;
const SWEEPS: usize = 8;
const OPENED: usize = 4;
const PAST: usize = 200;

/// Removes the oldest while there are too many, or they are too large together;
/// the last one stays.
fn trim<T>(shelf: &mut Vec<Arc<T>>, most: usize, bytes: u64, size: impl Fn(&T) -> u64) {
    let total = |shelf: &[Arc<T>]| shelf.iter().map(|one| size(one)).sum::<u64>();
    while shelf.len() > most || (shelf.len() > 1 && total(shelf) > bytes) {
        shelf.remove(0);
    }
}

impl Shelf {
    pub(crate) fn new(budget: Budget) -> Self {
        Self {
            data: Vec::new(),
            runs: Vec::new(),
            sweeps: Vec::new(),
            opened: Vec::new(),
            past: Vec::new(),
            next: 1,
            most: budget.bytes() / 4,
        }
    }

    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    pub(crate) fn add_data(&mut self, data: Data) -> u32 {
        let id = self.number();
        self.data.push(Arc::new(Data { id, ..data }));
        trim(&mut self.data, DATA, self.most, Data::bytes);
        id
    }

    pub(crate) fn add_run(&mut self, run: Run) -> u32 {
        let id = self.number();
        let run = Run { id, ..run };
        self.past.push(run.past());
        self.runs.push(Arc::new(run));
        trim(&mut self.runs, RUNS, self.most, Run::bytes);
        if self.past.len() > PAST {
            self.past.remove(0);
        }
        id
    }

    pub(crate) fn add_sweep(&mut self, data: Arc<Data>, compared: Compared) -> u32 {
        let id = self.number();
        self.sweeps.push(Arc::new(Sweep { id, data, compared }));
        trim(&mut self.sweeps, SWEEPS, u64::MAX, |_| 0);
        id
    }

    pub(crate) fn add_opened(&mut self, opened: Opened) -> u32 {
        let id = self.number();
        self.opened.push(Arc::new(Opened { id, ..opened }));
        trim(&mut self.opened, OPENED, u64::MAX, |_| 0);
        id
    }

    pub(crate) fn data(&self, id: u32) -> Option<Arc<Data>> {
        self.data.iter().find(|data| data.id == id).cloned()
    }

    pub(crate) fn run(&self, id: u32) -> Option<Arc<Run>> {
        self.runs.iter().find(|run| run.id == id).cloned()
    }

    pub(crate) fn sweep(&self, id: u32) -> Option<Arc<Sweep>> {
        self.sweeps.iter().find(|sweep| sweep.id == id).cloned()
    }

    pub(crate) fn opened(&self, id: u32) -> Option<Arc<Opened>> {
        self.opened.iter().find(|opened| opened.id == id).cloned()
    }

    /// What is open, the last first.
    pub(crate) fn all_data(&self) -> Vec<Arc<Data>> {
        self.data.iter().rev().cloned().collect()
    }

    pub(crate) fn all_opened(&self) -> Vec<Arc<Opened>> {
        self.opened.iter().rev().cloned().collect()
    }

    /// The sweeps of some data, the last first.
    pub(crate) fn sweeps_of(&self, data: u32) -> Vec<Arc<Sweep>> {
        self.sweeps.iter().rev().filter(|sweep| sweep.data.id == data).cloned().collect()
    }

    /// All runs in numbers, the last first.
    pub(crate) fn history(&self) -> Vec<Past> {
        let with_saved = |past: &Past| {
            let run = self.run(past.run);
            let saved = run.map(|run| run.saved().into_iter().map(|s| s.release).collect());
            Past { saved: saved.unwrap_or_else(|| past.saved.clone()), ..past.clone() }
        };
        self.past.iter().rev().map(with_saved).collect()
    }

    /// Remembers what was saved of a run.
    pub(crate) fn note_saved(&mut self, run: u32, release: &str) {
        if let Some(past) = self.past.iter_mut().find(|past| past.run == run) {
            past.saved.push(release.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_when_there_are_too_many_or_they_are_too_large() {
        let mut shelf: Vec<Arc<u64>> = (1..=5).map(Arc::new).collect();
        trim(&mut shelf, 4, 100, |n| *n);
        assert_eq!(shelf.len(), 4);
        trim(&mut shelf, 4, 9, |n| *n);
        assert_eq!(shelf.iter().map(|n| **n).collect::<Vec<_>>(), [4, 5]);
        trim(&mut shelf, 4, 1, |n| *n);
        assert_eq!(shelf.iter().map(|n| **n).collect::<Vec<_>>(), [5], "the last one stays");
    }
}
