//! Methods and parameters side by side: risk, utility and time in one table.
//!
//! Every finished setting is handed to a [`Store`], so that a comparison that
//! was interrupted goes on where it stopped.

pub(super) mod cells;
pub(super) mod grid;
mod plot;
mod table;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

pub use cells::{Cell, Row, Spread, Utility};
pub use plot::figure;
pub use table::{COLUMNS, Recommendation, csv, curve_csv};

use crate::data::{Epsilon, K, M, P};
use crate::measure;
use crate::methods::{Knob, cahd};
use crate::{Dataset, Error, Method, Progress, Result, Stage};
use cells::Basis;

/// The risk is shown for 1 up to so many known items at least.
const CURVE: u32 = 4;

/// What is compared: every combination of the values that a method tells apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Options {
    /// The methods by name; those that generalise get a balanced hierarchy of fan-out 5.
    pub methods: Vec<String>,
    /// Values of k.
    pub k: Vec<K>,
    /// Values of m.
    pub m: Vec<M>,
    /// Largest cluster sizes.
    pub max_cluster_size: Vec<usize>,
    /// Privacy degrees of the methods that separate sensitive items.
    pub p: Vec<P>,
    /// Privacy budgets of differential privacy.
    pub epsilon: Vec<Epsilon>,
    /// The sensitive items; none to draw some.
    pub sensitive: Option<Vec<String>>,
    /// How many to draw among those rare enough for every p.
    pub random_sensitive: usize,
    /// At how many known items all settings are compared.
    pub known: u32,
    /// Over how many seeds everything is repeated.
    pub repeats: u32,
    /// What a setting has to satisfy to be recommended; none to recommend nothing.
    pub limits: Option<Limits>,
    /// What the measures depend on.
    pub measure: measure::Options,
}

impl Default for Options {
    fn default() -> Self {
        let valid = "the default is in its range";
        Self {
            methods: vec!["disassociation".to_owned()],
            k: [2, 5, 10].map(|k| K::new(k).expect(valid)).to_vec(),
            m: vec![M::new(2).expect(valid)],
            max_cluster_size: vec![50],
            p: vec![P::new(10).expect(valid)],
            epsilon: vec!["1".parse().expect(valid)],
            sensitive: None,
            random_sensitive: 10,
            known: 2,
            repeats: 3,
            limits: None,
            measure: measure::Options::default(),
        }
    }
}

setters!(Options {
    /// The methods by name.
    methods: Vec<String>,
    /// Values of k.
    k: Vec<K>,
    /// Values of m.
    m: Vec<M>,
    /// Largest cluster sizes.
    max_cluster_size: Vec<usize>,
    /// Privacy degrees of the methods that separate sensitive items.
    p: Vec<P>,
    /// Privacy budgets of differential privacy.
    epsilon: Vec<Epsilon>,
    /// The sensitive items; none to draw some.
    sensitive: Option<Vec<String>>,
    /// How many to draw among those rare enough for every p.
    random_sensitive: usize,
    /// At how many known items all settings are compared.
    known: u32,
    /// Over how many seeds everything is repeated.
    repeats: u32,
    /// What a setting has to satisfy to be recommended.
    limits: Option<Limits>,
    /// What the measures depend on.
    measure: measure::Options,
});

/// What the user asks for; what is not set is not asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Limits {
    /// The largest risk: `linking` with its spread.
    pub max_risk: Option<f64>,
    /// The largest share of lost itemsets.
    pub max_tkd: Option<f64>,
    /// The largest relative error.
    pub max_re: Option<f64>,
    /// The largest share of lost terms.
    pub max_tlost: Option<f64>,
    /// The smallest share of pairs kept.
    pub min_pairs_kept: Option<f64>,
}

setters!(Limits {
    /// The largest risk.
    max_risk: Option<f64>,
    /// The largest share of lost itemsets.
    max_tkd: Option<f64>,
    /// The largest relative error.
    max_re: Option<f64>,
    /// The largest share of lost terms.
    max_tlost: Option<f64>,
    /// The smallest share of pairs kept.
    min_pairs_kept: Option<f64>,
});

/// The finished comparison.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Compared {
    /// At how many known items.
    pub known: u32,
    /// One row a setting.
    pub rows: Vec<Row>,
    /// Which setting to take, and why; or why none.
    pub recommendation: Option<Recommendation>,
    /// The sensitive items that were drawn; they are not part of the table.
    #[serde(skip)]
    pub drawn: Vec<String>,
}

/// Where finished settings are kept. Private: they are measurements of the original.
pub trait Store {
    /// What was kept under this name.
    fn load(&mut self, name: &str) -> Option<Vec<u8>>;

    /// Keeps a finished setting.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn save(&mut self, name: &str, finished: &[u8]) -> Result<()>;

    /// Work on a setting begins.
    fn begin(&mut self, _name: &str) {}
}

/// Keeps nothing.
impl Store for () {
    fn load(&mut self, _name: &str) -> Option<Vec<u8>> {
        None
    }

    fn save(&mut self, _name: &str, _finished: &[u8]) -> Result<()> {
        Ok(())
    }
}

/// The settings that [`compare`] runs, in its order.
///
/// # Errors
/// If a method is unknown.
pub fn settings(options: &Options) -> Result<Vec<Cell>> {
    grid::cells(options)
}

/// Runs, verifies and measures every setting. A method that refuses a setting
/// is a row with the reason.
///
/// # Errors
/// If a method is unknown, the sensitive items cannot be drawn, a release
/// cannot be measured, the store fails, or `progress` says stop.
pub fn compare(
    data: &Dataset,
    options: &Options,
    store: &mut dyn Store,
    progress: &dyn Progress,
) -> Result<Compared> {
    let cells = grid::cells(options)?;
    let (sensitive, drawn) = sensitive(data, options)?;
    let (known, curve) = (options.known.max(1), options.known.max(CURVE));
    let basis = Basis {
        data,
        options: &options.measure,
        known,
        curve,
        repeats: options.repeats,
        sensitive: &sensitive,
    };
    let fingerprint = cells::fingerprint(&basis);
    let mut rows = Vec::with_capacity(cells.len());
    for cell in cells {
        rows.push(cells::row(cell, &basis, &fingerprint, store, progress)?);
        progress.stage(Stage::Comparing, None);
        progress.step(1)?;
    }
    table::mark_frontier(&mut rows);
    let recommendation = options.limits.map(|limits| table::recommend(&rows, &limits));
    Ok(Compared { known, rows, recommendation, drawn })
}

/// The sensitive items, the same for every setting, and whether they were
/// drawn; none if no method asks.
fn sensitive(data: &Dataset, options: &Options) -> Result<(Vec<String>, Vec<String>)> {
    let separates = |name: &String| Method::knobs(name).is_some_and(|k| k.contains(&Knob::P));
    let Some(&strictest) = options.p.iter().max() else { return Ok(Default::default()) };
    if !options.methods.iter().any(separates) {
        return Ok(Default::default());
    }
    if let Some(labels) = &options.sensitive {
        return Ok((labels.clone(), Vec::new()));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(options.measure.seed);
    let drawn = cahd::draw(data, options.random_sensitive, strictest, &mut rng)?;
    Ok((drawn.clone(), drawn))
}

/// Says which names there are.
pub(super) fn unknown(name: &str) -> Error {
    Error::Unknown {
        what: format!("there is no method {name:?}"),
        hint: format!("the methods are {}", Method::NAMES.join(", ")).into(),
    }
}
