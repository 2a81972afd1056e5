//! The methods that can be compared: one line each.

use clap::builder::PossibleValuesParser;
use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::data::{Epsilon, K, M, P};
use setveil::methods::{
    apriori, cahd, diffpart, disassociation, dls, partition, perm_mondrian, suppress_rare,
};
use setveil::release::Universe;
use setveil::{Hierarchy, Release, Result};

use super::super::anonymize::diffpart::generator;
use super::cells::{Basis, Cell};
use crate::context::Context;

/// The parameters that methods tell apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Knob {
    K,
    M,
    Size,
    P,
    Epsilon,
}

/// A method by its name, which parameters it tells apart, and how to run it.
struct Method {
    name: &'static str,
    knobs: &'static [Knob],
    sensitive: bool,
    run: fn(&Basis, &Cell, &Context) -> Result<Release>,
}

const CLUSTERED: &[Knob] = &[Knob::K, Knob::M, Knob::Size];

#[rustfmt::skip] // One line each.
const METHODS: &[Method] = &[
    Method { name: "disassociation", knobs: CLUSTERED, sensitive: false, run: run_disassociation },
    Method { name: "dls", knobs: CLUSTERED, sensitive: false, run: run_dls },
    Method { name: "partition", knobs: &[Knob::K], sensitive: false, run: run_partition },
    Method { name: "apriori", knobs: &[Knob::K, Knob::M], sensitive: false, run: run_apriori },
    Method { name: "suppress-rare", knobs: &[Knob::K], sensitive: false, run: run_suppress_rare },
    Method { name: "cahd", knobs: &[Knob::P], sensitive: true, run: run_cahd },
    Method { name: "perm-mondrian", knobs: &[Knob::P], sensitive: true, run: run_perm_mondrian },
    Method { name: "diffpart", knobs: &[Knob::Epsilon], sensitive: false, run: run_diffpart },
];

/// How many children a node of the hierarchy made for a comparison has.
const FANOUT: usize = 5;

/// The values to try of every parameter.
pub struct Grid<'a> {
    pub k: &'a [K],
    pub m: &'a [M],
    pub max_cluster_size: &'a [usize],
    pub p: &'a [P],
    pub epsilon: &'a [Epsilon],
}

impl Grid<'_> {
    /// Every combination of what the method tells apart.
    pub fn cells(&self, name: &str) -> Vec<Cell> {
        let mut cells = vec![Cell { method: name.to_owned(), ..Default::default() }];
        for knob in method(name).knobs {
            cells = match knob {
                Knob::K => each(&cells, self.k, |cell, k| cell.k = Some(k.get())),
                Knob::M => each(&cells, self.m, |cell, m| cell.m = Some(m.get())),
                Knob::Size => each(&cells, self.max_cluster_size, |cell, size| {
                    cell.max_cluster_size = Some(size);
                }),
                Knob::P => each(&cells, self.p, |cell, p| cell.p = Some(p.get())),
                Knob::Epsilon => each(&cells, self.epsilon, |cell, e| cell.epsilon = Some(e.get())),
            };
        }
        cells
    }
}

fn each<T: Copy>(cells: &[Cell], values: &[T], set: impl Fn(&mut Cell, T)) -> Vec<Cell> {
    let mut found = Vec::new();
    for cell in cells {
        for &value in values {
            let mut cell = cell.clone();
            set(&mut cell, value);
            found.push(cell);
        }
    }
    found
}

fn k(cell: &Cell) -> Result<K> {
    K::new(cell.k.unwrap_or(0))
}

fn m(cell: &Cell) -> Result<M> {
    M::new(cell.m.unwrap_or(0))
}

fn p(cell: &Cell) -> Result<P> {
    P::new(cell.p.unwrap_or(0))
}

/// The parameters of disassociation and DLS.
fn clustered(cell: &Cell) -> Result<disassociation::Parameters> {
    let k = k(cell)?;
    let mut parameters = disassociation::Parameters::new(k, m(cell)?);
    // A cluster of at least 2k is needed: the size that was asked for, or that.
    let least = 2 * k.get() as usize;
    parameters.max_cluster_size = cell.max_cluster_size.map(|size| size.max(least));
    Ok(parameters)
}

fn tree(basis: &Basis) -> Result<Hierarchy> {
    balanced(basis.data.vocabulary(), FANOUT, LeafOrder::Natural)
}

fn run_disassociation(basis: &Basis, cell: &Cell, context: &Context) -> Result<Release> {
    disassociation::anonymize(basis.data, &clustered(cell)?, context)
}

fn run_dls(basis: &Basis, cell: &Cell, context: &Context) -> Result<Release> {
    dls::anonymize(basis.data, &clustered(cell)?, context)
}

fn run_partition(basis: &Basis, cell: &Cell, context: &Context) -> Result<Release> {
    let parameters = partition::Parameters::new(k(cell)?);
    partition::anonymize(basis.data, tree(basis)?, &parameters, context)
}

fn run_apriori(basis: &Basis, cell: &Cell, context: &Context) -> Result<Release> {
    let parameters = apriori::Parameters::new(k(cell)?, m(cell)?);
    apriori::anonymize(basis.data, tree(basis)?, &parameters, context)
}

fn run_suppress_rare(basis: &Basis, cell: &Cell, context: &Context) -> Result<Release> {
    suppress_rare::anonymize(basis.data, k(cell)?, context)
}

fn run_cahd(basis: &Basis, cell: &Cell, context: &Context) -> Result<Release> {
    cahd::anonymize(basis.data, &cahd::Parameters::new(p(cell)?, basis.sensitive), context)
}

fn run_perm_mondrian(basis: &Basis, cell: &Cell, context: &Context) -> Result<Release> {
    let parameters = perm_mondrian::Parameters::new(p(cell)?, basis.sensitive);
    perm_mondrian::anonymize(basis.data, &parameters, context)
}

fn run_diffpart(basis: &Basis, cell: &Cell, context: &Context) -> Result<Release> {
    // The number came from an `Epsilon`, and its decimals are that one's.
    let epsilon: Epsilon = cell.epsilon.unwrap_or(0.0).to_string().parse()?;
    let parameters = diffpart::Parameters::new(epsilon).universe(Universe::Data);
    diffpart::anonymize(basis.data, tree(basis)?, &parameters, &mut generator()?, context)
}

fn method(name: &str) -> &'static Method {
    METHODS.iter().find(|m| m.name == name).expect("only listed names get here")
}

/// The names, for the command line.
pub fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(METHODS.iter().map(|m| m.name))
}

/// Whether the method separates sensitive items.
pub fn needs_sensitive(name: &str) -> bool {
    method(name).sensitive
}

/// Runs a cell.
pub fn run(basis: &Basis, cell: &Cell, context: &Context) -> Result<Release> {
    (method(&cell.method).run)(basis, cell, context)
}
