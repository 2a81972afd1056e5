//! The most frequent combinations of a release.

use std::sync::Arc;

use axum::extract::Path;
use maud::{Markup, html};
use setveil::workflow::{self, ItemsetOptions};

use crate::app::{Ctx, Reply};
use crate::form::{Asked, Form, encoded};
use crate::shelf::Opened;
use crate::view::parts::{counted, pager};
use crate::view::{self, Place};

/// So many at most.
const MOST: usize = 10_000;

/// The form that asks for them.
pub(super) fn card(ctx: &Ctx, opened: &Opened) -> Markup {
    let found = opened.itemsets.lock().expect("no panic while holding it").clone();
    html! {
        section class="card" aria-labelledby="itemsets" {
            h2 id="itemsets" { "Most frequent combinations" }
            @if let Some(found) = found { p { a href=(ctx.url(&format!("release/{}/itemsets", opened.id))) { (counted(found.itemsets.len() as u64, "combination")) } } }
            form method="post" action=(ctx.url(&format!("release/{}/itemsets", opened.id))) {
                (view::token(ctx))
                label for="n" { "How many" }
                input id="n" type="number" name="n" min="1" max=(MOST) value="100" required;
                label for="at_least" { "Smallest number of items" }
                input id="at_least" type="number" name="at_least" min="1" max="8" value="2" required;
                p { button class="second" { "Find them" } }
            }
        }
    }
}

pub(crate) async fn start(ctx: Ctx, Path(id): Path<u32>, Form(form): Form) -> Reply {
    let opened = super::release::opened(&ctx, id)?;
    let options = ItemsetOptions::default()
        .n(form.number("n").unwrap_or(100).clamp(1, MOST))
        .at_least(form.number("at_least").unwrap_or(2).clamp(1, 8));
    let app = ctx.app.clone();
    ctx.start("Looking for frequent combinations", &format!("release/{id}"), move |job| {
        let found = workflow::itemsets(opened.index.release(), &options, job)?;
        *opened.itemsets.lock().expect("no panic while holding it") = Some(Arc::new(found));
        Ok(app.url(&format!("release/{id}/itemsets")))
    })
}

pub(crate) async fn show(ctx: Ctx, Path(id): Path<u32>, Asked(asked): Asked) -> Reply {
    let opened = super::release::opened(&ctx, id)?;
    let found = opened.itemsets.lock().expect("no panic while holding it").clone();
    let Some(found) = found else { return Ok(ctx.to(&format!("release/{id}"))) };
    let words = asked.get("q").unwrap_or_default();
    let (page, window) = super::window(&asked);
    let matches = workflow::find_answers(&found.itemsets, words, window);
    let own = format!("release/{id}/itemsets");
    ctx.page("Frequent combinations", Place::Receive, html! {
        h1 { "Frequent combinations" }
        p class="lead" { "Of " a class="label" href=(ctx.url(&format!("release/{id}"))) { (opened.name) } ", by the expected number of records. The bounds always hold." }
        section class="card" aria-label="Combinations" {
            (super::sensitive::search(&ctx, &own, words))
            div id="found" {
                p role="status" { (counted(matches.total as u64, "combination")) @if !words.is_empty() { " with “" (words) "”" } }
                div class="table" { table {
                    caption { "In how many records they are" }
                    thead { tr { th scope="col" { "items" } th scope="col" class="n" { "at least" } th scope="col" class="n" { "expected" } th scope="col" class="n" { "at most" } } }
                    tbody { @for answer in &matches.shown { tr {
                        th scope="row" data-h="items" { (super::data::chips(&answer.itemset)) }
                        (super::release::bounds(answer))
                    } } }
                } }
                (pager(&ctx.url(&format!("{own}?q={}", encoded(words))), page, window.take, matches.total))
            }
        }
    })
}
