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
    /// Whole numbers, `-1` after an itemset and `-2` after a record.
    Spmf,
    /// One record a line, items separated by commas.
    BasketCsv,
    /// A table with a column that says whose row it is and one with the item.
    LongCsv,
    /// One record a line as a JSON array, or as an object with a list.
    Jsonl,
    /// A Parquet file with a column of lists, or a long table.
    Parquet,
    /// A query log: whose query, the query, and more, under AOL's header.
    Aol,
}

/// What there is to know about a format beside how to read it.
struct Facts {
    name: &'static str,
    extensions: &'static [&'static str],
    layout: &'static str,
}

impl Format {
    /// Every format, in the order of the documentation.
    pub const ALL: &[Self] = &[
        Self::Fimi,
        Self::Spmf,
        Self::BasketCsv,
        Self::LongCsv,
        Self::Jsonl,
        Self::Parquet,
        Self::Aol,
    ];

    const fn facts(self) -> Facts {
        match self {
            Self::Fimi => Facts {
                name: "fimi",
                extensions: &["dat", "fimi"],
                layout: "one record a line, items separated by blanks",
            },
            Self::Spmf => Facts {
                name: "spmf",
                extensions: &["spmf"],
                layout: "one record a line, whole numbers, `-1` after an itemset, `-2` at the end",
            },
            Self::BasketCsv => Facts {
                name: "basket-csv",
                extensions: &["csv", "tsv"],
                layout: "one record a line, items separated by commas",
            },
            Self::LongCsv => Facts {
                name: "long-csv",
                // With --id or --item, .csv and .tsv mean this one.
                extensions: &[],
                layout: "a header, then one row an item: whose (--id) and what (--item)",
            },
            Self::Jsonl => Facts {
                name: "jsonl",
                extensions: &["jsonl", "ndjson"],
                layout: "one record a line, a JSON array or an object with a list (--item)",
            },
            Self::Parquet => Facts {
                name: "parquet",
                extensions: &["parquet", "pq"],
                layout: "a column of lists (--item), or a long table (--id and --item)",
            },
            Self::Aol => Facts {
                name: "aol",
                // Its files are called .txt or .tsv, which may be anything.
                extensions: &[],
                layout: "a query log: AnonID, Query, QueryTime, ItemRank, ClickURL, tab-separated",
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

    /// The format that was asked for, or the one that the extension of `path`
    /// means, `.gz` and `.zst` aside.
    pub fn of(path: &Path, options: &ReadOptions) -> Result<Self> {
        if let Some(format) = options.format {
            return Ok(format);
        }
        let extension = extension(path);
        match Self::ALL.iter().find(|f| f.extensions().contains(&extension.as_str())) {
            Some(Self::BasketCsv) if options.id.is_some() || options.item.is_some() => {
                Ok(Self::LongCsv)
            }
            Some(&format) => Ok(format),
            None => {
                let found = match extension.as_str() {
                    "" => "the name has no extension that tells the format".to_owned(),
                    other => format!("the extension .{other} does not tell the format"),
                };
                let names: Vec<&str> = Self::ALL.iter().map(|f| f.name()).collect();
                let hint = format!("add --format with one of {}", names.join(", "));
                Err(Error::input(path, None, found, hint))
            }
        }
    }

    /// Refuses options that mean nothing for this format.
    pub(super) fn check(self, options: &ReadOptions) -> Result<()> {
        let refuse = |name, found: &dyn std::fmt::Display, expected| {
            Err(Error::Parameter { name, found: found.to_string(), expected })
        };
        let table = matches!(self, Self::LongCsv | Self::Parquet);
        if let Some(wordnet) = options.wordnet.as_ref().filter(|_| self != Self::Aol) {
            return refuse("--nouns", &wordnet.display(), "a query log: --format aol");
        }
        match (&options.id, &options.item, options.delimiter) {
            (Some(id), ..) if !table => refuse("--id", id, "a table: --format long-csv or parquet"),
            (_, Some(item), _) if !table && self != Self::Jsonl => refuse(
                "--item",
                item,
                "a table or JSON objects: --format long-csv, jsonl or parquet",
            ),
            (.., Some(delimiter)) if !matches!(self, Self::LongCsv | Self::BasketCsv) => refuse(
                "--delimiter",
                &char::from(delimiter),
                "a CSV file: --format basket-csv or long-csv",
            ),
            _ => Ok(()),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides_whatever_the_compression_and_the_case() {
        let of = |name: &str, id: bool| {
            let id = id.then(|| "user".to_owned());
            Format::of(Path::new(name), &ReadOptions { id, ..ReadOptions::default() })
        };
        for (name, id, format) in [
            ("a.dat", false, Format::Fimi),
            ("b/a.DAT.gz", false, Format::Fimi),
            ("a.spmf.zst", false, Format::Spmf),
            ("a.csv", false, Format::BasketCsv),
            ("a.tsv.gz", true, Format::LongCsv),
            ("a.ndjson", false, Format::Jsonl),
            ("a.parquet", true, Format::Parquet),
        ] {
            assert_eq!(of(name, id).unwrap(), format, "{name}");
        }
        for name in ["a.xlsx", "a", "a.gz", "-", ".dat"] {
            let error = of(name, false).unwrap_err().to_string();
            assert!(error.contains("--format") && error.contains("basket-csv"), "{error}");
        }
    }
}
