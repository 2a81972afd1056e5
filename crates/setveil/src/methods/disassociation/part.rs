//! Data that is anonymized in parts: a part that is too small is no error,
//! its records are handed back, and the caller puts them into another part.
//!
//! The guarantee is one of every cluster by itself, so clusters of any parts
//! make a release together: [`Disassociated::merge`] and
//! [`publish`](super::publish).

use super::Parameters;
use super::pipeline::body;
use crate::data::Dataset;
use crate::progress::Progress;
use crate::release::Disassociated;
use crate::{Error, Result};

/// What became of a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The records that are anonymized.
    pub body: Disassociated,
    /// The numbers of those that are not, ascending.
    pub handed_back: Vec<u32>,
}

/// Anonymizes a part of a data set by disassociation.
///
/// A listed sensitive term that the part does not have is hidden as well as
/// can be: it is not there. A part of fewer than k records is handed back as a whole. One in
/// which a sensitive term is too frequent for l is an error: who puts its records into
/// another part shows by the result that they have the term.
///
/// # Guarantee
/// As for [`anonymize`](super::anonymize), for the records that are not handed
/// back.
///
/// # Errors
/// As for [`anonymize`](super::anonymize), but for the above.
///
/// ```
/// use setveil::{Dataset, data::{K, M}, release::Disassociated, verify};
/// use setveil::methods::disassociation::{Parameters, anonymize_part, publish};
///
/// let parameters = Parameters::new(K::new(2)?, M::new(2)?);
/// let one = Dataset::from_records([vec!["a", "b"], vec!["a", "b"], vec!["a"]]);
/// let two = Dataset::from_records([vec!["c"], vec!["b", "c"]]);
/// let three = Dataset::from_records([vec!["c"]]);
/// let mut bodies = Vec::new();
/// for (data, back) in [(one, 0), (two, 0), (three, 1)] {
///     let part = anonymize_part(&data, &parameters, &())?;
///     assert_eq!(part.handed_back.len(), back);
///     bodies.push(part.body);
/// }
/// let release = publish(&parameters, Disassociated::merge(bodies)?);
/// assert!(verify::verify(&release, &())?.holds);
/// # Ok::<(), setveil::Error>(())
/// ```
pub fn anonymize_part(
    data: &Dataset,
    parameters: &Parameters,
    progress: &dyn Progress,
) -> Result<Part> {
    part(data, parameters, |parameters| body(data, parameters, progress))
}

/// What becomes of a part if `anonymize` makes the body of all its records.
pub(in crate::methods) fn part(
    data: &Dataset,
    parameters: &Parameters,
    anonymize: impl FnOnce(&Parameters) -> Result<Disassociated>,
) -> Result<Part> {
    let sizes = parameters.sizes()?;
    if parameters.safe.is_some() {
        return Err(Error::Parameter {
            name: "safe",
            found: "a part of the data".into(),
            expected: "all data at once: clusters of all parts are joined",
        });
    }
    let all_back = || Part { handed_back: (0..data.len() as u32).collect(), ..Part::default() };
    if data.len() < sizes.k() {
        return Ok(all_back());
    }
    let mut own = parameters.clone();
    if let Some(sensitive) = &mut own.sensitive {
        sensitive.terms.retain(|term| data.vocabulary().id(term).is_some());
    }
    // A part in which a sensitive term is too frequent is an error. If its records went into
    // another part, the clusters there would tell that it was: a merge that depends on who has the term.
    Ok(Part { body: anonymize(&own)?, handed_back: Vec::new() })
}
