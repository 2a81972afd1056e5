//! One test binary: a module per part of the library, named like it.

mod cahd;
mod disassociation;
mod grouped;
mod kl;
mod printed_cahd;
mod documents;
mod generators;
mod layering;
mod readers;
mod release_directory;
mod measure;
mod query;
mod reconstruct;
mod worlds;
