//! One test binary: a module per part of the library, named like it.

mod disassociation;
mod documents;
mod generators;
mod layering;
mod readers;
mod release_directory;
