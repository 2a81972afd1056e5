//! `setveil serve`.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;
use setveil::error::plain;
use setveil::{Error, Progress};
use setveil_web::{End, Options};

use crate::context::{Context, Exit};
use crate::{memory, signals};

/// Open a page on this machine that leads through publishing data, or using a release
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  setveil serve\n  setveil serve data --no-browser\n\n\
    The page listens on 127.0.0.1 only, on a port that the system chooses. The link that is printed\n\
    works once, in one browser. Nothing outside of DIR is read or written, and nothing is sent\n\
    anywhere. See docs/page.md")]
pub struct Args {
    /// The folder with the data and the releases [default: the present one]
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    dir: PathBuf,
    /// Print the link, and do not open a browser
    #[arg(long)]
    no_browser: bool,
    /// Minutes without a request and without work after which the server ends
    #[arg(long, value_name = "MINUTES", default_value = "30", value_parser = clap::value_parser!(u64).range(1..))]
    idle: u64,
    /// The largest file that can be dropped on the page, as 800M or 8G
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = memory::bytes)]
    max_upload: u64,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let options = Options::new(&self.dir)
            .budget(context.budget())
            .idle(Duration::from_secs(60 * self.idle))
            .upload(self.max_upload);
        let mut told = Ok(());
        let ready = |link: &str| {
            told = context.answer(&json!({ "link": link }), || {
                format!("The page is at\n\n  {link}\n\nThe link works once. End with Ctrl-C.\n")
            });
            if !self.no_browser && told.is_ok() {
                open(link);
            }
        };
        let place = || plain(self.dir.display()).to_string();
        let end = setveil_web::serve(&options, ready, signals::stopped).with_context(place)?;
        told?;
        match end {
            End::Asked => Ok(Exit::Done),
            End::Idle => {
                context.remark(&format!("ended: nobody was there for {} minutes", self.idle));
                Ok(Exit::Done)
            }
            _ => Err(Error::Cancelled.into()),
        }
    }
}

/// Asks the system to open a browser. If there is none, the link was printed.
fn open(link: &str) {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let mut command = Command::new(OsStr::new(program));
    command.arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut browser) = command.spawn() {
        // Whoever is not waited for stays as a zombie.
        std::thread::spawn(move || browser.wait());
    }
}
