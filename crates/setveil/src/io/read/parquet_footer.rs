//! A look at the footer of a Parquet file before the decoder gets it.
//!
//! A footer is Thrift in the compact protocol. Lists in it say how many elements they
//! have, and the decoder believes that, even where no byte is left for them: a few hundred bytes
//! can keep it busy for minutes. Every element takes at least one byte, so a list
//! with more elements than bytes behind it is refused here. Linear in the footer.

/// The deepest nesting; real footers have six levels.
const DEEPEST: u32 = 64;

/// The length of the footer by the last eight bytes of a file, if they are
/// those of a Parquet file.
pub(super) fn length(end: [u8; 8]) -> Option<u64> {
    let [a, b, c, d, magic @ ..] = end;
    (&magic == b"PAR1").then(|| u32::from_le_bytes([a, b, c, d]).into())
}

/// Whether no list of a footer promises more than is there. What else is wrong
/// with it the decoder says.
pub(super) fn is_plausible(footer: &[u8]) -> bool {
    let mut walk = Walk { rest: footer };
    // What ends too early is the decoder's to refuse.
    !matches!(walk.structure(0), Err(Wrong::Endless))
}

enum Wrong {
    /// The bytes end.
    Short,
    /// Something has no end, or as good as none.
    Endless,
}

struct Walk<'a> {
    rest: &'a [u8],
}

impl Walk<'_> {
    fn byte(&mut self) -> Result<u8, Wrong> {
        let (&first, rest) = self.rest.split_first().ok_or(Wrong::Short)?;
        self.rest = rest;
        Ok(first)
    }

    fn skip(&mut self, bytes: u64) -> Result<(), Wrong> {
        let bytes = usize::try_from(bytes).map_err(|_| Wrong::Short)?;
        self.rest = self.rest.get(bytes..).ok_or(Wrong::Short)?;
        Ok(())
    }

    fn number(&mut self) -> Result<u64, Wrong> {
        let mut value = 0;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Wrong::Short)
    }

    /// Fields until one of type 0. A field has its type in the low half of a byte; if
    /// the high half is 0, its number follows.
    fn structure(&mut self, depth: u32) -> Result<(), Wrong> {
        if depth > DEEPEST {
            return Err(Wrong::Endless);
        }
        loop {
            let head = self.byte()?;
            if head & 0x0f == 0 {
                return Ok(());
            }
            if head >> 4 == 0 {
                self.number()?;
            }
            self.value(head & 0x0f, false, depth)?;
        }
    }

    /// A value of a type. A truth value is a byte in a list, and nothing in a field.
    fn value(&mut self, kind: u8, in_list: bool, depth: u32) -> Result<(), Wrong> {
        match kind {
            1 | 2 => self.skip(in_list.into()),
            3 => self.skip(1),
            4..=6 => self.number().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.number()?;
                self.skip(length)
            }
            9 | 10 => self.list(depth + 1),
            11 => self.map(depth + 1),
            12 => self.structure(depth + 1),
            _ => Err(Wrong::Short),
        }
    }

    fn elements(&mut self, count: u64, kinds: &[u8], depth: u32) -> Result<(), Wrong> {
        if count > self.rest.len() as u64 || depth > DEEPEST {
            return Err(Wrong::Endless);
        }
        for _ in 0..count {
            kinds.iter().try_for_each(|&kind| self.value(kind, true, depth))?;
        }
        Ok(())
    }

    fn list(&mut self, depth: u32) -> Result<(), Wrong> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
        self.elements(count, &[head & 0x0f], depth)
    }

    fn map(&mut self, depth: u32) -> Result<(), Wrong> {
        let count = self.number()?;
        if count == 0 {
            return Ok(());
        }
        let kinds = self.byte()?;
        self.elements(count, &[kinds >> 4, kinds & 0x0f], depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_without_bytes_are_refused() {
        // Field 1, a list of truth values: three that are there, two thousand million that are not.
        assert!(is_plausible(&[0x19, 0x31, 1, 2, 1, 0]));
        assert!(!is_plausible(&[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07, 0]));
        assert!(!is_plausible(&[0x1b, 0xff, 0xff, 0x03, 0x11, 0]));
        // Structures in structures without end; an unknown type and an early end are not ours.
        assert!(!is_plausible(&[0x1c; 4000]));
        assert!(is_plausible(&[0x1d, 0]) && is_plausible(&[]) && is_plausible(&[0x18, 9]));
        assert_eq!(length(*b"\x05\x01\0\0PAR1"), Some(261));
        assert_eq!(length(*b"\x05\x01\0\0PAR2"), None);
    }
}
