//! One risk everywhere, originals that do not fit, `compare`, `recommend` and
//! what `profile` suggests.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

fn run(dir: &Path, args: &str) -> assert_cmd::assert::Assert {
    let args = args.split_whitespace();
    Command::cargo_bin("setveil").unwrap().current_dir(dir).args(args).assert()
}

fn text(dir: &Path, args: &str) -> String {
    let out = run(dir, args).success().get_output().stdout.clone();
    String::from_utf8(out).unwrap()
}

fn json(dir: &Path, args: &str) -> Value {
    serde_json::from_str(&text(dir, &format!("{args} --json"))).unwrap()
}

fn error(dir: &Path, args: &str) -> String {
    let out = run(dir, args).code(2).get_output().stderr.clone();
    String::from_utf8(out).unwrap()
}

/// Baskets of goods in which some go together.
fn baskets(count: u32, shift: u32) -> String {
    let mut text = String::new();
    for i in 0..count {
        let n = i.wrapping_mul(2_654_435_761) >> 7;
        let mut goods: Vec<u32> =
            (0..2 + n % 4).map(|j| (n >> (3 * j)) % 9 + 4 * ((n >> j) % 5)).collect();
        goods.sort_unstable();
        goods.dedup();
        let goods: Vec<String> = goods.iter().map(|g| format!("g{}", g + shift)).collect();
        text += &(goods.join(" ") + "\n");
    }
    text
}

/// A directory with `data.dat` and a release of it by disassociation.
fn prepared() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("data.dat"), baskets(400, 0)).unwrap();
    run(dir.path(), "anonymize disassociation data.dat -k 5 -m 2 -o release").success();
    dir
}

#[test]
fn the_wrong_original_is_an_error_with_both_sides() {
    let dir = prepared();
    let dir = dir.path();
    let write = |name: &str, text: String| std::fs::write(dir.join(name), text).unwrap();
    write("fewer.dat", baskets(390, 0));
    write("others.dat", baskets(400, 100));
    // As many records over the same goods, in other numbers.
    let swapped = baskets(400, 0).replace("g4 ", "gX ").replace("g8 ", "g4 ");
    write("swapped.dat", swapped.replace("gX ", "g8 "));
    let cases = [
        ("fewer.dat", vec!["the release has 400 records, the original 390"]),
        ("others.dat", vec!["items of the release are not in the original", "`g0`"]),
        ("swapped.dat", vec!["records by the release", "of the original"]),
    ];
    for (original, words) in cases {
        for command in ["attack release", "evaluate release", "report release -o page.html"] {
            let error = error(dir, &format!("{command} --original {original}"));
            assert!(error.contains("the release was not made from this original"), "{error}");
            assert!(error.contains("name the data that the release was made from"), "{error}");
            for word in &words {
                assert!(error.contains(word), "{command} {original}: {error}");
            }
        }
    }
    assert!(!dir.join("page.html").exists());
}

#[test]
fn every_method_knows_its_own_original_from_another() {
    let dir = prepared();
    let dir = dir.path();
    std::fs::write(dir.join("other.dat"), baskets(300, 2)).unwrap();
    std::fs::write(dir.join("sensitive.txt"), "g24\n").unwrap();
    std::fs::write(dir.join("tree.csv"), {
        let leaf = |g: u32| format!("g{g};group{};*\n", g / 5);
        (0..40).map(leaf).collect::<String>()
    })
    .unwrap();
    for method in [
        "dls -k 3",
        "local-suppression -k 3",
        "local-suppression -k 3 --only-combinations",
        "suppress-rare -k 3",
        "partition -k 3 --hierarchy tree.csv",
        "apriori -k 3 --hierarchy tree.csv",
        "cahd -p 3 --sensitive sensitive.txt --sensitive-only drop",
        "perm-mondrian -p 3 --sensitive sensitive.txt --sensitive-only drop",
    ] {
        let (name, flags) = method.split_once(' ').unwrap();
        run(dir, &format!("anonymize {name} data.dat {flags} -o r --force")).success();
        let answer = json(dir, "attack r --original data.dat --worlds 0");
        for level in answer["risk"].as_array().unwrap() {
            let (raw, linking) = (level["raw"].as_f64().unwrap(), &level["linking"]);
            let linking = linking.as_f64().unwrap_or_else(|| panic!("{method}: {level}"));
            assert!(linking <= raw + 0.06, "{method}: {level}");
        }
        let error = error(dir, "attack r --original other.dat --worlds 0");
        assert!(error.contains("not made from this original") || error.contains("does not fit"));
    }
}

