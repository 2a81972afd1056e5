//! Who gets an answer, and what every answer carries.
//!
//! A request passes if it is for exactly our address (a foreign name that was
//! pointed at this machine is not), if the browser does not say that another site
//! sent it, if it has our cookie and knows our path, and, where it changes
//! something, if it comes from our own page. The token of the form is checked
//! where the form is read (`form.rs`).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::{App, Ctx};
use crate::secret::{same, token};

/// The name of the cookie.
pub(crate) const COOKIE: &str = "setveil";

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What every answer carries beside its policy.
const HEADERS: [(&str, &str); 8] = [
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    // With `no-referrer`, browsers would hide the origin of our own forms.
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
    ("x-robots-tag", "noindex"),
];

/// What a page may load and do: its own style and script by their nonce, its own
/// forms, its own events, and nothing else.
fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; \
         img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'"
    )
}

/// Answers, or says why not.
pub(crate) async fn guard(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    let nonce = token();
    let mut response = match check(&app, request.method(), request.uri(), request.headers()) {
        Err(refused) => refused.into_response(),
        Ok(Visitor::Link) => enter(&app),
        Ok(Visitor::Known) => {
            if !request.uri().path().ends_with("/alive") {
                app.touch();
            }
            request.extensions_mut().insert(Ctx::new(Arc::clone(&app), nonce.clone()));
            next.run(request).await
        }
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    // A report brings its own, which is stricter.
    if !headers.contains_key(header::CONTENT_SECURITY_POLICY)
        && let Ok(policy) = HeaderValue::from_str(&policy(&nonce))
    {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// Somebody who may come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visitor {
    /// With the link, for the first and last time.
    Link,
    /// With the cookie.
    Known,
}

type Refused = (StatusCode, &'static str);

fn check(app: &App, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Visitor, Refused> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let ours = |host: &HeaderValue| host.as_bytes() == app.address().as_bytes();
    if !hosts.next().is_some_and(ours) || hosts.next().is_some() || uri.authority().is_some() {
        return Err((StatusCode::MISDIRECTED_REQUEST, "This is not the address of this server.\n"));
    }
    if !matches!(*method, Method::GET | Method::HEAD | Method::POST) {
        return Err((StatusCode::METHOD_NOT_ALLOWED, "Only GET and POST.\n"));
    }
    sent_by_us(app, *method == Method::POST, headers)?;
    if let Some(link) = uri.path().strip_prefix("/open/") {
        return match *method == Method::GET && app.secrets().open(link) {
            true => Ok(Visitor::Link),
            false => Err((StatusCode::FORBIDDEN, USED)),
        };
    }
    let path = uri.path().strip_prefix('/').and_then(|rest| rest.split('/').next());
    let known = path.is_some_and(|path| same(path, &app.secrets().path));
    if known && has_cookie(headers, &app.secrets().cookie) {
        return Ok(Visitor::Known);
    }
    Err((StatusCode::FORBIDDEN, STRANGER))
}

const STRANGER: &str =
    "Open this page with the link that `setveil serve` printed, in one browser.\n";
const USED: &str = "This link was used already, or is not the one of this server. Start `setveil serve` \
                    again for a new one.\n";
const ELSEWHERE: &str = "This request comes from another web site.\n";

/// Whether the browser says, or does not deny, that our own page or the person
/// sent this.
fn sent_by_us(app: &App, changes: bool, headers: &HeaderMap) -> Result<(), Refused> {
    let refused = Err((StatusCode::FORBIDDEN, ELSEWHERE));
    let origin = format!("http://{}", app.address());
    let mut origins = headers.get_all(header::ORIGIN).iter();
    match origins.next() {
        Some(found) if found.as_bytes() != origin.as_bytes() => return refused,
        // Browsers send it with every POST.
        None if changes => return refused,
        _ => {}
    }
    let site = headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes);
    match site {
        _ if origins.next().is_some() => refused,
        None | Some(b"same-origin") => Ok(()),
        // Typed, or from a bookmark.
        Some(b"none") if !changes => Ok(()),
        _ => refused,
    }
}

fn has_cookie(headers: &HeaderMap, value: &str) -> bool {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs =
        all.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.any(|(name, found)| name == COOKIE && same(found, value))
}

/// Gives the cookie, and shows the way.
fn enter(app: &App) -> Response {
    app.touch();
    let secrets = app.secrets();
    let cookie =
        format!("{COOKIE}={}; Path=/{}; HttpOnly; SameSite=Strict", secrets.cookie, secrets.path);
    let place = format!("/{}/", secrets.path);
    (StatusCode::SEE_OTHER, [(header::SET_COOKIE, cookie), (header::LOCATION, place)])
        .into_response()
}
