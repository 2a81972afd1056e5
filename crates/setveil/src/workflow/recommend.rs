//! Which method and parameters to take for a given risk: for every method, m
//! and cluster size the smallest k that keeps the risk, then the one that loses
//! least.
//!
//! The risk falls with k, so k is found by halving: a handful of tries for each
//! combination. What comes out was measured on this data with the attacker of
//! `risk`; it is no proof about another attacker.

use serde::{Deserialize, Serialize};

use super::compare::cells::{self, Basis, Cell};
use super::compare::{Limits, Row, grid};
use crate::data::{K, M};
use crate::methods::Knob;
use crate::risk::{self, Level};
use crate::{Dataset, Error, Method, Progress, Result, Stage, measure};

/// What is asked for, and what may be tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Options {
    /// The largest risk.
    pub max_risk: f64,
    /// How many items the attacker knows.
    pub known: u32,
    /// The methods that may be taken.
    pub methods: Vec<String>,
    /// The values of k that are tried, ascending.
    pub k: Vec<K>,
    /// The values of m that are tried.
    pub m: Vec<M>,
    /// The largest cluster sizes that are tried.
    pub max_cluster_size: Vec<usize>,
    /// What else a setting has to satisfy.
    pub limits: Limits,
    /// What the measures depend on.
    pub measure: measure::Options,
}

impl Default for Options {
    fn default() -> Self {
        let valid = "the default is in its range";
        let k = [2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 50, 75, 100, 200];
        Self {
            max_risk: 0.1,
            known: 2,
            methods: ["disassociation", "local-suppression"].map(str::to_owned).to_vec(),
            k: k.map(|k| K::new(k).expect(valid)).to_vec(),
            m: [2, 3].map(|m| M::new(m).expect(valid)).to_vec(),
            max_cluster_size: vec![50, 100, 200],
            limits: Limits::default(),
            measure: measure::Options::default(),
        }
    }
}

setters!(Options {
    /// The largest risk.
    max_risk: f64,
    /// How many items the attacker knows.
    known: u32,
    /// The methods that may be taken.
    methods: Vec<String>,
    /// The values of k that are tried, ascending.
    k: Vec<K>,
    /// The values of m that are tried.
    m: Vec<M>,
    /// The largest cluster sizes that are tried.
    max_cluster_size: Vec<usize>,
    /// What else a setting has to satisfy.
    limits: Limits,
    /// What the measures depend on.
    measure: measure::Options,
});

/// One try.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Tried {
    /// The setting.
    pub setting: String,
    /// Its risk with one standard error; none if the method refused or nobody
    /// has a place in the release.
    pub risk: Option<f64>,
    /// Whether that is small enough.
    pub enough: bool,
}

/// A setting that does what was asked for.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// What it achieves and what it costs.
    #[serde(flatten)]
    pub row: Row,
    /// The method with its parameters.
    pub method: Method,
    /// The command that makes the release.
    pub command: String,
}

/// What to take.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Recommended {
    /// How many items the attacker knows.
    pub known: u32,
    /// The largest risk that was asked for.
    pub max_risk: f64,
    /// What the same attacker achieves on the raw data.
    pub raw: Option<f64>,
    /// Settings that do what was asked for; the first is the one to take.
    pub choices: Vec<Choice>,
    /// Everything that was tried, in order.
    pub tried: Vec<Tried>,
}

