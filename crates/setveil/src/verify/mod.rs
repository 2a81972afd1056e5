//! Decides from the release alone whether its guarantee holds.
//!
//! This module shares no code with the methods: it counts what is published
//! and believes nothing else. It decides the **format** guarantee; what an
//! attacker who knows the algorithm learns, and with which probability, is
//! another question.

mod cluster;
mod everywhere;
mod explained;
mod generalized;
mod grouped;
mod km;
mod located;
mod manifest;
mod order;
mod part;
mod rows;
mod safe;
mod text;
mod work;

pub use explained::explained;
pub use part::Part;
pub(crate) use part::{framed, pieces};
pub use text::{Files, hierarchy_text, manifest_text, text};

use serde::Serialize;

use crate::data::{ItemId, Vocabulary};
use crate::progress::Stage;
use crate::release::{Body, Manifest, Model, Promises, Release, Universe};
use crate::{Progress, Result};

/// What a release with noise cannot show.
const ONE_OUTPUT: &str = "differential privacy is a property of the program that drew the noise: \
    one release cannot show it, and only its form was checked";
/// The same, where not even the program promises it for the names.
const ONE_OUTPUT_AND_NAMES: &str = "differential privacy is a property of the program that drew \
    the noise: one release cannot show it, and only its form was checked; the names of the items \
    were taken from the data, and that they occur is not protected";

/// How many violations are listed; all are counted.
pub const LISTED: usize = 100;

/// Whether the guarantee holds, with a witness for each way in which it does not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Whether there is no violation. Where there is a `note`, this is not yet the guarantee.
    pub holds: bool,
    /// The model's name.
    pub model: &'static str,
    /// The model's k, where it has one.
    pub k: Option<u32>,
    /// The model's m, where it has one.
    pub m: Option<u32>,
    /// The model's epsilon, where it has one.
    pub epsilon: Option<f64>,
    /// What the guarantee needs and no release can show, where there is such a thing.
    pub note: Option<&'static str>,
    /// What is promised against whom, where that is more than the format says.
    /// Whether the rules behind it are kept, as far as a release shows them, is part
    /// of `holds`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promises: Option<Promises>,
    /// The first violations.
    pub violations: Vec<Violation>,
    /// How many there are.
    pub violation_count: u64,
}

/// A witness against the guarantee.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The place: a line of the body's file and a path inside it.
    pub r#where: String,
    /// The items concerned.
    pub itemset: Vec<String>,
    /// What was counted.
    pub support: u64,
    /// What the rule asks for.
    pub required: u64,
    /// The rule that is broken, by its name in `docs/guarantees.md`.
    pub rule: &'static str,
}

/// Checks `release` against its own manifest. How its files are spelled is
/// another question: see [`text()`].
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when `progress` says stop, and
/// [`Error::Undecided`](crate::Error::Undecided) when counting would take too long.
///
/// # Complexity
/// What is published times the number of its itemsets of m - 1 items that
/// occur; bounded by a number of steps that grows with the release.
pub fn verify(release: &Release, progress: &dyn Progress) -> Result<Verdict> {
    let manifest = &release.manifest;
    let mut findings = Findings::new(release.body.vocabulary());
    match &release.body {
        Body::Disassociated(body) => {
            progress.stage(Stage::Verifying, Some(body.clusters.len() as u64));
            let mut part = Part::new(manifest);
            part.add(body, progress)?;
            return Ok(part.finish());
        }
        Body::Generalized(body) => {
            progress.stage(Stage::Verifying, Some(body.classes.len() as u64));
            generalized::check(manifest, body, progress, &mut findings)?;
        }
        Body::Grouped(body) => {
            progress.stage(Stage::Verifying, Some(body.groups.len() as u64));
            grouped::check(manifest, body, progress, &mut findings)?;
        }
        Body::Located(body) => {
            progress.stage(Stage::Verifying, Some(body.leaves.len() as u64));
            located::check(manifest, body, progress, &mut findings)?;
        }
    }
    Ok(findings.verdict(manifest))
}

impl Violation {
    /// Something that stands where another order would put something else.
    fn order(place: String) -> Self {
        let rule = "canonical-order";
        Self { r#where: place, itemset: Vec::new(), support: 0, required: 0, rule }
    }
}

impl Verdict {
    /// Adds violations that were found outside the release's body, such as
    /// files that differ from their checksums; they come first.
    pub fn with_violations(mut self, first: Vec<Violation>) -> Self {
        self.violation_count += first.len() as u64;
        self.violations.splice(0..0, first);
        self.violations.truncate(LISTED);
        self.holds = self.violation_count == 0;
        self
    }
}

/// Collects violations: counts all, keeps the first.
struct Findings<'a> {
    vocabulary: &'a Vocabulary,
    violations: Vec<Violation>,
    count: u64,
}

impl<'a> Findings<'a> {
    fn new(vocabulary: &'a Vocabulary) -> Self {
        Self { vocabulary, violations: Vec::new(), count: 0 }
    }

    fn add(
        &mut self,
        rule: &'static str,
        place: impl FnOnce() -> String,
        itemset: &[ItemId],
        support: u64,
        required: u64,
    ) {
        self.count += 1;
        if self.violations.len() < LISTED {
            self.violations.push(Violation {
                r#where: place(),
                itemset: self.vocabulary.texts(itemset),
                support,
                required,
                rule,
            });
        }
    }

    /// Adds the rare itemsets of one place.
    fn all(
        &mut self,
        rule: &'static str,
        place: &dyn std::fmt::Display,
        met: km::Met,
        required: u64,
    ) {
        let listed = met.listed.len() as u64;
        for (itemset, support) in met.listed {
            self.add(rule, || place.to_string(), &itemset, support, required);
        }
        self.count += met.count - listed;
    }

    /// Counts and keeps a violation that is already in words.
    fn take(&mut self, violation: Violation) {
        self.count += 1;
        if self.violations.len() < LISTED {
            self.violations.push(violation);
        }
    }

    /// The verdict on a release with this manifest.
    fn verdict(self, manifest: &Manifest) -> Verdict {
        let model = &manifest.guarantee.model;
        Verdict {
            holds: self.count == 0,
            model: model.name(),
            k: model.k(),
            m: model.m(),
            epsilon: model.epsilon(),
            note: match model {
                Model::DifferentialPrivacy { universe: Universe::Public, .. } => Some(ONE_OUTPUT),
                Model::DifferentialPrivacy { universe: Universe::Data, .. } => {
                    Some(ONE_OUTPUT_AND_NAMES)
                }
                _ => None,
            },
            promises: manifest.promises(),
            violations: self.violations,
            violation_count: self.count,
        }
    }

    /// Appends what another collector over the same vocabulary found.
    fn append(&mut self, other: Self) {
        self.count += other.count;
        let room = LISTED - self.violations.len();
        self.violations.extend(other.violations.into_iter().take(room));
    }
}
