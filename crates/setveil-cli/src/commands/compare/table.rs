//! The table for people.

use setveil::workflow::compare::{COLUMNS, Row};

use crate::table::table;

/// The table for people; a star marks the frontier.
pub fn text(rows: &[Row]) -> String {
    let head = [""].into_iter().chain(COLUMNS);
    let cells = rows.iter().map(|row| {
        let star = if row.frontier { "*" } else { "" };
        [star.to_owned()].into_iter().chain(row.fields()).collect()
    });
    let mut text = table(head, cells, &[0, 1]);
    for row in rows {
        if let Some(error) = &row.error {
            text += &format!("{}: {error}\n", row.cell.name());
        }
    }
    text += "* no other setting has at most the same risk, tkd and re and less of one of them\n";
    if rows.iter().any(|row| row.cell.p.is_some()) {
        text += "methods with p hide which sensitive item somebody has, and not whose record it \
                 is: they are not ranked\n";
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
        assert!(text(&rows).contains("not whose record"));
        assert!(!text(&rows[..1]).contains("not whose"));
    }
}
