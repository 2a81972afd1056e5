//! One test binary: a module per part of the library, named like it.

mod attack;
mod cahd;
mod diffpart;
mod disassociation;
mod dls;
mod documents;
mod generalization;
mod generators;
mod grouped;
mod kl;
mod layering;
mod limits;
mod measure;
mod method;
mod printed_cahd;
mod query;
mod query_log;
mod readers;
mod reconstruct;
mod release_directory;
mod sensitive_terms;
mod verify;
mod workflow;
mod worlds;
