//! From records to a release and back to answers, without a single file.
//!
//!     cargo run -p setveil --example in_memory

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use setveil::data::{K, M};
use setveil::methods::disassociation::Parameters;
use setveil::query::Index;
use setveil::workflow::{self, ReconstructOptions};
use setveil::{Dataset, Method, Progress, Stage, attack, measure};

/// An observer that stops the work after so many steps; a bar or a button
/// would look the same.
struct Patience(AtomicU64);

impl Progress for Patience {
    fn stage(&self, _stage: Stage, _total: Option<u64>) {}

    fn advance(&self, steps: u64) -> ControlFlow<()> {
        let left = self.0.load(Ordering::Relaxed).saturating_sub(steps);
        self.0.store(left, Ordering::Relaxed);
        if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Runs it.
#[allow(clippy::print_stdout, unreachable_pub)]
pub fn main() -> setveil::Result<()> {
    // The custodian has baskets.
    let baskets = ["bread milk", "bread milk tea", "milk tea", "bread tea flu", "milk flu"];
    let records = (0..200).map(|i| baskets[i % baskets.len()].split(' '));
    let data = Dataset::from_records(records);
    let patience = Patience(AtomicU64::new(1_000_000));

    // A method is a value. It could have been read from JSON just as well.
    let method = Method::Disassociation(Parameters::new(K::new(5)?, M::new(2)?));
    let (release, made) = workflow::anonymize(&data, &method, &patience)?;
    println!("{}: {} records, {} items", made.method, made.records, made.items);

    // Whether it keeps its promise is decided from the release alone.
    let verdict = workflow::verify(&release, &patience)?;
    println!("{} holds: {}", verdict.model, verdict.holds);

    // What an attacker still learns, and what the data is still good for.
    let options = attack::Options::default().targets(50).worlds(20);
    let attacked = workflow::attack(&release, Some(&data), &options, &patience)?;
    println!("the best guess is right with probability {:?}", attacked.report.mean_posterior);
    let options = measure::Options::default().top(10).re_range(0..3);
    let evaluation = workflow::evaluate(&release, &data, &options, &patience)?;
    println!("lost itemsets: {:?}", evaluation.tkd);

    // A recipient draws possible originals for other tools, and asks.
    let sets = workflow::reconstruct(&release, &ReconstructOptions::default(), &patience)?;
    println!("a possible original has {} records", sets[0].len());
    let index = Index::new(Arc::new(release), Default::default());
    let answer = index.ask(&["bread", "milk"])?;
    println!("bread and milk: {} to {:?}", answer.lower, answer.upper);

    // Whoever loses patience gets an error, and nothing else.
    let stopped = workflow::anonymize(&data, &method, &Patience(AtomicU64::new(0)));
    assert!(matches!(stopped, Err(setveil::Error::Cancelled)));
    Ok(())
}
