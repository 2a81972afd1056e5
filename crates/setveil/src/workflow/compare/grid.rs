//! From values to settings, and from a setting to a method.

use serde_json::{Map, Value};

use super::cells::{Basis, Cell};
use super::{Options, unknown};
use crate::data::hierarchy::{LeafOrder, balanced};
use crate::methods::Knob;
use crate::release::Universe;
use crate::{Method, Result};

/// How many children a node of the hierarchy made for a comparison has.
const FANOUT: usize = 5;

/// Every combination of what the methods tell apart, each once.
pub(super) fn cells(options: &Options) -> Result<Vec<Cell>> {
    let mut all: Vec<Cell> = Vec::new();
    for name in &options.methods {
        let mut cells = vec![Cell { method: name.clone(), ..Default::default() }];
        for knob in Method::knobs(name).ok_or_else(|| unknown(name))? {
            cells = match knob {
                Knob::K => each(&cells, &options.k, |cell, k| cell.k = Some(k.get())),
                Knob::M => each(&cells, &options.m, |cell, m| cell.m = Some(m.get())),
                Knob::MaxClusterSize => each(&cells, &options.max_cluster_size, |cell, size| {
                    cell.max_cluster_size = Some(size);
                }),
                Knob::P => each(&cells, &options.p, |cell, p| cell.p = Some(p.get())),
                Knob::Epsilon => {
                    each(&cells, &options.epsilon, |cell, e| cell.epsilon = Some(e.get()))
                }
            };
        }
        for cell in cells {
            if !all.contains(&cell) {
                all.push(cell);
            }
        }
    }
    Ok(all)
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
pub(in super::super) fn method(basis: &Basis, cell: &Cell) -> Result<Method> {
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
        // A comparison publishes nothing, and shall not end at records that no group can hide.
        parameters.insert("sensitive_only".to_owned(), Value::from("drop"));
    }
    let method = Method::named(&cell.method, parameters)?;
    if !method.needs_hierarchy() {
        return Ok(method);
    }
    let tree = balanced(basis.data.vocabulary(), FANOUT, LeafOrder::Natural)?;
    Ok(match method.with_hierarchy(tree) {
        // The names of the tree's leaves come from the data.
        Method::Diffpart(parameters) => Method::Diffpart(parameters.universe(Universe::Data)),
        method => method,
    })
}
