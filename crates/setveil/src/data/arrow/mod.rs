//! Data sets from Arrow: streams of record batches with a column of lists, a
//! long table (whose row it is, and the item), or a wide one (an id, and
//! items in all other columns).
//!
//! Items are texts or whole numbers in any of Arrow's forms, plain, in a
//! dictionary, or in lists of either. A text is copied when it is seen for
//! the first time and never again; of a dictionary each value is looked up
//! once a batch. Slices are read as slices.

mod cells;
mod layout;

use arrow_array::{RecordBatch, RecordBatchReader};

use super::{Assembly, Block, Dataset, Dropped, LongTable};
use crate::error::{Bad, Hint, Setting};
use crate::{Error, Progress, Result, Stage};

use cells::{Cell, Cells, Lists};
pub(crate) use layout::Layout;

/// Rows between two questions whether to go on.
const STRIDE: usize = 1 << 12;

/// Which columns to read, and what to do about holes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArrowOptions {
    /// The column that says whose row it is: a long or a wide table.
    pub id: Option<String>,
    /// The column with the item (with `id`), or with the list of items.
    pub item: Option<String>,
    /// The columns of a wide table that hold items; by default all but `id`.
    pub items: Option<Vec<String>>,
    /// What a missing item is.
    pub nulls: Nulls,
    /// Leave out rows that cannot be read, and count them.
    pub skip_bad_rows: bool,
}

setters!(ArrowOptions {
    /// The column that says whose row it is: a long or a wide table.
    id: Option<String>,
    /// The column with the item (with `id`), or with the list of items.
    item: Option<String>,
    /// The columns of a wide table that hold items; by default all but `id`.
    items: Option<Vec<String>>,
    /// What a missing item is.
    nulls: Nulls,
    /// Leave out rows that cannot be read, and count them.
    skip_bad_rows: bool,
});

/// What a missing item (a null) of a list or a long table is. A missing list
/// is an empty record, a missing id always a bad row, and an empty cell of a
/// wide table is always left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nulls {
    /// A bad row.
    #[default]
    Refuse,
    /// Left out, and counted as a blank item.
    LeaveOut,
}

/// A data set, and what was left out of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct ArrowInput {
    /// The data.
    pub dataset: Dataset,
    /// Duplicates, blank and missing items, empty records.
    pub dropped: Dropped,
    /// Rows that were left out because they could not be read.
    pub skipped_rows: u64,
}

impl Dataset {
    /// Reads a stream of record batches.
    ///
    /// With `id` and `item` it is a long table, with `item` alone a column of
    /// lists, with neither the only column of lists, and with `id` alone (or
    /// with `items`) a wide table.
    ///
    /// # Complexity
    /// One pass; every cell is looked up once, a dictionary's value once a batch.
    pub fn from_arrow(
        batches: impl RecordBatchReader,
        options: &ArrowOptions,
        progress: &dyn Progress,
    ) -> Result<ArrowInput> {
        let table = |row, bad: Bad| Error::Table { row, found: bad.found, hint: bad.hint };
        let layout = Layout::find(&batches.schema(), options).map_err(|bad| table(None, bad))?;
        progress.stage(Stage::Reading, None);
        let mut filler = Filler::new(layout, options.clone());
        for batch in batches {
            let hint = "the stream of record batches ended with an error";
            let batch = batch.map_err(|e| table(None, Bad::new(e.to_string(), hint)))?;
            filler.add(&batch, progress)?;
        }
        let (block, table, skipped_rows) = filler.into_parts();
        let block = table.map_or(Ok(block), |table| table.into_block(progress))?;
        let mut assembly = Assembly::default();
        assembly.add(block)?;
        let (dataset, dropped) = assembly.finish(progress)?;
        Ok(ArrowInput { dataset, dropped, skipped_rows })
    }
}

/// Takes batches of one layout.
pub(crate) struct Filler {
    layout: Layout,
    options: ArrowOptions,
    table: LongTable,
    block: Block,
    rows: u64,
    skipped: u64,
}

impl Filler {
    pub(crate) fn new(layout: Layout, options: ArrowOptions) -> Self {
        let (table, block) = (LongTable::default(), Block::default());
        Self { layout, options, table, block, rows: 0, skipped: 0 }
    }