#[test]
fn attack_report_compare_and_demo_say_the_same_risk() {
    let dir = prepared();
    let dir = dir.path();
    let attack = json(dir, "attack release --original data.dat --seed 1");
    let levels = attack["risk"].as_array().unwrap();
    assert_eq!(levels.len(), 4, "m + 2 known items");
    for (i, level) in levels.iter().enumerate() {
        assert_eq!(level["known"], i + 1);
        for key in ["raw", "linking", "linking_p95", "disclosure", "inference"] {
            let share = level[key].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&share), "{key}: {level}");
            assert!(level[format!("{key}_error")].as_f64().unwrap() >= 0.0, "{key}: {level}");
        }
        let covered = i < 2;
        assert!(!covered || level["candidates_format"].as_u64().unwrap() >= 5, "{level}");
    }
    let linking = levels[1]["linking"].as_f64().unwrap();
    assert!(linking < levels[1]["raw"].as_f64().unwrap() / 2.0, "it protects: {levels:?}");
    // The same seed gives the same figures everywhere.
    let row = json(dir, "compare data.dat -k 5 -m 2 --repeats 1 --seed 1 --re-range 0..20");
    assert_eq!(row["rows"][0]["risk"]["linking"].as_f64().unwrap(), linking);
    assert_eq!(row["rows"][0]["curve"].as_array().unwrap().len(), 4);
    run(dir, "report release --original data.dat --seed 1 -o page.html").success();
    let page = std::fs::read_to_string(dir.join("page.html")).unwrap();
    let words = text(dir, "attack release --original data.dat --seed 1");
    for text in [&page, &words] {
        // Each figure is defined where it is printed.
        assert!(text.contains("own place in a data set that the release could have come from"));
        assert!(text.contains("one person in twenty is found at least this often"));
        assert!(!text.contains("re-id"));
    }
    let percent = |v: f64| {
        if v < 0.1 { format!("{:.1} %", 100.0 * v) } else { format!("{:.0} %", 100.0 * v) }
    };
    assert!(page.contains(&percent(linking)), "{} in the page", percent(linking));
    assert!(words.contains(&format!("{:.1} %", 100.0 * linking)), "{words}");
    let demo = json(dir, "demo");
    assert!(demo["risk"][1]["linking"].is_number(), "{demo}");
}

