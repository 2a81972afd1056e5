//! What comes in: interned items, records as one flat array, hierarchies, and
//! parameters that cannot be built when they are invalid.

#[cfg(feature = "arrow")]
mod arrow;
mod assembly;
mod block;
mod csr;
mod dataset;
pub mod hierarchy;
mod interner;
mod keep;
pub mod limits;
mod long;
mod params;
mod relabel;
mod shelf;
mod vocabulary;
mod wordnet;

#[cfg(feature = "arrow")]
pub use arrow::{ArrowInput, ArrowOptions, Nulls};
#[cfg(feature = "parquet")]
pub(crate) use arrow::{Filler, Layout};
pub(crate) use assembly::Assembly;
pub(crate) use block::Block;
pub(crate) use dataset::touch;
pub use dataset::{Dataset, DatasetBuilder, Dropped};
pub use hierarchy::Hierarchy;
pub use interner::Interner;
pub(crate) use interner::prefix;
pub(crate) use keep::Wanted;
pub use keep::{Keep, KeepSet};
pub(crate) use long::LongTable;
pub use params::{Alpha, Epsilon, K, L, M, P};
pub(crate) use relabel::{Change, Respelling};
pub(crate) use shelf::damaged;
pub use shelf::{InMemory, Shelf, Shelves};
pub use vocabulary::{ItemId, Vocabulary};
pub use wordnet::{BadLine, Nouns};
