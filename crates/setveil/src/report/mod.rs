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

mod attacked;
mod contents;
mod examples;
mod glossary;
mod html;
mod promise;
mod risks;
mod style;
mod usefulness;
mod verdict;

pub use html::{Section, number, share};
pub use promise::Promised;
pub use verdict::Colour;

use crate::attack;
use crate::caution::Caution;
use crate::measure::Evaluation;
use crate::release::Release;
use crate::risk::Level;
use crate::verify::Verdict;

/// What stands at the head of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct About {
    /// The title.
    pub title: Option<String>,
    /// What the data is called.
    pub data_set: Option<String>,
    /// The day.
    pub date: Option<String>,
    /// Who answers for the release.
    pub responsible: Option<String>,
    /// Whether they say that no item is sensitive. What everybody in a part of
    /// the release has is then told, and does not colour the verdict.
    pub no_sensitive: bool,
}

setters!(About {
    /// The title.
    title: Option<String>,
    /// What the data is called.
    data_set: Option<String>,
    /// The day.
    date: Option<String>,
    /// Who answers for the release.
    responsible: Option<String>,
    /// Whether they say that no item is sensitive.
    no_sensitive: bool,
});

/// What is known about the original, measured by whoever has it.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Size and shape of the original: records, items, occurrences.
    pub size: (u64, u64, u64),
    /// The measures.
    pub evaluation: Evaluation,
    /// For 1, 2, ... known items: what an attacker who is played out achieves.
    pub risk: Vec<Level>,
}

/// What the page is about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The release.
    pub release: &'a Release,
    /// Whether it keeps its promise.
    pub verdict: &'a Verdict,
    /// What to know although it does.
    pub cautions: &'a [Caution],
    /// What an attacker learns.
    pub attack: &'a attack::Report,
    /// What needs the original.
    pub measured: Option<&'a Measured>,
    /// What the method does ([`Method::in_words`](crate::Method::in_words)).
    pub in_words: &'a str,
    /// The labels that the maker named as sensitive.
    pub sensitive: &'a [String],
    /// The command that makes such a release.
    pub command: Option<&'a str>,
}

/// What is said of a method that is not known.
pub const UNKNOWN_METHOD: &str = "The data was changed by the method named below.";

/// The page, as HTML.
pub fn report(subject: &Subject, about: &About) -> String {
    compose(subject, about).finish(&subject.release.manifest.tool)
}

/// What stands on the page, section by section, for whoever has another page
/// around it.
pub fn sections(subject: &Subject) -> Vec<Section> {
    compose(subject, &About::default()).into_sections()
}

fn compose(subject: &Subject, about: &About) -> html::Page {
    let mut page = html::Page::new(about, &subject.release.manifest.method);
    verdict::verdict(&mut page, subject);
    promise::what_is_promised(&mut page, &subject.release.manifest);
    if let Some(measured) = subject.measured {
        risks::risks(&mut page, subject.release, measured);
    }
    attacked::what_is_learned(&mut page, subject.attack);
    attacked::sensitive(&mut page, subject);
    if let Some(measured) = subject.measured {
        usefulness::usefulness(&mut page, measured);
    }
    promise::what_was_done(&mut page, subject);
    verdict::verification(&mut page, subject.verdict);
    contents::contents(&mut page, subject.release);
    examples::examples(&mut page, subject.release);
    contents::how_to_use(&mut page, subject.release);
    glossary::glossary(&mut page);
    page
}