#[test]
fn compare_without_a_directory_and_with_limits() {
    let dir = prepared();
    let dir = dir.path();
    let table = text(dir, "compare data.dat -k 2,10 --repeats 2 --re-range 0..20");
    for word in ["method", "found", "±", "Risk with 2 known items", "tkd"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    assert!(!table.contains("kl"), "columns without a value are left out: {table}");
    let base = "compare data.dat --methods disassociation,suppress-rare -k 2,10 --repeats 2 \
                --re-range 0..20 -o out";
    let answer = json(dir, &format!("{base} --max-risk 1"));
    for row in answer["rows"].as_array().unwrap() {
        assert_eq!(row["seeds"].as_array().unwrap().len(), 2, "{row}");
        assert!(row["spread"]["linking"].is_number(), "{row}");
        let baseline = row["method"] == "suppress-rare";
        assert_eq!(row["weak"].is_string(), baseline, "{row}");
        assert!(!(baseline && row["frontier"] == true), "{row}");
    }
    let setting = answer["recommendation"]["setting"].as_str().unwrap();
    assert!(setting.starts_with("disassociation-"), "never a baseline: {setting}");
    for limit in ["--max-risk 0.0001", "--max-risk 1 --min-pairs-kept 0.999"] {
        let answer = json(dir, &format!("{base} {limit}"));
        assert!(answer["recommendation"]["setting"].is_null(), "{limit}: {answer}");
        let reason = answer["recommendation"]["reason"].as_str().unwrap();
        assert!(reason.starts_with("No setting does what was asked for"), "{reason}");
    }
    for file in ["compare.csv", "curve.csv", "compare.svg", "compare.json"] {
        assert!(dir.join("out").join(file).exists(), "{file}");
    }
    let curve = std::fs::read_to_string(dir.join("out/curve.csv")).unwrap();
    assert_eq!(curve.lines().count(), 1 + 4 * 4, "four settings, four known items");
    let svg = std::fs::read_to_string(dir.join("out/compare.svg")).unwrap();
    assert!(svg.contains("suppress-rare") && svg.contains("pairs_kept"), "{svg}");
}

#[test]
fn an_empty_release_is_never_recommended() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("data.dat"), baskets(30, 0)).unwrap();
    let answer =
        json(dir, "compare data.dat --methods diffpart --epsilon 0.01 --repeats 1 --max-risk 1");
    assert!(answer["recommendation"]["setting"].is_null(), "{answer}");
}

#[test]
fn recommend_gives_a_command_that_keeps_the_risk() {
    let dir = prepared();
    let dir = dir.path();
    let flags = "--known 3 -k 2,5,10,20 -m 2 --max-cluster-size 50 --re-range 0..20 --seed 1";
    let answer = json(dir, &format!("recommend data.dat --max-risk 0.1 {flags}"));
    let best = &answer["choices"][0];
    let risk = best["risk"]["linking"].as_f64().unwrap();
    assert!(risk <= 0.1 && answer["raw"].as_f64().unwrap() > 0.1, "{answer}");
    let command = best["command"].as_str().unwrap();
    assert!(command.contains(" data.dat ") && command.contains("-o RELEASE"), "{command}");
    run(dir, command.strip_prefix("setveil ").unwrap()).success();
    let check = json(dir, "attack RELEASE --original data.dat --known 3 --seed 1 --worlds 0");
    assert_eq!(check["risk"][2]["linking"].as_f64().unwrap(), risk, "the release keeps it");
    let words = text(dir, &format!("recommend data.dat --max-risk 0.1 {flags}"));
    assert!(words.contains("Take ") && words.contains(command), "{words}");
    // Too much: nothing is recommended, and the exit code says so.
    let out = run(dir, &format!("recommend data.dat --max-risk 0.00001 {flags}")).code(1);
    let words = String::from_utf8(out.get_output().stdout.clone()).unwrap();
    assert!(words.contains("No setting does what was asked for"), "{words}");
    assert!(words.contains("The least risk was"), "{words}");
    let progress = String::from_utf8(out.get_output().stderr.clone()).unwrap();
    assert!(progress.contains("too high"), "every try is told: {progress}");
    let error = error(dir, "recommend data.dat --methods cahd");
    assert!(error.contains("methods with a k"), "{error}");
}

#[test]
fn profile_ends_with_a_suggestion_and_its_reason() {
    let dir = prepared();
    let words = text(dir.path(), "profile data.dat");
    for word in ["To begin with: k = 5, m = 2", "who knows", "setveil recommend data.dat"] {
        assert!(words.contains(word), "{word}: {words}");
    }
    assert!(!words.contains("dls-2022") && !words.contains("-0.00"), "{words}");
    let long = text(dir.path(), "profile data.dat --verbose");
    assert!(long.contains("how many occur in fewer than k") && !long.contains("-0.00"), "{long}");
    let command = words.lines().find(|line| line.contains("setveil anonymize")).unwrap();
    let command = command.trim().strip_prefix("setveil ").unwrap();
    run(dir.path(), &command.replace("-o release", "-o begun")).success();
    std::fs::write(dir.path().join("tiny.dat"), "a b\n").unwrap();
    assert!(text(dir.path(), "profile tiny.dat").contains("too few records"));
}
