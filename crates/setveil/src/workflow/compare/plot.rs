//! Risk against what is lost, as SVG.

use super::cells::Row;
use crate::chart::{Mark, Panel, panels};

/// The measures that have a panel, with what the axis is called.
const AXES: [(&str, &str); 6] = [
    ("tkd", "tkd: itemsets lost"),
    ("re", "re: error of pairs"),
    ("tlost", "tlost: items lost"),
    ("pairs_kept", "pairs_kept (more is better)"),
    ("ncp", "ncp: coarseness"),
    ("kl", "kl: divergence"),
];

/// Every setting whose guarantee holds and whose risk is known, against each
/// measure that some of them have; the frontier is filled and named.
pub fn figure(rows: &[Row], known: u32) -> String {
    let shown: Vec<&Row> =
        rows.iter().filter(|row| row.holds == Some(true) && risk(row).is_some()).collect();
    let mut kinds: Vec<String> = Vec::new();
    for row in &shown {
        if !kinds.contains(&row.cell.method) {
            kinds.push(row.cell.method.clone());
        }
    }
    let axes = AXES.iter().enumerate().filter_map(|(i, (_, y))| {
        let marks: Vec<Mark> = shown.iter().filter_map(|row| mark(row, i, &kinds)).collect();
        (!marks.is_empty()).then(|| Panel { y: (*y).to_owned(), marks })
    });
    let items = if known == 1 { "1 known item".to_owned() } else { format!("{known} known items") };
    panels(
        &format!("Risk with {items}, and what it costs; filled: no other is better"),
        "risk: how often a person is found",
        &kinds,
        &axes.collect::<Vec<_>>(),
    )
}

fn risk(row: &Row) -> Option<f64> {
    row.risk.as_ref()?.linking
}

fn mark(row: &Row, measure: usize, kinds: &[String]) -> Option<Mark> {
    let value = row.utility.named()[measure].1?;
    let spread = row.spread.utility.named()[measure].1.unwrap_or(0.0);
    // The method is told by colour and shape.
    let name = row.cell.name();
    let short = name.strip_prefix(&row.cell.method).unwrap_or(&name).trim_start_matches('-');
    Some(Mark {
        kind: kinds.iter().position(|kind| *kind == row.cell.method)?,
        at: (risk(row)?, value),
        spread: (row.spread.linking.unwrap_or(0.0), spread),
        name: short.replace('-', " "),
        marked: row.frontier,
    })
}
