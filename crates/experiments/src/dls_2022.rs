//! Figures 5 to 8 of dls-2022, on BMS-WebView-2, and what no release can
//! exceed.
//!
//! The paper does not say how large its clusters may be. Every figure can be
//! drawn for any size, and one more figure shows what the size does.

use std::path::Path;

use anyhow::Context;
use setveil::Dataset;
use setveil::Method;
use setveil::data::{K, M};
use setveil::measure::{Associations, Question, associations};
use setveil::methods::dls::{PROBLEMATIC_K, problematic};
use setveil::methods::{disassociation, dls};

use crate::data::load;
use crate::figure::Figure;

/// Draw Figures 5 to 8 of dls-2022 (BMS-WebView-2)
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The most records of a cluster in Figures 6 to 8
    #[arg(long, default_value_t = 500)]
    max_cluster_size: usize,
}

const METHODS: [&str; 2] = ["DLS", "Disa"];
const KS: [u32; 7] = [2, 5, 10, 20, 30, 40, 50];
const MS: [u32; 4] = [2, 3, 4, 5];

pub fn run(args: &Args, output: &Path) -> anyhow::Result<()> {
    let data = load("bms-webview-2")?;
    let all = [
        figure_5(&data)?,
        figure_6(&data, args.max_cluster_size)?,
        figures_7_and_8(&data, args.max_cluster_size)?,
        shares(&data, args.max_cluster_size)?,
        cluster_sizes(&data)?,
    ];
    all.iter().flatten().try_for_each(|figure| figure.write(output))
}

fn figure_5(data: &Dataset) -> anyhow::Result<Vec<Figure>> {
    let title = "Fig. 5: itemsets that are minimal problematic";
    let mut figure = Figure::new("dls-2022-fig5", title, "items", "share");
    let table = problematic(data, &())?;
    for k in PROBLEMATIC_K {
        for cell in table.iter().filter(|cell| cell.k == k) {
            figure.point(&format!("k = {k}"), f64::from(cell.size), cell.share);
        }
    }
    Ok(vec![figure])
}

/// The release of a method, measured.
fn measured(
    data: &Dataset,
    method: &str,
    (k, m, max): (u32, u32, usize),
    questions: &[Question],
) -> anyhow::Result<Vec<Associations>> {
    let mut parameters = disassociation::Parameters::new(K::new(k)?, M::new(m)?);
    parameters.max_cluster_size = max;
    parameters.refine = false; // Shared chunks do not count here.
    let release = match method {
        "DLS" => dls::anonymize(data, &parameters, &())?,
        _ => disassociation::anonymize(data, &parameters, &())?,
    };
    let members = Method::of(&release.manifest)?
        .members(&release, data, &())?
        .context("the clusters come out the same")?;
    let measure =
        |q: &Question| associations(&release, data, &members, q, &())?.context("some pair");
    questions.iter().map(measure).collect()
}

fn top_pairs(share: f64) -> Question {
    Question { top_pairs: share, ..Question::default() }
}

fn figure_6(data: &Dataset, max: usize) -> anyhow::Result<Vec<Figure>> {
    let tops = [0.1, 0.2, 0.3];
    let mut by_m = Figure::new("dls-2022-fig6a", "Fig. 6a: DLS, k = 10", "m", "ARE");
    let mut by_k = Figure::new("dls-2022-fig6b", "Fig. 6b: DLS, m = 2", "k", "ARE");
    let runs = MS.map(|m| (10, m)).into_iter().chain(KS.map(|k| (k, 2)));
    for (i, (k, m)) in runs.enumerate() {
        let results = measured(data, "DLS", (k, m, max), &tops.map(top_pairs))?;
        for (top, result) in tops.iter().zip(results) {
            let line = format!("top {:.0} %", top * 100.0);
            if i < MS.len() {
                by_m.point(&line, f64::from(m), result.are);
            } else {
                by_k.point(&line, f64::from(k), result.are);
            }
        }
    }
    Ok(vec![by_m, by_k])
}

/// Over k and over m, both methods.
fn figures_7_and_8(data: &Dataset, max: usize) -> anyhow::Result<Vec<Figure>> {
    let mut anr_k = Figure::new("dls-2022-fig7a", "Fig. 7a: m = 2", "k", "ANR");
    let mut anr_m = Figure::new("dls-2022-fig7b", "Fig. 7b: k = 10", "m", "ANR");
    let mut are_k = Figure::new("dls-2022-fig8a", "Fig. 8a: m = 2", "k", "ARE");
    let mut are_m = Figure::new("dls-2022-fig8b", "Fig. 8b: k = 10", "m", "ARE");
    for method in METHODS {
        for k in KS {
            let result = measured(data, method, (k, 2, max), &[Question::default()])?[0];
            anr_k.point(method, f64::from(k), result.anr);
            are_k.point(method, f64::from(k), result.are);
            if method == "Disa" {
                anr_k.point("limit", f64::from(k), result.anr_limit);
            }
        }
        for m in MS {
            let result = measured(data, method, (10, m, max), &[Question::default()])?[0];
            anr_m.point(method, f64::from(m), result.anr);
            are_m.point(method, f64::from(m), result.are);
            if method == "Disa" {
                anr_m.point("limit", f64::from(m), result.anr_limit);
            }
        }
    }
    Ok(vec![anr_k, anr_m, are_k, are_m])
}

/// Over the share of pairs and of items that are asked for, both methods.
fn shares(data: &Dataset, max: usize) -> anyhow::Result<Vec<Figure>> {
    let mut anr_items =
        Figure::new("dls-2022-fig7c", "Fig. 7c: k = 10, m = 2", "share of items", "ANR");
    let mut are_pairs =
        Figure::new("dls-2022-fig8c", "Fig. 8c: k = 10, m = 2", "share of pairs", "ARE");
    let mut are_items =
        Figure::new("dls-2022-fig8d", "Fig. 8d: k = 10, m = 2", "share of items", "ARE");
    let pairs = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3];
    let items = [0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0];
    let by_items = items.map(|share| Question { top_items: share, ..Question::default() });
    for method in METHODS {
        let results = measured(data, method, (10, 2, max), &pairs.map(top_pairs))?;
        for (share, result) in pairs.into_iter().zip(results) {
            are_pairs.point(method, share, result.are);
        }
        let results = measured(data, method, (10, 2, max), &by_items)?;
        for (share, result) in items.into_iter().zip(results) {
            anr_items.point(method, share, result.anr);
            are_items.point(method, share, result.are);
        }
    }
    Ok(vec![anr_items, are_pairs, are_items])
}

/// Over the size of clusters, both methods, with what no release can exceed.
fn cluster_sizes(data: &Dataset) -> anyhow::Result<Vec<Figure>> {
    let title = "k = 10, m = 2";
    let mut anr = Figure::new("dls-2022-sizes-anr", title, "most records of a cluster", "ANR");
    let mut are = Figure::new("dls-2022-sizes-are", title, "most records of a cluster", "ARE");
    for max in [20, 50, 100, 200, 500, 1000] {
        for method in METHODS {
            let result = measured(data, method, (10, 2, max), &[Question::default()])?[0];
            anr.point(method, max as f64, result.anr);
            are.point(method, max as f64, result.are);
            if method == "Disa" {
                anr.point("limit", max as f64, result.anr_limit);
            }
        }
    }
    Ok(vec![anr, are])
}
