//! Files as people really have them: what would publish identifiers is
//! refused with what was seen and the command that is probably meant, and the
//! rest is read.

use crate::{failure, folder, json, setveil, stdout};

/// A line a number.
fn lines(count: u32, line: impl Fn(u32) -> String) -> String {
    (0..count).map(|i| line(i) + "\n").collect()
}

fn code(i: u32) -> String {
    format!("{}{:02}", ["E", "I", "J", "K"][i as usize % 4], i * 7 % 60)
}

fn goods(i: u32) -> &'static str {
    ["milk", "bread", "wine", "beer", "cheese", "eggs", "rice"][(i * i / 3) as usize % 7]
}

/// `anonymize` on a file: the whole command line after the method.
fn command<'a>(input: &'a str, output: &'a str, flags: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["anonymize", "disassociation", input, "-k", "2", "-o", output];
    args.extend(flags);
    args
}

/// The refusal of a file holds all of `words`; nothing is written; with
/// `--as-baskets` it is published, and `profile` says the same.
fn refused(name: &str, content: &[u8], flags: &[&str], words: &[&str]) -> String {
    let dir = folder(&[(name, content)]);
    let (input, output) = (dir.path().join(name), dir.path().join("release"));
    let (input, output) = (input.to_str().unwrap(), output.to_str().unwrap());
    let error = failure(&command(input, output, flags));
    assert!(error.contains("this does not look like one set of items a record"), "{error}");
    assert!(error.contains("nothing was written") && error.contains("--as-baskets"), "{error}");
    for word in words.iter().chain(&[name]) {
        assert!(error.contains(word), "`{word}` is not in: {error}");
    }
    assert!(!dir.path().join("release").exists(), "nothing is written");
    let mut args = vec!["profile", input];
    args.extend(flags);
    let profile = stdout(&args);
    for finding in error.lines().filter(|line| line.starts_with("  - ")) {
        assert!(profile.contains(finding), "`{finding}` is not in: {profile}");
    }
    let meant = [flags, &["--as-baskets"]].concat();
    setveil(&command(input, output, &meant)).assert().success();
    error
}

/// The file is published as it is; what it says on standard error.
fn published(name: &str, content: &[u8], flags: &[&str]) -> String {
    let dir = folder(&[(name, content)]);
    let (input, output) = (dir.path().join(name), dir.path().join("release"));
    let (input, output) = (input.to_str().unwrap(), output.to_str().unwrap());
    let done = setveil(&command(input, output, flags)).assert().success().get_output().clone();
    String::from_utf8(done.stderr).unwrap()
}

/// Records, items and the labels of a reading.
fn shape(name: &str, content: &[u8], flags: &[&str]) -> (u64, u64) {
    let dir = folder(&[(name, content)]);
    let input = dir.path().join(name);
    let mut args = vec!["profile", input.to_str().unwrap(), "--json"];
    args.extend(flags);
    let answer = json(&args);
    (answer["records"].as_u64().unwrap(), answer["items"].as_u64().unwrap())
}

fn patients() -> String {
    "patient_id,diagnosis_code\n".to_owned() + &lines(600, |i| format!("p{:05},{}", i / 3, code(i)))
}

#[test]
fn a_table_of_patients_and_codes_is_not_published_as_baskets() {
    let error = refused(
        "patients.csv",
        patients().as_bytes(),
        &[],
        &[
            "the first line looks like a header: `patient_id`, `diagnosis_code`",
            "position 1 looks like an identifier: 200 values in the first 600 lines",
            "as it was read:",
            "patient_id,diagnosis_code   ->   `patient_id`, `diagnosis_code`",
            "probably meant: setveil anonymize disassociation",
            "--id patient_id --item diagnosis_code",
        ],
    );
    // The command that is meant works.
    let said = error.lines().find_map(|l| l.split("probably meant: ").nth(1)).unwrap();
    assert!(said.ends_with("--id patient_id --item diagnosis_code"), "{said}");
    let flags = ["--id", "patient_id", "--item", "diagnosis_code"];
    assert_eq!(shape("patients.csv", patients().as_bytes(), &flags).0, 200);
    let said = published("patients.csv", patients().as_bytes(), &flags);
    assert!(!said.contains("identifier"), "{said}");
}

