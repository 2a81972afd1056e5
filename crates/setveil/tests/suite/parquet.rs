//! Parquet files that nobody's writer makes are refused before they cost anything, and all others are read.

use std::io::Write;
use std::path::Path;

use setveil::budget::Budget;
use setveil::io::{Format, Input, ReadOptions, parse_dataset, read_dataset, read_dataset_from};
use setveil::{Error, Result};
use testkit::made_parquet::{
    Chunk, Fields, deltas, long_table, node, one_list, page, table, varint, with_footer,
};
use testkit::{formats, random};

const TEXTS: &[&str] = &["a", "b", "a", "c"];

fn options() -> ReadOptions {
    let options = ReadOptions::default().format(Some(Format::Parquet));
    options.id(Some("who".into())).item(Some("what".into()))
}

/// Reads from memory, a file and a compressed stream, which have the same outcome.
fn read(bytes: &[u8]) -> Result<Input> {
    let name = Path::new("x");
    let read = parse_dataset(name, bytes, &options());
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let from_file = read_dataset(file.path(), &options(), &());
    let stream = formats::gzip(bytes, 1);
    let streamed = read_dataset_from(&stream[..], name, &options(), &());
    assert_eq!(read.is_ok(), from_file.is_ok());
    assert_eq!(read.is_ok(), streamed.is_ok());
    read
}

