//! Arrays that go from one piece of work to the next, on whatever thread.

use std::sync::Mutex;

use crate::Result;

/// As many sets of arrays as threads have needed at the same time. Some are as
/// long as the vocabulary, so they are not made again for every piece of work.
/// What an error leaves behind is not used again.
#[derive(Debug, Default)]
pub(super) struct ScratchPool<T>(Mutex<Vec<T>>);

impl<T: Default> ScratchPool<T> {
    /// Lends arrays to `work`.
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut T) -> Result<R>) -> Result<R> {
        let pool = || self.0.lock().expect("no work panicked");
        let mut arrays = pool().pop().unwrap_or_default();
        let result = work(&mut arrays)?;
        pool().push(arrays);
        Ok(result)
    }
}
