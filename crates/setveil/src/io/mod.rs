//! The only module that touches files: readers of data sets, the release
//! directory, hierarchies.

mod dataset;
mod hierarchy;
mod json;
mod release;

pub use dataset::{Format, Input, ReadOptions, read_dataset};
pub use hierarchy::{read_hierarchy, write_hierarchy};
pub use release::{
    FileFault, OpenedRelease, check_target, open_release, read_release, write_release,
};
