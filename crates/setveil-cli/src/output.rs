//! Writing to the two standard streams. Nobody's reading or not reading
//! changes how the program ends, and nothing that stands in a file steers the
//! terminal.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};

use setveil::error::steers;

/// Where a colour begins and ends in a text that is not shown yet. No such
/// character is ever exchanged between programs.
const BEGIN: char = '\u{fdd0}';
const END: char = '\u{fdd1}';

/// Marks a part of a text for [`answer`]; `style` is a sequence of the terminal.
pub fn painted(style: &str, text: &str) -> String {
    format!("{BEGIN}{style}{END}{text}{BEGIN}0{END}")
}

/// Writes an answer in words to standard output. A reader who has left is no error.
pub fn answer(text: &str) -> io::Result<()> {
    write_out(&shown(text))
}

/// The same for JSON.
pub fn answer_json(text: &str) -> io::Result<()> {
    write_out(&json(text))
}

/// Writes a remark or an error to standard error, if somebody listens.
pub fn remark(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", shown(text));
}

fn write_out(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// The text with everything escaped that would steer a terminal, but for line
/// ends, tabs and colours that were [`painted`].
fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut style = None;
    for c in text.chars() {
        match (c, &mut style) {
            (BEGIN, _) => style = Some(String::new()),
            (END, Some(digits)) => {
                let _ = write!(out, "\u{1b}[{digits}m");
                style = None;
            }
            (c, Some(digits)) if c.is_ascii_digit() || c == ';' => digits.push(c),
            (c, _) => {
                style = None;
                match c {
                    END => {}
                    '\n' | '\t' => out.push(c),
                    c if steers(c) => out.extend(c.escape_default()),
                    c => out.push(c),
                }
            }
        }
    }
    out
}

/// JSON with the escapes of JSON for what would steer a terminal: such a
/// character can only stand inside a text.
fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '\n' && steers(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_pass_and_what_files_say_does_not_steer() {
        let text = format!("{} \u{1b}[2J\r\tx\n\u{202e}\u{9b}", painted("1;32", "holds"));
        let expected = "\u{1b}[1;32mholds\u{1b}[0m \\u{1b}[2J\\r\tx\n\\u{202e}\\u{9b}";
        assert_eq!(shown(&text), expected);
        // A colour is all that a file could smuggle in.
        assert_eq!(shown("\u{fdd0}2J\u{fdd1}x\u{fdd0}31\u{fdd1}"), "Jx\u{1b}[31m");
    }

    #[test]
    fn json_means_the_same() {
        let text = serde_json::to_string("a\u{9b}b\u{202e}\u{7f}\n").unwrap();
        let safe = json(&text);
        assert!(!safe.chars().any(steers), "{safe}");
        let back: String = serde_json::from_str(&safe).unwrap();
        assert_eq!(back, "a\u{9b}b\u{202e}\u{7f}\n");
    }
}
