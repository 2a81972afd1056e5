//! The library's errors and stages in the words of the page: it names
//! settings, this names fields of forms.

use setveil::error::{Setting, plain};
use setveil::{Error, Stage};

/// The field of a setting.
pub(crate) fn field(setting: Setting) -> &'static str {
    match setting {
        Setting::Format => "Format",
        Setting::Id => "Column that says whose row it is",
        Setting::Item => "Column with the item",
        Setting::Items => "Columns with items",
        Setting::Delimiter => "Fields are separated by",
        Setting::Split => "Items in one cell are separated by",
        Setting::Encoding => "Text encoding",
        Setting::Nouns => "Nouns (only on the command line: --nouns)",
        Setting::SkipBadLines => "Skip lines that cannot be read",
        Setting::FoldCase => "Make all letters small",
        Setting::Normalize => "Write accents and blanks one way",
        Setting::AsBaskets => "It is meant as it was read",
        Setting::MaxMemory => "Memory (on the command line: --max-memory)",
        Setting::Memory => "Data on disk (on the command line: --memory)",
        Setting::Temporary => "Place for data on disk (on the command line: --temporary)",
        Setting::SensitiveOnly => {
            "Records with sensitive items only (on the command line: --sensitive-only)"
        }
        Setting::DropUnknown => "Leave out unknown items (on the command line: --drop-unknown)",
        Setting::UnknownToRoot => {
            "Generalize unknown items to the root (on the command line: --unknown-to-root)"
        }
        Setting::Hierarchy => "Hierarchy",
        Setting::Again => {
            "The same data was published before, and the earlier release was never handed on"
        }
        _ => setting.name(),
    }
}

fn name(setting: Setting) -> String {
    format!("“{}”", field(setting))
}

/// The text of an error.
pub(crate) fn say(error: &Error) -> String {
    match error {
        Error::Input { path, line, found, hint } => {
            let file = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into());
            let line = line.map(|l| format!(", line {l}")).unwrap_or_default();
            format!("{}{line}: {}; {}", plain(file), plain(found), hint.render(name))
        }
        Error::Setting { setting, found, expected } => {
            format!("{} is {}: expected {}", name(*setting), plain(found), expected.render(name))
        }
        Error::Infeasible { what, hint } | Error::Unknown { what, hint } => {
            format!("{}; {}", plain(what), hint.render(name))
        }
        Error::Exists { path, found, replaceable } => {
            let file = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into());
            let hint = if *replaceable { ", or tick “Replace what is there”" } else { "" };
            format!("{}: {}; choose another name{hint}", plain(file), plain(found))
        }
        Error::Stands { release, source } => {
            let file = release.file_name().map_or_else(String::new, |n| n.to_string_lossy().into());
            format!("{}; the release {} is complete and stands", say(source), plain(file))
        }
        other => other.to_string(),
    }
}

/// What a stage does, for people.
pub(crate) const fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Reading => "Reading",
        Stage::Writing => "Writing",
        Stage::Generating => "Making up data",
        Stage::Guessing => "Playing the attacker on the raw data",
        Stage::Problematic => "Looking for combinations that give people away",
        Stage::Clustering => "Bringing similar records together",
        Stage::Splitting => "Taking records apart",
        Stage::Refining => "Joining clusters",
        Stage::Generalizing => "Replacing items by more general ones",
        Stage::Suppressing => "Leaving out what is too rare",
        Stage::Ordering => "Putting similar records next to each other",
        Stage::Grouping => "Forming groups",
        Stage::Verifying => "Checking the promise",
        Stage::Worlds => "Counting possible originals",
        Stage::Covers => "Looking for what an attacker can rule out",
        Stage::Posteriors => "Computing what an attacker believes",
        Stage::Replaying => "Replaying the method as an attacker would",
        Stage::Linking => "Playing the attacker on the release",
        Stage::Reconstructing => "Drawing possible originals",
        Stage::Querying => "Answering",
        Stage::Mining => "Looking for frequent combinations",
        Stage::Measuring => "Measuring what is still there",
        Stage::Comparing => "Comparing",
        _ => "Working",
    }
}

/// With a small first letter.
pub(crate) fn small(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().map(|c| c.to_lowercase().collect()).unwrap_or_default();
    first + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_a_field() {
        for &setting in Setting::ALL {
            assert_ne!(field(setting), setting.name());
        }
    }

    #[test]
    fn errors_name_fields_and_no_place_outside_of_the_folder() {
        let hint = setveil::error::Hint::of("add {}", &[Setting::Item]);
        let error = Error::input("/home/somebody/a.csv", Some(3), "nothing", hint);
        assert_eq!(say(&error), "a.csv, line 3: nothing; add “Column with the item”");
    }
}
