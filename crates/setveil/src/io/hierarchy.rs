//! Hierarchy files: one leaf a line, `leaf;parent;...;*`.

use std::path::Path;

use crate::data::Hierarchy;
use crate::{Error, Result};

const HINT: &str = "write one leaf a line as `leaf;parent;...;*`";

/// Reads a hierarchy, `.gz` and `.zst` included.
pub fn read_hierarchy(path: &Path) -> Result<Hierarchy> {
    let bytes = super::read::read_bytes(path)?;
    parse_hierarchy(path, &bytes)
}

/// Parses the bytes of a hierarchy file; `path` is for messages.
pub(super) fn parse_hierarchy(path: &Path, bytes: &[u8]) -> Result<Hierarchy> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(b';')
        .has_headers(false)
        .flexible(true)
        .from_reader(bytes);
    let (mut paths, mut lines) = (Vec::new(), Vec::new());
    for row in reader.records() {
        let row = row.map_err(|e| {
            let line = e.position().map(csv::Position::line);
            Error::input(path, line, e.to_string(), HINT)
        })?;
        lines.push(row.position().map(csv::Position::line));
        paths.push(row.iter().map(str::to_owned).collect::<Vec<_>>());
    }
    Hierarchy::from_paths(&paths)
        .map_err(|e| Error::input(path, lines.get(e.path).copied().flatten(), e.what, HINT))
}

/// The bytes of a hierarchy file, leaves in preorder.
pub(super) fn hierarchy_bytes(hierarchy: &Hierarchy) -> Vec<u8> {
    let mut writer =
        csv::WriterBuilder::new().delimiter(b';').flexible(true).from_writer(Vec::new());
    for path in hierarchy.paths() {
        writer.write_record(&path).expect("writing to memory cannot fail");
    }
    writer.into_inner().expect("writing to memory cannot fail")
}

/// Writes a hierarchy file.
pub fn write_hierarchy(hierarchy: &Hierarchy, path: &Path) -> Result<()> {
    std::fs::write(path, hierarchy_bytes(hierarchy)).map_err(|e| Error::io(path, e))
}
