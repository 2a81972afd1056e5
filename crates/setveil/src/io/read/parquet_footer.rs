//! A look at the footer of a Parquet file before the decoder gets it.
//!
//! A footer is Thrift in the compact protocol. The decoder goes by the numbers of fields: what it
//! expects there it reads, whatever type the file gives. So bytes can be made to mean one thing to
//! who reads them properly and another one to the decoder, and a list of truth values, which take no bytes where they
//! are skipped, keeps it busy for seconds. Here every field that the decoder knows must have its
//! type (parquet.thrift of the format's specification), every list must be there, and nobody
//! needs lists of truth values: then both read the same, in time linear in the footer.

use Field::{Is, List, Of};

/// The deepest nesting; real footers have six levels.
const DEEPEST: u32 = 64;

/// Types of the protocol. A truth value in a field is one of two types.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const STRUCT: u8 = 12;

/// What a field must be.
enum Field {
    /// A value of this type; of truth values, either.
    Is(u8),
    /// A structure.
    Of(&'static [(i16, Field)]),
    /// A list of such.
    List(&'static Field),
}

const FILE: &[(i16, Field)] = &[
    (1, Is(I32)),
    (2, List(&Of(SCHEMA_ELEMENT))),
    (3, Is(I64)),
    (4, List(&Of(ROW_GROUP))),
    (5, List(&Of(KEY_VALUE))),
    (6, Is(BINARY)),
    (7, List(&Of(COLUMN_ORDER))),
    (8, Of(&[])),
    (9, Is(BINARY)),
];
const SCHEMA_ELEMENT: &[(i16, Field)] = &[
    (1, Is(I32)),
    (2, Is(I32)),
    (3, Is(I32)),
    (4, Is(BINARY)),
    (5, Is(I32)),
    (6, Is(I32)),
    (7, Is(I32)),
    (8, Is(I32)),
    (9, Is(I32)),
    (10, Of(LOGICAL_TYPE)),
];
const LOGICAL_TYPE: &[(i16, Field)] = &[
    (1, Of(&[])),
    (2, Of(&[])),
    (3, Of(&[])),
    (4, Of(&[])),
    (5, Of(&[(1, Is(I32)), (2, Is(I32))])),
    (6, Of(&[])),
    (7, Of(TIME)),
    (8, Of(TIME)),
    (10, Of(&[(1, Is(BYTE)), (2, Is(TRUE))])),
    (11, Of(&[])),
    (12, Of(&[])),
    (13, Of(&[])),
    (14, Of(&[])),
    (15, Of(&[])),
    (16, Of(&[(1, Is(BYTE))])),
    (17, Of(&[(1, Is(BINARY))])),
    (18, Of(&[(1, Is(BINARY)), (2, Is(I32))])),
];
const TIME: &[(i16, Field)] =
    &[(1, Is(TRUE)), (2, Of(&[(1, Of(&[])), (2, Of(&[])), (3, Of(&[]))]))];
const COLUMN_ORDER: &[(i16, Field)] = &[(1, Of(&[])), (2, Of(&[]))];
const KEY_VALUE: &[(i16, Field)] = &[(1, Is(BINARY)), (2, Is(BINARY))];
const ROW_GROUP: &[(i16, Field)] = &[
    (1, List(&Of(COLUMN_CHUNK))),
    (2, Is(I64)),
    (3, Is(I64)),
    (4, List(&Of(&[(1, Is(I32)), (2, Is(TRUE)), (3, Is(TRUE))]))),
    (5, Is(I64)),
    (6, Is(I64)),
    (7, Is(I16)),
];
const COLUMN_CHUNK: &[(i16, Field)] = &[
    (1, Is(BINARY)),
    (2, Is(I64)),
    (3, Of(COLUMN)),
    (4, Is(I64)),
    (5, Is(I32)),
    (6, Is(I64)),
    (7, Is(I32)),
    (8, Of(&[])),
    (9, Is(BINARY)),
];
const COLUMN: &[(i16, Field)] = &[
    (1, Is(I32)),
    (2, List(&Is(I32))),
    (3, List(&Is(BINARY))),
    (4, Is(I32)),
    (5, Is(I64)),
    (6, Is(I64)),
    (7, Is(I64)),
    (8, List(&Of(KEY_VALUE))),
    (9, Is(I64)),
    (10, Is(I64)),
    (11, Is(I64)),
    (12, Of(STATISTICS)),
    (13, List(&Of(&[(1, Is(I32)), (2, Is(I32)), (3, Is(I32))]))),
    (14, Is(I64)),
    (15, Is(I32)),
    (16, Of(&[(1, Is(I64)), (2, List(&Is(I64))), (3, List(&Is(I64)))])),
    (17, Of(&[(1, Of(BOX)), (2, List(&Is(I32)))])),
];
const STATISTICS: &[(i16, Field)] = &[
    (1, Is(BINARY)),
    (2, Is(BINARY)),
    (3, Is(I64)),
    (4, Is(I64)),
    (5, Is(BINARY)),
    (6, Is(BINARY)),
    (7, Is(TRUE)),
    (8, Is(TRUE)),
];
const BOX: &[(i16, Field)] = &[
    (1, Is(DOUBLE)),
    (2, Is(DOUBLE)),
    (3, Is(DOUBLE)),
    (4, Is(DOUBLE)),
    (5, Is(DOUBLE)),
    (6, Is(DOUBLE)),
    (7, Is(DOUBLE)),
    (8, Is(DOUBLE)),
];

/// The length of the footer by the last eight bytes of a file, if they are
/// those of a Parquet file.
pub(super) fn length(end: [u8; 8]) -> Option<u64> {
    let [a, b, c, d, magic @ ..] = end;
    (&magic == b"PAR1").then(|| u32::from_le_bytes([a, b, c, d]).into())
}

/// Whether a footer is one, and promises no more than is there.
pub(super) fn is_plausible(footer: &[u8]) -> bool {
    Walk { rest: footer }.structure(FILE, 0).is_some()
}

/// What is left to read. None: it is no footer.
struct Walk<'a> {
    rest: &'a [u8],
}

impl Walk<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn skip(&mut self, bytes: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }

    fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// Fields until one of type 0. A field has its type in the low half of a byte, and in the high one how much
    /// greater its number is than the one before; if that is 0, the number follows.
    fn structure(&mut self, fields: &[(i16, Field)], depth: u32) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        let mut number = 0i16;
        loop {
            let head = self.byte()?;
            let kind = head & 0x0f;
            if kind == 0 {
                return Some(());
            }
            number = match head >> 4 {
                0 => {
                    let zigzag = self.number()?;
                    i16::try_from((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64)).ok()?
                }
                more => number.checked_add(more.into())?,
            };
            match fields.iter().find(|(n, _)| *n == number) {
                Some((_, field)) => self.known(field, kind, depth)?,
                None => self.value(kind, depth)?,
            }
        }
    }

    /// A field that the decoder reads as what it must be.
    fn known(&mut self, field: &Field, kind: u8, depth: u32) -> Option<()> {
        match field {
            Is(TRUE) if kind == FALSE => Some(()),
            Is(must) if kind == *must => self.value(kind, depth),
            Of(fields) if kind == STRUCT => self.structure(fields, depth + 1),
            List(element) if kind == 9 => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| self.known(element, kind, depth + 1))
            }
            _ => None,
        }
    }

    /// A field that the decoder skips.
    fn value(&mut self, kind: u8, depth: u32) -> Option<()> {
        match kind {
            TRUE | FALSE => Some(()),
            BYTE => self.skip(1),
            I16 | I32 | I64 => self.number().map(drop),
            DOUBLE => self.skip(8),
            BINARY => {
                let length = self.number()?;
                self.skip(length)
            }
            9 | 10 => {
                let (count, kind) = self.list()?;
                self.elements(count, &[kind], depth + 1)
            }
            11 => {
                let count = self.number()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                self.elements(count, &[kinds >> 4, kinds & 0x0f], depth + 1)
            }
            STRUCT => self.structure(&[], depth + 1),
            13 => self.skip(16),
            _ => None,
        }
    }

    /// How many elements a list has, and their type.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
        (count <= self.rest.len() as u64).then_some((count, head & 0x0f))
    }

    fn elements(&mut self, count: u64, kinds: &[u8], depth: u32) -> Option<()> {
        let nothing = kinds.iter().any(|kind| [TRUE, FALSE].contains(kind));
        if count > 0 && nothing || count > self.rest.len() as u64 || depth > DEEPEST {
            return None;
        }
        (0..count).try_for_each(|_| kinds.iter().try_for_each(|&kind| self.value(kind, depth)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_without_bytes_are_refused() {
        // Field 3 and an unknown one, a list of numbers: three that are there, two thousand million that are not.
        assert!(is_plausible(&[0x36, 2, 0xa9, 0x35, 1, 2, 1, 0]));
        assert!(!is_plausible(&[0x36, 2, 0xa9, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x07, 0]));
        assert!(!is_plausible(&[0xab, 0xff, 0xff, 0x03, 0x55, 0]));
        // Truth values take no bytes.
        assert!(is_plausible(&[0xa9, 0x01, 0]) && !is_plausible(&[0xa9, 0x31, 1, 2, 1, 0]));
        assert!(!is_plausible(&[0xab, 1, 0x51, 1, 1, 0]));
        // Structures in structures without end; an early end.
        assert!(!is_plausible(&[0xac; 4000]) && !is_plausible(&[]) && !is_plausible(&[0x18, 9]));
        assert_eq!(length(*b"\x05\x01\0\0PAR1"), Some(261));
        assert_eq!(length(*b"\x05\x01\0\0PAR2"), None);
    }

    #[test]
    fn fields_that_the_decoder_knows_have_their_types() {
        // Field 1 is a number: a text there would be read as one.
        assert!(is_plausible(&[0x15, 2, 0]) && !is_plausible(&[0x18, 1, b'a', 0]));
        // Field 2, one element of the schema, whose field 4 is a text; its field 10 a logical type.
        assert!(is_plausible(&[0x29, 0x1c, 0x48, 1, b'a', 0, 0]));
        assert!(!is_plausible(&[0x29, 0x1c, 0x45, 1, 0, 0]) && !is_plausible(&[0x29, 0x15, 1, 0]));
        assert!(is_plausible(&[0x29, 0x1c, 0xac, 0x7c, 0x12, 0, 0, 0, 0]));
        // A number of a field that is written out: 2, and one that is too large.
        assert!(
            is_plausible(&[0x09, 4, 0x0c, 0]) && !is_plausible(&[0x05, 0xff, 0xff, 0x7f, 1, 0])
        );
    }
}
