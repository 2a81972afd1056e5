//! A writer for every input format, as plain as can be.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use setveil::io::{Format, ReadOptions};

/// Records of labels.
pub type Records = [Vec<String>];

/// Items separated by blanks; the labels must not hold any.
pub fn fimi(records: &Records) -> Vec<u8> {
    records.iter().map(|r| r.join(" ") + "\n").collect::<String>().into_bytes()
}

/// Numbers with `-1` and `-2`, named in the header.
pub fn spmf(records: &Records) -> Vec<u8> {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for label in records.iter().flatten() {
        let next = numbers.len() + 1;
        numbers.entry(label).or_insert(next);
    }
    let mut text = "@CONVERTED_FROM_TEXT\n".to_owned();
    for (label, number) in &numbers {
        text += &format!("@ITEM={number}={label}\n");
    }
    for record in records {
        for label in record {
            text += &format!("{} -1 ", numbers[label.as_str()]);
        }
        text += "-2\n";
    }
    text.into_bytes()
}

fn quoted(label: &str) -> String {
    format!("\"{}\"", label.replace('"', "\"\""))
}

/// Quoted items separated by commas; the labels must not hold a line end.
pub fn basket_csv(records: &Records) -> Vec<u8> {
    let line = |r: &Vec<String>| r.iter().map(|l| quoted(l)).collect::<Vec<_>>().join(",") + "\n";
    records.iter().map(line).collect::<String>().into_bytes()
}

/// Columns `who` and `what`, and one between that nobody asks for. `order`
/// permutes the rows.
pub fn long_csv(records: &Records, order: impl FnOnce(&mut Vec<(usize, String)>)) -> Vec<u8> {
    let mut rows: Vec<(usize, String)> = Vec::new();
    for (person, record) in records.iter().enumerate() {
        rows.extend(record.iter().map(|l| (person, l.clone())));
    }
    order(&mut rows);
    let mut text = "who,when,what\n".to_owned();
    for (person, label) in rows {
        text += &format!("p{person},today,{}\n", quoted(&label));
    }
    text.into_bytes()
}

/// Arrays of texts.
pub fn jsonl(records: &Records) -> Vec<u8> {
    let mut bytes = Vec::new();
    for record in records {
        serde_json::to_writer(&mut bytes, record).expect("texts are JSON");
        bytes.push(b'\n');
    }
    bytes
}

/// One array of arrays of texts.
pub fn json(records: &Records) -> Vec<u8> {
    serde_json::to_vec_pretty(records).expect("texts are JSON")
}

/// Objects with the texts in `what`.
pub fn jsonl_objects(records: &Records) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (i, record) in records.iter().enumerate() {
        let object = serde_json::json!({ "n": [i, [i]], "what": record, "x": null });
        serde_json::to_writer(&mut bytes, &object).expect("texts are JSON");
        bytes.push(b'\n');
    }
    bytes
}

/// A column `what` of lists.
pub fn parquet_lists(records: &Records) -> Vec<u8> {
    parquet(lists(records))
}

/// Columns `what` and `who`, one row an item.
pub fn parquet_long(records: &Records) -> Vec<u8> {
    parquet(long(records))
}

fn lists(records: &Records) -> Vec<(&'static str, ArrayRef)> {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for record in records {
        record.iter().for_each(|label| lists.values().append_value(label));
        lists.append(true);
    }
    let numbers = Int64Array::from_iter_values(0..records.len() as i64);
    vec![("n", Arc::new(numbers)), ("what", Arc::new(lists.finish()))]
}

fn long(records: &Records) -> Vec<(&'static str, ArrayRef)> {
    let rows = || records.iter().enumerate().flat_map(|(p, r)| r.iter().map(move |l| (p, l)));
    let labels = StringArray::from_iter_values(rows().map(|(_, label)| label));
    let persons = Int64Array::from_iter_values(rows().map(|(person, _)| person as i64));
    vec![("what", Arc::new(labels)), ("who", Arc::new(persons))]
}

/// As [`long`], with a row without an item and one without a person.
fn long_with_nulls(records: &Records) -> Vec<(&'static str, ArrayRef)> {
    let rows = records.iter().enumerate().flat_map(|(p, r)| r.iter().map(move |l| (p, l)));
    let row = |(person, label): (usize, &String)| (Some(person as i64), Some(label.clone()));
    let nulls = [(None, Some("x".to_owned())), (Some(0), None)];
    let (persons, labels): (Vec<_>, Vec<_>) = rows.map(row).chain(nulls).unzip();
    let (persons, labels) = (Int64Array::from(persons), StringArray::from(labels));
    vec![("what", Arc::new(labels)), ("who", Arc::new(persons))]
}

