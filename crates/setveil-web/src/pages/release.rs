//! A release that somebody received: does it keep its promise, what is in it,
//! and how often do things occur together?

use std::sync::{Arc, Mutex};

use axum::extract::Path;
use maud::{Markup, html};
use setveil::query::{Answer, Index};
use setveil::reconstruct::TermOccurrences;
use setveil::report::number;
use setveil::workflow::{self, QueryOptions, files, find_answers};

use crate::app::{Ctx, Fault, Reply};
use crate::form::{Asked, Fields, Form, encoded};
use crate::shelf::Opened;
use crate::view::Place;
use crate::view::parts::{counted, facts, pager, verdict};

/// So many items can be asked for at once.
const ASKED: usize = 16;

/// Reads and checks a release.
pub(crate) async fn open(ctx: Ctx, Form(form): Form) -> Reply {
    let name = form.all("dir").next().unwrap_or_default().to_owned();
    let Some(path) = ctx.app.folder.existing(&name).filter(|path| path.is_dir()) else {
        return Err(ctx.bad("There is no such folder."));
    };
    let app = ctx.app.clone();
    ctx.start(format!("Checking {name}"), "releases", move |job| {
        let (release, verdict) = files::verify(&path, job)?;
        let cautions = workflow::cautions(&release);
        let items = workflow::items(&release, &QueryOptions::default(), job)?;
        let index = Index::prepare(Arc::new(release), TermOccurrences::default(), job)?;
        let id = app.shelf().add_opened(Opened {
            id: 0,
            name,
            verdict,
            cautions,
            index,
            items,
            itemsets: Mutex::new(None),
            written: Mutex::new(Vec::new()),
        });
        Ok(app.url(&format!("release/{id}")))
    })
}

/// The release with this number.
pub(super) fn opened(ctx: &Ctx, id: u32) -> Result<Arc<Opened>, Fault> {
    ctx.app.shelf().opened(id).ok_or_else(|| ctx.absent("This release"))
}

pub(crate) async fn show(ctx: Ctx, Path(id): Path<u32>, Asked(asked): Asked) -> Reply {
    let opened = opened(&ctx, id)?;
    let manifest = &opened.index.release().manifest;
    let chosen: Vec<&str> = asked.all("item").filter(|item| !item.is_empty()).take(ASKED).collect();
    ctx.page(&opened.name, Place::Receive, html! {
        h1 class="label" { (opened.name) }
        (verdict(&opened.verdict, &opened.cautions))
        (facts(&[
            ("records", number(manifest.records)),
            ("items", number(manifest.items)),
            ("method", manifest.method.clone()),
            ("made by", manifest.tool.clone()),
        ]))
        @if let Some(promises) = manifest.promises() {
            details { summary { "What is promised against whom" }
                dl class="words" { @for (about, promise) in promises.in_words() { div { dt { (about) } dd { (promise) } } } }
            }
        }
        div class="columns" {
            (ask(&ctx, &opened, &asked, &chosen))
            div {
                (answer(&ctx, &opened, &asked, &chosen))
                (super::itemsets::card(&ctx, &opened))
                (super::written::card(&ctx, &opened))
            }
        }
    })
}

/// The address of the page with these items in the question.
fn address(ctx: &Ctx, id: u32, items: &[&str], words: &str) -> String {
    let mut pairs: Vec<String> =
        items.iter().map(|item| format!("item={}", encoded(item))).collect();
    pairs.push(format!("q={}", encoded(words)));
    ctx.url(&format!("release/{id}?{}", pairs.join("&")))
}

/// All items, to be searched and to be added to the question.
fn ask(ctx: &Ctx, opened: &Opened, asked: &Fields, chosen: &[&str]) -> Markup {
    let words = asked.get("q").unwrap_or_default();
    let (page, window) = super::window(asked);
    let found = find_answers(&opened.items, words, window);
    html! {
        section class="card" aria-labelledby="items" {
            h2 id="items" { "Items" }
            form class="search" role="search" method="get" action=(ctx.url(&format!("release/{}", opened.id))) data-live="found" {
                @for item in chosen { input type="hidden" name="item" value=(item); }
                label for="q" { "Search by name" }
                input id="q" type="search" name="q" value=(words) autocomplete="off" spellcheck="false";
                button class="second" { "Search" }
            }
            div id="found" {
                p role="status" { (counted(found.total as u64, "item")) @if !words.is_empty() { " with “" (words) "”" } }
                div class="table" { table {
                    caption { "In how many records they are" }
                    thead { tr {
                        th scope="col" { "item" } th scope="col" class="n" { "at least" } th scope="col" class="n" { "expected" } th scope="col" class="n" { "at most" } th scope="col" { span class="hidden-text" { "Ask" } }
                    } }
                    tbody { @for line in &found.shown {
                        @let item = line.itemset.first().map(String::as_str).unwrap_or_default();
                        tr {
                            th scope="row" data-h="item" { span class="label" { (item) } }
                            (bounds(line))
                            td { @if !chosen.contains(&item) {
                                @let more: Vec<&str> = chosen.iter().copied().chain([item]).collect();
                                a class="quiet button" href=(address(ctx, opened.id, &more, words)) aria-label={ "Ask for " (item) } { "Ask" }
                            } }
                        }
                    } }
                } }
                @let own = address(ctx, opened.id, chosen, words);
                (pager(&own, page, window.take, found.total))
            }
        }
    }
}

/// The numbers of an answer as cells.
pub(super) fn bounds(answer: &Answer) -> Markup {
    html! {
        td class="n" data-h="at least" { (number(answer.lower)) }
        td class="n" data-h="expected" { (format!("{:.1}", answer.expected)) }
        td class="n" data-h="at most" { @match answer.upper { Some(most) => { (number(most)) } None => { "unknown" } } }
    }
}

/// The answer to the question that is being asked.
fn answer(ctx: &Ctx, opened: &Opened, asked: &Fields, chosen: &[&str]) -> Markup {
    let words = asked.get("q").unwrap_or_default();
    let answer = if chosen.is_empty() { None } else { opened.index.ask(chosen).ok() };
    html! {
        section class="card" aria-labelledby="together" {
            h2 id="together" { "How often together?" }
            @if chosen.is_empty() { p class="note" { "Choose items on the list with “Ask”." } }
            ul class="chips asked" { @for item in chosen {
                @let fewer: Vec<&str> = chosen.iter().copied().filter(|other| other != item).collect();
                li { (item) " " a href=(address(ctx, opened.id, &fewer, words)) aria-label={ "Leave out " (item) } { "×" } }
            } }
            @if let Some(answer) = &answer {
                div role="status" {
                    (facts(&[
                        ("at least", number(answer.lower)),
                        ("expected", format!("{:.1}", answer.expected)),
                        ("at most", answer.upper.map_or_else(|| "unknown".to_owned(), number)),
                    ]))
                    p class="note" { "Records of the original that have all of them. The bounds always hold." }
                    @if !answer.unknown.is_empty() { p class="verdict amber" { "The release does not have: " (answer.unknown.join(", ")) } }
                }
            }
        }
    }
}
