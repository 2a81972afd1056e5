//! The table, its Pareto frontier and the recommendation.

use super::cells::Row;
use crate::error::plain;

/// Risk and losses of a row whose guarantee holds and is about the risk: with
/// a privacy degree p, what somebody has is hidden and not who it is, and
/// such a setting would come out best for not protecting what is measured.
fn costs(row: &Row) -> Option<[f64; 3]> {
    let held = row.holds == Some(true) && row.cell.p.is_none();
    held.then_some([row.risk?, row.tkd.unwrap_or(1.0), row.re.unwrap_or(2.0)])
}

/// Marks the rows that no other row beats: none has at most the same risk,
/// `tkd` and `re` and less of one of them.
pub(super) fn mark_frontier(rows: &mut [Row]) {
    let all: Vec<Option<[f64; 3]>> = rows.iter().map(costs).collect();
    for (row, own) in rows.iter_mut().zip(&all) {
        row.frontier = own.is_some_and(|own| {
            !all.iter().flatten().any(|other| {
                let no_worse = other.iter().zip(&own).all(|(o, s)| o <= s);
                no_worse && other.iter().zip(&own).any(|(o, s)| o < s)
            })
        });
    }
}

/// The setting that loses the fewest top itemsets within the limit, and why.
pub(super) fn recommend(rows: &[Row], limit: f64) -> String {
    let within = |row: &&Row| costs(row).is_some_and(|c| c[0] <= limit);
    let loss = |row: &Row| {
        let [_, tkd, re] = costs(row).expect("only rows with costs are compared");
        (tkd, re, row.seconds)
    };
    let mut fitting: Vec<&Row> = rows.iter().filter(within).collect();
    fitting.sort_by(|a, b| loss(a).partial_cmp(&loss(b)).expect("no measure is NaN"));
    let describe = |row: &Row| {
        let known = [("risk", row.risk), ("tkd", row.tkd), ("re", row.re)];
        let known = known.iter().filter_map(|(name, v)| v.map(|v| format!("{name} {v:.4}")));
        format!("{} ({})", row.cell.name(), known.collect::<Vec<_>>().join(", "))
    };
    match fitting[..] {
        [] => {
            let least = rows.iter().filter_map(|r| costs(r).map(|c| (r, c[0])));
            let least = least.min_by(|a, b| a.1.total_cmp(&b.1));
            match least {
                Some((row, _)) => format!(
                    "No setting has a risk of at most {limit}. The least is {}: try a larger k.",
                    describe(row)
                ),
                None => "No setting gave a release whose guarantee holds.".to_owned(),
            }
        }
        [only] => format!(
            "Recommended: {}. It is the only setting whose guarantee holds with a risk of at \
             most {limit}.",
            describe(only)
        ),
        [best, next, ..] => format!(
            "Recommended: {}. Of {} settings whose guarantee holds with a risk of at most {limit} \
             it loses the fewest of the most frequent itemsets; next comes {}.",
            describe(best),
            fitting.len(),
            describe(next)
        ),
    }
}

/// The columns of the table.
pub const COLUMNS: [&str; 15] = [
    "method",
    "k",
    "m",
    "cluster",
    "p",
    "epsilon",
    "holds",
    "risk",
    "tkd",
    "re",
    "tlost",
    "pairs_kept",
    "ncp",
    "kl",
    "seconds",
];

impl Row {
    /// The row as texts, one for each of [`COLUMNS`].
    pub fn fields(&self) -> [String; 15] {
        let row = self;
        let holds = match (row.holds, &row.note) {
            (None, _) => "refused",
            (Some(false), _) => "NO",
            (Some(true), Some(_)) => "form",
            (Some(true), None) => "yes",
        };
        let whole = |value: Option<u32>| value.map_or(String::new(), |v| v.to_string());
        let share = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.4}"));
        [
            row.cell.method.clone(),
            whole(row.cell.k),
            whole(row.cell.m),
            row.cell.max_cluster_size.map_or(String::new(), |s| s.to_string()),
            whole(row.cell.p),
            row.cell.epsilon.map_or(String::new(), |e| e.to_string()),
            holds.to_owned(),
            share(row.risk),
            share(row.tkd),
            share(row.re),
            share(row.tlost),
            share(row.pairs_kept),
            share(row.ncp),
            share(row.kl),
            format!("{:.2}", row.seconds),
        ]
    }
}

/// A text for a cell of a spreadsheet: one that begins like a formula would be
/// taken for one.
fn in_a_cell(text: &str) -> String {
    let text = plain(text).to_string();
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

/// The table as CSV.
pub fn csv(rows: &[Row]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = "writing to memory does not fail";
    let more = ["frontier", "error"];
    writer.write_record(COLUMNS.iter().chain(&more)).expect(written);
    for row in rows {
        let more =
            [row.frontier.to_string(), row.error.as_deref().map(in_a_cell).unwrap_or_default()];
        writer.write_record(row.fields().iter().chain(&more)).expect(written);
    }
    let bytes = writer.into_inner().expect(written);
    String::from_utf8(bytes).expect("texts stay texts")
}

#[cfg(test)]
mod tests {
    use super::super::cells::Cell;
    use super::*;

    fn row(k: u32, holds: bool, risk: f64, tkd: f64) -> Row {
        let cell =
            Cell { method: "disassociation".into(), k: Some(k), m: Some(2), ..Default::default() };
        let json = serde_json::json!({ "holds": holds, "risk": risk, "tkd": tkd, "seconds": 1.0 });
        let mut object = serde_json::to_value(&cell).unwrap();
        object.as_object_mut().unwrap().extend(json.as_object().unwrap().clone());
        serde_json::from_value(object).unwrap()
    }

    #[test]
    fn the_frontier_is_what_nothing_beats() {
        let mut rows = [
            row(2, true, 0.3, 0.1),
            row(3, true, 0.3, 0.2),
            row(5, true, 0.1, 0.2),
            row(9, false, 0.0, 0.0),
        ];
        mark_frontier(&mut rows);
        assert_eq!(rows.each_ref().map(|r| r.frontier), [true, false, true, false]);
    }

    #[test]
    fn what_does_not_hide_people_is_not_ranked() {
        let mut grouped = row(2, true, 0.01, 0.0);
        (grouped.cell.k, grouped.cell.p) = (None, Some(10));
        let mut rows = [row(2, true, 0.3, 0.1), grouped];
        mark_frontier(&mut rows);
        assert_eq!(rows.each_ref().map(|r| r.frontier), [true, false]);
        assert!(recommend(&rows, 1.0).starts_with("Recommended: disassociation-k2-m2"));
    }

    #[test]
    fn the_recommendation_keeps_the_limit_and_the_guarantee() {
        let rows = [
            row(2, true, 0.3, 0.1),
            row(5, true, 0.1, 0.3),
            row(7, true, 0.05, 0.2),
            row(9, false, 0.0, 0.0),
        ];
        assert!(recommend(&rows, 0.2).starts_with("Recommended: disassociation-k7-m2"));
        assert!(recommend(&rows, 1.0).contains("k2-m2") && recommend(&rows, 1.0).contains("Of 3"));
        assert!(recommend(&rows, 0.01).starts_with("No setting"));
        assert!(recommend(&rows[3..], 0.5).contains("No setting gave"));
    }
}
