//! The command line, for the entry point of the package.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command line `words`, the program's name first; gives the exit code.
#[pyfunction]
pub fn command_line(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| setveil_cli::run(words))
}

/// Every command with its flags and their defaults, as JSON: what the tests
/// compare the functions of the package with.
#[pyfunction]
pub fn definition() -> String {
    setveil_cli::definition().to_string()
}
