//! Reading formats of one record a line, on all threads.
//!
//! The bytes are cut at line ends into blocks; each block gets an interner of
//! its own and the [`Assembly`](crate::data) joins them in order. A mapped
//! file is cut as it is; a stream is read one batch of blocks ahead of the
//! parsing.

use std::io::Read;

use rayon::prelude::*;

use super::source::{Content, Source, read_error};
use super::{Bad, Job};
use crate::data::Block;
use crate::{Progress, Result};

/// Stream bytes in a block.
const STREAMED: usize = 1 << 20;
/// Bytes of a mapped file in a block, at least and at most.
const MAPPED: std::ops::RangeInclusive<usize> = (1 << 18)..=(1 << 26);
const BOM: &[u8] = b"\xef\xbb\xbf";

/// A format of one record a line.
pub(super) trait Lines: Sync {
    /// Puts the items of one line into `block` and ends the record. On an
    /// error the caller forgets what was put in.
    fn line(&self, line: &str, block: &mut Block) -> Result<(), Bad>;

    /// As [`Lines::line`] for whole lines at once, for a format that is faster that way.
    fn text(&self, text: &str, block: &mut Block) -> Result<u64, (u64, Bad)> {
        let mut lines = 0;
        for line in text.split_terminator('\n') {
            lines += 1;
            let line = line.strip_suffix('\r').unwrap_or(line);
            self.line(line, block).map_err(|bad| (lines, bad))?;
        }
        Ok(lines)
    }
}

/// What became of a block of text.
struct Parsed {
    block: Block,
    lines: u64,
    skipped: u64,
    /// The line, counted from 1 in the block, that could not be read.
    bad: Option<(u64, Bad)>,
}

/// Reads all lines of `source`.
pub(super) fn read(source: Source, format: &impl Lines, job: &mut Job) -> Result<()> {
    let (content, progress) = source.into_parts();
    let mut lines = 0;
    if let Some(bytes) = content.bytes() {
        let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
        let parsed = parse_all(&pieces(bytes), format, job.options.skip_bad_lines, progress);
        // The labels are copied: the file need not stay in memory while the records are sorted.
        drop(content);
        return collect(parsed, &mut lines, job);
    }
    let Content::Stream(stream) = content else { unreachable!("everything else has bytes") };
    let mut blocks = Blocks { stream, carry: Vec::new(), ended: false, first: true };
    let count = rayon::current_num_threads().max(1);
    let fail = |e| read_error(&job.name.clone(), e);
    let mut batch = blocks.batch(count).map_err(fail)?;
    while !batch.is_empty() {
        let texts: Vec<&[u8]> = batch.iter().map(Vec::as_slice).collect();
        let skip = job.options.skip_bad_lines;
        let (parsed, next) =
            rayon::join(|| parse_all(&texts, format, skip, &()), || blocks.batch(count));
        collect(parsed, &mut lines, job)?;
        batch = next.map_err(|e| read_error(&job.name, e))?;
    }
    Ok(())
}

fn collect(parsed: Vec<Parsed>, lines: &mut u64, job: &mut Job) -> Result<()> {
    for part in parsed {
        if let Some((line, bad)) = part.bad {
            return Err(job.error(Some(*lines + line), bad));
        }
        *lines += part.lines;
        job.skipped += part.skipped;
        job.assembly.add(part.block);
    }
    Ok(())
}

/// Cuts `bytes` at line ends into a few blocks a thread.
fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    let step = bytes.len() / (rayon::current_num_threads() * 4).max(1);
    let step = step.clamp(*MAPPED.start(), *MAPPED.end());
    let (mut parts, mut rest) = (Vec::new(), bytes);
    while rest.len() > step {
        let Some(end) = memchr::memchr(b'\n', &rest[step..]) else { break };
        let (part, tail) = rest.split_at(step + end + 1);
        parts.push(part);
        rest = tail;
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

fn parse_all(
    texts: &[&[u8]],
    format: &impl Lines,
    skip: bool,
    progress: &dyn Progress,
) -> Vec<Parsed> {
    let parse = |bytes: &&[u8]| {
        let parsed = parse(bytes, format, skip);
        progress.advance(bytes.len() as u64);
        parsed
    };
    texts.par_iter().map(parse).collect()
}

fn parse(bytes: &[u8], format: &impl Lines, skip: bool) -> Parsed {
    let mut parsed = Parsed { block: Block::default(), lines: 0, skipped: 0, bad: None };
    if let Ok(text) = std::str::from_utf8(bytes) {
        match format.text(text, &mut parsed.block) {
            Ok(lines) => {
                parsed.lines = lines;
                return parsed;
            }
            Err(bad) if !skip => {
                parsed.bad = Some(bad);
                return parsed;
            }
            // Again from the start of the block, this time leaving bad lines out.
            Err(_) => parsed.block = Block::default(),
        }
    }
    for line in bytes.split_inclusive(|&b| b == b'\n') {
        parsed.lines += 1;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let result = match std::str::from_utf8(line) {
            Ok(line) => format.line(line, &mut parsed.block),
            Err(e) => Err(invalid_utf8(line, e)),
        };
        if let Err(bad) = result {
            if !skip {
                parsed.bad = Some((parsed.lines, bad));
                return parsed;
            }
            parsed.block.abandon_record();
            parsed.skipped += 1;
        }
    }
    parsed
}

/// Says which byte is not UTF-8.
pub(super) fn invalid_utf8(bytes: &[u8], error: std::str::Utf8Error) -> Bad {
    let at = error.valid_up_to();
    Bad::new(
        format!("invalid UTF-8: byte 0x{:02x} in column {}", bytes[at], at + 1),
        "convert the file to UTF-8 (for instance with iconv), or add --skip-bad-lines",
    )
}

/// Cuts a stream into blocks of whole lines.
struct Blocks<'a> {
    stream: Box<dyn Read + Send + 'a>,
    /// The beginning of a line whose end has not been read.
    carry: Vec<u8>,
    ended: bool,
    first: bool,
}

impl Blocks<'_> {
    fn batch(&mut self, count: usize) -> std::io::Result<Vec<Vec<u8>>> {
        let mut batch = Vec::with_capacity(count);
        while batch.len() < count {
            match self.next()? {
                Some(block) => batch.push(block),
                None => break,
            }
        }
        Ok(batch)
    }

    fn next(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        let mut block = std::mem::take(&mut self.carry);
        while !self.ended {
            let before = block.len();
            let read = self.stream.by_ref().take(STREAMED as u64).read_to_end(&mut block)?;
            self.ended = read < STREAMED;
            if self.first && block.starts_with(BOM) {
                block.drain(..BOM.len());
            }
            self.first = false;
            let searched = before.min(block.len());
            if let Some(end) = memchr::memrchr(b'\n', &block[searched..])
                && !self.ended
            {
                self.carry = block.split_off(searched + end + 1);
                return Ok(Some(block));
            }
        }
        Ok(if block.is_empty() { None } else { Some(block) })
    }
}
