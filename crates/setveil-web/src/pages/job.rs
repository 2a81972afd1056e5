//! How far a job is: a page that is told by events, and reloads without a script.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Path;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Redirect};
use futures_util::stream::{self, Stream};
use maud::html;
use serde_json::json;

use crate::app::{Ctx, Reply};
use crate::form::Form;
use crate::jobs::{Job, Status};
use crate::view::{self, Place};

/// How often a browser is told.
const PULSE: Duration = Duration::from_millis(200);

pub(crate) async fn show(ctx: Ctx, Path(id): Path<u32>) -> Reply {
    let job = ctx.app.jobs.get(id).ok_or_else(|| ctx.absent("This work"))?;
    let far = job.far();
    let (title, body) = match &far.status {
        Status::Done(place) => return Ok(Redirect::to(place).into_response()),
        Status::Failed(why) => (
            "This did not work",
            html! {
                h1 { "This did not work" }
                div class="verdict red" { strong { (job.title) } p { (why) } }
                p { a class="button" href=(job.back) { "Back" } }
            },
        ),
        Status::Cancelled => (
            "Cancelled",
            html! {
                h1 { "Cancelled" }
                p class="lead" { (job.title) ": stopped before it was done. Nothing was written." }
                p { a class="button" href=(job.back) { "Back" } }
            },
        ),
        Status::Waiting | Status::Running => (
            "Working",
            html! {
                h1 { (job.title) }
                noscript { meta http-equiv="refresh" content="2"; }
                div class="card job" data-events=(ctx.url(&format!("job/{id}/events"))) {
                    progress id="bar" max="1000" value=[far.share.map(|share| (share * 1000.0) as u32)] aria-label="Progress" {}
                    p class="stage" { span id="stage" { (far.text) } span id="seconds" class="note" { (far.seconds) " s" } }
                    p id="spoken" class="hidden-text" role="status" {}
                    form method="post" action=(ctx.url(&format!("job/{id}/cancel"))) {
                        (view::token(&ctx))
                        button class="danger" { "Cancel" }
                    }
                }
                p class="note" { "You can leave this page: the work goes on. Nothing is written before it is done." }
            },
        ),
    };
    ctx.page(title, Place::None, body)
}

/// Progress, several times a second, and in the end "look again".
pub(crate) async fn events(ctx: Ctx, Path(id): Path<u32>) -> Reply {
    let job = ctx.app.jobs.get(id).ok_or_else(|| ctx.absent("This work"))?;
    Ok(Sse::new(pulse(job)).into_response())
}

fn pulse(job: Arc<Job>) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(Some((job, Duration::ZERO)), |state| async move {
        let (job, wait) = state?;
        tokio::time::sleep(wait).await;
        let far = job.far();
        if !job.unfinished() {
            return Some((Ok(Event::default().event("end").data("end")), None));
        }
        let told = json!({ "text": far.text, "share": far.share, "seconds": far.seconds });
        Some((Ok(Event::default().data(told.to_string())), Some((job, PULSE))))
    })
}

pub(crate) async fn cancel(ctx: Ctx, Path(id): Path<u32>, _: Form) -> Reply {
    let job = ctx.app.jobs.get(id).ok_or_else(|| ctx.absent("This work"))?;
    job.cancel();
    // It asks every few thousandths of a second: the page then shows the end.
    for _ in 0..100 {
        if !job.unfinished() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(ctx.to(&format!("job/{id}")))
}
