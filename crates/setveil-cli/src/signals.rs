//! Signals that end the program: Ctrl-C, SIGTERM, SIGHUP.
//!
//! The first one asks the work to stop: the next step of [`Progress`] says so,
//! the work ends with [`Error::Cancelled`](setveil::Error::Cancelled) and
//! removes what it began. Work that does not ask in time, or a second signal:
//! temporary files are removed from here, and the program ends.
//!
//! A file that grows beyond its limit (SIGXFSZ) is an error of the write, and
//! not the end of the program.
//!
//! [`Progress`]: setveil::Progress

use std::sync::atomic::{AtomicI32, Ordering};

/// The signal that asked to stop; 0 for none.
static STOP: AtomicI32 = AtomicI32::new(0);

/// Whether somebody asked to stop.
pub fn stopped() -> bool {
    STOP.load(Ordering::Relaxed) != 0
}

/// The exit code for a stopped program: 130 for Ctrl-C.
pub fn exit_code() -> u8 {
    match STOP.load(Ordering::Relaxed) {
        0 => 130,
        signal => 128 + signal as u8,
    }
}

/// Listens from now on.
#[cfg(unix)]
pub fn listen() -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    signal_hook::flag::register(SIGXFSZ, Default::default())?;
    // Who starts a program with a signal ignored, as `nohup` does, means it.
    let ends: Vec<i32> = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| !ignored(*s)).collect();
    let mut signals = signal_hook::iterator::Signals::new(ends)?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if STOP.swap(signal, Ordering::SeqCst) != 0 {
                end_now();
            }
            std::thread::spawn(|| {
                std::thread::sleep(GRACE);
                end_now();
            });
        }
    });
    Ok(())
}

/// Nothing to listen to.
#[cfg(not(unix))]
pub fn listen() -> std::io::Result<()> {
    Ok(())
}

/// How long the work may take to notice.
#[cfg(unix)]
const GRACE: std::time::Duration = std::time::Duration::from_secs(2);

#[cfg(unix)]
fn end_now() -> ! {
    setveil::io::remove_temporary();
    std::process::exit(exit_code().into());
}

/// Whether the program was started with `signal` ignored, as far as the system tells.
#[cfg(unix)]
fn ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
