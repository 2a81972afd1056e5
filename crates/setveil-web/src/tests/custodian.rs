//! The way of a custodian, page by page.

use axum::http::StatusCode;
use setveil::io::DirectorySource;
use setveil::workflow;

use super::{Site, baskets, number};
use crate::jobs::Status;

#[test]
fn from_a_file_to_a_release_that_holds() {
    let site = Site::new(&[("baskets.csv", &baskets())]);
    assert!(site.page("").contains("baskets.csv"));
    let id = site.open("baskets.csv");
    let page = site.page(&format!("data/{id}"));
    assert!(page.contains("Is this how it is meant?") && page.contains(">300<"), "{page}");
    let place = site.done(&format!("data/{id}/risk"), &[]);
    assert!(site.page(&place).contains("<svg"), "a curve");
    let protect = site.page(&format!("data/{id}/protect"));
    assert!(protect.contains("Not promised") && protect.contains("known items"), "{protect}");
    let fields =
        [("then", "run"), ("method", "disassociation"), ("k", "3"), ("m", "2"), ("size", "20")];
    let run = number(&site.done(&format!("data/{id}/protect"), &fields));
    let page = site.page(&format!("run/{run}"));
    for text in [
        "The promise holds",
        "before and after",
        "What an attacker learns",
        "--max-cluster-size 20",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(std::fs::read_dir(site.path()).unwrap().count(), 1, "nothing was written yet");
    let wish =
        [("name", "out"), ("receipt", "yes"), ("report", "yes"), ("responsible", "A. Smith")];
    let place = site.done(&format!("run/{run}/save"), &wish);
    assert!(site.page(place.split('#').next().unwrap()).contains("Saved: out"));
    let verdict =
        workflow::verify_from(&DirectorySource::new(&site.path().join("out")), &()).unwrap();
    assert!(verdict.holds, "{verdict:?}");
    let report = std::fs::read_to_string(site.path().join("out-report.html")).unwrap();
    assert!(report.contains("A. Smith"));
    let receipt = std::fs::read_to_string(site.path().join("out-receipt.json")).unwrap();
    assert!(receipt.contains("data_sha256") && receipt.contains("baskets.csv"));
    let history = site.page("history");
    assert!(history.contains("k = 3") && history.contains("out"), "{history}");
}

#[test]
fn the_same_data_is_not_published_twice_by_accident() {
    let site = Site::new(&[("a.csv", &baskets())]);
    let id = site.open("a.csv");
    let run = number(&site.done(&format!("data/{id}/protect"), &[("then", "run")]));
    let save = format!("run/{run}/save");
    site.done(&save, &[("name", "one"), ("receipt", "yes")]);
    match site.job(&save, &[("name", "two"), ("receipt", "yes")]) {
        Status::Failed(why) => assert!(why.contains("published before"), "{why}"),
        other => panic!("{other:?}"),
    }
    assert!(!site.path().join("two").exists());
    match site.job(&save, &[("name", "one")]) {
        Status::Failed(why) => assert!(why.contains("Replace what is there"), "{why}"),
        other => panic!("{other:?}"),
    }
    let place = site.done(&save, &[("name", "two"), ("receipt", "yes"), ("again", "yes")]);
    assert!(site.page(place.split('#').next().unwrap()).contains("1 earlier release"));
}

#[test]
fn a_table_that_looks_like_one_is_refused_until_somebody_has_looked() {
    let mut table = "patient,code\n".to_owned();
    (0..120).for_each(|i| table += &format!("p{},c{}\n", i / 3, i * 7 % 11));
    let site = Site::new(&[("visits.csv", &table)]);
    let id = site.open("visits.csv");
    let page = site.page(&format!("data/{id}"));
    assert!(
        page.contains("does not look like one set of items") && page.contains("Probably meant")
    );
    let refused = site.post(&format!("data/{id}/risk"), &[]);
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let refused = site.post(&format!("data/{id}/protect"), &[("then", "run")]);
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let asked = [("file", "visits.csv"), ("id", "patient"), ("item", "code")];
    let id = number(&site.done("data", &asked));
    let page = site.page(&format!("data/{id}"));
    assert!(page.contains("long-csv") && page.contains(">40<"), "{page}");
    site.done(&format!("data/{id}/risk"), &[]);
}

#[test]
fn bad_files_lead_to_the_form() {
    let site = Site::new(&[("a.txt", "x y\n"), ("b.jsonl", "[1\n"), ("empty.csv", "")]);
    for (file, word) in
        [("a.txt", "does not tell the format"), ("b.jsonl", "line 1"), ("empty.csv", "no record")]
    {
        match site.job("data", &[("file", file)]) {
            Status::Failed(why) => {
                assert!(
                    why.contains(word) && !why.contains(site.path().to_str().unwrap()),
                    "{why}"
                );
            }
            other => panic!("{file}: {other:?}"),
        }
    }
    let job = site.page("job/1");
    assert!(job.contains("This did not work") && job.contains("file?file=a.txt"), "{job}");
    assert!(site.page("file?file=a.txt&format=fimi").contains("value=\"fimi\" selected"));
    site.done("data", &[("file", "a.txt"), ("format", "fimi")]);
    for (name, value) in [("format", "magic"), ("delimiter", "ab"), ("encoding", "klingon")] {
        let answer = site.post("data", &[("file", "a.txt"), (name, value)]);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{name}");
    }
}

#[test]
fn every_method_of_the_form_makes_a_release_that_holds() {
    let site = Site::new(&[("a.csv", &baskets())]);
    let id = site.open("a.csv");
    let protect = format!("data/{id}/protect");
    site.done(&format!("data/{id}/hierarchy"), &[("fanout", "3")]);
    let found = site.page(&format!("data/{id}/hierarchy?q=bread0"));
    assert!(found.contains("bread0 ›"), "{found}");
    site.post(&format!("data/{id}/sensitive"), &[("add", "insulin"), ("add", "nobody has this")]);
    let chosen = site.page(&format!("data/{id}/sensitive?q=insulin"));
    assert!(chosen.contains("Remove insulin") && !chosen.contains("nobody has this"));
    for choice in crate::choice::CHOICES {
        let fields = [
            ("then", "run"),
            ("method", choice.key),
            ("k", "3"),
            ("p", "3"),
            ("l", "3"),
            ("size", "20"),
            ("drop_sensitive_only", "yes"),
        ];
        let run = number(&site.done(&protect, &fields));
        let page = site.page(&format!("run/{run}"));
        let holds = ["The promise holds", "The files are in order", "there is nothing in it"];
        assert!(holds.iter().any(|text| page.contains(text)), "{}", choice.key);
        let name = format!("out-{}", choice.key);
        site.done(&format!("run/{run}/save"), &[("name", &name), ("report", "yes")]);
        let source = DirectorySource::new(&site.path().join(&name));
        assert!(workflow::verify_from(&source, &()).unwrap().holds, "{}", choice.key);
    }
    let history = site.page("history");
    assert_eq!(history.matches("<tr>").count(), crate::choice::CHOICES.len() + 1);
}

#[test]
fn a_sweep_has_points_with_spread_that_lead_to_the_form() {
    let site = Site::new(&[("a.csv", &baskets())]);
    let id = site.open("a.csv");
    let ask = site.page(&format!("data/{id}/sweep"));
    assert!(ask.contains("Values of k"));
    let fields = [
        ("method", "disassociation"),
        ("method", "local-suppression"),
        ("k", "2, 4"),
        ("m", "2"),
        ("size", "20"),
        ("known", "2"),
        ("repeats", "2"),
    ];
    let sweep = site.done(&format!("data/{id}/sweep"), &fields);
    let page = site.page(&sweep);
    assert_eq!(page.matches("class=\"target\"").count(), 4, "{page}");
    assert!(page.matches("class=\"spread\"").count() == 8 && page.contains("± 0."));
    let link = format!(
        "{}?method=disassociation&amp;k=4&amp;m=2&amp;size=20",
        site.app.url(&format!("data/{id}/protect"))
    );
    assert!(page.contains(&link), "{page}");
    let form = site.page(&format!("data/{id}/protect?method=local-suppression&k=4&m=2&size=20"));
    assert!(
        form.contains("value=\"local-suppression\" checked")
            && form.contains("name=\"k\" value=\"4\"")
    );
    assert_eq!(
        site.post(&format!("data/{id}/sweep"), &[("k", "2")]).status,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(site.get("sweep/99").status, StatusCode::NOT_FOUND);
}

#[test]
fn promises_follow_the_numbers_and_say_what_is_wrong() {
    let site = Site::new(&[("a.csv", &baskets())]);
    let id = site.open("a.csv");
    let promise = |query: &str| site.page(&format!("data/{id}/promise?{query}"));
    assert!(promise("method=disassociation&k=7&m=3").contains("at least 7"));
    assert!(promise("method=disassociation&k=40&size=50").contains("at least 2k"));
    assert!(promise("method=partition").contains("needs a hierarchy"));
    assert!(promise("method=cahd").contains("needs a list of sensitive items"));
}

#[test]
fn the_command_line_of_a_saved_run_names_every_file() {
    let site = Site::new(&[("my data.csv", &baskets())]);
    let id = site.open("my data.csv");
    site.post(&format!("data/{id}/sensitive"), &[("add", "insulin")]);
    let fields = [("then", "run"), ("method", "cahd"), ("p", "3"), ("drop_sensitive_only", "yes")];
    let run = number(&site.done(&format!("data/{id}/protect"), &fields));
    site.done(&format!("run/{run}/save"), &[("name", "out"), ("receipt", "yes")]);
    let saved = site.app.shelf().run(run).unwrap().saved();
    assert_eq!(
        saved[0].command,
        "setveil anonymize cahd 'my data.csv' -p 3 --sensitive out-sensitive.txt \
         --sensitive-only drop -o out --receipt out-receipt.json"
    );
    assert_eq!(
        std::fs::read_to_string(site.path().join("out-sensitive.txt")).unwrap(),
        "insulin\n"
    );
}
