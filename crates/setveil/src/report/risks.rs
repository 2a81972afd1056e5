//! What an attacker who is played out achieves.

use maud::html;

use super::Measured;
use super::html::{Page, number, share};
use crate::chart::{Row, bars};
use crate::release::Release;
use crate::risk::{Level, MEANINGS};

pub(super) fn risks(page: &mut Page, release: &Release, measured: &Measured) {
    if measured.risk.is_empty() {
        return;
    }
    page.section("The risk");
    page.text(
        "Somebody knows a few items of a person. She draws a data set that the release could have \
         come from, picks a record in it that has these items (or, if none has, most of them), and \
         takes it for the person's. This was played out with random people of the original. What \
         she achieves is no upper bound: another attacker may do better.",
    );
    let rows: Vec<Row> = measured.risk.iter().map(bar).collect();
    let linked = measured.risk.iter().any(|level| level.linking.is_some());
    let series: &[&str] =
        if linked { &["in the raw data", "in the release"] } else { &["in the raw data"] };
    page.figure("How often she finds the person", bars("Persons found", series, &rows));
    let rows: Vec<Vec<String>> = measured.risk.iter().map(row).collect();
    page.table(
        "What she achieves; what follows ± is the standard error",
        &[
            "items known",
            "raw data",
            "found",
            "1 in 20",
            "read",
            "nearly all",
            "guessed",
            "candidates",
        ],
        &rows,
    );
    page.add(html! {
        dl class="words" {
            @for (_, heading, meaning) in MEANINGS {
                div { dt { (heading) } dd { (meaning) "." } }
            }
        }
    });
    if !linked {
        page.text(
            "There is no figure for `found`: nobody has a place in this release, or it cannot be \
             told who has which.",
        );
    }
    let model = &release.manifest.guarantee.model;
    if let (Some(k), Some(m)) = (model.k(), model.m()) {
        page.text(&format!(
            "The promise covers up to {m} known items, and speaks of candidates: {k} in some possible \
             data set. Figures for more known items are what happens to be left."
        ));
    }
    let people = measured.risk.iter().map(|level| level.targets).max().unwrap_or(0);
    page.text(&format!("{} people were attacked for each number of known items.", number(people)));
}

fn bar(level: &Level) -> Row {
    let items = if level.known == 1 { "item" } else { "items" };
    let values = [level.raw, level.linking];
    Row {
        label: format!("{} {items} known", level.known),
        bars: values.iter().flatten().map(|&v| (v, share(Some(v)))).collect(),
    }
}

fn row(level: &Level) -> Vec<String> {
    let with = |value: Option<f64>, error: Option<f64>| match (value, error) {
        (Some(_), Some(error)) => format!("{} ± {:.1}", share(value), error * 100.0),
        _ => share(value),
    };
    vec![
        level.known.to_string(),
        with(level.raw, level.raw_error),
        with(level.linking, level.linking_error),
        share(level.linking_p95),
        with(level.disclosure, level.disclosure_error),
        share(level.disclosure_80),
        with(level.inference, level.inference_error),
        level.candidates_format.map_or_else(|| "–".to_owned(), number),
    ]
}
