//! Text that is not UTF-8, decoded on the way.

use std::io::{Error, Read, Result as IoResult};
use std::str::FromStr;

use encoding_rs::{Decoder, DecoderResult, UTF_8, UTF_16BE, UTF_16LE};

use super::ReadOptions;
use super::stopping::BadEncoding;
use crate::error::Setting;

/// How text is written as bytes: any encoding of the WHATWG standard, such as
/// `utf-8`, `utf-16le` or `windows-1252`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding(&'static encoding_rs::Encoding);

impl Encoding {
    /// The name.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The encoding that must be decoded: the one that was asked for, or
    /// UTF-16 with its byte order mark. UTF-8 needs no decoding.
    pub(super) fn of(head: &[u8], options: &ReadOptions) -> Option<Self> {
        let marked = match head {
            [0xff, 0xfe, ..] => Some(UTF_16LE),
            [0xfe, 0xff, ..] => Some(UTF_16BE),
            _ => None,
        };
        let asked = options.encoding.map(|e| e.0);
        asked.or(marked).filter(|&e| e != UTF_8).map(Self)
    }

    /// `stream` as UTF-8.
    pub(super) fn decoder<R: Read>(self, stream: R) -> impl Read + use<R> {
        Decoding {
            stream,
            name: self.name(),
            decoder: self.0.new_decoder_with_bom_removal(),
            raw: vec![0; 1 << 16],
            unread: 0..0,
            ended: false,
            text: Vec::new(),
            given: 0,
        }
    }
}

impl FromStr for Encoding {
    type Err = crate::Error;
    fn from_str(name: &str) -> crate::Result<Self> {
        encoding_rs::Encoding::for_label(name.trim().as_bytes()).map(Self).ok_or_else(|| {
            crate::Error::Setting {
                setting: Setting::Encoding,
                found: name.to_owned(),
                expected: "utf-8, utf-16le, utf-16be, windows-1252 or another name of an encoding"
                    .into(),
            }
        })
    }
}

struct Decoding<R> {
    stream: R,
    name: &'static str,
    decoder: Decoder,
    raw: Vec<u8>,
    /// What of `raw` has not been decoded.
    unread: std::ops::Range<usize>,
    ended: bool,
    text: Vec<u8>,
    /// How much of `text` the caller has.
    given: usize,
}

impl<R: Read> Decoding<R> {
    fn refill(&mut self) -> IoResult<()> {
        self.text.clear();
        self.given = 0;
        while self.text.is_empty() && !self.ended {
            if self.unread.is_empty() {
                self.unread = 0..self.stream.read(&mut self.raw)?;
                self.ended = self.unread.is_empty();
            }
            let source = &self.raw[self.unread.clone()];
            let room = self.decoder.max_utf8_buffer_length_without_replacement(source.len());
            self.text.resize(room.unwrap_or(4 * source.len() + 16), 0);
            let (result, read, written) =
                self.decoder.decode_to_utf8_without_replacement(source, &mut self.text, self.ended);
            self.text.truncate(written);
            self.unread.start += read;
            if let DecoderResult::Malformed(..) = result {
                return Err(Error::other(BadEncoding(self.name)));
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Decoding<R> {
    fn read(&mut self, buf: &mut [u8]) -> IoResult<usize> {
        if self.given == self.text.len() {
            self.refill()?;
        }
        let count = buf.len().min(self.text.len() - self.given);
        buf[..count].copy_from_slice(&self.text[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}
