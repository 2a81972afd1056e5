//! One test binary: a module per part of the library, named like it.

mod cahd;
mod disassociation;
mod documents;
mod generators;
mod grouped;
mod kl;
mod layering;
mod measure;
mod printed_cahd;
mod query;
mod readers;
mod reconstruct;
mod release_directory;
mod worlds;
