//! A release as Arrow tables: what the rows say is what the release says.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use setveil::Dataset;
use setveil::data::{K, M, Vocabulary};
use setveil::io::{ClusterBlocks, MemoryRelease, ReleaseBatches, write_release_to};
use setveil::methods::disassociation;
use setveil::release::{Bag, Body, Cluster, Leaf, Located, Release};
use testkit::random;

use crate::release_directory::{bodies, manifest};

/// One row as plain values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    number: Option<u64>,
    path: Vec<u32>,
    size: Option<u32>,
    kind: String,
    chunk: u32,
    items: Vec<String>,
    count: Option<u64>,
}

fn rows(batch: &RecordBatch) -> Vec<Row> {
    let column = |name: &str| batch.column_by_name(name);
    let number = batch.column(0).as_primitive::<UInt64Type>();
    let items = column("items").unwrap().as_list::<i32>();
    let counts = column("count").unwrap();
    let count = |i: usize| match counts.as_primitive_opt::<UInt32Type>() {
        Some(narrow) => u64::from(narrow.value(i)),
        None => counts.as_primitive::<UInt64Type>().value(i),
    };
    let uint = |name: &str, i: usize| {
        let column = column(name)?.as_primitive::<UInt32Type>();
        column.is_valid(i).then(|| column.value(i))
    };
    (0..batch.num_rows())
        .map(|i| {
            let list = items.value(i);
            let dictionary = list.as_dictionary::<Int32Type>();
            let labels = dictionary.values().as_string::<i32>();
            Row {
                number: number.is_valid(i).then(|| number.value(i)),
                path: column("path").map_or(vec![], |path| {
                    path.as_list::<i32>().value(i).as_primitive::<UInt32Type>().values().to_vec()
                }),
                size: uint("size", i),
                kind: column("kind").map_or(String::new(), |kind| {
                    let kind = kind.as_dictionary::<Int8Type>();
                    kind.values().as_string::<i32>().value(kind.key(i).unwrap()).to_owned()
                }),
                chunk: uint("chunk", i).unwrap_or(0),
                items: (0..list.len())
                    .map(|j| labels.value(dictionary.key(j).unwrap()).to_owned())
                    .collect(),
                count: counts.is_valid(i).then(|| count(i)),
            }
        })
        .collect()
}

fn all_rows(body: &Body, batch: usize) -> Vec<Row> {
    let mut all = Vec::new();
    for part in ReleaseBatches::new(body, batch).unwrap() {
        let part = part.unwrap();
        assert!(part.num_rows() > 0 && part.num_rows() <= batch);
        all.extend(rows(&part));
    }
    all
}

fn disassociated() -> Release {
    let records = random::records(8, 300, 25, 4.0);
    let parameters = disassociation::Parameters::new(K::new(3).unwrap(), M::new(2).unwrap());
    disassociation::anonymize(&Dataset::from_records(&records), &parameters, &()).unwrap()
}

/// The cluster that `path` leads to.
fn below<'a>(cluster: &'a Cluster, path: &[u32]) -> &'a Cluster {
    path.iter().fold(cluster, |cluster, &i| &cluster.children()[i as usize])
}

fn leaves(cluster: &Cluster) -> usize {
    cluster.leaves().len()
}

#[test]
fn the_rows_of_clusters_are_their_chunks() {
    for body in [bodies().swap_remove(0), disassociated().body] {
        let Body::Disassociated(clusters) = &body else { unreachable!() };
        let texts = |bag: &Bag| -> Vec<(Vec<String>, u64)> {
            let text =
                |(items, count): (&[u32], u32)| (clusters.vocabulary.texts(items), count.into());
            bag.iter().map(text).collect()
        };
        let all = all_rows(&body, 1 << 16);
        for batch in [1, 7] {
            assert_eq!(all_rows(&body, batch), all);
        }
        type Counted = Vec<(Vec<String>, u64)>;
        let mut chunks: BTreeMap<(u64, Vec<u32>, u32), Counted> = BTreeMap::new();
        let mut terms = 0;
        for row in &all {
            let cluster = below(&clusters.clusters[row.number.unwrap() as usize], &row.path);
            assert_eq!(row.size, Some(cluster.size()));
            match (cluster, row.kind.as_str()) {
                (Cluster::Simple(simple), "term") => {
                    assert_eq!(row.items, clusters.vocabulary.texts(&simple.term_chunk));
                    assert_eq!(row.count, None);
                    terms += 1;
                }
                (Cluster::Simple(_), "record") | (Cluster::Joint(_), "shared") => {
                    let chunk = chunks
                        .entry((row.number.unwrap(), row.path.clone(), row.chunk))
                        .or_default();
                    chunk.push((row.items.clone(), row.count.unwrap()));
                }
                other => panic!("{other:?}"),
            }
        }
        for ((number, path, chunk), rows) in &chunks {
            let cluster = below(&clusters.clusters[*number as usize], path);
            assert_eq!(*rows, texts(&cluster.chunks()[*chunk as usize]));
        }
        // Nothing is missing: all chunks of all clusters, and one term row a leaf.
        fn count(cluster: &Cluster) -> usize {
            cluster.chunks().len() + cluster.children().iter().map(count).sum::<usize>()
        }
        assert_eq!(chunks.len(), clusters.clusters.iter().map(count).sum::<usize>());
        assert_eq!(terms, clusters.clusters.iter().map(leaves).sum::<usize>());
    }
}

