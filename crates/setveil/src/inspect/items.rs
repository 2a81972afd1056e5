//! Items that should not be published as they are, whatever their position.

use std::collections::HashMap;

use super::shape::{Shape, family, is_compact_date, shape};
use super::{Finding, Kind, Severity, names, short};
use crate::Result;
use crate::data::{ItemId, Vocabulary};

/// At most so many labels are looked at; of more, every second, third, ...
const LOOKED_AT: usize = 1 << 20;
/// What programs write where nothing is.
const MISSING: [&str; 8] = ["null", "(null)", "nan", "none", "n/a", "#n/a", "\\n", "nil"];
/// How many examples are shown.
const SHOWN: usize = 3;

/// The labels with their supports.
pub(super) struct Labels<'a> {
    pub(super) vocabulary: &'a Vocabulary,
    supports: Vec<u64>,
    pub(super) records: u64,
    pub(super) occurrences: u64,
    stride: usize,
}

/// Counts the records of which something is true.
pub(super) type Count<'a> = dyn FnMut(&dyn Fn(&[ItemId]) -> bool) -> Result<u64> + 'a;

impl<'a> Labels<'a> {
    /// The labels of so many records, in `supports` of them each.
    pub(super) fn new(vocabulary: &'a Vocabulary, supports: Vec<u64>, records: u64) -> Self {
        let stride = vocabulary.len().div_ceil(LOOKED_AT).max(1);
        let occurrences = supports.iter().sum();
        Self { vocabulary, supports, records, occurrences, stride }
    }

    /// In how many records the item occurs.
    pub(super) fn support(&self, label: &str) -> u64 {
        self.vocabulary.id(label).map_or(0, |id| self.supports[id as usize])
    }

    /// The labels that are looked at, with their supports.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        let ids = (0..self.supports.len()).step_by(self.stride);
        ids.map(|i| (self.vocabulary.label(i as ItemId), self.supports[i]))
    }

    /// A count among the labels that are looked at, for all.
    pub(super) fn scale(&self, count: u64) -> u64 {
        count * self.stride as u64
    }
}

/// Labels of one kind.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) labels: u64,
    occurrences: u64,
    once: u64,
    pub(super) examples: Vec<String>,
}

impl Seen {
    pub(super) fn add(&mut self, label: &str, support: u64) {
        self.labels += 1;
        self.occurrences += support;
        self.once += u64::from(support == 1);
        if self.examples.len() < SHOWN {
            self.examples.push(short(label));
        }
    }

    pub(super) fn finding(self, severity: Severity, kind: Kind, of: u64, data: &Labels) -> Finding {
        let count = data.scale(self.labels);
        Finding { severity, kind, count, of, examples: self.examples }
    }
}

/// What the labels show. Positions that identify may have been found already.
pub(super) fn findings(data: &Labels, found_id: bool, count: &mut Count) -> Result<Vec<Finding>> {
    let mut findings = shapes(data, found_id, count)?;
    findings.extend(delimiter(data));
    let (mut personal, mut singles) = (Seen::default(), Seen::default());
    let mut missing = Seen::default();
    for (label, support) in data.iter() {
        if label.split_once(['=', ':']).is_some_and(|(n, v)| names::is_personal(n) && !v.is_empty())
        {
            personal.add(label, support);
        }
        if support == 1 {
            singles.add(label, support);
        }
        if MISSING.iter().any(|word| label.eq_ignore_ascii_case(word)) {
            missing.add(label, support);
        }
    }
    let items = data.vocabulary.len() as u64;
    for (seen, kind) in
        [(personal, Kind::QuasiIdentifiers), (missing, Kind::Missing), (singles, Kind::Singles)]
    {
        if seen.labels > 0 {
            findings.push(seen.finding(Severity::Remark, kind, items, data));
        }
    }
    Ok(findings)
}

