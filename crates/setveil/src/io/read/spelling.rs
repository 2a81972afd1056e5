//! One spelling for items that mean the same, and several items from one cell.

use unicode_normalization::UnicodeNormalization;

use super::{Job, ReadOptions};
use crate::{Progress, Result};

/// Splits, normalizes and folds the labels as the options say.
pub(super) fn apply(job: &mut Job, progress: &dyn Progress) -> Result<()> {
    let options = job.options;
    if !options.respells() {
        return Ok(());
    }
    let change = |label: &str, push: &mut dyn FnMut(&str)| match options.split.as_deref() {
        Some(separator) if !separator.is_empty() => {
            label.split(separator).for_each(|item| push(&respell(item, options)));
        }
        _ => push(&respell(label, options)),
    };
    job.relabel(&change, progress)
}

fn respell(item: &str, options: &ReadOptions) -> String {
    let item = if options.normalize { normalize(item) } else { item.to_owned() };
    if options.fold_case { item.to_lowercase() } else { item }
}

/// Accents composed (NFC), every run of white space one space, no characters
/// that show nothing.
pub(crate) fn normalize(item: &str) -> String {
    let shown =
        |c: &char| !matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{ad}');
    let composed: String = item.nfc().filter(shown).collect();
    let words: Vec<&str> = composed.split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_word_become_one() {
        for spelling in
            ["Caf\u{e9} au lait", "Cafe\u{301}  au\u{a0}lait ", "Ca\u{200b}f\u{e9} au lait"]
        {
            assert_eq!(normalize(spelling), "Caf\u{e9} au lait");
        }
        let both = ReadOptions { normalize: true, fold_case: true, ..ReadOptions::default() };
        assert_eq!(respell("CAFE\u{301}", &both), "caf\u{e9}");
    }
}
