//! Data from Arrow record batches: every form of a column says the same.

use std::sync::Arc;

use arrow_array::builder::{
    LargeListBuilder, LargeStringBuilder, ListBuilder, ListViewBuilder, StringBuilder,
    StringDictionaryBuilder, StringViewBuilder,
};
use arrow_array::types::{Int8Type, Int32Type, UInt16Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int8Array, Int16Array, Int32Array, Int64Array,
    LargeStringArray, RecordBatch, RecordBatchIterator, StringArray, StringViewArray, UInt8Array,
    UInt16Array, UInt32Array, UInt64Array,
};
use setveil::data::{ArrowInput, ArrowOptions, Nulls};
use setveil::{Dataset, Error};

const RECORDS: [&[&str]; 5] =
    [&["milk", "bread"], &[], &[" milk ", "milk", ""], &["bread", "wine", "a long label"], &["x"]];

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

fn from(batches: Vec<RecordBatch>, options: &ArrowOptions) -> setveil::Result<ArrowInput> {
    let schema = batches[0].schema();
    let stream = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    Dataset::from_arrow(stream, options, &())
}

fn named(id: Option<&str>, item: Option<&str>) -> ArrowOptions {
    let name = |name: Option<&str>| name.map(str::to_owned);
    ArrowOptions::default().id(name(id)).item(name(item))
}

fn expected() -> Dataset {
    let items = RECORDS.iter().map(|r| r.iter().map(|i| i.trim()).filter(|i| !i.is_empty()));
    Dataset::from_records(items.map(|r| r.collect::<Vec<_>>()).filter(|r| !r.is_empty()))
}

/// The records as lists of every kind.
fn lists() -> Vec<(&'static str, ArrayRef)> {
    macro_rules! build {
        ($builder:expr) => {{
            let mut lists = $builder;
            for record in RECORDS {
                record.iter().for_each(|item| lists.values().append_value(item));
                lists.append(true);
            }
            Arc::new(lists.finish()) as ArrayRef
        }};
    }
    let mut dictionary = ListBuilder::new(StringDictionaryBuilder::<Int8Type>::new());
    for record in RECORDS {
        record.iter().for_each(|item| dictionary.values().append_value(item));
        dictionary.append(true);
    }
    vec![
        ("list", build!(ListBuilder::new(StringBuilder::new()))),
        ("large list", build!(LargeListBuilder::new(LargeStringBuilder::new()))),
        ("list of views", build!(ListBuilder::new(StringViewBuilder::new()))),
        ("list view", build!(ListViewBuilder::new(StringBuilder::new()))),
        ("dictionary in lists", Arc::new(dictionary.finish())),
    ]
}

#[test]
fn every_kind_of_list() {
    for (name, column) in lists() {
        let input = from(vec![batch(vec![("what", column.clone())])], &named(None, None)).unwrap();
        assert_eq!(input.dataset, expected(), "{name}");
        let dropped = input.dropped;
        assert_eq!((dropped.duplicates, dropped.blank_items, dropped.empty_records), (1, 1, 1));
        // The same in slices, one batch each.
        let part = |at: usize| batch(vec![("what", column.slice(at, 1))]);
        let parts = (0..RECORDS.len()).map(part).collect();
        let sliced = from(parts, &named(None, Some("what"))).unwrap();
        assert_eq!((sliced.dataset, sliced.dropped), (expected(), dropped), "{name} in slices");
    }
}

/// Persons and items of a long table, in an order of its own.
const ROWS: [(&str, &str); 7] = [
    ("u2", "bread"),
    ("u1", "milk"),
    ("u2", "milk"),
    ("u3", " "),
    ("u1", " milk"),
    ("u4", "wine"),
    ("u2", "wine"),
];

#[test]
fn every_kind_of_text_in_a_long_table() {
    let texts = |pick: fn(&(&'static str, &'static str)) -> &'static str| -> Vec<ArrayRef> {
        let texts: Vec<&str> = ROWS.iter().map(pick).collect();
        let dictionary: DictionaryArray<UInt16Type> = texts.iter().copied().collect();
        let bytes: Vec<&[u8]> = texts.iter().map(|t| t.as_bytes()).collect();
        vec![
            Arc::new(StringArray::from(texts.clone())),
            Arc::new(LargeStringArray::from(texts.clone())),
            Arc::new(StringViewArray::from(texts.clone())),
            Arc::new(dictionary),
            Arc::new(arrow_array::BinaryArray::from(bytes.clone())),
            Arc::new(arrow_array::LargeBinaryArray::from(bytes)),
        ]
    };
    let data = Dataset::from_records([vec!["bread", "milk", "wine"], vec!["milk"], vec!["wine"]]);
    for id in texts(|row| row.0) {
        for item in texts(|row| row.1) {
            let columns = || vec![("id", id.clone()), ("item", item.clone())];
            let input = from(vec![batch(columns())], &named(Some("id"), Some("item"))).unwrap();
            assert_eq!(input.dataset, data, "{} {}", id.data_type(), item.data_type());
            assert_eq!((input.dropped.duplicates, input.dropped.empty_records), (1, 1));
            let whole = batch(columns());
            let halves = vec![whole.slice(0, 3), whole.slice(3, 4)];
            let halves = from(halves, &named(Some("id"), Some("item"))).unwrap();
            assert_eq!((halves.dataset, halves.dropped), (data.clone(), input.dropped));
        }
    }
}

