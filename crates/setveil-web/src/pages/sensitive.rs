//! Which items are sensitive: a list that can be searched, a page at a time.

use axum::extract::Path;
use maud::{Markup, html};
use setveil::report::number;

use crate::app::{Ctx, Reply};
use crate::form::{Asked, Form, encoded};
use crate::view::parts::{counted, pager};
use crate::view::{self, Place, Step};

/// So many items can be sensitive.
const MOST: usize = 10_000;
/// So many of the chosen ones are shown.
const SHOWN: usize = 100;

pub(crate) async fn show(ctx: Ctx, Path(id): Path<u32>, Asked(asked): Asked) -> Reply {
    let data = super::data(&ctx, id)?;
    let words = asked.get("q").unwrap_or_default().to_owned();
    let (page, window) = super::window(&asked);
    let said = data.said();
    let found = data.catalogue.find(&data.dataset, &words, window);
    let own = format!("data/{id}/sensitive");
    ctx.page("Sensitive items", Place::Publish, html! {
        (view::steps(&ctx, Some(id), Step::Protect))
        h1 { "Which items are sensitive?" }
        p class="lead" { "Items that nobody may be linked to: a diagnosis, a medicine, a topic. They are treated apart." }
        div class="columns" {
            section class="card" aria-labelledby="all" {
                h2 id="all" { "Items of the data" }
                (search(&ctx, &own, &words))
                div id="found" {
                    p role="status" { (counted(found.total as u64, "item")) @if !words.is_empty() { " with “" (words) "”" } }
                    ul class="lines" { @for listed in &found.shown {
                        li {
                            span class="label" { (listed.item) }
                            span class="note" { (number(listed.support.into())) " records" }
                            (button(&ctx, id, &listed.item, &words, page, said.sensitive.contains(&listed.item)))
                        }
                    } }
                    (pager(&ctx.url(&format!("{own}?q={}", encoded(&words))), page, window.take, found.total))
                }
            }
            section class="card" aria-labelledby="chosen" {
                h2 id="chosen" { "Sensitive" }
                @if said.sensitive.is_empty() { p class="note" { "None yet." } }
                ul class="lines" { @for item in said.sensitive.iter().take(SHOWN) {
                    li { span class="label" { (item) } (button(&ctx, id, item, &words, page, true)) }
                } }
                @if said.sensitive.len() > SHOWN { p class="note" { "and " (said.sensitive.len() - SHOWN) " more" } }
                p class="go" { a class="button" href=(ctx.url(&format!("data/{id}/protect"))) { "Done" } }
            }
        }
    })
}

/// A field that searches a list; a script sends it while somebody types.
pub(super) fn search(ctx: &Ctx, own: &str, words: &str) -> Markup {
    html! {
        form class="search" role="search" method="get" action=(ctx.url(own)) data-live="found" {
            label for="q" { "Search by name" }
            input id="q" type="search" name="q" value=(words) autocomplete="off" spellcheck="false";
            button class="second" { "Search" }
        }
    }
}

fn button(ctx: &Ctx, id: u32, item: &str, words: &str, page: usize, chosen: bool) -> Markup {
    let (name, word) = if chosen { ("remove", "Remove") } else { ("add", "Add") };
    html! {
        form method="post" action=(ctx.url(&format!("data/{id}/sensitive"))) {
            (view::token(ctx))
            input type="hidden" name="q" value=(words);
            input type="hidden" name="page" value=(page);
            button class="quiet" name=(name) value=(item) aria-label={ (word) " " (item) } { (word) }
        }
    }
}

pub(crate) async fn change(ctx: Ctx, Path(id): Path<u32>, Form(form): Form) -> Reply {
    let data = super::data(&ctx, id)?;
    let known = |item: &&str| data.dataset.vocabulary().id(item).is_some();
    let add: Vec<String> = form.all("add").filter(known).map(str::to_owned).collect();
    let remove: Vec<&str> = form.all("remove").collect();
    if data.said().sensitive.len() + add.len() > MOST {
        return Err(ctx.bad("More than 10,000 sensitive items are too many for this page."));
    }
    data.say(|said| {
        said.sensitive.extend(add);
        remove.iter().for_each(|item| {
            said.sensitive.remove(*item);
        });
    });
    let words = encoded(form.get("q").unwrap_or_default());
    let page = form.number::<usize>("page").unwrap_or(0);
    Ok(ctx.to(&format!("data/{}/sensitive?q={words}&page={page}", data.id)))
}
