//! SPMF: one record a line, whole numbers separated by blanks, `-1` after
//! each itemset and `-2` at the end. A record is the union of its itemsets.
//!
//! Lines that start with `%` or `#` are comments and those with `@` say
//! something about the data; of these only `@ITEM=3=apple` matters, which
//! gives the item 3 its name (SPMF writes it below `@CONVERTED_FROM_TEXT`). A
//! line without any `-1` and `-2` is a plain record.

use std::collections::HashMap;
use std::sync::Mutex;

use super::lines::Lines;
use super::{Bad, Job};
use crate::data::Block;
use crate::error::{Hint, Setting};
use crate::{Progress, Result};

/// The format, with the names that were found so far.
#[derive(Default)]
pub(super) struct Spmf {
    names: Mutex<HashMap<String, String>>,
}

impl Spmf {
    /// Gives the items their names, after the last line.
    pub(super) fn rename(self, job: &mut Job, progress: &dyn Progress) -> Result<()> {
        let names = self.names.into_inner().expect("no panic while holding it");
        if names.is_empty() {
            return Ok(());
        }
        let name = |label: &str, push: &mut dyn FnMut(&str)| {
            push(names.get(label).map_or(label, String::as_str));
        };
        job.relabel(&name, progress)
    }

    fn name(&self, text: &str) -> Result<(), Bad> {
        let hint = "write it as `@ITEM=number=name`, once for an item";
        let Some((number, name)) = text.split_once('=') else {
            return Err(Bad::new(format!("`@ITEM={text}` has no name"), hint));
        };
        let (number, name) = (number.trim(), name.trim());
        if name.is_empty() {
            return Err(Bad::new(format!("item {number} has an empty name"), hint));
        }
        let mut names = self.names.lock().expect("no panic while holding it");
        match names.insert(number.to_owned(), name.to_owned()) {
            Some(other) if other != name => {
                // The smaller name is kept, so that no order of threads shows.
                let kept = name.min(&other).to_owned();
                names.insert(number.to_owned(), kept);
                Err(Bad::new(format!("item {number} has two names, `{name}` and `{other}`"), hint))
            }
            _ => Ok(()),
        }
    }
}

impl Lines for Spmf {
    fn line(&self, line: &str, block: &mut Block) -> Result<(), Bad> {
        match line.as_bytes().first() {
            Some(b'@') => return line.strip_prefix("@ITEM=").map_or(Ok(()), |t| self.name(t)),
            Some(b'%' | b'#') => return Ok(()),
            _ => {}
        }
        let (mut itemsets, mut ended) = (false, false);
        for field in line.split_ascii_whitespace() {
            if ended {
                return Err(Bad::new(
                    format!("`{field}` after the `-2`"),
                    "end the line with `-2`",
                ));
            }
            match field {
                "-1" => itemsets = true,
                "-2" => ended = true,
                number if number.bytes().all(|b| b.is_ascii_digit()) => block.push(number),
                other => {
                    return Err(Bad::new(
                        format!("`{other}` is not a whole number"),
                        Hint::of(
                            "SPMF items are numbers, named by `@ITEM=number=name`; \
                             for plain words use {} fimi",
                            &[Setting::Format],
                        ),
                    ));
                }
            }
        }
        if itemsets && !ended {
            return Err(Bad::new("the line does not end in `-2`", "it may have been cut off"));
        }
        block.end_record();
        Ok(())
    }
}
