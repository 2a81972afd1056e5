//! Long work: a few jobs at a time, each with progress and a way to stop it.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use setveil::budget::Budget;
use setveil::{Error, Progress, Result, Stage};

use crate::wording;

/// So many jobs run at the same time.
const AT_ONCE: usize = 2;
/// So many may run or wait.
const UNFINISHED: usize = 6;
/// So many are remembered.
const REMEMBERED: usize = 100;

/// How a job stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Waiting,
    Running,
    /// Where its result is.
    Done(String),
    /// Why it failed.
    Failed(String),
    Cancelled,
}

/// A piece of long work.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: u32,
    /// What it does.
    pub(crate) title: String,
    /// Where to go if it fails.
    pub(crate) back: String,
    budget: Budget,
    begun: Instant,
    stop: AtomicBool,
    status: Mutex<Status>,
    stage: Mutex<Option<(Stage, Option<u64>)>>,
    done: AtomicU64,
    /// In a sweep: how many settings are done, and how many there are.
    of_many: Mutex<Option<(usize, usize)>>,
}

type Work = Box<dyn FnOnce(&Job) -> Result<String> + Send>;

/// How far a job has come.
#[derive(Clone, Debug)]
pub(crate) struct Far {
    pub(crate) status: Status,
    /// In words.
    pub(crate) text: String,
    /// From 0 to 1, where it is known.
    pub(crate) share: Option<f64>,
    pub(crate) seconds: u64,
}

impl Job {
    pub(crate) fn status(&self) -> Status {
        self.status.lock().expect("no panic while holding it").clone()
    }

    fn set(&self, status: Status) {
        *self.status.lock().expect("no panic while holding it") = status;
    }

    /// Asks it to stop.
    pub(crate) fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
        let mut status = self.status.lock().expect("no panic while holding it");
        if *status == Status::Waiting {
            *status = Status::Cancelled;
        }
    }

    pub(crate) fn unfinished(&self) -> bool {
        matches!(self.status(), Status::Waiting | Status::Running)
    }

    /// Setting number `at`, counted from 0, of `all` begins.
    pub(crate) fn setting(&self, at: usize, all: usize) {
        *self.of_many.lock().expect("no panic while holding it") = Some((at, all));
    }

    pub(crate) fn far(&self) -> Far {
        let status = self.status();
        let many = *self.of_many.lock().expect("no panic while holding it");
        let stage = *self.stage.lock().expect("no panic while holding it");
        let done = self.done.load(Ordering::Relaxed);
        let inner = stage.and_then(|(_, total)| total).filter(|&total| total > 0);
        let inner = inner.map(|total| (done as f64 / total as f64).min(1.0));
        let stage = stage.map_or("Preparing", |(stage, _)| wording::stage(stage));
        let (text, share) = match many {
            Some((at, all)) => {
                let text = format!("Setting {} of {all}: {}", at + 1, wording::small(stage));
                (text, Some(at as f64 / all.max(1) as f64))
            }
            None => (stage.to_owned(), inner),
        };
        let text = if status == Status::Waiting { "Waiting for other work".into() } else { text };
        Far { status, text, share, seconds: self.begun.elapsed().as_secs() }
    }

    fn run(&self, work: Work) {
        {
            let mut status = self.status.lock().expect("no panic while holding it");
            if *status != Status::Waiting {
                return;
            }
            *status = Status::Running;
        }
        // A mistake in the program ends the job, and not the server.
        self.set(match catch_unwind(AssertUnwindSafe(|| work(self))) {
            Ok(Ok(place)) => Status::Done(place),
            Ok(Err(Error::Cancelled)) => Status::Cancelled,
            Ok(Err(error)) => Status::Failed(wording::say(&error)),
            Err(_) => Status::Failed(
                "this is a mistake in the program, and nothing was published; please report it"
                    .to_owned(),
            ),
        });
    }
}

