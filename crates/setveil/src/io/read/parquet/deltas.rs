//! Lengths of texts that are written as differences: how many there are stands in the page itself.
//!
//! The decoder makes room for as many as the page says, before it looks whether they are there, and a page is mostly
//! compressed. So pages of these encodings are unpacked once more beforehand, and refused if they
//! speak of more lengths than their header has values: that number was counted with the headers.
//!
//! What the decoder refuses by itself is left to it.

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;

use super::pages::Fault;
use super::walk::{Stop, Walked};
use crate::Progress;

/// The most bytes of a number.
const LONGEST: usize = 10;

/// Looks at the chunks that have such pages: numbers of row groups and columns.
///
/// # Errors
/// If a page speaks of more lengths than it has values, or cannot be unpacked.
pub(super) fn check<R: ChunkReader + 'static>(
    file: &Arc<R>,
    metadata: &ParquetMetaData,
    chunks: &[(usize, usize)],
    progress: &dyn Progress,
) -> Result<(), Fault> {
    for &(group, leaf) in chunks {
        let group = metadata.row_group(group);
        let look = || -> Walked {
            let rows = usize::try_from(group.num_rows()).unwrap_or(0);
            let pages = SerializedPageReader::new(file.clone(), group.column(leaf), rows, None);
            let mut pages = pages.map_err(Stop::Unread)?;
            let levels = group.column(leaf).column_descr();
            let levels = [levels.max_rep_level(), levels.max_def_level()];
            while let Some(page) = pages.get_next_page().map_err(Stop::Unread)? {
                progress.step(0).map_err(Stop::Failed)?;
                look_at(&page, levels)?;
            }
            Ok(())
        };
        look().map_err(|stop| (leaf, stop))?;
    }
    Ok(())
}

/// Two lists of lengths come one behind the other where texts begin as the ones before them do.
fn look_at(page: &Page, [repeated, defined]: [i16; 2]) -> Walked {
    let lists = match page.encoding() {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
        Encoding::DELTA_BYTE_ARRAY => 2,
        _ => return Ok(()),
    };
    let start = match page {
        Page::DataPage { buf, num_values, rep_level_encoding, def_level_encoding, .. } => {
            behind_levels(buf, 0, (repeated, *rep_level_encoding, *num_values))
                .and_then(|at| behind_levels(buf, at, (defined, *def_level_encoding, *num_values)))
        }
        Page::DataPageV2 { rep_levels_byte_len, def_levels_byte_len, .. } => {
            rep_levels_byte_len.checked_add(*def_levels_byte_len).map(|start| start as usize)
        }
        Page::DictionaryPage { .. } => None,
    };
    let mut data = start.and_then(|start| page.buffer().get(start..));
    for _ in 0..lists {
        let Some(list) = data else { break };
        data = behind_lengths(list, page.num_values().into())?.and_then(|end| list.get(end..));
    }
    Ok(())
}

/// Where the levels end that begin at `at`.
fn behind_levels(
    page: &Bytes,
    at: usize,
    (most, encoding, values): (i16, Encoding, u32),
) -> Option<usize> {
    if most <= 0 {
        return Some(at);
    }
    if encoding == Encoding::RLE {
        let length = page.get(at..at.checked_add(4)?)?;
        let length = i32::from_le_bytes(length.try_into().ok()?);
        return (at + 4).checked_add(usize::try_from(length).ok()?);
    }
    // As old writers did: every level in as many bits as the greatest one needs.
    let bits = (i16::BITS - most.leading_zeros()) as usize;
    at.checked_add((values as usize).checked_mul(bits)?.div_ceil(8))
}

/// Where a list of lengths ends, if the decoder can read it.
///
/// # Errors
/// If there are to be more than `most`.
fn behind_lengths(list: &[u8], most: u64) -> Walked<Option<usize>> {
    let mut at = 0;
    let mut number = || number(list, &mut at);
    let (Some(block), Some(parts), Some(count), Some(_)) = (number(), number(), number(), number())
    else {
        return Ok(None);
    };
    // What is negative for the decoder is refused by it.
    if i64::try_from(count).is_ok() && count > most {
        return Err(Stop::Wrong);
    }
    Ok(behind_blocks(list, at, (block, parts), count.saturating_sub(1)))
}

/// Where blocks with `left` differences end that begin at `at`. A block has several parts, each with
/// a number of bits for its differences.
fn behind_blocks(
    list: &[u8],
    mut at: usize,
    (block, parts): (u64, u64),
    mut left: u64,
) -> Option<usize> {
    let each = block.checked_div(parts)?;
    while left > 0 {
        number(list, &mut at)?;
        let widths = list.get(at..at.checked_add(usize::try_from(parts).ok()?)?)?;
        at += widths.len();
        // A part in which nothing stands has no bytes, whatever its width.
        let used = usize::try_from(left.div_ceil(each.max(1))).unwrap_or(usize::MAX);
        for &width in widths.iter().take(used) {
            at = at.checked_add(usize::try_from(u64::from(width).checked_mul(each)? / 8).ok()?)?;
        }
        left = left.saturating_sub(block);
    }
    Some(at)
}

/// A number of seven bits a byte, the lowest first.
fn number(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0;
    for (i, &byte) in bytes.get(*at..)?.iter().take(LONGEST).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            *at += i + 1;
            return Some(number);
        }
    }
    None
}
