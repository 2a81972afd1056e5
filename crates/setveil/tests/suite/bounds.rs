//! Reading can be stopped, and has a bound: memory, endless lines, files that
//! change meanwhile.

use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use setveil::budget::Budget;
use setveil::io::{Format, ReadOptions, parse_dataset, read_dataset, read_dataset_from};
use setveil::{Error, Progress, Stage};
use testkit::formats;

/// An observer that says stop after so many questions, and counts those that come after.
pub struct StopAfter {
    left: AtomicU64,
    after: AtomicU64,
}

impl StopAfter {
    pub fn new(questions: u64) -> Self {
        Self { left: AtomicU64::new(questions), after: AtomicU64::new(0) }
    }
}

impl Progress for StopAfter {
    fn stage(&self, _: Stage, _: Option<u64>) {}
    fn advance(&self, _: u64) -> ControlFlow<()> {
        let left =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |l| l.checked_sub(1));
        if left.is_ok() {
            return ControlFlow::Continue(());
        }
        self.after.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Break(())
    }
}

fn records() -> Vec<Vec<String>> {
    (0..120_000).map(|i| vec![format!("i{}", i % 97), format!("j{}", i % 89)]).collect()
}

#[test]
fn every_format_stops_wherever_the_caller_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let records = records();
    let mut layouts = formats::every_layout(&records);
    layouts.push(("data.dat", formats::fimi(&records), ReadOptions::default()));
    for (name, bytes, options) in layouts {
        for (suffix, bytes) in [("", bytes.clone()), (".gz", formats::gzip(&bytes, 1))] {
            let path = dir.path().join(format!("{name}{suffix}"));
            std::fs::write(&path, &bytes).unwrap();
            let mut stopped = 0;
            for questions in [0, 1, 2, 5] {
                let progress = StopAfter::new(questions);
                match read_dataset(&path, &options, &progress) {
                    Err(Error::Cancelled) => stopped += 1,
                    Err(other) => panic!("{name}{suffix}: {other}"),
                    Ok(_) => {}
                }
                // Threads that had begun ask once each, and nobody goes on.
                let after = progress.after.load(Ordering::Relaxed);
                assert!(after <= 64, "{name}{suffix}: {after} questions after the stop");
            }
            assert!(stopped >= 3, "{name}{suffix}: asked too seldom");
        }
    }
}

/// Bytes without an end, which count how many were taken.
struct Endless<'a>(&'a AtomicU64, &'static [u8]);

impl Read for Endless<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let from = self.0.fetch_add(buf.len() as u64, Ordering::Relaxed);
        let text = self.1.iter().cycle().skip((from % self.1.len() as u64) as usize);
        buf.iter_mut().zip(text).for_each(|(b, t)| *b = *t);
        Ok(buf.len())
    }
}

#[test]
fn input_without_an_end_is_an_error() {
    const MIB: u64 = 1 << 20;
    for (format, text) in [
        (Format::Fimi, &b"x"[..]),
        (Format::Fimi, b"a "),
        (Format::Fimi, b"a b\n"),
        (Format::Spmf, b"1"),
        (Format::BasketCsv, b"\"a"),
        (Format::Jsonl, b"[\"a"),
        (Format::Json, b"[[\"a\"],"),
        (Format::Json, b"[[["),
        (Format::Aol, b"AnonID\tQuery"),
        (Format::Parquet, b"PAR1"),
    ] {
        let taken = AtomicU64::new(0);
        let options = ReadOptions::default().format(Some(format));
        let budget = Budget::new(16 * MIB);
        let read = read_dataset_from(Endless(&taken, text), Path::new("x"), &options, &budget);
        let error = read.unwrap_err();
        let large =
            matches!(error, Error::TooLarge { .. } | Error::Memory { .. } | Error::Input { .. });
        assert!(large, "{}: {error}", format.name());
        let taken = taken.load(Ordering::Relaxed);
        assert!(taken < 64 * MIB, "{}: {taken} bytes were taken", format.name());
    }
    let taken = AtomicU64::new(0);
    let options = ReadOptions::default()
        .format(Some(Format::LongCsv))
        .id(Some("a".into()))
        .item(Some("b".into()));
    let head = &b"a,b\n1,\"x\n"[..];
    let endless = head.chain(Endless(&taken, b"y"));
    let read = read_dataset_from(endless, Path::new("x"), &options, &Budget::new(16 * MIB));
    let error = read.unwrap_err().to_string();
    assert!(error.contains("x:2: a row of more than a megabyte"), "{error}");
}

