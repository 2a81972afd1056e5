//! What was seen, in plain words.

use super::{Finding, Kind};
use crate::error::plain;

impl Finding {
    /// One line in plain words.
    pub fn describe(&self) -> String {
        let what = self.of_a_table().unwrap_or_else(|| self.of_items());
        let examples: Vec<String> =
            self.examples.iter().map(|e| format!("`{}`", plain(e))).collect();
        if examples.is_empty() { what } else { format!("{what}: {}", examples.join(", ")) }
    }

    /// What lines and columns show.
    fn of_a_table(&self) -> Option<String> {
        let (count, of) = (self.count, self.of);
        Some(match self.kind {
            Kind::Header => "the first line looks like a header".to_owned(),
            Kind::UniquePosition { position } => format!(
                "position {position} has a value of its own in {count} of the first {of} lines, \
                 as an identifier has"
            ),
            Kind::IdPosition { position } => format!(
                "position {position} looks like an identifier: {count} values in the first {of} lines"
            ),
            Kind::IdentifyingColumns if of == 1 => {
                "the column of the items is called as identifiers are".to_owned()
            }
            Kind::IdentifyingColumns => {
                format!("{count} of the {of} columns of items say who somebody is")
            }
            Kind::UniqueColumns => format!(
                "{count} of the {of} columns of items have a value of their own in nearly every \
                 row, as an identifier has"
            ),
            Kind::PersonalColumns => {
                format!("{count} of the {of} columns of items describe a person")
            }
            Kind::Visits => "the table says elsewhere whose rows they are: somebody with several \
                             records is hidden among fewer people"
                .to_owned(),
            Kind::YesNo => {
                "all cells say yes or no, and what they are about stands in the header: \
                            the names of the columns are the items, and they are not read"
                    .to_owned()
            }
            _ => return None,
        })
    }

    /// What items show, wherever they stand.
    fn of_items(&self) -> String {
        let (count, of) = (self.count, self.of);
        let items = |one: &str, many: &str| match count {
            1 => format!("1 item {one}"),
            _ => format!("{count} items {many}"),
        };
        let differ = |how: &str| {
            items(&format!("differs from another {how}"), &format!("differ from another {how}"))
        };
        match self.kind {
            Kind::Delimiter { delimiter: '\t' } => {
                format!("{count} of {of} occurrences of items have a tab inside")
            }
            Kind::Delimiter { delimiter } => {
                format!("{count} of {of} occurrences of items have `{delimiter}` inside")
            }
            Kind::Ids => {
                format!("{count} of {of} records have an item of their own that looks like an id")
            }
            Kind::Emails => items("looks like an e-mail address", "look like e-mail addresses"),
            Kind::Phones => items("looks like a phone number", "look like phone numbers"),
            Kind::Ibans => items("is a bank account (IBAN)", "are bank accounts (IBAN)"),
            Kind::Dates => items("is a date", "are dates"),
            Kind::FreeText => items("looks like a sentence", "look like sentences"),
            Kind::ControlCharacters => {
                items("holds characters that are no text", "hold characters that are no text")
            }
            Kind::QuasiIdentifiers => items(
                "describes a person, and many may know it",
                "describe a person, and many may know them",
            ),
            Kind::Missing => items("says that nothing is there", "say that nothing is there"),
            Kind::Singles if count == 1 => format!("1 of {of} items occurs in one record only"),
            Kind::CaseVariants => differ("in capital letters only"),
            Kind::AccentVariants => differ("in how accents are written only"),
            Kind::BlankVariants => differ("in blanks or invisible characters only"),
            // Only `Singles` is left: what tables show was said already.
            _ => format!("{count} of {of} items occur in one record only"),
        }
    }
}
