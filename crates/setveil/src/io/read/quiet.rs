//! Panics that are caught are not printed.
//!
//! The Parquet decoder panics on files that contradict themselves. The panic
//! is caught and becomes an error; what the panic hook would print is noise.
//! A hook that asks the current thread stands before the one that was there,
//! which sees every other panic as before.

use std::cell::Cell;
use std::panic::{set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<u32> = const { Cell::new(0) };
}

/// Runs `work`; its panics on this thread unwind without a word.
pub(super) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if QUIET.get() == 0 {
                before(info);
            }
        }));
    });
    /// Counts back on the way out, also through a panic.
    struct Guard;
    impl Drop for Guard {
        fn drop(&mut self) {
            QUIET.set(QUIET.get() - 1);
        }
    }
    QUIET.set(QUIET.get() + 1);
    let _guard = Guard;
    work()
}
