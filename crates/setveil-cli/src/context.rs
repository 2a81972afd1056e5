//! What every command shares: how to answer, how to show progress, how to end.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use setveil::Progress;
use setveil::budget::Budget;
use setveil::error::plain;
use setveil::progress::Stage;
use setveil::release::Promises;

use crate::cli::Global;
use crate::{output, signals};

/// How a command ended, unless it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, or the guarantee holds.
    Done,
    /// The guarantee does not hold.
    Violated,
}

impl Exit {
    /// The program's exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Violated => 1,
        }
    }
}

/// Prints the error, with its causes unless they are part of it already, and
/// gives the exit code for bad usage and bad data.
pub fn fail(error: &anyhow::Error) -> u8 {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = crate::wording::say(cause);
        if !text.contains(&cause) {
            text += if text.is_empty() { "" } else { ": " };
            text += &cause;
        }
    }
    output::remark(&format!("error: {text}"));
    let stopped = |cause: &setveil::Error| matches!(cause, setveil::Error::Cancelled);
    let stopped = error.chain().any(|cause| cause.downcast_ref().is_some_and(stopped));
    if stopped { signals::exit_code() } else { 2 }
}

/// Promises side by side, each on lines of its own under what it is about.
pub fn side_by_side(promises: &Promises) -> String {
    const WIDTH: usize = 100;
    let mut text = String::new();
    for (about, promise) in promises.in_words() {
        let mut line = format!("{about:<20}");
        for word in promise.split(' ') {
            if line.chars().count() + 1 + word.chars().count() > WIDTH {
                text += line.trim_end();
                text.push('\n');
                line = " ".repeat(20);
            }
            line.push(' ');
            line += word;
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// The settings that all commands obey.
pub struct Context {
    /// What was typed, the program's name first.
    words: Vec<OsString>,
    json: bool,
    quiet: bool,
    /// Whether text on standard output may have colours.
    colour: bool,
    budget: Budget,
    bar: RwLock<Option<ProgressBar>>,
    /// Whether there is a bar: without one, a step costs a load.
    shown: AtomicBool,
}

impl Context {
    /// Sets up threads and output.
    pub fn new(global: &Global, words: Vec<OsString>) -> anyhow::Result<Self> {
        if let Some(threads) = global.threads {
            rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
        }
        let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        Ok(Self {
            words,
            json: global.json,
            quiet: global.quiet,
            colour: !plain && std::io::stdout().is_terminal(),
            budget: global.max_memory.unwrap_or_default(),
            bar: RwLock::new(None),
            shown: AtomicBool::new(false),
        })
    }

    /// Answers on standard output: `answer` as JSON, or `text`. What the
    /// command found out does not depend on who reads it.
    pub fn answer(
        &self,
        answer: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        self.clear();
        let written = if self.json {
            output::answer_json(&(serde_json::to_string_pretty(answer)? + "\n"))
        } else {
            output::answer(&text())
        };
        written.context("(standard output)")
    }

    /// What was typed behind the program's name.
    pub fn words(&self) -> &[OsString] {
        self.words.get(1..).unwrap_or_default()
    }

    /// Good news: green on a terminal.
    pub fn good(&self, text: &str) -> String {
        self.paint("1;32", text)
    }

    /// Bad news: red on a terminal.
    pub fn bad(&self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// Something to think about: yellow on a terminal.
    pub fn warn(&self, text: &str) -> String {
        self.paint("1;33", text)
    }

    /// A heading: bold on a terminal.
    pub fn heading(&self, text: &str) -> String {
        self.paint("1", text)
    }

    fn paint(&self, style: &str, text: &str) -> String {
        if self.colour { output::painted(style, text) } else { text.to_owned() }
    }

    /// A remark of one line on standard error.
    pub fn remark(&self, text: &str) {
        if !self.quiet {
            self.clear();
            output::remark(&plain(text).to_string());
        }
    }

    /// Takes the progress bar away.
    pub fn clear(&self) {
        self.shown.store(false, Ordering::Relaxed);
        if let Some(bar) = self.bar.write().expect("no panic while holding it").take() {
            bar.finish_and_clear();
        }
    }
}

/// A bar on a terminal, silence otherwise.
impl Progress for Context {
    fn stage(&self, stage: Stage, total: Option<u64>) {
        if self.quiet || !std::io::stderr().is_terminal() {
            return;
        }
        self.clear();
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr_with_hz(10));
        let template = match total {
            Some(_) => "{msg:>12} [{bar:40}] {human_pos}/{human_len} {eta}",
            None => "{msg:>12} {spinner} {human_pos} {elapsed}",
        };
        bar.set_style(
            ProgressStyle::with_template(template)
                .expect("the template is valid")
                .progress_chars("=> "),
        );
        bar.set_message(stage.name());
        bar.enable_steady_tick(Duration::from_millis(200));
        *self.bar.write().expect("no panic while holding it") = Some(bar);
        self.shown.store(true, Ordering::Relaxed);
    }

    fn advance(&self, steps: u64) -> ControlFlow<()> {
        if self.shown.load(Ordering::Relaxed)
            && let Some(bar) = &*self.bar.read().expect("no panic while holding it")
        {
            bar.inc(steps);
        }
        if signals::stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn budget(&self) -> Budget {
        self.budget
    }
}
