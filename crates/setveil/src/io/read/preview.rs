//! The beginning of the data as it was understood, for whoever looks at it
//! before something is published: fields by their position in the line, which
//! a data set no longer knows.

use super::lines::Lines;

/// The most lines that are kept.
const LINES: usize = 1000;
/// The longest line that is kept whole.
const LONGEST: usize = 4096;

/// The first lines.
#[derive(Clone, Debug, Default)]
pub struct Preview {
    /// The first lines of the text as they stand there, a few.
    pub lines: Vec<String>,
    /// The fields of the first lines, blank ones included. Empty where the
    /// layout was named (tables) and positions mean nothing.
    pub rows: Vec<Vec<String>>,
    /// What separates the fields of a CSV file.
    pub delimiter: Option<char>,
    /// The names of all columns of a CSV table.
    pub columns: Vec<String>,
    /// The columns of a table that hold items.
    pub item_columns: Vec<PreviewColumn>,
    /// The column of a table that says whose row it is.
    pub id: Option<String>,
    /// The columns of a table that were not read.
    pub unread: Vec<String>,
}

/// A column with items.
#[derive(Clone, Debug, Default)]
pub struct PreviewColumn {
    /// Its name.
    pub name: String,
    /// What stands in the first rows, blank cells left out. Empty where only
    /// names are known.
    pub values: Vec<String>,
}

impl Preview {
    /// How many lines are kept as text.
    const SHOWN: usize = 3;

    /// The lines of `head`; the last one may not be whole.
    pub(super) fn of(head: &[u8], format: Option<&impl Lines>) -> Self {
        let text = String::from_utf8_lossy(head);
        let whole = match text.rfind('\n') {
            Some(end) => &text[..end],
            None => &text,
        };
        let lines = || whole.lines().filter(|l| !l.trim().is_empty() && l.len() <= LONGEST);
        let rows = match format {
            None => Vec::new(),
            Some(format) => lines().take(LINES).filter_map(|l| format.fields(l)).collect(),
        };
        let cut = |line: &str| match line.char_indices().nth(120) {
            Some((end, _)) => format!("{}...", &line[..end]),
            None => line.to_owned(),
        };
        let lines = lines().take(Self::SHOWN).map(cut).collect();
        Self { lines, rows, ..Self::default() }
    }

    /// Whether another row of a table is kept; `row` rows came before.
    pub(super) const fn wants(row: u64) -> bool {
        row < LINES as u64
    }
}
