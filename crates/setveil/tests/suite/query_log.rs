//! The query-log path of partition-2009, section 6: AOL's layout as queries
//! and as nouns, with the alphabetical and the WordNet hierarchy.

use std::path::{Path, PathBuf};

use setveil::data::K;
use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::io::{Format, ReadOptions, parse_dataset, read_wordnet};
use setveil::methods::{partition, suppress_rare};
use setveil::verify::verify;

const LOG: &str = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n\
    7\tCorgi Dogs\t2006-03-01 07:17:12\t\t\n\
    7\tcorgi dogs\t2006-03-02 07:17:12\t1\thttp://www.example.org\n\
    7\tflat bread \"recipe\"\t2006-03-02 07:18:12\t\t\n\
    9\t-\t2006-03-02 07:18:12\t\t\n\
    AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n\
    9\tthe welsh town\t2006-03-02 07:18:12\t\t\n";

fn options(wordnet: Option<PathBuf>) -> ReadOptions {
    ReadOptions::default().format(Some(Format::Aol)).wordnet(wordnet)
}

fn made_up() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wordnet")
}

#[test]
fn queries_are_lower_case_and_once_per_user() {
    let input = parse_dataset(Path::new("log.txt"), LOG.as_bytes(), &options(None)).unwrap();
    let labels = input.dataset.vocabulary();
    let records: Vec<Vec<String>> = input.dataset.records().map(|r| labels.texts(r)).collect();
    assert_eq!(records, [vec!["corgi dogs", "flat bread \"recipe\""], vec!["the welsh town"]]);
    assert_eq!((input.dropped.duplicates, input.dropped.blank_items), (1, 1));
}

#[test]
fn nouns_are_found_in_queries() {
    let input =
        parse_dataset(Path::new("log.txt"), LOG.as_bytes(), &options(Some(made_up()))).unwrap();
    let labels = input.dataset.vocabulary();
    let records: Vec<Vec<String>> = input.dataset.records().map(|r| labels.texts(r)).collect();
    assert_eq!(records, [vec!["corgi", "dog", "flat bread"], vec!["welsh town"]]);
}

#[test]
fn what_is_no_query_log_is_refused_with_its_line() {
    for (text, word) in [
        ("user\tquery\n1\ta\n", "log.txt:1: the first line has no column `AnonID`"),
        ("AnonID\tQuery\n1\ta\njust text\n", "log.txt:3: the row has no user or no query"),
    ] {
        let error = parse_dataset(Path::new("log.txt"), text.as_bytes(), &options(None));
        let error = error.unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    let skip = options(None).skip_bad_lines(true);
    let text = "AnonID\tQuery\n1\ta\njust text\n";
    let input = parse_dataset(Path::new("log.txt"), text.as_bytes(), &skip).unwrap();
    assert_eq!((input.dataset.len(), input.skipped_lines), (1, 1));
}

#[test]
fn a_noun_has_one_sense_and_one_parent() {
    let tree = read_wordnet(&made_up()).unwrap().hierarchy(|_| true).unwrap();
    let paths: Vec<String> = tree.paths().map(|p| p.join(";")).collect();
    for path in [
        "corgi;corgi#00000400;dog#00000300;animal#00000200;thing#00000100;*",
        "dog;dog#00000300;animal#00000200;thing#00000100;*",
        "welsh town;welsh town#00000700;thing#00000100;*",
        "thing;thing#00000100;*",
    ] {
        assert!(paths.iter().any(|p| p == path), "{path} in {paths:#?}");
    }
    assert_eq!(tree.leaf_count(0), 7);
    let nouns = read_wordnet(&made_up()).unwrap();
    assert!(nouns.hierarchy(|_| false).is_err());
    assert_eq!([nouns.noun("dogs"), nouns.noun("cats")], [Some("dog"), None]);
}

#[test]
fn the_real_wordnet_is_a_tree() {
    let Some(dir) = std::env::var_os("SETVEIL_WORDNET") else {
        #[allow(clippy::print_stderr)]
        {
            eprintln!("skipped: SETVEIL_WORDNET names no directory of WordNet's database files");
        }
        return;
    };
    let tree = read_wordnet(Path::new(&dir)).unwrap().hierarchy(|_| true).unwrap();
    assert_eq!(tree.children(0).len(), 1);
    assert_eq!(tree.label(tree.children(0)[0]), "entity#00001740");
    assert!(tree.leaf_count(0) > 100_000);
}

#[test]
fn generalizing_queries_keeps_more_than_removing_rare_ones() {
    // 300 users over 400 queries, popular ones first.
    let mut log = String::from("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n");
    for user in 0..300u32 {
        for i in 0..6u32 {
            let x = (user * 7919 + i * 104_729) % 1000;
            log += &format!("{user}\tquery {:03}\t\t\t\n", x * x / 2500);
        }
    }
    let input = parse_dataset(Path::new("log.txt"), log.as_bytes(), &options(None)).unwrap();
    let tree = balanced(input.dataset.vocabulary(), 5, LeafOrder::Alphabetical).unwrap();
    let k = K::new(10).unwrap();
    let parameters = partition::Parameters::new(k, tree);
    let outcome = partition::run(&input.dataset, &parameters, &()).unwrap();
    assert!(verify(&outcome.release, &()).unwrap().holds);
    let removed =
        suppress_rare::run(&input.dataset, &suppress_rare::Parameters::new(k), &()).unwrap();
    let lost = removed.occurrences_dropped as f64 / input.dataset.occurrences().len() as f64;
    assert!(outcome.ncp < lost, "{} {lost}", outcome.ncp);
}
