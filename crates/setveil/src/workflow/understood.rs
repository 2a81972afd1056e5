//! How data was understood, for whoever has to say whether that is right.

use serde::Serialize;

use crate::inspect::{self, Findings, Kind};
use crate::io::{Input, LeftOut};

/// How data was understood.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Understood {
    /// The layout it was read as.
    pub format: &'static str,
    /// What separates fields, in a CSV file.
    pub delimiter: Option<char>,
    /// The names of columns, or of what looks like columns; none where there are none.
    pub columns: Vec<String>,
    /// What was taken for granted, in words.
    pub assumed: Vec<String>,
    /// How many records there are.
    pub records: usize,
    /// How many items.
    pub items: usize,
    /// How many items in all records together.
    pub occurrences: usize,
    /// The items of the first records.
    pub first_records: Vec<Vec<String>>,
    /// What was left out.
    pub left_out: LeftOut,
    /// What to look at before publishing.
    pub findings: Findings,
}

/// How `input` was understood, with its first `records`.
pub fn understood(input: &Input, records: usize) -> Understood {
    let data = &input.dataset;
    let findings = inspect::check(input);
    let header = findings.findings.iter().any(|finding| finding.kind == Kind::Header);
    let preview = &input.preview;
    let columns = match preview.rows.first() {
        Some(first) if header && preview.columns.is_empty() => first.clone(),
        _ => preview.columns.clone(),
    };
    let first = data.records().take(records).map(|items| data.vocabulary().texts(items));
    Understood {
        format: input.format.name(),
        delimiter: preview.delimiter,
        columns,
        assumed: input.assumed.iter().map(ToString::to_string).collect(),
        records: data.len(),
        items: data.item_count(),
        occurrences: data.occurrences().len(),
        first_records: first.collect(),
        left_out: input.left_out(),
        findings,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::io::{ReadOptions, parse_dataset};

    fn of(name: &str, text: &str, options: &ReadOptions) -> Understood {
        understood(&parse_dataset(Path::new(name), text.as_bytes(), options).unwrap(), 2)
    }

    #[test]
    fn columns_are_known_whether_it_was_read_as_a_table_or_not() {
        let mut text = "patient;code\n".to_owned();
        (0..40).for_each(|i| text += &format!("p{};c{}\n", i / 2, i % 7));
        let baskets = of("a.csv", &text, &ReadOptions::default());
        assert_eq!((baskets.format, baskets.delimiter), ("basket-csv", Some(';')));
        assert_eq!(baskets.columns, ["patient", "code"]);
        assert!(baskets.findings.refused());
        let columns = ReadOptions {
            id: Some("patient".into()),
            item: Some("code".into()),
            ..ReadOptions::default()
        };
        let table = of("a.csv", &text, &columns);
        assert_eq!((table.format, table.delimiter), ("long-csv", Some(';')));
        assert_eq!(table.columns, ["patient", "code"]);
        assert_eq!((table.records, table.first_records.len()), (20, 2));
        assert_eq!(table.first_records[0], ["c0", "c1"]);
        let plain = of("a.dat", "1 2\n2 3\n", &ReadOptions::default());
        assert_eq!((plain.delimiter, plain.columns.len()), (None, 0));
    }
}
