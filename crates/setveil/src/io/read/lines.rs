//! Reading formats of one record a line, on all threads.
//!
//! The bytes are cut at line ends into blocks; each block gets an interner of
//! its own and the [`Assembly`](crate::data) joins them in order. A file is
//! cut into a few ranges a thread, which each thread reads a megabyte at a
//! time; a stream is read one batch of blocks ahead of the parsing.

use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::positioned::Positioned;
use super::source::{Content, Source};
use super::stopping::{endless, read_error};
use super::window::Window;
use super::{Bad, Job, READING};
use crate::data::Block;
use crate::error::{Hint, Setting};
use crate::{Progress, Result};

/// Bytes of a stream that are parsed at once.
const STREAMED: usize = 1 << 20;
/// Bytes of a file in a range, at least and at most.
const RANGE: std::ops::RangeInclusive<u64> = (1 << 18)..=(1 << 26);

/// A format of one record a line.
pub(super) trait Lines: Sync {
    /// Puts the items of one line into `block` and ends the record. On an
    /// error the caller forgets what was put in.
    fn line(&self, line: &str, block: &mut Block) -> Result<(), Bad>;

    /// The fields of one line in their order, if it can be read.
    fn fields(&self, line: &str) -> Option<Vec<String>> {
        let mut block = Block::default();
        self.line(line, &mut block).ok()?;
        Some(block.texts())
    }

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

/// What became of a part of the text.
#[derive(Default)]
struct Parsed {
    block: Block,
    lines: u64,
    skipped: u64,
    /// The line, counted from 1 in the part, that could not be read.
    bad: Option<(u64, Bad)>,
}

/// Reads all lines of `source`; `lines` came before it.
pub(super) fn read(
    source: Source,
    format: &impl Lines,
    mut lines: u64,
    job: &mut Job,
) -> Result<()> {
    let skip = job.options.skip_bad_lines;
    if job.to_disk() {
        return read_stream(source.into_reader(), format, lines, job);
    }
    let (content, start, progress) = source.into_parts();
    let parsed: Vec<Result<Parsed>> = match content {
        Content::File(file) => {
            let part = Part {
                file: &file,
                start,
                skip,
                progress,
                job,
                // What the parts take until they are joined.
                used: AtomicU64::new(0),
            };
            ranges(start..file.len()).into_par_iter().map(|r| part.parse(r, format)).collect()
        }
        Content::Memory(bytes) => {
            let parse = |bytes: &&[u8]| {
                let mut parsed = Parsed::default();
                parsed.add(bytes, format, skip);
                Ok(parsed)
            };
            pieces(bytes).par_iter().map(parse).collect()
        }
        Content::Stream(stream) => return read_stream(stream, format, lines, job),
    };
    // In the order of the lines: an error does not hide a bad line before it.
    parsed.into_iter().try_for_each(|parsed| collect(parsed?, &mut lines, job))
}

fn read_stream(
    stream: Box<dyn Read + Send + '_>,
    format: &impl Lines,
    mut lines: u64,
    job: &mut Job,
) -> Result<()> {
    let (skip, longest) = (job.options.skip_bad_lines, job.budget.line());
    let name = job.name.clone();
    let mut blocks = Blocks { stream, carry: Vec::new(), ended: false, longest, name: &name };
    // A block, its records and the next one: about eight times its text.
    let most = (job.budget.part(8 * 8).bytes() as usize / STREAMED).max(1);
    let count = rayon::current_num_threads().clamp(1, most);
    let tidy = job.tidies();
    let mut batch = blocks.batch(count)?;
    while !batch.is_empty() {
        // What has a long line takes its room alone.
        let ahead = bytes(&batch) <= count * STREAMED;
        let parse = |bytes: &Vec<u8>| {
            let mut parsed = Parsed::default();
            parsed.add(bytes, format, skip);
            if tidy {
                parsed.block.tidy();
            }
            parsed
        };
        let (parsed, next) = rayon::join(
            || batch.par_iter().map(parse).collect::<Vec<_>>(),
            || if ahead { blocks.batch(count).map(Some) } else { Ok(None) },
        );
        drop(batch);
        parsed.into_iter().try_for_each(|parsed| collect(parsed, &mut lines, job))?;
        batch = next?.map_or_else(|| blocks.batch(count), Ok)?;
    }
    Ok(())
}

fn bytes(batch: &[Vec<u8>]) -> usize {
    batch.iter().map(Vec::len).sum()
}

fn collect(parsed: Parsed, lines: &mut u64, job: &mut Job) -> Result<()> {
    if let Some((line, bad)) = parsed.bad {
        return Err(job.error(Some(*lines + line), bad));
    }
    *lines += parsed.lines;
    job.skipped += parsed.skipped;
    job.add(parsed.block)
}

/// Cuts a file into a few ranges a thread.
fn ranges(file: Range<u64>) -> Vec<Range<u64>> {
    let step = (file.end - file.start) / (rayon::current_num_threads() as u64 * 4).max(1);
    let step = step.clamp(*RANGE.start(), *RANGE.end());
    let starts = (file.start..file.end).step_by(step as usize);
    starts.map(|start| start..file.end.min(start + step)).collect()
}

/// Cuts `bytes` at line ends into a few blocks a thread.
fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    let (mut parts, mut rest) = (Vec::new(), bytes);
    for range in ranges(0..bytes.len() as u64) {
        let done = (bytes.len() - rest.len()) as u64;
        let Some(least) = range.end.checked_sub(done + 1) else { continue };
        let end = memchr::memchr(b'\n', &rest[least as usize..]);
        let (part, tail) = rest.split_at(end.map_or(rest.len(), |end| least as usize + end + 1));
        parts.push(part);
        rest = tail;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

impl Parsed {
    /// Parses whole lines behind those that came before.
    fn add(&mut self, bytes: &[u8], format: &impl Lines, skip: bool) {
        if self.bad.is_some() {
            return;
        }
        let mark = self.block.mark();
        if let Ok(text) = std::str::from_utf8(bytes) {
            match format.text(text, &mut self.block) {
                Ok(lines) => {
                    self.lines += lines;
                    return;
                }
                Err((line, bad)) if !skip => {
                    self.bad = Some((self.lines + line, bad));
                    return;
                }
                // Again from the first of these lines, this time leaving bad ones out.
                Err(_) => self.block.rewind(&mark),
            }
        }
        for line in bytes.split_inclusive(|&b| b == b'\n') {
            self.lines += 1;
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let result = match std::str::from_utf8(line) {
                Ok(line) => format.line(line, &mut self.block),
                Err(e) => Err(invalid_utf8(line, e)),
            };
            if let Err(bad) = result {
                if !skip {
                    self.bad = Some((self.lines, bad));
                    return;
                }
                self.block.abandon_record();
                self.skipped += 1;
            }
        }
    }
}

/// Says which byte is not UTF-8.
pub(super) fn invalid_utf8(bytes: &[u8], error: std::str::Utf8Error) -> Bad {
    let at = error.valid_up_to();
    let hint = "convert the file to UTF-8 (for instance with iconv), say how it is encoded with {} \
                (often windows-1252), or add {}";
    Bad::new(
        format!("invalid UTF-8: byte 0x{:02x} in column {}", bytes[at], at + 1),
        Hint::of(hint, &[Setting::Encoding, Setting::SkipBadLines]),
    )
}

/// What the threads that read one file share.
struct Part<'a> {
    file: &'a Positioned,
    /// Where the first line of the file begins.
    start: u64,
    skip: bool,
    progress: &'a dyn Progress,
    job: &'a Job<'a>,
    used: AtomicU64,
}

impl Part<'_> {
    /// Reads the lines that begin in `range`.
    fn parse(&self, range: Range<u64>, format: &impl Lines) -> Result<Parsed> {
        let mut window = Window::new(self.file, range, self.start, self.job.budget.line());
        let (mut parsed, mut counted) = (Parsed::default(), 0);
        loop {
            let read = window.fill().map_err(|e| read_error(&self.job.name, e))?;
            self.progress.step(read as u64)?;
            let last = window.lines(|lines| parsed.add(lines, format, self.skip))?;
            let bytes = parsed.block.bytes();
            let used = self.used.fetch_add(bytes - counted, Ordering::Relaxed) + bytes - counted;
            counted = bytes;
            self.job.budget.check(READING, used)?;
            if last || parsed.bad.is_some() {
                return Ok(parsed);
            }
        }
    }
}

