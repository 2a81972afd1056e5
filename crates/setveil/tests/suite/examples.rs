//! The examples run, and end well.

#[path = "../../examples/in_memory.rs"]
mod in_memory;

#[test]
fn in_memory_runs() {
    in_memory::main().unwrap();
}
