//! The library's errors in the words of the command line: it names settings,
//! this names flags.

use setveil::Error;
use setveil::error::{Setting, plain};

/// The flag of a setting.
pub fn flag(setting: Setting) -> String {
    format!("--{}", setting.name().replace('_', "-"))
}

/// The text of an error, with flags where the library speaks of settings.
pub fn say(error: &(dyn std::error::Error + 'static)) -> String {
    match error.downcast_ref::<Error>() {
        Some(Error::Input { path, line, found, hint }) => {
            let line = line.map(|l| format!(":{l}")).unwrap_or_default();
            let place = plain(path.display());
            format!("{place}{line}: {}; {}", plain(found), hint.render(flag))
        }
        Some(Error::Setting { setting, found, expected }) => {
            let expected = expected.render(flag);
            format!("{} = {}: expected {expected}", flag(*setting), plain(found))
        }
        Some(Error::Table { row, found, hint }) => {
            let row = row.map(|r| format!("row {r}: ")).unwrap_or_default();
            format!("{row}{}; {}", plain(found), hint.render(flag))
        }
        _ => error.to_string(),
    }
}
