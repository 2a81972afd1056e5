//! Lists of sets of items that shall stay together: one set a line.

use std::path::Path;

use serde::Deserialize;

use crate::data::Keep;
use crate::{Error, Result};

const EXPECTED: &str = "expected a set a line: items separated by commas, or by blanks where there \
                        is no comma; or JSON, as [\"a b\", \"c\"] or {\"items\": [\"a\", \"c\"], \"weight\": 5}";

/// A line of JSON.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Items(Vec<String>),
    Weighted(Weighted),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Weighted {
    items: Vec<String>,
    #[serde(default = "one")]
    weight: u32,
}

fn one() -> u32 {
    1
}

/// Reads sets of items that shall stay together. A line is a set: items
/// separated by commas, or by blanks where there is no comma, or a JSON array of
/// items, or a JSON object with `items` and `weight`. Empty lines are left out.
///
/// # Errors
/// If the file cannot be read, or a line is no set that [`Keep::new`] takes.
pub fn read_keep(path: &Path) -> Result<Keep> {
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    parse_keep(&bytes, path)
}

/// Reads the bytes of such a file; `path` is for messages.
pub(crate) fn parse_keep(bytes: &[u8], path: &Path) -> Result<Keep> {
    let bad = |line: u64, found: String| Error::input(path, Some(line), found, EXPECTED);
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let before = &bytes[..e.valid_up_to()];
        bad(memchr::memchr_iter(b'\n', before).count() as u64 + 1, "invalid UTF-8".into())
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut sets: Vec<(Vec<String>, u32)> = Vec::new();
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        if line.is_empty() {
            continue;
        }
        let set = parse_line(line).map_err(|found| bad(number, found))?;
        // Each line by itself, so that a message names it.
        Keep::new([set.clone()]).map_err(|e| bad(number, e.to_string()))?;
        sets.push(set);
    }
    if sets.is_empty() {
        return Err(Error::input(path, None, "no set of items", EXPECTED));
    }
    Keep::new(sets)
}

fn parse_line(line: &str) -> std::result::Result<(Vec<String>, u32), String> {
    if line.starts_with(['[', '{']) {
        return match serde_json::from_str(line) {
            Ok(Line::Items(items)) => Ok((items, 1)),
            Ok(Line::Weighted(Weighted { items, weight })) => Ok((items, weight)),
            Err(_) => Err("JSON that is no set of items".into()),
        };
    }
    let split = |text: &str| text.trim().to_owned();
    let items: Vec<String> = match line.contains(',') {
        true => line.split(',').map(split).collect(),
        false => line.split_whitespace().map(split).collect(),
    };
    if items.iter().any(String::is_empty) {
        return Err("an item without a name".into());
    }
    Ok((items, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_lines_of_items_or_json() {
        let text = "flu fever\n\nwhole milk, yogurt\n[\"a, b\", \"c\"]\n\
                    {\"items\": [\"x\", \"y\"], \"weight\": 7}\r\n";
        let keep = parse_keep(text.as_bytes(), Path::new("keep.txt")).unwrap();
        let sets: Vec<(Vec<&str>, u32)> = keep
            .sets()
            .iter()
            .map(|set| (set.items.iter().map(String::as_str).collect(), set.weight))
            .collect();
        let expected = [
            (vec!["x", "y"], 7),
            (vec!["a, b", "c"], 1),
            (vec!["fever", "flu"], 1),
            (vec!["whole milk", "yogurt"], 1),
        ];
        assert_eq!(sets, expected);
    }

    #[test]
    fn a_bad_line_is_named() {
        for (text, line) in [
            ("a b\nc\n", Some(2)),
            ("a,,b", Some(1)),
            ("[\"a\"", Some(1)),
            ("{\"items\": [\"a\", \"b\"], \"weight\": 0}", Some(1)),
            ("{\"items\": [\"a\", \"b\"], \"wieght\": 2}", Some(1)),
            ("\n\n", None),
        ] {
            match parse_keep(text.as_bytes(), Path::new("keep.txt")) {
                Err(Error::Input { line: found, .. }) => assert_eq!(found, line, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        assert!(parse_keep(b"a b\n\xff c\n", Path::new("keep.txt")).is_err());
    }
}
