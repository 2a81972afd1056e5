//! The methods that can be compared.

use clap::builder::PossibleValuesParser;
use serde_json::{Map, Value};
use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::data::{Epsilon, K, M, P};
use setveil::methods::Knob;
use setveil::release::Universe;
use setveil::{Method, Release, Result};

use super::cells::{Basis, Cell};
use crate::context::Context;

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
        for knob in Method::knobs(name).unwrap_or_default() {
            cells = match knob {
                Knob::K => each(&cells, self.k, |cell, k| cell.k = Some(k.get())),
                Knob::M => each(&cells, self.m, |cell, m| cell.m = Some(m.get())),
                Knob::MaxClusterSize => each(&cells, self.max_cluster_size, |cell, size| {
                    cell.max_cluster_size = Some(size);
                }),
                Knob::P => each(&cells, self.p, |cell, p| cell.p = Some(p.get())),
                Knob::Epsilon => each(&cells, self.epsilon, |cell, e| cell.epsilon = Some(e.get())),
                _ => cells,
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

/// The method of a cell.
fn method(basis: &Basis, cell: &Cell) -> Result<Method> {
    // A cluster of at least 2k is needed: the size that was asked for, or that.
    let least = 2 * cell.k.unwrap_or(0) as usize;
    let values = [
        (Knob::K, cell.k.map(Value::from)),
        (Knob::M, cell.m.map(Value::from)),
        (Knob::MaxClusterSize, cell.max_cluster_size.map(|size| Value::from(size.max(least)))),
        (Knob::P, cell.p.map(Value::from)),
        (Knob::Epsilon, cell.epsilon.map(Value::from)),
    ];
    let mut parameters: Map<String, Value> =
        values.into_iter().filter_map(|(knob, v)| Some((knob.name().to_owned(), v?))).collect();
    if cell.p.is_some() {
        parameters.insert("sensitive".to_owned(), Value::from(basis.sensitive));
    }
    let method = Method::named(&cell.method, parameters)?;
    if !method.needs_hierarchy() {
        return Ok(method);
    }
    // The names of the tree's leaves come from the data.
    let tree = balanced(basis.data.vocabulary(), FANOUT, LeafOrder::Natural)?;
    Ok(match method.with_hierarchy(tree) {
        Method::Diffpart(parameters) => Method::Diffpart(parameters.universe(Universe::Data)),
        method => method,
    })
}

/// The names, for the command line.
pub fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(Method::NAMES)
}

/// Whether the method separates sensitive items.
pub fn needs_sensitive(name: &str) -> bool {
    Method::knobs(name).is_some_and(|knobs| knobs.contains(&Knob::P))
}

/// Runs a cell.
pub fn run(basis: &Basis, cell: &Cell, context: &Context) -> Result<Release> {
    Ok(method(basis, cell)?.run(basis.data, context)?.release)
}
