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

/// What is promised, and what is not, a sentence each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Promised {
    /// What is promised.
    pub yes: Vec<String>,
    /// What is not.
    pub no: Vec<String>,
}

/// What a release with this manifest promises, and what it does not.
pub fn promised(manifest: &Manifest) -> Promised {
    let (mut yes, mut no) = by_model(manifest);
    match manifest.guarantee.supports {
        Supports::Exact => yes.push("Published counts are the original ones.".into()),
        Supports::LowerBound => no.push(
            "Published counts are lower bounds: instances were suppressed and are not counted."
                .into(),
        ),
        Supports::Noisy => {}
    }
    if manifest.guarantee.supports != Supports::Noisy {
        no.push("Who is in the data at all is not hidden.".into());
    }
    Promised { yes, no }
}

fn by_model(manifest: &Manifest) -> (Vec<String>, Vec<String>) {
    let (mut yes, mut no) = (Vec::new(), Vec::new());
    match manifest.guarantee.model {
        Model::FormatKmAnonymity { k, m, l } => {
            yes.push(format!(
                "Format guarantee: whoever knows up to {m} items of a person finds at least {k} \
                 records that could have them, in some data set that fits the published files."
            ));
            if let Some(l) = l {
                yes.push(format!(
                    "Each sensitive item is in at most one of {l} records of every cluster that \
                     has it."
                ));
            }
            no.push(format!(
                "Nothing is promised against somebody who knows more than {m} items of a person, \
                 or who knows that a person does not have an item."
            ));
            no.push(
                "The guarantee speaks of possible data sets, not of probabilities: some \
                 candidates can be likelier than others (posterior risk)."
                    .into(),
            );
            let safe = manifest.promises().is_some();
            no.extend((!safe).then(|| {
                "Somebody who also knows the algorithm can rule out some of the possible data \
                 sets (algorithm guarantee). `setveil attack` measures both."
                    .into()
            }));
        }
        Model::KmAnonymity { k, m } => {
            yes.push(format!(
                "Every combination of up to {m} published items that occurs, occurs in at least \
                 {k} records."
            ));
            no.push(format!("Nothing is promised against somebody who knows more than {m} items."));
        }
        Model::KAnonymity { k } => {
            yes.push(format!("Every published record is equal to at least {} others.", k - 1));
            no.push("If all people in a class share an item, it is known of each of them.".into());
        }
        Model::Association { p } => {
            yes.push(format!(
                "Each sensitive item belongs to at most one of {p} records of its group."
            ));
            no.push(format!(
                "The degree holds for each sensitive item alone: in a group of {p} people with \
                 {p} different sensitive items, each certainly has one."
            ));
            no.push("Ordinary items are published as they were: they can identify people.".into());
        }
        Model::DifferentialPrivacy { epsilon, universe } => {
            yes.push(format!(
                "Differential privacy with budget {epsilon}: adding or removing one record \
                 changes the probability of any output by a factor of at most e^{epsilon}."
            ));
            no.push(
                "Counts are noisy: sets of items that nobody has can be published, and sets that \
                 few have are not."
                    .into(),
            );
            no.push(
                "A person with several records is protected less, and every further release of \
                 the same people adds its own budget."
                    .into(),
            );
            if universe == Universe::Data {
                no.push(
                    "The names of the items were taken from the data and are published as they \
                     are: that an item occurs is not protected."
                        .into(),
                );
            }
        }
    }
    (yes, no)
}

pub(super) fn what_is_promised(page: &mut Page, manifest: &Manifest) {
    page.section("What is promised, and what is not");
    let Promised { yes, no } = promised(manifest);
    if let Some(promises) = manifest.promises() {
        let row = |(about, promise): (&str, &str)| vec![about.to_owned(), promise.to_owned()];
        let rows: Vec<Vec<String>> = promises.in_words().map(row).into();
        page.table("Against somebody who knows the program", &["about", "promise"], &rows);
    }
    page.heading("Promised");
    page.list("yes", &yes);
    page.heading("Not promised");
    page.list("no", &no);
}