#[test]
fn classes_and_groups_have_rows_too() {
    let mut all = bodies();
    let Body::Grouped(groups) = &all[3] else { unreachable!() };
    let rows = all_rows(&all[3], 2);
    for (number, group) in groups.groups.iter().enumerate() {
        let own: Vec<&Row> = rows.iter().filter(|r| r.number == Some(number as u64)).collect();
        let records: u64 = own.iter().filter(|r| r.kind == "record").filter_map(|r| r.count).sum();
        assert_eq!(records, u64::from(group.size), "every record is in some row");
        let sensitive = own.iter().filter(|r| r.kind == "sensitive").map(|r| r.count.unwrap());
        assert!(sensitive.eq(group.sensitive.iter().map(|s| u64::from(s.1))));
        assert!(own.iter().all(|r| r.size == Some(group.size)));
    }
    let Body::Generalized(classes) = all.swap_remove(1) else { unreachable!() };
    let expected: Vec<(Vec<String>, u64)> =
        classes.classes.iter().map(|(i, c)| (classes.vocabulary.texts(i), c.into())).collect();
    let rows = all_rows(&Body::Generalized(classes), 2);
    let found: Vec<(Vec<String>, u64)> =
        rows.into_iter().map(|r| (r.items, r.count.unwrap())).collect();
    assert_eq!(found, expected);
}

#[test]
fn leaves_have_rows_and_totals_come_last() {
    let body = Located {
        vocabulary: Vocabulary::new(["a", "b", "c", "d"]),
        leaves: vec![
            Leaf {
                size: 5,
                kept: Bag::from_counted([(&[0, 1][..], 2), (&[1], 1)]),
                counted: vec![(2, 3)],
                listed: vec![3],
            },
            Leaf { size: 2, kept: Bag::from_counted([(&[0][..], 2)]), ..Leaf::default() },
        ],
        totals: vec![(3, 1 << 40)],
    };
    let row = |number, size, kind: &str, items: &[&str], count| Row {
        number,
        path: vec![],
        size,
        kind: kind.into(),
        chunk: 0,
        items: items.iter().map(|i| (*i).to_owned()).collect(),
        count,
    };
    let expected = [
        row(Some(0), Some(5), "kept", &[], Some(2)),
        row(Some(0), Some(5), "kept", &["a", "b"], Some(2)),
        row(Some(0), Some(5), "kept", &["b"], Some(1)),
        row(Some(0), Some(5), "counted", &["c"], Some(3)),
        row(Some(0), Some(5), "listed", &["d"], None),
        row(Some(1), Some(2), "kept", &["a"], Some(2)),
        row(Some(1), Some(2), "listed", &[], None),
        row(None, None, "total", &["d"], Some(1 << 40)),
    ];
    let body = Body::Located(body);
    for batch in [1, 3, 100] {
        assert_eq!(all_rows(&body, batch), expected);
    }
}

#[test]
fn the_rows_of_blocks_are_those_of_the_whole() {
    let release = disassociated();
    let mut memory = MemoryRelease::default();
    write_release_to(&release, &mut memory, &()).unwrap();
    let mut together = Vec::new();
    for block in ClusterBlocks::open(&memory, &()).unwrap().block_bytes(700) {
        let block = block.unwrap();
        for batch in ReleaseBatches::of_block(&block, 64).unwrap() {
            together.extend(rows(&batch.unwrap()));
        }
    }
    assert_eq!(together, all_rows(&release.body, 1 << 16));
    let empty = Release { manifest: manifest(0), body: Body::Disassociated(Default::default()) };
    assert_eq!(ReleaseBatches::new(&empty.body, 10).unwrap().count(), 0);
}
