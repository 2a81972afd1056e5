//! `setveil verify`.

use std::fmt::Write;
use std::path::PathBuf;

use setveil::error::plain;
use setveil::io::DirectorySource;
use setveil::verify::Verdict;
use setveil::workflow;

use crate::context::{Context, Exit, side_by_side};

/// Check a release's guarantee from the release alone
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  setveil verify release\n\n\
    The exit code is 0 if the guarantee holds, 1 if it does not, and 2 if it cannot be decided.\n\
    Differential privacy cannot be seen in a release: there, only the form is checked, and `note`\n\
    says so.")]
pub struct Args {
    /// The release directory
    #[arg(value_name = "RELEASE")]
    release: PathBuf,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let source = DirectorySource::new(&self.release);
        let verdict = workflow::verify_from(&source, context)?;
        context.answer(&verdict, || describe(&verdict, context))?;
        Ok(if verdict.holds { Exit::Done } else { Exit::Violated })
    }
}

fn describe(verdict: &Verdict, context: &Context) -> String {
    let mut text = verdict.model.to_owned();
    for (name, value) in [("k", verdict.k), ("m", verdict.m)] {
        if let Some(value) = value {
            let _ = write!(text, ", {name} = {value}");
        }
    }
    if let Some(epsilon) = verdict.epsilon {
        let _ = write!(text, ", epsilon = {epsilon}");
    }
    let promises = verdict.promises.as_ref().map_or(String::new(), side_by_side);
    if verdict.holds {
        return match verdict.note {
            None => format!("{text}: {}\n{promises}", context.good("holds")),
            Some(note) => format!("{text}: {}\nnote: {note}\n", context.good("well-formed")),
        };
    }
    let not = context.bad("does NOT hold");
    let _ = writeln!(text, ": {not}, {} violations", verdict.violation_count);
    for v in &verdict.violations {
        let _ = writeln!(
            text,
            "  {} at {}: {{{}}} has {}, required {}",
            v.rule,
            plain(&v.r#where),
            plain(v.itemset.join(", ")),
            v.support,
            v.required
        );
    }
    if verdict.violation_count > verdict.violations.len() as u64 {
        text += "  ...\n";
    }
    text
}
