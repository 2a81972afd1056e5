//! Many settings side by side: what each risks and what it loses. A point of the
//! plot is a link to the form with its numbers.

use std::sync::Arc;

use axum::extract::Path;
use maud::{Markup, html};
use setveil::Result;
use setveil::data::{K, M};
use setveil::measure;
use setveil::report::share;
use setveil::workflow::compare::{self, Compared, Row, Store};

use crate::app::{Ctx, Reply};
use crate::choice::{CHOICES, Settings};
use crate::form::{Asked, Fields, Form};
use crate::jobs::Job;
use crate::shelf::{Data, Sweep};
use crate::view::parts::{query, sentence};
use crate::view::plot::{Point, field, key};
use crate::view::{self, Place, Step};

/// The methods that need nothing but numbers.
const METHODS: [&str; 4] = ["disassociation", "local-suppression", "dls", "suppress-rare"];
/// The colours of methods, in the order of their first appearance.
const CLASSES: [&str; 4] = ["s0", "s1", "s2", "s3"];
/// So many settings at most.
const MOST: usize = 60;

/// The losses that can be drawn.
const LOSSES: [(&str, &str); 4] = [
    ("tkd", "frequent combinations lost (tkd)"),
    ("re", "error of pair counts (re)"),
    ("tlost", "frequent items only mentioned (tlost)"),
    ("pairs_kept", "pairs that can be counted (more is better)"),
];

/// What to compare.
pub(crate) async fn ask(ctx: Ctx, Path(id): Path<u32>) -> Reply {
    let data = super::data(&ctx, id)?;
    let now = data.said().settings.unwrap_or_default();
    let done = ctx.app.shelf().sweeps_of(id);
    let chosen = |name: &str| {
        name == "disassociation" || name == "local-suppression" || name == now.choice().method
    };
    ctx.page("Compare settings", Place::Publish, html! {
        (view::steps(&ctx, Some(id), Step::Protect))
        h1 { "Compare settings" }
        p class="lead" { "k is no risk. Setveil makes a release with every setting, plays the attacker against it, and measures what is lost." }
        div class="columns" {
            form class="card" method="post" action=(ctx.url(&format!("data/{id}/sweep"))) {
                (view::token(&ctx))
                fieldset {
                    legend { "Methods" }
                    @for name in METHODS {
                        @let title = CHOICES.iter().find(|c| c.key == name).map_or(name, |c| c.title);
                        label class="tick" { input type="checkbox" name="method" value=(name) checked[chosen(name)]; span { (title) } }
                    }
                    p class="note" { "Methods that need sensitive items or a hierarchy are made one at a time; History shows them side by side." }
                }
                label for="k" { "Values of k" }
                input id="k" name="k" value="2, 3, 5, 10, 20" required;
                label for="m" { "Values of m" }
                input id="m" name="m" value=(now.m) required;
                label for="size" { "Largest clusters" }
                input id="size" name="size" value=(now.size) required;
                label for="known" { "How many items somebody knows" }
                input id="known" type="number" name="known" min="1" max="8" value=(now.m) required;
                label for="repeats" { "Repeated so often, for the spread" }
                input id="repeats" type="number" name="repeats" min="1" max="10" value="3" required;
                p class="go" { button { "Compare" } a class="quiet button" href=(ctx.url(&format!("data/{id}/protect"))) { "Back" } }
            }
            @if !done.is_empty() {
                section class="card" aria-labelledby="done" {
                    h2 id="done" { "Compared in this session" }
                    ul class="plain" { @for sweep in &done {
                        li { a href=(ctx.url(&format!("sweep/{}", sweep.id))) { (sweep.compared.rows.len()) " settings, " (sweep.compared.known) " items known" } }
                    } }
                }
            }
        }
    })
}

/// Numbers in a text field.
fn numbers<T: std::str::FromStr>(text: Option<&str>) -> Vec<T> {
    let words = text.unwrap_or_default().split(|c: char| c == ',' || c == ';' || c.is_whitespace());
    words.filter_map(|word| word.parse().ok()).collect()
}

fn options(form: &Fields, data: &Data) -> Result<compare::Options> {
    let k: Vec<u32> = numbers(form.get("k"));
    let m: Vec<u32> = numbers(form.get("m"));
    let methods = form.all("method").filter(|name| METHODS.contains(name)).map(str::to_owned);
    // The usual ranks do not exist where there are few items.
    let items = data.dataset.item_count();
    let re_range = if items < 240 { 0..20.min(items) } else { 200..220 };
    Ok(compare::Options::default()
        .methods(methods.collect())
        .k(k.into_iter().map(K::new).collect::<Result<_>>()?)
        .m(m.into_iter().map(M::new).collect::<Result<_>>()?)
        .max_cluster_size(numbers(form.get("size")))
        .known(form.number("known").unwrap_or(2).clamp(1, 8))
        .repeats(form.number("repeats").unwrap_or(3).clamp(1, 10))
        .measure(measure::Options::default().re_range(re_range)))
}

