//! The extension module `setveil._setveil`: the library's workflows for
//! Python, and the command line.
//!
//! Nothing is computed here. Options come as JSON and become the library's
//! types, results go back as JSON, tables go both ways through Arrow's
//! PyCapsule interface. What users see is in `setveil/*.py`; a new workflow
//! is one function here and one there.

mod capsule;
mod checked;
mod columns;
mod command_line;
mod dataset;
mod errors;
mod hierarchy;
mod layout;
mod made_up;
mod parts;
mod plan;
mod release;
mod run;
mod tables;
mod workflows;

use pyo3::prelude::*;

/// The library's workflows, the command line, and nothing else.
#[pymodule]
mod _setveil {
    #[pymodule_export]
    use super::checked::{evaluate_chunks, in_chunks, verify_file, verify_files};
    #[pymodule_export]
    use super::columns::Table;
    #[pymodule_export]
    use super::command_line::{command_line, definition};
    #[pymodule_export]
    use super::dataset::Dataset;
    #[pymodule_export]
    use super::hierarchy::Hierarchy;
    #[pymodule_export]
    use super::made_up::{band, draw_sensitive, pharmacy, query_log, quest};
    #[pymodule_export]
    use super::parts::{
        check_parts, close_clusters, cluster_file, end_of_parts, join_part, join_rounds,
        open_terms, split_part,
    };
    #[pymodule_export]
    use super::plan::{Plan, Planner, Ranks};
    #[pymodule_export]
    use super::release::Release;
    #[pymodule_export]
    use super::run::Manner;
    #[pymodule_export]
    use super::workflows::{
        anonymize, anonymize_file, compare, measures, methods, misread, profile, recommend, verify,
    };
}
