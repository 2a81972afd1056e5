//! The way of a recipient.

use axum::http::StatusCode;
use setveil::data::{K, M};
use setveil::methods::disassociation::Parameters;
use setveil::workflow::files;
use setveil::{Method, io};

use super::{Site, baskets, number};
use crate::jobs::Status;

fn with_release() -> Site {
    let site = Site::new(&[("a.csv", &baskets())]);
    let options = io::ReadOptions::default();
    let path = site.path().join("a.csv");
    let data = files::Original { path: &path, options: &options };
    let method = Method::Disassociation(Parameters::new(K::new(3).unwrap(), M::new(2).unwrap()));
    let target = files::Target::new(site.path().join("got"));
    files::anonymize(data, &method, &target, &()).unwrap();
    site
}

#[test]
fn a_release_is_checked_searched_asked_and_written() {
    let site = with_release();
    assert!(site.page("releases").contains("got"));
    let id = number(&site.done("release", &[("dir", "got")]));
    let page = site.page(&format!("release/{id}"));
    assert!(page.contains("The promise holds") && page.contains("17 items"), "{page}");
    let found = site.page(&format!("release/{id}?q=BREAD"));
    assert!(found.contains("5 items with “BREAD”") && !found.contains("Ask for milk1"), "{found}");
    let asked = site.page(&format!("release/{id}?item=bread0&item=milk1"));
    assert!(asked.contains("How often together?") && asked.contains("Leave out bread0"));
    let unknown = site.page(&format!("release/{id}?item=caviar"));
    assert!(unknown.contains("The release does not have: caviar"));
    let combinations =
        site.done(&format!("release/{id}/itemsets"), &[("n", "20"), ("at_least", "2")]);
    assert!(site.page(&combinations).contains("20 combinations"));
    let write = format!("release/{id}/write");
    site.done(&write, &[("what", "worlds"), ("n", "2"), ("name", "worlds"), ("format", "csv")]);
    site.done(&write, &[("what", "tables"), ("name", "tables")]);
    site.done(&write, &[("what", "items"), ("name", "items.csv")]);
    for file in [
        "worlds/reconstruction-1.csv",
        "worlds/reconstruction-2.csv",
        "tables/rows.csv",
        "items.csv",
    ] {
        assert!(site.path().join(file).is_file(), "{file}");
    }
    let page = site.page(&format!("release/{id}"));
    assert!(page.contains("worlds/reconstruction-2.csv"), "{page}");
    match site.job(&write, &[("what", "tables"), ("name", "worlds")]) {
        Status::Failed(why) => assert!(why.contains("new directory"), "{why}"),
        other => panic!("{other:?}"),
    }
    let out = site.post(&write, &[("what", "tables"), ("name", "../tables")]);
    assert_eq!(out.status, StatusCode::BAD_REQUEST);
}

#[test]
fn a_release_that_was_changed_does_not_hold() {
    let site = with_release();
    let file = site.path().join("got/clusters.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    std::fs::write(&file, format!("{rest}{first}\n")).unwrap();
    let id = number(&site.done("release", &[("dir", "got")]));
    let page = site.page(&format!("release/{id}"));
    assert!(page.contains("does NOT hold") && page.contains("The first violations"), "{page}");
    match site.job("release", &[("dir", "")]) {
        Status::Failed(_) => {}
        other => panic!("no release at all: {other:?}"),
    }
}
