//! A look at what a Parquet file says about itself before the decoder gets it.
//!
//! It is Thrift in the compact protocol. The decoder goes by the numbers of fields: what it
//! expects there it reads, whatever type the file gives. So bytes can be made to mean one thing to
//! who reads them properly and another one to the decoder, and a list of truth values, which take no bytes where they
//! are skipped, keeps it busy for hours. Here every field that the decoder knows must have its
//! type (parquet.thrift of the format's specification), every list must be there, and nobody
//! needs lists of truth values: then both read the same, in time linear in the bytes.

use parquet::errors::ParquetError;

use super::schema::Tree;
use crate::progress::Pulse;
use crate::{Error, Progress};

/// The deepest nesting; real files have six levels.
const DEEPEST: u32 = 64;

/// Types of the protocol. A truth value in a field is one of two types.
pub(super) const TRUE: u8 = 1;
const FALSE: u8 = 2;
pub(super) const BYTE: u8 = 3;
pub(super) const I16: u8 = 4;
pub(super) const I32: u8 = 5;
pub(super) const I64: u8 = 6;
pub(super) const DOUBLE: u8 = 7;
pub(super) const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// What a field must be.
pub(super) enum Field {
    /// A value of this type; of truth values, either.
    Is(u8),
    /// A number of 32 bits that is wanted afterwards.
    Kept(Key),
    /// A text whose length is wanted afterwards.
    Length(Key),
    /// A structure.
    Of(&'static [(i16, Field)]),
    /// A list of such, and the bytes that the decoder takes for one of them.
    List(&'static Field, usize),
    /// The list of the nodes of the schema.
    Schema(&'static Field, usize),
}

/// A value that is wanted afterwards.
#[derive(Clone, Copy)]
pub(super) enum Key {
    Name,
    Children,
    Kind,
    Uncompressed,
    Compressed,
    Values,
    ValuesV2,
    DictionaryValues,
    Encoding,
    EncodingV2,
}

/// The values that are wanted; as with the decoder, the last one counts.
#[derive(Default)]
pub(super) struct Kept([Option<i32>; 10]);

impl Kept {
    pub(super) fn get(&self, key: Key) -> Option<i32> {
        self.0[key as usize]
    }

    /// A number that cannot be negative.
    pub(super) fn size(&self, key: Key) -> Option<u64> {
        self.get(key).and_then(|size| u64::try_from(size).ok())
    }
}

/// Why a walk ends early.
pub(super) enum Stop {
    /// What is there is not what it must be.
    Wrong,
    /// It cannot be read.
    Unread(ParquetError),
    /// The caller said stop, or there is no memory.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

pub(super) type Walked<T = ()> = Result<T, Stop>;

/// Bytes one after the other.
pub(super) trait Bytes {
    fn byte(&mut self) -> Walked<u8>;
    /// Leaves out `bytes` bytes, which must be there.
    fn skip(&mut self, bytes: u64) -> Walked;
    fn left(&self) -> u64;
}

impl Bytes for &[u8] {
    fn byte(&mut self) -> Walked<u8> {
        let (&first, rest) = self.split_first().ok_or(Stop::Wrong)?;
        *self = rest;
        Ok(first)
    }

    fn skip(&mut self, bytes: u64) -> Walked {
        let bytes = usize::try_from(bytes).map_err(|_| Stop::Wrong)?;
        *self = self.get(bytes..).ok_or(Stop::Wrong)?;
        Ok(())
    }

    fn left(&self) -> u64 {
        self.len() as u64
    }
}

/// The walk over `bytes`.
pub(super) struct Walk<'p, B> {
    pub(super) bytes: B,
    pub(super) kept: Kept,
    /// The bytes that the decoder takes for what was seen.
    pub(super) taken: u64,
    pulse: Pulse<'p>,
}

impl<'p, B: Bytes> Walk<'p, B> {
    pub(super) fn new(bytes: B, progress: &'p dyn Progress) -> Self {
        Self { bytes, kept: Kept::default(), taken: 0, pulse: Pulse::new(progress) }
    }

    /// The structure that begins here.
    pub(super) fn whole(&mut self, fields: &[(i16, Field)]) -> Walked {
        self.structure(fields, 0)
    }

    fn number(&mut self) -> Walked<u64> {
        let mut value = 0;
        for shift in (0..70).step_by(7) {
            let byte = self.bytes.byte()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Stop::Wrong)
    }

    /// A number that may be negative and must be one of type `T`.
    fn signed<T: TryFrom<i64>>(&mut self) -> Walked<T> {
        let zigzag = self.number()?;
        T::try_from((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64)).map_err(|_| Stop::Wrong)
    }

    /// Fields until one of type 0. A field has its type in the low half of a byte, and in the high one how much
    /// greater its number is than the one before; if that is 0, the number follows.
    fn structure(&mut self, fields: &[(i16, Field)], depth: u32) -> Walked {
        if depth > DEEPEST {
            return Err(Stop::Wrong);
        }
        let mut number = 0i16;
        loop {
            self.pulse.work(1)?;
            let head = self.bytes.byte()?;
            let kind = head & 0x0f;
            if kind == 0 {
                return Ok(());
            }
            number = match head >> 4 {
                0 => self.signed()?,
                more => number.checked_add(more.into()).ok_or(Stop::Wrong)?,
            };
            match fields.iter().find(|(n, _)| *n == number) {
                Some((_, field)) => self.known(field, kind, depth)?,
                None => self.value(kind, depth)?,
            }
        }
    }

    /// A field that the decoder reads as what it must be.
    fn known(&mut self, field: &Field, kind: u8, depth: u32) -> Walked {
        match field {
            Field::Is(TRUE) if kind == FALSE => Ok(()),
            Field::Is(must) if kind == *must => self.value(kind, depth),
            Field::Kept(key) if kind == I32 => {
                self.kept.0[*key as usize] = Some(self.signed()?);
                Ok(())
            }
            Field::Length(key) if kind == BINARY => {
                let length = self.number()?;
                self.kept.0[*key as usize] = Some(i32::try_from(length).map_err(|_| Stop::Wrong)?);
                self.bytes.skip(length)
            }
            Field::Of(fields) if kind == STRUCT => self.structure(fields, depth + 1),
            Field::List(element, each) if kind == LIST => {
                let (count, kind) = self.list()?;
                self.take(count, *each);
                (0..count).try_for_each(|_| self.known(element, kind, depth + 1))
            }
            Field::Schema(element, each) if kind == LIST => self.schema(element, *each, depth),
            _ => Err(Stop::Wrong),
        }
    }

    /// The nodes of the schema, each with what is below it.
    fn schema(&mut self, element: &Field, each: usize, depth: u32) -> Walked {
        let (count, kind) = self.list()?;
        self.take(count, each);
        let mut tree = Tree::default();
        for more in (0..count).rev() {
            self.kept = Kept::default();
            self.known(element, kind, depth + 1)?;
            let children = self.kept.get(Key::Children).unwrap_or(0);
            let name = self.kept.size(Key::Name).unwrap_or(0);
            let path = tree.add(children, name, more).ok_or(Stop::Wrong)?;
            self.taken = self.taken.saturating_add(path);
        }
        Ok(())
    }

    fn take(&mut self, count: u64, each: usize) {
        self.taken = self.taken.saturating_add(count.saturating_mul(each as u64));
    }

    /// A field that the decoder skips.
    fn value(&mut self, kind: u8, depth: u32) -> Walked {
        self.pulse.work(1)?;
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.bytes.skip(1),
            I16 | I32 | I64 => self.number().map(drop),
            DOUBLE => self.bytes.skip(8),
            BINARY => {
                let length = self.number()?;
                self.bytes.skip(length)
            }
            LIST | 10 => {
                let (count, kind) = self.list()?;
                self.elements(count, &[kind], depth + 1)
            }
            11 => {
                let count = self.number()?;
                let kinds = if count > 0 { self.bytes.byte()? } else { 0 };
                self.elements(count, &[kinds >> 4, kinds & 0x0f], depth + 1)
            }
            STRUCT => self.structure(&[], depth + 1),
            13 => self.bytes.skip(16),
            _ => Err(Stop::Wrong),
        }
    }

    /// How many elements a list has, and their type.
    fn list(&mut self) -> Walked<(u64, u8)> {
        let head = self.bytes.byte()?;
        let count = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
        if count > self.bytes.left() { Err(Stop::Wrong) } else { Ok((count, head & 0x0f)) }
    }

    fn elements(&mut self, count: u64, kinds: &[u8], depth: u32) -> Walked {
        let nothing = kinds.iter().any(|kind| [TRUE, FALSE].contains(kind));
        if count > 0 && nothing || count > self.bytes.left() || depth > DEEPEST {
            return Err(Stop::Wrong);
        }
        (0..count).try_for_each(|_| kinds.iter().try_for_each(|&kind| self.value(kind, depth)))
    }
}
