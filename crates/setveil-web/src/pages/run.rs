//! Making a release, and everything there is to say about it.

use std::sync::{Arc, Mutex};

use axum::extract::Path;
use axum::http::header;
use axum::response::{Html, IntoResponse};
use maud::{Markup, html};
use setveil::report::{About, Section, number, share};
use setveil::workflow::{self, Example};
use setveil::{Progress, measure};

use crate::app::{Ctx, Reply};
use crate::choice::Settings;
use crate::shelf::{Data, Run};
use crate::view::parts::{command, facts};
use crate::view::plot::{Line, curve};
use crate::view::{self, Place, Step};
use crate::wording;

/// The sections that are shown at once.
const OPEN: [&str; 4] = [
    "What is promised, and what is not",
    "The risk",
    "What an attacker learns",
    "What the data is still good for",
];

/// Makes a release in memory, checks, attacks and measures it. Nothing is written.
pub(super) fn start(ctx: &Ctx, data: Arc<Data>, settings: Settings) -> Reply {
    let said = data.said();
    if !data.cleared() {
        return Err(
            ctx.bad("Say first that the data is meant as it was read, or read it differently.")
        );
    }
    let method = settings.method(&said, &data.dataset).map_err(|e| ctx.bad(&wording::say(&e)))?;
    let (app, back) = (ctx.app.clone(), format!("data/{}/protect", data.id));
    ctx.start(settings.name(), &back, move |job| {
        let (release, made) = workflow::anonymize(&data.dataset, &method, job)?;
        let verdict = workflow::verify(&release, job)?;
        let options = measuring(&data, &said);
        let assessed = workflow::assess(&release, &verdict, Some(&data.dataset), &options, job)?;
        let example = workflow::example(&release, &data.dataset, job)?;
        job.step(0)?;
        let run = Run {
            id: 0,
            data,
            settings,
            method,
            tree: said.tree,
            as_baskets: said.as_baskets,
            release,
            made,
            assessed,
            example,
            saved: Mutex::new(Vec::new()),
        };
        let id = app.shelf().add_run(run);
        Ok(app.url(&format!("run/{id}")))
    })
}

/// The usual ranks of terms do not exist where there are few items, and where
/// names are hidden the hierarchy is needed.
fn measuring(data: &Data, said: &crate::shelf::Said) -> measure::Options {
    let items = data.dataset.item_count();
    let re_range = if items < 240 { 0..20.min(items) } else { 200..220 };
    let tree = said.tree.as_ref().map(|tree| tree.tree.clone());
    measure::Options::default().re_range(re_range).hierarchy(tree)
}

pub(crate) async fn show(ctx: Ctx, Path(id): Path<u32>) -> Reply {
    let run = ctx.app.shelf().run(id).ok_or_else(|| ctx.absent("This run"))?;
    let mut sections = run.assessed.sections(&run.release).into_iter();
    let verdict = sections.next();
    // The rest is for who wants to know more: the chart stands above.
    let rest: Vec<Section> = sections.collect();
    ctx.page("Result", Place::Publish, html! {
        (view::steps(&ctx, Some(run.data.id), Step::Result))
        h1 { "The release is ready to be looked at" }
        p class="lead" { (run.settings.name()) ". Made of " strong class="label" { (run.data.name) } " in " (format!("{:.2}", run.made.seconds)) " s. Nothing was written yet." }
        @if let Some(verdict) = &verdict { section aria-label="Verdict" { @for part in &verdict.parts { (part) } } }
        (details_of(&run))
        section class="card" aria-labelledby="curve" {
            h2 id="curve" { "How easily people are found, before and after" }
            (chart(&run))
        }
        @if let Some(example) = &run.example { (before_and_after(example)) }
        (super::save::form(&ctx, &run))
        section aria-labelledby="more" {
            h2 id="more" { "Everything that was found out" }
            p { a href=(ctx.url(&format!("run/{id}/report"))) target="_blank" rel="noopener" { "The same as a report for the data protection officer" } }
            @for section in &rest {
                details class="report" open[OPEN.contains(&section.heading.as_str())] {
                    summary { h3 { (section.heading) } }
                    @for part in &section.parts { (part) }
                }
            }
        }
        p class="go" {
            a class="second button" href=(ctx.url(&format!("data/{}/protect", run.data.id))) { "Try other settings" }
            a class="quiet button" href=(ctx.url("history")) { "Compare with earlier runs" }
        }
    })
}

