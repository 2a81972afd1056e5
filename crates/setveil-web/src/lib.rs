//! Setveil's page: a web site for one person, on that person's own machine.
//!
//! It listens on the loopback address and nowhere else, on a port that the
//! system chooses. Whoever has the one-time link gets a cookie; nobody else gets
//! an answer but "no". The browser sees aggregates and pages of lists, never the data as a
//! whole, and nothing is fetched from elsewhere.
//!
//! Everything that is computed is computed by [`setveil::workflow`]; here are
//! pages, forms, jobs that can be stopped, and the guard in front of them
//! (`guard.rs`). What is refused, and why: `docs/page.md`.

mod app;
mod choice;
mod folder;
mod form;
mod guard;
mod jobs;
mod pages;
mod secret;
mod server;
mod shelf;
#[cfg(test)]
mod tests;
mod view;
mod wording;

use std::path::PathBuf;
use std::time::Duration;

use setveil::budget::Budget;

pub use server::{End, serve};

/// What the page may do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The folder whose files are shown; nothing outside of it is read or written.
    pub root: PathBuf,
    /// How much memory the work may take.
    pub budget: Budget,
    /// After so long without a request, and without work, the server ends.
    pub idle: Duration,
    /// The largest file that can be dropped, in bytes.
    pub upload: u64,
}

impl Options {
    /// The folder `root`, half an hour, and files of up to 2 GiB.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            budget: Budget::default(),
            idle: Duration::from_secs(30 * 60),
            upload: 2 << 30,
        }
    }

    /// How much memory the work may take.
    #[must_use]
    pub fn budget(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// After how long without a request the server ends.
    #[must_use]
    pub fn idle(self, idle: Duration) -> Self {
        Self { idle, ..self }
    }

    /// The largest file that can be dropped.
    #[must_use]
    pub fn upload(self, upload: u64) -> Self {
        Self { upload, ..self }
    }
}
