//! One test binary: a module per part of the library, named like it.

mod disassociation;
mod cahd;
mod grouped;
mod kl;
mod printed_cahd;