impl Progress for Job {
    fn stage(&self, stage: Stage, total: Option<u64>) {
        *self.stage.lock().expect("no panic while holding it") = Some((stage, total));
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, steps: u64) -> ControlFlow<()> {
        self.done.fetch_add(steps, Ordering::Relaxed);
        match self.stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn budget(&self) -> Budget {
        self.budget
    }
}

/// All jobs, and the threads that do them.
pub(crate) struct Jobs {
    list: Mutex<Vec<Arc<Job>>>,
    queue: Sender<(Arc<Job>, Work)>,
    budget: Budget,
}

impl Jobs {
    pub(crate) fn new(budget: Budget) -> Self {
        let (queue, jobs) = channel::<(Arc<Job>, Work)>();
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..AT_ONCE {
            let jobs = Arc::clone(&jobs);
            std::thread::spawn(move || {
                loop {
                    let next = jobs.lock().expect("no panic while holding it").recv();
                    let Ok((job, work)) = next else { return };
                    job.run(work);
                }
            });
        }
        Self { list: Mutex::new(Vec::new()), queue, budget }
    }

    /// Begins a job; none if there are too many.
    pub(crate) fn start(
        &self,
        title: impl Into<String>,
        back: impl Into<String>,
        work: impl FnOnce(&Job) -> Result<String> + Send + 'static,
    ) -> Option<Arc<Job>> {
        let mut list = self.list.lock().expect("no panic while holding it");
        if list.iter().filter(|job| job.unfinished()).count() >= UNFINISHED {
            return None;
        }
        let job = Arc::new(Job {
            id: list.last().map_or(1, |last| last.id + 1),
            title: title.into(),
            back: back.into(),
            budget: self.budget,
            begun: Instant::now(),
            stop: AtomicBool::new(false),
            status: Mutex::new(Status::Waiting),
            stage: Mutex::new(None),
            done: AtomicU64::new(0),
            of_many: Mutex::new(None),
        });
        self.queue.send((Arc::clone(&job), Box::new(work))).ok()?;
        list.push(Arc::clone(&job));
        if list.len() > REMEMBERED
            && let Some(old) = list.iter().position(|job| !job.unfinished())
        {
            list.remove(old);
        }
        Some(job)
    }

    pub(crate) fn get(&self, id: u32) -> Option<Arc<Job>> {
        let list = self.list.lock().expect("no panic while holding it");
        list.iter().find(|job| job.id == id).cloned()
    }

    /// Those that run or wait.
    pub(crate) fn unfinished(&self) -> Vec<Arc<Job>> {
        let list = self.list.lock().expect("no panic while holding it");
        list.iter().filter(|job| job.unfinished()).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ended(job: &Job) -> Status {
        while job.unfinished() {
            std::thread::sleep(Duration::from_millis(2));
        }
        job.status()
    }

    /// Works until it is stopped.
    fn endless(job: &Job) -> Result<String> {
        loop {
            job.step(1)?;
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn jobs_end_are_stopped_fail_and_panic_without_harm() {
        let jobs = Jobs::new(Budget::UNLIMITED);
        let good = jobs.start("good", "/", |_| Ok("/there".to_owned())).unwrap();
        assert_eq!(ended(&good), Status::Done("/there".into()));
        let bad = jobs.start("bad", "/", |_| {
            Err(Error::Parameter { name: "k", found: "0".into(), expected: "more" })
        });
        assert!(matches!(ended(&bad.unwrap()), Status::Failed(text) if text.contains("k = 0")));
        let broken = jobs.start("broken", "/", |_| panic!("on purpose"));
        assert!(
            matches!(ended(&broken.unwrap()), Status::Failed(text) if text.contains("mistake"))
        );
        let long = jobs.start("long", "/", endless).unwrap();
        long.cancel();
        assert_eq!(ended(&long), Status::Cancelled);
    }

    #[test]
    fn there_is_a_limit_and_waiting_jobs_can_be_cancelled() {
        let jobs = Jobs::new(Budget::UNLIMITED);
        let all: Vec<Arc<Job>> =
            (0..UNFINISHED).map(|_| jobs.start("long", "/", endless).unwrap()).collect();
        assert!(jobs.start("one more", "/", endless).is_none());
        all.iter().rev().for_each(|job| job.cancel());
        assert!(all.iter().all(|job| ended(job) == Status::Cancelled));
        assert!(jobs.start("again", "/", |_| Ok(String::new())).is_some());
        assert!(jobs.get(1).is_some() && jobs.get(99).is_none());
    }
}
