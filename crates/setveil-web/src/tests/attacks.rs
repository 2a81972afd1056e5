//! Everything that somebody else may try, and the answer to it. The table of
//! `docs/page.md` lists the same.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};

use super::{ADDRESS, Site, baskets, number};

/// A request with exactly these headers.
fn bare(method: Method, path: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::empty()).unwrap()
}

#[test]
fn the_link_opens_once_and_gives_a_cookie_that_scripts_and_others_do_not_get() {
    let site = Site::new(&[]);
    let link = format!("/open/{}", site.app.secrets().link().unwrap());
    let head = [("host", ADDRESS)];
    for wrong in ["/open/", "/open/0000", &format!("{link}0")] {
        assert_eq!(site.send(bare(Method::GET, wrong, &head)).status, StatusCode::FORBIDDEN);
    }
    let post = [("host", ADDRESS), ("origin", "http://127.0.0.1:4321")];
    assert_eq!(site.send(bare(Method::POST, &link, &post)).status, StatusCode::FORBIDDEN);
    let answer = site.send(bare(Method::GET, &link, &head));
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let cookie = answer.header("set-cookie");
    let path = format!("Path=/{}", site.app.secrets().path);
    for part in ["HttpOnly", "SameSite=Strict", path.as_str()] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Domain"), "{cookie}");
    assert_eq!(answer.header("location"), site.app.url(""));
    assert_eq!(site.send(bare(Method::GET, &link, &head)).status, StatusCode::FORBIDDEN);
}

#[test]
fn strangers_learn_nothing() {
    let site = Site::new(&[("secret.csv", "a,b\n")]);
    let cookie = format!("setveil={}", site.app.secrets().cookie);
    let (home, host) = (site.app.url(""), ("host", ADDRESS));
    let forbidden = StatusCode::FORBIDDEN;
    let elsewhere = StatusCode::MISDIRECTED_REQUEST;
    let cases: Vec<(&str, Request<Body>, StatusCode)> = vec![
        ("no cookie", bare(Method::GET, &home, &[host]), forbidden),
        ("a wrong cookie", bare(Method::GET, &home, &[host, ("cookie", "setveil=1")]), forbidden),
        ("a wrong path", bare(Method::GET, "/", &[host, ("cookie", &cookie)]), forbidden),
        ("another path", bare(Method::GET, "/0123/", &[host, ("cookie", &cookie)]), forbidden),
        ("no host", bare(Method::GET, &home, &[("cookie", &cookie)]), elsewhere),
        (
            "rebinding: a foreign name for this machine",
            bare(Method::GET, &home, &[("host", "evil.example:4321"), ("cookie", &cookie)]),
            elsewhere,
        ),
        (
            "localhost",
            bare(Method::GET, &home, &[("host", "localhost:4321"), ("cookie", &cookie)]),
            elsewhere,
        ),
        (
            "another port",
            bare(Method::GET, &home, &[("host", "127.0.0.1:4322"), ("cookie", &cookie)]),
            elsewhere,
        ),
        ("two hosts", bare(Method::GET, &home, &[host, host, ("cookie", &cookie)]), elsewhere),
        (
            "a proxy's request",
            bare(Method::GET, &format!("http://evil.example{home}"), &[host, ("cookie", &cookie)]),
            elsewhere,
        ),
    ];
    for (what, request, status) in cases {
        let answer = site.send(request);
        assert_eq!(answer.status, status, "{what}");
        assert!(!answer.text.contains("secret"), "{what}");
    }
}

