//! The command that makes a release with given parameters.

use serde_json::{Map, Value};

use crate::Method;
use crate::error::Setting;
use crate::io::ReadOptions;
use crate::release::{Model, Universe};

/// The files that a command names.
#[derive(Clone, Copy, Debug)]
pub struct CommandFiles<'a> {
    /// The data.
    pub data: &'a str,
    /// Where the release goes.
    pub output: &'a str,
    /// The list of sensitive items, where the method has one.
    pub sensitive: &'a str,
    /// The hierarchy, where the method needs one.
    pub hierarchy: &'a str,
    /// The private receipt.
    pub receipt: Option<&'a str>,
}

impl<'a> CommandFiles<'a> {
    /// Names that say what has to be filled in, and no receipt.
    pub fn new(data: &'a str, output: &'a str) -> Self {
        let (sensitive, hierarchy) = ("SENSITIVE.txt", "HIERARCHY.csv");
        Self { data, output, sensitive, hierarchy, receipt: None }
    }
}

/// The command line for `method`; `data`, `output` and files that have to be
/// given are names to be filled in.
pub fn command(method: &Method, data: &str, output: &str) -> String {
    full_command(method, &CommandFiles::new(data, output), &ReadOptions::default(), false)
}

/// The command line that does the same with these files: the data read with
/// `reading`, and meant as it was read if `as_baskets` says so. A shell takes
/// it as it is.
pub fn full_command(
    method: &Method,
    files: &CommandFiles,
    reading: &ReadOptions,
    as_baskets: bool,
) -> String {
    let mut words = vec!["setveil anonymize".to_owned(), method.name().to_owned()];
    words.push(file(files.data));
    words.extend(reading_flags(reading));
    words.extend(as_baskets.then(|| flag_of(Setting::AsBaskets)));
    for (name, value) in &parameters(method) {
        words.extend(flag(name, value, files));
    }
    let model = method.guarantee().model;
    if matches!(model, Model::DifferentialPrivacy { universe: Universe::Data, .. }) {
        words.push("--universe-from-data".to_owned());
    } else if method.needs_hierarchy() {
        words.push(format!("--hierarchy {}", file(files.hierarchy)));
    }
    words.push(format!("-o {}", file(files.output)));
    words.extend(files.receipt.map(|path| format!("--receipt {}", file(path))));
    words.join(" ")
}

/// The parameters of a method as they stand in a manifest.
pub(super) fn parameters(method: &Method) -> Map<String, Value> {
    let parameters = match serde_json::to_value(method) {
        Ok(Value::Object(mut whole)) => whole.remove("parameters"),
        _ => None,
    };
    match parameters {
        Some(Value::Object(parameters)) => parameters,
        _ => Map::new(),
    }
}

/// One parameter as a flag; none if the flag is left out for this value.
fn flag(name: &str, value: &Value, files: &CommandFiles) -> Option<String> {
    let long = name.replace('_', "-");
    match (name, value) {
        ("sensitive", Value::Array(items)) if items.is_empty() => None,
        ("sensitive", _) => Some(format!("--sensitive {}", file(files.sensitive))),
        ("refine", Value::Bool(true)) => None,
        ("refine", _) => Some("--no-refine".to_owned()),
        ("grouping", Value::String(text)) => (text == "as-printed").then(|| "--as-printed".into()),
        (_, Value::Bool(set)) => set.then(|| format!("--{long}")),
        (_, Value::Null) => None,
        (_, value) => {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let dashes = if name.len() == 1 { "-" } else { "--" };
            Some(format!("{dashes}{long} {}", quoted(&text)))
        }
    }
}

/// How the data is read, as flags.
fn reading_flags(options: &ReadOptions) -> Vec<String> {
    let delimiter = options.delimiter.map(|d| match d {
        b'\t' => "tab".to_owned(),
        d => char::from(d).to_string(),
    });
    let nouns = options.wordnet.as_ref().map(|path| path.display().to_string());
    let values = [
        (Setting::Format, options.format.map(|f| f.name().to_owned())),
        (Setting::Id, options.id.clone()),
        (Setting::Item, options.item.clone()),
        (Setting::Items, options.items.clone()),
        (Setting::Split, options.split.clone()),
        (Setting::Delimiter, delimiter),
        (Setting::Nouns, nouns),
        (Setting::Encoding, options.encoding.map(|e| e.name().to_owned())),
    ];
    let switches = [
        (Setting::FoldCase, options.fold_case),
        (Setting::Normalize, options.normalize),
        (Setting::SkipBadLines, options.skip_bad_lines),
    ];
    let values =
        values.into_iter().filter_map(|(setting, value)| Some(valued(&flag_of(setting), &value?)));
    let switches = switches.into_iter().filter(|(_, set)| *set).map(|(s, _)| flag_of(s));
    values.chain(switches).collect()
}

fn flag_of(setting: Setting) -> String {
    format!("--{}", setting.name().replace('_', "-"))
}

/// A flag with its value; one that looks like a flag itself is tied to it.
fn valued(flag: &str, value: &str) -> String {
    let between = if value.starts_with('-') { "=" } else { " " };
    format!("{flag}{between}{}", quoted(value))
}

/// The name of a file; what looks like a flag is none behind a dot.
fn file(name: &str) -> String {
    if name.starts_with('-') { quoted(&format!("./{name}")) } else { quoted(name) }
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let safe = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(safe) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{K, M};
    use crate::methods::disassociation::Parameters;

    #[test]
    fn words_are_quoted_as_a_shell_needs_it() {
        assert_eq!(quoted("dx1..dx21"), "dx1..dx21");
        assert_eq!(quoted("|"), "'|'");
        assert_eq!(quoted("a b's"), "'a b'\\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn names_that_a_shell_would_take_apart_are_quoted() {
        let method =
            Method::Disassociation(Parameters::new(K::new(5).unwrap(), M::new(2).unwrap()));
        let files = CommandFiles {
            receipt: Some("private/it's.json"),
            ..CommandFiles::new("my data.csv", "-release")
        };
        let reading = ReadOptions {
            id: Some("patient no".into()),
            split: Some("-".into()),
            item: Some("code".into()),
            delimiter: Some(b'\t'),
            skip_bad_lines: true,
            ..ReadOptions::default()
        };
        let text = full_command(&method, &files, &reading, true);
        assert_eq!(
            text,
            "setveil anonymize disassociation 'my data.csv' --id 'patient no' --item code \
             --split=- --delimiter tab --skip-bad-lines --as-baskets -k 5 -m 2 --max-cluster-size 50 -o \
             ./-release --receipt 'private/it'\\''s.json'"
        );
        assert_eq!(
            command(&method, "DATA", "RELEASE"),
            "setveil anonymize disassociation DATA -k 5 -m 2 --max-cluster-size 50 -o RELEASE"
        );
    }
}