    /// Reads the rows of `batch`.
    pub(crate) fn add(&mut self, batch: &RecordBatch, progress: &dyn Progress) -> Result<()> {
        let before = self.rows;
        let mut reader = Reader::new(&self.layout, batch).map_err(|bad| Error::Table {
            row: None,
            found: bad.found,
            hint: bad.hint,
        })?;
        for row in 0..batch.num_rows() {
            if row % STRIDE == 0 {
                progress.step(0)?;
            }
            let read = match &mut reader {
                Reader::Lists(lists) => list_row(lists, row, self.options.nulls, &mut self.block),
                Reader::Long(id, item) => {
                    long_row(id, item, row, self.options.nulls, &mut self.table)
                }
                Reader::Wide(id, items) => wide_row(id, items, row, &mut self.table),
                Reader::Rows(items) => items_row(items, row, &mut self.block),
            };
            match read {
                Ok(()) => {}
                Err(_) if self.options.skip_bad_rows => {
                    self.block.abandon_record();
                    self.skipped += 1;
                }
                Err(bad) => {
                    let row = Some(before + row as u64 + 1);
                    return Err(Error::Table { row, found: bad.found, hint: bad.hint });
                }
            }
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// The memory that making records of it will have taken at its highest.
    pub(crate) fn bytes(&self) -> u64 {
        self.table.bytes() + self.block.bytes()
    }

    /// The records and the rows of persons so far, for whoever takes them away.
    #[cfg(feature = "parquet")]
    pub(crate) fn filled(&mut self) -> (&mut Block, &mut LongTable) {
        (&mut self.block, &mut self.table)
    }

    /// The records, or the rows of persons where it is a table of these, and
    /// how many rows were left out.
    pub(crate) fn into_parts(self) -> (Block, Option<LongTable>, u64) {
        let persons = matches!(self.layout, Layout::Long(..) | Layout::Wide(..));
        (self.block, persons.then_some(self.table), self.skipped)
    }
}

/// The columns of one batch.
enum Reader<'a> {
    Lists(Lists<'a>),
    Long(Cells<'a>, Cells<'a>),
    Wide(Cells<'a>, Vec<Cells<'a>>),
    Rows(Vec<Cells<'a>>),
}

impl<'a> Reader<'a> {
    fn new(layout: &Layout, batch: &'a RecordBatch) -> Result<Self, Bad> {
        let cells = |c: usize| Cells::new(batch.column(c).as_ref());
        let all =
            |columns: &[usize]| columns.iter().map(|&c| cells(c)).collect::<Result<Vec<_>, _>>();
        Ok(match layout {
            Layout::Lists(list) => Self::Lists(Lists::new(batch.column(*list).as_ref())?),
            Layout::Long(id, item) => Self::Long(cells(*id)?, cells(*item)?),
            Layout::Wide(id, items) => Self::Wide(cells(*id)?, all(items)?),
            Layout::Rows(items) => Self::Rows(all(items)?),
        })
    }
}

fn null() -> Bad {
    let hint = Hint::of("fill it in, or add {}", &[Setting::SkipBadLines]);
    Bad::new("an empty cell (null)", hint)
}

fn list_row(lists: &mut Lists, row: usize, nulls: Nulls, block: &mut Block) -> Result<(), Bad> {
    // A missing list is a record without items.
    for at in lists.range(row) {
        match lists.cells.intern(at, block.labels())? {
            Cell::Item(id) => block.push_id(id),
            Cell::Null if nulls == Nulls::Refuse => return Err(null()),
            Cell::Null | Cell::Blank => block.blank(),
        }
    }
    block.end_record();
    Ok(())
}

fn person(id: &mut Cells, row: usize, table: &mut LongTable) -> Result<u32, Bad> {
    match id.intern(row, &mut table.persons)? {
        Cell::Item(person) => Ok(person),
        Cell::Null => Err(null()),
        Cell::Blank => {
            let hint = Hint::of("say whose row it is, or {}", &[Setting::SkipBadLines]);
            Err(Bad::new("the id is empty", hint))
        }
    }
}

fn long_row(
    id: &mut Cells,
    item: &mut Cells,
    row: usize,
    nulls: Nulls,
    table: &mut LongTable,
) -> Result<(), Bad> {
    // The item first: a row that is left out must not leave its person behind.
    if nulls == Nulls::Refuse && item.is_null(row) {
        return Err(null());
    }
    item.check(row)?;
    let person = person(id, row, table)?;
    wide_cell(person, item, row, table)
}

fn wide_row(
    id: &mut Cells,
    items: &mut [Cells],
    row: usize,
    table: &mut LongTable,
) -> Result<(), Bad> {
    for item in items.iter() {
        item.check(row)?;
    }
    let person = person(id, row, table)?;
    items.iter_mut().try_for_each(|item| wide_cell(person, item, row, table))
}

fn wide_cell(person: u32, item: &mut Cells, row: usize, table: &mut LongTable) -> Result<(), Bad> {
    match item.intern(row, &mut table.labels)? {
        Cell::Item(item) => table.push_row(person, item),
        Cell::Null | Cell::Blank => table.blank += 1,
    }
    Ok(())
}

fn items_row(items: &mut [Cells], row: usize, block: &mut Block) -> Result<(), Bad> {
    for item in items {
        match item.intern(row, block.labels())? {
            Cell::Item(id) => block.push_id(id),
            Cell::Null | Cell::Blank => block.blank(),
        }
    }
    block.end_record();
    Ok(())
}
