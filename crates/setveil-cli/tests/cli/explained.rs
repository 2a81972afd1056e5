//! What stands in every release beside its data: a page whose examples run, a
//! schema that every line fits, and nothing that depends on the data.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use setveil::io::{MemoryRelease, read_release, write_release_in_files, write_release_to};

use crate::{folder, setveil, stdout};

/// A method with its flags, and the file of its body.
const METHODS: &[(&str, &str, &str)] = &[
    ("disassociation", "-k 2", "clusters.jsonl"),
    ("disassociation", "-k 2 -m 1 --safe", "clusters.jsonl"),
    ("disassociation", "-k 2 --file-size 300", "clusters-00000.jsonl"),
    ("dls", "-k 2", "clusters.jsonl"),
    ("local-suppression", "-k 2", "leaves.jsonl"),
    ("local-suppression", "-k 2 --only-combinations", "classes.jsonl"),
    ("partition", "-k 2 --hierarchy tree.csv", "classes.jsonl"),
    ("apriori", "-k 2 --hierarchy tree.csv", "classes.jsonl"),
    ("diffpart", "--epsilon 9 --hierarchy tree.csv", "classes.jsonl"),
    ("suppress-rare", "-k 2", "classes.jsonl"),
    ("cahd", "-p 2 --sensitive sensitive.txt", "groups.jsonl"),
    ("perm-mondrian", "-p 2 --sensitive sensitive.txt", "groups.jsonl"),
];

/// Two data sets that have nothing in common but their hierarchy.
fn prepared() -> tempfile::TempDir {
    let make = |shift: u32| -> String {
        let item =
            |n: u32| ["tea", "jam, red", "Käse", "oil", "rice", "s", "ham", "salt"][n as usize];
        let record = |i: u32| {
            let mut record = vec![item((i + shift) % 3), item(3 + (i / 2 + shift) % 2)];
            record.extend(i.is_multiple_of(5).then_some("s"));
            record.extend((i % 7 == shift).then(|| item(6 + i % 2)));
            format!("{}\n", serde_json::to_string(&record).unwrap())
        };
        (0..60 + shift * 7).map(record).collect()
    };
    let items = ["tea", "jam, red", "Käse", "oil", "rice", "s", "ham", "salt"];
    let tree: String =
        items.iter().enumerate().map(|(i, item)| format!("{item};g{};*\n", i / 3)).collect();
    folder(&[
        ("data.jsonl", make(0).as_bytes()),
        ("other.jsonl", make(1).as_bytes()),
        ("tree.csv", tree.as_bytes()),
        ("sensitive.txt", b"s\n"),
    ])
}

fn anonymize(dir: &Path, method: &str, flags: &str, data: &str, release: &str) {
    let mut command = setveil(&["anonymize", method, data, "-o", release, "--force"]);
    command.args(flags.split(' ')).current_dir(dir).assert().success();
}

