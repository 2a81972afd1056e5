//! Generalization hierarchies.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::json;
use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::io;

use crate::dataset::Dataset;
use crate::errors;

/// A tree of names.
#[pyclass(frozen, module = "setveil._setveil")]
pub struct Hierarchy {
    pub tree: Arc<setveil::Hierarchy>,
}

fn made(py: Python<'_>, tree: setveil::Result<setveil::Hierarchy>) -> PyResult<Hierarchy> {
    let tree = tree.map_err(|e| errors::raise(py, &e))?;
    Ok(Hierarchy { tree: Arc::new(tree) })
}

#[pymethods]
impl Hierarchy {
    /// One path a leaf, from the leaf to the root.
    #[staticmethod]
    fn from_paths(paths: Vec<Vec<String>>) -> PyResult<Self> {
        let tree = setveil::Hierarchy::from_paths(&paths);
        let tree = tree.map_err(|e| errors::data(&format!("path {}: {}", e.path + 1, e.what)))?;
        Ok(Self { tree: Arc::new(tree) })
    }

    /// Reads `leaf;parent;...;*`, one leaf a line.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        errors::there(py, &path)?;
        made(py, py.detach(|| io::read_hierarchy(&path)))
    }

    /// Groups neighbours, by their natural order or by text.
    #[staticmethod]
    fn balanced(
        py: Python<'_>,
        data: &Dataset,
        fanout: usize,
        alphabetical: bool,
    ) -> PyResult<Self> {
        let order = if alphabetical { LeafOrder::Alphabetical } else { LeafOrder::Natural };
        made(py, balanced(data.data().vocabulary(), fanout, order))
    }

    /// The nouns of WordNet below what they are kinds of.
    #[staticmethod]
    #[pyo3(signature = (directory, data=None))]
    fn wordnet(py: Python<'_>, directory: PathBuf, data: Option<&Dataset>) -> PyResult<Self> {
        let vocabulary = data.map(|data| data.data().vocabulary());
        let tree = py.detach(|| {
            let nouns = io::read_wordnet(&directory)?;
            nouns.hierarchy(|noun| vocabulary.is_none_or(|v| v.id(noun).is_some()))
        });
        made(py, tree)
    }

    /// Writes the file.
    fn write(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        py.detach(|| {
            io::check_file(&path, force)?;
            io::write_hierarchy(&self.tree, &path, force)
        })
        .map_err(|e| errors::raise(py, &e))
    }

    /// One path a leaf, from the leaf to the root.
    fn paths(&self) -> Vec<Vec<String>> {
        let own = |path: Vec<&str>| path.into_iter().map(str::to_owned).collect();
        self.tree.paths().map(own).collect()
    }

    /// Size and shape, and which items of `data` are no leaf, as JSON.
    #[pyo3(signature = (data=None))]
    fn check(&self, data: Option<&Dataset>) -> String {
        let tree = &self.tree;
        let is_leaf = |label: &str| tree.node(label).is_some_and(|node| tree.is_leaf(node));
        let missing = data.map(|data| {
            let labels = data.data().vocabulary().labels();
            labels.filter(|label| !is_leaf(label)).collect::<Vec<_>>()
        });
        let depths = || tree.leaves(0).map(|leaf| tree.depth(leaf));
        json!({
            "nodes": tree.len(),
            "leaves": tree.leaf_count(0),
            "min_depth": depths().min().unwrap_or(0),
            "max_depth": depths().max().unwrap_or(0),
            "missing": missing,
        })
        .to_string()
    }
}
