//! Bad input: exit code 2, an error that names file, line, what was found and
//! what to do, and nothing written.

use std::sync::Arc;

use testkit::formats;

use crate::{failure, folder, json, setveil};

const BASKETS: &[u8] = b"a b\na b\na b\na b\na b\nc\nc\nc\nc\nc\n";

/// Runs `anonymize` on a file that cannot be read; the error must hold all of `words`.
fn refused(name: &str, content: &[u8], flags: &[&str], words: &[&str]) {
    let dir = folder(&[(name, content)]);
    let (input, output) = (dir.path().join(name), dir.path().join("release"));
    let (input, output) = (input.to_str().unwrap(), output.to_str().unwrap());
    let mut args = vec!["anonymize", "disassociation", input, "-o", output, "-k", "2"];
    args.extend(flags);
    let error = failure(&args);
    assert!(error.starts_with("error: ") && error.lines().count() == 1, "{error}");
    for word in words.iter().chain(&[name]) {
        assert!(error.contains(word), "`{word}` is not in: {error}");
    }
    let left: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, [name], "nothing is written");
}

#[test]
fn files_that_are_not_there_or_not_files() {
    let dir = folder(&[]);
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let error = failure(&["profile", &path("none.dat")]);
    assert!(error.contains("none.dat: there is no such file; check the name"), "{error}");
    std::fs::create_dir(path("folder.dat")).unwrap();
    let error = failure(&["profile", &path("folder.dat")]);
    assert!(error.contains("folder.dat: this is a directory; name a file"), "{error}");
}

#[test]
fn empty_files() {
    refused("x.dat", b"", &[], &["there is no record", "one record a line"]);
    refused("x.dat", b"\n\n", &[], &["there is no record with an item (2 are empty)"]);
    refused("x.jsonl", b"", &[], &["there is no record"]);
    refused("x.csv", b"", &["--id", "u", "--item", "i"], &["there is no record"]);
    refused("x.csv", b"u,i\n", &["--id", "u", "--item", "i"], &["there is no record"]);
    refused("x.parquet", b"", &[], &["Parquet"]);
    refused("x.dat", b"\xff\n", &["--skip-bad-lines"], &["no record (1 lines were skipped)"]);
}

#[test]
fn names_that_do_not_tell_the_format() {
    refused("x.xlsx", BASKETS, &[], &["the extension .xlsx does not tell the format", "--format"]);
    refused(
        "x",
        BASKETS,
        &[],
        &["no extension", "fimi, spmf, basket-csv, long-csv, jsonl, json, parquet"],
    );
    let error = failure(&["profile", "-"]);
    assert!(error.contains("--format"), "{error}");
}

#[test]
fn broken_compression() {
    let whole = formats::gzip(&BASKETS.repeat(1000), 1);
    let hint = "the file is damaged or incomplete: get it again";
    refused("x.dat.gz", &whole[..whole.len() / 2], &[], &["broken gzip data", hint]);
    let mut changed = whole.clone();
    let end = changed.len() - 6;
    changed[end] ^= 1;
    refused("x.dat.gz", &changed, &[], &["broken gzip data"]);
    let whole = formats::zstd(&BASKETS.repeat(1000));
    refused("x.dat.zst", &whole[..whole.len() - 3], &[], &["broken zstd data", hint]);
}