fn read(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn page_and_schema_are_those_of_the_method_and_say_nothing_about_the_data() {
    let dir = prepared();
    let dir = dir.path();
    let mut pages: BTreeMap<(&str, &str), (String, String)> = BTreeMap::new();
    for &(method, flags, body) in METHODS {
        for data in ["data.jsonl", "other.jsonl"] {
            anonymize(dir, method, flags, data, "r");
            assert!(dir.join("r").join(body).exists(), "{method}: {body}");
            let found = (read(dir, "r/README.md"), read(dir, "r/schema.json"));
            let kind = body.split(['-', '.']).next().unwrap();
            let first = pages.entry((method, kind)).or_insert_with(|| found.clone());
            assert_eq!(*first, found, "{method} {flags} {data}");
            let manifest: Value = serde_json::from_str(&read(dir, "r/manifest.json")).unwrap();
            let files = manifest["files"].as_array().unwrap();
            let names: Vec<&str> = files.iter().map(|f| f["name"].as_str().unwrap()).collect();
            assert_eq!(names[names.len() - 2..], ["README.md", "schema.json"], "{method}");
            let mut verify = setveil(&["verify", "r"]);
            verify.current_dir(dir).assert().success();
        }
    }
    let texts: std::collections::BTreeSet<&String> = pages.values().map(|p| &p.0).collect();
    assert_eq!(texts.len(), pages.len(), "every method has a page of its own");
}

#[test]
fn a_changed_page_or_schema_is_found_with_the_right_checksum_too() {
    let dir = prepared();
    let dir = dir.path();
    for (method, flags) in [("disassociation", "-k 2"), ("suppress-rare", "-k 2")] {
        for name in ["README.md", "schema.json"] {
            anonymize(dir, method, flags, "data.jsonl", "r");
            let text = read(dir, &format!("r/{name}")).replacen("the ", "The ", 1);
            std::fs::write(dir.join("r").join(name), &text).unwrap();
            let out = setveil(&["verify", "r"]).current_dir(dir).assert().code(1);
            let said = String::from_utf8(out.get_output().stdout.clone()).unwrap();
            assert!(said.contains(&format!("file at {name}: sha256")), "{said}");
            with_right_checksum(&dir.join("r"), name);
            let out = setveil(&["verify", "r"]).current_dir(dir).assert().code(1);
            let said = String::from_utf8(out.get_output().stdout.clone()).unwrap();
            assert!(said.contains(&format!("explained at {name}: not the text")), "{said}");
            assert!(!said.contains("has 0, required 0"), "{said}");
            setveil(&["report", "r", "-o", "p.html", "--force"]).current_dir(dir).assert().code(1);
        }
        // The page of another method is a wrong one.
        anonymize(dir, "dls", "-k 2", "data.jsonl", "other");
        anonymize(dir, method, flags, "data.jsonl", "r");
        std::fs::copy(dir.join("other/README.md"), dir.join("r/README.md")).unwrap();
        with_right_checksum(&dir.join("r"), "README.md");
        let out = setveil(&["verify", "r"]).current_dir(dir).assert().code(1);
        let said = String::from_utf8(out.get_output().stdout.clone()).unwrap();
        assert!(said.contains("explained at README.md: not the text"), "{said}");
    }
}

/// Lists a file anew as it is now; `verify` tells its checksum.
fn with_right_checksum(release: &Path, name: &str) {
    let out = setveil(&["verify", release.to_str().unwrap()]).assert().code(1);
    let said = String::from_utf8(out.get_output().stdout.clone()).unwrap();
    let line = format!("{name}: sha256: ");
    let line = said.lines().find(|l| l.contains(&line)).unwrap_or_else(|| panic!("{said}"));
    let bytes = std::fs::read(release.join(name)).unwrap();
    let mut manifest: setveil::release::Manifest =
        serde_json::from_slice(&std::fs::read(release.join("manifest.json")).unwrap()).unwrap();
    let entry = manifest.files.iter_mut().find(|f| f.name == name).unwrap();
    entry.bytes = bytes.len() as u64;
    entry.lines = bytes.iter().filter(|&&b| b == b'\n').count() as u64;
    entry.sha256 = line.rsplit(' ').next().unwrap().to_owned();
    let text = serde_json::to_string_pretty(&manifest).unwrap() + "\n";
    std::fs::write(release.join("manifest.json"), text).unwrap();
}

/// A manifest without some of its files.
fn unlisted(release: &Path, names: &[&str]) {
    let mut manifest: setveil::release::Manifest =
        serde_json::from_slice(&std::fs::read(release.join("manifest.json")).unwrap()).unwrap();
    manifest.files.retain(|file| !names.contains(&file.name.as_str()));
    let text = serde_json::to_string_pretty(&manifest).unwrap() + "\n";
    std::fs::write(release.join("manifest.json"), text).unwrap();
    names.iter().for_each(|name| std::fs::remove_file(release.join(name)).unwrap());
}

#[test]
fn releases_without_them_are_read_and_one_without_the_other_is_not_in_order() {
    let dir = prepared();
    let dir = dir.path();
    for &(method, flags, _) in METHODS {
        anonymize(dir, method, flags, "data.jsonl", "r");
        unlisted(&dir.join("r"), &["README.md", "schema.json"]);
        setveil(&["verify", "r"]).current_dir(dir).assert().success();
        setveil(&["items", "r"]).current_dir(dir).assert().success();
        anonymize(dir, method, flags, "data.jsonl", "r");
        unlisted(&dir.join("r"), &["README.md"]);
        let out = setveil(&["verify", "r"]).current_dir(dir).assert().code(1);
        let said = String::from_utf8(out.get_output().stdout.clone()).unwrap();
        assert!(said.contains("README.md and schema.json come together"), "{method}: {said}");
    }
    // Another order of the list could carry something.
    anonymize(dir, "disassociation", "-k 2", "data.jsonl", "r");
    let text = read(dir, "r/manifest.json");
    let mut manifest: setveil::release::Manifest = serde_json::from_str(&text).unwrap();
    manifest.files.reverse();
    let text = serde_json::to_string_pretty(&manifest).unwrap() + "\n";
    std::fs::write(dir.join("r/manifest.json"), text).unwrap();
    let out = setveil(&["verify", "r"]).current_dir(dir).assert().code(1);
    let said = String::from_utf8(out.get_output().stdout.clone()).unwrap();
    assert!(said.contains("files do not stand in the order of the format"), "{said}");
}

#[test]
fn releases_in_memory_and_in_several_files_have_them_too() {
    let dir = prepared();
    anonymize(dir.path(), "disassociation", "-k 2", "data.jsonl", "r");
    let release = read_release(&dir.path().join("r")).unwrap();
    let (mut one, mut several) = (MemoryRelease::default(), MemoryRelease::default());
    write_release_to(&release, &mut one, &()).unwrap();
    write_release_in_files(&release, &mut several, 200, &()).unwrap();
    for memory in [&one, &several] {
        assert_eq!(memory.files["README.md"], read(dir.path(), "r/README.md").as_bytes());
        let verdict = setveil::workflow::verify_from(memory, &()).unwrap();
        assert!(verdict.holds, "{:?}", verdict.violations);
        let mut changed = memory.clone();
        changed.files.get_mut("schema.json").unwrap().push(b'\n');
        assert!(!setveil::workflow::verify_from(&changed, &()).unwrap().holds);
    }
}

#[test]
fn every_line_fits_the_schema() {
    let dir = prepared();
    let dir = dir.path();
    for &(method, flags, _) in METHODS {
        anonymize(dir, method, flags, "data.jsonl", "r");
        let schema: Value = serde_json::from_str(&read(dir, "r/schema.json")).unwrap();
        let fits = |value: &Value| fits(value, &schema, &schema);
        let manifest: Value = serde_json::from_str(&read(dir, "r/manifest.json")).unwrap();
        assert!(fits(&manifest), "{method}: {manifest}");
        let mut lines = 0;
        for entry in std::fs::read_dir(dir.join("r")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "jsonl") {
                for line in std::fs::read_to_string(&path).unwrap().lines() {
                    let value: Value = serde_json::from_str(line).unwrap();
                    assert!(fits(&value), "{method}: {line}");
                    lines += 1;
                    // And the schema can say no.
                    let mut wrong = value.clone();
                    wrong["further"] = true.into();
                    assert!(!fits(&wrong), "{method}: {wrong}");
                    wrong = value;
                    wrong.as_object_mut().unwrap().retain(|key, _| key != "size" && key != "count");
                    assert!(!fits(&wrong), "{method}: {wrong}");
                }
            }
        }
        assert!(lines > 0, "{method}");
    }
}

