//! The only module that touches files: readers of data sets, the release
//! directory, hierarchies.

mod hierarchy;
mod json;
mod read;
mod release;

pub use hierarchy::{read_hierarchy, write_hierarchy};
pub use read::{Format, Input, ReadOptions, parse_dataset, read_dataset};
pub use release::{
    FileFault, OpenedRelease, check_target, open_release, read_release, write_release,
};
