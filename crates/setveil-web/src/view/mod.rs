//! What pages are made of. Whatever is put into markup is escaped.

pub(crate) mod assets;
pub(crate) mod parts;
pub(crate) mod plot;

use axum::response::Html;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use setveil::error::steers;

use crate::app::Ctx;
use crate::form::TOKEN;

/// Where in the site a page stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Publish,
    Receive,
    History,
    None,
}

/// The steps of a custodian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Data,
    Risk,
    Protect,
    Result,
}

/// A whole page.
pub(crate) fn page(ctx: &Ctx, title: &str, place: Place, body: Markup) -> Html<String> {
    let entries = [
        (Place::Publish, "", "Publish data"),
        (Place::Receive, "releases", "Use a release"),
        (Place::History, "history", "History"),
    ];
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " – Setveil" }
                link rel="icon" href=(ctx.url("mark.svg"));
                link rel="stylesheet" href=(ctx.url("style.css")) nonce=(ctx.nonce);
                // What needs a script goes, and what a script would show stays.
                noscript { link rel="stylesheet" href=(ctx.url("plain.css")) nonce=(ctx.nonce); }
                script src=(ctx.url("page.js")) nonce=(ctx.nonce) defer {}
            }
            body data-alive=(ctx.url("alive")) {
                a class="skip" href="#main" { "Skip to the content" }
                header class="top" {
                    div class="bar" {
                        a class="brand" href=(ctx.url("")) { (mark()) "Setveil" }
                        nav aria-label="Main" { ul {
                            @for (own, path, name) in entries {
                                li { a href=(ctx.url(path)) aria-current=[(own == place).then_some("page")] { (name) } }
                            }
                        } }
                        p class="local" { span class="dot" aria-hidden="true" {} "Your data stays on this machine" }
                    }
                }
                div id="gone" role="alert" hidden {
                    strong { "Setveil has ended." }
                    " What was not saved is lost. Start it again with "
                    code { "setveil serve" } "."
                }
                main id="main" tabindex="-1" { (body) }
                footer {
                    p { "Setveil " (env!("CARGO_PKG_VERSION")) ". Serving " code { (ctx.app.folder.root().display()) } " on " (ctx.app.address()) "." }
                    form method="post" action=(ctx.url("quit")) {
                        (token(ctx))
                        button class="quiet" { "End Setveil" }
                    }
                }
            }
        }
    };
    Html(calm(&page.into_string()))
}

/// Nothing that stands in data steers the reader's text.
pub(crate) fn calm(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    for c in page.chars() {
        if steers(c) && c != '\n' {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    text
}

/// The field that shows that a form is ours.
pub(crate) fn token(ctx: &Ctx) -> Markup {
    html! { input type="hidden" name=(TOKEN) value=(ctx.app.secrets().form); }
}

fn mark() -> Markup {
    html! { svg class="mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false" {
        (PreEscaped(assets::MARK_SHAPES))
    } }
}

/// Where a custodian is on the way; steps that were done are links.
pub(crate) fn steps(ctx: &Ctx, data: Option<u32>, now: Step) -> Markup {
    let all = [
        (Step::Data, "Data", ""),
        (Step::Risk, "Risk", "/risk"),
        (Step::Protect, "Protection", "/protect"),
        (Step::Result, "Result", ""),
    ];
    html! {
        nav class="steps" aria-label="Steps" { ol {
            @for (step, name, path) in all {
                li class=(if step < now { "done" } else if step == now { "now" } else { "later" }) {
                    @match (data, step < now) {
                        (Some(id), true) => { a href=(ctx.url(&format!("data/{id}{path}"))) { (name) } }
                        _ => { span aria-current=[(step == now).then_some("step")] { (name) } }
                    }
                }
            }
        } }
    }
}
