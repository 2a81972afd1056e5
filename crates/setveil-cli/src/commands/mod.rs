//! One file a command: read the arguments, call the library, answer.

pub mod anonymize;
pub mod evaluate;
pub mod profile;
pub mod verify;