#[test]
fn invalid_utf8_is_found_in_its_line_in_every_text_format() {
    let words = ["invalid UTF-8: byte 0xff", "iconv", "--skip-bad-lines"];
    let with = |more: &[&'static str]| [&words[..], more].concat();
    refused("x.dat", b"a b\nc \xff\n", &[], &with(&["x.dat:2: ", "column 3"]));
    refused("x.csv", b"a,b\nc,\xff\n", &[], &with(&["x.csv:2: "]));
    refused("x.jsonl", b"[\"a\"]\n[\"\xff\"]\n", &[], &with(&["x.jsonl:2: "]));
    refused("x.spmf", b"1 -1 -2\n\xff\n", &[], &with(&["x.spmf:2: "]));
    let long = b"u,i\n1,a\n1,\xff\n";
    refused("x.csv", long, &["--id", "u", "--item", "i"], &with(&["x.csv:3: "]));
    // Far into a stream of several blocks the line is still right.
    let mut bytes = b"item another\n".repeat(300_000);
    bytes.extend(b"\xff\n");
    refused("x.dat.gz", &formats::gzip(&bytes, 1), &[], &with(&["x.dat.gz:300001: "]));
    refused("y.dat", &bytes, &[], &with(&["y.dat:300001: "]));
}

#[test]
fn json_lines_that_are_no_records() {
    for (line, word) in [
        ("[\"b\"", "this is not JSON: EOF while parsing a list in column 4"),
        ("[\"b\"] []", "this is not JSON: trailing characters"),
        ("{\"items\":[\"b\"]}", "name the list's field with --item"),
        ("\"b\"", "invalid type: string \"b\", expected a list of items"),
        ("[\"b\",null]", "invalid type: null, expected an item as text or a whole number"),
        ("[1.5]", "invalid type: floating point"),
        ("[[\"b\"]]", "invalid type: sequence"),
    ] {
        refused("x.jsonl", format!("[\"a\"]\n{line}\n").as_bytes(), &[], &["x.jsonl:2: ", word]);
    }
    let item = ["--item", "goods"];
    for (line, word) in [
        ("{\"items\":[\"b\"]}", "the object has no field `goods`"),
        ("{\"goods\":\"b\"}", "invalid type: string \"b\", expected a list of items"),
        ("{\"goods\":[],\"goods\":[]}", "the field `goods` stands twice"),
        ("[\"b\"]", "expected an object with a list of items in `goods`"),
    ] {
        refused("x.jsonl", format!("{line}\n").as_bytes(), &item, &["x.jsonl:1: ", word]);
    }
    let deep = "[".repeat(100_000);
    refused("x.jsonl", deep.as_bytes(), &[], &["x.jsonl:1: "]);
}

#[test]
fn csv_without_the_columns_or_with_bad_rows() {
    let flags = ["--id", "user", "--item", "query"];
    let words = ["x.csv:1: there is no column `user`", "the columns are `who`, `query`"];
    refused("x.csv", b"who,query\n1,a\n", &flags, &words);
    refused("x.csv", b"user,user,query\n1,1,a\n", &flags, &["two columns are named `user`"]);
    let words = ["x.csv:3: the row has 1 fields, `query` is number 2", "--skip-bad-lines"];
    refused("x.csv", b"user,query\n1,a\n2\n", &flags, &words);
    refused("x.csv", b"user,query\n ,a\n", &flags, &["x.csv:2: `user` is empty"]);
    let mut open = b"user,query\n1,a\n1,\"b\n".to_vec();
    open.extend(b"2,c\n".repeat(400_000));
    refused("x.csv", &open, &flags, &["x.csv:3: a row of more than a megabyte", "quote"]);
    refused("x.csv", b"a,\"b\n", &[], &["x.csv:1: a quote is opened and not closed"]);
    refused("x.csv", b"a\n\"b\" c,d\n", &[], &["x.csv:2: `c` after a closing quote", "twice"]);
    let error = failure(&["profile", "x.csv", "--id", "user"]);
    assert!(error.contains("x.csv"), "{error}");
}

#[test]
fn spmf_lines_that_are_no_records() {
    refused("x.spmf", b"1 -1 2 -1\n", &[], &["x.spmf:1: the line does not end in `-2`"]);
    refused("x.spmf", b"1 -1 -2 3\n", &[], &["x.spmf:1: `3` after the `-2`"]);
    refused(
        "x.spmf",
        b"1 -1 -2\nmilk -1 -2\n",
        &[],
        &["x.spmf:2: `milk` is not a whole number", "fimi"],
    );
    refused("x.spmf", b"@ITEM=1\n1 -1 -2\n", &[], &["x.spmf:1: `@ITEM=1` has no name"]);
    refused("x.spmf", b"@ITEM=1=a\n@ITEM=1=b\n1 -2\n", &[], &["x.spmf:2: item 1 has two names"]);
}

#[test]
fn parquet_columns_of_the_wrong_type() {
    let floats = arrow_array::Float64Array::from_iter_values([1.5, 2.5]);
    let texts = arrow_array::StringArray::from_iter_values(["a", "b"]);
    let holes = arrow_array::StringArray::from_iter([Some("a"), None]);
    let file = formats::parquet(vec![
        ("price", Arc::new(floats)),
        ("item", Arc::new(texts)),
        ("hole", Arc::new(holes)),
    ]);
    let flags = |id, item| ["--id", id, "--item", item];
    refused(
        "x.parquet",
        &file,
        &flags("item", "price"),
        &["column `price` has the type Float64", "expected texts"],
    );
    refused(
        "x.parquet",
        &file,
        &flags("who", "item"),
        &["no column `who`", "`price`, `item`, `hole`"],
    );
    refused(
        "x.parquet",
        &file,
        &flags("item", "hole"),
        &["row 2: an empty cell (null)", "--skip-bad-lines"],
    );
    refused(
        "x.parquet",
        &file,
        &["--item", "item"],
        &["column `item` has the type Utf8", "--id and --item"],
    );
    refused("x.parquet", &file, &[], &["0 columns hold lists", "--item"]);
    refused("x.parquet", &file[..file.len() - 9], &[], &["the file is damaged or no Parquet file"]);
    refused("x.parquet", BASKETS, &[], &["the file is damaged or no Parquet file"]);
}

#[test]
fn options_that_mean_nothing_for_the_format() {
    let dir = folder(&[("x.dat", BASKETS)]);
    let path = dir.path().join("x.dat");
    let path = path.to_str().unwrap();
    for (flags, word) in [
        (["--id", "user"], "--id = user: expected a table"),
        (["--item", "i"], "--item = i: expected a table or JSON objects"),
        (["--delimiter", ";"], "--delimiter = ;: expected a CSV file"),
    ] {
        let error = failure(&["profile", path, flags[0], flags[1]]);
        assert!(error.contains(word), "{error}");
    }
    let error = failure(&["profile", path, "--format", "excel"]);
    assert!(error.contains("excel") && error.contains("long-csv"), "{error}");
    let error = failure(&["profile", path, "--delimiter", "::"]);
    assert!(error.contains("one ASCII character"), "{error}");
}

#[test]
fn parameters_out_of_range_and_too_little_data() {
    let dir = folder(&[("x.dat", BASKETS)]);
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (data, release) = (path("x.dat"), path("release"));
    for (flag, value, word) in [
        ("-k", "0", "at least 2"),
        ("-k", "1", "at least 2"),
        ("-m", "0", "from 1 to 16"),
        ("-k", "some", "at least 2"),
        ("-k", "11", "10"),
    ] {
        let error = failure(&["anonymize", "disassociation", &data, "-o", &release, flag, value]);
        assert!(error.contains(word), "{flag} {value}: {error}");
        assert!(!dir.path().join("release").exists());
    }
}

#[test]
fn bad_lines_are_skipped_counted_and_reported_when_asked() {
    let dir = folder(&[("x.jsonl", b"[\"a\"]\n{\n[\"b\",\"b\"]\nx\n[]\n")]);
    let path = dir.path().join("x.jsonl");
    let path = path.to_str().unwrap();
    let answer = json(&["profile", path, "--skip-bad-lines", "--json"]);
    assert_eq!(answer["records"], 2);
    let left = serde_json::json!({
        "skipped_lines": 2, "duplicates": 1, "empty_records": 1, "blank_items": 0
    });
    assert_eq!(answer["left_out"], left);
    let output =
        setveil(&["profile", path, "--skip-bad-lines"]).assert().success().get_output().clone();
    let remark = String::from_utf8(output.stderr).unwrap();
    assert!(remark.contains("left out: 2 lines that cannot be read, 1 empty records"), "{remark}");
    let output = setveil(&["profile", path, "--skip-bad-lines", "-q"])
        .assert()
        .success()
        .get_output()
        .clone();
    assert!(output.stderr.is_empty());
}
