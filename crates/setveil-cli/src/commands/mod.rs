//! One file a command: read the arguments, call the library, answer.

pub mod anonymize;
pub mod attack;
pub mod band;
pub mod compare;
pub mod completions;
pub mod demo;
pub mod evaluate;
pub mod export;
pub mod generate;
pub mod hierarchy;
pub mod items;
pub mod itemsets;
pub mod man;
pub mod profile;
pub mod query;
pub mod recommend;
pub mod reconstruct;
pub mod report;
pub mod serve;
pub mod verify;
