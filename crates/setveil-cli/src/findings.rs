//! What `inspect` saw, in the words of the command line.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

use setveil::error::{Setting, plain};
use setveil::inspect::{Finding, Findings, Kind, Severity, Suggestion};
use setveil::workflow::quoted;

use crate::wording::flag;

/// Why nothing is published, how the first lines were understood, and the
/// command that is probably meant.
pub fn refusal(findings: &Findings, path: &Path, words: &[OsString]) -> String {
    let mut text = format!(
        "{}: this does not look like one set of items a record; nothing was written",
        plain(path.display())
    );
    text += &list(findings, Severity::Refuse);
    text += &first_lines(findings);
    if let Some(suggestion) = &findings.suggestion {
        text += &probably(suggestion, words);
    }
    let as_is = flag(Setting::AsBaskets);
    let _ = write!(text, "\n  to publish it as it was read, add {as_is}");
    text
}

/// What is said where such data is measured and not published.
pub fn misread(findings: &Findings, path: &Path) -> String {
    let seen: Vec<String> = findings.of(Severity::Refuse).map(Finding::describe).collect();
    format!(
        "{}: this does not look like one set of items a record, and `anonymize` refuses it: {}; \
         `setveil profile` says how it was read. The figures are about the data as it was read",
        path.display(),
        seen.join("; ")
    )
}

/// The whole check, for `profile`.
pub fn describe(findings: &Findings, words: &[OsString]) -> String {
    if findings.findings.is_empty() {
        return String::new();
    }
    let mut text = "\nBefore publishing, look at this".to_owned();
    text += &list(findings, Severity::Refuse);
    text += &list(findings, Severity::Remark);
    if findings.refused() {
        text += &first_lines(findings);
        let suggestion = findings.suggestion.as_ref();
        text += &suggestion.map(|s| probably(s, words)).unwrap_or_default();
        let _ = write!(text, "\n  `anonymize` refuses this without {}", flag(Setting::AsBaskets));
    }
    text + "\n"
}

fn list(findings: &Findings, severity: Severity) -> String {
    findings.of(severity).map(|f| format!("\n  - {}", remark(f))).collect()
}

/// One finding, with the flag that helps.
pub fn remark(finding: &Finding) -> String {
    let text = finding.describe();
    match finding.kind {
        Kind::CaseVariants => format!("{text} ({} makes them one)", flag(Setting::FoldCase)),
        Kind::AccentVariants | Kind::BlankVariants => {
            format!("{text} ({} makes them one)", flag(Setting::Normalize))
        }
        _ => text,
    }
}

fn first_lines(findings: &Findings) -> String {
    let mut text = String::new();
    for (number, line) in findings.first_lines.iter().enumerate() {
        if number == 0 {
            text += "\n  as it was read:";
        }
        let items: Vec<String> =
            line.items.iter().take(6).map(|item| format!("`{}`", plain(cut(item)))).collect();
        let more = if line.items.len() > items.len() { ", ..." } else { "" };
        let (line, items) = (plain(&line.line), items.join(", "));
        let _ = write!(text, "\n    {line}   ->   {items}{more}");
    }
    text
}

fn cut(item: &str) -> String {
    item.chars().take(40).collect()
}

/// The command that is probably meant: what was typed, and more.
fn probably(suggestion: &Suggestion, typed: &[OsString]) -> String {
    let mut text = String::new();
    if let Some(header) = &suggestion.header {
        let _ = write!(text, "\n  put this line above the data: {}", plain(header));
    }
    let mut words = vec!["setveil".to_owned()];
    words.extend(without(typed, suggestion).iter().map(|word| quoted(word)));
    let Suggestion { id, item, items, .. } = suggestion;
    let delimiter = suggestion.delimiter.map(|d| if d == '\t' { "tab".into() } else { d.into() });
    for (setting, value) in [
        (Setting::Format, suggestion.format.map(str::to_owned)),
        (Setting::Id, id.clone()),
        (Setting::Item, item.clone()),
        (Setting::Items, items.clone()),
        (Setting::Delimiter, delimiter),
        (Setting::Split, suggestion.split.map(String::from)),
        (Setting::Encoding, suggestion.encoding.map(str::to_owned)),
    ] {
        words.extend(value.into_iter().flat_map(|value| [flag(setting), quoted(&value)]));
    }
    let _ = write!(text, "\n  probably meant: {}", plain(words.join(" ")));
    text
}

/// What was typed, less the columns of items that the suggestion names anew.
fn without(typed: &[OsString], suggestion: &Suggestion) -> Vec<String> {
    let again = |word: &str| {
        let given = |setting| word == flag(setting);
        suggestion.items.is_some() && (given(Setting::Items) || given(Setting::Item))
    };
    let mut words: Vec<String> = Vec::new();
    let mut typed = typed.iter().map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = typed.next() {
        if again(&word) {
            typed.next();
        } else {
            words.push(word);
        }
    }
    words
}
