//! Lists of items, one a line: which items are sensitive.

use std::path::Path;

use crate::{Error, Result};

/// Reads a list of items: one a line, blanks at either end and empty lines
/// left out.
pub fn read_items(path: &Path) -> Result<Vec<String>> {
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let before = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
        Error::input(path, Some(line), "invalid UTF-8", "expected one item a line as UTF-8 text")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let items: Vec<String> =
        text.lines().map(str::trim).filter(|l| !l.is_empty()).map(str::to_owned).collect();
    if items.is_empty() {
        return Err(Error::input(path, None, "no item", "expected one item a line"));
    }
    Ok(items)
}
