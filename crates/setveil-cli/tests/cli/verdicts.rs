//! Weak results are amber, empty ones red: in `anonymize`, `verify` and the
//! report. And what messages say.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

fn run(dir: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("setveil").unwrap().current_dir(dir).args(args).assert()
}

fn split(args: &str) -> Vec<&str> {
    args.split_whitespace().collect()
}

fn text(dir: &Path, args: &str) -> String {
    let out = run(dir, &split(args)).success().get_output().stdout.clone();
    String::from_utf8(out).unwrap()
}

fn json(dir: &Path, args: &str) -> Value {
    serde_json::from_str(&text(dir, &format!("{args} --json"))).unwrap()
}

fn error(dir: &Path, args: &str) -> String {
    let out = run(dir, &split(args)).code(2).get_output().stderr.clone();
    String::from_utf8(out).unwrap()
}

fn page(dir: &Path, args: &str) -> String {
    run(dir, &split(&format!("report r {args} -o page.html --force")));
    std::fs::read_to_string(dir.join("page.html")).unwrap()
}

fn folder(data: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("data.dat"), data).unwrap();
    dir
}

/// 120 records of patients; five of them have B20 and little else.
fn patients() -> String {
    let mut text = String::new();
    for i in 0..120 {
        text += &match i {
            0..5 => format!("B20 E{}\n", i % 2),
            _ => format!("I{} J{} K{}\n", i % 4, i % 3, i % 5),
        };
    }
    text
}

/// What is said in `anonymize`, in `verify`, and first in the report.
fn said(dir: &Path, anonymize: &str, colour: &str, words: &str) {
    let answer = text(dir, anonymize);
    assert!(answer.contains(words), "anonymize: {answer}");
    let verdict = text(dir, "verify r");
    assert!(verdict.contains(words), "verify: {verdict}");
    let page = page(dir, "");
    let start = page.find("class=\"verdict").unwrap();
    let verdict = &page[start..start + 1500];
    assert!(verdict.starts_with(&format!("class=\"verdict {colour}\"")), "{verdict}");
    let plain = |text: &str| text.replace("<code>", "`").replace("</code>", "`");
    let end = verdict.find("</div>").unwrap();
    let verdict = plain(&verdict[..end]).to_lowercase();
    assert!(verdict.contains(&words.to_lowercase()), "report: {verdict}");
}

#[test]
fn an_empty_release_is_red() {
    let dir = folder("a b\nb c\nc d\n");
    let tree = "a;*\nb;*\nc;*\nd;*\n";
    std::fs::write(dir.path().join("tree.csv"), tree).unwrap();
    let command = "anonymize diffpart data.dat --hierarchy tree.csv --epsilon 0.01 -o r --force";
    // Noise can make a record out of nothing; nearly always it does not.
    for _ in 0..20 {
        if json(dir.path(), command)["records"] == 0 {
            let verdict = text(dir.path(), "verify r");
            assert!(verdict.contains("do not publish: the release is empty"), "{verdict}");
            let page = page(dir.path(), "");
            assert!(page.contains("class=\"verdict red\""), "{page}");
            assert!(page.contains("Do not publish: there is nothing in it."));
            // Over pairs that nobody published, the measure says how many occur.
            let found = json(dir.path(), "evaluate r --original data.dat --re-range 0..4");
            assert_eq!((&found["re_pairs"], &found["re_pairs_occurring"]), (&6.into(), &3.into()));
            return;
        }
    }
    panic!("twenty releases with next to no budget, and none is empty");
}

#[test]
fn rare_item_removal_is_amber() {
    let dir = folder(&patients());
    let command = "anonymize suppress-rare data.dat -k 3 -o r";
    said(dir.path(), command, "amber", "nothing is promised about combinations");
    let answer = json(dir.path(), "verify r");
    assert_eq!(answer["cautions"][0]["severity"], "amber");
    assert_eq!(answer["cautions"][0]["kind"], "combinations");
    assert_eq!(answer["holds"], true);
}

#[test]
fn everybody_in_a_cluster_with_the_same_item_is_amber() {
    let dir = folder(&patients());
    let command = "anonymize disassociation data.dat -k 3 -m 2 --max-cluster-size 6 -o r";
    said(dir.path(), command, "amber", "all 5 have `B20`");
    // Named as sensitive, it is kept apart, and that is said.
    std::fs::write(dir.path().join("sensitive.txt"), "B20\n").unwrap();
    let answer = json(
        dir.path(),
        "anonymize disassociation data.dat -k 3 -m 2 --sensitive sensitive.txt -l 3 -o r --force",
    );
    assert_eq!(answer["cautions"].as_array().unwrap().len(), 0, "{answer}");
    let page = page(dir.path(), "--original data.dat");
    assert!(page.contains("class=\"verdict green\""));
    assert!(page.contains("Named as sensitive: B20."));
}