/// Addresses, dates, ids and sentences.
fn shapes(data: &Labels, found_id: bool, count: &mut Count) -> Result<Vec<Finding>> {
    const KINDS: [(Shape, Kind); 6] = [
        (Shape::Email, Kind::Emails),
        (Shape::Iban, Kind::Ibans),
        (Shape::Phone, Kind::Phones),
        (Shape::Date, Kind::Dates),
        (Shape::Sentence, Kind::FreeText),
        (Shape::Control, Kind::ControlCharacters),
    ];
    let mut seen: [Seen; 6] = Default::default();
    let mut compact = Seen::default();
    let mut eights = 0;
    for (label, support) in data.iter() {
        let shape = shape(label);
        if let Some(at) = KINDS.iter().position(|(s, _)| *s == shape) {
            seen[at].add(label, support);
        } else if label.len() == 8 {
            eights += u64::from(label.bytes().all(|b| b.is_ascii_digit()));
            if is_compact_date(label) {
                compact.add(label, support);
            }
        }
    }
    // Eight digits can be anything; where all of them are days, they are days.
    if compact.labels >= 10 && compact.labels * 20 >= eights * 19 {
        seen[3] = compact;
    }
    let records = data.records;
    let mut findings = Vec::new();
    for (seen, (shape, kind)) in seen.into_iter().zip(KINDS) {
        let occurrences = data.scale(seen.occurrences);
        // So many of a hundred records have one: a column of them, not a stray one.
        let refused = match shape {
            Shape::Email | Shape::Iban | Shape::Phone => occurrences * 50 >= records,
            Shape::Control => occurrences * 10 >= records,
            // Sentences that many records share are names of goods.
            Shape::Sentence => data.scale(seen.once) * 10 >= records,
            _ => occurrences * 10 >= records,
        };
        if seen.labels > 0 {
            let severity = if refused { Severity::Refuse } else { Severity::Remark };
            findings.push(seen.finding(severity, kind, data.vocabulary.len() as u64, data));
        }
    }
    if !found_id && records >= 20 {
        findings.extend(ids(data, count)?);
    }
    Ok(findings)
}

/// Labels that look alike, have digits and (nearly) all occur once: one of them
/// in nearly every record.
fn ids(data: &Labels, count: &mut Count) -> Result<Option<Finding>> {
    let mut families: HashMap<String, (Seen, u64)> = HashMap::new();
    let digit = |label: &str| label.bytes().any(|b| b.is_ascii_digit());
    for (label, support) in data.iter().filter(|(label, _)| digit(label)) {
        let (once, often) = families.entry(family(label)).or_default();
        if support == 1 { once.add(label, support) } else { *often += 1 }
    }
    let records = data.records;
    let enough = |(once, often): &(Seen, u64)| {
        let count = data.scale(once.labels);
        count * 10 >= records * 8 && count * 10 <= records * 12 && often * 5 <= once.labels
    };
    let found = families.into_iter().filter(|(_, seen)| enough(seen));
    let first = found.min_by(|a, b| a.0.cmp(&b.0));
    let Some((name, (seen, _))) = first else { return Ok(None) };
    let own: Vec<bool> = (0..data.vocabulary.len() as ItemId)
        .map(|item| {
            let label = data.vocabulary.label(item);
            data.supports[item as usize] == 1 && digit(label) && family(label) == name
        })
        .collect();
    let one = |record: &[ItemId]| record.iter().filter(|&&i| own[i as usize]).count() == 1;
    let count = count(&one)?;
    let (severity, examples) = (Severity::Refuse, seen.examples);
    let finding = Finding { severity, kind: Kind::Ids, count, of: records, examples };
    Ok(Some(finding).filter(|f| f.count * 10 >= records * 8))
}

/// One separator in nearly every item, or in many whose parts come again.
fn delimiter(data: &Labels) -> Option<Finding> {
    let all: u64 = data.iter().map(|(_, support)| support).sum();
    for delimiter in [';', '|', '\t', ','] {
        let mut seen = Seen::default();
        let mut parts = std::collections::HashSet::new();
        let mut pieces = 0u64;
        for (label, support) in data.iter().filter(|(label, _)| label.contains(delimiter)) {
            seen.add(label, support);
            if pieces < 100_000 {
                label.split(delimiter).for_each(|part| {
                    pieces += 1;
                    parts.insert(part.trim());
                });
            }
        }
        let nearly_all = seen.occurrences * 10 >= all * 9 && data.records >= 2;
        let come_again = parts.len() as u64 * 10 < pieces * 7;
        let many = seen.occurrences * 5 >= all && seen.labels >= 5 && delimiter != ',';
        if seen.labels > 0 && (nearly_all || (many && come_again)) {
            let (severity, count) = (Severity::Refuse, data.scale(seen.occurrences));
            let (kind, of) = (Kind::Delimiter { delimiter }, data.scale(all));
            return Some(Finding { severity, kind, count, of, examples: seen.examples });
        }
    }
    None
}
