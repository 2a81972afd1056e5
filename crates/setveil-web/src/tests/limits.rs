//! Sizes, jobs, cancelling, idleness.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use setveil::budget::Budget;

use super::{Site, baskets, number};
use crate::jobs::Status;

/// A file as a browser sends it.
fn dropped(site: &Site, token: &str, name: &str, content: &str) -> super::Answer {
    let body = format!(
        "--x\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n{token}\r\n--x\r\n\
         Content-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: text/csv\r\n\r\n{content}\r\n--x--\r\n"
    );
    let mut request = site.request(Method::POST, "drop").body(Body::from(body)).unwrap();
    let kind = "multipart/form-data; boundary=x".parse().unwrap();
    request.headers_mut().insert(header::CONTENT_TYPE, kind);
    site.send(request)
}

#[test]
fn a_dropped_file_is_copied_under_a_free_name_and_opened() {
    let site = Site::new(&[("a.csv", "b,c\n")]);
    let token = site.app.secrets().form.clone();
    assert_eq!(dropped(&site, &token, "a.csv", &baskets()).status, StatusCode::SEE_OTHER);
    assert_eq!(std::fs::read_to_string(site.path().join("a-2.csv")).unwrap(), baskets());
    assert_eq!(std::fs::read_to_string(site.path().join("a.csv")).unwrap(), "b,c\n");
    dropped(&site, &token, "../../b.csv", "x,y\n");
    assert!(site.path().join("b.csv").is_file());
    for name in ["", ".bashrc", "x/.."] {
        assert_eq!(dropped(&site, &token, name, "x\n").status, StatusCode::BAD_REQUEST, "{name}");
    }
    let before = std::fs::read_dir(site.path()).unwrap().count();
    assert_eq!(dropped(&site, "wrong", "c.csv", "x\n").status, StatusCode::FORBIDDEN);
    assert_eq!(std::fs::read_dir(site.path()).unwrap().count(), before);
}

#[test]
fn too_large_is_refused_and_leaves_nothing() {
    let site = Site::with(&[], |options| options.upload(1000));
    let token = site.app.secrets().form.clone();
    let answer = dropped(&site, &token, "a.csv", &"x,y\n".repeat(1000));
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(std::fs::read_dir(site.path()).unwrap().count(), 0);
    let huge = site.form(&[("q", &"x".repeat(2 << 20))]);
    let answer = site.send(site.request(Method::POST, "data").body(Body::from(huge)).unwrap());
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
}

#[test]
fn data_that_needs_too_much_memory_is_refused_with_the_number() {
    let site = Site::with(&[("a.csv", &baskets())], |options| options.budget(Budget::new(1000)));
    match site.job("data", &[("file", "a.csv")]) {
        Status::Failed(why) => assert!(why.contains("at most 1000"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn jobs_are_cancelled_and_there_is_a_limit() {
    let site = Site::new(&[]);
    let endless = |job: &crate::jobs::Job| loop {
        setveil::Progress::step(job, 1)?;
        std::thread::sleep(Duration::from_millis(1));
    };
    let first = site.app.jobs.start("long", "/back", endless).unwrap();
    let page = site.page(&format!("job/{}", first.id));
    assert!(page.contains("<progress") && page.contains("Cancel"), "{page}");
    while site.app.jobs.start("long", "/back", endless).is_some() {}
    let answer = site.post("release", &[("dir", "")]);
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS, "{}", answer.text);
    for job in site.app.jobs.unfinished().iter().rev() {
        let answer = site.post(&format!("job/{}/cancel", job.id), &[]);
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
        assert_eq!(job.status(), Status::Cancelled);
    }
    let page = site.page(&format!("job/{}", first.id));
    assert!(page.contains("Cancelled") && page.contains("/back"), "{page}");
    assert!(site.page(&format!("job/{}/events", first.id)).contains("event: end"));
}

#[test]
fn a_cancelled_run_leaves_nothing() {
    let site = Site::new(&[("a.csv", &baskets())]);
    let id = site.open("a.csv");
    let fields = [("then", "run"), ("method", "disassociation")];
    let answer = site.post(&format!("data/{id}/protect"), &fields);
    let job = site.app.jobs.get(number(answer.header("location"))).unwrap();
    job.cancel();
    while job.unfinished() {
        std::thread::sleep(Duration::from_millis(5));
    }
    // It may have been faster than the word.
    if job.status() == Status::Cancelled {
        assert!(site.page("history").contains("There are none yet"));
    }
    assert_eq!(std::fs::read_dir(site.path()).unwrap().count(), 1);
}

#[test]
fn asking_whether_it_is_there_does_not_keep_it_awake() {
    let site = Site::new(&[]);
    site.get("");
    std::thread::sleep(Duration::from_millis(30));
    site.page("alive");
    assert!(site.app.idle() >= Duration::from_millis(30));
    site.page("");
    assert!(site.app.idle() < Duration::from_millis(30));
}

#[test]
fn old_numbers_are_said_to_be_gone() {
    let site = Site::new(&[]);
    for path in
        ["data/7", "data/7/risk", "data/7/protect", "run/7", "release/7", "sweep/7", "job/7"]
    {
        assert_eq!(site.get(path).status, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(site.get("data/many").status, StatusCode::BAD_REQUEST);
}
