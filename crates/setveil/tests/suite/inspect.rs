//! What looks like identifiers is found, and set data is left alone.

use std::path::Path;

use rand::RngExt;
use setveil::generate::{Quest, QuestParameters};
use setveil::inspect::{Findings, Kind, check};
use setveil::io::{ReadOptions, parse_dataset, read_dataset, write_quest};
use testkit::random;

fn look(name: &str, text: &str) -> Findings {
    check(&parse_dataset(Path::new(name), text.as_bytes(), &ReadOptions::default()).unwrap())
}

/// A line a number.
fn lines(count: u32, line: impl Fn(u32) -> String) -> String {
    (0..count).map(|i| line(i) + "\n").collect()
}

#[test]
fn no_false_alarm_on_public_data() {
    for name in [
        "bms-webview-1",
        "bms-webview-2",
        "fruithut",
        "groceries",
        "mdcr-icd9",
        "msnbc",
        "t10i4d100k",
    ] {
        let Some(path) = testkit::real::data_file(&format!("{name}.dat.gz")) else { return };
        let input = read_dataset(&path, &ReadOptions::default(), &()).unwrap();
        let findings = check(&input);
        assert!(!findings.refused(), "{name}: {:?}", findings.findings);
    }
}

#[test]
fn no_false_alarm_on_quest_data() {
    let dir = tempfile::tempdir().unwrap();
    for (records, items) in [(30, 1000), (1000, 50), (20_000, 5_000)] {
        let path = dir.path().join(format!("{records}.dat"));
        let parameters = QuestParameters::default().records(records).items(items);
        let mut quest = Quest::new(&parameters, 7).unwrap();
        write_quest(&mut quest, &path, false, &()).unwrap();
        let findings = check(&read_dataset(&path, &ReadOptions::default(), &()).unwrap());
        assert!(!findings.refused(), "{records} {items}: {:?}", findings.findings);
    }
}

/// Every record 23 items, one of each attribute: numbers as in the FIMI
/// repository, words, and `attribute=value`; also sorted by the first attribute.
#[test]
fn no_false_alarm_on_records_of_fixed_length() {
    let mut rng = random::rng(3);
    for (name, separator) in [("x.dat", " "), ("x.csv", ",")] {
        for values in [2, 9, 40] {
            let mut rows: Vec<Vec<u32>> =
                (0..500).map(|_| (0..23).map(|_| rng.random_range(0..values)).collect()).collect();
            for sorted in [false, true] {
                if sorted {
                    rows.sort();
                }
                let texts: [fn(usize, u32, u32) -> String; 3] = [
                    |a, v, values| (a as u32 * values + v + 1000).to_string(),
                    |a, v, _| format!("w{}{}", (b'a' + a as u8) as char, v),
                    |a, v, _| format!("cap{a}={v}"),
                ];
                for text in texts {
                    let row = |row: &Vec<u32>| {
                        let items: Vec<String> =
                            row.iter().enumerate().map(|(a, &v)| text(a, v, values)).collect();
                        items.join(separator) + "\n"
                    };
                    let findings = look(name, &rows.iter().map(row).collect::<String>());
                    assert!(!findings.refused(), "{values} {sorted}: {:?}", findings.findings);
                }
            }
        }
    }
}

#[test]
fn small_data_of_words_is_left_alone() {
    for text in
        ["milk,bread\nbeer,wine\n", "apple,pear\nfig,plum\nkiwi,lime\n", "a,b,c\nd,e,f\ng,h,i\n"]
    {
        let findings = look("x.csv", text);
        assert!(!findings.refused(), "{text}: {:?}", findings.findings);
    }
    // Lines of one unique word each: rare items, said in a remark.
    let findings = look("x.dat", &lines(50, |i| format!("w{i} milk")));
    let singles = findings.findings.iter().find(|f| f.kind == Kind::Singles).unwrap();
    assert_eq!((singles.count, singles.of), (50, 51));
}

#[test]
fn a_table_of_persons_and_codes() {
    let row = |i: u32| format!("p{:05},{}{:02}", i / 3, ["E", "I", "J"][i as usize % 3], i % 71);
    let findings = look("x.csv", &("patient_id,diagnosis_code\n".to_owned() + &lines(900, row)));
    assert!(findings.refused());
    assert_eq!(findings.findings[0].kind, Kind::Header);
    assert_eq!(findings.findings[1].kind, Kind::IdPosition { position: 1 });
    let suggestion = findings.suggestion.unwrap();
    assert_eq!(suggestion.id.as_deref(), Some("patient_id"));
    assert_eq!(suggestion.item.as_deref(), Some("diagnosis_code"));
    assert_eq!(findings.first_lines[0].items, ["patient_id", "diagnosis_code"]);
    // Without the header, and in any order of the rows.
    let findings = look("x.csv", &lines(900, |i| row(i * 7 % 900)));
    assert_eq!(findings.findings[0].kind, Kind::IdPosition { position: 1 });
    assert_eq!(findings.suggestion.unwrap().header.as_deref(), Some("id,item"));
}

#[test]
fn wide_tables_and_ids_before_sets() {
    let wide = |i: u32| format!("{},{},E{:02},I{:02}", 10_000 + i, 20 + i % 60, i % 40, i % 30);
    let findings = look("x.csv", &("pid,age,dx1,dx2\n".to_owned() + &lines(200, wide)));
    let suggestion = findings.suggestion.unwrap();
    assert_eq!(suggestion.id.as_deref(), Some("pid"));
    assert_eq!(suggestion.items.as_deref(), Some("dx1,dx2"));
    // Sets of different lengths behind an id.
    let uneven =
        |i: u32| format!("c{i:04} {}", ["milk", "milk bread", "wine beer milk"][i as usize % 3]);
    let findings = look("x.dat", &lines(200, uneven));
    assert_eq!(findings.findings[0].kind, Kind::UniquePosition { position: 1 });
}

#[test]
fn ids_where_positions_mean_nothing() {
    let line =
        |i: u32| format!("[\"milk\",\"{}\",\"ORD-{i:06}\"]", ["a", "b", "c"][i as usize % 3]);
    let findings = look("x.jsonl", &lines(100, line));
    assert!(findings.refused(), "{:?}", findings.findings);
    let array = format!("[{}]", (0..100).map(line).collect::<Vec<_>>().join(",\n"));
    let findings = look("x.json", &array);
    assert_eq!(findings.findings[0].kind, Kind::Ids);
}
