//! The footer of a Parquet file: what fields it has, and what the decoder takes for them.

use std::mem::size_of;

use parquet::file::metadata::{ColumnChunkMetaData, KeyValue, RowGroupMetaData};

use super::walk::Field::{self, Is, Kept, Length, List, Of, Schema};
use super::walk::{BINARY, BYTE, DOUBLE, I16, I32, I64, Key, TRUE, Walk, Walked};
use crate::Progress;

/// What the decoder takes at its highest for a node of the schema, with its column of the table.
const NODE: usize = 640;
/// What it takes for the chunk of a column, without the texts in its statistics.
const CHUNK: usize = size_of::<ColumnChunkMetaData>() + 128;
const GROUP: usize = size_of::<RowGroupMetaData>() + 64;
const PAIR: usize = size_of::<KeyValue>() + 64;
/// What it takes for a number or another small thing.
const SMALL: usize = 16;

const FILE: &[(i16, Field)] = &[
    (1, Is(I32)),
    (2, Schema(&Of(SCHEMA_ELEMENT), NODE)),
    (3, Is(I64)),
    (4, List(&Of(ROW_GROUP), GROUP)),
    (5, List(&Of(KEY_VALUE), PAIR)),
    (6, Is(BINARY)),
    (7, List(&Of(COLUMN_ORDER), SMALL)),
    (8, Of(&[])),
    (9, Is(BINARY)),
];
const SCHEMA_ELEMENT: &[(i16, Field)] = &[
    (1, Is(I32)),
    (2, Is(I32)),
    (3, Is(I32)),
    (4, Length(Key::Name)),
    (5, Kept(Key::Children)),
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
    (1, List(&Of(COLUMN_CHUNK), CHUNK)),
    (2, Is(I64)),
    (3, Is(I64)),
    (4, List(&Of(&[(1, Is(I32)), (2, Is(TRUE)), (3, Is(TRUE))]), SMALL)),
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
    (2, List(&Is(I32), SMALL)),
    (3, List(&Is(BINARY), SMALL)),
    (4, Is(I32)),
    (5, Is(I64)),
    (6, Is(I64)),
    (7, Is(I64)),
    (8, List(&Of(KEY_VALUE), PAIR)),
    (9, Is(I64)),
    (10, Is(I64)),
    (11, Is(I64)),
    (12, Of(STATISTICS)),
    (13, List(&Of(&[(1, Is(I32)), (2, Is(I32)), (3, Is(I32))]), SMALL)),
    (14, Is(I64)),
    (15, Is(I32)),
    (16, Of(&[(1, Is(I64)), (2, List(&Is(I64), SMALL)), (3, List(&Is(I64), SMALL))])),
    (17, Of(&[(1, Of(BOX)), (2, List(&Is(I32), SMALL))])),
];
pub(super) const STATISTICS: &[(i16, Field)] = &[
    (1, Is(BINARY)),
    (2, Is(BINARY)),
    (3, Is(I64)),
    (4, Is(I64)),
    (5, Is(BINARY)),
    (6, Is(BINARY)),
    (7, Is(TRUE)),
    (8, Is(TRUE)),
    (9, Is(I64)),
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

/// Whether a footer is one, promises no more than is there, and what the decoder takes for it.
pub(super) fn memory(footer: &[u8], progress: &dyn Progress) -> Walked<u64> {
    let mut walk = Walk::new(footer, progress);
    walk.whole(FILE)?;
    // Texts are copied, and some stand in the table's columns, too.
    Ok(walk.taken.saturating_add(3 * footer.len() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_plausible(footer: &[u8]) -> bool {
        memory(footer, &()).is_ok()
    }

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
