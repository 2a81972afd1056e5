//! What all requests share, and which address leads to which page.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRequestParts};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{MethodRouter, get, post};
use maud::{Markup, html};
use tokio::sync::Notify;

use crate::folder::Folder;
use crate::jobs::{Job, Jobs};
use crate::secret::Secrets;
use crate::shelf::Shelf;
use crate::{Options, guard, pages, view};

/// The largest form, in bytes. A dropped file has a limit of its own.
const FORM: usize = 1 << 20;

/// The server's state.
pub(crate) struct App {
    pub(crate) options: Options,
    pub(crate) folder: Folder,
    pub(crate) jobs: Jobs,
    address: String,
    secrets: Secrets,
    shelf: Mutex<Shelf>,
    start: Instant,
    /// Milliseconds from the start to the last request.
    last: AtomicU64,
    /// Told when somebody asks the server to end.
    pub(crate) quit: Notify,
}

impl App {
    /// For requests to `address`.
    pub(crate) fn new(options: &Options, address: String) -> std::io::Result<Self> {
        Ok(Self {
            options: options.clone(),
            folder: Folder::new(&options.root)?,
            jobs: Jobs::new(options.budget),
            address,
            secrets: Secrets::new(),
            shelf: Mutex::new(Shelf::new(options.budget)),
            start: Instant::now(),
            last: AtomicU64::new(0),
            quit: Notify::new(),
        })
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    pub(crate) fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().expect("no panic while holding it")
    }

    /// Somebody is there.
    pub(crate) fn touch(&self) {
        self.last.store(self.start.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    /// For how long nobody was there.
    pub(crate) fn idle(&self) -> Duration {
        let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
        self.start.elapsed().saturating_sub(last)
    }

    /// The link that opens the page, while it was not used.
    pub(crate) fn link(&self) -> Option<String> {
        Some(format!("http://{}/open/{}", self.address, self.secrets.link()?))
    }

    /// The address of one of our pages.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("/{}/{path}", self.secrets.path)
    }
}

/// One request.
#[derive(Clone)]
pub(crate) struct Ctx {
    pub(crate) app: Arc<App>,
    pub(crate) nonce: String,
}

/// An answer that says why there is none.
#[derive(Debug)]
pub(crate) struct Fault(Box<Response>);

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        *self.0
    }
}

pub(crate) type Reply = Result<Response, Fault>;

impl<S: Send + Sync> FromRequestParts<S> for Ctx {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Fault> {
        // The guard puts it there, and nothing gets past the guard.
        let none = || Fault(Box::new(StatusCode::FORBIDDEN.into_response()));
        parts.extensions.get::<Self>().cloned().ok_or_else(none)
    }
}

impl Ctx {
    pub(crate) fn new(app: Arc<App>, nonce: String) -> Self {
        Self { app, nonce }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        self.app.url(path)
    }

    /// To another page.
    pub(crate) fn to(&self, path: &str) -> Response {
        Redirect::to(&self.url(path)).into_response()
    }

    /// Says why not, on a page.
    pub(crate) fn fault(&self, status: StatusCode, why: &str) -> Fault {
        let body = html! {
            h1 { "This did not work" }
            p class="lead" { (why) }
            p { a class="button" href=(self.url("")) { "To the beginning" } }
        };
        let page = view::page(self, "This did not work", view::Place::None, body);
        Fault(Box::new((status, page).into_response()))
    }

    pub(crate) fn no_token(&self) -> Fault {
        self.fault(StatusCode::FORBIDDEN, "This form is not one of this page. Load the page again.")
    }

    pub(crate) fn absent(&self, what: &str) -> Fault {
        let why = format!(
            "{what} is not here (any more). Setveil keeps the last few things of a session; open \
             it again."
        );
        self.fault(StatusCode::NOT_FOUND, &why)
    }

    pub(crate) fn bad(&self, why: &str) -> Fault {
        self.fault(StatusCode::BAD_REQUEST, why)
    }

    pub(crate) fn page(&self, title: &str, place: view::Place, body: Markup) -> Reply {
        Ok(view::page(self, title, place, body).into_response())
    }

    /// Begins a job and shows how far it is.
    pub(crate) fn start(
        &self,
        title: impl Into<String>,
        back: &str,
        work: impl FnOnce(&Job) -> setveil::Result<String> + Send + 'static,
    ) -> Reply {
        match self.app.jobs.start(title, self.url(back), work) {
            Some(job) => Ok(self.to(&format!("job/{}", job.id))),
            None => Err(self.fault(
                StatusCode::TOO_MANY_REQUESTS,
                "Too much is going on already. Wait for something to finish, or cancel it.",
            )),
        }
    }
}

/// Every page with its address behind the secret path.
pub(crate) fn pages() -> Vec<(&'static str, MethodRouter)> {
    vec![
        ("", get(pages::start::publish)),
        ("releases", get(pages::start::receive)),
        ("history", get(pages::history::show)),
        ("style.css", get(view::assets::style)),
        ("plain.css", get(view::assets::plain)),
        ("page.js", get(view::assets::script)),
        ("mark.svg", get(view::assets::mark)),
        ("alive", get(pages::start::alive)),
        ("quit", post(pages::start::quit)),
        ("job/{id}", get(pages::job::show)),
        ("job/{id}/events", get(pages::job::events)),
        ("job/{id}/cancel", post(pages::job::cancel)),
        ("data", post(pages::data::open)),
        ("file", get(pages::data::ask)),
        ("drop", post(pages::drop::receive).layer(DefaultBodyLimit::disable())),
        ("data/{id}", get(pages::data::show)),
        ("data/{id}/risk", get(pages::risk::show).post(pages::risk::start)),
        ("data/{id}/protect", get(pages::protect::show).post(pages::protect::send)),
        ("data/{id}/promise", get(pages::protect::promise)),
        ("data/{id}/sensitive", get(pages::sensitive::show).post(pages::sensitive::change)),
        ("data/{id}/hierarchy", get(pages::hierarchy::show).post(pages::hierarchy::change)),
        ("data/{id}/sweep", get(pages::sweep::ask).post(pages::sweep::start)),
        ("sweep/{id}", get(pages::sweep::show)),
        ("run/{id}", get(pages::run::show)),
        ("run/{id}/save", post(pages::save::save)),
        ("run/{id}/report", get(pages::run::report)),
        ("release", post(pages::release::open)),
        ("release/{id}", get(pages::release::show)),
        ("release/{id}/itemsets", get(pages::itemsets::show).post(pages::itemsets::start)),
        ("release/{id}/write", post(pages::written::write)),
    ]
}

/// All pages behind the guard.
pub(crate) fn router(app: Arc<App>) -> Router {
    let mut router = Router::new();
    for (path, page) in pages() {
        router = router.route(&app.url(path), page);
    }
    router
        .fallback(pages::start::nowhere)
        .layer(DefaultBodyLimit::max(FORM))
        .layer(from_fn_with_state(Arc::clone(&app), guard::guard))
}
