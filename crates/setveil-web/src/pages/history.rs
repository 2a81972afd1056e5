//! The runs of this session side by side.

use maud::{Markup, html};
use setveil::report::share;

use crate::app::{Ctx, Reply};
use crate::shelf::Past;
use crate::view::Place;
use crate::view::parts::colour;

pub(crate) async fn show(ctx: Ctx) -> Reply {
    let past = ctx.app.shelf().history();
    ctx.page("History", Place::History, html! {
        h1 { "Runs of this session" }
        @if past.is_empty() {
            p class="lead" { "There are none yet. Runs are kept until Setveil ends; releases that were saved stay in the folder." }
            p { a class="button" href=(ctx.url("")) { "Publish data" } }
        } @else {
            p class="lead" { "Side by side, the last first. Measured on the original: confidential." }
            (table(&ctx, &past))
        }
    })
}

fn table(ctx: &Ctx, past: &[Past]) -> Markup {
    let plain = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |v| format!("{v:.3}"));
    html! {
        div class="table" { table {
            caption { "“known” is how many items of a person somebody knows, “found” how often the person is found that way. Less is better, except for pairs kept" }
            thead { tr {
                th scope="col" { "setting" } th scope="col" { "data" } th scope="col" { "verdict" }
                th scope="col" class="n" { "known" } th scope="col" class="n" { "found in raw data" } th scope="col" class="n" { "found in release" }
                th scope="col" class="n" { "tkd" } th scope="col" class="n" { "re" } th scope="col" class="n" { "tlost" }
                th scope="col" class="n" { "pairs kept" } th scope="col" class="n" { "seconds" } th scope="col" { "saved as" }
            } }
            tbody { @for run in past {
                @let here = ctx.app.shelf().run(run.run).is_some();
                @let (class, verdict) = colour(run.colour);
                tr {
                    th scope="row" data-h="setting" { @if here { a href=(ctx.url(&format!("run/{}", run.run))) { (run.setting) } } @else { (run.setting) } }
                    td data-h="data" { (run.data) }
                    td data-h="verdict" { span class={ "badge " (class) } { (verdict) } }
                    td class="n" data-h="known" { (run.known) }
                    td class="n" data-h="found in raw data" { (share(run.raw)) }
                    td class="n" data-h="found in release" { (share(run.found)) @if let Some(e) = run.error { " ± " (format!("{:.1}", e * 100.0)) } }
                    td class="n" data-h="tkd" { (plain(run.tkd)) }
                    td class="n" data-h="re" { (plain(run.re)) }
                    td class="n" data-h="tlost" { (plain(run.tlost)) }
                    td class="n" data-h="pairs kept" { (plain(run.pairs_kept)) }
                    td class="n" data-h="seconds" { (format!("{:.2}", run.seconds)) }
                    td data-h="saved as" { @if run.saved.is_empty() { "–" } @else { (run.saved.join(", ")) } }
                }
            } }
        } }
    }
}