/// What the method counted as lost.
fn details_of(run: &Run) -> Markup {
    let details = serde_json::to_value(run.made.details).unwrap_or_default();
    let shown: Vec<(&str, String)> = details
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| {
            let name = match name.as_str() {
                "ncp" => "information lost (ncp)",
                "dropped_sensitive_only" => "records left out",
                "items_dropped" => "items left out",
                "occurrences_dropped" => "occurrences left out",
                "records_dropped" => "records left out",
                _ => return None,
            };
            let value = match value.as_u64() {
                Some(count) => number(count),
                None => format!("{:.4}", value.as_f64()?),
            };
            Some((name, value))
        })
        .collect();
    if shown.is_empty() {
        html! {}
    } else {
        facts(&shown)
    }
}

fn chart(run: &Run) -> Markup {
    let levels = run.assessed.measured.as_ref().map(|m| m.risk.as_slice()).unwrap_or_default();
    let line = |name: &str,
                class: &'static str,
                value: fn(&setveil::risk::Level) -> (Option<f64>, Option<f64>)| {
        let points = levels.iter().filter_map(|level| {
            let (share, error) = value(level);
            Some((f64::from(level.known), share?, error.unwrap_or(0.0)))
        });
        Line { name: name.to_owned(), class, points: points.collect() }
    };
    let lines = [
        line("in the raw data", "s1", |l| (l.raw, l.raw_error)),
        line("in the release", "s0", |l| (l.linking, l.linking_error)),
    ];
    let spoken: Vec<String> = levels
        .iter()
        .map(|l| format!("{} known: {} before, {} after", l.known, share(l.raw), share(l.linking)))
        .collect();
    html! {
        (curve("How often a person is found, before and after", &spoken.join("; "), &lines))
        p class="note" { "The numbers stand below under “The risk”." }
    }
}

/// One part of the release.
fn before_and_after(example: &Example) -> Markup {
    html! {
        section class="card" aria-labelledby="example" {
            h2 id="example" { "One " (example.part) " of " (example.size) " people, before and after" }
            div class="before-after" {
                div {
                    h3 { "Before" }
                    @match &example.before {
                        Some(records) => {
                            ol class="records" { @for record in records.iter().take(60) { li { (super::data::chips(record)) } } }
                            @if records.len() > 60 { p class="note" { "and " (records.len() - 60) " more" } }
                        }
                        None => { p class="note" { "It was formed with secret random numbers, or names were hidden: nobody can say afterwards who is in it." } }
                    }
                }
                div {
                    h3 { "After: what is published" }
                    div class="chunks" { @for piece in &example.after {
                        div class="chunk" {
                            h4 { (piece.name) }
                            ul { @for (items, count) in piece.lines.iter().take(30) {
                                li { (items.join(", ")) @if let Some(n) = count { @if *n != 1 { " " span class="times" { "× " (number(*n)) } } } }
                            }
                            @if piece.lines.len() > 30 { li class="times" { "… " (piece.lines.len() - 30) " more" } } }
                        }
                    } }
                }
            }
        }
    }
}

/// The report, on a page that may do nothing at all.
pub(crate) async fn report(ctx: Ctx, Path(id): Path<u32>) -> Reply {
    let run = ctx.app.shelf().run(id).ok_or_else(|| ctx.absent("This run"))?;
    let about = About::default().data_set(Some(run.data.name.clone()));
    let page = run.assessed.page(&run.release, &about).page;
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";
    Ok(([(header::CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response())
}

/// The command that does the same, as far as it is known before names are chosen.
pub(super) fn preview(run: &Run) -> Markup {
    command(&super::save::command_of(run, &super::save::Names::usual(run), true))
}
