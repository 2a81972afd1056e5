//! `setveil hierarchy wordnet`.

use std::path::PathBuf;

use setveil::io;

use super::made::Target;
use crate::context::{Context, Exit};
use crate::inputs::LayoutArgs;

/// The nouns of WordNet below what they are kinds of
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    setveil hierarchy wordnet --wordnet /usr/share/wordnet -o nouns.csv\n\n\
    DIR holds index.noun and data.noun (Debian package wordnet-base). A noun stands below its most \n\
    frequent sense, and a sense below the first of its hypernyms. Without DATA all nouns are \n\
    leaves and the file says nothing about anybody; with DATA only those that occur in it.")]
pub struct Args {
    /// Keep only nouns that are items of this data
    #[arg(value_name = "DATA")]
    data: Option<PathBuf>,
    #[command(flatten)]
    layout: LayoutArgs,
    /// The directory of the WordNet database files
    #[arg(long, value_name = "DIR")]
    wordnet: PathBuf,
    #[command(flatten)]
    target: Target,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        self.target.check()?;
        let nouns = io::read_wordnet(&self.wordnet)?;
        let hierarchy = match &self.data {
            None => nouns.hierarchy(|_| true)?,
            Some(path) => {
                let input = self.layout.read(path, context)?;
                nouns.hierarchy(|noun| input.dataset.vocabulary().id(noun).is_some())?
            }
        };
        self.target.write(&hierarchy, context)
    }
}
