//! `setveil verify`.

use std::fmt::Write;
use std::path::PathBuf;

use serde::Serialize;
use setveil::Error;
use setveil::caution::{Caution, Severity};
use setveil::error::plain;
use setveil::io::DirectorySource;
use setveil::verify::Verdict;
use setveil::workflow::{self, files};

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
        let (found, missing) = if verdict.holds { self.look(context)? } else { (Vec::new(), None) };
        let answer = Answer { verdict: &verdict, cautions: found, cautions_missing: missing };
        context.answer(&answer, || {
            let mut text = describe(&verdict, context) + &cautions(&answer.cautions, context);
            if let Some(why) = &answer.cautions_missing {
                let careful = context.warn("careful");
                text += &format!(
                    "{careful}: it was not looked whether the release is empty or everybody in a \
                     cluster has the same item: {}\n",
                    plain(why)
                );
            }
            text
        })?;
        Ok(if verdict.holds { Exit::Done } else { Exit::Violated })
    }
}

impl Args {
    /// What to know about a release that keeps its promise, or why nobody looked:
    /// one that does not fit into memory is verified all the same.
    fn look(&self, context: &Context) -> anyhow::Result<(Vec<Caution>, Option<String>)> {
        match files::read(&self.release, context) {
            Ok(release) => Ok((workflow::cautions(&release), None)),
            Err(Error::Cancelled) => Err(Error::Cancelled.into()),
            Err(error) => Ok((Vec::new(), Some(crate::wording::say(&error)))),
        }
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    verdict: &'a Verdict,
    cautions: Vec<Caution>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cautions_missing: Option<String>,
}

/// What to know about a release although its promise holds, one line each.
pub fn cautions(cautions: &[Caution], context: &Context) -> String {
    let line = |caution: &Caution| {
        let colour = match caution.severity {
            Severity::Remark => "note".to_owned(),
            Severity::Amber => context.warn("careful"),
            Severity::Red => context.bad("do not publish"),
        };
        format!("{colour}: {}\n", plain(&caution.what))
    };
    cautions.iter().map(line).collect()
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
    let violations = if verdict.violation_count == 1 { "violation" } else { "violations" };
    let _ = writeln!(text, ": {not}, {} {violations}", verdict.violation_count);
    for v in &verdict.violations {
        let _ = write!(text, "  {} at {}", v.rule, plain(&v.r#where));
        // What is wrong with a file has no items and no numbers.
        if !v.itemset.is_empty() || v.support != v.required {
            let items = v.itemset.join(", ");
            let _ =
                write!(text, ": {{{}}} has {}, required {}", plain(items), v.support, v.required);
        }
        text.push('\n');
    }
    if verdict.violation_count > verdict.violations.len() as u64 {
        text += "  ...\n";
    }
    text
}
