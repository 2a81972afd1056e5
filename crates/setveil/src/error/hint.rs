//! What to do about an error, without the names that a front end gives its
//! settings.
//!
//! The library says *which* setting helps; the command line writes `--item`,
//! a Python program `item=`. A hint is therefore a list of words and settings.

use std::fmt;

use super::plain;

/// A setting that a hint speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Setting {
    /// The layout of the data.
    Format,
    /// The column that says whose row it is.
    Id,
    /// The column or field with the item or the list of items.
    Item,
    /// The columns of a wide table that hold items.
    Items,
    /// What separates the fields of a CSV file.
    Delimiter,
    /// What separates several items in one cell.
    Split,
    /// How text is written as bytes.
    Encoding,
    /// WordNet's directory, for the nouns of a query log.
    Nouns,
    /// Leave out lines that cannot be read.
    SkipBadLines,
    /// Make all letters small.
    FoldCase,
    /// Write accents and blanks one way.
    Normalize,
    /// The data is meant as it was read.
    AsBaskets,
    /// How much memory may be used.
    MaxMemory,
    /// How much memory the whole work takes, with the rest on disk.
    Memory,
    /// Where data that does not fit into memory lies.
    Temporary,
    /// What becomes of records with sensitive items only.
    SensitiveOnly,
    /// Leave out items that the hierarchy does not have.
    DropUnknown,
    /// Generalize items that the hierarchy does not have to the root.
    UnknownToRoot,
    /// The hierarchy.
    Hierarchy,
    /// Publish the same data again.
    Again,
}

impl Setting {
    /// Every setting.
    pub const ALL: &[Self] = &[
        Self::Format,
        Self::Id,
        Self::Item,
        Self::Items,
        Self::Delimiter,
        Self::Split,
        Self::Encoding,
        Self::Nouns,
        Self::SkipBadLines,
        Self::FoldCase,
        Self::Normalize,
        Self::AsBaskets,
        Self::MaxMemory,
        Self::Memory,
        Self::Temporary,
        Self::SensitiveOnly,
        Self::DropUnknown,
        Self::UnknownToRoot,
        Self::Hierarchy,
        Self::Again,
    ];

    /// The name in this library.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Id => "id",
            Self::Item => "item",
            Self::Items => "items",
            Self::Delimiter => "delimiter",
            Self::Split => "split",
            Self::Encoding => "encoding",
            Self::Nouns => "nouns",
            Self::SkipBadLines => "skip_bad_lines",
            Self::FoldCase => "fold_case",
            Self::Normalize => "normalize",
            Self::AsBaskets => "as_baskets",
            Self::MaxMemory => "max_memory",
            Self::Memory => "memory",
            Self::Temporary => "temporary",
            Self::SensitiveOnly => "sensitive_only",
            Self::DropUnknown => "drop_unknown",
            Self::UnknownToRoot => "unknown_to_root",
            Self::Hierarchy => "hierarchy",
            Self::Again => "again",
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A piece of a [`Hint`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HintPart {
    /// Words.
    Text(String),
    /// The name of a setting stands here.
    Setting(Setting),
}

/// What was expected, or what to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hint(Vec<HintPart>);

impl Hint {
    /// Words with a `{}` for every setting, in their order. The words are
    /// fixed ones: text from the data is added with [`Hint::and`].
    pub fn of(words: &'static str, settings: &[Setting]) -> Self {
        let mut settings = settings.iter();
        let mut parts = Vec::new();
        for (i, text) in words.split("{}").enumerate() {
            if i > 0 {
                parts.extend(settings.next().copied().map(HintPart::Setting));
            }
            if !text.is_empty() {
                parts.push(HintPart::Text(text.to_owned()));
            }
        }
        debug_assert!(settings.next().is_none(), "a place for every setting: {words}");
        Self(parts)
    }

    /// The same with more words.
    pub fn and(mut self, text: impl Into<String>) -> Self {
        self.0.push(HintPart::Text(text.into()));
        self
    }

    /// The same with another hint behind it.
    pub fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The words and settings.
    pub fn parts(&self) -> &[HintPart] {
        &self.0
    }

    /// The text with the settings named by `name`.
    pub fn render(&self, name: impl Fn(Setting) -> String) -> String {
        let part = |part: &HintPart| match part {
            HintPart::Text(text) => plain(text).to_string(),
            HintPart::Setting(setting) => name(*setting),
        };
        self.0.iter().map(part).collect()
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Self(vec![HintPart::Text(text)])
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(|setting| format!("`{setting}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_ends_name_settings_in_their_own_way() {
        let hint = Hint::of("give {} and {}", &[Setting::Id, Setting::Item]).and("; {} is `x`");
        assert_eq!(hint.to_string(), "give `id` and `item`; {} is `x`");
        let flags = hint.render(|s| format!("--{}", s.name()));
        assert_eq!(flags, "give --id and --item; {} is `x`");
        assert_eq!(Hint::from("a {} b").to_string(), "a {} b");
    }

    #[test]
    fn the_names_of_settings_differ() {
        let names: std::collections::BTreeSet<&str> =
            Setting::ALL.iter().map(|s| s.name()).collect();
        assert_eq!(names.len(), Setting::ALL.len());
    }
}