/// A Parquet file of these columns.
pub fn parquet(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    parquet_with(columns, &WriterProperties::default())
}

fn parquet_with(columns: Vec<(&str, ArrayRef)>, properties: &WriterProperties) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.clone()))
        .expect("a plain schema");
    writer.write(&batch).expect("writing to memory cannot fail");
    writer.close().expect("writing to memory cannot fail");
    bytes
}

/// What a writer of Parquet can be told, in many combinations.
pub fn writer_properties() -> Vec<WriterProperties> {
    use parquet::basic::{Compression, Encoding};
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(Default::default()),
    ];
    let mut all = Vec::new();
    for (i, codec) in codecs.into_iter().enumerate() {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for (dictionary, small) in [(true, false), (true, true), (false, false), (false, true)]
            {
                let mut made = WriterProperties::builder()
                    .set_compression(codec)
                    .set_writer_version(version)
                    .set_dictionary_enabled(dictionary)
                    .set_bloom_filter_enabled(i % 2 == 0)
                    .set_statistics_enabled(STATISTICS[all.len() % STATISTICS.len()])
                    .set_write_page_header_statistics(small);
                if small {
                    // Several groups, many pages, and a dictionary that is given up.
                    made = made
                        .set_max_row_group_row_count(Some(700))
                        .set_data_page_row_count_limit(50)
                        .set_write_batch_size(10)
                        .set_dictionary_page_size_limit(300);
                }
                if !dictionary && small {
                    made = made.set_column_encoding("what".into(), Encoding::DELTA_BYTE_ARRAY);
                }
                all.push(made.build());
            }
        }
    }
    all
}

const STATISTICS: [EnabledStatistics; 3] =
    [EnabledStatistics::Page, EnabledStatistics::Chunk, EnabledStatistics::None];

/// Parquet files as `properties` say: a name, the bytes, and how to read them. All leave out empty records.
pub fn parquet_layouts(
    records: &Records,
    properties: &WriterProperties,
) -> Vec<(&'static str, Vec<u8>, ReadOptions)> {
    let options = as_format(Format::Parquet);
    let named = options.clone().id(Some("who".into())).item(Some("what".into()));
    let file = |columns| parquet_with(columns, properties);
    vec![
        ("lists", file(lists(records)), options),
        ("long", file(long(records)), named.clone()),
        ("nulls", file(long_with_nulls(records)), named.skip_bad_lines(true)),
    ]
}

/// Every layout: a file name, the bytes, and how to read them. Long tables
/// leave out empty records, the others keep them.
pub fn every_layout(records: &Records) -> Vec<(&'static str, Vec<u8>, ReadOptions)> {
    let named = |id: Option<&str>, item: Option<&str>| {
        ReadOptions::default().id(id.map(str::to_owned)).item(item.map(str::to_owned))
    };
    vec![
        ("data.spmf", spmf(records), named(None, None)),
        ("data.csv", basket_csv(records), named(None, None)),
        ("long.csv", long_csv(records, |_| {}), named(Some("who"), Some("what"))),
        ("data.jsonl", jsonl(records), named(None, None)),
        ("data.json", json(records), named(None, None)),
        ("objects.jsonl", jsonl_objects(records), named(None, Some("what"))),
        ("lists.parquet", parquet_lists(records), named(None, None)),
        ("named.parquet", parquet_lists(records), named(None, Some("what"))),
        ("long.parquet", parquet_long(records), named(Some("who"), Some("what"))),
    ]
}

/// Options for reading as `format`.
pub fn as_format(format: Format) -> ReadOptions {
    ReadOptions::default().format(Some(format))
}

/// Compressed with gzip, as several members.
pub fn gzip(bytes: &[u8], members: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for part in bytes.chunks(bytes.len() / members.max(1) + 1) {
        let mut gz = flate2::write::GzEncoder::new(&mut out, flate2::Compression::fast());
        gz.write_all(part).expect("writing to memory cannot fail");
        gz.finish().expect("writing to memory cannot fail");
    }
    out
}

/// Compressed with zstd.
pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("writing to memory cannot fail")
}
