//! `evaluate`, `reconstruct`, `query` and `report` from outside.

use assert_cmd::Command;
use serde_json::Value;

fn setveil(dir: &std::path::Path, args: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = Command::cargo_bin("setveil").unwrap();
    command.current_dir(dir).args(args).assert()
}

fn json(dir: &std::path::Path, args: &[&str]) -> Value {
    let output = setveil(dir, args).success().get_output().stdout.clone();
    serde_json::from_slice(&output).unwrap()
}

/// A directory with data and a release of it. One item looks like markup.
fn prepared() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for i in 0..60 {
        text += &format!("a b{} c{} <i>{}\n", i % 3, i % 7, i % 2);
    }
    std::fs::write(dir.path().join("data.dat"), text).unwrap();
    setveil(dir.path(), &["anonymize", "disassociation", "data.dat", "-k", "3", "-o", "release"])
        .success();
    dir
}

#[test]
fn evaluate_gives_every_documented_key() {
    let dir = prepared();
    let found = json(
        dir.path(),
        &["evaluate", "release", "--original", "data.dat", "--re-range", "0..5", "--json"],
    );
    for key in ["tkd", "tkd_a", "re", "re_a", "tlost", "pairs_kept", "pairs_limit"] {
        assert!(found[key].is_number(), "{key}: {found}");
    }
    for key in ["tkd_ml2", "ncp", "kl"] {
        assert!(found.get(key).is_some_and(Value::is_null), "{key}: {found}");
    }
    for bad in ["5..5", "5", "a..b", "7..8"] {
        let args = ["evaluate", "release", "--original", "data.dat", "--re-range", bad];
        setveil(dir.path(), &args).code(2);
    }
}

#[test]
fn reconstruct_writes_files_that_can_be_read_and_are_not_replaced() {
    let dir = prepared();
    let args = ["reconstruct", "release", "-n", "3", "-o", "worlds", "--json"];
    let found = json(dir.path(), &args);
    assert_eq!(found["files"].as_array().unwrap().len(), 3);
    assert_eq!(found["records"], 60);
    let text = std::fs::read_to_string(dir.path().join("worlds/reconstruction-2.dat")).unwrap();
    assert_eq!(text.lines().count(), 60);
    assert!(text.lines().all(|line| !line.trim().is_empty()));
    setveil(dir.path(), &args).code(2);
    setveil(dir.path(), &["reconstruct", "release", "-o", "worlds", "--force"]).success();
    assert_eq!(std::fs::read_dir(dir.path().join("worlds")).unwrap().count(), 1);
}

#[test]
fn items_with_blanks_become_json_lines() {
    let dir = tempfile::tempdir().unwrap();
    let line = "[\"new york\", \"flu\"]\n";
    std::fs::write(dir.path().join("data.jsonl"), line.repeat(10)).unwrap();
    setveil(dir.path(), &["anonymize", "disassociation", "data.jsonl", "-o", "release"]).success();
    setveil(dir.path(), &["reconstruct", "release", "-o", "worlds"]).success();
    let text = std::fs::read_to_string(dir.path().join("worlds/reconstruction-1.jsonl")).unwrap();
    assert!(text.contains("\"new york\""), "{text}");
    let fimi = ["reconstruct", "release", "-o", "other", "--format", "fimi"];
    let error = setveil(dir.path(), &fimi).code(2).get_output().stderr.clone();
    assert!(String::from_utf8_lossy(&error).contains("jsonl"));
}

#[test]
fn query_answers_one_or_many() {
    let dir = prepared();
    let one = json(dir.path(), &["query", "release", "a", "--json"]);
    assert_eq!((&one["lower"], &one["upper"]), (&60.into(), &60.into()));
    assert_eq!(one["itemset"][0], "a");
    std::fs::write(dir.path().join("sets.txt"), "a,b1\n\nc1, a\nnowhere\n").unwrap();
    let many = json(dir.path(), &["query", "release", "--file", "sets.txt", "--json"]);
    let answers = many["answers"].as_array().unwrap();
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[2]["upper"], 0);
    for answer in answers {
        assert!(answer["lower"].as_f64() <= answer["expected"].as_f64());
    }
    setveil(dir.path(), &["query", "release", "a,,b"]).code(2);
    setveil(dir.path(), &["query", "release"]).code(2);
}

#[test]
fn the_report_is_one_page_that_loads_nothing_and_escapes_items() {
    let dir = prepared();
    let page = |args: &[&str]| {
        setveil(dir.path(), args).success();
        std::fs::read_to_string(dir.path().join("report.html")).unwrap()
    };
    let alone = page(&["report", "release", "-o", "report.html"]);
    for outside in ["src=", "<script", "@import", "url("] {
        assert!(!alone.contains(outside), "{outside}");
    }
    assert!(alone.contains("The promise holds") && alone.contains("&lt;i&gt;"));
    assert!(!alone.contains("<i>") && !alone.contains("Risk before and after"));
    setveil(dir.path(), &["report", "release", "-o", "report.html"]).code(2);
    let full =
        page(&["report", "release", "--original", "data.dat", "-o", "report.html", "--force"]);
    assert!(full.contains("The risk</h2>") && full.contains("(pairs_kept)"));
    assert!(full.contains("<html lang=\"en\">") && full.contains("<caption>"));
}

