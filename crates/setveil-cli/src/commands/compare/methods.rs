//! The methods that can be compared: one line each.

use clap::builder::PossibleValuesParser;
use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::data::{K, M};
use setveil::methods::{apriori, disassociation, dls, partition, suppress_rare};
use setveil::{Dataset, Hierarchy, Release, Result};

use super::cells::Cell;
use crate::context::Context;

/// A method by its name, which parameters it tells apart, and how to run it.
struct Method {
    name: &'static str,
    uses_m: bool,
    uses_size: bool,
    run: fn(&Dataset, &Cell, &Context) -> Result<Release>,
}

const METHODS: &[Method] = &[
    Method { name: "disassociation", uses_m: true, uses_size: true, run: run_disassociation },
    Method { name: "dls", uses_m: true, uses_size: true, run: run_dls },
    Method { name: "partition", uses_m: false, uses_size: false, run: run_partition },
    Method { name: "apriori", uses_m: true, uses_size: false, run: run_apriori },
    Method { name: "suppress-rare", uses_m: false, uses_size: false, run: run_suppress_rare },
];

/// How many children a node of the hierarchy made for a comparison has.
const FANOUT: usize = 5;

fn k(cell: &Cell) -> Result<K> {
    K::new(cell.k)
}

fn m(cell: &Cell) -> Result<M> {
    M::new(cell.m.unwrap_or(1))
}

/// The parameters of disassociation and DLS.
fn clustered(cell: &Cell) -> Result<disassociation::Parameters> {
    let mut parameters = disassociation::Parameters::new(k(cell)?, m(cell)?);
    // A cluster of at least 2k is needed: the size that was asked for, or that.
    let least = 2 * cell.k as usize;
    parameters.max_cluster_size = cell.max_cluster_size.map(|size| size.max(least));
    Ok(parameters)
}

fn tree(data: &Dataset) -> Result<Hierarchy> {
    balanced(data.vocabulary(), FANOUT, LeafOrder::Natural)
}

fn run_disassociation(data: &Dataset, cell: &Cell, context: &Context) -> Result<Release> {
    disassociation::anonymize(data, &clustered(cell)?, context)
}

fn run_dls(data: &Dataset, cell: &Cell, context: &Context) -> Result<Release> {
    dls::anonymize(data, &clustered(cell)?, context)
}

fn run_partition(data: &Dataset, cell: &Cell, context: &Context) -> Result<Release> {
    partition::anonymize(data, tree(data)?, &partition::Parameters::new(k(cell)?), context)
}

fn run_apriori(data: &Dataset, cell: &Cell, context: &Context) -> Result<Release> {
    let parameters = apriori::Parameters::new(k(cell)?, m(cell)?);
    apriori::anonymize(data, tree(data)?, &parameters, context)
}

fn run_suppress_rare(data: &Dataset, cell: &Cell, context: &Context) -> Result<Release> {
    suppress_rare::anonymize(data, k(cell)?, context)
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
