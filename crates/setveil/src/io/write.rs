//! Writers of made-up data: FIMI and query logs, compressed where the name says so.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::generate::{QueryLog, Quest, query_text, query_time};
use crate::{Error, Progress, Result};

/// Writes the records of `quest`, one a line, to `path`; `-` is standard output.
/// How many there are.
pub fn write_quest(
    quest: &mut Quest,
    path: &Path,
    force: bool,
    progress: &dyn Progress,
) -> Result<u64> {
    let mut out = Output::create(path, force)?;
    let (mut line, mut records) = (Vec::new(), 0);
    while let Some(record) = quest.next_record() {
        line.clear();
        for (i, &item) in record.iter().enumerate() {
            if i > 0 {
                line.push(b' ');
            }
            decimal(item.into(), &mut line);
        }
        line.push(b'\n');
        out.write(&line)?;
        records += 1;
        if records % 1024 == 0 {
            progress.advance(1024);
        }
    }
    out.finish()?;
    Ok(records)
}

/// Writes the rows of `log` with AOL's columns, separated by tabs. How many there are.
pub fn write_query_log(
    log: &mut QueryLog,
    path: &Path,
    force: bool,
    progress: &dyn Progress,
) -> Result<u64> {
    let mut out = Output::create(path, force)?;
    out.write(b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n")?;
    let (mut text, mut line, mut user, mut rows) = (String::new(), Vec::new(), 0, 0);
    while let Some(queries) = log.next_user() {
        user += 1;
        line.clear();
        for row in queries {
            text.clear();
            query_text(row.query, &mut text);
            decimal(user, &mut line);
            line.push(b'\t');
            line.extend_from_slice(text.as_bytes());
            line.push(b'\t');
            line.extend_from_slice(query_time(row.second).as_bytes());
            line.push(b'\t');
            if let Some(rank) = row.click {
                decimal(rank.into(), &mut line);
                line.extend_from_slice(b"\thttp://www.");
                line.extend(text.bytes().filter(|&b| b != b' '));
                line.extend_from_slice(b".example");
            } else {
                line.push(b'\t');
            }
            line.push(b'\n');
        }
        out.write(&line)?;
        rows += queries.len() as u64;
        progress.advance(1);
    }
    out.finish()?;
    Ok(rows)
}

/// Appends the digits of `number`.
fn decimal(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Checks before any work that a file can be written to `path`: that it is no
/// directory, and nothing that would be lost unless `force` is given.
pub fn check_file(path: &Path, force: bool) -> Result<()> {
    let refuse = |found: &str, hint: &str| Err(Error::input(path, None, found, hint));
    if path.is_dir() {
        return refuse("this is a directory", "name a file");
    }
    if path.exists() && !force {
        return refuse("the file exists", "choose another name or replace it with --force");
    }
    Ok(())
}

/// A file that appears under its name only when it is complete, or standard output.
struct Output {
    path: PathBuf,
    /// The unfinished file; none for standard output.
    partial: Option<PathBuf>,
    out: Encoder,
}

enum Encoder {
    Plain(Box<dyn Write>),
    Gzip(flate2::write::GzEncoder<Box<dyn Write>>),
    Zstd(zstd::Encoder<'static, Box<dyn Write>>),
}

impl Output {
    fn create(path: &Path, force: bool) -> Result<Self> {
        if path == Path::new("-") {
            let out = Encoder::Plain(Box::new(BufWriter::new(std::io::stdout())));
            return Ok(Self { path: "(standard output)".into(), partial: None, out });
        }
        check_file(path, force)?;
        let mut partial = path.as_os_str().to_owned();
        partial.push(format!(".{}.partial", std::process::id()));
        let partial = PathBuf::from(partial);
        let file = File::create_new(&partial).map_err(|e| Error::io(path, e))?;
        let file: Box<dyn Write> = Box::new(BufWriter::with_capacity(1 << 18, file));
        let out = match path.extension().and_then(|e| e.to_str()) {
            Some("gz") => {
                Encoder::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default()))
            }
            Some("zst") => {
                Encoder::Zstd(zstd::Encoder::new(file, 0).map_err(|e| Error::io(path, e))?)
            }
            _ => Encoder::Plain(file),
        };
        Ok(Self { path: path.to_owned(), partial: Some(partial), out })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match &mut self.out {
            Encoder::Plain(out) => out.write_all(bytes),
            Encoder::Gzip(out) => out.write_all(bytes),
            Encoder::Zstd(out) => out.write_all(bytes),
        };
        written.map_err(|e| Error::io(&self.path, e))
    }

    fn finish(mut self) -> Result<()> {
        let empty = Encoder::Plain(Box::new(std::io::sink()));
        let finished = match std::mem::replace(&mut self.out, empty) {
            Encoder::Plain(mut out) => out.flush(),
            Encoder::Gzip(out) => out.finish().and_then(|mut out| out.flush()),
            Encoder::Zstd(out) => out.finish().and_then(|mut out| out.flush()),
        };
        finished.map_err(|e| Error::io(&self.path, e))?;
        if let Some(partial) = self.partial.take() {
            std::fs::rename(&partial, &self.path).map_err(|e| Error::io(&self.path, e))?;
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            // Nothing more can be done if this fails, and the first error is the one to report.
            let _ = std::fs::remove_file(partial);
        }
    }
}
