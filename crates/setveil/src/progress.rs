//! How long work tells its caller how far it has come.
//!
//! The library prints nothing. A caller that wants a progress bar implements
//! [`Progress`]; `&()` is the observer that does not look.

/// An observer of long work. Calls come from any thread.
pub trait Progress: Sync {
    /// A new stage begins; `total` is its number of steps where it is known.
    fn stage(&self, name: &str, total: Option<u64>);
    /// `steps` more of the current stage are done.
    fn advance(&self, steps: u64);
}

impl Progress for () {
    fn stage(&self, _name: &str, _total: Option<u64>) {}
    fn advance(&self, _steps: u64) {}
}
