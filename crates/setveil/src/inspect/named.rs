//! Columns that were named as items: whether their names or their values say
//! who somebody is.

use super::items::Labels;
use super::{Finding, Kind, Severity, names, short};
use crate::io::{Preview, PreviewColumn};

/// Fewer cells than these tell nothing about how unique values are.
const ENOUGH: usize = 20;
/// How many names are shown.
const SHOWN: usize = 6;

/// What the columns of a table show that hold its items.
pub(super) fn findings(columns: &[PreviewColumn], data: &Labels) -> Vec<Finding> {
    let of = columns.len() as u64;
    let finding = |severity, kind, found: &[&PreviewColumn]| {
        let examples = found.iter().take(SHOWN).map(|c| short(&c.name)).collect();
        let count = found.len() as u64;
        (count > 0).then_some(Finding { severity, kind, count, of, examples })
    };
    let chosen = |wanted: &dyn Fn(&PreviewColumn) -> bool| {
        columns.iter().filter(|c| wanted(c)).collect::<Vec<_>>()
    };
    let identifying = chosen(&|c| names::identifies(&c.name));
    let mut unique = chosen(&|c| is_unique(c, data) && !names::identifies(&c.name));
    // Items that occur once can be the rule, as in a log of queries: then no column is special.
    if columns.len() < 2 || unique.len() * 2 > columns.len() {
        unique.clear();
    }
    let personal = chosen(&|c| names::is_personal(&c.name) && !names::identifies(&c.name));
    [
        finding(Severity::Refuse, Kind::IdentifyingColumns, &identifying),
        finding(Severity::Refuse, Kind::UniqueColumns, &unique),
        finding(Severity::Remark, Kind::PersonalColumns, &personal),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Whether nearly every cell has a value that no other record has.
fn is_unique(column: &PreviewColumn, data: &Labels) -> bool {
    let once = column.values.iter().filter(|value| data.support(value) <= 1).count();
    column.values.len() >= ENOUGH && once * 10 >= column.values.len() * 9
}

/// The columns that may be published.
pub(super) fn harmless(columns: &[PreviewColumn], data: &Labels) -> Vec<usize> {
    let fine = |c: &PreviewColumn| {
        !names::identifies(&c.name) && !names::is_personal(&c.name) && !is_unique(c, data)
    };
    (0..columns.len()).filter(|&at| fine(&columns[at])).collect()
}

/// Records of visits or orders in a table that knows the people.
pub(super) fn visits(preview: &Preview) -> Option<Finding> {
    if preview.id.as_ref().is_some_and(|id| names::is_person(id)) {
        return None;
    }
    let people: Vec<String> =
        preview.unread.iter().filter(|name| names::is_person(name)).map(|n| short(n)).collect();
    let count = people.len() as u64;
    let (severity, examples) = (Severity::Remark, people);
    (count > 0).then_some(Finding { severity, kind: Kind::Visits, count, of: count, examples })
}

/// A table of which every cell is a yes or a no.
pub(super) fn yes_or_no(preview: &Preview, data: &Labels, width: Option<usize>) -> Option<Finding> {
    const WORDS: [&str; 14] =
        ["0", "1", "true", "false", "yes", "no", "y", "n", "t", "f", "x", "-", "ja", "nein"];
    let columns = preview.item_columns.len().max(width.unwrap_or(0));
    let labels = data.vocabulary;
    let word = |label: &str| WORDS.contains(&label.to_lowercase().as_str());
    if columns < 3 || labels.len() > 4 || !labels.labels().all(word) {
        return None;
    }
    let examples = labels.labels().map(short).collect();
    let (severity, count) = (Severity::Refuse, labels.len() as u64);
    Some(Finding { severity, kind: Kind::YesNo, count, of: count, examples })
}
