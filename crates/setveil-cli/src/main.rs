//! The program `setveil`.

use std::process::ExitCode;

fn main() -> ExitCode {
    setveil_cli::run(std::env::args_os().collect()).into()
}
