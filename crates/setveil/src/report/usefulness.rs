//! What the data is still good for.

use super::Measured;
use super::html::{Page, number};
use crate::measure::{Evaluation, MEANINGS};

/// The measures in plain words.
const NAMES: &[(&str, &str)] = &[
    ("tkd", "Frequent combinations lost"),
    ("tkd_a", "… counted inside chunks"),
    ("tkd_ml2", "… of generalised items"),
    ("re", "Error of pair counts"),
    ("re_a", "… counted inside chunks"),
    ("tlost", "Frequent items only mentioned"),
    ("ncp", "Coarseness of items"),
    ("kl", "Error of statistics on sensitive items"),
    ("anr", "Frequent pairs kept in clusters"),
    ("are", "Error of associations in clusters"),
    ("pairs_kept", "Pairs that can be counted"),
    ("pairs_limit", "… at most, for this k"),
];

pub(super) fn usefulness(page: &mut Page, measured: &Measured) {
    page.section("What the data is still good for");
    let rows: Vec<Vec<String>> = values(&measured.evaluation)
        .iter()
        .map(|(key, value, better, meaning)| {
            let name = NAMES.iter().find(|(k, _)| k == key).map_or(*key, |n| n.1);
            let better = match *better {
                "low" => "less is better",
                "high" => "more is better",
                _ => "",
            };
            let meaning = format!("{meaning} ({key})");
            vec![name.to_owned(), format!("{value:.4}"), better.to_owned(), meaning]
        })
        .collect();
    page.table("Measures", &["what", "value", "direction", "meaning"], &rows);
    if let (Some(pairs), Some(occurring)) =
        (measured.evaluation.re_pairs, measured.evaluation.re_pairs_occurring)
    {
        page.text(&format!(
            "The error of pair counts is a mean over {} pairs, of which {} occur in the original.",
            number(pairs),
            number(occurring)
        ));
    }
    let (records, items, occurrences) = measured.size;
    page.text(&format!(
        "The original has {} records, {} items and {} occurrences.",
        number(records),
        number(items),
        number(occurrences)
    ));
}

/// The measures that apply, with their direction and meaning.
fn values(evaluation: &Evaluation) -> Vec<(&'static str, f64, &'static str, &'static str)> {
    let json = serde_json::json!(evaluation);
    MEANINGS
        .iter()
        .filter_map(|&(name, better, meaning)| {
            json.get(name)?.as_f64().map(|value| (name, value, better, meaning))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measure_has_a_plain_name() {
        for (key, ..) in MEANINGS {
            assert!(NAMES.iter().any(|(k, _)| k == key), "{key}");
        }
    }
}
