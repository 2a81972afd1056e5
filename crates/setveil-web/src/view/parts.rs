//! Small pieces that many pages use.

use maud::{Markup, html};
use setveil::report::{Colour, number};
use setveil::verify::Verdict;

use crate::form::encoded;

/// A figure with its name.
pub(crate) fn facts(facts: &[(&str, String)]) -> Markup {
    html! {
        dl class="facts" { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } }
    }
}

/// Text in which what stands between backticks is code.
pub(crate) fn with_code(text: &str) -> Markup {
    html! {
        @for (i, piece) in text.split('`').enumerate() {
            @if i % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}

/// With a capital letter and a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let rest = letters.as_str();
    format!("{first}{rest}{}", if text.ends_with('.') { "" } else { "." })
}

/// A command with a button that copies it.
pub(crate) fn command(text: &str) -> Markup {
    html! {
        div class="command" {
            pre tabindex="0" aria-label="Command" { code { (text) } }
            button type="button" class="quiet copy js" { "Copy" }
        }
    }
}

/// A number of bytes for people.
pub(crate) fn bytes(count: u64) -> String {
    let units = [(1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")];
    match units.into_iter().find(|(size, _)| count >= *size) {
        Some((size, unit)) => format!("{:.1} {unit}", count as f64 / size as f64),
        None => format!("{count} bytes"),
    }
}

/// `1 record`, `2 records`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", number(count), if count == 1 { "" } else { "s" })
}

/// Links to the pages of a list. `address` is the list's own without `page`.
pub(crate) fn pager(address: &str, page: usize, size: usize, total: usize) -> Markup {
    let last = total.saturating_sub(1) / size;
    let join = if address.contains('?') { '&' } else { '?' };
    let to = |page: usize| format!("{address}{join}page={page}");
    html! {
        @if last > 0 {
            nav class="pager" aria-label="Pages of the list" {
                @if page > 0 { a rel="prev" href=(to(page - 1)) { "Previous" } }
                span { "Page " (number(page as u64 + 1)) " of " (number(last as u64 + 1)) }
                @if page < last { a rel="next" href=(to(page + 1)) { "Next" } }
            }
        }
    }
}

/// A query string from names and values.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    let pair = |(name, value): &(&str, &str)| format!("{name}={}", encoded(value));
    pairs.iter().map(pair).collect::<Vec<_>>().join("&")
}

/// The colour of a verdict as a class, with a word.
pub(crate) fn colour(colour: Colour) -> (&'static str, &'static str) {
    match colour {
        Colour::Green => ("green", "holds"),
        Colour::Amber => ("amber", "read first"),
        Colour::Red => ("red", "do not publish"),
    }
}

/// A verdict on a release that somebody received.
pub(crate) fn verdict(verdict: &Verdict, cautions: &[setveil::caution::Caution]) -> Markup {
    let (class, _) = colour(Colour::of(verdict, cautions));
    let mut model = vec![verdict.model.to_owned()];
    for (name, value) in [("k", verdict.k), ("m", verdict.m)] {
        model.extend(value.map(|v| format!("{name} = {v}")));
    }
    html! {
        div class={ "verdict " (class) } {
            strong { @if verdict.holds { "The promise holds." } @else { "The promise does NOT hold." } }
            p {
                @if verdict.holds { "It was checked on the files alone" } @else {
                    (counted(verdict.violation_count, "violation")) " in the files"
                }
                " (" (model.join(", ")) ")."
            }
            @if !cautions.is_empty() {
                ul { @for caution in cautions { li { (with_code(&sentence(&caution.what))) } } }
            }
            @if let (true, Some(note)) = (verdict.holds, verdict.note) { p { (sentence(note)) } }
        }
        @if !verdict.holds {
            div class="table" { table {
                caption { "The first violations" }
                thead { tr {
                    th scope="col" { "rule" } th scope="col" { "place" } th scope="col" { "items" }
                    th scope="col" class="n" { "found" } th scope="col" class="n" { "required" }
                } }
                tbody { @for v in verdict.violations.iter().take(10) { tr {
                    th scope="row" data-h="rule" { (v.rule) }
                    td data-h="place" { (v.r#where) }
                    td data-h="items" { (v.itemset.join(", ")) }
                    td class="n" data-h="found" { (number(v.support)) }
                    td class="n" data-h="required" { (number(v.required)) }
                } } }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup() {
        let hostile = "<img src=x onerror=alert(1)>\"'&`<b>`";
        for markup in [
            facts(&[("a", hostile.to_owned())]),
            with_code(hostile),
            command(hostile),
            pager(&format!("x?{}", query(&[("q", hostile)])), 1, 10, 100),
        ] {
            let text = markup.into_string();
            assert!(!text.contains("<img") && !text.contains("<b>"), "{text}");
        }
    }

    #[test]
    fn there_are_as_many_pages_as_needed() {
        assert!(pager("a", 0, 10, 10).into_string().is_empty());
        let text = pager("a", 1, 10, 21).into_string();
        assert!(text.contains("a?page=0") && text.contains("a?page=2") && text.contains("2 of 3"));
        assert_eq!(bytes(1536), "1.5 kB");
    }
}