#[test]
fn tables_without_a_header_or_with_blanks_or_tabs() {
    let rows = lines(600, |i| format!("{},{}", 10_000 + i / 3, code(i)));
    let words = ["position 1 looks like an identifier", "put this line above the data: id,item"];
    refused("rows.csv", rows.as_bytes(), &[], &[&words[..], &["--id id --item item"]].concat());
    let rows = rows.replace(',', "\t");
    refused("rows.tsv", rows.as_bytes(), &[], &["position 1 looks like an identifier"]);
    let rows = "user item\n".to_owned() + &rows.replace('\t', " ");
    let words = ["a header: `user`, `item`", "--format long-csv --id user --item item", "' '"];
    refused("rows.dat", rows.as_bytes(), &[], &words);
}

#[test]
fn wide_tables_are_named_and_read() {
    let wide = "pid,age,dx1,dx2,dx3\n".to_owned()
        + &lines(100, |i| format!("{},{},{},{},", 70_000 + i, 20 + i % 50, code(i), code(i + 1)));
    let words = [
        "a header: `pid`, `age`, `dx1`",
        "position 1 has a value of its own in 100 of the first 100 lines",
        "--id pid --items dx1..dx3",
    ];
    refused("wide.csv", wide.as_bytes(), &[], &words);
    let (records, items) =
        shape("wide.csv", wide.as_bytes(), &["--id", "pid", "--items", "dx1..dx3"]);
    assert_eq!((records, items), (100, 60));
    let (records, items) = shape("wide.csv", wide.as_bytes(), &["--id", "pid"]);
    assert_eq!((records, items), (100, 110), "all other columns are items");
}

#[test]
fn ids_before_sets_of_any_length_and_inside_them() {
    let sets = lines(200, |i| {
        let more = [goods(i), "salt", "milk,salt"][i as usize % 3];
        format!("C-{i:05},{},{more}", goods(i + 1))
    });
    refused("sets.csv", sets.as_bytes(), &[], &["position 1 has a value of its own in 200"]);
    let sets = lines(200, |i| format!("[\"{}\",\"order-{i:06}\"]", goods(i)));
    let array = format!("[{}]", sets.trim().replace('\n', ",\n"));
    let word = "200 of 200 records have an item of their own that looks like an id: `order-000000`";
    refused("sets.json", array.as_bytes(), &[], &[word]);
}

#[test]
fn one_separator_in_nearly_every_item() {
    let bars = lines(60, |i| format!("{}|{}|{}", goods(i), goods(i + 1), goods(i + 2)));
    let words = ["60 of 60 occurrences of items have `|` inside", "--delimiter '|'"];
    refused("bars.csv", bars.as_bytes(), &[], &words);
    refused("bars.dat", bars.as_bytes(), &[], &["--format basket-csv --delimiter '|'"]);
    let commas = bars.replace('|', ",");
    refused("commas.dat", commas.as_bytes(), &[], &["have `,` inside", "--format basket-csv"]);
    let cells = "who,codes\n".to_owned()
        + &lines(90, |i| format!("u{},{}|{}", i % 30, code(i), code(i + 4)));
    let flags = ["--id", "who", "--item", "codes"];
    refused("cells.csv", cells.as_bytes(), &flags, &["have `|` inside", "--split '|'"]);
    let split = [&flags[..], &["--split", "|"]].concat();
    assert_eq!(shape("cells.csv", cells.as_bytes(), &split).0, 30);
    assert!(!published("cells.csv", cells.as_bytes(), &split).contains("inside"));
}

