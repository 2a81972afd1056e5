//! Small pieces of HTML, escaped where they hold data.

use std::fmt::Write;

use super::style::STYLE;
use crate::error::steers;

/// A page that is being written.
#[derive(Debug)]
pub(super) struct Page {
    title: String,
    body: String,
    /// The sections' anchors and headings, for the table of contents.
    sections: Vec<(String, String)>,
}

impl Page {
    pub(super) fn new(title: &str) -> Self {
        Self { title: title.to_owned(), body: String::new(), sections: Vec::new() }
    }

    /// Starts a section; the one before ends.
    pub(super) fn section(&mut self, heading: &str) {
        if !self.sections.is_empty() {
            self.body += "</section>\n";
        }
        let id = format!("s{}", self.sections.len() + 1);
        let _ = writeln!(
            self.body,
            "<section aria-labelledby=\"{id}\"><h2 id=\"{id}\">{}</h2>",
            escape(heading)
        );
        self.sections.push((id, heading.to_owned()));
    }

    /// A paragraph of plain text; what stands between backticks is code.
    pub(super) fn text(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p>{}</p>", with_code(text));
    }

    /// A small heading.
    pub(super) fn heading(&mut self, text: &str) {
        let _ = writeln!(self.body, "<h3>{}</h3>", escape(text));
    }

    /// HTML that is safe already.
    pub(super) fn raw(&mut self, html: &str) {
        self.body += html;
        self.body.push('\n');
    }

    /// A list of plain texts.
    pub(super) fn list(&mut self, class: &str, entries: &[String]) {
        let _ = write!(self.body, "<ul class=\"{class}\">");
        for entry in entries {
            let _ = write!(self.body, "<li>{}</li>", with_code(entry));
        }
        self.body += "</ul>\n";
    }

    /// A table: the first cell of each row is its header.
    pub(super) fn table(&mut self, caption: &str, head: &[&str], rows: &[Vec<String>]) {
        let _ = write!(
            self.body,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table>\
             <caption>{0}</caption><thead><tr>",
            escape(caption)
        );
        let numeric: Vec<bool> = (0..head.len())
            .map(|c| c > 0 && rows.iter().all(|row| row.get(c).is_none_or(|cell| is_number(cell))))
            .collect();
        for (cell, numeric) in head.iter().zip(&numeric) {
            let class = if *numeric { " class=\"n\"" } else { "" };
            let _ = write!(self.body, "<th scope=\"col\"{class}>{}</th>", escape(cell));
        }
        self.body += "</tr></thead><tbody>";
        for row in rows {
            self.body += "<tr>";
            for (i, cell) in row.iter().enumerate() {
                let cell = escape(cell);
                let _ = match i {
                    0 => write!(self.body, "<th scope=\"row\">{cell}</th>"),
                    _ if numeric.get(i) == Some(&true) => {
                        write!(self.body, "<td class=\"n\">{cell}</td>")
                    }
                    _ => write!(self.body, "<td>{cell}</td>"),
                };
            }
            self.body += "</tr>";
        }
        self.body += "</tbody></table></div>\n";
    }

    /// The whole page.
    pub(super) fn finish(mut self, tool: &str) -> String {
        if !self.sections.is_empty() {
            self.body += "</section>\n";
        }
        let mut contents = String::new();
        for (id, heading) in &self.sections {
            let _ = write!(contents, "<li><a href=\"#{id}\">{}</a></li>", escape(heading));
        }
        let title = escape(&self.title);
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"robots\" content=\"noindex\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#main\">Skip to the content</a>\n\
             <header><p class=\"brand\">Setveil</p><h1>{title}</h1></header>\n\
             <nav aria-label=\"Contents\"><ol>{contents}</ol></nav>\n\
             <main id=\"main\">\n{}</main>\n\
             <footer><p>Made by {}. This page is complete in itself and loads nothing.</p>\
             </footer>\n</body>\n</html>\n",
            self.body,
            escape(tool)
        )
    }
}

fn is_number(cell: &str) -> bool {
    let digits = cell.bytes().any(|b| b.is_ascii_digit());
    digits && cell.bytes().all(|b| b.is_ascii_digit() || b" .,%-<".contains(&b))
}

/// Text for HTML in which what stands between backticks is code.
fn with_code(text: &str) -> String {
    let mut html = String::new();
    for (i, piece) in text.split('`').enumerate() {
        let piece = escape(piece);
        html += &if i % 2 == 1 { format!("<code>{piece}</code>") } else { piece };
    }
    html
}

/// Text for HTML, attributes included.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            c if steers(c) => escaped.extend(c.escape_default()),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// A whole number in groups of three: `1234567` as `1,234,567`.
pub fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value {
        0.0 => "0 %".to_owned(),
        v if v < 0.1 => "< 0.1 %".to_owned(),
        v if v < 10.0 => format!("{v:.1} %"),
        v => format!("{v:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_become_markup() {
        assert_eq!(escape("<b a='x'>&\"</b>"), "&lt;b a=&#39;x&#39;&gt;&amp;&quot;&lt;/b&gt;");
    }

    #[test]
    fn numbers_are_grouped() {
        for (value, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")] {
            assert_eq!(number(value), text);
        }
        assert_eq!(percent(0.0004), "< 0.1 %");
        assert_eq!(percent(0.512), "51 %");
    }
}
