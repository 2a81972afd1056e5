//! How easily people are found in the raw data.

use axum::extract::Path;
use maud::{Markup, html};
use setveil::profile;
use setveil::report::{number, share};
use setveil::workflow::{self, Profiled};

use crate::app::{Ctx, Reply};
use crate::form::Form;
use crate::view::parts::{facts, sentence};
use crate::view::plot::{Line, curve};
use crate::view::{self, Place, Step};

/// Measures the risk.
pub(crate) async fn start(ctx: Ctx, Path(id): Path<u32>, Form(form): Form) -> Reply {
    let data = super::data(&ctx, id)?;
    if form.has("as_baskets") {
        data.say(|said| said.as_baskets = true);
    }
    if !data.cleared() {
        return Err(
            ctx.bad("Say first that the data is meant as it was read, or read it differently.")
        );
    }
    let place = format!("data/{id}/risk");
    if data.profile.get().is_some() {
        return Ok(ctx.to(&place));
    }
    let (name, app) = (data.name.clone(), ctx.app.clone());
    ctx.start(
        format!("How easily are people found in {name}?"),
        &format!("data/{id}"),
        move |job| {
            let profiled = workflow::profile(&data.dataset, &profile::Options::default(), job)?;
            data.profile.get_or_init(|| profiled);
            Ok(app.url(&place))
        },
    )
}

pub(crate) async fn show(ctx: Ctx, Path(id): Path<u32>) -> Reply {
    let data = super::data(&ctx, id)?;
    let Some(profiled) = data.profile.get() else { return Ok(ctx.to(&format!("data/{id}"))) };
    let profile = &profiled.profile;
    ctx.page("Risk of the raw data", Place::Publish, html! {
        (view::steps(&ctx, Some(id), Step::Risk))
        h1 { "How easily are people found?" }
        p class="lead" { (headline(profiled)) }
        section class="card" aria-label="Risk of the raw data" {
            div class="pair" { div { (chart(profiled)) }
            (table(profiled)) }
        }
        (facts(&[
            ("records", number(profile.records)),
            ("different items", number(profile.items)),
            ("items in a record, on average", format!("{:.1}", profile.mean_length)),
            ("items in the longest record", number(profile.max_length)),
        ]))
        @if let Some(suggestion) = &profiled.suggestion {
            div class="hint" {
                p { strong { "A place to begin: " } (suggestion.method) ", k = " (suggestion.k) ", m = " (suggestion.m) "." }
                p { (sentence(&suggestion.reason)) }
            }
        } @else {
            div class="verdict red" { strong { "There are too few records to hide anybody." } }
        }
        p class="go" { a class="button" href=(ctx.url(&format!("data/{id}/protect"))) { "Protect it" } }
    })
}

/// The figure that says most, in words.
fn headline(profiled: &Profiled) -> String {
    let levels = &profiled.profile.reidentification;
    match levels.iter().filter(|level| level.records > 0).max_by_key(|level| level.known) {
        Some(level) => format!(
            "Whoever knows {} of a person finds that person in {} of the cases, if the data is handed out as it is.",
            if level.known == 1 { "1 item".to_owned() } else { format!("{} items", level.known) },
            share(Some(level.probability))
        ),
        None => "No record has an item.".to_owned(),
    }
}

fn chart(profiled: &Profiled) -> Markup {
    let levels = profiled.profile.reidentification.iter().filter(|level| level.records > 0);
    let line =
        |name: &str, class: &'static str, value: fn(&profile::Reidentification) -> (f64, f64)| {
            let points = levels.clone().map(|level| {
                let (share, error) = value(level);
                (f64::from(level.known), share, error)
            });
            Line { name: name.to_owned(), class, points: points.collect() }
        };
    let lines = [
        line("found: a guess among all who fit is right", "s1", |l| {
            (l.probability, l.probability_error)
        }),
        line("unique: nobody else fits", "s0", |l| (l.unique, l.unique_error)),
    ];
    curve(
        "How often a person is found in the raw data",
        "The numbers stand in the table below.",
        &lines,
    )
}

fn table(profiled: &Profiled) -> Markup {
    let with = |value: f64, error: f64| match error > 0.0 {
        true => format!("{} ± {:.1}", share(Some(value)), error * 100.0),
        false => share(Some(value)),
    };
    html! {
        div class="table" { table {
            caption { "What follows ± is the standard error" }
            thead { tr {
                th scope="col" { "items known" } th scope="col" class="n" { "found" }
                th scope="col" class="n" { "unique" } th scope="col" class="n" { "records with that many items or more" }
            } }
            tbody { @for level in &profiled.profile.reidentification { tr {
                th scope="row" data-h="items known" { (level.known) }
                td class="n" data-h="found" { (with(level.probability, level.probability_error)) }
                td class="n" data-h="unique" { (with(level.unique, level.unique_error)) }
                td class="n" data-h="records" { (number(level.records)) }
            } } }
        } }
    }
}
