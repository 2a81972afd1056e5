//! One column of texts or whole numbers, whatever its form.

use std::borrow::Cow;
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, BinaryArray, BinaryViewArray, FixedSizeListArray, LargeBinaryArray, LargeListArray,
    LargeListViewArray, LargeStringArray, ListArray, ListViewArray, StringArray, StringViewArray,
};
use arrow_schema::DataType;

use super::super::{Interner, ItemId};
use crate::error::{Bad, Hint, Setting};

/// What a cell holds, white space around it aside.
pub(super) enum Cell {
    Null,
    Blank,
    Item(ItemId),
}

/// The cells of an array.
pub(super) struct Cells<'a> {
    array: &'a dyn Array,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Utf8(&'a StringArray),
    LargeUtf8(&'a LargeStringArray),
    Utf8View(&'a StringViewArray),
    Binary(&'a BinaryArray),
    LargeBinary(&'a LargeBinaryArray),
    BinaryView(&'a BinaryViewArray),
    Number,
    /// Every cell is null.
    Null,
    Dictionary {
        keys: Vec<usize>,
        values: Box<Cells<'a>>,
        /// The number of each value that has been seen.
        ids: Vec<Option<ItemId>>,
    },
}

impl<'a> Cells<'a> {
    pub(super) fn new(array: &'a dyn Array) -> Result<Self, Bad> {
        let kind = match array.data_type() {
            DataType::Utf8 => Kind::Utf8(array.as_string()),
            DataType::LargeUtf8 => Kind::LargeUtf8(array.as_string()),
            DataType::Utf8View => Kind::Utf8View(array.as_string_view()),
            DataType::Binary => Kind::Binary(array.as_binary()),
            DataType::LargeBinary => Kind::LargeBinary(array.as_binary()),
            DataType::BinaryView => Kind::BinaryView(array.as_binary_view()),
            DataType::Null => Kind::Null,
            kind if kind.is_integer() => Kind::Number,
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let values = Cells::new(dictionary.values().as_ref())?;
                let keys = match dictionary.values().len() {
                    0 => vec![0; array.len()],
                    _ => dictionary.normalized_keys(),
                };
                let ids = vec![None; dictionary.values().len()];
                Kind::Dictionary { keys, values: Box::new(values), ids }
            }
            other => return Err(wrong_type(other)),
        };
        Ok(Self { array, kind })
    }

    /// The number of the cell's text, new if it has not been seen.
    pub(super) fn intern(&mut self, row: usize, labels: &mut Interner) -> Result<Cell, Bad> {
        if self.array.is_null(row) {
            return Ok(Cell::Null);
        }
        if let Kind::Dictionary { keys, values, ids } = &mut self.kind {
            let key = keys[row];
            return match ids.get(key).copied().flatten() {
                Some(id) => Ok(Cell::Item(id)),
                None => {
                    let cell = values.intern(key, labels)?;
                    if let Cell::Item(id) = cell {
                        ids[key] = Some(id);
                    }
                    Ok(cell)
                }
            };
        }
        Ok(match self.text(row)? {
            None => Cell::Null,
            Some(text) => match text.trim() {
                "" => Cell::Blank,
                text => Cell::Item(labels.intern(text)),
            },
        })
    }

    /// Whether the cell is null, itself or in its dictionary.
    pub(super) fn is_null(&self, row: usize) -> bool {
        match &self.kind {
            Kind::Null => true,
            _ if self.array.is_null(row) => true,
            Kind::Dictionary { keys, values, .. } => values.is_null(keys[row]),
            _ => false,
        }
    }

    /// Fails if the cell holds bytes that are no text.
    pub(super) fn check(&self, row: usize) -> Result<(), Bad> {
        match &self.kind {
            _ if self.is_null(row) => Ok(()),
            Kind::Dictionary { keys, values, .. } => values.check(keys[row]),
            Kind::Binary(_) | Kind::LargeBinary(_) | Kind::BinaryView(_) => {
                self.text(row).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    fn text(&self, row: usize) -> Result<Option<Cow<'_, str>>, Bad> {
        let bytes = |bytes| std::str::from_utf8(bytes).map_err(|e| invalid(bytes, e));
        let text = match &self.kind {
            Kind::Utf8(texts) => texts.value(row),
            Kind::LargeUtf8(texts) => texts.value(row),
            Kind::Utf8View(texts) => texts.value(row),
            Kind::Binary(texts) => bytes(texts.value(row))?,
            Kind::LargeBinary(texts) => bytes(texts.value(row))?,
            Kind::BinaryView(texts) => bytes(texts.value(row))?,
            Kind::Number => return number(self.array, row).map(|n| Some(n.into())),
            Kind::Null | Kind::Dictionary { .. } => return Ok(None),
        };
        Ok(Some(text.into()))
    }
}

fn number(array: &dyn Array, row: usize) -> Result<String, Bad> {
    macro_rules! number {
        ($kind:ty) => {
            Ok(array.as_primitive::<$kind>().value(row).to_string())
        };
    }
    match array.data_type() {
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        other => Err(wrong_type(other)),
    }
}

fn wrong_type(kind: &DataType) -> Bad {
    Bad::new(format!("type {kind}"), "expected texts or whole numbers")
}

fn invalid(bytes: &[u8], error: std::str::Utf8Error) -> Bad {
    let at = error.valid_up_to();
    let found = format!("invalid UTF-8: byte 0x{:02x} in column {}", bytes[at], at + 1);
    Bad::new(found, Hint::of("write texts as UTF-8, or add {}", &[Setting::SkipBadLines]))
}

/// Lists of cells.
pub(super) struct Lists<'a> {
    array: &'a dyn Array,
    kind: ListKind<'a>,
    pub(super) cells: Cells<'a>,
}

enum ListKind<'a> {
    List(&'a ListArray),
    Large(&'a LargeListArray),
    View(&'a ListViewArray),
    LargeView(&'a LargeListViewArray),
    Fixed(&'a FixedSizeListArray),
}

impl<'a> Lists<'a> {
    pub(super) fn new(array: &'a dyn Array) -> Result<Self, Bad> {
        let (kind, values) = match array.data_type() {
            DataType::List(_) => {
                let lists: &ListArray = array.as_list();
                (ListKind::List(lists), lists.values())
            }
            DataType::LargeList(_) => {
                let lists: &LargeListArray = array.as_list();
                (ListKind::Large(lists), lists.values())
            }
            DataType::ListView(_) => {
                let lists: &ListViewArray = array.as_list_view();
                (ListKind::View(lists), lists.values())
            }
            DataType::LargeListView(_) => {
                let lists: &LargeListViewArray = array.as_list_view();
                (ListKind::LargeView(lists), lists.values())
            }
            DataType::FixedSizeList(..) => {
                let lists = array.as_fixed_size_list();
                (ListKind::Fixed(lists), lists.values())
            }
            other => return Err(wrong_type(other)),
        };
        Ok(Self { array, kind, cells: Cells::new(values.as_ref())? })
    }

    /// Where the items of a row stand in `cells`; nowhere for a missing list.
    pub(super) fn range(&self, row: usize) -> Range<usize> {
        if self.array.is_null(row) {
            return 0..0;
        }
        let (start, length) = match self.kind {
            ListKind::List(lists) => {
                (lists.value_offsets()[row] as usize, lists.value_length(row) as usize)
            }
            ListKind::Large(lists) => {
                (lists.value_offsets()[row] as usize, lists.value_length(row) as usize)
            }
            ListKind::View(lists) => {
                (lists.value_offset(row) as usize, lists.value_size(row) as usize)
            }
            ListKind::LargeView(lists) => {
                (lists.value_offset(row) as usize, lists.value_size(row) as usize)
            }
            ListKind::Fixed(lists) => (lists.value_offset_at(row), lists.value_length() as usize),
        };
        start..start + length
    }
}
