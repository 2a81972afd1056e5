//! The formats by name and by extension.

use std::path::Path;

use super::ReadOptions;
use crate::error::{Hint, Setting};
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
    /// One JSON array of such arrays or objects.
    Json,
    /// A Parquet file with a column of lists, or a long table.
    Parquet,
    /// A query log: whose query, the query, and more, under AOL's header.
    Aol,
}

/// What there is to know about a format beside how to read it.
struct Facts {
    name: &'static str,
    extensions: &'static [&'static str],
    /// With a `{}` for every setting that it speaks of.
    layout: &'static str,
    settings: &'static [Setting],
}

impl Format {
    /// Every format, in the order of the documentation.
    pub const ALL: &[Self] = &[
        Self::Fimi,
        Self::Spmf,
        Self::BasketCsv,
        Self::LongCsv,
        Self::Jsonl,
        Self::Json,
        Self::Parquet,
        Self::Aol,
    ];

    const fn facts(self) -> Facts {
        match self {
            Self::Fimi => Facts {
                name: "fimi",
                extensions: &["dat", "fimi"],
                layout: "one record a line, items separated by blanks",
                settings: &[],
            },
            Self::Spmf => Facts {
                name: "spmf",
                extensions: &["spmf"],
                layout: "one record a line, whole numbers, `-1` after an itemset, `-2` at the end",
                settings: &[],
            },
            Self::BasketCsv => Facts {
                name: "basket-csv",
                extensions: &["csv", "tsv"],
                layout: "one record a line, items separated by commas",
                settings: &[],
            },
            Self::LongCsv => Facts {
                name: "long-csv",
                // With an id or an item, .csv and .tsv mean this one.
                extensions: &[],
                layout: "a header, then rows: whose ({}) and what ({}; {} if it is in many columns)",
                settings: &[Setting::Id, Setting::Item, Setting::Items],
            },
            Self::Jsonl => Facts {
                name: "jsonl",
                extensions: &["jsonl", "ndjson"],
                layout: "one record a line, a JSON array or an object with a list ({})",
                settings: &[Setting::Item],
            },
            Self::Json => Facts {
                name: "json",
                extensions: &["json"],
                layout: "one JSON array of records, each an array or an object with a list ({})",
                settings: &[Setting::Item],
            },
            Self::Parquet => Facts {
                name: "parquet",
                extensions: &["parquet", "pq"],
                layout: "a column of lists ({}), or a long table ({} and {})",
                settings: &[Setting::Item, Setting::Id, Setting::Item],
            },
            Self::Aol => Facts {
                name: "aol",
                // Its files are called .txt or .tsv, which may be anything.
                extensions: &[],
                layout: "a query log: AnonID, Query, QueryTime, ItemRank, ClickURL, tab-separated",
                settings: &[],
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
    pub fn layout(self) -> Hint {
        let facts = self.facts();
        Hint::of(facts.layout, facts.settings)
    }

    /// The format that was asked for, or the one that the extension of `path`
    /// means, `.gz` and `.zst` aside.
    pub fn of(path: &Path, options: &ReadOptions) -> Result<Self> {
        if let Some(format) = options.format {
            return Ok(format);
        }
        let extension = extension(path);
        match Self::ALL.iter().find(|f| f.extensions().contains(&extension.as_str())) {
            Some(Self::BasketCsv) if options.names_columns() => Ok(Self::LongCsv),
            Some(&format) => Ok(format),
            None => {
                let found = match extension.as_str() {
                    "" => "the name has no extension that tells the format".to_owned(),
                    other => format!("the extension .{other} does not tell the format"),
                };
                let names: Vec<&str> = Self::ALL.iter().map(|f| f.name()).collect();
                let hint = Hint::of("add {} with one of ", &[Setting::Format]);
                let hint = hint.and(names.join(", "));
                Err(Error::input(path, None, found, hint))
            }
        }
    }

    /// Refuses options that mean nothing for this format.
    pub(super) fn check(self, options: &ReadOptions) -> Result<()> {
        let table = matches!(self, Self::LongCsv | Self::Parquet);
        let list = table || matches!(self, Self::Jsonl | Self::Json);
        let csv = matches!(self, Self::LongCsv | Self::BasketCsv);
        let delimiter = options.delimiter.map(|d| char::from(d).to_string());
        let encoding = options.encoding.map(|e| e.name().to_owned());
        let nouns = options.wordnet.as_ref().map(|path| path.display().to_string());
        for (setting, found, fits, expected) in [
            (Setting::Nouns, &nouns, self == Self::Aol, "a query log: {} aol"),
            (Setting::Id, &options.id, table, "a table: {} long-csv or parquet"),
            (Setting::Items, &options.items, table, "a table: {} long-csv or parquet"),
            (
                Setting::Item,
                &options.item,
                list,
                "a table or JSON objects: {} long-csv, jsonl or parquet",
            ),
            (Setting::Encoding, &encoding, self != Self::Parquet, "text: {} other than parquet"),
            (Setting::Delimiter, &delimiter, csv, "a CSV file: {} basket-csv or long-csv"),
        ] {
            if let Some(found) = found.clone().filter(|_| !fits) {
                let expected = Hint::of(expected, &[Setting::Format]);
                return Err(Error::Setting { setting, found, expected });
            }
        }
        match (&options.item, &options.items) {
            (Some(_), Some(found)) => {
                let expected = Hint::of("either {} or this", &[Setting::Item]);
                Err(Error::Setting { setting: Setting::Items, found: found.clone(), expected })
            }
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
            ("a.json.gz", false, Format::Json),
            ("a.parquet", true, Format::Parquet),
        ] {
            assert_eq!(of(name, id).unwrap(), format, "{name}");
        }
        for name in ["a.xlsx", "a", "a.gz", "-", ".dat"] {
            let error = of(name, false).unwrap_err().to_string();
            assert!(error.contains("add `format`") && error.contains("basket-csv"), "{error}");
        }
    }
}
