//! FIMI: one record a line, items separated by blanks.
//!
//! Every character up to the space, control characters included, separates;
//! a line end ends the record.

use super::Bad;
use super::lines::Lines;
use crate::data::Block;

/// The format of the frequent itemset mining repository.
pub(super) struct Fimi;

impl Lines for Fimi {
    fn line(&self, line: &str, block: &mut Block) -> Result<(), Bad> {
        if fields(line, block) == 0 {
            block.end_record();
        }
        Ok(())
    }

    fn fields(&self, line: &str) -> Option<Vec<String>> {
        let fields = line.split(|c: char| c <= ' ').filter(|field| !field.is_empty());
        Some(fields.map(str::to_owned).collect())
    }

    fn text(&self, text: &str, block: &mut Block) -> Result<u64, (u64, Bad)> {
        Ok(fields(text, block))
    }
}

/// The highest bit of every byte of `word` that is below 0x21, exact for the
/// first of them; above it there may be more bits than such bytes.
fn separators(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 0xff;
    word.wrapping_sub(ONES * 0x21) & !word & (ONES * 0x80)
}

/// Puts the fields of `text` into `block`, a record for every line that is
/// ended or holds a character; how many lines are.
///
/// Eight bytes are looked at together: for a field of up to seven the next
/// separator and the interner's key come from one load, without a loop whose
/// end the processor would have to guess.
fn fields(text: &str, block: &mut Block) -> u64 {
    let bytes = text.as_bytes();
    let (mut at, mut lines, mut open) = (0, 0, false);
    while at < bytes.len() {
        let word = match bytes.get(at..at + 8) {
            Some(eight) => u64::from_le_bytes(eight.try_into().expect("eight bytes")),
            None => last_word(&bytes[at..]),
        };
        let found = separators(word);
        let length = if found == 0 {
            let length = field_length(&bytes[at..]);
            block.push(&text[at..at + length]);
            length
        } else {
            let length = found.trailing_zeros() as usize / 8;
            if length > 0 {
                let packed = word & ((1 << (length * 8)) - 1);
                block.push_short(packed, length);
            }
            length
        };
        at += length;
        open = true;
        if bytes.get(at) == Some(&b'\n') {
            block.end_record();
            lines += 1;
            open = false;
        }
        at += 1;
    }
    if open {
        block.end_record();
        lines += 1;
    }
    lines
}

/// The last bytes, as if blanks followed.
fn last_word(bytes: &[u8]) -> u64 {
    let mut word = [b' '; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// The bytes up to a separator or the end.
fn field_length(bytes: &[u8]) -> usize {
    bytes.iter().position(|&b| b <= b' ').unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Assembly;

    #[test]
    fn fields_of_every_length_at_every_distance_from_the_end() {
        for length in 1..20 {
            for before in 0..10 {
                let item: String = "äbcdefghijklmnopqrstuv".chars().take(length).collect();
                let text = format!("{}{item} \t x\r\n\n  {item}", "y ".repeat(before));
                let mut block = Block::default();
                assert_eq!(Fimi.text(&text, &mut block).unwrap(), 3);
                let mut assembly = Assembly::default();
                assembly.add(block).unwrap();
                let (dataset, dropped) = assembly.finish(&()).unwrap();
                let labels: Vec<&str> = dataset.vocabulary().labels().collect();
                let mut expected = vec!["x", &item];
                expected.extend((before > 0).then_some("y"));
                expected.sort_unstable();
                assert_eq!(labels, expected);
                assert_eq!((dataset.len(), dropped.empty_records), (2, 1));
            }
        }
    }
}
