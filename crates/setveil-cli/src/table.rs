//! Tables on a terminal.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// Rows under a head, without lines; numbers to the right. `left` says which
/// columns are words.
pub fn table<H: ToString, C: ToString>(
    head: impl IntoIterator<Item = H>,
    rows: impl IntoIterator<Item = Vec<C>>,
    left: &[usize],
) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let head: Vec<String> = head.into_iter().map(|cell| cell.to_string()).collect();
    if head.iter().any(|cell| !cell.is_empty()) {
        table.set_header(head);
    }
    for row in rows {
        table.add_row(row.into_iter().map(|cell| cell.to_string()));
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        let words = left.contains(&i);
        column.set_cell_alignment(if words { CellAlignment::Left } else { CellAlignment::Right });
        column.set_padding((if i == 0 { 0 } else { 2 }, 0));
    }
    let mut text = String::new();
    for line in table.lines() {
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [vec!["a", "1"], vec!["bcd", "1000"]];
        assert_eq!(table(["x", "n"], rows.clone(), &[0]), "x       n\na       1\nbcd  1000\n");
        assert_eq!(table(["", ""], rows, &[0]), "a       1\nbcd  1000\n");
    }
}
