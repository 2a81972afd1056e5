//! The lines of a file that begin in a range of it, a window at a time.

use std::io::Result as IoResult;
use std::ops::Range;

use super::positioned::Positioned;
use super::stopping::endless;
use crate::Result;

/// Bytes that are read at once: few enough to stay in the processor's memory.
const WINDOW: usize = 1 << 19;
/// How far is read beyond the range, to find the end of its last line.
const BEYOND: u64 = 1 << 12;

/// Bytes of a file that have been read and not yet parsed.
pub(super) struct Window<'a> {
    file: &'a Positioned,
    range: Range<u64>,
    /// `bytes[..filled]` stand in the file right before `next`.
    bytes: Vec<u8>,
    filled: usize,
    next: u64,
    /// Whether the line in which the range begins is another range's.
    skipping: bool,
    longest: u64,
}

impl<'a> Window<'a> {
    /// A window on the lines that begin in `range`; the first line of the
    /// file begins at `start`.
    pub(super) fn new(file: &'a Positioned, range: Range<u64>, start: u64, longest: u64) -> Self {
        let skipping = range.start > start;
        // A line begins at the range's first byte if a line end stands before it.
        let next = range.start - u64::from(skipping);
        let length = (range.end - next + BEYOND).min(WINDOW as u64) as usize;
        Self { file, range, bytes: vec![0; length], filled: 0, next, skipping, longest }
    }

    /// Reads on; how many bytes.
    pub(super) fn fill(&mut self) -> IoResult<usize> {
        if self.filled == self.bytes.len() {
            self.bytes.resize(2 * self.filled, 0);
        }
        // A line that goes on and on is read in ever larger steps, and so looked at twice at most.
        let left = (self.range.end.saturating_sub(self.next) + BEYOND).max(self.filled as u64);
        let room = &mut self.bytes[self.filled..];
        let most = room.len().min(left as usize);
        let read = self.file.read_at(&mut room[..most], self.next)?;
        self.filled += read;
        self.next += read as u64;
        Ok(read)
    }

    /// Hands out the whole lines that are there; whether they were the last ones.
    pub(super) fn lines(&mut self, parse: impl FnOnce(&[u8])) -> Result<bool> {
        let base = self.next - self.filled as u64;
        let ended = self.next >= self.file.len();
        let mut from = 0;
        if self.skipping {
            match memchr::memchr(b'\n', &self.bytes[..self.filled]) {
                Some(end) => from = end + 1,
                None => from = self.filled,
            }
            self.skipping = self.bytes[..from].last() != Some(&b'\n');
            if base + from as u64 >= self.range.end {
                return Ok(true);
            }
        }
        // The last line is the one in which the last byte of the range stands.
        let last = self.range.end.saturating_sub(1).saturating_sub(base).max(from as u64) as usize;
        let end = match self.bytes[..self.filled].get(last..) {
            _ if self.skipping => None,
            None => None,
            Some(tail) => match memchr::memchr(b'\n', tail) {
                Some(end) => Some(last + end + 1),
                None if ended => Some(self.filled),
                None => None,
            },
        };
        if let Some(end) = end {
            parse(&self.bytes[from..end]);
            return Ok(true);
        }
        let whole = memchr::memrchr(b'\n', &self.bytes[from..self.filled]);
        let whole = whole.map_or(from, |end| from + end + 1);
        if whole > from {
            parse(&self.bytes[from..whole]);
        }
        self.bytes.copy_within(whole..self.filled, 0);
        self.filled -= whole;
        if self.filled as u64 > self.longest {
            return Err(endless(self.filled as u64, self.longest));
        }
        Ok(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Every way to cut a small file gives every line once, in order.
    #[test]
    fn every_cut_gives_every_line_once() {
        for text in ["a\nbb\n\nccc\nd", "a\n", "\n\n\n", "abc", "long line here\nx\n"] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let Ok(file) = Positioned::new(file, text.len() as u64) else { return };
            let length = text.len() as u64;
            for one in 1..=length {
                for two in one..=length {
                    let cuts = [0..one, one..two, two..length];
                    let mut read = String::new();
                    for range in cuts.into_iter().filter(|r| !r.is_empty()) {
                        let mut window = Window::new(&file, range, 0, 1 << 20);
                        loop {
                            window.fill().unwrap();
                            let add = |b: &[u8]| read += std::str::from_utf8(b).unwrap();
                            if window.lines(add).unwrap() {
                                break;
                            }
                        }
                    }
                    assert_eq!(read, text, "cut at {one} and {two}");
                }
            }
        }
    }

    #[test]
    fn a_line_longer_than_allowed_is_an_error_and_a_shorter_file_too() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![b'x'; 3 * WINDOW]).unwrap();
        let Ok(file) = Positioned::new(file, 3 * WINDOW as u64) else { return };
        let mut window = Window::new(&file, 0..3 * WINDOW as u64, 0, WINDOW as u64);
        let error = loop {
            window.fill().unwrap();
            if let Err(error) = window.lines(|_| panic!("there is no line")) {
                break error.to_string();
            }
        };
        assert!(error.contains("bytes of one line"), "{error}");
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"abc\n").unwrap();
        let Ok(file) = Positioned::new(file, 9) else { return };
        let mut window = Window::new(&file, 0..9, 0, WINDOW as u64);
        window.fill().unwrap();
        window.lines(|_| {}).unwrap();
        let error = window.fill().unwrap_err().to_string();
        assert!(error.contains("became shorter"), "{error}");
    }
}
