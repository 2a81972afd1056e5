//! The most frequent items and itemsets of a release, with bounds, and rules
//! between them.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::QueryOptions;
use super::limits;
use crate::mine::{Transactions, top_k};
use crate::query::{Answer, Prepared, Prior};
use crate::reconstruct::{self, TermOccurrences};
use crate::{Progress, Release, Result, Stage};

/// Every item of the release with its bounds, the most frequent first.
///
/// # Errors
/// If `progress` says stop.
pub fn items(
    release: &Release,
    options: &QueryOptions,
    progress: &dyn Progress,
) -> Result<Vec<Answer>> {
    let labels = release.body.vocabulary().labels();
    let itemsets: Vec<Vec<&str>> = labels.map(|label| vec![label]).collect();
    let mut answers = super::query(release, &itemsets, options, progress)?;
    answers.sort_by(by_expectation);
    Ok(answers)
}

/// What is mined.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ItemsetOptions {
    /// How many itemsets.
    pub n: usize,
    /// Itemsets with fewer items are left out.
    pub at_least: usize,
    /// Rules with a smaller expected confidence are left out; none leaves all out.
    pub confidence: Option<f64>,
    /// How often a term of a term chunk occurs in its cluster.
    pub terms: TermOccurrences,
    /// With terms that occur once: how likely the data sets are that fit the release.
    pub prior: Prior,
    /// Chooses the data set that candidates are mined from; no secret.
    pub seed: u64,
}

impl Default for ItemsetOptions {
    fn default() -> Self {
        let terms = TermOccurrences::default();
        let prior = Prior::default();
        Self { n: 1000, at_least: 1, confidence: None, terms, prior, seed: 0 }
    }
}

setters!(ItemsetOptions {
    /// How many itemsets.
    n: usize,
    /// Itemsets with fewer items are left out.
    at_least: usize,
    /// Rules with a smaller expected confidence are left out.
    confidence: Option<f64>,
    /// How often a term of a term chunk occurs in its cluster.
    terms: TermOccurrences,
    /// How likely the data sets are that fit the release.
    prior: Prior,
    /// Chooses the data set that candidates are mined from.
    seed: u64,
});

/// The most frequent itemsets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Itemsets {
    /// The largest expected support first; then the smaller, then by text.
    pub itemsets: Vec<Answer>,
    /// The largest expected confidence first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
}

/// Who has the `antecedent` often has the `consequent` too.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Rule {
    /// Ascending.
    pub antecedent: Vec<String>,
    /// One item.
    pub consequent: String,
    /// The expected number of records with all of them.
    pub support: f64,
    /// The original confidence is at least this.
    pub lower: f64,
    /// What it is expected to be.
    pub expected: f64,
    /// The original confidence is at most this; none where nothing is known.
    pub upper: Option<f64>,
}

/// Mines the most frequent itemsets. Candidates are twice as many itemsets of one
/// reconstruction; each is then answered from the release itself, and the
/// largest expected supports are kept. An itemset whose expected support is
/// near the last one's may be missing.
///
/// # Errors
/// If no data set fits the release, it is too large for the budget, or `progress` says stop.
pub fn itemsets(
    release: &Release,
    options: &ItemsetOptions,
    progress: &dyn Progress,
) -> Result<Itemsets> {
    limits::drawn(release, options.terms, 1, progress)?;
    let drawing = reconstruct::Options { seed: options.seed, terms: options.terms };
    let drawn = reconstruct::reconstruct_many(release, drawing, 1, progress)?;
    let data = &drawn[0];
    let transactions = Transactions::from_dataset(data, progress)?;
    let candidates = candidates(&transactions, options, progress)?;
    let label = |&item: &u32| data.vocabulary().label(item);
    let asked: Vec<Vec<&str>> =
        candidates.iter().map(|set| set.iter().map(label).collect()).collect();
    let factors = options.prior.factors(&release.body);
    let index = Prepared::about(release, (options.terms, factors), &asked, progress)?;
    progress.stage(Stage::Querying, Some(asked.len() as u64));
    let mut answers = index.ask_all(&asked, progress)?;
    answers.sort_by(by_expectation);
    answers.truncate(options.n);
    let rules = match options.confidence {
        Some(least) => rules(&index, &answers, least, progress)?,
        None => Vec::new(),
    };
    Ok(Itemsets { itemsets: answers, rules })
}

/// The most frequent itemsets that are large enough.
fn candidates(
    transactions: &Transactions,
    options: &ItemsetOptions,
    progress: &dyn Progress,
) -> Result<Vec<Vec<u32>>> {
    let wanted = options.n.saturating_mul(2);
    let mut tried = wanted;
    loop {
        progress.stage(Stage::Mining, Some(tried as u64));
        let found = top_k(transactions, tried, &|_, _| true, progress)?;
        let all = found.len();
        let large = found.into_iter().map(|f| f.items).filter(|s| s.len() >= options.at_least);
        let large: Vec<Vec<u32>> = large.take(wanted).collect();
        // Small itemsets stand before large ones: look further, within reason.
        if large.len() == wanted || all < tried || tried >= wanted.saturating_mul(64) {
            return Ok(large);
        }
        tried = tried.saturating_mul(4);
    }
}

fn by_expectation(a: &Answer, b: &Answer) -> Ordering {
    let larger = b.expected.total_cmp(&a.expected);
    larger.then(a.itemset.len().cmp(&b.itemset.len())).then_with(|| a.itemset.cmp(&b.itemset))
}

/// Rules with one item on the right, from itemsets of two items and more.
fn rules(
    index: &Prepared,
    itemsets: &[Answer],
    least: f64,
    progress: &dyn Progress,
) -> Result<Vec<Rule>> {
    let mut rules = Vec::new();
    for whole in itemsets.iter().filter(|answer| answer.itemset.len() > 1) {
        for consequent in &whole.itemset {
            progress.step(0)?;
            let antecedent: Vec<String> =
                whole.itemset.iter().filter(|item| *item != consequent).cloned().collect();
            let part = index.ask(&antecedent)?;
            let rule = rule(whole, &part, antecedent, consequent.clone());
            rules.extend(Some(rule).filter(|rule| rule.expected >= least));
        }
    }
    rules.sort_by(|a, b| {
        let larger = b.expected.total_cmp(&a.expected);
        larger
            .then_with(|| a.antecedent.cmp(&b.antecedent))
            .then_with(|| a.consequent.cmp(&b.consequent))
    });
    Ok(rules)
}

/// The confidence of a rule: whoever has the whole has the part, so a bound
/// is taken over both.
fn rule(whole: &Answer, part: &Answer, antecedent: Vec<String>, consequent: String) -> Rule {
    let share = |a: f64, b: f64| if b > 0.0 { (a / b).min(1.0) } else { 0.0 };
    let lower = part.upper.map_or(0.0, |most| share(whole.lower as f64, most as f64));
    let upper = whole.upper.map(|most| match part.lower.max(whole.lower) {
        0 => 1.0,
        least => (most as f64 / least as f64).min(1.0),
    });
    let expected = share(whole.expected, part.expected).max(lower);
    let expected = expected.min(upper.unwrap_or(1.0));
    Rule { antecedent, consequent, support: whole.expected, lower, expected, upper }
}
