//! Which hierarchy: a file of the folder, or one made from the items. It can be searched.

use std::sync::Arc;

use axum::extract::Path;
use maud::{Markup, html};
use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::io;
use setveil::report::number;
use setveil::workflow::{find_nodes, missing_from};

use crate::app::{Ctx, Reply};
use crate::form::{Asked, Fields, Form, encoded};
use crate::shelf::{Data, Tree, TreeFrom};
use crate::view::parts::{counted, pager};
use crate::view::{self, Place, Step};

pub(crate) async fn show(ctx: Ctx, Path(id): Path<u32>, Asked(asked): Asked) -> Reply {
    let data = super::data(&ctx, id)?;
    let said = data.said();
    let own = format!("data/{id}/hierarchy");
    let files: Vec<String> = ctx
        .app
        .folder
        .list("")
        .unwrap_or_default()
        .entries
        .into_iter()
        .map(|entry| entry.path)
        .filter(|path| path.contains(".csv") || path.contains(".txt"))
        .collect();
    ctx.page("Hierarchy", Place::Publish, html! {
        (view::steps(&ctx, Some(id), Step::Protect))
        h1 { "Which hierarchy?" }
        p class="lead" { "A tree that says what is more general: beer, alcohol, everything. Some methods replace items by what stands above them." }
        div class="columns" {
            section class="card" aria-labelledby="choose" {
                h2 id="choose" { "Choose" }
                form method="post" action=(ctx.url(&own)) {
                    (view::token(&ctx))
                    label for="file" { "A file of the folder: one leaf a line, " code { "leaf;parent;...;*" } }
                    input id="file" name="file" list="files" required autocomplete="off" spellcheck="false";
                    datalist id="files" { @for file in &files { option value=(file) {} } }
                    p { button { "Use this file" } }
                }
                form method="post" action=(ctx.url(&own)) {
                    (view::token(&ctx))
                    label for="fanout" { "Or made from the items in the order of their names. Items in a group:" }
                    input id="fanout" type="number" name="fanout" min="2" max="1000" value="5" required;
                    p { button class="second" { "Make one" } }
                    p class="note" { "Such a tree knows nothing of meaning. It names every item of the data, unless names are hidden." }
                }
                p class="go" { a class="button" href=(ctx.url(&format!("data/{id}/protect"))) { "Done" } }
            }
            section class="card" aria-labelledby="tree" {
                h2 id="tree" { "The tree" }
                @match &said.tree {
                    None => { p class="note" { "None chosen yet." } }
                    Some(tree) => { (searchable(&ctx, &own, tree, &data, &asked)) }
                }
            }
        }
    })
}

fn searchable(ctx: &Ctx, own: &str, tree: &Tree, data: &Data, asked: &Fields) -> Markup {
    let words = asked.get("q").unwrap_or_default();
    let (page, window) = super::window(asked);
    let found = find_nodes(&tree.tree, words, window);
    let (missing, first) = missing_from(&tree.tree, &data.dataset, 5);
    html! {
        p { (super::protect::tree_name(&tree.from)) ": " (counted(tree.tree.leaf_count(0).into(), "leaf").replace("leafs", "leaves")) ", " (counted(tree.tree.len() as u64, "node")) "." }
        @if missing > 0 {
            p class="verdict amber" { (number(missing as u64)) " items of the data are no leaf of it: " (first.join(", ")) @if missing > first.len() { ", …" } }
        }
        (super::sensitive::search(ctx, own, words))
        div id="found" {
            p role="status" { (counted(found.total as u64, "node")) @if !words.is_empty() { " with “" (words) "”" } }
            ul class="lines" { @for node in &found.shown { li {
                span class="label" { (node.path.join(" › ")) }
                span class="note" { @if node.leaf { "leaf" } @else { (number(node.leaves.into())) " leaves" } }
            } } }
            (pager(&ctx.url(&format!("{own}?q={}", encoded(words))), page, window.take, found.total))
        }
    }
}

pub(crate) async fn change(ctx: Ctx, Path(id): Path<u32>, Form(form): Form) -> Reply {
    let data = super::data(&ctx, id)?;
    let name = form.all("file").next().map(str::to_owned);
    let path = name.as_deref().map(|name| ctx.app.folder.existing(name));
    let fanout: usize = form.number("fanout").unwrap_or(5);
    let (app, place) = (ctx.app.clone(), format!("data/{id}/hierarchy"));
    let Some(path) = path else {
        return ctx.start("Making a hierarchy", &place.clone(), move |_| {
            let tree = balanced(data.dataset.vocabulary(), fanout, LeafOrder::Natural)?;
            let tree = Tree { tree: Arc::new(tree), from: TreeFrom::Data(fanout) };
            data.say(|said| said.tree = Some(tree));
            Ok(app.url(&place))
        });
    };
    let Some(path) = path.filter(|path| path.is_file()) else {
        return Err(ctx.bad("There is no such file in the folder that is served."));
    };
    ctx.start("Reading the hierarchy", &place.clone(), move |_| {
        let tree = io::read_hierarchy(&path)?;
        let from = TreeFrom::File(name.unwrap_or_default());
        data.say(|said| said.tree = Some(Tree { tree: Arc::new(tree), from }));
        Ok(app.url(&place))
    })
}
