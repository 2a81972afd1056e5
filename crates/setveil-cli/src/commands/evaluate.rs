//! `setveil evaluate`.

use std::fmt::Write;
use std::path::PathBuf;

use setveil::io;
use setveil::measure::{Options, evaluate};

use crate::context::{Context, Exit};
use crate::inputs::OriginalArgs;

/// Measure what a release is still good for, compared with the original
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  setveil evaluate release --original baskets.dat")]
pub struct Args {
    /// The release directory
    #[arg(value_name = "RELEASE")]
    release: PathBuf,
    #[command(flatten)]
    original: OriginalArgs,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let release = io::read_release(&self.release)?;
        let original = self.original.read(context)?;
        let evaluation = evaluate(&release, &original.dataset, &Options::default(), context)?;
        context.answer(&evaluation, || {
            let mut text = String::new();
            if let serde_json::Value::Object(measures) = serde_json::json!(evaluation) {
                for (name, value) in measures.iter().filter(|(_, v)| !v.is_null()) {
                    let _ = writeln!(text, "{name:<12} {value}");
                }
            }
            text
        })?;
        Ok(Exit::Done)
    }
}
