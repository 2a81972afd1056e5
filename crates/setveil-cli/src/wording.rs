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
        Some(Error::Infeasible { what, hint } | Error::Unknown { what, hint }) => {
            format!("{}; {}", plain(what), hint.render(flag))
        }
        Some(Error::Memory { what, needed, limit }) => {
            let more = flag(Setting::MaxMemory);
            format!(
                "{what}: {needed} bytes of memory, at most {limit}; allow more with {more}, use a \
                 larger machine, or take the data in parts"
            )
        }
        Some(Error::Exists { path, found, replaceable: true }) => {
            let place = plain(path.display());
            format!("{place}: {}; choose another name or replace it with --force", plain(found))
        }
        Some(Error::Stands { release, source }) => {
            let release = plain(release.display());
            format!("{}; the release {release} is complete and stands", say(source))
        }
        _ => error.to_string(),
    }
}
