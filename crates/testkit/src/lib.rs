//! What the tests share: where real data is, random data, writers of every
//! input format, what the fuzz targets run, and brute-force oracles and
//! saboteurs that share nothing with the code they test.

pub mod blind;
pub mod blind_naive;
pub mod canonical;
pub mod cases;
pub mod choices;
pub mod diffpart;
pub mod enumeration;
pub mod format_guarantee;
pub mod formats;
pub mod fuzz;
pub mod generalization;
pub mod grouped;
pub mod hostile;
pub mod inputs;
pub mod located;
pub mod lost;
pub mod made_parquet;
pub mod naive_measures;
pub mod possible;
pub mod problematic;
pub mod random;
pub mod real;
pub mod releases;
pub mod sabotage;
pub mod sabotage_generalized;
pub mod sabotage_located;
pub mod sabotage_safe;
pub mod settings;
pub mod tables;
pub mod traps;
pub mod worlds;
