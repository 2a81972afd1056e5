//! Which columns of a table are read.

use arrow_schema::{DataType, Schema};

use super::ArrowOptions;
use crate::error::{Bad, Hint, Setting};

/// The columns, as numbers in a schema.
pub(crate) enum Layout {
    /// A column of lists.
    Lists(usize),
    /// Whose row it is, and the item.
    Long(usize, usize),
    /// Whose row it is, and the items.
    Wide(usize, Vec<usize>),
    /// The items of a row that is a record.
    Rows(Vec<usize>),
}

impl Layout {
    /// The columns that `options` name in `schema`.
    pub(crate) fn find(schema: &Schema, options: &ArrowOptions) -> Result<Self, Bad> {
        let column = |name: &str| {
            schema.index_of(name).map_err(|_| {
                let found = format!("there is no column `{name}`");
                Bad::new(found, format!("the columns are {}", columns(schema)))
            })
        };
        let text = |name: &str| {
            let column = column(name)?;
            check_text(schema, column).map(|()| column)
        };
        match (&options.id, &options.item, &options.items) {
            (_, Some(item), Some(_)) => Err(Bad::new(
                format!("`{item}` is to be the item, and other columns too"),
                Hint::of("give either {} or {}", &[Setting::Item, Setting::Items]),
            )),
            (Some(id), Some(item), None) => Ok(Self::Long(text(id)?, text(item)?)),
            (Some(id), None, Some(items)) => {
                let items = items.iter().map(|name| text(name)).collect::<Result<_, _>>()?;
                Ok(Self::Wide(text(id)?, items))
            }
            (Some(id), None, None) => {
                let id = text(id)?;
                let items: Vec<usize> = (0..schema.fields().len()).filter(|&c| c != id).collect();
                items.iter().try_for_each(|&c| check_text(schema, c))?;
                Ok(Self::Wide(id, items))
            }
            (None, None, Some(items)) => {
                Ok(Self::Rows(items.iter().map(|name| text(name)).collect::<Result<_, _>>()?))
            }
            (None, Some(item), None) => {
                let list = column(item)?;
                check_list(schema, list)?;
                Ok(Self::Lists(list))
            }
            (None, None, None) => only_list(schema),
        }
    }

    /// The columns with items.
    #[cfg(feature = "parquet")]
    pub(crate) fn items(&self) -> Vec<usize> {
        match self {
            Self::Lists(item) | Self::Long(_, item) => vec![*item],
            Self::Wide(_, items) | Self::Rows(items) => items.clone(),
        }
    }

    /// All columns.
    #[cfg(feature = "parquet")]
    pub(crate) fn columns(&self) -> Vec<usize> {
        match self {
            Self::Lists(list) => vec![*list],
            Self::Long(id, item) => vec![*id, *item],
            Self::Wide(id, items) => std::iter::once(*id).chain(items.iter().copied()).collect(),
            Self::Rows(items) => items.clone(),
        }
    }

    /// The same columns in a table that has no others, in the same order.
    #[cfg(feature = "parquet")]
    pub(crate) fn projected(&self) -> Self {
        let mut columns = self.columns();
        columns.sort_unstable();
        columns.dedup();
        let at = |column: &usize| columns.partition_point(|c| c < column);
        match self {
            Self::Lists(list) => Self::Lists(at(list)),
            Self::Long(id, item) => Self::Long(at(id), at(item)),
            Self::Wide(id, items) => Self::Wide(at(id), items.iter().map(at).collect()),
            Self::Rows(items) => Self::Rows(items.iter().map(at).collect()),
        }
    }
}

fn only_list(schema: &Schema) -> Result<Layout, Bad> {
    let is_list = |&c: &usize| element(schema.field(c).data_type()).is_some();
    let lists: Vec<usize> = (0..schema.fields().len()).filter(is_list).collect();
    let [list] = lists[..] else {
        let hint = Hint::of("name the column with {}; there are ", &[Setting::Item]);
        let hint = hint.and(columns(schema));
        return Err(Bad::new(format!("{} columns hold lists", lists.len()), hint));
    };
    check_list(schema, list)?;
    Ok(Layout::Lists(list))
}

fn columns(schema: &Schema) -> String {
    let name = |f: &std::sync::Arc<arrow_schema::Field>| format!("`{}`", f.name());
    let mut names: Vec<String> = schema.fields().iter().take(20).map(name).collect();
    if schema.fields().len() > names.len() {
        names.push("...".into());
    }
    names.join(", ")
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        // A column without any value says nothing about its type.
        DataType::Null => true,
        other => other.is_integer(),
    }
}

/// What a list holds.
fn element(kind: &DataType) -> Option<&DataType> {
    match kind {
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element)
        | DataType::FixedSizeList(element, _) => Some(element.data_type()),
        _ => None,
    }
}

fn check_text(schema: &Schema, column: usize) -> Result<(), Bad> {
    let field = schema.field(column);
    if is_text(field.data_type()) {
        return Ok(());
    }
    let found = format!("column `{}` has the type {}", field.name(), field.data_type());
    let hint = "expected texts or whole numbers; for a column of lists give {} without {}";
    Err(Bad::new(found, Hint::of(hint, &[Setting::Item, Setting::Id])))
}

fn check_list(schema: &Schema, column: usize) -> Result<(), Bad> {
    let field = schema.field(column);
    if element(field.data_type()).is_some_and(is_text) {
        return Ok(());
    }
    let found = format!("column `{}` has the type {}", field.name(), field.data_type());
    let hint = "expected lists of texts or whole numbers; for a long table give {} and {}";
    Err(Bad::new(found, Hint::of(hint, &[Setting::Id, Setting::Item])))
}
