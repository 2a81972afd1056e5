//! Hierarchy files: one leaf a line, `leaf;parent;...;*`.
//!
//! A label with a semicolon, a quotation mark or a line break stands in
//! quotation marks, as in CSV. Both ways work line by line: the paths of ten
//! million leaves never lie in memory together.

use std::io::Write;
use std::path::Path;

use super::new_file::NewFile;
use crate::data::Hierarchy;
use crate::data::hierarchy::HierarchyBuilder;
use crate::{Error, Result};

const HINT: &str = "write one leaf a line as `leaf;parent;...;*`";
/// Bytes that are handed on at once.
const CHUNK: usize = 1 << 16;

/// Reads a hierarchy, `.gz` and `.zst` included.
pub fn read_hierarchy(path: &Path) -> Result<Hierarchy> {
    let bytes = super::read::read_bytes(path)?;
    parse_hierarchy(path, &bytes)
}

/// Parses the bytes of a hierarchy file; `path` is for messages.
pub fn parse_hierarchy(path: &Path, bytes: &[u8]) -> Result<Hierarchy> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(b';')
        .has_headers(false)
        .flexible(true)
        .from_reader(bytes);
    let mut builder = HierarchyBuilder::default();
    let mut row = csv::StringRecord::new();
    loop {
        let more = reader.read_record(&mut row).map_err(|e| {
            let line = e.position().map(csv::Position::line);
            Error::input(path, line, e.to_string(), HINT)
        })?;
        if !more {
            break;
        }
        let labels: Vec<&str> = row.iter().collect();
        // The reader counts a row from where it looked for one: blank lines come first.
        let line = row.position().map(|at| {
            let blank = bytes[at.byte() as usize..].iter().take_while(|b| b.is_ascii_whitespace());
            at.line() + blank.filter(|&&b| b == b'\n').count() as u64
        });
        builder.push(&labels).map_err(|what| Error::input(path, line, what, HINT))?;
    }
    builder.finish().ok_or_else(|| Error::input(path, None, "there is no leaf", HINT))
}

/// Hands the lines of a hierarchy file to `sink` piece by piece, leaves in preorder.
pub(super) fn each_chunk(
    hierarchy: &Hierarchy,
    mut sink: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut out = Vec::with_capacity(CHUNK + CHUNK / 4);
    for leaf in hierarchy.leaves(0) {
        let mut node = leaf;
        push_label(&mut out, hierarchy.label(node));
        while node != 0 {
            node = hierarchy.parent(node);
            out.push(b';');
            push_label(&mut out, hierarchy.label(node));
        }
        out.push(b'\n');
        if out.len() >= CHUNK {
            sink(&out)?;
            out.clear();
        }
    }
    sink(&out)
}

fn push_label(out: &mut Vec<u8>, label: &str) {
    if label.bytes().any(|b| matches!(b, b';' | b'"' | b'\n' | b'\r')) {
        out.push(b'"');
        for byte in label.bytes() {
            out.extend_from_slice(if byte == b'"' { b"\"\"" } else { std::slice::from_ref(&byte) });
        }
        out.push(b'"');
    } else {
        out.extend_from_slice(label.as_bytes());
    }
}

/// Writes a hierarchy file.
///
/// # Errors
/// [`Error::Exists`] if there is one already, unless `replace` is given.
pub fn write_hierarchy(hierarchy: &Hierarchy, path: &Path, replace: bool) -> Result<()> {
    let mut file = NewFile::create(path, replace)?;
    each_chunk(hierarchy, |chunk| file.write_all(chunk).map_err(|e| Error::io(path, e)))?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_labels_come_back() {
        let labels =
            ["plain", "semi;colon", "quo\"te", "\"quoted\"", "line\nbreak", " blank ", "ä"];
        let paths: Vec<Vec<&str>> = labels.iter().map(|l| vec![*l, "in;ner", "*"]).collect();
        let tree = Hierarchy::from_paths(&paths).unwrap();
        let mut bytes = Vec::new();
        each_chunk(&tree, |chunk| {
            bytes.extend_from_slice(chunk);
            Ok(())
        })
        .unwrap();
        assert_eq!(parse_hierarchy(Path::new("h.csv"), &bytes).unwrap(), tree);
    }

    #[test]
    fn an_error_names_its_line() {
        for (text, line, word) in [
            ("a;A;*\nb;B\n", 2, "root"),
            ("a;A;*\n\nb;A;B;*\n", 3, "two parents"),
            ("a;A;*\n;A;*\n", 2, "empty"),
            ("a;A;*\nb;A;*\na;A;*\n", 3, "twice"),
            ("b;C;D;C;*\n", 1, "own ancestor"),
        ] {
            let error = parse_hierarchy(Path::new("h.csv"), text.as_bytes()).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(&format!("h.csv:{line}:")) && text.contains(word), "{text}");
        }
        assert!(parse_hierarchy(Path::new("h.csv"), b"").is_err());
    }
}
