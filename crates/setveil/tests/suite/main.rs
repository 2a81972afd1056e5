//! One test binary: a module per part of the library, named like it.

mod disassociation;
