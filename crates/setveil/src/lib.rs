//! Publish set-valued data (baskets, diagnosis codes, click-streams, query
//! logs) without exposing anyone in it.
//!
//! Data flows one way: a reader in [`io`] makes a [`Dataset`], a method in
//! [`methods`] makes a [`Release`], and [`io`] writes it. [`verify`] and
//! everything else on the recipient's side takes a release and cannot see the
//! original: the types make that impossible.
//!
//! ```
//! use setveil::{Dataset, data::{K, M}, methods::disassociation, verify};
//!
//! let data = Dataset::from_records([
//!     vec!["flu", "itunes"], vec!["flu", "itunes", "viagra"], vec!["flu", "itunes"],
//!     vec!["ikea", "ruby"], vec!["ikea", "ruby"], vec!["ikea"],
//! ]);
//! let parameters = disassociation::Parameters::new(K::new(2)?, M::new(2)?);
//! let release = disassociation::anonymize(&data, &parameters, &())?;
//! assert!(verify::verify(&release, &())?.holds);
//! # Ok::<(), setveil::Error>(())
//! ```
//!
//! # A guide
//!
//! **I have files.** [`workflow::files`] reads, works and writes, in an order
//! that leaves nothing half-made.
//!
//! **I have data in memory.** Make a [`Dataset`] from records and call the
//! functions of [`workflow`]: [`profile`](workflow::profile()) says how
//! identifying it is, [`anonymize`](workflow::anonymize()) makes a release,
//! [`verify`](workflow::verify()) checks it, [`attack`](workflow::attack())
//! says what is still learned and [`evaluate`](workflow::evaluate()) what it is
//! still good for. Options begin with `Default`; options and results are JSON
//! through `serde`. `examples/in_memory.rs` shows all of it.
//!
//! **I received a release.** [`workflow::verify()`], [`query::Index`] for
//! supports of itemsets with bounds, [`workflow::items()`] and
//! [`workflow::itemsets()`] for the most frequent ones, and
//! [`workflow::reconstruct()`] for data sets that ordinary tools can mine.
//!
//! **I want a bar, or a button that stops.** Long work takes a [`Progress`];
//! `&()` is nobody. Once it says stop, the work ends with
//! [`Error::Cancelled`] and nothing is written.
//!
//! **I add something.** A method is a folder in [`methods`] and a line in
//! [`Method`]; see `CONTRIBUTING.md`. Which part may use which is in
//! `ARCHITECTURE.md`, and a test.

#[macro_use]
mod setters;

pub mod attack;
pub mod budget;
pub mod caution;
pub mod chart;
pub mod data;
pub mod error;
pub mod generate;
pub mod inspect;
pub mod io;
pub mod measure;
pub mod methods;
pub mod mine;
pub mod profile;
pub mod progress;
pub mod query;
pub mod reconstruct;
pub mod release;
pub mod report;
pub mod risk;
pub mod verify;
pub mod workflow;
pub mod worlds;

pub use data::{Dataset, Hierarchy};
pub use error::Error;
pub use methods::Method;
pub use progress::{Progress, Stage};
pub use release::Release;

/// The result of everything in this library that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;
