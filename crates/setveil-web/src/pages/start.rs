//! The two entrances: data to be published, and releases to be used.

use axum::http::StatusCode;
use maud::{Markup, html};
use setveil::report::number;

use crate::app::{Ctx, Reply};
use crate::folder::{Entry, Kind, Listing};
use crate::form::{Asked, Form};
use crate::view::parts::{bytes, query};
use crate::view::{self, Place, Step};

/// For custodians.
pub(crate) async fn publish(ctx: Ctx, Asked(asked): Asked) -> Reply {
    let (folder, listing) = listing(&ctx, asked.get("dir").unwrap_or_default());
    let open = ctx.app.shelf().all_data();
    ctx.page("Publish data", Place::Publish, html! {
        (view::steps(&ctx, None, Step::Data))
        h1 { "Which data do you want to publish?" }
        p class="lead" {
            "One record per person, each a set of things: a basket, diagnosis codes, visited pages. Setveil shows how \
             easily people are found in it, protects it, and proves what it promises."
        }
        div class="columns" {
            section class="card" aria-labelledby="files" {
                h2 id="files" { "Choose a file" }
                (crumbs(&ctx, "", &folder))
                (files(&ctx, &listing, Wanted::Data))
            }
            div {
                section class="card" aria-labelledby="drop" {
                    h2 id="drop" { "Or drop one" }
                    form class="drop" method="post" enctype="multipart/form-data" action=(ctx.url("drop")) {
                        (view::token(&ctx))
                        label for="file" { "A file from elsewhere on this machine" }
                        input id="file" type="file" name="file" required;
                        p class="note" { "It is copied into the folder that is served, up to " (bytes(ctx.app.options.upload)) ", and goes nowhere else." }
                        button { "Copy and open" }
                    }
                }
                @if !open.is_empty() {
                    section class="card" aria-labelledby="open" {
                        h2 id="open" { "Open in this session" }
                        ul class="plain" { @for data in &open {
                            li { a href=(ctx.url(&format!("data/{}", data.id))) { (data.name) } " "
                                span class="note" { (number(data.dataset.len() as u64)) " records" } }
                        } }
                    }
                }
            }
        }
    })
}

/// For recipients.
pub(crate) async fn receive(ctx: Ctx, Asked(asked): Asked) -> Reply {
    let (folder, listing) = listing(&ctx, asked.get("dir").unwrap_or_default());
    let open = ctx.app.shelf().all_opened();
    ctx.page("Use a release", Place::Receive, html! {
        h1 { "Which release did you receive?" }
        p class="lead" {
            "A release is a folder with a manifest. Setveil checks from its files alone whether it keeps its promise, and \
             answers how often things occur together, with bounds that always hold."
        }
        div class="columns" {
            section class="card" aria-labelledby="files" {
                h2 id="files" { "Choose a release" }
                (crumbs(&ctx, "releases", &folder))
                (files(&ctx, &listing, Wanted::Release))
            }
            @if !open.is_empty() {
                section class="card" aria-labelledby="open" {
                    h2 id="open" { "Open in this session" }
                    ul class="plain" { @for release in &open {
                        li { a href=(ctx.url(&format!("release/{}", release.id))) { (release.name) } }
                    } }
                }
            }
        }
    })
}

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Data,
    Release,
}

fn listing(ctx: &Ctx, folder: &str) -> (String, Listing) {
    let folder = folder.trim_matches('/').to_owned();
    match ctx.app.folder.list(&folder) {
        Some(listing) => (folder, listing),
        None => (String::new(), ctx.app.folder.list("").unwrap_or_default()),
    }
}

/// The way from the served folder to the one that is shown.
fn crumbs(ctx: &Ctx, page: &str, folder: &str) -> Markup {
    let parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let root = ctx.app.folder.root();
    let root = root.file_name().map_or_else(|| "/".into(), |name| name.to_string_lossy());
    html! {
        @if !parts.is_empty() {
            nav class="crumbs" aria-label="Folder" {
                a href=(ctx.url(page)) { (root) }
                @for (i, part) in parts.iter().enumerate() {
                    span aria-hidden="true" { "/" }
                    a href=(ctx.url(&format!("{page}?{}", query(&[("dir", &parts[..=i].join("/"))])))) { (part) }
                }
            }
        }
    }
}

fn files(ctx: &Ctx, listing: &Listing, wanted: Wanted) -> Markup {
    let shown: Vec<&Entry> = listing.entries.iter().filter(|entry| fits(entry, wanted)).collect();
    let what = if wanted == Wanted::Data { "data files" } else { "releases" };
    html! {
        @if shown.is_empty() {
            p class="note" { "There are no " (what) " in this folder." }
        }
        ul class="files" { @for entry in &shown { li { (file(ctx, entry, wanted)) } } }
        @if listing.more > 0 {
            p class="note" { "… and " (number(listing.more as u64)) " more. Serve a smaller folder to see them." }
        }
    }
}

fn fits(entry: &Entry, wanted: Wanted) -> bool {
    match entry.kind {
        Kind::Folder => true,
        Kind::Release => wanted == Wanted::Release,
        Kind::Data(_) | Kind::Other => wanted == Wanted::Data,
    }
}

fn file(ctx: &Ctx, entry: &Entry, wanted: Wanted) -> Markup {
    let (action, field) = match wanted {
        Wanted::Data => ("data", "file"),
        Wanted::Release => ("release", "dir"),
    };
    let page = if wanted == Wanted::Data { "" } else { "releases" };
    let about = match entry.kind {
        Kind::Folder => "folder".to_owned(),
        Kind::Release => "release".to_owned(),
        Kind::Data(format) => format!("{format}, {}", bytes(entry.bytes)),
        Kind::Other => format!("unknown format, {}", bytes(entry.bytes)),
    };
    html! {
        @if entry.kind == Kind::Folder {
            a class="file folder" href=(ctx.url(&format!("{page}?{}", query(&[("dir", &entry.path)])))) {
                span class="name" { (entry.name) } span class="note" { (about) }
            }
        } @else {
            form method="post" action=(ctx.url(action)) {
                (view::token(ctx))
                input type="hidden" name=(field) value=(entry.path);
                button class={ "file " (if entry.kind == Kind::Other { "other" } else { "known" }) } {
                    span class="name" { (entry.name) } span class="note" { (about) }
                }
            }
        }
    }
}

/// Says that the server is there.
pub(crate) async fn alive() -> &'static str {
    "yes"
}

/// Ends the server.
pub(crate) async fn quit(ctx: Ctx, _: Form) -> Reply {
    let reply = ctx.page(
        "Setveil has ended",
        Place::None,
        html! {
            h1 { "Setveil has ended" }
            p class="lead" { "You can close this page. What was saved is in the folder." }
        },
    );
    let app = ctx.app.clone();
    tokio::spawn(async move {
        // Until this answer is on its way.
        tokio::time::sleep(std::time::Duration::from_millis(150)).await;
        app.quit.notify_one();
    });
    reply
}

/// An address that leads nowhere.
pub(crate) async fn nowhere(ctx: Ctx) -> Reply {
    Err(ctx.fault(StatusCode::NOT_FOUND, "There is no such page."))
}
