//! The table, its frontier and the recommendation.

use serde::Serialize;

use super::Limits;
use super::cells::{Row, Utility};
use crate::error::plain;

/// Risk and losses of a row whose guarantee holds, each with its spread.
fn costs(row: &Row) -> Option<[(f64, f64); 3]> {
    let linking = row.risk.as_ref()?.linking?;
    let spread = row.spread;
    let with = |spread: Option<f64>| spread.unwrap_or(0.0);
    (row.holds == Some(true) && row.weak.is_none()).then_some([
        (linking, with(spread.linking)),
        (row.utility.tkd.unwrap_or(1.0), with(spread.utility.tkd)),
        (row.utility.re.unwrap_or(2.0), with(spread.utility.re)),
    ])
}

/// Marks the rows that no other row beats: none is better in risk, `tkd` or
/// `re` by more than the spread of both and worse in none by more than that.
pub(super) fn mark_frontier(rows: &mut [Row]) {
    let all: Vec<Option<[(f64, f64); 3]>> = rows.iter().map(costs).collect();
    for (row, own) in rows.iter_mut().zip(&all) {
        row.frontier = own.is_some_and(|own| {
            !all.iter().flatten().any(|other| {
                let pairs = || other.iter().zip(&own).map(|(o, s)| (o.0, s.0, o.1 + s.1));
                let no_worse = pairs().all(|(o, s, spread)| o <= s + spread);
                no_worse && pairs().any(|(o, s, spread)| o < s - spread)
            })
        });
    }
}

/// Which setting to take, and why; or why none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Recommendation {
    /// The setting's name; none if no setting does what was asked for.
    pub setting: Option<String>,
    /// The reason, in words.
    pub reason: String,
}

impl Limits {
    /// What a row does not satisfy, in words.
    pub(crate) fn missed(&self, row: &Row) -> Vec<String> {
        let mut missed = Vec::new();
        let risk = row.risk.as_ref().and_then(|level| level.linking);
        let risk = risk.map(|risk| risk + row.spread.linking.unwrap_or(0.0));
        let Utility { tkd, re, tlost, pairs_kept, .. } = row.utility;
        for (name, value, limit) in [
            ("risk", risk, self.max_risk),
            ("tkd", tkd, self.max_tkd),
            ("re", re, self.max_re),
            ("tlost", tlost, self.max_tlost),
        ] {
            match (value, limit) {
                (Some(value), Some(limit)) if value > limit => {
                    missed.push(format!("{name} {value:.4} is above {limit}"));
                }
                (None, Some(_)) => missed.push(format!("{name} is not known")),
                _ => {}
            }
        }
        match (pairs_kept, self.min_pairs_kept) {
            (Some(value), Some(limit)) if value < limit => {
                missed.push(format!("pairs_kept {value:.4} is below {limit}"));
            }
            (None, Some(_)) => missed.push("pairs_kept is not known".to_owned()),
            _ => {}
        }
        missed
    }
}

