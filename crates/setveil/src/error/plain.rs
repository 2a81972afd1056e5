//! Text from files and names, made safe to print.

use std::fmt::{self, Display, Write};

/// Shows `text` with control characters, and characters that turn the
/// direction of writing, as escapes: what a file is called, or what stands in
/// it, must not steer a terminal or hide a part of a message.
pub fn plain<T: Display>(text: T) -> impl Display {
    Plain(text)
}

struct Plain<T>(T);

impl<T: Display> Display for Plain<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{}", self.0)
    }
}

struct Escaping<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut from = 0;
        for (at, c) in text.char_indices().filter(|&(_, c)| steers(c)) {
            self.0.write_str(&text[from..at])?;
            write!(self.0, "{}", c.escape_default())?;
            from = at + c.len_utf8();
        }
        self.0.write_str(&text[from..])
    }
}

/// Whether a character is a control character or turns the direction of writing.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_passes() {
        let name = "a\u{1b}[2Jb\r\n\u{202e}ä\u{9b}c";
        assert_eq!(plain(name).to_string(), "a\\u{1b}[2Jb\\r\\n\\u{202e}ä\\u{9b}c");
        let error = crate::Error::input(name, Some(2), name, name).to_string();
        assert!(!error.chars().any(steers), "{error}");
    }
}