#[test]
fn compare_takes_methods_with_sensitive_items_and_with_noise() {
    let dir = prepared();
    let args = "compare data.dat --methods suppress-rare,cahd,perm-mondrian,diffpart -k 3 -p 2,4 \
                --epsilon 0.5,2 --random-sensitive 3 -o comparison --re-range 0..5 --max-risk 1 \
                --repeats 2 --json";
    let args: Vec<&str> = args.split_whitespace().collect();
    let answer = json(dir.path(), &args);
    let rows = answer["rows"].as_array().unwrap();
    let names: Vec<(&str, &serde_json::Value, &serde_json::Value)> =
        rows.iter().map(|r| (r["method"].as_str().unwrap(), &r["p"], &r["epsilon"])).collect();
    let (none, two, four) = (serde_json::Value::Null, 2.into(), 4.into());
    let (half, double) = (0.5.into(), 2.0.into());
    assert_eq!(
        names,
        [
            ("suppress-rare", &none, &none),
            ("cahd", &two, &none),
            ("cahd", &four, &none),
            ("perm-mondrian", &two, &none),
            ("perm-mondrian", &four, &none),
            ("diffpart", &none, &half),
            ("diffpart", &none, &double),
        ]
    );
    for row in rows {
        let (grouped, noisy) = (row["p"].is_number(), row["epsilon"].is_number());
        assert_eq!(row["holds"], true, "{row}");
        let linking = &row["risk"]["linking"];
        assert_eq!((linking.is_null(), row["note"].is_null()), (noisy, !noisy), "{row}");
        assert_eq!(row["kl"].is_number(), grouped, "{row}");
        assert!(row["tkd"].is_number(), "{row}");
        let baseline = row["method"] == "suppress-rare";
        assert!(row["frontier"] == false || !(noisy || baseline), "{row}");
    }
    // Neither a baseline nor what has no risk that could be compared.
    let recommended = answer["recommendation"]["setting"].as_str().unwrap();
    assert!(!recommended.starts_with("suppress-rare"), "{recommended}");
    assert!(!recommended.starts_with("diffpart"), "{recommended}");
    let text = String::from_utf8(
        setveil(dir.path(), &args[..args.len() - 1]).success().get_output().stdout.clone(),
    );
    let text = text.unwrap();
    assert!(text.contains("form: differential privacy is a property of the program"), "{text}");
    let too_many = ["compare", "data.dat", "--methods", "cahd", "--random-sensitive", "9999"];
    let error = setveil(dir.path(), &[&too_many[..], &["-o", "c2"]].concat()).code(2);
    let error = String::from_utf8_lossy(&error.get_output().stderr).into_owned();
    assert!(error.contains("sensitive items were asked for"), "{error}");
}

#[test]
fn compare_resumes_and_recommends() {
    let dir = prepared();
    let args = [
        "compare",
        "data.dat",
        "-k",
        "2,4",
        "-m",
        "1,2",
        "--max-cluster-size",
        "20",
        "-o",
        "comparison",
        "--re-range",
        "0..5",
        "--max-risk",
        "0.9",
        "--json",
    ];
    let first = json(dir.path(), &args);
    let rows = first["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|r| r["holds"] == true && r["risk"]["linking"].is_number()));
    assert!(rows.iter().any(|r| r["frontier"] == true));
    let reason = first["recommendation"]["reason"].as_str().unwrap();
    assert!(reason.starts_with("Recommended"), "{reason}");
    for file in ["compare.csv", "compare.json", "compare.svg"] {
        assert!(dir.path().join("comparison").join(file).exists(), "{file}");
    }
    // One cell is lost, as if the run had been interrupted; times show which were kept.
    let cells = dir.path().join("comparison/cells");
    std::fs::remove_file(cells.join("disassociation-k4-m2-s20.json")).unwrap();
    let second = json(dir.path(), &args);
    for (a, b) in rows.iter().zip(second["rows"].as_array().unwrap()).take(3) {
        assert_eq!(a, b);
    }
    assert!(cells.join("disassociation-k4-m2-s20.json").exists());
}

#[test]
fn sets_to_keep_are_answered_and_not_published() {
    let dir = prepared();
    std::fs::write(
        dir.path().join("keep.txt"),
        "a b0\n{\"items\": [\"c1\", \"b1\"], \"weight\": 5}\n",
    )
    .unwrap();
    for method in ["disassociation", "dls", "local-suppression"] {
        let args = ["anonymize", method, "data.dat", "-k", "3", "--keep", "keep.txt", "-o", method];
        let found = json(dir.path(), &[&args[..], &["--json"]].concat());
        assert_eq!(found["kept"].as_array().unwrap().len(), 2, "{found}");
        assert_eq!(
            (&found["kept"][0]["weight"], &found["kept"][1]["records"]),
            (&5.into(), &20.into())
        );
        let text = setveil(dir.path(), &[&args[..], &["--force"]].concat()).success();
        let text = String::from_utf8(text.get_output().stdout.clone()).unwrap();
        assert!(text.contains("keep a, b0: together in 20 records"), "{text}");
        setveil(dir.path(), &["verify", method]).success();
        for file in std::fs::read_dir(dir.path().join(method)).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(!text.contains("\"keep\"") && !text.contains("\"weight\""), "{text}");
        }
        let measured = ["evaluate", method, "--original", "data.dat", "--re-range", "0..5"];
        let found = json(dir.path(), &[&measured[..], &["--keep", "keep.txt", "--json"]].concat());
        assert!(found["pairs_kept"].is_number(), "{found}");
    }
    std::fs::write(dir.path().join("bad.txt"), "a\n").unwrap();
    for (list, word) in [("bad.txt", "line 1"), ("missing.txt", "missing.txt")] {
        let args = ["anonymize", "dls", "data.dat", "--keep", list, "-o", "none"];
        let text = setveil(dir.path(), &args).code(2);
        let text = String::from_utf8(text.get_output().stderr.clone()).unwrap();
        assert!(text.contains(word) || text.contains("bad.txt:1"), "{text}");
    }
}
