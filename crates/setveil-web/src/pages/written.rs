//! What a recipient writes: possible originals, tables, answers.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::Path;
use maud::{Markup, html};
use setveil::io::{ExportFormat, FlatFormat};
use setveil::workflow::{ReconstructOptions, files};
use setveil::{Error, Result};

use crate::app::{App, Ctx, Reply};
use crate::form::{Fields, Form};
use crate::jobs::Job;
use crate::shelf::Opened;
use crate::view;

/// So many possible originals at a time.
const MOST: u32 = 100;

/// The forms, and what was written.
pub(super) fn card(ctx: &Ctx, opened: &Opened) -> Markup {
    let written = opened.written.lock().expect("no panic while holding it").clone();
    let action = ctx.url(&format!("release/{}/write", opened.id));
    let beside = |end: &str| format!("{}-{end}", opened.name);
    html! {
        section class="card" aria-labelledby="write" {
            h2 id="write" { "For other tools" }
            @for (what, files) in &written {
                div class="verdict green" role="status" { strong { (what) } ul { @for file in files.iter().take(12) { li { code { (file) } } } } @if files.len() > 12 { p { "and " (files.len() - 12) " more" } } }
            }
            details { summary { "Draw possible originals" }
                form method="post" action=(action) {
                    (view::token(ctx)) input type="hidden" name="what" value="worlds";
                    p class="note" { "Random data sets that the release could have come from, for mining tools. Take several: what differs between them is not known." }
                    label for="worlds-n" { "How many" } input id="worlds-n" type="number" name="n" min="1" max=(MOST) value="3" required;
                    label for="worlds-seed" { "Seed" } input id="worlds-seed" type="number" name="seed" min="0" value="0" required;
                    label for="worlds-format" { "Format" }
                    select id="worlds-format" name="format" { option value="" { "The simplest that fits" } option value="jsonl" { "JSON Lines" } option value="csv" { "CSV, one record a line" } option value="long" { "CSV, one item a line" } option value="parquet" { "Parquet" } }
                    label for="worlds-name" { "New folder" } input id="worlds-name" name="name" value=(beside("worlds")) required autocomplete="off";
                    p { button class="second" { "Draw" } }
                }
            }
            details { summary { "Export as tables" }
                form method="post" action=(action) {
                    (view::token(ctx)) input type="hidden" name="what" value="tables";
                    label for="tables-format" { "Format" }
                    select id="tables-format" name="format" { option value="csv" { "CSV" } option value="parquet" { "Parquet" } }
                    label for="tables-name" { "New folder" } input id="tables-name" name="name" value=(beside("tables")) required autocomplete="off";
                    p { button class="second" { "Export" } }
                }
            }
            details { summary { "Save all items with their bounds" }
                form method="post" action=(action) {
                    (view::token(ctx)) input type="hidden" name="what" value="items";
                    label for="items-name" { "New file: .csv, .json, .jsonl or .parquet" } input id="items-name" name="name" value=(beside("items.csv")) required autocomplete="off";
                    p { button class="second" { "Save" } }
                }
            }
        }
    }
}

pub(crate) async fn write(ctx: Ctx, Path(id): Path<u32>, Form(form): Form) -> Reply {
    let opened = super::release::opened(&ctx, id)?;
    let name = form.get("name").unwrap_or_default().trim_matches('/').to_owned();
    let Some(place) = ctx.app.folder.new_place(&name) else {
        return Err(ctx.bad("The name must be one of a new entry in the folder that is served."));
    };
    let app = ctx.app.clone();
    ctx.start(format!("Writing {name}"), &format!("release/{id}"), move |job| {
        let (what, files) = written(&form, &opened, &place, job)?;
        note(&app, &opened, what, &files);
        Ok(app.url(&format!("release/{id}#write")))
    })
}

fn note(app: &App, opened: &Opened, what: &str, files: &[PathBuf]) {
    let files = files.iter().map(|file| app.folder.shown(file)).collect();
    opened.written.lock().expect("no panic while holding it").push((what.to_owned(), files));
}

/// Writes what the form asks for; what it is, and the files.
fn written(
    form: &Fields,
    opened: &Arc<Opened>,
    place: &std::path::Path,
    job: &Job,
) -> Result<(&'static str, Vec<PathBuf>)> {
    let release = opened.index.release();
    let format = form.get("format");
    match form.get("what") {
        Some("worlds") => {
            let n = NonZeroU32::new(form.number("n").unwrap_or(1).clamp(1, MOST));
            let options = ReconstructOptions::default()
                .n(n.unwrap_or(NonZeroU32::MIN))
                .seed(form.number("seed").unwrap_or(0));
            let layout = match format {
                Some("jsonl") => Some(ExportFormat::JsonLines),
                Some("csv") => Some(ExportFormat::BasketCsv),
                Some("long") => Some(ExportFormat::LongCsv),
                Some("parquet") => Some(ExportFormat::Parquet),
                _ => None,
            };
            let made = files::reconstruct(release, &options, layout, place, false, job)?;
            Ok(("Possible originals", made.files))
        }
        Some("tables") => {
            let format =
                if format == Some("parquet") { FlatFormat::Parquet } else { FlatFormat::Csv };
            Ok(("Tables", files::export(release, format, place, false, job)?.files))
        }
        Some("items") => {
            files::write_answers(&opened.items, place, false)?;
            Ok(("All items with their bounds", vec![place.to_owned()]))
        }
        _ => Err(Error::Parameter {
            name: "what",
            found: form.get("what").unwrap_or_default().to_owned(),
            expected: "worlds, tables or items",
        }),
    }
}
