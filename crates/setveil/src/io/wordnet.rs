//! WordNet's database files: `index.noun` and `data.noun` in one directory.

use std::path::Path;

use crate::data::Nouns;
use crate::{Error, Result};

/// Reads the nouns of the WordNet database in `dir`.
pub fn read_wordnet(dir: &Path) -> Result<Nouns> {
    let mut nouns = Nouns::default();
    let hint = "expected WordNet's database files, as in Debian's package wordnet-base";
    for name in ["index.noun", "data.noun"] {
        let path = dir.join(name);
        let bytes = std::fs::read(&path).map_err(|e| Error::io(&path, e))?;
        let text = String::from_utf8_lossy(&bytes);
        let read = if name == "index.noun" { Nouns::add_index } else { Nouns::add_data };
        read(&mut nouns, &text)
            .map_err(|(line, what)| Error::input(&path, Some(line), what, hint))?;
    }
    if nouns.is_empty() {
        return Err(Error::input(dir.join("index.noun"), None, "there is no noun", hint));
    }
    Ok(nouns)
}
