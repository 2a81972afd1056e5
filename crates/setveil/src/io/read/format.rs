//! The formats by name and by extension.

use std::path::Path;

use super::ReadOptions;
use crate::{Error, Result};

/// How the data is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// One record a line, items separated by blanks.
    Fimi,
}

/// What there is to know about a format beside how to read it.
struct Facts {
    name: &'static str,
    extensions: &'static [&'static str],
    layout: &'static str,
}

impl Format {
    /// Every format, in the order of the documentation.
    pub const ALL: &[Self] = &[Self::Fimi];

    const fn facts(self) -> Facts {
        match self {
            Self::Fimi => Facts {
                name: "fimi",
                extensions: &["dat", "fimi"],
                layout: "one record a line, items separated by blanks",
            },
        }
    }

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// The extensions that mean this format, without the dot.
    pub const fn extensions(self) -> &'static [&'static str] {
        self.facts().extensions
    }

    /// What the format looks like, in a few words.
    pub const fn layout(self) -> &'static str {
        self.facts().layout
    }

    /// The format that the extension of `path` means, `.gz` and `.zst` aside.
    pub fn of(path: &Path, options: &ReadOptions) -> Result<Self> {
        let _ = options;
        let extension = extension(path);
        let found = Self::ALL.iter().find(|f| f.extensions().contains(&extension.as_str()));
        found.copied().ok_or_else(|| {
            let found = match extension.as_str() {
                "" => "the name has no extension that tells the format".to_owned(),
                other => format!("the extension .{other} does not tell the format"),
            };
            let names: Vec<&str> = Self::ALL.iter().map(|f| f.name()).collect();
            Error::input(path, None, found, format!("add --format with {}", names.join(", ")))
        })
    }
}

/// The extension that tells the format, in small letters.
pub(super) fn extension(path: &Path) -> String {
    let last = |path: &Path| {
        path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
    };
    match last(path).as_str() {
        "gz" | "zst" => last(Path::new(path.file_stem().unwrap_or_default())),
        other => other.to_owned(),
    }
}