/// Searches for the setting that keeps the risk and loses least. `watch` hears
/// of every try.
///
/// # Errors
/// If an option is out of its range, a release cannot be measured, or
/// `progress` says stop.
pub fn recommend(
    data: &Dataset,
    options: &Options,
    watch: &mut dyn FnMut(&Tried),
    progress: &dyn Progress,
) -> Result<Recommended> {
    check(options)?;
    let mut search = Search {
        basis: Basis {
            data,
            options: &options.measure,
            known: options.known,
            curve: options.known,
            repeats: 1,
            sensitive: &[],
        },
        options,
        raw: None,
        tried: Vec::new(),
        watch,
        progress,
    };
    let mut choices = Vec::new();
    for cell in combinations(options)? {
        if let Some(cell) = search.smallest_k(cell)? {
            choices.extend(search.choice(cell)?);
        }
    }
    let loss = |choice: &Choice| {
        let has = choice.row.utility;
        (has.tkd.unwrap_or(1.0), has.re.unwrap_or(2.0))
    };
    choices.sort_by(|a, b| {
        let (a, b) = (loss(a), loss(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let Search { raw, tried, .. } = search;
    let (known, max_risk) = (options.known, options.max_risk);
    Ok(Recommended { known, max_risk, raw, choices, tried })
}

fn check(options: &Options) -> Result<()> {
    if !(options.max_risk > 0.0 && options.max_risk <= 1.0) {
        return Err(Error::Parameter {
            name: "max_risk",
            found: options.max_risk.to_string(),
            expected: "a probability above 0 and at most 1",
        });
    }
    if options.known == 0 || options.k.is_empty() {
        return Err(Error::Parameter {
            name: "known",
            found: options.known.to_string(),
            expected: "at least 1 known item, and at least one k to try",
        });
    }
    Ok(())
}

/// Every method, m and cluster size, without a k. Methods that need to be told
/// more than numbers (sensitive items, a hierarchy) are not searched.
fn combinations(options: &Options) -> Result<Vec<Cell>> {
    let mut all = Vec::new();
    for name in &options.methods {
        let knobs = Method::knobs(name).ok_or_else(|| super::compare::unknown(name))?;
        if !knobs.contains(&Knob::K) {
            return Err(Error::Parameter {
                name: "methods",
                found: name.clone(),
                expected: "methods with a k: disassociation, dls, local-suppression, partition, \
                           apriori",
            });
        }
        let m: Vec<Option<u32>> = match knobs.contains(&Knob::M) {
            true => options.m.iter().map(|m| Some(m.get())).collect(),
            false => vec![None],
        };
        let sizes: Vec<Option<usize>> = match knobs.contains(&Knob::MaxClusterSize) {
            true => options.max_cluster_size.iter().map(|&size| Some(size)).collect(),
            false => vec![None],
        };
        for &m in &m {
            for &max_cluster_size in &sizes {
                all.push(Cell { method: name.clone(), m, max_cluster_size, ..Cell::default() });
            }
        }
    }
    Ok(all)
}

struct Search<'a> {
    basis: Basis<'a>,
    options: &'a Options,
    raw: Option<f64>,
    tried: Vec<Tried>,
    watch: &'a mut dyn FnMut(&Tried),
    progress: &'a dyn Progress,
}

impl Search<'_> {
    /// The cell with the smallest k that keeps the risk; none if the largest
    /// does not.
    fn smallest_k(&mut self, cell: Cell) -> Result<Option<Cell>> {
        let with = |k: K| Cell { k: Some(k.get()), ..cell.clone() };
        // Those before `low` are not enough; `enough` is the smallest that is.
        let (mut low, mut high, mut enough) = (0, self.options.k.len(), None);
        while low < high {
            let middle = usize::midpoint(low, high);
            let tried = with(self.options.k[middle]);
            match self.keeps(&tried)? {
                Some(true) => {
                    high = middle;
                    enough = Some(tried);
                }
                Some(false) => low = middle + 1,
                // Refused: larger ones would be too.
                None => high = middle,
            }
        }
        Ok(enough)
    }

    /// Whether a setting keeps the risk; none if the method refused it.
    fn keeps(&mut self, cell: &Cell) -> Result<Option<bool>> {
        self.progress.stage(Stage::Comparing, None);
        let made = grid::method(&self.basis, cell)
            .and_then(|method| method.run(self.basis.data, self.progress));
        let release = match made {
            Ok(outcome) => outcome.release,
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(_) => {
                self.note(cell, None, false);
                return Ok(None);
            }
        };
        let played =
            risk::Options::default().known(self.options.known).seed(self.options.measure.seed);
        let levels = super::played(&release, self.basis.data, &played, self.progress)?;
        let level = levels.last();
        self.raw = self.raw.or(level.and_then(|level| level.raw));
        let risk = level.and_then(upper);
        let enough = risk.is_some_and(|risk| risk <= self.options.max_risk);
        self.note(cell, risk, enough);
        Ok(Some(enough))
    }

    fn note(&mut self, cell: &Cell, risk: Option<f64>, enough: bool) {
        let tried = Tried { setting: cell.name(), risk, enough };
        (self.watch)(&tried);
        self.tried.push(tried);
    }

    /// What a setting costs; none if its promise does not hold, it is weak, or
    /// it misses another limit.
    fn choice(&self, cell: Cell) -> Result<Option<Choice>> {
        let method = grid::method(&self.basis, &cell)?;
        let row = cells::make(cell, &self.basis, self.progress)?;
        let good = row.holds == Some(true) && row.weak.is_none() && row.error.is_none();
        if !good || !self.options.limits.missed(&row).is_empty() {
            return Ok(None);
        }
        let command = super::command(&method, "DATA", "RELEASE");
        Ok(Some(Choice { row, method, command }))
    }
}

/// The risk with one standard error.
fn upper(level: &Level) -> Option<f64> {
    Some(level.linking? + level.linking_error.unwrap_or(0.0))
}
