//! What an attacker learns who also knows the program, and what everybody in
//! a cluster shares.

use super::Subject;
use super::html::{Page, number, share};
use crate::attack::{Level, Report};
use crate::release::Model;

/// People that are shown.
const SHOWN: usize = 5;

pub(super) fn what_is_learned(page: &mut Page, report: &Report) {
    page.section("What an attacker learns");
    page.text(
        "Whoever knows some items of a person can compute, from the release alone, how probable \
         each further item is. `certain` are people of whom an item is known with at least 95 % \
         probability; `right` is how often the most probable item is really there.",
    );
    let rows: Vec<Vec<String>> = report.levels.iter().map(level).collect();
    if !rows.is_empty() {
        page.table(
            "The most probable further item",
            &["items known", "people", "probability", "at most", "certain", "right"],
            &rows,
        );
    }
    let algorithm = algorithm(report);
    if !algorithm.is_empty() {
        page.heading("Somebody who also knows the program");
        page.list("", &algorithm);
    }
    let worst: Vec<Vec<String>> = report
        .worst_targets
        .iter()
        .take(SHOWN)
        .map(|t| {
            let right = match t.right {
                Some(true) => "yes",
                Some(false) => "no",
                None => "–",
            };
            let probability = share(Some(t.posterior));
            vec![t.known.join(", "), t.item.clone(), probability, right.to_owned()]
        })
        .collect();
    if !worst.is_empty() {
        page.table(
            "The people who fare worst",
            &["known", "learned", "probability", "right"],
            &worst,
        );
    }
    for note in &report.notes {
        page.note(note);
    }
}

fn level(level: &Level) -> Vec<String> {
    vec![
        level.known.to_string(),
        number(level.targets),
        share(level.posterior.mean),
        share(level.posterior.max),
        share(level.posterior.certain),
        share(level.posterior.guess_right),
    ]
}

fn algorithm(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(pairs) = report.breached_pairs {
        lines.push(format!(
            "Pairs of items for which fewer than k records of their cluster remain: {}, of which {} \
             are below k in the whole release.",
            number(pairs),
            number(report.breached_pairs_release.unwrap_or(0))
        ));
    }
    if let Some(records) = report.vulnerable_records {
        lines.push(format!("People whose record has such a pair: {}.", number(records)));
    }
    if let Some(items) = report.items_below_k {
        lines.push(format!(
            "Items that stand in one term chunk only, so that fewer than k people have them: {}.",
            number(items)
        ));
    }
    lines
}

pub(super) fn sensitive(page: &mut Page, subject: &Subject) {
    page.section("Sensitive items, and what everybody shares");
    let Subject { release, sensitive, cautions, attack, .. } = *subject;
    if sensitive.is_empty() {
        page.text(
            "No items were named as sensitive when the release was made. Items that nobody may be linked to (a diagnosis, a \
             medicine) can be named when the release is made; then they are treated apart.",
        );
    } else {
        let shown: Vec<&str> = sensitive.iter().take(30).map(String::as_str).collect();
        let more = match sensitive.len() - shown.len() {
            0 => String::new(),
            n => format!(" and {} more", number(n as u64)),
        };
        page.text(&format!("Named as sensitive: {}{more}.", shown.join(", ")));
        page.text(&match release.manifest.guarantee.model {
            Model::FormatKmAnonymity { l: Some(l), .. } => {
                format!("Each of them is in at most one of {l} records of every cluster.")
            }
            Model::Association { p } => {
                format!("Each of them belongs to at most one of {p} records of its group.")
            }
            _ => "They are never published together with other items.".to_owned(),
        });
    }
    let shared: Vec<String> =
        cautions.iter().filter(|c| c.kind == "homogeneous").map(|c| c.what.clone()).collect();
    if shared.is_empty() {
        page.text("No part of the release was found in which everybody has the same telling item.");
    } else {
        page.list("no", &shared);
    }
    if let Some(classes) = &attack.classes {
        page.text(&format!(
            "{} of the records are in a class with an item that was not generalised: whoever knows \
             a person's class knows that item.",
            share(Some(classes.homogeneous_records))
        ));
    }
    if let Some(groups) = &attack.association {
        page.text(&format!(
            "A member of a group has one given sensitive item with a probability of at most {}, and \
             any sensitive item at all with at most {}.",
            share(Some(groups.max_item)),
            share(Some(groups.max_any))
        ));
    }
}