#[test]
fn items_that_look_like_persons_or_days() {
    for (name, item, word) in [
        (
            "mail.csv",
            (|i| format!("ann{i}@example.org")) as fn(u32) -> String,
            "look like e-mail addresses: `ann",
        ),
        ("phone.csv", |i| format!("+49 30 12345{:02}", i % 50), "look like phone numbers: `+49 30"),
        ("day.csv", |i| format!("2023-{:02}-{:02}", 1 + i % 12, 1 + i % 28), "are dates: `2023-"),
        (
            "note.csv",
            |i| format!("she came back on day {i} and was feeling much better than before"),
            "look like sentences",
        ),
        ("uuid.csv", |i| format!("123e4567-e89b-12d3-a456-4266{i:08}"), "as an identifier has"),
    ] {
        let text = lines(100, |i| format!("{},{},{}", goods(i), item(i), goods(i + 1)));
        refused(name, text.as_bytes(), &[], &[word]);
    }
    let iban = lines(50, |i| format!("{},DE89370400440532013000,{}", goods(i), goods(i + 1)));
    refused("iban.csv", iban.as_bytes(), &[], &["1 item is a bank account (IBAN): `DE89"]);
    // A stray address among many is a remark.
    let text = lines(400, |i| format!("{},{}", goods(i), goods(i + 1))) + "milk,ann@example.org\n";
    let said = published("stray.csv", text.as_bytes(), &[]);
    assert!(said.contains("1 item looks like an e-mail address: `ann@example.org`"), "{said}");
}

#[test]
fn what_describes_a_person_and_what_occurs_once_is_a_remark() {
    let text = lines(100, |i| format!("age={},zip:101{:02},{}", 40 + i % 9, i % 9, goods(i)))
        + "milk,unicorn\n";
    let said = published("people.csv", text.as_bytes(), &[]);
    assert!(
        said.contains("18 items describe a person, and many may know them: `age=40`"),
        "{said}"
    );
    assert!(said.contains("1 of 25 items occurs in one record only: `unicorn`"), "{said}");
}

#[test]
fn spellings_are_a_remark_and_can_be_made_one() {
    let text = "Milk,caf\u{e9}\nmilk,cafe\u{301}\nmilk,whole  grain\nMilk,whole grain\n".repeat(5);
    let said = published("spelling.csv", text.as_bytes(), &[]);
    for word in [
        "1 item differs from another in capital letters only: `Milk`, `milk` (--fold-case makes them one)",
        "1 item differs from another in how accents are written only: `cafe\\u{301}`, `caf\u{e9}` (--normalize",
        "1 item differs from another in blanks or invisible characters only: `whole  grain`, `whole grain` (--normalize",
    ] {
        assert!(said.contains(word), "`{word}` is not in: {said}");
    }
    let flags = ["--fold-case", "--normalize"];
    assert_eq!(shape("spelling.csv", text.as_bytes(), &flags), (20, 3));
    assert!(!published("spelling.csv", text.as_bytes(), &flags).contains("differ"));
}

