//! How much memory reading may use.

use std::path::Path;

/// Three quarters of the memory that the machine, or the container that the
/// program runs in, has; none where the system does not say.
pub fn default_memory() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
    let container = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .filter_map(|path| std::fs::read_to_string(Path::new(path)).ok())
        .filter_map(|text| text.trim().parse::<u64>().ok())
        .min();
    machine.into_iter().chain(container).min().map(|bytes| bytes / 4 * 3)
}

/// The total of `/proc/meminfo` in bytes.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// What a reading may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Bytes for all records.
    pub(super) memory: u64,
    /// Bytes of one line or record: its text, a copy of it and its items must fit.
    pub(super) line: u64,
}

impl Budget {
    pub(super) fn new(max_memory: Option<u64>) -> Self {
        let memory = max_memory.or_else(default_memory).unwrap_or(u64::MAX);
        Self { memory, line: (memory / 8).min(1 << 30) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_total_is_found() {
        let text = "MemFree: 12 kB\nMemTotal:       16384 kB\nSwap: 1 kB\n";
        assert_eq!(total(text), Some(16384 * 1024));
        assert_eq!(total("MemTotal: many kB\n"), None);
        assert_eq!(total("MemTotal: 18446744073709551615 kB\n"), None);
    }
}