fn refused(bytes: &[u8], words: &str) {
    let error = read(bytes).unwrap_err();
    assert!(matches!(error, Error::Input { .. }), "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

/// What a reading takes more than it may: the number.
fn too_large(bytes: &[u8], budget: u64) -> u64 {
    let read = read_dataset_from(bytes, Path::new("x"), &options(), &Budget::new(budget));
    match read.unwrap_err() {
        Error::Memory { needed, limit, .. } if limit == budget => needed,
        other => panic!("{other}"),
    }
}

#[test]
fn pages_made_by_hand_are_read() {
    let input = read(&long_table(&page(TEXTS, |header| header))).unwrap();
    assert_eq!(input.dataset.len(), 2);
    // Two pages, an index between them, and fields that nobody knows.
    let index = Fields::default().i32(1, 1).i32(2, 3).i32(3, 3).of(6, Fields::default());
    let more = |header: Fields| header.list(9, 5, &[varint(1), varint(2)]).text(12, b"new");
    let pages = [page(&TEXTS[..2], more), index.end(), vec![1, 2, 3], page(&TEXTS[2..], more)];
    assert_eq!(read(&long_table(&pages.concat())).unwrap().dataset, input.dataset);
}

#[test]
fn lists_without_bytes_in_the_header_of_a_page_are_refused() {
    let words = "a page of column `what` is damaged, or promises more than is there";
    let endless = [vec![0xf1], varint((1 << 31) - 1)].concat();
    refused(&long_table(&page(TEXTS, |header| header.raw(9, 9, &endless))), words);
    let lists = |header: Fields| header.list(9, 9, &[endless.clone(), endless.clone()]);
    refused(&long_table(&page(TEXTS, lists)), words);
    // In the second page, where the decoder comes much later.
    let pages = [page(&TEXTS[..2], |header| header), page(&TEXTS[2..], lists)];
    refused(&long_table(&pages.concat()), words);
}

#[test]
fn fields_of_pages_have_their_types_and_pages_their_place() {
    let words = "a page of column `what` is damaged";
    let header = || Fields::default().i32(1, 0);
    refused(&long_table(&header().text(2, b"a").i32(3, 0).end()), words);
    // Sizes that are negative, that do not fit, and that lead out of the chunk.
    for size in [-1, 1 << 31, 1 << 32, 1000] {
        refused(&long_table(&header().i32(2, 8).i32(3, size).end()), words);
    }
    refused(&long_table(&page(TEXTS, |header| header)[..20]), words);
}

#[test]
fn chunks_lie_in_the_file_and_not_on_each_other() {
    let good = Chunk::of(page(TEXTS, |header| header));
    let who = Chunk::of(page(&["p", "p", "q", "q"], |header| header));
    let file = |chunk| table(4, &[("who", who.clone()), ("what", chunk)]);
    assert!(read(&file(good.clone())).is_ok());
    let words = "column `what` lies outside of the file, or where another one lies";
    for start in [-1, i64::MIN, 100_000, i64::MAX, 4, 10] {
        refused(&file(Chunk { start: Some(start), ..good.clone() }), words);
    }
    for length in [-1, 100_000, i64::MAX] {
        refused(&file(Chunk { length: Some(length), ..good.clone() }), words);
    }
}

#[test]
fn schemas_are_trees_that_are_not_deep() {
    let words = "the footer is damaged";
    let file = |nodes: &[Vec<u8>]| with_footer(b"PAR1".to_vec(), nodes, 0, &[]);
    // A group in a group, so often that going down ends the program.
    let mut deep = vec![node(b"a", Some(1)); 50_000];
    deep.push(node(b"a", None));
    refused(&file(&deep), words);
    // Room for two thousand million children.
    refused(&file(&[node(b"a", Some((1 << 31) - 1)), node(b"a", None)]), words);
    refused(&file(&[node(b"a", Some(-1)), node(b"a", None)]), words);
}

#[test]
fn the_decoder_gets_no_more_memory_than_there_may_be() {
    const LIMIT: u64 = 16 << 20;
    let file = |nodes: &[Vec<u8>]| with_footer(b"PAR1".to_vec(), nodes, 0, &[]);
    // Many columns, each of a few bytes.
    let mut wide = vec![node(b"s", Some(50_000))];
    wide.extend(vec![node(b"a", None); 50_000]);
    assert!(too_large(&file(&wide), LIMIT) > 30 << 20);
    // A long name that is copied for everything below it.
    let mut named = vec![node(b"s", Some(1)), node(&[b'n'; 20_000], Some(2000))];
    named.extend(vec![node(b"a", None); 2000]);
    assert!(too_large(&file(&named), LIMIT) > 40_000_000);
    // A page of a few bytes that becomes large.
    let (long, who) = ("x".repeat(40 << 20), page(TEXTS, |header| header));
    let packed = formats::gzip(&[&(40u32 << 20).to_le_bytes(), long.as_bytes()].concat(), 1);
    let about = Fields::default().i32(1, 1).i32(2, 0).i32(3, 3).i32(4, 3);
    let size = packed.len() as i64;
    let header = Fields::default().i32(1, 0).i32(2, (40 << 20) + 4).i32(3, size).of(5, about);
    let chunk = Chunk { codec: 2, ..Chunk::of([header.end(), packed].concat()) };
    let bomb = table(1, &[("who", Chunk::of(who)), ("what", chunk)]);
    assert!(too_large(&bomb, LIMIT) > 40 << 20);
}

/// Runs of which no header says in which list they are.
#[test]
fn lists_of_a_few_bytes_get_no_more_memory_than_there_may_be() {
    let options = ReadOptions::default().format(Some(Format::Parquet));
    let read = |items, pages, rows| {
        let file = one_list(items, pages, rows);
        read_dataset_from(&file[..], Path::new("x"), &options, &Budget::new(16 << 20))
    };
    assert_eq!(read(1000, 3, 1).unwrap().dropped.duplicates, 2999);
    for rows in [1, 1 << 40] {
        assert!(read(20_000, 10, rows).is_ok());
        let large = [((1 << 31) - 1, 1), (2_000_000, 1), (500_000, 1000), (1000, 20_000)];
        for (items, pages) in large {
            match read(items, pages, rows).unwrap_err() {
                Error::Memory { needed, .. } => assert!(needed > 16 << 20),
                other => panic!("{other}"),
            }
        }
    }
}

/// The decoder ends the program where it cannot make room for what a page promises.
#[test]
fn pages_do_not_promise_more_lengths_than_they_have_values() {
    let words = "a page of column `what` is damaged, or promises more than is there";
    let lengths: &[u8] = &[1; 4];
    for version in [1, 2] {
        let one = |count| long_table(&deltas(4, &[(count, lengths)], b"abac", version));
        let two = |prefixes, suffixes| {
            let lists = [(prefixes, &[0; 4][..]), (suffixes, lengths)];
            long_table(&deltas(4, &lists, b"abac", version))
        };
        for good in [one(4), two(4, 4)] {
            let input = read(&good).unwrap();
            assert_eq!((input.dataset.len(), input.dataset.item_count()), (2, 3), "{version}");
        }
        for count in [5, 1 << 31, 1 << 40, i64::MAX as u64] {
            refused(&one(count), words);
            refused(&two(count, 4), words);
            refused(&two(4, count), words);
        }
        // Negative for the decoder, which says so.
        assert!(read(&one(u64::MAX)).is_err());
    }
}

/// A dictionary's one long text in every row: a few rows at a time.
#[test]
fn long_texts_of_a_dictionary_are_read_with_little_memory() {
    let label = "x".repeat(1 << 18);
    let records = vec![vec![label]; 700];
    let file = formats::parquet_long(&records);
    assert!(file.len() < 2 << 20, "the text stands there once");
    let budget = Budget::new(64 << 20);
    let input = read_dataset_from(&file[..], Path::new("x"), &options(), &budget).unwrap();
    assert_eq!(input.dataset.len(), 700);
}

#[test]
fn whatever_a_writer_makes_is_read() {
    let records: Vec<_> = random::records(7, 3000, 200, 6.0);
    let all = records.iter().filter(|record| !record.is_empty()).count();
    for (number, properties) in formats::writer_properties().into_iter().enumerate() {
        for (name, file, options) in formats::parquet_layouts(&records, &properties) {
            let read = |progress: &Budget| {
                read_dataset_from(&file[..], Path::new(name), &options, progress)
            };
            for budget in [Budget::UNLIMITED, Budget::new(32 << 20)] {
                let input = read(&budget).unwrap_or_else(|e| panic!("{number} {name}: {e}"));
                assert_eq!(input.dataset.len(), all, "{number} {name}");
            }
        }
    }
}
