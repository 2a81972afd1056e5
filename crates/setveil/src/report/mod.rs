//! The report: one self-contained page for a data protection officer and an
//! analyst.
//!
//! It loads nothing, runs no script, and reads well on paper, on a phone and
//! to a screen reader: headings in order, captions and header cells in every
//! table, a title and a description in every drawing. Without the original it
//! holds nothing that is not in the release. With it, it holds what the
//! custodian measured (and is then as confidential as these measurements).
//!
//! This module makes text; it reads and writes no file.

mod content;
mod examples;
mod html;
mod promise;
mod style;

pub use html::number;

use crate::measure::Evaluation;
use crate::release::Release;
use crate::verify::Verdict;

/// What is known about the original, measured by whoever has it.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Size and shape of the original: records, items, occurrences.
    pub size: (u64, u64, u64),
    /// The measures.
    pub evaluation: Evaluation,
    /// For 1, 2, ... known items: how surely a person is found.
    pub risk: Vec<Risk>,
}

/// How surely a person is found by some known items.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Risk {
    /// How many items are known.
    pub known: u32,
    /// The mean of 1 / support in the original.
    pub before: f64,
    /// The share of targets whom nobody else matches in the original.
    pub unique: f64,
    /// The mean of 1 / (records that could have the items, by the release).
    pub after: f64,
}

/// What is said of a method that is not known.
pub const UNKNOWN_METHOD: &str = "The data was changed by the method named below.";

/// The page, as HTML. `in_words` says what the method does
/// ([`Method::in_words`](crate::Method::in_words)).
pub fn report(
    release: &Release,
    verdict: &Verdict,
    measured: Option<&Measured>,
    in_words: &str,
) -> String {
    let mut page = html::Page::new(&format!("Release report: {}", release.manifest.method));
    content::summary(&mut page, release, verdict, measured);
    promise::what_was_done(&mut page, &release.manifest, in_words);
    promise::what_is_promised(&mut page, &release.manifest);
    content::verification(&mut page, verdict);
    if let Some(measured) = measured {
        content::risk(&mut page, release, measured);
        content::utility(&mut page, measured);
    }
    content::shape(&mut page, release);
    examples::examples(&mut page, release);
    content::how_to_use(&mut page, release);
    page.finish(&release.manifest.tool)
}
