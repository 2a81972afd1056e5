//! How much memory the program may take: `--max-memory`, or three quarters of
//! the machine's.

use setveil::budget::Budget;

/// Parses a number of bytes: `800M`, `8G`, `123456`.
pub fn parse(text: &str) -> Result<Budget, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match &*text[digits.len()..].to_ascii_uppercase() {
        "" | "B" => 1,
        "K" | "KB" => 1 << 10,
        "M" | "MB" => 1 << 20,
        "G" | "GB" => 1 << 30,
        "T" | "TB" => 1 << 40,
        _ => return Err("expected a number of bytes such as 800M or 8G".into()),
    };
    let number: u64 = digits.parse().map_err(|_| "expected a number of bytes such as 8G")?;
    let bytes = number.checked_mul(unit).filter(|&bytes| bytes > 0);
    bytes.map(Budget::new).ok_or_else(|| "expected a number of bytes such as 8G".into())
}

/// Three quarters of the machine's memory; no limit where it is not known.
pub fn default() -> Budget {
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes = total.and_then(|t| t.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kilobytes.map_or(Budget::UNLIMITED, |kilobytes| Budget::new(kilobytes * 1024 / 4 * 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [("1", 1), ("2k", 2048), ("3M", 3 << 20), ("4GB", 4 << 30)] {
            assert_eq!(parse(text), Ok(Budget::new(bytes)), "{text}");
        }
        for text in ["", "0", "G", "-1", "1.5G", "8 apples", "99999999T"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