#[test]
fn excel_and_windows() {
    let text = lines(20, |i| format!("{};\"br\u{f6}tchen; hell\"", goods(i)));
    let said = published("excel.csv", format!("sep=;\n{text}").as_bytes(), &[]);
    assert!(said.contains("fields are separated by `;`: the first line says so"), "{said}");
    let said = published("excel.csv", text.as_bytes(), &[]);
    assert!(said.contains("separated by `;`: every line has one, and none a comma"), "{said}");
    let utf16: Vec<u8> =
        [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let said = published("excel.csv", &utf16, &[]);
    assert!(said.contains("read as UTF-16LE: the text begins with its mark"), "{said}");
    assert_eq!(shape("excel.csv", &utf16, &[]), shape("excel.csv", text.as_bytes(), &[]));
    let windows: Vec<u8> = text.chars().map(|c| u32::from(c) as u8).collect();
    let dir = folder(&[("excel.csv", &windows)]);
    let path = dir.path().join("excel.csv");
    let error = failure(&["profile", path.to_str().unwrap()]);
    assert!(error.contains("--encoding (often windows-1252)"), "{error}");
    let flags = ["--encoding", "windows-1252"];
    assert_eq!(shape("excel.csv", &windows, &flags), shape("excel.csv", text.as_bytes(), &[]));
    let error = failure(&["profile", path.to_str().unwrap(), "--encoding", "klingon"]);
    assert!(error.contains("klingon") && error.contains("windows-1252"), "{error}");
    // UTF-16 without its mark is seen in the items, and read when it is said.
    let text = lines(20, |i| format!("{};salt", goods(i)));
    let bare: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    refused("bare.csv", &bare, &[], &["hold characters that are no text", "--encoding utf-16le"]);
    let flags = ["--encoding", "utf-16le"];
    assert_eq!(shape("bare.csv", &bare, &flags), shape("excel.csv", text.as_bytes(), &[]));
}

#[test]
fn one_json_array() {
    let sets: Vec<String> = (0..40)
        .map(|i| format!("{{\"n\":{i},\"goods\":[\"{}\",\"{}\"]}}", goods(i), goods(i + 1)))
        .collect();
    let text = format!("[\n{}\n]", sets.join(",\n"));
    assert_eq!(shape("sets.json", text.as_bytes(), &["--item", "goods"]).0, 40);
    published("sets.json", text.as_bytes(), &["--item", "goods"]);
}

#[test]
fn set_data_is_published_without_a_word_of_it() {
    let fixed = lines(200, |i| {
        (0..23)
            .map(|a| (1000 + a * 10 + (i * (a + 3)) % 7).to_string())
            .collect::<Vec<_>>()
            .join(" ")
    });
    assert_eq!(published("fixed.dat", fixed.as_bytes(), &[]), "");
    let baskets = lines(200, |i| format!("{},organic {}", goods(i), goods(i + 3)));
    assert_eq!(published("baskets.csv", baskets.as_bytes(), &[]), "");
    let dir = folder(&[]);
    let quest = dir.path().join("quest.dat");
    let quest = quest.to_str().unwrap();
    setveil(&["generate", "quest", "-o", quest, "--records", "2000"]).assert().success();
    let release = dir.path().join("release");
    setveil(&command(quest, release.to_str().unwrap(), &[])).assert().success();
}

#[test]
fn standard_input_is_read_by_the_command_line() {
    let dir = folder(&[]);
    let release = dir.path().join("release");
    let args = command("-", release.to_str().unwrap(), &["--format", "basket-csv"]);
    setveil(&args).write_stdin(lines(50, |i| format!("{},salt", goods(i)))).assert().success();
    std::fs::remove_dir_all(&release).unwrap();
    let refused = setveil(&args).write_stdin(patients()).assert().code(2).get_output().clone();
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains("looks like a header"), "{text}");
}

#[test]
fn small_numbers_that_say_whose_row_it_is() {
    let rows = lines(600, |i| format!("{},{}", 1 + i / 3, code(i)));
    let words = ["position 1 looks like an identifier: 200 values", "--id id --item item"];
    refused("rows.csv", rows.as_bytes(), &[], &words);
    // In any order of the rows.
    let rows = lines(600, |i| format!("{},{}", 1 + i * 7 % 600 / 3, code(i)));
    refused("mixed.csv", rows.as_bytes(), &[], &["position 1 looks like an identifier"]);
    // Persons and things are both numbers, and overlap; a rating behind them.
    let rows = lines(900, |i| format!("{},{},{}", 1 + i / 90, 1 + i * 17 % 301, i % 5));
    refused("ratings.csv", rows.as_bytes(), &[], &["position 1 looks like an identifier: 10"]);
    // The number of the line before a set of any length.
    let more = |i: u32| if i.is_multiple_of(2) { " 9" } else { "" };
    let sets = lines(300, |i| format!("{} {} {}{}", i + 1, 3 + i % 40, 50 + i % 7, more(i)));
    let word = "position 1 has a value of its own in 300 of the first 300 lines";
    refused("sets.dat", sets.as_bytes(), &[], &[word]);
}

#[test]
fn ids_in_a_json_array_on_one_line() {
    let sets: Vec<String> =
        (0..200).map(|i| format!("[\"p{i}\",\"{}\",\"{}\"]", goods(i), goods(i + 1))).collect();
    let text = format!("[{}]", sets.join(","));
    let word = "200 of 200 records have an item of their own that looks like an id: `p0`";
    refused("sets.json", text.as_bytes(), &[], &[word]);
}

