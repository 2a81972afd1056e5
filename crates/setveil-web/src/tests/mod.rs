//! The handlers without a browser: requests in, answers out.

mod attacks;
mod custodian;
mod limits;
mod recipient;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode, header};
use tower::ServiceExt;

use crate::Options;
use crate::app::{App, router};
use crate::form::encoded;
use crate::jobs::Status;

/// What a request gets.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: axum::http::HeaderMap,
    pub(super) text: String,
}

impl Answer {
    /// A header; nothing if it is not there.
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// The page for a folder, and somebody who came in.
pub(super) struct Site {
    pub(super) folder: tempfile::TempDir,
    pub(super) app: Arc<App>,
    router: Router,
    runtime: tokio::runtime::Runtime,
}

const ADDRESS: &str = "127.0.0.1:4321";

impl Site {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, |options| options)
    }

    pub(super) fn with(files: &[(&str, &str)], change: impl FnOnce(Options) -> Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let options = change(Options::new(folder.path()));
        let app = Arc::new(App::new(&options, ADDRESS.to_owned()).unwrap());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { folder, router: router(Arc::clone(&app)), app, runtime }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn send(&self, request: Request<Body>) -> Answer {
        self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let bytes = to_bytes(body, usize::MAX).await.unwrap();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Answer { status: parts.status, headers: parts.headers, text }
        })
    }

    /// What a browser with our cookie sends from our page.
    pub(super) fn request(&self, method: Method, path: &str) -> axum::http::request::Builder {
        let path = if path.starts_with('/') { path.to_owned() } else { self.app.url(path) };
        let cookie = format!("setveil={}", self.app.secrets().cookie);
        let mut request = Request::builder().method(&method).uri(path);
        request = request.header(header::HOST, ADDRESS).header(header::COOKIE, cookie);
        request = request.header("sec-fetch-site", "same-origin");
        if method == Method::POST {
            request = request
                .header(header::ORIGIN, format!("http://{ADDRESS}"))
                .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        }
        request
    }

    pub(super) fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path).body(Body::empty()).unwrap())
    }

    /// A page that must be there.
    pub(super) fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
        answer.text
    }

    pub(super) fn form(&self, fields: &[(&str, &str)]) -> String {
        let token = [("token", self.app.secrets().form.as_str())];
        let pairs = token.iter().chain(fields).map(|(n, v)| format!("{n}={}", encoded(v)));
        pairs.collect::<Vec<_>>().join("&")
    }

    pub(super) fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let body = Body::from(self.form(fields));
        self.send(self.request(Method::POST, path).body(body).unwrap())
    }

    /// Sends a form that begins a job, waits, and gives the job's end.
    pub(super) fn job(&self, path: &str, fields: &[(&str, &str)]) -> Status {
        let answer = self.post(path, fields);
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{path}: {}", answer.text);
        let id = answer.header("location").rsplit('/').next().unwrap().parse().unwrap();
        let job = self.app.jobs.get(id).unwrap();
        for _ in 0..6000 {
            if !job.unfinished() {
                return job.status();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("{path}: it takes too long");
    }

    /// The same for a job that must succeed: the address of its result.
    pub(super) fn done(&self, path: &str, fields: &[(&str, &str)]) -> String {
        match self.job(path, fields) {
            Status::Done(place) => place,
            other => panic!("{path}: {other:?}"),
        }
    }

    /// Opens a file; the number of the data.
    pub(super) fn open(&self, file: &str) -> u32 {
        number(&self.done("data", &[("file", file)]))
    }
}

/// The number at the end of an address.
pub(super) fn number(place: &str) -> u32 {
    let place = place.split('#').next().unwrap_or_default();
    place.rsplit('/').find_map(|part| part.parse().ok()).unwrap()
}

/// A few hundred baskets.
pub(super) fn baskets() -> String {
    let mut text = String::new();
    for i in 0..300_u32 {
        let n = i.wrapping_mul(2_654_435_761) >> 7;
        text += &format!("bread{},milk{},tea{}", n % 5, n / 8 % 7, n / 64 % 4);
        if i % 11 == 0 {
            text += ",insulin";
        }
        text += "\n";
    }
    text
}
