//! Arrays that go from one piece of work to the next, on whatever thread.

use std::sync::Mutex;

/// As many sets of arrays as threads have needed at the same time. Some are as
/// long as the vocabulary, so they are not made again for every piece of work.
#[derive(Debug, Default)]
pub(super) struct Spare<T>(Mutex<Vec<T>>);

impl<T: Default> Spare<T> {
    /// Lends arrays to `work`.
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let spare = || self.0.lock().expect("no work panicked");
        let mut arrays = spare().pop().unwrap_or_default();
        let result = work(&mut arrays);
        spare().push(arrays);
        result
    }
}
