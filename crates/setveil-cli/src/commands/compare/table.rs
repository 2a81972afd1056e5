//! The table for people.

use setveil::risk::MEANINGS;
use setveil::workflow::compare::{COLUMNS, Row};

use crate::table::table;

/// The table for people; a star marks the frontier. Columns that no row has a
/// value for are left out.
pub fn text(rows: &[Row], known: u32) -> String {
    let fields: Vec<[String; COLUMNS.len()]> = rows.iter().map(Row::fields).collect();
    let used: Vec<usize> = (0..COLUMNS.len())
        .filter(|&c| c == 0 || fields.iter().any(|row| !row[c].is_empty()))
        .collect();
    let mut head = vec![""];
    head.extend(used.iter().map(|&c| COLUMNS[c]));
    let lines = rows.iter().zip(&fields).map(|(row, fields)| {
        let mut line = vec![if row.frontier { "*" } else { "" }];
        line.extend(used.iter().map(|&c| &*fields[c]));
        line
    });
    let mut text = table(head, lines, &[0, 1]);
    for row in rows {
        if let Some(why) = row.error.as_ref().or(row.weak.as_ref()) {
            text += &format!("  {}: {why}\n", row.cell.name());
        }
    }
    let items = if known == 1 { "1 known item".to_owned() } else { format!("{known} known items") };
    text += &format!("\nRisk with {items}; what follows ± is the spread over the seeds.\n");
    for (_, heading, meaning) in MEANINGS {
        if COLUMNS.contains(heading) {
            text += &format!("  {heading:<9} {meaning}\n");
        }
    }
    text += "  *         no other setting is better in risk, tkd or re by more than the spread and \
             worse in none\n";
    if rows.iter().any(|row| row.cell.p.is_some()) {
        text += "Methods with p hide which sensitive item somebody has, and not whose record it \
                 is.\n";
    }
    if let Some(note) = rows.iter().find_map(|row| row.note.as_ref()) {
        text += &format!("form: {note}; without a risk, it is not ranked\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_hide_people_is_explained() {
        let mut grouped = Row::default();
        grouped.cell.p = Some(10);
        let rows = [Row::default(), grouped];
        assert!(text(&rows, 2).contains("not whose record"));
        assert!(!text(&rows[..1], 2).contains("not whose"));
    }
}