#[test]
fn a_broken_promise_is_red_and_says_no_nonsense() {
    let dir = folder(&patients());
    text(dir.path(), "anonymize disassociation data.dat -k 3 -o r");
    let clusters = dir.path().join("r/clusters.jsonl");
    let lines = std::fs::read_to_string(&clusters).unwrap();
    std::fs::write(&clusters, lines.replacen("\"count\":3", "\"count\":2", 1)).unwrap();
    let out = run(dir.path(), &["verify", "r"]).code(1).get_output().stdout.clone();
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("file at clusters.jsonl"), "{out}");
    assert!(!out.contains("{} has 0, required 0"), "{out}");
    let page = page(dir.path(), "");
    assert!(page.contains("class=\"verdict red\"") && page.contains("does NOT hold"), "{page}");
}

#[test]
fn a_measure_over_pairs_that_never_occur_is_not_known() {
    let dir = folder("a x\na y\nb x\nb y\na x\nb y\n");
    text(dir.path(), "anonymize disassociation data.dat -k 2 -m 1 -o r");
    // a and b, x and y never occur together: ranks 0..2 are one such pair.
    let found = json(dir.path(), "evaluate r --original data.dat --re-range 0..2");
    assert_eq!(found["re"], Value::Null, "{found}");
    assert_eq!((&found["re_pairs"], &found["re_pairs_occurring"]), (&1.into(), &0.into()));
    let words = text(dir.path(), "evaluate r --original data.dat --re-range 0..2");
    assert!(words.contains("re is not known: none of the 1 pairs"), "{words}");
    let words = text(dir.path(), "evaluate r --original data.dat --re-range 0..4");
    assert!(words.contains("re is a mean over 6 pairs, of which 4 occur"), "{words}");
}

#[test]
fn messages_that_people_asked_for() {
    let dir = folder(&patients());
    let dir = dir.path();
    let missing = error(dir, "profile nothing.dat");
    assert!(missing.contains("nothing.dat") && !missing.contains("entity not found"), "{missing}");
    assert!(missing.to_lowercase().contains("no such file"), "{missing}");
    let methods = error(dir, "anonymize data.dat");
    for word in ["disassociation", "local-suppression", "setveil anonymize disassociation data.dat"]
    {
        assert!(methods.contains(word), "{word}: {methods}");
    }
    std::fs::write(dir.join("one.dat"), "a b\n").unwrap();
    for method in ["disassociation", "local-suppression"] {
        let error = error(dir, &format!("anonymize {method} one.dat -k 2 -o r1"));
        assert!(error.contains("there is 1 record") && !error.contains("1 records"), "{error}");
    }
    std::fs::write(dir.join("tree.csv"), "B20;x;*\n").unwrap();
    let coarse = text(
        dir,
        "anonymize partition data.dat --hierarchy tree.csv --unknown-to-root -k 3 -o coarse",
    );
    let ncp = coarse.lines().find(|line| line.starts_with("ncp: ")).unwrap();
    assert!(ncp.len() <= "ncp: 0.1234".len(), "{ncp}");
    text(dir, "anonymize disassociation data.dat -k 3 -o r");
    let out = run(dir, &["query", "r", "aspirin"]).success();
    let remark = String::from_utf8(out.get_output().stderr.clone()).unwrap();
    assert!(
        remark.contains("1 item is not in the release") && remark.contains("aspirin"),
        "{remark}"
    );
    let out = run(dir, &["query", "r", "B20"]).success();
    assert!(out.get_output().stderr.is_empty());
}

#[test]
fn the_head_of_the_report_comes_from_options() {
    let dir = folder(&patients());
    text(dir.path(), "anonymize disassociation data.dat -k 3 -o r");
    let args = [
        "report",
        "r",
        "-o",
        "page.html",
        "--title",
        "Codes 2025",
        "--data-set",
        "Ward <7>",
        "--responsible",
        "A. Smith",
        "--date",
        "2026-01-31",
    ];
    run(dir.path(), &args).success();
    let page = std::fs::read_to_string(dir.path().join("page.html")).unwrap();
    for word in ["<h1>Codes 2025</h1>", "Ward &lt;7&gt;", "A. Smith", "2026-01-31", "Glossary"] {
        assert!(page.contains(word), "{word}");
    }
    for word in ["setveil anonymize disassociation DATA", "-k 3", "What an attacker learns"] {
        assert!(page.contains(word), "{word}");
    }
    run(dir.path(), &["report", "r", "-o", "page2.html", "--date", "none"]).success();
    let page = std::fs::read_to_string(dir.path().join("page2.html")).unwrap();
    assert!(!page.contains("<dt>Date</dt>"));
}