/// Cuts a stream into blocks of whole lines.
struct Blocks<'a> {
    stream: Box<dyn Read + Send + 'a>,
    /// The beginning of a line whose end has not been read.
    carry: Vec<u8>,
    ended: bool,
    longest: u64,
    name: &'a Path,
}

impl Blocks<'_> {
    /// At most `count` blocks of the usual size, the last of them as long as its line: a few kilobytes
    /// of a compressed stream can be lines that are all nearly as long as a line may be.
    fn batch(&mut self, count: usize) -> Result<Vec<Vec<u8>>> {
        let (mut batch, mut taken) = (Vec::with_capacity(count), 0);
        while batch.len() < count && taken < count * STREAMED {
            match self.next()? {
                Some(block) => {
                    taken += block.len();
                    batch.push(block);
                }
                None => break,
            }
        }
        Ok(batch)
    }

    fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let mut block = std::mem::take(&mut self.carry);
        while !self.ended {
            let before = block.len();
            if before as u64 > self.longest {
                return Err(endless(before as u64, self.longest));
            }
            let mut some = self.stream.by_ref().take(STREAMED as u64);
            let read = some.read_to_end(&mut block).map_err(|e| read_error(self.name, e))?;
            self.ended = read < STREAMED;
            if let Some(end) = memchr::memrchr(b'\n', &block[before..])
                && !self.ended
            {
                self.carry = block.split_off(before + end + 1);
                return Ok(Some(block));
            }
        }
        Ok(if block.is_empty() { None } else { Some(block) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of `length` bytes, none of which is ever there as a whole.
    struct Long {
        length: usize,
        lines: usize,
        at: usize,
    }

    impl Read for Long {
        fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
            let some = bytes.len().min(self.length * self.lines - self.at);
            bytes[..some].fill(b'x');
            let first = (self.at / self.length + 1) * self.length - 1 - self.at;
            (first..some).step_by(self.length).for_each(|end| bytes[end] = b'\n');
            self.at += some;
            Ok(some)
        }
    }

    #[test]
    fn a_batch_of_long_lines_is_no_larger_than_one_of_short_ones_and_one_line() {
        for length in [100, STREAMED / 3 * 4, 3 * STREAMED] {
            let (count, lines) = (4, 8 * STREAMED / length + 5);
            let stream = Box::new(Long { length, lines, at: 0 });
            let (longest, name) = (1 << 30, Path::new("long"));
            let mut blocks = Blocks { stream, carry: Vec::new(), ended: false, longest, name };
            let mut all = 0;
            loop {
                let batch = blocks.batch(count).unwrap();
                if batch.is_empty() {
                    break;
                }
                let found = bytes(&batch) + blocks.carry.len();
                assert!(found <= (count + 2) * STREAMED + length, "{found} of {length}");
                assert!(batch.iter().all(|block| block.ends_with(b"\n")));
                all += bytes(&batch);
            }
            assert_eq!(all, length * lines);
        }
    }
}