pub(crate) async fn start(ctx: Ctx, Path(id): Path<u32>, Form(form): Form) -> Reply {
    let data = super::data(&ctx, id)?;
    if !data.cleared() {
        return Err(
            ctx.bad("Say first that the data is meant as it was read, or read it differently.")
        );
    }
    let settings =
        options(&form, &data).and_then(|options| Ok((compare::settings(&options)?.len(), options)));
    let (count, options) = match settings {
        Ok((0, _)) => {
            return Err(ctx.bad("Choose at least one method and one value of everything."));
        }
        Ok((count, _)) if count > MOST => {
            return Err(
                ctx.bad(&format!("{count} settings are too many: at most {MOST} at a time."))
            );
        }
        Ok(found) => found,
        Err(error) => return Err(ctx.bad(&crate::wording::say(&error))),
    };
    let app = ctx.app.clone();
    ctx.start(format!("Comparing {count} settings"), &format!("data/{id}/sweep"), move |job| {
        let mut seen = Seen { job, at: 0, all: count };
        let compared = compare::compare(&data.dataset, &options, &mut seen, job)?;
        let id = app.shelf().add_sweep(data, compared);
        Ok(app.url(&format!("sweep/{id}")))
    })
}

/// Keeps nothing, and tells which setting it is.
struct Seen<'a> {
    job: &'a Job,
    at: usize,
    all: usize,
}

impl Store for Seen<'_> {
    fn load(&mut self, _: &str) -> Option<Vec<u8>> {
        None
    }

    fn save(&mut self, _: &str, _: &[u8]) -> Result<()> {
        self.at += 1;
        Ok(())
    }

    fn begin(&mut self, _: &str) {
        self.job.setting(self.at, self.all);
    }
}

pub(crate) async fn show(ctx: Ctx, Path(id): Path<u32>, Asked(asked): Asked) -> Reply {
    let sweep = ctx.app.shelf().sweep(id).ok_or_else(|| ctx.absent("This comparison"))?;
    let compared = &sweep.compared;
    let loss =
        LOSSES.iter().find(|(name, _)| Some(*name) == asked.get("loss")).unwrap_or(&LOSSES[0]);
    let data = sweep.data.id;
    ctx.page("Risk and loss", Place::Publish, html! {
        (view::steps(&ctx, Some(data), Step::Protect))
        h1 { "Risk and loss" }
        p class="lead" {
            "Each point is a setting: how often somebody who knows " (compared.known) " items finds a person, and what is lost. \
             Filled points are those that no other one beats. Choose one to take its numbers."
        }
        section class="card" aria-label="Risk and loss" {
            (losses(&ctx, &sweep, loss.0))
            (picture(&ctx, &sweep, *loss))
            (raw(compared))
        }
        (table(&ctx, &sweep))
        p class="go" {
            a class="second button" href=(ctx.url(&format!("data/{data}/sweep"))) { "Compare others" }
            a class="quiet button" href=(ctx.url(&format!("data/{data}/protect"))) { "Back to the method" }
        }
    })
}

fn losses(ctx: &Ctx, sweep: &Sweep, now: &str) -> Markup {
    html! {
        nav class="tabs" aria-label="What is lost" { ul { @for (name, words) in LOSSES {
            li { a href=(ctx.url(&format!("sweep/{}?loss={name}", sweep.id))) aria-current=[(name == now).then_some("page")] { (words) } }
        } } }
    }
}

/// The form with the numbers of a row.
fn link(ctx: &Ctx, data: u32, row: &Row) -> String {
    let number = |value: Option<u32>| value.map(|v| v.to_string());
    let size = row.cell.max_cluster_size.map(|size| size.max(2 * row.cell.k.unwrap_or(0) as usize));
    let values = [
        ("k", number(row.cell.k)),
        ("m", number(row.cell.m)),
        ("size", size.map(|s| s.to_string())),
    ];
    let values: Vec<(&str, String)> =
        values.into_iter().filter_map(|(name, v)| Some((name, v?))).collect();
    let mut pairs = vec![("method", row.cell.method.as_str())];
    pairs.extend(values.iter().map(|(name, value)| (*name, value.as_str())));
    ctx.url(&format!("data/{data}/protect?{}", query(&pairs)))
}

fn setting(row: &Row) -> String {
    let cell = &row.cell;
    let begin = Settings::default();
    Settings {
        key: cell.method.clone(),
        k: cell.k.unwrap_or(begin.k),
        m: cell.m.unwrap_or(begin.m),
        size: cell.max_cluster_size.unwrap_or(begin.size),
        ..begin
    }
    .name()
}

