//! Which method, with which numbers, and what that promises.

use axum::extract::Path;
use axum::response::{Html, IntoResponse};
use maud::{Markup, html};
use setveil::workflow;

use crate::app::{Ctx, Reply};
use crate::choice::{CHOICES, Choice, Settings, fields_of};
use crate::form::{Asked, Form};
use crate::shelf::{Data, Said, TreeFrom};
use crate::view::parts::{sentence, with_code};
use crate::view::{self, Place, Step};
use crate::wording;

/// The settings that were left last, or what the raw data suggests.
fn settings(data: &Data, said: &Said) -> Settings {
    let suggested = || {
        let suggestion = data.profile.get().and_then(|profiled| profiled.suggestion.as_ref());
        let begin = Settings::default();
        match suggestion {
            Some(s) => Settings { k: s.k, m: s.m, ..begin },
            None => begin,
        }
    };
    said.settings.clone().unwrap_or_else(suggested)
}

pub(crate) async fn show(ctx: Ctx, Path(id): Path<u32>, Asked(asked): Asked) -> Reply {
    let data = super::data(&ctx, id)?;
    let said = data.said();
    let settings = settings(&data, &said).with(&asked, false);
    ctx.page("Protection", Place::Publish, html! {
        (view::steps(&ctx, Some(id), Step::Protect))
        h1 { "How shall it be protected?" }
        form id="settings" class="columns protect" method="post" action=(ctx.url(&format!("data/{id}/protect"))) data-promise=(ctx.url(&format!("data/{id}/promise"))) {
            (view::token(&ctx))
            div {
                fieldset class="choices" {
                    legend { "Method" }
                    @for choice in CHOICES { (card(choice, choice.key == settings.key)) }
                }
            }
            div class="side" {
                section class="card" aria-labelledby="numbers" {
                    h2 id="numbers" { "Numbers" }
                    (sliders(&settings, &said))
                    (sensitive(&settings, &said))
                    (tree(&settings, &said))
                }
                section class="card" aria-labelledby="promised" {
                    h2 id="promised" { "What this promises" }
                    div id="promise" aria-live="polite" { (promises(&settings, &data, &said)) }
                    noscript { p { button class="quiet" name="then" value="promise" { "Show it for these numbers" } } }
                }
                div class="go" {
                    button name="then" value="run" { "Make the release" }
                    button class="second" name="then" value="sweep" { "Compare settings first" }
                }
            }
        }
    })
}

/// One method.
fn card(choice: &Choice, chosen: bool) -> Markup {
    html! {
        label class="choice" {
            input type="radio" name="method" value=(choice.key) checked[chosen] data-fields=(fields_of(choice).join(" "));
            span class="text" {
                strong { (choice.title) }
                span { (choice.plain) }
                span class="good" { (choice.good) }
                span class="cost" { (choice.cost) }
            }
        }
    }
}

/// A number that can be typed or moved.
struct Slider {
    name: &'static str,
    label: &'static str,
    help: &'static str,
    least: f64,
    most: f64,
    /// Where the slider ends; larger numbers can be typed.
    end: f64,
    step: &'static str,
}

const SLIDERS: [Slider; 6] = [
    Slider {
        name: "k",
        label: "k: candidates",
        help: "How many people must remain possible.",
        least: 2.0,
        most: 1_000_000.0,
        end: 100.0,
        step: "1",
    },
    Slider {
        name: "m",
        label: "m: known items",
        help: "How many items of a person somebody may know.",
        least: 1.0,
        most: 16.0,
        end: 5.0,
        step: "1",
    },
    Slider {
        name: "size",
        label: "Largest cluster",
        help: "At least 2k records. Larger ones keep more of the rare items.",
        least: 4.0,
        most: 10_000_000.0,
        end: 1000.0,
        step: "1",
    },
    Slider {
        name: "p",
        label: "p: privacy degree",
        help: "A sensitive item belongs to at most 1 of p people of a group.",
        least: 2.0,
        most: 1_000_000.0,
        end: 50.0,
        step: "1",
    },
    Slider {
        name: "l",
        label: "l: for sensitive items",
        help: "A sensitive item is in at most 1 of l records of every cluster.",
        least: 2.0,
        most: 1_000_000.0,
        end: 20.0,
        step: "1",
    },
    Slider {
        name: "epsilon",
        label: "epsilon: privacy budget",
        help: "Smaller is safer and noisier.",
        least: 0.01,
        most: 100.0,
        end: 10.0,
        step: "any",
    },
];

