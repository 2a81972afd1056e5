//! Methods at equal risk: what releases are good for against how often an
//! attacker who is played out finds somebody. k is no measure of risk across
//! methods; `linking` is.

use std::path::Path;

use anyhow::ensure;
use serde_json::{Map, Value, json};
use setveil::methods::Knob;
use setveil::verify::verify;
use setveil::{Dataset, Method, Release, measure, risk, workflow};

use crate::data::{hierarchy, load};
use crate::figure::Figure;
use crate::pairs::Pairs;

/// Compare the methods at equal risk (docs/local-suppression.md)
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The data sets
    #[arg(long, value_delimiter = ',', default_values_t = DATA.map(String::from))]
    data: Vec<String>,
    /// How many candidates must remain
    #[arg(short, value_delimiter = ',', default_values_t = [3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 40])]
    k: Vec<u32>,
    /// How many items an attacker may know
    #[arg(short, default_value_t = 2)]
    m: u32,
    /// Only these methods, by the names of the table
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    /// People attacked for each number of known items
    #[arg(long, default_value_t = 1000)]
    targets: usize,
}

const DATA: [&str; 5] = ["groceries", "bms-webview-1", "bms-webview-2", "mdcr-icd9", "t10i4d100k"];
/// Data sets with a hierarchy.
const TREES: [&str; 3] = ["groceries", "mdcr-icd9", "fruithut"];
const KNOWN: [u32; 3] = [2, 3, 4];
/// What the others are held against.
const REFERENCE: (&str, u32) = ("disassociation", 5);
const SEED: u64 = 1;
/// Each measure, and whether more of it is better.
const MEASURES: [&str; 4] =
    ["pairs_kept", "tkd", "error of frequent pairs", "error of random pairs"];

/// Every setting: its name, the method, and the parameters beside k and m.
fn settings() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("disassociation", "disassociation", json!({})),
        ("disassociation 200", "disassociation", json!({"max_cluster_size": 200})),
        ("disassociation whole", "disassociation", json!({"clustering": "whole"})),
        ("disassociation --safe", "disassociation", json!({"safe": true})),
        ("dls", "dls", json!({})),
        ("local-suppression 50", "local-suppression", json!({"max_cluster_size": 50})),
        ("local-suppression 100", "local-suppression", json!({"max_cluster_size": 100})),
        ("local-suppression 70", "local-suppression", json!({"max_cluster_size": 70})),
        ("local-suppression 200", "local-suppression", json!({"max_cluster_size": 200})),
        ("local-suppression 500", "local-suppression", json!({"max_cluster_size": 500})),
        ("local-suppression 2000", "local-suppression", json!({"max_cluster_size": 2000})),
        ("local-suppression all", "local-suppression", json!({"max_cluster_size": "all"})),
        ("suppress-rare", "suppress-rare", json!({})),
        ("partition", "partition", json!({})),
        ("apriori", "apriori", json!({})),
    ]
}

/// What was measured of one release.
struct Row {
    setting: &'static str,
    k: u32,
    measures: [Option<f64>; 4],
    levels: Vec<risk::Level>,
}

impl Row {
    fn linking(&self, known: u32) -> Option<f64> {
        self.levels.iter().find(|level| level.known == known)?.linking
    }
}

impl Args {
    pub fn run(&self, output: &Path) -> anyhow::Result<()> {
        let mut all = csv::Writer::from_path(output.join("frontier.csv"))?;
        let mut equal = csv::Writer::from_path(output.join("frontier-equal.csv"))?;
        all.write_record(head(&["data", "method", "k"]))?;
        equal.write_record(head(&["data", "known", "method", "k"]))?;
        for name in &self.data {
            let data = load(name)?;
            let pairs = Pairs::of(&data, SEED);
            let mut rows = Vec::new();
            let wanted = |name: &str| {
                self.methods.is_empty() || self.methods.iter().any(|method| method == name)
            };
            for (setting, method, parameters) in settings() {
                if !wanted(setting) {
                    continue;
                }
                for &k in &self.k {
                    let Some(method) = self.method(name, method, &parameters, k)? else { continue };
                    let Some(row) = self.row(&data, &pairs, setting, k, &method)? else { continue };
                    let mut cells = vec![name.clone(), setting.to_owned(), k.to_string()];
                    cells.extend(cells_of(&row));
                    all.write_record(&cells)?;
                    all.flush()?;
                    rows.push(row);
                }
            }
            for cells in at_equal_risk(name, &rows) {
                equal.write_record(&cells)?;
            }
            equal.flush()?;
            figures(name, &rows, output)?;
        }
        Ok(())
    }

