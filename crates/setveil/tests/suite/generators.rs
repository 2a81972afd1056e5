//! Made-up data has the shape that was asked for, and is the same for the same seed.

use setveil::Dataset;
use setveil::generate::{QueryLog, QueryLogParameters, Quest, QuestParameters};
use setveil::io::{ReadOptions, read_dataset, write_query_log, write_quest};

fn quest(parameters: &QuestParameters, seed: u64) -> Vec<Vec<u32>> {
    let mut quest = Quest::new(parameters, seed).unwrap();
    let mut records = Vec::new();
    while let Some(record) = quest.next_record() {
        records.push(record.to_vec());
    }
    records
}

#[test]
fn quest_has_its_shape_and_depends_on_the_seed_alone() {
    let parameters = QuestParameters::default().records(20_000).items(500);
    let records = quest(&parameters, 1);
    assert_eq!(records, quest(&parameters, 1));
    assert_ne!(records, quest(&parameters, 2));
    assert_eq!(records.len(), 20_000);
    assert!(
        records
            .iter()
            .all(|r| !r.is_empty() && r.is_sorted_by(|a, b| a < b) && *r.last().unwrap() < 500)
    );
    let mean = records.iter().map(Vec::len).sum::<usize>() as f64 / records.len() as f64;
    assert!((mean - 10.0).abs() < 0.5, "mean length {mean}");
}

#[test]
fn quest_patterns_occur_together() {
    // With few patterns, the most frequent pair is far more frequent than chance.
    let parameters = QuestParameters::default().records(5_000).items(400).patterns(20);
    let data = Dataset::from_records(
        quest(&parameters, 3).iter().map(|r| r.iter().map(u32::to_string).collect::<Vec<_>>()),
    );
    let supports = data.supports();
    let mut pairs = std::collections::BTreeMap::new();
    for record in data.records() {
        for (i, a) in record.iter().enumerate() {
            record[i + 1..].iter().for_each(|b| *pairs.entry((*a, *b)).or_insert(0u32) += 1);
        }
    }
    let lift = |(&(a, b), &n): (&(u32, u32), &u32)| {
        f64::from(n) * data.len() as f64
            / f64::from(supports[a as usize])
            / f64::from(supports[b as usize])
    };
    let best = pairs.iter().filter(|p| *p.1 > 100).map(lift).fold(0.0, f64::max);
    assert!(best > 3.0, "lift {best}");
}

#[test]
fn parameters_that_mean_nothing_are_refused() {
    let good = QuestParameters::default();
    for bad in [
        good.clone().items(0),
        good.clone().patterns(0),
        good.clone().mean_length(f64::NAN),
        good.clone().mean_length(1e9),
        good.clone().pattern_length(0.0),
        good.clone().correlation(-0.1),
    ] {
        assert!(Quest::new(&bad, 1).is_err(), "{bad:?}");
    }
    // As small as it gets.
    let tiny = QuestParameters::default()
        .records(5)
        .items(1)
        .mean_length(1.0)
        .patterns(1)
        .pattern_length(1.0)
        .correlation(1.0);
    assert_eq!(quest(&tiny, 1), vec![vec![0]; 5]);
    let good = QueryLogParameters::default();
    for bad in [
        good.clone().distinct_queries(0),
        good.clone().mean_queries(0.0),
        good.clone().skew(f64::INFINITY),
    ] {
        assert!(QueryLog::new(&bad, 1).is_err(), "{bad:?}");
    }
}

#[test]
fn what_is_written_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let parameters = QuestParameters::default().records(500);
    let expected = Dataset::from_records(
        quest(&parameters, 9).iter().map(|r| r.iter().map(u32::to_string).collect::<Vec<_>>()),
    );
    for name in ["q.dat", "q.dat.gz", "q.dat.zst"] {
        let path = dir.path().join(name);
        let mut quest = Quest::new(&parameters, 9).unwrap();
        assert_eq!(write_quest(&mut quest, &path, false, &()).unwrap(), 500);
        assert!(matches!(
            write_quest(&mut quest, &path, false, &()),
            Err(setveil::Error::Exists { .. })
        ));
        assert_eq!(read_dataset(&path, &ReadOptions::default(), &()).unwrap().dataset, expected);
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 3);
}

#[test]
fn a_query_log_has_aols_columns_and_a_heavy_tail() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.tsv");
    let parameters = QueryLogParameters::default().users(3_000);
    let rows =
        write_query_log(&mut QueryLog::new(&parameters, 4).unwrap(), &path, false, &()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"));
    assert!(text.lines().all(|l| l.split('\t').count() == 5));
    assert_eq!(text.lines().count() as u64, rows + 1);
    let mean = rows as f64 / 3_000.0;
    assert!((mean / 24.7 - 1.0).abs() < 0.25, "mean {mean}");
    let options = ReadOptions::default().id(Some("AnonID".into())).item(Some("Query".into()));
    let data = read_dataset(&path, &options, &()).unwrap().dataset;
    assert_eq!(data.len(), 3_000);
    assert!(data.max_length() > 10 * data.mean_length() as usize, "longest {}", data.max_length());
    let supports = data.supports();
    let rare = supports.iter().filter(|&&s| s == 1).count();
    assert!(rare * 2 > supports.len(), "{rare} of {} queries occur once", supports.len());
}