/// The setting that loses the fewest top itemsets among those that do what is
/// asked for, and why. Never one whose guarantee does not hold or is weak, never
/// an empty release.
pub(super) fn recommend(rows: &[Row], limits: &Limits) -> Recommendation {
    let loss = |row: &Row| costs(row).map_or((1.0, 2.0), |[_, tkd, re]| (tkd.0, re.0));
    let mut fitting: Vec<&Row> =
        rows.iter().filter(|r| costs(r).is_some() && limits.missed(r).is_empty()).collect();
    fitting.sort_by(|a, b| {
        let (a, b) = (loss(a), loss(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let describe = |row: &Row| {
        let linking = row.risk.as_ref().and_then(|level| level.linking);
        let known = [("risk", linking), ("tkd", row.utility.tkd), ("re", row.utility.re)];
        let known = known.iter().filter_map(|(name, v)| v.map(|v| format!("{name} {v:.4}")));
        format!("{} ({})", row.cell.name(), known.collect::<Vec<_>>().join(", "))
    };
    let Some(best) = fitting.first() else {
        return Recommendation { setting: None, reason: none_fits(rows, limits, describe) };
    };
    let reason = match fitting.get(1) {
        None => format!(
            "Recommended: {}. It is the only setting that does what was asked for.",
            describe(best)
        ),
        Some(next) => format!(
            "Recommended: {}. Of {} settings that do what was asked for it loses the fewest of the \
             most frequent itemsets; next comes {}.",
            describe(best),
            fitting.len(),
            describe(next)
        ),
    };
    Recommendation { setting: Some(best.cell.name()), reason }
}

fn none_fits(rows: &[Row], limits: &Limits, describe: impl Fn(&Row) -> String) -> String {
    let ranked = rows.iter().filter_map(|row| costs(row).map(|costs| (row, costs[0].0)));
    match ranked.min_by(|a, b| a.1.total_cmp(&b.1)) {
        None => "No setting gave a release whose guarantee holds and can be recommended.".into(),
        Some((row, _)) => format!(
            "No setting does what was asked for. The least risk is that of {}: {}. Try a larger k, \
             another method, or less strict limits.",
            describe(row),
            limits.missed(row).join(", ")
        ),
    }
}

/// The columns of the table.
pub const COLUMNS: [&str; 20] = [
    "method",
    "k",
    "m",
    "cluster",
    "p",
    "epsilon",
    "holds",
    "known",
    "raw data",
    "found",
    "1 in 20",
    "read",
    "guessed",
    "tkd",
    "re",
    "tlost",
    "pairs_kept",
    "ncp",
    "kl",
    "seconds",
];

impl Row {
    /// The setting: method, k, m, cluster size, p and epsilon.
    fn setting(&self) -> [String; 6] {
        let whole = |value: Option<u32>| value.map_or(String::new(), |v| v.to_string());
        let cell = &self.cell;
        [
            cell.method.clone(),
            whole(cell.k),
            whole(cell.m),
            cell.max_cluster_size.map_or(String::new(), |s| s.to_string()),
            whole(cell.p),
            cell.epsilon.map_or(String::new(), |e| e.to_string()),
        ]
    }

    fn holds(&self) -> &'static str {
        match (self.holds, &self.weak, &self.note) {
            (None, ..) => "refused",
            (Some(false), ..) => "NO",
            (Some(true), Some(_), _) => "weak",
            (Some(true), None, Some(_)) => "form",
            (Some(true), None, None) => "yes",
        }
    }

    /// The row as texts, one for each of [`COLUMNS`]; a spread stands behind its value.
    pub fn fields(&self) -> [String; 20] {
        let short = |value: Option<f64>, spread: Option<f64>| match (value, spread) {
            (None, _) => String::new(),
            (Some(value), Some(spread)) if spread >= 0.00005 => format!("{value:.4}±{spread:.4}"),
            (Some(value), _) => format!("{value:.4}"),
        };
        let level = self.risk.clone().unwrap_or_default();
        let known = if self.risk.is_some() { level.known.to_string() } else { String::new() };
        let [a, b, c, d, e, f] = self.setting();
        let (has, by) = (self.utility.named(), self.spread.utility.named());
        let measure = |i: usize| short(has[i].1, by[i].1);
        [
            a,
            b,
            c,
            d,
            e,
            f,
            self.holds().to_owned(),
            known,
            short(level.raw, None),
            short(level.linking, self.spread.linking),
            short(level.linking_p95, None),
            short(level.disclosure, None),
            short(level.inference, None),
            measure(0),
            measure(1),
            measure(2),
            measure(3),
            measure(4),
            measure(5),
            format!("{:.2}", self.seconds),
        ]
    }
}

const SETTING: [&str; 6] = ["method", "k", "m", "max_cluster_size", "p", "epsilon"];

/// A text for a cell of a spreadsheet: one that begins like a formula would be
/// taken for one.
fn in_a_cell(text: &str) -> String {
    let text = plain(text).to_string();
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

/// The table as CSV, with full precision.
pub fn csv(rows: &[Row]) -> String {
    let mut head: Vec<String> = SETTING.map(str::to_owned).to_vec();
    head.extend(["holds", "weak", "seeds", "known"].map(str::to_owned));
    head.extend(LEVEL.map(str::to_owned));
    head.push("linking_spread".to_owned());
    for (name, _) in Utility::default().named() {
        head.extend([name.to_owned(), format!("{name}_spread")]);
    }
    head.extend(["seconds", "frontier", "error"].map(str::to_owned));
    write(
        &head,
        rows.iter().map(|row| {
            let mut line = row.setting().to_vec();
            let known = row.risk.as_ref().map_or(String::new(), |level| level.known.to_string());
            let weak = row.weak.as_deref().map(in_a_cell).unwrap_or_default();
            line.extend([row.holds().to_owned(), weak, row.seeds.len().to_string(), known]);
            line.extend(level(row.risk.as_ref()));
            line.push(exact(row.spread.linking));
            for ((_, value), (_, spread)) in
                row.utility.named().into_iter().zip(row.spread.utility.named())
            {
                line.extend([exact(value), exact(spread)]);
            }
            let error = row.error.as_deref().map(in_a_cell).unwrap_or_default();
            line.extend([row.seconds.to_string(), row.frontier.to_string(), error]);
            line
        }),
    )
}

/// The risk of every setting for 1, 2, ... known items as CSV.
pub fn curve_csv(rows: &[Row]) -> String {
    let mut head: Vec<String> = SETTING.map(str::to_owned).to_vec();
    head.push("known".to_owned());
    head.extend(LEVEL.map(str::to_owned));
    let lines = rows.iter().flat_map(|row| {
        row.curve.iter().map(|at| {
            let mut line = row.setting().to_vec();
            line.push(at.known.to_string());
            line.extend(level(Some(at)));
            line
        })
    });
    write(&head, lines)
}

const LEVEL: [&str; 10] = [
    "raw",
    "raw_error",
    "linking",
    "linking_error",
    "linking_p95",
    "disclosure",
    "disclosure_error",
    "inference",
    "inference_error",
    "candidates_format",
];

fn level(at: Option<&crate::risk::Level>) -> [String; 10] {
    let Some(at) = at else { return Default::default() };
    [
        exact(at.raw),
        exact(at.raw_error),
        exact(at.linking),
        exact(at.linking_error),
        exact(at.linking_p95),
        exact(at.disclosure),
        exact(at.disclosure_error),
        exact(at.inference),
        exact(at.inference_error),
        at.candidates_format.map_or(String::new(), |c| c.to_string()),
    ]
}

fn exact(value: Option<f64>) -> String {
    value.map_or(String::new(), |v| v.to_string())
}

fn write(head: &[String], lines: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = "writing to memory does not fail";
    writer.write_record(head).expect(written);
    for line in lines {
        writer.write_record(line).expect(written);
    }
    String::from_utf8(writer.into_inner().expect(written)).expect("texts stay texts")
}

#[cfg(test)]
mod tests {
    use super::super::cells::{Cell, Spread};
    use super::*;
    use crate::risk::Level;

    fn row(k: u32, holds: bool, risk: f64, tkd: f64) -> Row {
        let cell =
            Cell { method: "disassociation".into(), k: Some(k), m: Some(2), ..Default::default() };
        let mut level = Level::default();
        (level.known, level.linking) = (2, Some(risk));
        let spread = Spread { linking: Some(0.01), ..Default::default() };
        Row {
            cell,
            holds: Some(holds),
            risk: Some(level),
            utility: Utility { tkd: Some(tkd), ..Default::default() },
            spread,
            ..Default::default()
        }
    }

    #[test]
    fn the_frontier_is_what_nothing_beats_by_more_than_the_spread() {
        let mut rows = [
            row(2, true, 0.3, 0.1),
            row(3, true, 0.3, 0.2),
            row(5, true, 0.1, 0.2),
            // Less than the spread away: not beaten by the one before, nor beating it.
            row(6, true, 0.11, 0.2),
            row(9, false, 0.0, 0.0),
        ];
        mark_frontier(&mut rows);
        assert_eq!(rows.each_ref().map(|r| r.frontier), [true, false, true, true, false]);
    }

    #[test]
    fn what_is_recommended_does_what_was_asked_for() {
        let rows = [
            row(2, true, 0.3, 0.1),
            row(5, true, 0.1, 0.3),
            row(7, true, 0.05, 0.2),
            row(9, false, 0.0, 0.0),
        ];
        let at = |risk: f64| recommend(&rows, &Limits::default().max_risk(Some(risk)));
        assert_eq!(at(0.2).setting.unwrap(), "disassociation-k7-m2");
        assert_eq!(at(1.0).setting.unwrap(), "disassociation-k2-m2");
        // 0.05 and its spread of 0.01 are above 0.055.
        assert_eq!(at(0.055).setting, None);
        assert!(at(0.055).reason.contains("risk 0.0600 is above 0.055"), "{:?}", at(0.055));
        let both = Limits::default().max_risk(Some(0.2)).max_tkd(Some(0.1));
        assert_eq!(recommend(&rows, &both).setting, None);
        let pairs = Limits::default().min_pairs_kept(Some(0.1));
        assert_eq!(recommend(&rows, &pairs).setting, None, "nobody measured it");
    }

    #[test]
    fn weak_and_empty_ones_are_neither_ranked_nor_recommended() {
        let mut weak = row(2, true, 0.0, 0.0);
        weak.weak = Some("nothing is promised about combinations".into());
        let mut rows = [weak, row(5, true, 0.1, 0.3)];
        mark_frontier(&mut rows);
        assert_eq!(rows.each_ref().map(|r| r.frontier), [false, true]);
        let found = recommend(&rows, &Limits::default().max_risk(Some(1.0)));
        assert_eq!(found.setting.unwrap(), "disassociation-k5-m2");
        assert!(recommend(&rows[..1], &Limits::default()).reason.starts_with("No setting gave"));
    }

    #[test]
    fn tables_have_as_many_fields_as_columns() {
        let rows = [row(2, true, 1.0 / 3.0, 0.1), Row::default()];
        let text = csv(&rows);
        assert!(text.contains("0.3333333333333333"), "full precision: {text}");
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        assert_eq!(reader.records().filter(|r| r.is_ok()).count(), 2);
    }
}