/// Whether `value` fits, as far as our schemas use the language; another word
/// in them is a mistake here.
fn fits(value: &Value, schema: &Value, root: &Value) -> bool {
    let whole = |v: &Value| v.as_u64();
    schema.as_object().unwrap().iter().all(|(word, rule)| match word.as_str() {
        "$schema" | "$defs" | "title" | "description" => true,
        "$ref" => {
            let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
            fits(value, &root["$defs"][name], root)
        }
        "anyOf" => rule.as_array().unwrap().iter().any(|s| fits(value, s, root)),
        "const" => value == rule,
        "enum" => rule.as_array().unwrap().contains(value),
        "type" => match rule.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            other => panic!("{other}"),
        },
        "required" => {
            let has = |name: &Value| value.get(name.as_str().unwrap()).is_some();
            rule.as_array().unwrap().iter().all(has)
        }
        "additionalProperties" => {
            let known = &schema["properties"];
            *rule == Value::Bool(false)
                && value.as_object().is_none_or(|o| o.keys().all(|key| known.get(key).is_some()))
        }
        "properties" => {
            let inside = |(name, s): (&String, &Value)| {
                value.get(name).is_none_or(|value| fits(value, s, root))
            };
            rule.as_object().unwrap().iter().all(inside)
        }
        "items" => value.as_array().is_none_or(|list| list.iter().all(|v| fits(v, rule, root))),
        "minItems" => value.as_array().is_none_or(|l| l.len() as u64 >= whole(rule).unwrap()),
        "uniqueItems" => value
            .as_array()
            .is_none_or(|list| (1..list.len()).all(|i| !list[..i].contains(&list[i]))),
        "minimum" => whole(value).is_some_and(|v| v >= whole(rule).unwrap()),
        "exclusiveMinimum" => value.as_f64().is_some_and(|v| v > rule.as_f64().unwrap()),
        "pattern" => {
            assert_eq!(rule, "^[0-9a-f]{64}$");
            value
                .as_str()
                .is_some_and(|t| t.len() == 64 && t.bytes().all(|b| b.is_ascii_hexdigit()))
        }
        other => panic!("{other}"),
    })
}

