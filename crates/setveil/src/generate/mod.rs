//! Made-up data: market baskets, query logs, and a small sample to show.
//!
//! Everything is drawn from a seed with ChaCha, so the same parameters give
//! the same records on every machine. Nothing here writes: the records come
//! one after the other, whatever their number.

mod draw;
mod pharmacy;
mod query_log;
mod quest;

pub use pharmacy::pharmacy;
pub use query_log::{QueryLog, QueryLogParameters, QueryRow, query_text, query_time};
pub use quest::{Quest, QuestParameters};

/// The seed that is used where none is given.
pub const DEFAULT_SEED: u64 = 1;
