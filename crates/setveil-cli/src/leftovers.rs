//! What a killed run left beside its target: worth a remark, and not ours to
//! remove, as nobody can know that it is not looked at.

use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::context::Context;

/// Remarks on each leftover beside `target`.
pub fn remark(target: &Path, context: &Context) {
    for stale in setveil::io::stale_partials(target, SystemTime::now()) {
        let remove = if stale.directory { "rm -r" } else { "rm" };
        let (path, quoted) = (stale.path.display(), quoted(&stale.path));
        context.remark(&format!(
            "{path}: left {} ago by a run that did not end well; remove it with `{remove} {quoted}`",
            age(stale.age)
        ));
    }
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}

/// An age in the largest unit that fits.
fn age(age: Duration) -> String {
    let seconds = age.as_secs();
    let units = [(86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second")];
    let (size, unit) =
        units.into_iter().find(|(size, _)| seconds >= *size).unwrap_or((1, "second"));
    let number = seconds / size;
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_in_a_path_ends_no_word() {
        assert_eq!(quoted(Path::new("it's/.r.partial")), r"'it'\''s/.r.partial'");
    }

    #[test]
    fn ages_are_for_people() {
        for (seconds, text) in [
            (0, "0 seconds"),
            (1, "1 second"),
            (119, "1 minute"),
            (7200, "2 hours"),
            (180_000, "2 days"),
        ] {
            assert_eq!(age(Duration::from_secs(seconds)), text);
        }
    }
}
