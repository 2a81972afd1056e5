//! Numbers of bytes: the flags `--max-memory` and `--file-size`.

use setveil::budget::Budget;

/// Parses a budget.
pub fn parse(text: &str) -> Result<Budget, String> {
    bytes(text).map(Budget::new)
}

/// Parses a number of bytes: `800M`, `8G`, `123456`.
pub fn bytes(text: &str) -> Result<u64, String> {
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
    bytes.ok_or_else(|| "expected a number of bytes such as 8G".into())
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