#[test]
fn one_endless_line_in_a_small_compressed_file() {
    let bomb = formats::zstd(&vec![b'x'; 64 << 20]);
    assert!(bomb.len() < 1 << 16, "{}", bomb.len());
    let (name, options) = (Path::new("x.dat.zst"), ReadOptions::default());
    let read = read_dataset_from(&bomb[..], name, &options, &Budget::new(64 << 20));
    let error = read.unwrap_err().to_string();
    assert!(error.contains("bytes of one line or record"), "{error}");
    assert!(error.contains("at most 8388608"), "{error}");
}

#[test]
fn more_records_than_the_memory_holds() {
    let text = b"a b c\n".repeat(1 << 20);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.dat");
    std::fs::write(&path, &text).unwrap();
    let read = |bytes| read_dataset(&path, &ReadOptions::default(), &Budget::new(bytes));
    assert!(read(1 << 30).is_ok());
    let error = read(8 << 20).unwrap_err();
    assert!(error.to_string().contains("parts"), "{error}");
    let Error::Memory { limit, needed, .. } = error else { panic!("{error}") };
    assert!(limit == 8 << 20 && needed > limit);
}

/// Makes the file shorter the first time that it is asked.
struct Shorten<'a>(&'a Path, AtomicU64);

impl Progress for Shorten<'_> {
    fn stage(&self, _: Stage, _: Option<u64>) {}
    fn advance(&self, _: u64) -> ControlFlow<()> {
        if self.1.fetch_add(1, Ordering::Relaxed) == 0 {
            let file = std::fs::OpenOptions::new().write(true).open(self.0).unwrap();
            file.set_len(10).unwrap();
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn a_file_that_becomes_shorter_while_it_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.dat");
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(&b"milk bread wine\n".repeat(1 << 20)).unwrap();
    let read = read_dataset(&path, &ReadOptions::default(), &Shorten(&path, AtomicU64::new(0)));
    let error = read.unwrap_err().to_string();
    assert!(error.contains("the file became shorter while it was read"), "{error}");
}

#[test]
fn compressions_that_are_not_read_are_called_by_name() {
    for (bytes, name) in [
        (&b"\xfd7zXZ\x00\x00\x04"[..], "xz data"),
        (b"BZh91AY&SY\x00", "bzip2 data"),
        (b"\x04\x22\x4d\x18abc", "LZ4 data"),
        (b"PK\x03\x04abc", "a zip archive"),
        (b"\x1f\x9dabc", "Unix compress"),
    ] {
        let read = parse_dataset(Path::new("x.dat"), bytes, &ReadOptions::default());
        let error = read.unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("decompress it first"), "{error}");
    }
    let plain = parse_dataset(Path::new("x.dat"), b"BZh9 b\n", &ReadOptions::default()).unwrap();
    assert_eq!(plain.dataset.len(), 1);
}

#[test]
fn names_cannot_steer_a_terminal() {
    let name = "\u{1b}[31mred.dat";
    let error = read_dataset(Path::new(name), &ReadOptions::default(), &()).unwrap_err();
    assert_eq!(error.to_string(), "\\u{1b}[31mred.dat: there is no such file; check the name");
    let read = parse_dataset(Path::new("x.spmf"), b"\x1b[2J -1 -2\n", &ReadOptions::default());
    let error = read.unwrap_err().to_string();
    assert!(!error.contains('\u{1b}'), "{error}");
}
