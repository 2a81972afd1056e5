//! One program for all fuzz targets: `SETVEIL_FUZZ` names the one that runs.
//! `make fuzz` builds it with the flags that libFuzzer needs.

#![no_main]

use std::sync::OnceLock;

use testkit::fuzz::{TARGETS, Target};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (target().1)(bytes));

/// The target. The work stays on this thread: small inputs gain nothing from others.
fn target() -> Target {
    static FOUND: OnceLock<Target> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        pool.build_global().expect("nobody has asked for threads yet");
        let name = std::env::var("SETVEIL_FUZZ").unwrap_or_default();
        let names: Vec<&str> = TARGETS.iter().map(|t| t.0).collect();
        let found = TARGETS.iter().find(|t| t.0 == name);
        *found.unwrap_or_else(|| panic!("SETVEIL_FUZZ={name:?}: expected one of {names:?}"))
    })
}
