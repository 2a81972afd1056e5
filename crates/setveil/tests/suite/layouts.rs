//! Files as hospitals and shops have them: wide tables, several codes in a
//! cell, Excel's habits, other encodings, JSON in one piece.

use std::path::Path;

use setveil::Dataset;
use setveil::io::{Assumption, Input, ReadOptions, parse_dataset};

fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Input {
    parse_dataset(Path::new(name), bytes, options).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn fails(name: &str, bytes: &[u8], options: &ReadOptions) -> String {
    parse_dataset(Path::new(name), bytes, options).unwrap_err().to_string()
}

fn plain() -> ReadOptions {
    ReadOptions::default()
}

const WIDE: &[u8] = b"patient_id,age,dx1,dx2,dx3\np1,43,a,b,\np2,51,c,,\np1,43,d,,a\n";

#[test]
fn wide_tables_with_an_id() {
    let id = || plain().id(Some("patient_id".into()));
    let all = read("x.csv", WIDE, &id());
    assert_eq!(all.dataset, Dataset::from_records([vec!["43", "a", "b", "d"], vec!["51", "c"]]));
    assert_eq!((all.dropped.blank_items, all.dropped.duplicates), (4, 2));
    for items in ["dx1..dx3", "dx1,dx2,dx3", "dx1..dx2,dx3", " dx1 .. dx3 "] {
        let some = id().items(Some(items.into()));
        let data = read("x.csv", WIDE, &some).dataset;
        assert_eq!(data, Dataset::from_records([vec!["a", "b", "d"], vec!["c"]]), "{items}");
    }
    // Without an id every row is a record.
    let rows = plain().items(Some("dx1..dx3".into()));
    let data = read("x.csv", WIDE, &rows).dataset;
    assert_eq!(data, Dataset::from_records([vec!["a", "b"], vec!["c"], vec!["a", "d"]]));
    for (items, word) in [
        ("dx1..dx9", "there is no column `dx9`; the columns are `patient_id`, `age`"),
        ("dx3..dx1", "`dx3..dx1` runs backwards"),
        ("", "there is no column ``"),
    ] {
        let error = fails("x.csv", WIDE, &plain().items(Some(items.into())));
        assert!(error.contains(word), "{error}");
    }
    let short = fails("x.csv", b"id,a,b\n1,x\n", &plain().id(Some("id".into())));
    assert!(short.contains("x.csv:2: the row has 2 fields, `b` is number 3"), "{short}");
}

#[test]
fn several_codes_in_one_cell() {
    let split = |text: &str| plain().split(Some(text.into()));
    let expected = Dataset::from_records([vec!["a", "b", "c"], vec!["a"]]);
    let long = split("|").id(Some("u".into())).item(Some("i".into()));
    assert_eq!(read("x.csv", b"u,i\n1,a|b\n1,c|a\n2, a |\n", &long).dataset, expected);
    assert_eq!(read("x.dat", b"a|b c\na\n", &split("|")).dataset, expected);
    assert_eq!(read("x.jsonl", b"[\"a; b\",\"c\"]\n[\"a\"]\n", &split(";")).dataset, expected);
    assert_eq!(read("x.csv", b"a and b,c\na\n", &split(" and ")).dataset, expected);
}

#[test]
fn excel_says_what_separates() {
    let expected = Dataset::from_records([vec!["a;b", "c"], vec!["d"]]);
    for text in
        ["sep=;\n\"a;b\";c\nd\n", "sep=;\r\n\"a;b\";c\r\nd\r\n", "\"sep=;\"\n\"a;b\";c\nd\n"]
    {
        let input = read("x.csv", text.as_bytes(), &plain());
        assert_eq!(input.dataset, expected);
        assert_eq!(input.assumed, [Assumption::Separator(';')]);
    }
    let long = plain().id(Some("u".into())).item(Some("i".into()));
    let input = read("x.csv", b"\xef\xbb\xbfsep=;\nu;i\n1;a\n1;\"b;c\"\n", &long);
    assert_eq!(input.dataset, Dataset::from_records([["a", "b;c"]]));
    // Lines are counted from the first one of the file.
    let error = fails("x.csv", b"sep=;\nu;i\n1;a\n;b\n", &long);
    assert!(error.contains("x.csv:4: `u` is empty"), "{error}");
    let error = fails("x.csv", b"sep=;\na;b\n\"c\n", &plain());
    assert!(error.contains("x.csv:3: a quote is opened"), "{error}");
}

#[test]
fn semicolons_with_quotes_are_seen() {
    let input = read("x.csv", b"\"a, b\";c\n\"d\";\"a, b\"\n", &plain());
    assert_eq!(input.dataset, Dataset::from_records([["a, b", "c"], ["a, b", "d"]]));
    assert_eq!(input.assumed, [Assumption::Guessed(';')]);
    assert!(input.assumed[0].to_string().contains("every line has one"));
    // One comma, or one line without, and nothing is guessed.
    for text in ["a;b\nc,d\n", "a;b\nc\n"] {
        assert!(read("x.csv", text.as_bytes(), &plain()).assumed.is_empty(), "{text}");
    }
    let comma = plain().delimiter(Some(b','));
    assert_eq!(read("x.csv", b"a;b\n", &comma).dataset, Dataset::from_records([["a;b"]]));
}

#[test]
fn utf_16_with_its_mark() {
    let text = "käse,brot\nwein,käse\n";
    let expected = read("x.csv", text.as_bytes(), &plain()).dataset;
    let units = || text.encode_utf16();
    let little: Vec<u8> = [0xfeff].into_iter().chain(units()).flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = [0xfeff].into_iter().chain(units()).flat_map(u16::to_be_bytes).collect();
    for (bytes, name) in [(little.clone(), "UTF-16LE"), (big, "UTF-16BE")] {
        for bytes in [bytes.clone(), testkit::formats::gzip(&bytes, 1)] {
            let input = read("x.csv", &bytes, &plain());
            assert_eq!(input.dataset, expected, "{name}");
            let said = input.assumed[0].to_string();
            assert!(said.contains(name), "{said}");
        }
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x.csv"), &little).unwrap();
    let file = setveil::io::read_dataset(&dir.path().join("x.csv"), &plain(), &()).unwrap();
    assert_eq!(file.dataset, expected);
    let error = fails("x.csv", &little[..little.len() - 1], &plain());
    assert!(error.contains("no valid UTF-16LE"), "{error}");
}

#[test]
fn other_encodings_when_asked() {
    let bytes = b"k\xe4se br\xf6tchen\n\x80uro\n";
    let error = fails("x.dat", bytes, &plain());
    assert!(error.contains("byte 0xe4 in column 2") && error.contains("windows-1252"), "{error}");
    let asked = plain().encoding(Some("windows-1252".parse().unwrap()));
    let input = read("x.dat", bytes, &asked);
    assert_eq!(input.dataset, Dataset::from_records([vec!["käse", "brötchen"], vec!["€uro"]]));
    assert!(input.assumed.is_empty(), "it was said, not assumed");
    // Longer than any buffer, with characters across their borders.
    let long = b"k\xe4se b\n".repeat(100_000);
    assert_eq!(read("x.dat", &long, &asked).dataset.len(), 100_000);
    assert!("latin1".parse::<setveil::io::Encoding>().is_ok());
    assert!("klingon".parse::<setveil::io::Encoding>().is_err());
}

#[test]
fn json_in_one_piece() {
    let expected = Dataset::from_records([vec!["a", "b"], vec!["7"]]);
    for (name, text) in [
        ("x.json", "[[\"a\",\"b\"],[7]]"),
        ("x.json", "\n[\n  [\n    \"a\",\n    \"b\"\n  ],\n  [7]\n]\n"),
        ("x.jsonl", "[ [\"b\", \"a\"], [7], [] ]"),
        ("x.json", "[\"a\",\"b\"]\n[7]\n"),
    ] {
        assert_eq!(read(name, text.as_bytes(), &plain()).dataset, expected, "{text}");
    }
    let goods = plain().item(Some("goods".into()));
    let objects = "[{\"who\": {\"x\": []}, \"goods\": [\"a\", \"b\"]},\n {\"goods\": [7]}]";
    assert_eq!(read("x.json", objects.as_bytes(), &goods).dataset, expected);
    for (text, word) in [
        ("[[\"a\"],\n[1.5]]", "x.json:2: invalid type: floating point"),
        ("[[\"a\"],\n\"b\"]", "x.json:2: invalid type: string"),
        ("[[\"a\"],\n[\"b\"]", "x.json:2: this is not JSON"),
        ("[[\"a\"]]\n[\"b\"]", "x.json:2: this is not JSON: trailing characters"),
        ("[{\"a\":[]}]", "invalid type: map, expected a list of items"),
    ] {
        let error = fails("x.json", text.as_bytes(), &plain());
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn one_spelling() {
    let text = "Milk  fat\tMILK FAT\tcaf\u{e9}\ncafe\u{301}\tmilk fat\n".as_bytes();
    let tsv = |fold_case, normalize| {
        let options = plain().fold_case(fold_case).normalize(normalize);
        read("x.tsv", text, &options)
            .dataset
            .vocabulary()
            .labels()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(tsv(false, false).len(), 5);
    assert_eq!(tsv(true, true), ["caf\u{e9}", "milk fat"]);
    assert_eq!(tsv(false, true), ["MILK FAT", "Milk fat", "caf\u{e9}", "milk fat"]);
}
