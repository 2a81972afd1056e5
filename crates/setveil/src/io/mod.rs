//! The only module that touches files: readers of data sets, the release
//! directory, hierarchies, receipts, made-up data.

mod disk;
mod earlier;
mod export;
#[cfg(test)]
mod faults;
#[cfg(feature = "arrow")]
mod flat;
mod hierarchy;
mod items;
mod json;
mod keep;
mod new_file;
mod read;
mod receipt;
mod release;
mod room;
mod shelves;
mod sorting;
mod spool;
mod table;
mod temporary;
mod wordnet;
mod write;

pub use earlier::{Earlier, data_sha256, earlier_releases, spooled_sha256};
pub use export::{ExportFormat, write_dataset, write_datasets};
#[cfg(feature = "arrow")]
pub use flat::{FlatFormat, write_tables};
pub use hierarchy::{parse_hierarchy, read_hierarchy, write_hierarchy};
pub use items::read_items;
pub use keep::read_keep;
pub use new_file::{NewFile, check_file, write_file};
pub use read::{
    Assumption, Encoding, Format, Input, LeftOut, Preview, PreviewColumn, ReadOptions,
    parse_dataset, read_dataset, read_dataset_from, spool_dataset, spool_dataset_from,
};
pub use receipt::{Receipt, check_receipt, day};
#[cfg(feature = "arrow")]
pub use release::ReleaseBatches;
pub use release::{
    ClusterBlock, ClusterBlocks, ClusterWriter, DirectorySink, DirectorySource, FileFault,
    MemoryRelease, OpenedRelease, ReleaseSink, ReleaseSource, check_target, end_release,
    open_release, open_release_from, read_explained, read_listed, read_manifest_bytes,
    read_release, read_release_from, write_release, write_release_in_files, write_release_to,
};
pub(crate) use shelves::SHELF;
pub use shelves::{DiskShelf, DiskShelves};
pub use sorting::Sorter;
pub use spool::Spooled;
pub use table::{Column, Table, TableFormat, itemset_text, write_table};
pub use temporary::{StalePartial, remove_temporary, stale_partials};
pub use wordnet::read_wordnet;
pub use write::{write_query_log, write_quest};
