//! The command that makes a release with given parameters.

use serde_json::{Map, Value};

use crate::Method;
use crate::release::{Model, Universe};

/// The command line for `method`; `data`, `output` and files that have to be
/// given are names to be filled in.
pub fn command(method: &Method, data: &str, output: &str) -> String {
    let parameters = match serde_json::to_value(method) {
        Ok(Value::Object(mut whole)) => whole.remove("parameters"),
        _ => None,
    };
    let parameters = match parameters {
        Some(Value::Object(parameters)) => parameters,
        _ => Map::new(),
    };
    let mut words = vec!["setveil anonymize".to_owned(), method.name().to_owned(), data.to_owned()];
    for (name, value) in &parameters {
        words.extend(flag(name, value));
    }
    let model = method.guarantee().model;
    if matches!(model, Model::DifferentialPrivacy { universe: Universe::Data, .. }) {
        words.push("--universe-from-data".to_owned());
    } else if method.needs_hierarchy() {
        words.push("--hierarchy HIERARCHY.csv".to_owned());
    }
    words.push(format!("-o {output}"));
    words.join(" ")
}

/// One parameter as a flag; none if the flag is left out for this value.
fn flag(name: &str, value: &Value) -> Option<String> {
    let long = name.replace('_', "-");
    match (name, value) {
        ("sensitive", Value::Array(items)) if items.is_empty() => None,
        ("sensitive", _) => Some("--sensitive SENSITIVE.txt".to_owned()),
        ("refine", Value::Bool(true)) => None,
        ("refine", _) => Some("--no-refine".to_owned()),
        ("grouping", Value::String(text)) => (text == "as-printed").then(|| "--as-printed".into()),
        (_, Value::Bool(set)) => set.then(|| format!("--{long}")),
        (_, Value::Null) => None,
        (_, value) => {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let dashes = if name.len() == 1 { "-" } else { "--" };
            Some(format!("{dashes}{long} {text}"))
        }
    }
}
