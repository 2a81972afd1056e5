//! The table for people.

use setveil::workflow::compare::{COLUMNS, Row};

/// The table for people; a star marks the frontier.
pub fn text(rows: &[Row]) -> String {
    let mut widths = COLUMNS.map(str::len);
    for row in rows {
        for (width, field) in widths.iter_mut().zip(row.fields()) {
            *width = (*width).max(field.len());
        }
    }
    let line = |fields: &[String], star: &str| {
        let cells = fields.iter().zip(widths).enumerate();
        let cells =
            cells.map(|(i, (f, w))| if i == 0 { format!("{f:<w$}") } else { format!("{f:>w$}") });
        format!("{star} {}\n", cells.collect::<Vec<_>>().join("  "))
    };
    let mut text = line(&COLUMNS.map(str::to_owned), " ");
    for row in rows {
        text += &line(&row.fields(), if row.frontier { "*" } else { " " });
        if let Some(error) = &row.error {
            text += &format!("    {error}\n");
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
