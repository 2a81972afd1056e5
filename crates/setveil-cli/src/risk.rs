//! What an attacker who is played out achieves, as a table with what each
//! column means. The same wherever risk is printed.

use setveil::report::number;
use setveil::risk::{Level, MEANINGS};

use crate::table::table;

/// The table and its legend.
pub fn describe(levels: &[Level]) -> String {
    let mut head = vec!["known".to_owned()];
    head.extend(MEANINGS.iter().map(|(_, heading, _)| (*heading).to_owned()));
    let rows = levels.iter().map(|level| {
        vec![
            level.known.to_string(),
            with_error(level.raw, level.raw_error),
            with_error(level.linking, level.linking_error),
            share(level.linking_p95),
            with_error(level.disclosure, level.disclosure_error),
            share(level.disclosure_80),
            with_error(level.inference, level.inference_error),
            level.candidates_format.map_or_else(|| "-".to_owned(), number),
        ]
    });
    let mut text = table(head, rows, &[]);
    text.push('\n');
    for (_, heading, meaning) in MEANINGS {
        text += &format!("  {heading:<11} {meaning}\n");
    }
    if levels.iter().all(|level| level.linking.is_none()) {
        text += "  nobody has a place in this release, or it cannot be told who has which: \
                 how often people are found is not known\n";
    }
    text
}

/// A share as a percentage; a dash if it is not known.
pub fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), percent)
}

/// A share as a percentage with one digit.
pub fn percent(share: f64) -> String {
    // A tiny negative number is no risk below nothing.
    format!("{:.1} %", (share * 100.0).max(0.0))
}

fn with_error(value: Option<f64>, error: Option<f64>) -> String {
    match (value, error) {
        (Some(value), Some(error)) => format!("{} ± {:.1}", percent(value), error * 100.0),
        _ => share(value),
    }
}
