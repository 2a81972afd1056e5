//! Basket CSV: one record a line, items separated by commas (by tabs in a
//! `.tsv` file), no header.
//!
//! An item that holds the separator or a quote stands in quotes, where a
//! quote is written twice. A line end always ends the record, inside quotes
//! too: that is what lets a missing quote be found where it is missing.

use std::borrow::Cow;

use super::Bad;
use super::lines::Lines;
use crate::data::Block;
use crate::error::{Hint, Setting};

/// The format with its separator.
pub(super) struct BasketCsv {
    pub(super) delimiter: u8,
}

impl Lines for BasketCsv {
    fn line(&self, line: &str, block: &mut Block) -> Result<(), Bad> {
        let mut rest = Some(line).filter(|l| !l.trim().is_empty());
        while let Some(text) = rest {
            let (field, after) = self.field(text)?;
            block.push_trimmed(&field);
            rest = after;
        }
        block.end_record();
        Ok(())
    }

    /// Blank fields are kept: they hold a position.
    fn fields(&self, line: &str) -> Option<Vec<String>> {
        let (mut fields, mut rest) = (Vec::new(), Some(line));
        while let Some(text) = rest {
            let (field, after) = self.field(text).ok()?;
            fields.push(field.trim().to_owned());
            rest = after;
        }
        Some(fields)
    }
}

/// Another separator than the comma, if the first lines tell: every one has
/// it outside of quotes, and none has a comma there.
pub(super) fn sniff(head: &[u8]) -> Option<u8> {
    let whole = &head[..memchr::memrchr(b'\n', head).unwrap_or(head.len())];
    let lines: Vec<&[u8]> = whole
        .split(|&b| b == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .take(1000)
        .collect();
    let outside = |line: &[u8], wanted: u8| {
        let mut quoted = false;
        line.iter().any(|&b| {
            quoted ^= b == b'"';
            b == wanted && !quoted
        })
    };
    if lines.is_empty() || lines.iter().any(|line| outside(line, b',')) {
        return None;
    }
    [b';', b'\t'].into_iter().find(|&c| lines.iter().all(|line| outside(line, c)))
}

impl BasketCsv {
    /// The first field of `text`, and what follows its separator.
    fn field<'a>(&self, text: &'a str) -> Result<(Cow<'a, str>, Option<&'a str>), Bad> {
        let cut = |text: &'a str| match memchr::memchr(self.delimiter, text.as_bytes()) {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let blanks = |c: char| c.is_whitespace() && c != char::from(self.delimiter);
        let Some(quoted) = text.trim_start_matches(blanks).strip_prefix('"') else {
            let (field, rest) = cut(text);
            return Ok((field.into(), rest));
        };
        let mut from = 0;
        loop {
            let Some(quote) = memchr::memchr(b'"', &quoted.as_bytes()[from..]).map(|q| from + q)
            else {
                return Err(Bad::new(
                    "a quote is opened and not closed",
                    "close it on the same line, and write a quote inside quotes twice",
                ));
            };
            if quoted.as_bytes().get(quote + 1) == Some(&b'"') {
                from = quote + 2;
                continue;
            }
            let (between, rest) = cut(&quoted[quote + 1..]);
            if !between.trim().is_empty() {
                return Err(Bad::new(
                    format!("`{}` after a closing quote", between.trim()),
                    Hint::of(
                        "write a quote inside quotes twice, or say what separates items with {}",
                        &[Setting::Delimiter],
                    ),
                ));
            }
            let field = &quoted[..quote];
            let field: Cow<str> =
                if field.contains('"') { field.replace("\"\"", "\"").into() } else { field.into() };
            return Ok((field, rest));
        }
    }
}
