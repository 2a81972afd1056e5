//! Items that are one to people and several to a program.

use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization;

use super::items::Labels;
use super::{Finding, Kind, Severity, short};

/// How many pairs are shown.
const SHOWN: usize = 3;

/// Case, accents and blanks, each with examples.
pub(super) fn findings(data: &Labels) -> Vec<Finding> {
    let mut groups: FxHashMap<String, Vec<&str>> = FxHashMap::default();
    // What has neither letters nor blanks has one spelling.
    let spelled =
        |label: &str| !label.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_punctuation());
    for (label, _) in data.iter().filter(|(label, _)| spelled(label)) {
        groups.entry(folded(label)).or_default().push(label);
    }
    let kinds = [Kind::CaseVariants, Kind::AccentVariants, Kind::BlankVariants];
    let mut pairs: [Vec<(&str, &str)>; 3] = Default::default();
    for group in groups.values().filter(|group| group.len() > 1) {
        // Labels ascend: the first one is the same whatever the order of arrival.
        for other in &group[1..] {
            pairs[difference(group[0], other)].push((group[0], other));
        }
    }
    let items = data.vocabulary.len() as u64;
    let mut findings = Vec::new();
    for (kind, mut pairs) in kinds.into_iter().zip(pairs) {
        if pairs.is_empty() {
            continue;
        }
        pairs.sort_unstable();
        let both = |(a, b): &(&str, &str)| [visible(a), visible(b)];
        let examples = pairs.iter().take(SHOWN).flat_map(both).collect();
        let count = data.scale(pairs.len() as u64);
        findings.push(Finding { severity: Severity::Remark, kind, count, of: items, examples });
    }
    findings
}

/// The text in small letters, composed, without blanks.
fn folded(label: &str) -> String {
    if label.is_ascii() {
        return label
            .bytes()
            .filter(|b| !b.is_ascii_whitespace())
            .map(|b| b.to_ascii_lowercase() as char)
            .collect();
    }
    without_blanks(&label.nfc().collect::<String>()).to_lowercase()
}

fn without_blanks(text: &str) -> String {
    let shown = |c: &char| {
        !c.is_whitespace()
            && !matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
    };
    text.chars().filter(shown).collect()
}

/// In what two labels of one group differ: 0 case, 1 accents, 2 blanks.
fn difference(a: &str, b: &str) -> usize {
    if a.nfc().eq(b.nfc()) {
        1
    } else if without_blanks(a) == without_blanks(b) {
        2
    } else if a.to_lowercase() == b.to_lowercase() {
        0
    } else {
        // Several at once: the option that is needed first.
        if without_blanks(&a.to_lowercase()) == without_blanks(&b.to_lowercase()) { 2 } else { 1 }
    }
}

/// An example in which characters that show nothing, and marks that stand
/// apart from their letter, can be seen.
fn visible(text: &str) -> String {
    let mut shown = String::new();
    for c in short(text).chars() {
        let hidden = c != ' ' && without_blanks(&c.to_string()).is_empty();
        if hidden || unicode_normalization::char::is_combining_mark(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}
