//! Every reader agrees with the others, whatever the compression and the
//! threads, and no bytes make one panic.

use std::path::Path;

use proptest::prelude::*;
use rand::RngExt;
use rand::seq::SliceRandom;
use setveil::Dataset;
use setveil::io::{Format, Input, ReadOptions, parse_dataset, read_dataset};
use testkit::{formats, fuzz, made_parquet, random};

fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Input {
    parse_dataset(Path::new(name), bytes, options).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The same records read in no format at all.
fn expected(records: &[Vec<String>]) -> Dataset {
    Dataset::from_records(records.iter().filter(|r| !r.is_empty()))
}

/// Labels with everything but line ends, and no white space around them.
fn label() -> impl Strategy<Value = String> {
    let special = prop::sample::select(vec![
        "\"", ",", ";", "\\", "'", "-1", "=", "é", "日本", "a b", "{", "\t",
    ]);
    prop::collection::vec(
        prop_oneof!["[a-d]{1,3}".boxed(), special.prop_map(str::to_owned).boxed()],
        1..4,
    )
    .prop_map(|parts| parts.concat().trim().to_owned())
    .prop_filter("white space alone is no item", |label| !label.is_empty())
}

fn records() -> impl Strategy<Value = Vec<Vec<String>>> {
    prop::collection::vec(prop::collection::vec(label(), 1..6), 1..12)
}

proptest! {
    #![proptest_config(testkit::settings::cases(64))]

    #[test]
    fn every_reader_agrees_on_the_same_data(records in records(), seed: u64) {
        let expected = expected(&records);
        for (name, bytes, options) in formats::every_layout(&records) {
            prop_assert_eq!(&read(name, &bytes, &options).dataset, &expected, "{}", name);
            prop_assert_eq!(&read(name, &formats::gzip(&bytes, 3), &options).dataset, &expected);
            prop_assert_eq!(&read(name, &formats::zstd(&bytes), &options).dataset, &expected);
        }
        // Rows of one person need not stand together; only the first decides the order.
        let shuffled = formats::long_csv(&records, |rows| {
            let mut firsts = Vec::new();
            let mut rest = Vec::new();
            for row in rows.drain(..) {
                let seen = firsts.iter().any(|r: &(usize, String)| r.0 == row.0);
                if seen { rest.push(row) } else { firsts.push(row) }
            }
            rest.shuffle(&mut random::rng(seed));
            rows.extend(firsts.into_iter().chain(rest));
        });
        let options = formats::every_layout(&records)[2].2.clone();
        prop_assert_eq!(&read("long.csv", &shuffled, &options).dataset, &expected);
    }

    #[test]
    fn fimi_agrees_where_labels_have_no_blanks(
        records in prop::collection::vec(prop::collection::vec("[!-~é€]{1,12}", 0..6), 1..12)
    ) {
        prop_assume!(records.iter().any(|r| !r.is_empty()));
        let input = read("data.dat", &formats::fimi(&records), &ReadOptions::default());
        prop_assert_eq!(&input.dataset, &expected(&records));
        let empty = records.iter().filter(|r| r.is_empty()).count() as u64;
        let items: usize = records.iter().map(Vec::len).sum();
        prop_assert_eq!(input.left_out().empty_records, empty);
        let kept = input.dataset.occurrences().len() as u64;
        prop_assert_eq!(input.left_out().duplicates, items as u64 - kept);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzz::TARGETS.iter().for_each(|(_, target)| target(&bytes));
    }
}

#[test]
fn mutated_files_are_read_or_refused() {
    let records = random::records(3, 12, 8, 3.0);
    let seeds = [
        formats::fimi(&records),
        formats::gzip(&formats::fimi(&records), 2),
        formats::zstd(&formats::fimi(&records)),
        formats::spmf(&records),
        formats::basket_csv(&records),
        formats::long_csv(&records, |_| {}),
        formats::jsonl(&records),
        formats::jsonl_objects(&records),
        b"{\"size\":4,\"shared_chunks\":[{\"subrecords\":[{\"items\":[\"a\"],\"count\":2}]}],\"children\":[{\
          \"size\":2,\"record_chunks\":[],\"term_chunk\":[\"b\"]},{\"size\":2,\"record_chunks\":[],\
          \"term_chunk\":[\"c\"]}]}\n{\"size\":2,\"records\":[],\"sensitive\":[{\"item\":\"s\",\"count\":1}]}\n"
            .to_vec(),
        b"a;X;*\nb;X;*\nc;*\n".to_vec(),
    ];
    let mut rng = random::rng(11);
    for seed in &seeds {
        for _ in 0..50 {
            let bytes = fuzz::mutate(seed, &mut rng);
            for (_, target) in fuzz::TARGETS.iter().filter(|t| t.0 != "parquet") {
                target(&bytes);
            }
        }
    }
}

/// Where the decoder itself panics, the reader must tell an error.
#[test]
fn mutated_parquet_files_are_read_or_refused() {
    let records = random::records(3, 12, 8, 3.0);
    let mut rng = random::rng(12);
    let pages = made_parquet::page(&["a", "b", "a", "c"], |header| header);
    let list = made_parquet::one_list(1000, 2, 1);
    for seed in [formats::parquet_lists(&records), formats::parquet_long(&records), pages, list] {
        fuzz::parquet(&seed);
        for _ in 0..150 {
            fuzz::parquet(&fuzz::mutate(&seed, &mut rng));
        }
        for _ in 0..50 {
            let end = rng.random_range(0..seed.len());
            fuzz::parquet(&seed[..end]);
        }
    }
}

#[test]
fn blocks_streams_and_threads_leave_no_trace() {
    // More than two megabytes: several blocks of a mapped file and of a stream.
    let mut records = random::records(5, 90_000, 300, 10.0);
    records[30_000].push("a-label-longer-than-a-packed-one".into());
    let bytes = formats::fimi(&records);
    assert!(bytes.len() > 2 << 20, "{} bytes", bytes.len());
    let expected = expected(&records);
    let dir = tempfile::tempdir().unwrap();
    let files = [
        ("a.dat", bytes.clone()),
        ("b.dat.gz", formats::gzip(&bytes, 5)),
        ("c.dat.zst", formats::zstd(&bytes)),
    ];
    for (name, bytes) in files {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let input = pool.install(|| read_dataset(&path, &ReadOptions::default(), &())).unwrap();
            assert!(input.dataset == expected, "{name} with {threads} threads");
        }
    }
}

