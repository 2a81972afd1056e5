//! The examples run, and end well; `parts.rs` runs the other one.

#[path = "../../examples/in_memory.rs"]
mod in_memory;

#[test]
fn in_memory_runs() {
    in_memory::main().unwrap();
}
