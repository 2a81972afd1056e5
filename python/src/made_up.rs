//! Made-up data, and the picture of a band.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use setveil::Stage;
use setveil::data::{DatasetBuilder, P};
use setveil::generate::{self, QueryLog, QueryLogParameters, Quest, QuestParameters};
use setveil::methods::cahd;

use crate::dataset::Dataset;
use crate::errors;
use crate::run::Manner;

/// The sample of `setveil demo`.
#[pyfunction]
pub fn pharmacy() -> Dataset {
    Dataset::of(generate::pharmacy())
}

/// Baskets with patterns.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the parameters of the generator")]
pub fn quest(
    py: Python<'_>,
    records: u64,
    items: u32,
    mean_length: f64,
    patterns: u32,
    pattern_length: f64,
    correlation: f64,
    seed: u64,
    manner: &Manner,
) -> PyResult<Dataset> {
    let parameters = QuestParameters::default()
        .records(records)
        .items(items)
        .mean_length(mean_length)
        .patterns(patterns)
        .pattern_length(pattern_length)
        .correlation(correlation);
    let made = manner.run(py, |progress| {
        let mut quest = Quest::new(&parameters, seed)?;
        progress.stage(Stage::Generating, Some(records));
        let mut builder = DatasetBuilder::default();
        while let Some(record) = quest.next_record() {
            progress.step(1)?;
            record.iter().for_each(|item| builder.push(&item.to_string()));
            builder.end_record();
        }
        builder.finish()
    })?;
    Ok(Dataset::of(made.0))
}

/// The queries of made-up users, one record a user.
#[pyfunction]
pub fn query_log(
    py: Python<'_>,
    users: u64,
    mean_queries: f64,
    distinct_queries: u64,
    skew: f64,
    seed: u64,
    manner: &Manner,
) -> PyResult<Dataset> {
    let parameters = QueryLogParameters::default()
        .users(users)
        .mean_queries(mean_queries)
        .distinct_queries(distinct_queries)
        .skew(skew);
    let made = manner.run(py, |progress| {
        let mut log = QueryLog::new(&parameters, seed)?;
        progress.stage(Stage::Generating, Some(users));
        let (mut builder, mut text) = (DatasetBuilder::default(), String::new());
        while let Some(rows) = log.next_user() {
            progress.step(1)?;
            for row in rows {
                text.clear();
                generate::query_text(row.query, &mut text);
                builder.push(&text);
            }
            builder.end_record();
        }
        builder.finish()
    })?;
    Ok(Dataset::of(made.0))
}

/// Draws sensitive items among those rare enough for `p`.
#[pyfunction]
pub fn draw_sensitive(
    py: Python<'_>,
    data: &Dataset,
    count: usize,
    p: u32,
    seed: u64,
) -> PyResult<Vec<String>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let drawn = P::new(p).and_then(|p| cahd::draw(data.data(), count, p, &mut rng));
    drawn.map_err(|e| errors::raise(py, &e))
}

/// Two pictures, each with its width, its height, its pixels row by row as
/// bytes of 32-bit numbers, and the mean distance of a one from the diagonal.
type Picture<'py> = (usize, usize, Bound<'py, PyBytes>, f64);

/// The matrix of records and items before and after it is made a band.
#[pyfunction]
pub fn band<'py>(
    py: Python<'py>,
    data: &Dataset,
    sensitive: Vec<String>,
    side: usize,
    manner: &Manner,
) -> PyResult<(Picture<'py>, Picture<'py>)> {
    let band = manner.run(py, |progress| {
        let sensitive = match sensitive.is_empty() {
            true => Vec::new(),
            false => cahd::resolve(data.data(), &sensitive)?,
        };
        cahd::band::band(data.data(), &sensitive, side, progress)
    })?;
    let picture = |picture: &cahd::band::Picture| {
        let raster = &picture.raster;
        let pixels: Vec<u8> = raster.counts.iter().flat_map(|count| count.to_le_bytes()).collect();
        (raster.width, raster.height, PyBytes::new(py, &pixels), picture.mean_distance)
    };
    Ok((picture(&band.before), picture(&band.after)))
}
