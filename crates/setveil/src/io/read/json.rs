//! One big JSON array of records: arrays of items, or objects with a list in
//! the field that the option `item` names.
//!
//! The array is read as a stream, whatever its line ends. A file that begins
//! with a record instead is JSON Lines. Unlike there, nothing can be skipped:
//! behind an error nobody knows where the next record begins.

use std::fmt;
use std::io::BufReader;

use serde::Deserializer;
use serde::de::{Error as _, SeqAccess, Visitor};

use super::Job;
use super::jsonl::{Jsonl, RecordSeed};
use super::source::Source;
use super::stopping::{Meter, Metered, read_error};
use crate::data::{Block, LongTable};
use crate::{Error, Result};

/// Whether a text that begins like this is an array of records.
pub(super) fn is_array_of_records(head: &[u8]) -> bool {
    let mut shown = head.iter().filter(|b| !b.is_ascii_whitespace());
    shown.next() == Some(&b'[') && matches!(shown.next(), Some(b'[' | b'{'))
}

/// Reads all records of `source`.
pub(super) fn read(source: Source, job: &mut Job) -> Result<()> {
    let format = Jsonl { item: job.options.item.as_deref() };
    let (stream, meter) = Metered::new(source.into_reader(), job.budget.line());
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(stream));
    let (mut block, mut failed) = (Block::default(), None);
    let records =
        Records { block: &mut block, field: format.item, meter: &meter, job, failed: &mut failed };
    let read = json.deserialize_seq(records).and_then(|()| json.end());
    if let Some(error) = failed {
        return Err(error);
    }
    match read {
        Ok(()) => job.add(block),
        Err(e) if e.is_io() => Err(read_error(&job.name, e.into())),
        Err(e) => Err(job.error(Some(e.line() as u64), format.bad(&e))),
    }
}

/// Expects an array of records.
struct Records<'a, 'j> {
    block: &'a mut Block,
    field: Option<&'a str>,
    meter: &'a Meter,
    job: &'a mut Job<'j>,
    /// An error that JSON's cannot carry.
    failed: &'a mut Option<Error>,
}

impl<'de> Visitor<'de> for Records<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an array of records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut records = 0u64;
        loop {
            let seed = RecordSeed { block: &mut *self.block, field: self.field };
            if list.next_element_seed(seed)?.is_none() {
                return Ok(());
            }
            self.block.end_record();
            self.meter.record_ended();
            records += 1;
            let relieved = self.job.relieve(self.block, &mut LongTable::default());
            let checked =
                relieved.and_then(|()| self.job.check_rows(records, || self.block.bytes()));
            if let Err(error) = checked {
                *self.failed = Some(error);
                return Err(A::Error::custom("too large"));
            }
        }
    }
}
