//! The methods that can be compared: one line each.

use clap::builder::PossibleValuesParser;
use setveil::data::{K, M};
use setveil::methods::disassociation;
use setveil::{Dataset, Release, Result};

use super::cells::Cell;
use crate::context::Context;

/// A method by its name, which parameters it tells apart, and how to run it.
struct Method {
    name: &'static str,
    uses_m: bool,
    uses_size: bool,
    run: fn(&Dataset, &Cell, &Context) -> Result<Release>,
}

const METHODS: &[Method] =
    &[Method { name: "disassociation", uses_m: true, uses_size: true, run: run_disassociation }];

fn run_disassociation(data: &Dataset, cell: &Cell, context: &Context) -> Result<Release> {
    let (k, m) = (K::new(cell.k)?, M::new(cell.m.unwrap_or(1))?);
    let mut parameters = disassociation::Parameters::new(k, m);
    // A cluster of at least 2k is needed: the size that was asked for, or that.
    let least = 2 * cell.k as usize;
    parameters.max_cluster_size = cell.max_cluster_size.map(|size| size.max(least));
    disassociation::anonymize(data, &parameters, context)
}

fn method(name: &str) -> &'static Method {
    METHODS.iter().find(|m| m.name == name).expect("only listed names get here")
}

/// The names, for the command line.
pub fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(METHODS.iter().map(|m| m.name))
}

/// The cell of a method: parameters that it does not use are left out.
pub fn cell(name: &str, k: K, m: M, max_cluster_size: usize) -> Cell {
    let method = method(name);
    Cell {
        method: name.to_owned(),
        k: k.get(),
        m: method.uses_m.then(|| m.get()),
        max_cluster_size: method.uses_size.then_some(max_cluster_size),
    }
}

/// Runs a cell.
pub fn run(data: &Dataset, cell: &Cell, context: &Context) -> Result<Release> {
    (method(&cell.method).run)(data, cell, context)
}