fn sliders(settings: &Settings, said: &Said) -> Markup {
    let value = |name: &str| match name {
        "k" => settings.k.to_string(),
        "m" => settings.m.to_string(),
        "size" => settings.size.to_string(),
        "p" => settings.p.to_string(),
        "l" => settings.l.to_string(),
        _ => settings.epsilon.to_string(),
    };
    let shown = fields_of(settings.choice());
    let range_step = |s: &Slider| if s.step == "1" { "1" } else { "0.1" };
    html! {
        // Without sensitive items there is nothing that l could be said of.
        @for slider in SLIDERS.iter().filter(|s| s.name != "l" || !said.sensitive.is_empty()) {
            div class="slider" data-field=(slider.name) hidden[!shown.contains(&slider.name)] {
                label for=(slider.name) { (slider.label) }
                input id=(slider.name) type="number" name=(slider.name) value=(value(slider.name))
                    min=(slider.least) max=(slider.most) step=(slider.step) required aria-describedby={ (slider.name) "-help" };
                input class="js" type="range" data-for=(slider.name) value=(value(slider.name))
                    min=(slider.least) max=(slider.end) step=(range_step(slider)) aria-label=(slider.label);
                p class="note" id={ (slider.name) "-help" } { (slider.help) }
            }
        }
    }
}

fn sensitive(settings: &Settings, said: &Said) -> Markup {
    let shown = fields_of(settings.choice());
    html! {
        div class="extra" data-field="sensitive" hidden[!shown.contains(&"sensitive")] {
            p { strong { "Sensitive items: " }
                @if said.sensitive.is_empty() { "none named. Name what nobody may be linked to: a diagnosis, a medicine." }
                @else { (said.sensitive.len()) " named." }
            }
            button class="quiet" name="then" value="sensitive" { "Choose sensitive items" }
        }
        div class="extra" data-field="drop_sensitive_only" hidden[!shown.contains(&"drop_sensitive_only")] {
            label class="tick" {
                input type="checkbox" name="drop_sensitive_only" value="yes" checked[settings.drop_sensitive_only];
                span { "Leave out records that have nothing but sensitive items" }
            }
        }
    }
}

fn tree(settings: &Settings, said: &Said) -> Markup {
    let shown = fields_of(settings.choice());
    html! {
        div class="extra" data-field="tree" hidden[!shown.contains(&"tree")] {
            p { strong { "Hierarchy: " }
                @match &said.tree {
                    None => { "none chosen." }
                    Some(tree) => { (tree_name(&tree.from)) "." }
                }
            }
            button class="quiet" name="then" value="hierarchy" { "Choose a hierarchy" }
        }
        div class="extra" data-field="hide_leaves" hidden[!shown.contains(&"hide_leaves")] {
            label class="tick" {
                input type="checkbox" name="hide_leaves" value="yes" checked[settings.hide_leaves];
                span { "Do not publish names of items that the release does not show" }
            }
        }
    }
}

pub(super) fn tree_name(from: &TreeFrom) -> String {
    match from {
        TreeFrom::File(name) => name.clone(),
        TreeFrom::Data(fanout) => format!("made from the items of the data, {fanout} at a time"),
    }
}

/// What a method with these numbers promises, or why it cannot be made.
fn promises(settings: &Settings, data: &Data, said: &Said) -> Markup {
    let method = match settings.method(said, &data.dataset) {
        Ok(method) => method,
        Err(error) => {
            return html! { p class="verdict amber" { (sentence(&wording::say(&error))) } };
        }
    };
    let promised = workflow::promised(&method);
    html! {
        h3 { "Promised" }
        ul class="yes" { @for text in &promised.yes { li { (with_code(text)) } } }
        h3 { "Not promised" }
        ul class="no" { @for text in &promised.no { li { (with_code(text)) } } }
        details { summary { "What is done to the data" } p { (method.in_words()) } }
    }
}

/// The promises alone, for a form that is being changed.
pub(crate) async fn promise(ctx: Ctx, Path(id): Path<u32>, Asked(asked): Asked) -> Reply {
    let data = super::data(&ctx, id)?;
    let said = data.said();
    let settings = settings(&data, &said).with(&asked, false);
    Ok(Html(view::calm(&promises(&settings, &data, &said).into_string())).into_response())
}

/// Keeps the settings, and goes on.
pub(crate) async fn send(ctx: Ctx, Path(id): Path<u32>, Form(form): Form) -> Reply {
    let data = super::data(&ctx, id)?;
    let settings = settings(&data, &data.said()).with(&form, true);
    data.say(|said| said.settings = Some(settings.clone()));
    match form.get("then") {
        Some("sensitive") => Ok(ctx.to(&format!("data/{id}/sensitive"))),
        Some("hierarchy") => Ok(ctx.to(&format!("data/{id}/hierarchy"))),
        Some("sweep") => Ok(ctx.to(&format!("data/{id}/sweep"))),
        Some("run") => super::run::start(&ctx, data, settings),
        _ => Ok(ctx.to(&format!("data/{id}/protect"))),
    }
}