/// The examples of a page in one language.
fn examples<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// Runs a program in the release; none if it is not on the machine.
fn run(program: &str, args: &[&str], release: &Path) -> Option<String> {
    let output = Command::new(program).args(args).current_dir(release).output().ok()?;
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {error}");
    Some(String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n"))
}

fn is_there(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
}

#[test]
fn the_examples_of_the_command_line_run() {
    let dir = prepared();
    for &(method, flags, _) in METHODS {
        anonymize(dir.path(), method, flags, "data.jsonl", "r");
        let page = read(dir.path(), "r/README.md");
        let [commands] = examples(&page, "sh")[..] else { panic!("{page}") };
        assert_eq!(commands.lines().count(), 4);
        for line in commands.lines() {
            let line = line.strip_prefix("setveil ").unwrap();
            let (words, quoted) = line.split_once('"').unwrap_or((line, ""));
            let mut args: Vec<&str> = words.split_whitespace().collect();
            args.extend((!quoted.is_empty()).then(|| quoted.trim_end_matches('"')));
            setveil(&args).current_dir(dir.path().join("r")).assert().success();
        }
    }
}

/// What the command line says are the ten items that are in most records for certain.
fn expected(release: &Path) -> String {
    let found: Value =
        serde_json::from_str(&stdout(&["items", release.to_str().unwrap(), "--json"])).unwrap();
    let mut items: Vec<(u64, &str)> = found["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| (i["lower"].as_u64().unwrap(), i["itemset"][0].as_str().unwrap()))
        .filter(|item| item.0 > 0)
        .collect();
    items.sort_by_key(|&(count, item)| (std::cmp::Reverse(count), item));
    items.iter().take(10).map(|(count, item)| format!("{item}\t{count}\n")).collect()
}

#[test]
fn the_examples_in_other_languages_run_and_agree() {
    let dir = prepared();
    let duckdb = "import duckdb, sys\nfor row in duckdb.sql(sys.argv[1]).fetchall(): print(row[0], row[1], sep='\\t')";
    // `make test` names a Python that has libraries.
    let python = std::env::var("SETVEIL_PYTHON").ok().filter(|path| !path.is_empty());
    let python = python.as_deref().unwrap_or("python3");
    let tools = [
        ("python", python, is_there(python, &["--version"])),
        ("r", "Rscript", is_there("Rscript", &["-e", "library(jsonlite)"])),
        ("sql", python, is_there(python, &["-c", "import duckdb"])),
    ];
    for (language, _, there) in &tools {
        if !there {
            testkit::real::lacking(&format!("examples in {language} were not run"));
        }
    }
    let mut compared = 0;
    for &(method, flags, body) in METHODS {
        anonymize(dir.path(), method, flags, "data.jsonl", "r");
        let release = dir.path().join("r");
        let page = read(dir.path(), "r/README.md");
        let mut said: Option<String> = None;
        for (language, program, _) in tools.iter().filter(|tool| tool.2) {
            let [code] = examples(&page, language)[..] else { panic!("{language}: {page}") };
            let out = match *language {
                "python" => run(program, &["-X", "utf8", "-c", code], &release),
                "r" => run(program, &["-e", code], &release),
                _ => run(program, &["-X", "utf8", "-c", duckdb, code], &release),
            };
            let out = out.expect("it was there a moment ago");
            assert!(!out.is_empty(), "{method} {language}");
            assert_eq!(
                *said.get_or_insert_with(|| out.clone()),
                out,
                "{method} {flags} {language}"
            );
        }
        // Where supports are exact and nothing is generalised, they are what the program says.
        if ["suppress-rare", "cahd", "perm-mondrian"].contains(&method)
            && let Some(said) = said
        {
            assert_eq!(said, expected(&release), "{method} {body}");
            compared += 1;
        }
    }
    assert!(compared == 3 || !tools.iter().any(|tool| tool.2));
}