#[test]
fn days_in_every_spelling() {
    for (name, item) in [
        (
            "short.csv",
            (|i| format!("{}.{}.{}", 1 + i % 28, 1 + i % 12, 19 + i % 5)) as fn(u32) -> String,
        ),
        ("oracle.csv", |i| {
            format!("{}-{}-2021", 1 + i % 28, ["JAN", "FEB", "DEC"][i as usize % 3])
        }),
        ("compact.csv", |i| format!("2021{:02}{:02}", 1 + i % 12, 1 + i % 28)),
        ("time.csv", |i| format!("2021-03-{:02} 10:{:02}", 1 + i % 28, i % 60)),
    ] {
        let text = lines(120, |i| format!("{},{},{}", goods(i), item(i), goods(i + 1)));
        refused(name, text.as_bytes(), &[], &["are dates: `"]);
    }
}

#[test]
fn columns_that_say_who_somebody_is_are_no_items() {
    let row = |i: u32| {
        let name = |n: u32| format!("{}{}", ["Mei", "Hub", "Wol"][n as usize % 3], n);
        format!("{},{},{},{},{}", i, name(i), 10_000 + i % 90, code(i), code(i + 3))
    };
    let table = "patient_id,lastname,zip,dx1,dx2\n".to_owned() + &lines(300, row);
    let words = ["1 of the 4 columns of items say who somebody is: `lastname`", "--items dx1,dx2"];
    let error = refused("wide.csv", table.as_bytes(), &["--id", "patient_id"], &words);
    assert!(error.contains("probably meant: setveil anonymize disassociation"), "{error}");
    // By its values alone, under a name that says nothing.
    let other = table.replace("lastname", "field7");
    let words =
        ["1 of the 4 columns of items have a value of their own in nearly every row", "`field7`"];
    refused("wide.csv", other.as_bytes(), &["--id", "patient_id"], &words);
    // What is probably meant is read, and what describes a person is a remark.
    let flags = ["--id", "patient_id", "--items", "dx1,dx2"];
    assert_eq!(published("wide.csv", table.as_bytes(), &flags), "");
    let flags = ["--id", "patient_id", "--items", "zip,dx1,dx2"];
    let said = published("wide.csv", table.as_bytes(), &flags);
    assert!(said.contains("1 of the 3 columns of items describe a person: `zip`"), "{said}");
    // Id and item exchanged: diagnoses become people, and people items.
    let flags = ["--id", "diagnosis_code", "--item", "patient_id"];
    let word = "the column of the items is called as identifiers are: `patient_id`";
    refused("patients.csv", patients().as_bytes(), &flags, &[word]);
}

#[test]
fn a_table_of_yes_and_no_is_not_published_as_noughts_and_ones() {
    let row = |i: u32| format!("{},{},{},{}", i + 1, i % 2, i / 2 % 2, i / 4 % 2);
    let table = "id,milk,bread,wine\n".to_owned() + &lines(200, row);
    let word = "all cells say yes or no, and what they are about stands in the header";
    refused("flags.csv", table.as_bytes(), &["--id", "id"], &[word, "`0`, `1`"]);
}

#[test]
fn visits_of_people_and_cells_without_a_value_are_remarks() {
    let row = |i: u32| {
        format!("v{i},p{},{}", i / 4, if i.is_multiple_of(9) { "NULL".into() } else { code(i) })
    };
    let table = "visit_id,patient_id,code\n".to_owned() + &lines(200, row);
    let said = published("v.csv", table.as_bytes(), &["--id", "visit_id", "--item", "code"]);
    assert!(
        said.contains("somebody with several records is hidden among fewer people: `patient_id`"),
        "{said}"
    );
    assert!(said.contains("1 item says that nothing is there: `NULL`"), "{said}");
    let said = published("v.csv", table.as_bytes(), &["--id", "patient_id", "--item", "code"]);
    assert!(!said.contains("fewer people"), "{said}");
}