#[test]
fn other_sites_cannot_read_or_post() {
    let site = Site::new(&[("secret.csv", "a,b\n")]);
    for from in ["cross-site", "same-site"] {
        for path in ["", "style.css", "page.js", "data/1", "alive"] {
            let mut request = site.request(Method::GET, path).body(Body::empty()).unwrap();
            request.headers_mut().insert("sec-fetch-site", from.parse().unwrap());
            assert_eq!(site.send(request).status, StatusCode::FORBIDDEN, "{from} {path}");
        }
    }
    let ours = format!("http://{ADDRESS}");
    let cases: [(&str, Option<&str>, Option<&str>); 8] = [
        ("no origin", None, None),
        ("an opaque origin", Some("null"), None),
        ("another site", Some("https://evil.example"), Some("cross-site")),
        ("another port", Some("http://127.0.0.1:9999"), Some("same-site")),
        ("another name", Some("http://localhost:4321"), Some("cross-site")),
        ("another scheme", Some("https://127.0.0.1:4321"), Some("same-origin")),
        ("a browser that says otherwise", Some(&ours), Some("cross-site")),
        ("typed", Some(&ours), Some("none")),
    ];
    for (what, origin, fetch) in cases {
        let mut request = site
            .request(Method::POST, "data")
            .body(Body::from(site.form(&[("file", "secret.csv")])))
            .unwrap();
        request.headers_mut().remove(header::ORIGIN);
        request.headers_mut().remove("sec-fetch-site");
        for (name, value) in [("origin", origin), ("sec-fetch-site", fetch)] {
            if let Some(value) = value {
                request.headers_mut().insert(name, value.parse().unwrap());
            }
        }
        assert_eq!(site.send(request).status, StatusCode::FORBIDDEN, "{what}");
    }
    assert!(site.app.jobs.unfinished().is_empty() && site.app.jobs.get(1).is_none());
}

#[test]
fn a_foreign_origin_gets_no_leave_to_read() {
    let site = Site::new(&[]);
    let mut request = site.request(Method::GET, "").body(Body::empty()).unwrap();
    request.headers_mut().insert(header::ORIGIN, "https://evil.example".parse().unwrap());
    let answer = site.send(request);
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    let options = site.request(Method::OPTIONS, "").body(Body::empty()).unwrap();
    let answer = site.send(options);
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    for answer in [answer, site.get("")] {
        assert!(!answer.headers.keys().any(|name| name.as_str().starts_with("access-control")));
    }
    for method in [Method::PUT, Method::DELETE, Method::PATCH, Method::TRACE] {
        let request = site.request(method, "").body(Body::empty()).unwrap();
        assert_eq!(site.send(request).status, StatusCode::METHOD_NOT_ALLOWED);
    }
}

/// Every page that takes a form.
fn posts() -> Vec<String> {
    let routes = include_str!("../app.rs").lines().filter(|line| line.contains("post("));
    let first = |line: &str| line.split('"').nth(1).map(|path| path.replace("{id}", "1"));
    routes.filter(|line| line.trim_start().starts_with('(')).filter_map(first).collect()
}

#[test]
fn no_form_works_without_its_token() {
    let site = Site::new(&[("a.csv", &baskets())]);
    site.open("a.csv");
    let all = posts();
    assert!(all.len() >= 12 && all.contains(&"quit".to_owned()), "{all:?}");
    for path in all {
        for token in [None, Some("token="), Some("token=0000")] {
            let body = Body::from(token.unwrap_or("file=a.csv"));
            let answer = site.send(site.request(Method::POST, &path).body(body).unwrap());
            let refused = [StatusCode::FORBIDDEN, StatusCode::BAD_REQUEST];
            assert!(refused.contains(&answer.status), "{path}: {}", answer.status);
        }
    }
    // And nothing that changes something can be asked for with GET.
    for path in ["quit", "job/1/cancel", "data", "drop", "run/1/save", "release", "release/1/write"]
    {
        assert_eq!(site.get(path).status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
    }
}

#[test]
fn every_answer_carries_the_rules() {
    let site = Site::new(&[("a.csv", &baskets())]);
    let stranger = bare(Method::GET, "/", &[("host", "evil.example")]);
    for answer in [site.get(""), site.get("style.css"), site.get("nowhere"), site.send(stranger)] {
        let policy = answer.header("content-security-policy");
        for rule in [
            "default-src 'none'",
            "script-src 'nonce-",
            "style-src 'nonce-",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(rule), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("x-frame-options"), "DENY");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "same-origin");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
    }
    let nonce = |answer: &super::Answer| {
        answer.header("content-security-policy").split("nonce-").nth(1).unwrap()[..64].to_owned()
    };
    let (one, two) = (site.get(""), site.get(""));
    assert_ne!(nonce(&one), nonce(&two), "a nonce is used once");
    assert!(one.text.contains(&format!("nonce=\"{}\"", nonce(&one))));
}

