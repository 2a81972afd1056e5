//! Long work: without the interpreter's lock, on threads of our own, watched
//! and stopped from Python.
//!
//! The thread that called waits and looks up twenty times a second: it lets
//! Python handle signals, so that Ctrl-C says stop to the work, and tells who
//! watches how far it is. Threads do not survive a fork: each process has
//! pools of its own, made when they are needed.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use setveil::budget::Budget;
use setveil::{Progress, Stage};

use crate::errors;

/// How often the waiting thread looks up.
const LOOK: Duration = Duration::from_millis(50);

/// How work is done: on how many threads, with how much memory, and who watches.
#[pyclass(frozen, module = "setveil._setveil")]
pub struct Manner {
    threads: Option<usize>,
    budget: Budget,
    /// Called with the stage, the steps that are done, and all steps if they are known.
    watch: Option<Py<PyAny>>,
}

#[pymethods]
impl Manner {
    #[new]
    #[pyo3(signature = (threads=None, max_memory=None, watch=None))]
    fn new(threads: Option<usize>, max_memory: Option<u64>, watch: Option<Py<PyAny>>) -> Self {
        let budget = max_memory.map_or_else(Budget::of_the_machine, Budget::new);
        Self { threads, budget, watch }
    }
}

impl Manner {
    /// Does `work`.
    pub fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&dyn Progress) -> setveil::Result<T> + Send,
    ) -> PyResult<T> {
        let pool = pool(self.threads)?;
        let observer = Observer::new(self.budget);
        let (result, interrupted) = py.detach(|| self.wait(&pool, &observer, work));
        match (result, interrupted) {
            (Err(panic), _) => resume_unwind(panic),
            (_, Some(error)) => Err(error),
            (Ok(Ok(value)), None) => Ok(value),
            (Ok(Err(error)), None) => Err(errors::raise(py, &error)),
        }
    }

    /// Lets the pool work, and looks up now and then.
    fn wait<T: Send>(
        &self,
        pool: &ThreadPool,
        observer: &Observer,
        work: impl FnOnce(&dyn Progress) -> setveil::Result<T> + Send,
    ) -> (std::thread::Result<setveil::Result<T>>, Option<PyErr>) {
        let (slot, done) = (Mutex::new(None), Condvar::new());
        let mut interrupted = None;
        pool.in_place_scope(|scope| {
            scope.spawn(|_| {
                let result = catch_unwind(AssertUnwindSafe(|| work(observer)));
                *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                done.notify_one();
            });
            let mut ready = slot.lock().unwrap_or_else(PoisonError::into_inner);
            while ready.is_none() {
                ready = match done.wait_timeout(ready, LOOK) {
                    Ok((ready, _)) => ready,
                    Err(poisoned) => poisoned.into_inner().0,
                };
                if ready.is_some() || interrupted.is_some() {
                    continue;
                }
                drop(ready);
                if let Err(error) = Python::attach(|py| self.look(py, observer)) {
                    observer.stop.store(true, Ordering::Relaxed);
                    interrupted = Some(error);
                }
                ready = slot.lock().unwrap_or_else(PoisonError::into_inner);
            }
        });
        let result = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
        (result.expect("the loop ends when there is a result"), interrupted)
    }

    fn look(&self, py: Python<'_>, observer: &Observer) -> PyResult<()> {
        py.check_signals()?;
        if let (Some(watch), Some((stage, done, total))) = (&self.watch, observer.seen()) {
            watch.call1(py, (stage.name(), done, total))?;
        }
        Ok(())
    }
}

/// What the work tells, for the thread that waits.
struct Observer {
    stage: Mutex<Option<(Stage, Option<u64>)>>,
    done: AtomicU64,
    stop: AtomicBool,
    budget: Budget,
}

impl Observer {
    fn new(budget: Budget) -> Self {
        let (stage, done, stop) = (Mutex::new(None), AtomicU64::new(0), AtomicBool::new(false));
        Self { stage, done, stop, budget }
    }

    fn seen(&self) -> Option<(Stage, u64, Option<u64>)> {
        let stage = *self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        stage.map(|(stage, total)| (stage, self.done.load(Ordering::Relaxed), total))
    }
}

impl Progress for Observer {
    fn stage(&self, stage: Stage, total: Option<u64>) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some((stage, total));
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, steps: u64) -> ControlFlow<()> {
        if steps > 0 {
            self.done.fetch_add(steps, Ordering::Relaxed);
        }
        match self.stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn budget(&self) -> Budget {
        self.budget
    }
}

/// The pools of one process, by their number of threads; 0 for all cores.
struct Pools {
    process: u32,
    by_threads: Mutex<HashMap<usize, Arc<ThreadPool>>>,
}

/// A pool with so many threads, kept for the next time.
///
/// A forked process finds the pools of its parent, whose threads it does not
/// have and whose lock may be held for ever: it makes its own and leaves those alone.
fn pool(threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    static POOLS: AtomicPtr<Pools> = AtomicPtr::new(std::ptr::null_mut());
    let process = std::process::id();
    // SAFETY: a pointer that stands here is from `Box::into_raw` and is never freed.
    let found = || unsafe { POOLS.load(Ordering::Acquire).as_ref() };
    let pools = match found().filter(|pools| pools.process == process) {
        Some(pools) => pools,
        None => {
            let old = POOLS.load(Ordering::Acquire);
            let new = Box::into_raw(Box::new(Pools { process, by_threads: Default::default() }));
            let swapped = POOLS.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire);
            if swapped.is_err() {
                // SAFETY: another thread was faster, and nobody has seen this one.
                drop(unsafe { Box::from_raw(new) });
            }
            found().expect("somebody has set it")
        }
    };
    let mut by_threads = pools.by_threads.lock().unwrap_or_else(PoisonError::into_inner);
    let threads = match threads {
        Some(0) => return Err(errors::parameter("threads", "0", "at least 1")),
        threads => threads.unwrap_or(0),
    };
    if let Some(pool) = by_threads.get(&threads) {
        return Ok(pool.clone());
    }
    let name = |i| format!("setveil-{i}");
    let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build();
    let pool = Arc::new(pool.map_err(|e| errors::too_large(&format!("{threads} threads: {e}")))?);
    by_threads.insert(threads, pool.clone());
    Ok(pool)
}