#[test]
fn the_order_of_the_records_changes_nothing_but_their_order() {
    let records = random::records(6, 50, 12, 4.0);
    let mut shuffled = records.clone();
    shuffled.shuffle(&mut random::rng(1));
    let (a, b) = (formats::fimi(&records), formats::fimi(&shuffled));
    let [a, b] = [a, b].map(|bytes| read("x.dat", &bytes, &ReadOptions::default()).dataset);
    assert_eq!(a.vocabulary(), b.vocabulary());
    let sorted = |data: &Dataset| {
        let mut all: Vec<Vec<u32>> = data.records().map(<[u32]>::to_vec).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(sorted(&a), sorted(&b));
}

#[test]
fn carriage_returns_byte_order_marks_and_missing_line_ends_do_not_matter() {
    let plain = read("x.dat", b"a b\nc\n", &ReadOptions::default()).dataset;
    for bytes in [&b"a b\r\nc\r\n"[..], b"\xef\xbb\xbfa b\nc", b"  a\tb \nc", b"b a\nc\r"] {
        assert_eq!(read("x.dat", bytes, &ReadOptions::default()).dataset, plain);
        assert_eq!(read("x.dat", &formats::gzip(bytes, 1), &ReadOptions::default()).dataset, plain);
    }
    for bytes in [&b"\xef\xbb\xbfa,b\r\nc"[..], b" a , \"b\" \nc,\n", b"a,b,a\nc"] {
        assert_eq!(read("x.csv", bytes, &ReadOptions::default()).dataset, plain);
    }
    let tab = ReadOptions::default().delimiter(Some(b';'));
    assert_eq!(read("x.csv", b"a;b\nc\n", &tab).dataset, plain);
    assert_eq!(read("x.tsv", b"a\tb\nc\n", &ReadOptions::default()).dataset, plain);
    let named = ReadOptions::default().id(Some("u".into())).item(Some("i".into()));
    for bytes in [
        &b"\xef\xbb\xbfu,i\r\n1,a\r\n1,b\r\n2,c"[..],
        b"i;x;u\na;0;1\nb;0;1\nc;0;2\n",
        b"u\ti\n1\ta\n1\tb\n2\tc\n",
    ] {
        assert_eq!(read("x.csv", bytes, &named).dataset, plain);
    }
}

#[test]
fn what_is_left_out_is_counted() {
    let left = |name: &str, text: &str, options: &ReadOptions| {
        let left = read(name, text.as_bytes(), options).left_out();
        (left.duplicates, left.blank_items, left.empty_records, left.skipped_lines)
    };
    let plain = ReadOptions::default();
    assert_eq!(left("x.dat", "a a b\n\nc\n", &plain), (1, 0, 1, 0));
    assert_eq!(left("x.csv", "a,,a\n\n,\nc\n", &plain), (1, 3, 2, 0));
    assert_eq!(left("x.jsonl", "[\"a\",\" a \",\"\",7]\n[]\n", &plain), (1, 1, 1, 0));
    let skip = plain.skip_bad_lines(true);
    assert_eq!(left("x.jsonl", "[\"a\"]\n{\n[\"b\", 1.5]\n[\"b\"]\n", &skip), (0, 0, 0, 2));
    assert_eq!(left("x.spmf", "1 -1 -2\n1 -1\n2 x -2\n", &skip), (0, 0, 0, 2));
    let skip = skip.id(Some("u".into())).item(Some("i".into()));
    assert_eq!(left("x.csv", "u,i\n1,a\n1,\n2,\n,b\n3\n1,a\n", &skip), (1, 2, 1, 2));
}

#[test]
fn a_skipped_line_leaves_no_label_behind() {
    let skip = ReadOptions::default().skip_bad_lines(true);
    let data = read("x.jsonl", b"[\"secret\", null]\n[\"a\"]\n", &skip).dataset;
    assert_eq!(data.vocabulary().labels().collect::<Vec<_>>(), ["a"]);
    let mut bytes = b"a b\nsecret \xff\nb\n".to_vec();
    let data = read("x.dat", &bytes, &skip);
    assert_eq!(data.dataset.vocabulary().labels().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(data.skipped_lines, 1);
    bytes.truncate(4);
    assert_eq!(read("x.dat", &bytes, &skip).dataset.len(), 1);
}

#[test]
fn spmf_names_plain_records_and_comments() {
    let text = "% c\n@CONVERTED_FROM_TEXT\n@ITEM=1=apple\n@ITEM=2=green pear\n@ITEM=|=|\n1 2 -1 3 -1 -2\n1 3\n";
    let data = read("x.spmf", text.as_bytes(), &ReadOptions::default()).dataset;
    assert_eq!(data.vocabulary().labels().collect::<Vec<_>>(), ["3", "apple", "green pear"]);
    assert_eq!((data.record(0), data.record(1)), (&[0, 1, 2][..], &[0, 1][..]));
}

#[test]
fn real_data_has_the_shape_it_is_known_for() {
    for (name, records, items, longest, mean) in [
        ("bms-webview-1.dat.gz", 59_602, 497, 267, 2.51),
        ("bms-webview-2.dat.gz", 77_512, 3_340, 161, 4.62),
        ("groceries.dat.gz", 9_835, 169, 32, 4.41),
    ] {
        let Some(path) = testkit::real::data_file(name) else { return };
        let data = read_dataset(&path, &ReadOptions::default(), &()).unwrap().dataset;
        assert_eq!((data.len(), data.item_count(), data.max_length()), (records, items, longest));
        assert!((data.mean_length() - mean).abs() < 0.005, "{name}");
    }
}

#[test]
fn formats_have_names_and_extensions_of_their_own() {
    let mut extensions: Vec<&str> =
        Format::ALL.iter().flat_map(|f| f.extensions()).copied().collect();
    let mut names: Vec<&str> = Format::ALL.iter().map(|f| f.name()).collect();
    for list in [&mut extensions, &mut names] {
        let before = list.len();
        list.sort_unstable();
        list.dedup();
        assert_eq!(list.len(), before);
    }
}
