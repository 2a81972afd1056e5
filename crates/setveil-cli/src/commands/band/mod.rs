//! `setveil band`.

mod image;

use std::path::PathBuf;

use serde::Serialize;
use setveil::methods::cahd::band::band;
use setveil::methods::cahd::resolve;
use setveil::{Error, io};

use crate::context::{Context, Exit};
use crate::inputs::DataArgs;

/// Draw the matrix of records and items before and after it is made a band
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  setveil band baskets.dat -o band.png\n\n\
    Left: records as they come, items by text. Right: the order in which cahd looks for similar\n\
    records. The picture shows raw data: keep it with the original.")]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// The picture; its name ends in .png or .svg
    #[arg(long, short, value_name = "PICTURE")]
    output: PathBuf,
    /// Replace an earlier file of that name
    #[arg(long)]
    force: bool,
    /// Sensitive items, one a line: they are left out, as cahd leaves them out
    #[arg(long, value_name = "FILE")]
    sensitive: Option<PathBuf>,
    /// Pixels of each side; larger data is binned
    #[arg(long, default_value = "600", value_parser = clap::value_parser!(u16).range(16..=4096))]
    side: u16,
}

#[derive(Serialize)]
struct Answer<'a> {
    picture: &'a std::path::Path,
    records: usize,
    items: usize,
    /// How far a one is from the diagonal, as a share of the side.
    mean_distance_before: f64,
    mean_distance_after: f64,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let extension = self.output.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let draw = match extension.to_ascii_lowercase().as_str() {
            "png" => image::png,
            "svg" => image::svg,
            _ => {
                let found = format!("the name ends in {extension:?}");
                return Err(Error::input(&self.output, None, found, "use .png or .svg").into());
            }
        };
        io::check_file(&self.output, self.force)?;
        let data = self.data.read(context)?.dataset;
        let sensitive = match &self.sensitive {
            Some(path) => resolve(&data, &io::read_items(path)?)?,
            None => Vec::new(),
        };
        let band = band(&data, &sensitive, self.side.into(), context)?;
        io::write_file(&self.output, &draw(&band, self.side.into())?, self.force)?;
        let answer = Answer {
            picture: &self.output,
            records: data.len(),
            items: data.item_count() - sensitive.len(),
            mean_distance_before: band.before.mean_distance,
            mean_distance_after: band.after.mean_distance,
        };
        context.answer(&answer, || {
            format!(
                "{}: {} records, {} items; mean distance from the diagonal {:.3} before, {:.3} after\n",
                self.output.display(),
                answer.records,
                answer.items,
                answer.mean_distance_before,
                answer.mean_distance_after
            )
        })?;
        Ok(Exit::Done)
    }
}
