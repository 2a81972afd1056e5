//! Writers of made-up data: FIMI and query logs, compressed where the name says so.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::new_file::{NewFile, check_file};
use crate::generate::{QueryLog, Quest, query_text, query_time};
use crate::{Error, Progress, Result};

/// Writes the records of `quest`, one a line, to `path`; `-` is standard output.
/// How many there are.
pub fn write_quest(
    quest: &mut Quest,
    path: &Path,
    replace: bool,
    progress: &dyn Progress,
) -> Result<u64> {
    let mut out = Output::create(path, replace)?;
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
            progress.step(1024)?;
        }
    }
    out.finish()?;
    Ok(records)
}

/// Writes the rows of `log` with AOL's columns, separated by tabs. How many there are.
pub fn write_query_log(
    log: &mut QueryLog,
    path: &Path,
    replace: bool,
    progress: &dyn Progress,
) -> Result<u64> {
    let mut out = Output::create(path, replace)?;
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
        progress.step(1)?;
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

/// A file that appears under its name only when it is complete, or standard output.
struct Output {
    path: PathBuf,
    out: Encoder,
}

enum Encoder {
    Stream(BufWriter<std::io::Stdout>),
    Plain(BufWriter<NewFile>),
    Gzip(flate2::write::GzEncoder<BufWriter<NewFile>>),
    Zstd(zstd::Encoder<'static, BufWriter<NewFile>>),
}

impl Output {
    fn create(path: &Path, replace: bool) -> Result<Self> {
        if path == Path::new("-") {
            let out = Encoder::Stream(BufWriter::new(std::io::stdout()));
            return Ok(Self { path: "(standard output)".into(), out });
        }
        check_file(path, replace)?;
        let file = BufWriter::with_capacity(1 << 18, NewFile::create(path, replace)?);
        let out = match path.extension().and_then(|e| e.to_str()) {
            Some("gz") => {
                Encoder::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default()))
            }
            Some("zst") => {
                Encoder::Zstd(zstd::Encoder::new(file, 0).map_err(|e| Error::io(path, e))?)
            }
            _ => Encoder::Plain(file),
        };
        Ok(Self { path: path.to_owned(), out })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match &mut self.out {
            Encoder::Stream(out) => out.write_all(bytes),
            Encoder::Plain(out) => out.write_all(bytes),
            Encoder::Gzip(out) => out.write_all(bytes),
            Encoder::Zstd(out) => out.write_all(bytes),
        };
        written.map_err(|e| Error::io(&self.path, e))
    }

    fn finish(self) -> Result<()> {
        let fail = |e| Error::io(&self.path, e);
        let file = match self.out {
            Encoder::Stream(mut out) => return out.flush().map_err(fail),
            Encoder::Plain(out) => out,
            Encoder::Gzip(out) => out.finish().map_err(fail)?,
            Encoder::Zstd(out) => out.finish().map_err(fail)?,
        };
        file.into_inner().map_err(|e| fail(e.into_error()))?.finish()
    }
}