    /// The method; none where the data has no hierarchy and it needs one, or
    /// the largest cluster is too small for k.
    fn method(
        &self,
        data: &str,
        name: &str,
        parameters: &Value,
        k: u32,
    ) -> anyhow::Result<Option<Method>> {
        let mut values: Map<String, Value> = parameters.as_object().cloned().unwrap_or_default();
        let largest = values.get("max_cluster_size").and_then(Value::as_u64);
        if largest.is_some_and(|largest| largest < 2 * u64::from(k)) {
            return Ok(None);
        }
        values.insert("k".into(), json!(k));
        if Method::knobs(name).is_some_and(|knobs| knobs.contains(&Knob::M)) {
            values.insert("m".into(), json!(self.m));
        }
        let method = Method::named(name, values)?;
        if !method.needs_hierarchy() {
            return Ok(Some(method));
        }
        if !TREES.contains(&data) {
            return Ok(None);
        }
        Ok(Some(method.with_hierarchy(hierarchy(data)?)))
    }

    /// Makes, verifies and measures a release; none if the method refuses.
    fn row(
        &self,
        data: &Dataset,
        pairs: &Pairs,
        setting: &'static str,
        k: u32,
        method: &Method,
    ) -> anyhow::Result<Option<Row>> {
        let release = match method.run(data, &()) {
            Ok(outcome) => outcome.release,
            Err(setveil::Error::Infeasible { .. } | setveil::Error::TooLarge { .. }) => {
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        ensure!(verify(&release, &())?.holds, "a release of {setting} does not hold");
        let played = risk::Options::default().known(4).targets(self.targets).seed(SEED);
        let levels = workflow::risk(&release, data, &played, &())?;
        let measures = measures(data, pairs, &release)?;
        Ok(Some(Row { setting, k, measures, levels }))
    }
}

fn measures(data: &Dataset, pairs: &Pairs, release: &Release) -> anyhow::Result<[Option<f64>; 4]> {
    let options = measure::Options::default();
    let comparison = measure::Comparison::new(release, data, &options, &())?;
    let (kept, tkd) = (measure::pairs_kept(&comparison), measure::tkd(&comparison, &())?.0);
    drop(comparison);
    let errors = [pairs.error_of_frequent(release)?, pairs.error_of_random(release)?];
    Ok([kept, tkd, Some(errors[0]), Some(errors[1])])
}

fn head(first: &[&str]) -> Vec<String> {
    let mut head: Vec<String> = first.iter().chain(&MEASURES).map(ToString::to_string).collect();
    for figure in ["linking", "disclosure", "inference"] {
        head.extend(KNOWN.map(|known| format!("{figure} {known}")));
    }
    head
}

fn cells_of(row: &Row) -> Vec<String> {
    let figures: [fn(&risk::Level) -> Option<f64>; 3] =
        [|l| l.linking, |l| l.disclosure, |l| l.inference];
    let mut cells: Vec<Option<f64>> = row.measures.to_vec();
    for figure in figures {
        cells.extend(KNOWN.map(|known| {
            let level = row.levels.iter().find(|level| level.known == known);
            level.and_then(figure)
        }));
    }
    cells.into_iter().map(|c| c.map_or(String::new(), |v| format!("{v:.4}"))).collect()
}

/// For each number of known items, of every method the release with the
/// smallest k whose risk is not above that of the reference.
fn at_equal_risk(name: &str, rows: &[Row]) -> Vec<Vec<String>> {
    let is_reference = |row: &&Row| (row.setting, row.k) == REFERENCE;
    let Some(reference) = rows.iter().find(is_reference) else { return Vec::new() };
    let mut table = Vec::new();
    for known in KNOWN {
        for (setting, _, _) in settings() {
            let fits = |row: &&Row| {
                row.setting == setting
                    && row.linking(known).is_some_and(|l| Some(l) <= reference.linking(known))
            };
            let Some(row) = rows.iter().filter(fits).min_by_key(|row| row.k) else { continue };
            let first = [name.to_owned(), known.to_string(), setting.to_owned(), row.k.to_string()];
            table.push(first.into_iter().chain(cells_of(row)).collect());
        }
    }
    table
}

/// One figure a measure: it against the risk with three known items.
fn figures(name: &str, rows: &[Row], output: &Path) -> anyhow::Result<()> {
    for (i, measure) in MEASURES.into_iter().enumerate() {
        let file = format!("frontier-{name}-{}", measure.replace(' ', "-"));
        let axis = "linking, 3 known items";
        let mut figure = Figure::new(&file, &format!("{name}: {measure}"), axis, measure);
        let mut points: Vec<(&str, f64, f64)> = rows
            .iter()
            .filter_map(|row| Some((row.setting, row.linking(3)?, row.measures[i]?)))
            .collect();
        points.sort_by(|a, b| a.0.cmp(b.0).then(a.1.total_cmp(&b.1)));
        points.iter().for_each(|&(setting, x, y)| figure.point(setting, x, y));
        figure.write(output)?;
    }
    Ok(())
}
