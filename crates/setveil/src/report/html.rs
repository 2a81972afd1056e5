//! The page: sections of markup. Whatever is put into markup is escaped.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::About;
use super::style::STYLE;
use crate::error::steers;

/// A page that is being written.
#[derive(Debug)]
pub(super) struct Page {
    title: String,
    /// What stands below the title: name and value.
    about: Vec<(&'static str, String)>,
    sections: Vec<Section>,
}

/// A part of the page. Whatever stands in it is escaped, but for characters that
/// steer the direction of writing: whoever puts it on a page sees to those.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its heading.
    pub heading: String,
    /// What stands below.
    pub parts: Vec<Markup>,
}

impl Page {
    pub(super) fn new(about: &About, method: &str) -> Self {
        let About { title, data_set, date, responsible, no_sensitive } = about.clone();
        let title = title.unwrap_or_else(|| match &data_set {
            Some(name) => format!("Release report: {name}"),
            None => format!("Release report: {method}"),
        });
        let none = no_sensitive.then(|| "none, by decision of the custodian".to_owned());
        let about = [
            ("Data set", data_set),
            ("Date", date),
            ("Responsible", responsible),
            ("Sensitive items", none),
        ];
        let about = about.into_iter().filter_map(|(name, value)| Some((name, value?)));
        Self { title, about: about.collect(), sections: Vec::new() }
    }

    /// Starts a section; the one before ends.
    pub(super) fn section(&mut self, heading: &str) {
        self.sections.push(Section { heading: heading.to_owned(), parts: Vec::new() });
    }

    /// Adds to the section.
    pub(super) fn add(&mut self, part: Markup) {
        if let Some(section) = self.sections.last_mut() {
            section.parts.push(part);
        }
    }

    /// A paragraph of plain text; what stands between backticks is code.
    pub(super) fn text(&mut self, text: &str) {
        self.add(html! { p { (with_code(text)) } });
    }

    /// A remark.
    pub(super) fn note(&mut self, text: &str) {
        self.add(html! { p class="note" { (with_code(text)) } });
    }

    /// Commands.
    pub(super) fn code(&mut self, text: &str) {
        self.add(html! { pre { code { (text) } } });
    }

    /// A small heading.
    pub(super) fn heading(&mut self, text: &str) {
        self.add(html! { h3 { (text) } });
    }

    /// A list of plain texts.
    pub(super) fn list(&mut self, class: &str, entries: &[String]) {
        self.add(
            html! { ul class=(class) { @for entry in entries { li { (with_code(entry)) } } } },
        );
    }

    /// A drawing with its caption.
    pub(super) fn figure(&mut self, caption: &str, svg: String) {
        self.add(html! { figure { figcaption { (caption) } (PreEscaped(svg)) } });
    }

    /// A table: the first cell of each row is its header.
    pub(super) fn table(&mut self, caption: &str, head: &[&str], rows: &[Vec<String>]) {
        let numeric = |c: usize| {
            c > 0 && rows.iter().all(|row| row.get(c).is_none_or(|cell| is_number(cell)))
        };
        let class = |c: usize| numeric(c).then_some("n");
        self.add(html! {
            div class="table" {
                table {
                    caption { (caption) }
                    thead { tr {
                        @for (c, cell) in head.iter().enumerate() {
                            th scope="col" class=[class(c)] { (cell) }
                        }
                    } }
                    tbody {
                        @for row in rows { tr {
                            @for (c, cell) in row.iter().enumerate() {
                                // On narrow pages cells stand below each other with their heading.
                                @let heading = head.get(c).copied().unwrap_or_default();
                                @if c == 0 { th scope="row" data-h=(heading) { (breakable(cell)) } }
                                @else { td class=[class(c)] data-h=(heading) { (breakable(cell)) } }
                            }
                        } }
                    }
                }
            }
        });
    }

    /// The sections alone.
    pub(super) fn into_sections(self) -> Vec<Section> {
        self.sections
    }

    /// The whole page.
    pub(super) fn finish(self, tool: &str) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="robots" content="noindex";
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    a class="skip" href="#main" { "Skip to the content" }
                    header {
                        p class="brand" { "Setveil" }
                        h1 { (self.title) }
                        @if !self.about.is_empty() {
                            dl class="about" {
                                @for (name, value) in &self.about {
                                    div { dt { (name) } dd { (value) } }
                                }
                            }
                        }
                    }
                    nav aria-label="Contents" { ol {
                        @for (i, section) in self.sections.iter().enumerate() {
                            li { a href=(format!("#s{}", i + 1)) { (section.heading) } }
                        }
                    } }
                    main id="main" {
                        @for (i, section) in self.sections.iter().enumerate() {
                            section aria-labelledby=(format!("s{}", i + 1)) {
                                h2 id=(format!("s{}", i + 1)) { (section.heading) }
                                @for part in &section.parts { (part) "\n" }
                            }
                        }
                    }
                    footer { p {
                        "Made by " (tool) ". This page is complete in itself and loads nothing."
                    } }
                }
            }
        };
        // Nothing that stands in data steers the reader's text.
        let mut text = String::new();
        for c in page.into_string().chars() {
            if steers(c) && c != '\n' {
                text.extend(c.escape_default());
            } else {
                text.push(c);
            }
        }
        text + "\n"
    }
}

fn is_number(cell: &str) -> bool {
    let digits = cell.bytes().any(|b| b.is_ascii_digit());
    digits && cell.bytes().all(|b| b.is_ascii_digit() || b" .,%-<".contains(&b) || !b.is_ascii())
}

/// Text in which what stands between backticks is code.
pub(super) fn with_code(text: &str) -> Markup {
    html! {
        @for (i, piece) in text.split('`').enumerate() {
            @if i % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}

/// No word of ours has more letters: a label, which may be broken anywhere so
/// that it does not widen its table beyond the page.
const LONGEST_WORD: usize = 24;

/// Text in which long labels may be broken.
fn breakable(text: &str) -> Markup {
    html! {
        @for word in text.split_inclusive(' ') {
            @if word.chars().count() > LONGEST_WORD { span class="long" { (word) } } @else { (word) }
        }
    }
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

/// A share as a percentage; a dash if it is not known.
pub fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), percent)
}

fn percent(share: f64) -> String {
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
        let about = About::default().title(Some("<t>".into())).responsible(Some("<r>".into()));
        let mut page = Page::new(&about, "method");
        page.section("&");
        page.text("a `<b>` & \"c\"");
        page.table("<c>", &["\"h\""], &[vec!["<d>".into()]]);
        let html = page.finish("<tool>");
        for text in ["<t>", "<r>", "<b>", "<c>", "<d>", "<tool>"] {
            assert!(!html.contains(text), "{text}");
        }
        assert!(html.contains("<p>a <code>&lt;b&gt;</code> &amp; &quot;c&quot;</p>"), "{html}");
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