fn picture(ctx: &Ctx, sweep: &Arc<Sweep>, (loss, words): (&str, &str)) -> Markup {
    let rows = || sweep.compared.rows.iter().filter(|row| row.holds == Some(true));
    let mut methods: Vec<&str> = Vec::new();
    for row in rows() {
        if !methods.contains(&row.cell.method.as_str()) {
            methods.push(&row.cell.method);
        }
    }
    let class = |name: &str| {
        let at = methods.iter().position(|method| *method == name).unwrap_or(0);
        CLASSES[at % CLASSES.len()]
    };
    let point = |row: &Row| {
        let value = |all: [(&str, Option<f64>); 6]| {
            all.iter().find(|(name, _)| *name == loss).and_then(|v| v.1)
        };
        let (risk, lost) = (row.risk.as_ref()?.linking?, value(row.utility.named())?);
        let spread =
            (row.spread.linking.unwrap_or(0.0), value(row.spread.utility.named()).unwrap_or(0.0));
        Some(Point {
            class: class(&row.cell.method),
            at: (risk, lost),
            spread,
            label: row.frontier.then(|| format!("k {}", row.cell.k.unwrap_or(0))),
            name: format!(
                "{}: risk {} ± {:.1}, {loss} {lost:.3} ± {:.3}",
                setting(row),
                share(Some(risk)),
                spread.0 * 100.0,
                spread.1
            ),
            href: link(ctx, sweep.data.id, row),
        })
    };
    let points: Vec<Point> = rows().filter_map(point).collect();
    let names: Vec<(&str, &str)> = methods
        .iter()
        .map(|name| {
            (class(name), CHOICES.iter().find(|c| c.key == *name).map_or(*name, |c| c.title))
        })
        .collect();
    html! {
        @if points.is_empty() { p class="note" { "No setting has both numbers." } }
        @else {
            (field("Settings by risk and loss", ("how often a person is found", words), &points))
            (key(&names))
        }
    }
}

/// What the same attacker achieves on the raw data.
fn raw(compared: &Compared) -> Markup {
    let raw = compared.rows.iter().find_map(|row| row.risk.as_ref()?.raw);
    html! { @if raw.is_some() { p class="note" { "In the raw data the same attacker finds a person in " (share(raw)) " of the cases." } } }
}

fn table(ctx: &Ctx, sweep: &Sweep) -> Markup {
    let with = |value: Option<f64>, spread: Option<f64>| match (value, spread) {
        (Some(v), Some(s)) => format!("{v:.3} ± {s:.3}"),
        (Some(v), None) => format!("{v:.3}"),
        _ => "–".to_owned(),
    };
    html! {
        div class="table" { table {
            caption { "All settings; what follows ± is the spread over the repetitions" }
            thead { tr {
                th scope="col" { "setting" } th scope="col" { "promise" } th scope="col" class="n" { "found" }
                th scope="col" class="n" { "tkd" } th scope="col" class="n" { "re" } th scope="col" class="n" { "tlost" }
                th scope="col" class="n" { "pairs kept" } th scope="col" class="n" { "seconds" }
            } }
            tbody { @for row in &sweep.compared.rows {
                @let (has, by) = (row.utility, row.spread.utility);
                @let risk = row.risk.as_ref().and_then(|level| level.linking);
                tr class=[row.frontier.then_some("best")] {
                    th scope="row" data-h="setting" { a href=(link(ctx, sweep.data.id, row)) { (setting(row)) } }
                    td data-h="promise" { (promise(row)) }
                    td class="n" data-h="found" { (share(risk)) @if let Some(s) = row.spread.linking { " ± " (format!("{:.1}", s * 100.0)) } }
                    td class="n" data-h="tkd" { (with(has.tkd, by.tkd)) }
                    td class="n" data-h="re" { (with(has.re, by.re)) }
                    td class="n" data-h="tlost" { (with(has.tlost, by.tlost)) }
                    td class="n" data-h="pairs kept" { (with(has.pairs_kept, by.pairs_kept)) }
                    td class="n" data-h="seconds" { (format!("{:.2}", row.seconds)) }
                }
            } }
        } }
    }
}

fn promise(row: &Row) -> String {
    match (row.holds, &row.weak, &row.error) {
        (_, _, Some(error)) => format!("refused: {error}"),
        (Some(true), None, _) => "holds".to_owned(),
        (Some(true), Some(weak), _) => format!("weak: {}", sentence(weak)),
        (Some(false), ..) => "does NOT hold".to_owned(),
        (None, ..) => "refused".to_owned(),
    }
}
