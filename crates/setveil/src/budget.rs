//! How much memory the work may take.
//!
//! A few hundred bytes of a file can speak of billions of records. Whoever is
//! about to make something as large as a file says asks first, and refuses
//! with the number instead of filling the machine. A caller sets the budget in
//! its [`Progress`](crate::Progress), which reaches all long work; without
//! that, it is three quarters of what the machine has.

use std::path::Path;
use std::sync::OnceLock;

use crate::{Error, Result};

/// Bytes that may be taken for one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    bytes: u64,
}

impl Budget {
    /// No limit.
    pub const UNLIMITED: Self = Self { bytes: u64::MAX };

    /// At most `bytes`.
    pub const fn new(bytes: u64) -> Self {
        Self { bytes }
    }

    /// Three quarters of the memory that the machine, or the container that
    /// the program runs in, has; no limit where the system does not say.
    pub fn of_the_machine() -> Self {
        static FOUND: OnceLock<Budget> = OnceLock::new();
        *FOUND.get_or_init(|| memory().map_or(Self::UNLIMITED, |bytes| Self::new(bytes / 4 * 3)))
    }

    /// The limit in bytes.
    pub const fn bytes(self) -> u64 {
        self.bytes
    }

    /// The most bytes of one line or record: its text, a copy of it and its
    /// items must fit.
    pub fn line(self) -> u64 {
        (self.bytes / 8).min(1 << 30)
    }

    /// A part of it.
    pub const fn part(self, divisor: u64) -> Self {
        Self { bytes: self.bytes / divisor }
    }

    /// Fails with [`Error::Memory`] if `what` needs more than there may be.
    /// `needed` is none if the number of bytes cannot even be written down.
    pub fn check(self, what: &'static str, needed: impl Into<Option<u64>>) -> Result<()> {
        let needed = needed.into().unwrap_or(u64::MAX);
        if needed <= self.bytes && needed != u64::MAX {
            return Ok(());
        }
        Err(Error::Memory { what, needed, limit: self.bytes })
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::of_the_machine()
    }
}

/// The memory of the machine or the container, whichever is less.
fn memory() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(Path::new(path)).ok();
    let machine = read("/proc/meminfo").and_then(|text| total(&text));
    let container = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .into_iter()
        .filter_map(read)
        .filter_map(|text| text.trim().parse::<u64>().ok());
    machine.into_iter().chain(container).min()
}

/// The total of `/proc/meminfo` in bytes.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_border_is_allowed_and_one_more_is_not() {
        let budget = Budget::new(1000);
        assert!(budget.check("the test", 1000).is_ok());
        let error = budget.check("the test", 1001).unwrap_err().to_string();
        assert!(error.contains("1001") && error.contains("1000"), "{error}");
        assert!(budget.check("the test", u64::MAX.checked_add(1)).is_err());
        assert!(Budget::UNLIMITED.check("the test", u64::MAX - 1).is_ok());
        assert!(Budget::UNLIMITED.check("the test", None).is_err());
    }

    #[test]
    fn the_line_of_the_total_is_found() {
        let text = "MemFree: 12 kB\nMemTotal:       16384 kB\nSwap: 1 kB\n";
        assert_eq!(total(text), Some(16384 * 1024));
        assert_eq!(total("MemTotal: many kB\n"), None);
        assert_eq!(total("MemTotal: 18446744073709551615 kB\n"), None);
    }
}
