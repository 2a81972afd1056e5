//! The verdict in three colours, the figures that matter most, and how it was
//! checked.

use maud::{Markup, html};

use super::html::{Page, number, share, with_code};
use super::{Measured, Subject};
use crate::caution::Severity;
use crate::release::{Body, Release};
use crate::verify::Verdict;

/// What the page says first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Colour {
    /// The promise holds, and nothing weak was found.
    Green,
    /// The promise holds or cannot be seen, and something has to be thought about.
    Amber,
    /// The promise does not hold, or the release is empty.
    Red,
}

impl Colour {
    /// The colour of a release.
    pub fn of(verdict: &Verdict, cautions: &[crate::caution::Caution]) -> Self {
        match cautions.iter().map(|caution| caution.severity).max() {
            _ if !verdict.holds => Self::Red,
            Some(Severity::Red) => Self::Red,
            Some(Severity::Amber) => Self::Amber,
            _ if verdict.note.is_some() => Self::Amber,
            Some(Severity::Remark) | None => Self::Green,
        }
    }

    const fn class(self) -> &'static str {
        match self {
            Self::Green => "verdict green",
            Self::Amber => "verdict amber",
            Self::Red => "verdict red",
        }
    }
}

pub(super) fn verdict(page: &mut Page, subject: &Subject) {
    let Subject { release, verdict, cautions, measured, .. } = *subject;
    page.section("Verdict");
    let colour = Colour::of(verdict, cautions);
    let (headline, text) = words(colour, verdict);
    let open: Vec<_> = cautions.iter().filter(|c| c.severity > Severity::Remark).collect();
    page.add(html! {
        div class=(colour.class()) {
            strong { (headline) }
            p { (text) " (" (model(verdict)) ")" }
            @if !open.is_empty() {
                ul { @for caution in open { li { (with_code(&sentence(&caution.what))) } } }
            }
            @if let (true, Some(note)) = (verdict.holds, verdict.note) { p { (sentence(note)) } }
        }
    });
    page.add(facts(release, measured));
    page.add(html! {
        p class="note" {
            @if measured.is_none() {
                "This report was made from the release alone. With the original, the custodian \
                 can add risk and utility: "
                code { "setveil report RELEASE --original DATA -o report.html" } "."
            } @else {
                "Risk and utility were measured against the original data, and people who can \
                 be attacked are shown with what is known of them. This page is confidential."
            }
        }
    });
}

fn words(colour: Colour, verdict: &Verdict) -> (&'static str, String) {
    match colour {
        Colour::Green => (
            "The promise holds.",
            "It was checked on the published files alone, and nothing was found that speaks \
             against handing them out. Read what is not promised below."
                .to_owned(),
        ),
        Colour::Amber if verdict.note.is_some() => (
            "The files are in order; the promise itself cannot be seen in them.",
            "Think about the following before the release is handed out.".to_owned(),
        ),
        Colour::Amber => (
            "The promise holds, but read this before publishing.",
            "It was checked on the published files alone.".to_owned(),
        ),
        Colour::Red if !verdict.holds => (
            "Do not publish: the promise does NOT hold.",
            format!("{} found.", violations(verdict)),
        ),
        Colour::Red => {
            ("Do not publish: there is nothing in it.", "The files are in order.".into())
        }
    }
}

fn violations(verdict: &Verdict) -> String {
    match verdict.violation_count {
        1 => "1 violation was".to_owned(),
        n => format!("{} violations were", number(n)),
    }
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let rest = letters.as_str();
    format!("{first}{rest}{}", if text.ends_with('.') { "" } else { "." })
}

fn model(verdict: &Verdict) -> String {
    let mut parts = vec![verdict.model.to_owned()];
    for (name, value) in [("k", verdict.k), ("m", verdict.m)] {
        parts.extend(value.map(|v| format!("{name} = {v}")));
    }
    parts.extend(verdict.epsilon.map(|e| format!("epsilon = {e}")));
    parts.join(", ")
}

/// The figures that matter most; of the risk the larger ones too.
fn facts(release: &Release, measured: Option<&Measured>) -> Markup {
    let mut facts = vec![
        ("records".to_owned(), number(release.manifest.records)),
        ("items".to_owned(), number(release.manifest.items)),
        (parts_name(release).to_owned(), number(parts(release) as u64)),
    ];
    if let Some(measured) = measured {
        let m = release.manifest.guarantee.model.m().unwrap_or(2);
        // What the promise covers, and what it does not cover any more.
        for level in measured.risk.iter().filter(|l| l.known == m || l.known == m + 2) {
            let known = level.known;
            facts.push((format!("found by {known} items in the raw data"), share(level.raw)));
            facts.push((format!("found by {known} items in the release"), share(level.linking)));
        }
        if let Some(tkd) = measured.evaluation.tkd {
            facts.push(("frequent combinations kept".to_owned(), share(Some(1.0 - tkd))));
        }
    }
    html! {
        dl class="facts" { @for (name, value) in &facts { div { dt { (name) } dd { (value) } } } }
    }
}

pub(super) fn parts_name(release: &Release) -> &'static str {
    match &release.body {
        Body::Disassociated(_) => "clusters",
        Body::Generalized(_) => "classes",
        Body::Grouped(_) => "groups",
        Body::Located(_) => "leaves",
    }
}

fn parts(release: &Release) -> usize {
    match &release.body {
        Body::Disassociated(body) => body.clusters.iter().map(|c| c.leaves().len()).sum(),
        Body::Generalized(body) => body.classes.len(),
        Body::Grouped(body) => body.groups.len(),
        Body::Located(body) => body.leaves.len(),
    }
}

pub(super) fn verification(page: &mut Page, verdict: &Verdict) {
    page.section("How it was checked");
    page.text(
        "The check reads nothing but the published files and shares no code with the method that \
         made them. Anybody who has the release can repeat it with `setveil verify RELEASE`.",
    );
    if verdict.holds {
        page.text(match verdict.note {
            None => "Result: the promise holds; no violation was found.",
            Some(_) => "Result: the files are well-formed; more than that no file can show.",
        });
        return;
    }
    let rows: Vec<Vec<String>> = verdict
        .violations
        .iter()
        .take(20)
        .map(|v| {
            let itemset = v.itemset.join(", ");
            vec![v.rule.into(), v.r#where.clone(), itemset, number(v.support), number(v.required)]
        })
        .collect();
    let caption = format!("The first of {} violations", number(verdict.violation_count));
    page.table(&caption, &["rule", "place", "items", "found", "required"], &rows);
}
