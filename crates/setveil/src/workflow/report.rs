//! Everything there is to say about a release: measured once, shown as a page
//! or section by section.

use serde::Serialize;

use super::limits;
use crate::attack;
use crate::caution::{Caution, Severity};
use crate::measure::{self, Options};
use crate::release::Manifest;
use crate::report::{self, About, Colour, Measured, Promised, Section, Subject, UNKNOWN_METHOD};
use crate::verify::Verdict;
use crate::{Dataset, Error, Method, Progress, Release, Result, risk};

/// The page, and what it says first.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Reported {
    /// The page, as HTML.
    #[serde(skip)]
    pub page: String,
    /// Its size.
    pub bytes: usize,
    /// Whether the guarantee holds.
    pub holds: bool,
    /// The colour of the verdict.
    pub colour: Colour,
}

/// What was found out about a release.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Assessed {
    /// Whether it keeps its promise.
    pub verdict: Verdict,
    /// What to know although it does.
    pub cautions: Vec<Caution>,
    /// What an attacker learns.
    pub attack: attack::Report,
    /// What needs the original.
    pub measured: Option<Measured>,
}

/// Attacks a release with its `verdict` and, with the `original`, measures risk
/// before and after and everything of [`evaluate`](super::evaluate()).
///
/// # Errors
/// If no data set fits the release, and as [`evaluate`](super::evaluate()).
pub fn assess(
    release: &Release,
    verdict: &Verdict,
    original: Option<&Dataset>,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Assessed> {
    // Read as `verify` reads: other readers have refused this already.
    if let Some(found) = release.body.nonsense() {
        let what = format!("no data set fits the release: {found}");
        return Err(Error::Infeasible { what, hint: "verify tells what is wrong".into() });
    }
    limits::records(release, progress)?;
    let measured = match original {
        Some(original) => Some(measured(release, original, options, progress)?),
        None => None,
    };
    let attack = attack::Options::default().seed(options.seed);
    let kernel = super::attack::kernel(release, &options.keep)?;
    let attack = attack::attack(release, original, &attack, &kernel, progress)?;
    let mut cautions = super::cautions(release);
    cautions.extend(measured.as_ref().and_then(|m| super::risk::caution(release, &m.risk)));
    Ok(Assessed { verdict: verdict.clone(), cautions, attack, measured })
}

impl Assessed {
    /// The colour of the verdict.
    pub fn colour(&self) -> Colour {
        Colour::of(&self.verdict, &self.cautions)
    }

    /// The page about `release`, which must be the one that was assessed.
    pub fn page(&self, release: &Release, about: &About) -> Reported {
        let mut decided = self.clone();
        let shared = decided.cautions.iter_mut().filter(|c| c.kind == "homogeneous");
        shared.filter(|_| about.no_sensitive).for_each(|c| c.severity = Severity::Remark);
        let page = decided.about(release, |subject| report::report(subject, about));
        let (bytes, holds) = (page.len(), self.verdict.holds);
        Reported { bytes, page, holds, colour: decided.colour() }
    }

    /// What stands on that page, for whoever has another one around it.
    pub fn sections(&self, release: &Release) -> Vec<Section> {
        self.about(release, report::sections)
    }

    fn about<T>(&self, release: &Release, write: impl FnOnce(&Subject) -> T) -> T {
        let method = Method::of(&release.manifest).ok();
        let command = method.as_ref().map(|m| super::command(m, "DATA", "RELEASE"));
        write(&Subject {
            release,
            verdict: &self.verdict,
            cautions: &self.cautions,
            attack: &self.attack,
            measured: self.measured.as_ref(),
            in_words: method.as_ref().map_or(UNKNOWN_METHOD, |m| m.in_words()),
            sensitive: method.as_ref().map_or(&[], |m| m.sensitive()),
            command: command.as_deref(),
        })
    }
}

/// Makes the page for a release with its `verdict`. With the `original`, it
/// holds risk before and after, and every measure of
/// [`evaluate`](super::evaluate()).
///
/// # Errors
/// As [`evaluate`](super::evaluate()).
pub fn report(
    release: &Release,
    verdict: &Verdict,
    original: Option<&Dataset>,
    about: &About,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Reported> {
    Ok(assess(release, verdict, original, options, progress)?.page(release, about))
}

/// What a release that `method` makes will promise, and what not.
pub fn promised(method: &Method) -> Promised {
    let mut manifest = Manifest::new(method.name(), [], method.guarantee(), 0, 0);
    manifest.parameters = super::command::parameters(method).into_iter().collect();
    Promised::of(&manifest)
}

/// Everything that needs the original.
fn measured(
    release: &Release,
    original: &Dataset,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Measured> {
    measure::check_original(release, original, progress)?;
    let evaluation = super::measured(release, original, options, progress)?;
    let played = risk::Options::default().known(super::risk::known(release)).seed(options.seed);
    let played = played.keep(options.keep.clone());
    let risk = super::risk::played(release, original, &played, progress)?;
    let size = (original.len(), original.item_count(), original.occurrences().len());
    let size = (size.0 as u64, size.1 as u64, size.2 as u64);
    Ok(Measured { size, evaluation, risk })
}