#[test]
fn a_promise_about_single_items_or_with_a_huge_budget_is_amber() {
    let dir = folder(&patients());
    let command = "anonymize disassociation data.dat -k 3 -m 1 -o r";
    said(dir.path(), command, "amber", "nothing is promised about combinations");
    let tree: String = ["B20", "E0", "E1"].iter().map(|i| format!("{i};*\n")).collect();
    let codes =
        (0..5).flat_map(|i| [format!("I{i};*\n"), format!("J{i};*\n"), format!("K{i};*\n")]);
    std::fs::write(dir.path().join("tree.csv"), tree + &codes.collect::<String>()).unwrap();
    let command = "anonymize diffpart data.dat --hierarchy tree.csv --epsilon 50 -o r --force";
    said(dir.path(), command, "amber", "epsilon = 50 promises next to nothing");
}

#[test]
fn the_custodian_can_say_that_nothing_is_sensitive() {
    let dir = folder(&patients());
    text(dir.path(), "anonymize disassociation data.dat -k 3 -m 2 --max-cluster-size 6 -o r");
    let before = page(dir.path(), "");
    assert!(before.contains("class=\"verdict amber\"") && before.contains("or decide that there"));
    let after = page(dir.path(), "--no-sensitive");
    assert!(after.contains("class=\"verdict green\""), "{after}");
    assert!(after.contains("none, by decision of the custodian"));
    // It is still told, further down.
    assert!(after.contains("everybody has the same telling item (all 5 have"), "{after}");
}

#[test]
fn verify_says_when_it_did_not_look() {
    let mut data = String::new();
    for i in 0..12_000_u32 {
        let n = i.wrapping_mul(2_654_435_761) >> 5;
        data += &format!("a{} b{} c{} d{}\n", n % 19, n / 32 % 23, n / 1024 % 29, n % 171);
    }
    let dir = folder(&data);
    text(dir.path(), "anonymize disassociation data.dat -k 3 -o r");
    let size = std::fs::metadata(dir.path().join("r/clusters.jsonl")).unwrap().len();
    assert!(size > 200_000, "{size}");
    let small = "verify r --max-memory 150000";
    let words = text(dir.path(), small);
    assert!(words.contains("holds") && words.contains("it was not looked whether"), "{words}");
    assert!(words.contains("--max-memory"), "it says what to do: {words}");
    let answer = json(dir.path(), small);
    assert_eq!(answer["holds"], true);
    assert!(answer["cautions_missing"].is_string(), "{answer}");
    assert!(json(dir.path(), "verify r")["cautions_missing"].is_null());
}

#[test]
fn figures_about_a_misread_table_come_with_a_warning() {
    let dir = folder("");
    let mut table = "patient_id,code\n".to_owned();
    (0..120).for_each(|i| table += &format!("p{:04},E{:02}\n", i / 3, i % 7));
    std::fs::write(dir.path().join("t.csv"), table).unwrap();
    for command in [
        "compare t.csv -k 2 --repeats 1",
        "recommend t.csv --methods suppress-rare,disassociation -k 2 -m 2",
    ] {
        let out = run(dir.path(), &split(command)).get_output().clone();
        let said = String::from_utf8(out.stderr).unwrap();
        assert!(
            said.contains("`anonymize` refuses it: the first line looks like a header"),
            "{said}"
        );
    }
}

#[test]
fn ordinary_items_beside_sensitive_ones_are_not_hidden_and_that_is_amber() {
    let dir = folder(&patients());
    std::fs::write(dir.path().join("sensitive.txt"), "B20\n").unwrap();
    let command = "anonymize cahd data.dat -p 3 --sensitive sensitive.txt -o r";
    said(dir.path(), command, "amber", "ordinary items are published as they are");
}

#[test]
fn a_release_that_is_not_there() {
    let dir = folder(&patients());
    let missing = error(dir.path(), "verify nothing");
    assert!(missing.contains("nothing: there is no such directory"), "{missing}");
    assert!(!missing.contains("os error"), "{missing}");
    let other = error(dir.path(), "verify .");
    assert!(other.contains("there is no manifest.json here"), "{other}");
}
