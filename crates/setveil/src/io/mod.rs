//! The only module that touches files: readers of data sets, the release
//! directory, hierarchies, receipts, made-up data.

mod export;
mod hierarchy;
mod items;
mod json;
mod new_file;
mod read;
mod receipt;
mod release;
mod wordnet;
mod write;

pub use export::{ExportFormat, write_dataset, write_datasets};
pub use hierarchy::{read_hierarchy, write_hierarchy};
pub use items::read_items;
pub use new_file::{check_file, write_file};
pub use read::{
    Assumption, Encoding, Format, Input, LeftOut, Preview, ReadOptions, default_memory,
    parse_dataset, read_dataset, read_dataset_from,
};
pub use receipt::{Receipt, check_receipt};
pub use release::{
    FileFault, OpenedRelease, check_target, open_release, read_listed, read_release, write_release,
};
pub use wordnet::read_wordnet;
pub use write::{write_query_log, write_quest};