#[test]
fn files_outside_of_the_folder_are_not_reached() {
    let site = Site::new(&[("a.csv", &baskets())]);
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.csv"), "x,y\n").unwrap();
    #[cfg(unix)]
    {
        let to = outside.path();
        std::os::unix::fs::symlink(to, site.path().join("out")).unwrap();
        std::os::unix::fs::symlink(to.join("secret.csv"), site.path().join("link.csv")).unwrap();
    }
    for file in
        ["../secret.csv", "/etc/passwd", "out/secret.csv", "link.csv", "./../a.csv", "a.csv/..", ""]
    {
        let answer = site.post("data", &[("file", file)]);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{file}");
    }
    for dir in ["..", "/", "out", "../.."] {
        let answer = site.post("release", &[("dir", dir)]);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{dir}");
        let text = site.page(&format!("?dir={}", crate::form::encoded(dir)));
        assert!(!text.contains("secret.csv"), "{dir}");
    }
    let id = site.open("a.csv");
    let data = format!("data/{id}/hierarchy");
    assert_eq!(site.post(&data, &[("file", "out/secret.csv")]).status, StatusCode::BAD_REQUEST);
    site.done(&format!("data/{id}/risk"), &[]);
    let run = number(
        &site.done(&format!("data/{id}/protect"), &[("then", "run"), ("method", "disassociation")]),
    );
    for name in ["../stolen", "out/stolen", "/tmp/stolen", ".hidden", "", "a/../../stolen"] {
        let answer = site.post(&format!("run/{run}/save"), &[("name", name)]);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{name}");
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn names_stay_names() {
    let hostile = "<img src=x onerror=alert(1)>";
    let odd = "\"'><script>alert(2)</script>";
    let mut text = String::new();
    for i in 0..60 {
        text += &format!("[{:?}, {:?}, \"bread{}\", \"a\\u202eb\\u0007\"]\n", hostile, odd, i % 3);
    }
    let file = "<b onclick=x>.jsonl";
    let site = Site::new(&[(file, &text)]);
    let looks = |page: &str, text: &str| {
        for bad in ["<img src=x", "<script>alert", "<b onclick", "\u{202e}", "\u{7}"] {
            assert!(!text.contains(bad), "{page}: {bad}");
        }
    };
    looks("start", &site.page(""));
    let id = site.open(file);
    let page = site.page(&format!("data/{id}"));
    assert!(page.contains("&lt;img src=x onerror"), "{page}");
    looks("data", &page);
    site.done(&format!("data/{id}/risk"), &[("as_baskets", "yes")]);
    let sensitive = format!("data/{id}/sensitive");
    site.post(&sensitive, &[("add", hostile), ("q", odd)]);
    let chosen = site.page(&format!("{sensitive}?q={}", crate::form::encoded("<img")));
    assert!(chosen.contains("&lt;img src=x"));
    looks("sensitive", &chosen);
    let fields = [("then", "run"), ("method", "local-suppression"), ("k", "3"), ("m", "2")];
    let run = number(&site.done(&format!("data/{id}/protect"), &fields));
    looks("run", &site.page(&format!("run/{run}")));
    looks("report", &site.page(&format!("run/{run}/report")));
    let saved = site.done(
        &format!("run/{run}/save"),
        &[("name", "<i>release"), ("receipt", "yes"), ("report", "yes")],
    );
    looks("saved", &site.page(saved.split('#').next().unwrap()));
    looks("history", &site.page("history"));
    let release = number(&site.done("release", &[("dir", "<i>release")]));
    let asked = format!("release/{release}?item={}", crate::form::encoded(hostile));
    let page = site.page(&asked);
    assert!(!page.contains("<i>release"));
    looks("release", &page);
    looks("unknown", &site.page(&format!("release/{release}?item={}", crate::form::encoded(odd))));
}

#[test]
fn the_report_may_do_nothing() {
    let site = Site::new(&[("a.csv", &baskets())]);
    let id = site.open("a.csv");
    let run = number(&site.done(&format!("data/{id}/protect"), &[("then", "run")]));
    let answer = site.get(&format!("run/{run}/report"));
    let policy = answer.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("sandbox"), "{policy}");
    assert!(!policy.contains("script"), "{policy}");
    assert_eq!(answer.header("cache-control"), "no-store");
}
