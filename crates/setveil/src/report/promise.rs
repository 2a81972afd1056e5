//! What was done, what is promised, and what is not: in words that a data
//! protection officer can quote. The three guarantees are kept apart.

use serde_json::Value;

use super::Subject;
use super::html::Page;
use crate::release::{Manifest, Model, Supports, Universe};

pub(super) fn what_was_done(page: &mut Page, subject: &Subject) {
    page.section("What was done");
    page.text(subject.in_words);
    let manifest = &subject.release.manifest;
    let mut rows: Vec<Vec<String>> = vec![vec!["method".into(), manifest.method.clone()]];
    for (name, value) in &manifest.parameters {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Array(items) => format!("{} items", items.len()),
            value => value.to_string(),
        };
        rows.push(vec![name.clone(), value]);
    }
    page.table("Method and parameters", &["parameter", "value"], &rows);
    if let Some(command) = subject.command {
        page.text("The command that makes such a release of the same data:");
        page.code(command);
    }
}

pub(super) fn what_is_promised(page: &mut Page, manifest: &Manifest) {
    page.section("What is promised, and what is not");
    let promised = Promised::of(manifest);
    if let Some(promises) = manifest.promises() {
        let row = |(about, promise): (&str, &str)| vec![about.to_owned(), promise.to_owned()];
        let rows: Vec<Vec<String>> = promises.in_words().map(row).into();
        page.table("Against somebody who knows the program", &["about", "promise"], &rows);
    }
    page.heading("Promised");
    page.list("yes", &promised.yes);
    page.heading("Not promised");
    page.list("no", &promised.no);
}

/// What is promised, and what is not, a sentence each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Promised {
    /// What is promised.
    pub yes: Vec<String>,
    /// What is not.
    pub no: Vec<String>,
}

impl Promised {
    /// What a release with this manifest promises, and what it does not.
    pub fn of(manifest: &Manifest) -> Self {
        let mut promised = Self::default();
        match manifest.guarantee.model {
            Model::FormatKmAnonymity { k, m, l } => {
                promised.format(k, m, l, manifest.promises().is_some());
            }
            Model::KmAnonymity { k, m } => promised.combinations(k, m),
            Model::KAnonymity { k } => promised.classes(k),
            Model::Association { p } => promised.association(p),
            Model::DifferentialPrivacy { epsilon, universe } => promised.noise(epsilon, universe),
        }
        promised.counts(manifest.guarantee.supports);
        promised
    }

    fn yes(&mut self, sentence: impl Into<String>) {
        self.yes.push(sentence.into());
    }

    fn no(&mut self, sentence: impl Into<String>) {
        self.no.push(sentence.into());
    }

    fn format(&mut self, k: u32, m: u32, l: Option<u32>, safe: bool) {
        self.yes(format!(
            "Format guarantee: whoever knows up to {m} items of a person finds at least {k} \
             records that could have them, in some data set that fits the published files."
        ));
        if let Some(l) = l {
            self.yes(format!(
                "Each sensitive item is in at most one of {l} records of every cluster that has it."
            ));
        }
        self.no(format!(
            "Nothing is promised against somebody who knows more than {m} items of a person, or \
             who knows that a person does not have an item."
        ));
        self.no(
            "The guarantee speaks of possible data sets, not of probabilities: some candidates \
             can be likelier than others (posterior risk).",
        );
        if !safe {
            self.no(
                "Somebody who also knows the algorithm can rule out some of the possible data \
                 sets (algorithm guarantee). `setveil attack` measures both.",
            );
        }
    }

    fn combinations(&mut self, k: u32, m: u32) {
        self.yes(format!(
            "Every combination of up to {m} published items that occurs, occurs in at least {k} \
             records."
        ));
        self.no(format!("Nothing is promised against somebody who knows more than {m} items."));
    }

    fn classes(&mut self, k: u32) {
        let others = k.saturating_sub(1);
        self.yes(format!("Every published record is equal to at least {others} others."));
        self.no("If all people in a class share an item, it is known of each of them.");
    }

    fn association(&mut self, p: u32) {
        self.yes(format!(
            "Each sensitive item belongs to at most one of {p} records of its group."
        ));
        self.no(format!(
            "The degree holds for each sensitive item alone: in a group of {p} people with {p} \
             different sensitive items, each certainly has one."
        ));
        self.no("Ordinary items are published as they were: they can identify people.");
    }

    fn noise(&mut self, epsilon: f64, universe: Universe) {
        self.yes(format!(
            "Differential privacy with budget {epsilon}: adding or removing one record changes \
             the probability of any output by a factor of at most e^{epsilon}."
        ));
        self.no(
            "Counts are noisy: sets of items that nobody has can be published, and sets that few \
             have are not.",
        );
        self.no(
            "A person with several records is protected less, and every further release of the \
             same people adds its own budget.",
        );
        if universe == Universe::Data {
            self.no(
                "The names of the items were taken from the data and are published as they are: \
                 that an item occurs is not protected.",
            );
        }
    }

    fn counts(&mut self, supports: Supports) {
        match supports {
            Supports::Exact => self.yes("Published counts are the original ones."),
            Supports::LowerBound => self.no(
                "Published counts are lower bounds: instances were suppressed and are not counted.",
            ),
            Supports::Noisy => return,
        }
        self.no(
            "Records are counted, not people: somebody with several records is hidden among fewer \
             people than the numbers say.",
        );
        self.no("Who is in the data at all is not hidden.");
    }
}