#[test]
fn whole_numbers_of_every_width() {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int8Array::from(vec![7, -8])),
        Arc::new(Int16Array::from(vec![7, -8])),
        Arc::new(Int32Array::from(vec![7, -8])),
        Arc::new(Int64Array::from(vec![7, -8])),
    ];
    for item in columns {
        let id: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX, 0]));
        let table = batch(vec![("id", id), ("item", item)]);
        let data = from(vec![table], &named(Some("id"), Some("item"))).unwrap().dataset;
        assert_eq!(data, Dataset::from_records([["7"], ["-8"]]));
    }
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt8Array::from(vec![255])),
        Arc::new(UInt16Array::from(vec![255])),
        Arc::new(UInt32Array::from(vec![255])),
        Arc::new(UInt64Array::from(vec![255])),
    ];
    for item in columns {
        let table = batch(vec![("item", item)]);
        let items = Some(vec!["item".to_owned()]);
        let data = from(vec![table], &ArrowOptions::default().items(items)).unwrap();
        assert_eq!(data.dataset, Dataset::from_records([["255"]]));
    }
}

#[test]
fn wide_tables_with_an_id() {
    let text = |texts: [Option<&str>; 3]| Arc::new(StringArray::from(texts.to_vec())) as ArrayRef;
    let table = || {
        batch(vec![
            ("dx1", text([Some("a"), Some("b"), None])),
            ("id", text([Some("p1"), Some("p2"), Some("p1")])),
            ("dx2", text([None, Some("c"), Some("d")])),
        ])
    };
    let all = from(vec![table()], &named(Some("id"), None)).unwrap();
    assert_eq!(all.dataset, Dataset::from_records([["a", "d"], ["b", "c"]]));
    assert_eq!(all.dropped.blank_items, 2);
    let items = Some(vec!["dx2".to_owned()]);
    let one = from(vec![table()], &named(Some("id"), None).items(items)).unwrap();
    assert_eq!(one.dataset, Dataset::from_records([["d"], ["c"]]));
}

#[test]
fn missing_cells_are_refused_left_out_or_skipped_and_counted() {
    let mut lists = ListBuilder::new(StringBuilder::new());
    lists.values().append_value("a");
    lists.values().append_null();
    lists.append(true);
    lists.append(false);
    lists.values().append_value("b");
    lists.append(true);
    let table = batch(vec![("what", Arc::new(lists.finish()))]);
    let refused = from(vec![table.clone()], &named(None, None)).unwrap_err();
    assert!(matches!(refused, Error::Table { row: Some(1), .. }), "{refused}");
    assert!(refused.to_string().contains("row 1: an empty cell (null)"), "{refused}");
    let out = named(None, None).nulls(Nulls::LeaveOut);
    let out = from(vec![table.clone()], &out).unwrap();
    assert_eq!(out.dataset, Dataset::from_records([["a"], ["b"]]));
    assert_eq!((out.dropped.blank_items, out.dropped.empty_records, out.skipped_rows), (1, 1, 0));
    let skip = named(None, None).skip_bad_rows(true);
    let skip = from(vec![table], &skip).unwrap();
    assert_eq!(skip.dataset, Dataset::from_records([["b"]]));
    assert_eq!((skip.dropped.empty_records, skip.skipped_rows), (1, 1));
}

#[test]
fn nulls_in_the_dictionary_and_in_its_keys() {
    let values = StringArray::from(vec![Some("a"), None, Some("never")]);
    let keys = Int32Array::from(vec![Some(0), Some(1), None, Some(0)]);
    let items = DictionaryArray::<Int32Type>::new(keys, Arc::new(values));
    let ids = StringArray::from(vec!["p", "p", "q", "q"]);
    let table = batch(vec![("id", Arc::new(ids)), ("item", Arc::new(items))]);
    let names = || named(Some("id"), Some("item"));
    assert!(from(vec![table.clone()], &names()).is_err());
    let skip = names().skip_bad_rows(true);
    let input = from(vec![table.clone()], &skip).unwrap();
    // A value that no row has is in no vocabulary.
    assert_eq!(input.dataset, Dataset::from_records([["a"], ["a"]]));
    assert_eq!(input.skipped_rows, 2);
    let empty = table.slice(1, 2);
    let out = names().nulls(Nulls::LeaveOut);
    let input = from(vec![empty], &out).unwrap();
    assert!(input.dataset.is_empty());
    assert_eq!((input.dropped.blank_items, input.dropped.empty_records), (2, 2));
}

#[test]
fn columns_that_are_not_there_or_of_the_wrong_type() {
    let floats: ArrayRef = Arc::new(arrow_array::Float64Array::from(vec![1.5]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    let table = || batch(vec![("price", floats.clone()), ("item", texts.clone())]);
    for (options, word) in [
        (named(None, None), "0 columns hold lists"),
        (named(None, Some("item")), "column `item` has the type Utf8"),
        (named(Some("item"), Some("price")), "column `price` has the type Float64"),
        (named(Some("who"), Some("item")), "there is no column `who`"),
        (named(Some("item"), None), "column `price` has the type Float64"),
    ] {
        let error = from(vec![table()], &options).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
        assert!(!error.contains("--"), "the library knows no flags: {error}");
    }
}

#[test]
fn a_stream_that_fails_and_a_caller_who_says_stop() {
    let table = batch(vec![("item", Arc::new(StringArray::from(vec!["a"])))]);
    let schema = table.schema();
    let broken = arrow_schema::ArrowError::ComputeError("the wire broke".into());
    let stream = RecordBatchIterator::new(vec![Ok(table.clone()), Err(broken)], schema.clone());
    let items = Some(vec!["item".to_owned()]);
    let options = ArrowOptions::default().items(items);
    let error = Dataset::from_arrow(stream, &options, &()).unwrap_err().to_string();
    assert!(error.contains("the wire broke"), "{error}");
    let stream = RecordBatchIterator::new(vec![Ok(table)], schema);
    let stopped = Dataset::from_arrow(stream, &options, &crate::bounds::StopAfter::new(0));
    assert!(matches!(stopped, Err(Error::Cancelled)));
}
