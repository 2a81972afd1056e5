//! The command line from outside: one module a command.

mod band;
mod cahd;
