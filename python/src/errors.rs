//! The library's errors as exceptions, in the words of Python: the library
//! names settings, this names keyword arguments.

use pyo3::prelude::*;
use setveil::Error;
use setveil::error::{Setting, plain};

/// The keyword argument of a setting.
pub fn keyword(setting: Setting) -> String {
    let name = match setting {
        Setting::Id => "person",
        // A column, or a list of columns.
        Setting::Item | Setting::Items => "items",
        other => other.name(),
    };
    format!("`{name}=`")
}

/// The exception of an error.
pub fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::Parameter { .. } | Error::Setting { .. } | Error::Unknown { .. } => "ParameterError",
        Error::TooLarge { .. } | Error::Memory { .. } | Error::Undecided { .. } => "TooLarge",
        Error::Exists { .. } => "FileExists",
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => "FileMissing",
        Error::Io { .. } => "FileError",
        Error::Stands { source, .. } => return raise(py, source),
        _ => "DataError",
    };
    exception(py, class, &say(error))
}

/// An exception of `setveil._errors` by its name.
pub fn exception(py: Python<'_>, class: &str, text: &str) -> PyErr {
    let made = py
        .import("setveil._errors")
        .and_then(|errors| errors.getattr(class))
        .and_then(|class| class.call1((text,)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// A parameter is out of its range.
pub fn parameter(name: &'static str, found: &str, expected: &'static str) -> PyErr {
    let error = Error::Parameter { name, found: found.to_owned(), expected };
    Python::attach(|py| raise(py, &error))
}

/// Something cannot be held.
pub fn too_large(text: &str) -> PyErr {
    Python::attach(|py| exception(py, "TooLarge", text))
}

/// Data that cannot be used.
pub fn data(text: &str) -> PyErr {
    Python::attach(|py| exception(py, "DataError", text))
}

/// Options that are not what the library takes.
pub fn options(error: &serde_json::Error) -> PyErr {
    Python::attach(|py| exception(py, "ParameterError", &error.to_string()))
}

/// The text, with keyword arguments where the library speaks of settings.
pub fn say(error: &Error) -> String {
    match error {
        Error::Input { path, line, found, hint } => {
            let line = line.map(|l| format!(":{l}")).unwrap_or_default();
            let place = plain(path.display());
            format!("{place}{line}: {}; {}", plain(found), hint.render(keyword))
        }
        Error::Setting { setting, found, expected } => {
            let expected = expected.render(keyword);
            format!("{} is {}: expected {expected}", keyword(*setting), plain(found))
        }
        Error::Table { row, found, hint } => {
            let row = row.map(|r| format!("row {r}: ")).unwrap_or_default();
            format!("{row}{}; {}", plain(found), hint.render(keyword))
        }
        Error::Infeasible { what, hint } | Error::Unknown { what, hint } => {
            format!("{}; {}", plain(what), hint.render(keyword))
        }
        Error::Exists { replaceable: true, path, found } => {
            let place = plain(path.display());
            format!("{place}: {}; choose another name, or give `force=True`", plain(found))
        }
        Error::Memory { what, needed, limit } => format!(
            "{what}: {needed} bytes of memory, at most {limit}; allow more with `max_memory=`, \
             use a larger machine, or take the data in parts"
        ),
        _ => error.to_string(),
    }
}

/// Fails if there is no such file or directory.
pub fn there(py: Python<'_>, path: &std::path::Path) -> PyResult<()> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(raise(py, &Error::io(path, error)))
        }
        _ => Ok(()),
    }
}
