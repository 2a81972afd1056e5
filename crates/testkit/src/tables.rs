//! Arrow tables of any kind, valid by themselves: lists, long and wide
//! tables, with holes, dictionaries and slices.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, Int64Array, LargeStringArray, RecordBatch, StringArray, StringViewArray,
};
use arrow_schema::{DataType, Field, Schema};

use crate::choices::Choices;

/// Batches of one schema that `bytes` choose, and whether they are a list, a
/// long or a wide table by the number of columns.
pub fn batches(bytes: &[u8]) -> (Arc<Schema>, Vec<RecordBatch>) {
    let choices = &mut Choices::new(bytes);
    let kinds: Vec<u8> = (0..1 + choices.below(3)).map(|_| choices.byte() % 6).collect();
    let names = ["who", "what", "more"];
    let fields: Vec<Field> =
        kinds.iter().zip(names).map(|(kind, name)| Field::new(name, of(*kind), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let mut batches = Vec::new();
    while batches.len() < 4 && (batches.is_empty() || choices.left()) {
        let rows = choices.below(20);
        let columns = kinds.iter().map(|kind| column(*kind, rows, choices)).collect();
        let Ok(batch) = RecordBatch::try_new(schema.clone(), columns) else { break };
        let from = choices.below(rows + 1);
        batches.push(if choices.once_in(3) { batch.slice(from, rows - from) } else { batch });
    }
    (schema, batches)
}

fn of(kind: u8) -> DataType {
    let text = |kind: DataType| DataType::List(Arc::new(Field::new("item", kind, true)));
    match kind {
        0 => DataType::Utf8,
        1 => DataType::LargeUtf8,
        2 => DataType::Utf8View,
        3 => DataType::Int64,
        4 => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
        _ => text(DataType::Utf8),
    }
}

fn cell(choices: &mut Choices) -> Option<&'static str> {
    const TEXTS: [&str; 8] = ["a", "b", "", " ", "ä\u{301}", "7", "a b", "\0"];
    let at = choices.below(TEXTS.len() + 2);
    TEXTS.get(at).copied()
}

fn column(kind: u8, rows: usize, choices: &mut Choices) -> ArrayRef {
    let mut cells = || (0..rows).map(|_| cell(choices)).collect::<Vec<_>>();
    match kind {
        0 => Arc::new(StringArray::from(cells())),
        1 => Arc::new(LargeStringArray::from(cells())),
        2 => Arc::new(StringViewArray::from_iter(cells())),
        3 => {
            let number = |_| (!choices.once_in(8)).then(|| i64::from(choices.byte() as i8));
            Arc::new((0..rows).map(number).collect::<Int64Array>())
        }
        4 => {
            let mut builder = StringDictionaryBuilder::<Int32Type>::new();
            cells().into_iter().for_each(|cell| builder.append_option(cell));
            Arc::new(builder.finish())
        }
        _ => {
            let mut builder = ListBuilder::new(StringBuilder::new());
            for _ in 0..rows {
                let length = choices.below(4);
                (0..length).for_each(|_| builder.values().append_option(cell(choices)));
                builder.append(!choices.once_in(8));
            }
            Arc::new(builder.finish())
        }
    }
}
