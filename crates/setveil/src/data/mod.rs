//! What comes in: interned items, records as one flat array, hierarchies, and
//! parameters that cannot be built when they are invalid.

mod assembly;
mod dataset;
pub mod hierarchy;
mod interner;
mod params;
mod vocabulary;
mod wordnet;

pub(crate) use assembly::{Assembly, Block};
pub(crate) use dataset::touch;
pub use dataset::{Dataset, DatasetBuilder, Dropped};
pub use hierarchy::Hierarchy;
pub use interner::Interner;
pub use params::{Alpha, Epsilon, K, L, M, P};
pub use vocabulary::{ItemId, Vocabulary};
pub use wordnet::{BadLine, Nouns};
