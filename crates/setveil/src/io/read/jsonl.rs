//! JSON Lines: one record a line, an array of items or an object with a list
//! in the field that the option `item` names; other fields are not looked at.
//!
//! Items are texts or whole numbers. Other numbers are refused because their
//! spelling is lost on the way (a code 250.10 would become 250.1).

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};

use super::Bad;
use super::lines::Lines;
use crate::data::Block;
use crate::error::{Hint, Setting};

/// The format with the name of the list.
pub(super) struct Jsonl<'a> {
    pub(super) item: Option<&'a str>,
}

impl Lines for Jsonl<'_> {
    fn line(&self, line: &str, block: &mut Block) -> Result<(), Bad> {
        if line.trim().is_empty() {
            block.end_record();
            return Ok(());
        }
        let mut json = serde_json::Deserializer::from_str(line);
        RecordSeed { block, field: self.item }
            .deserialize(&mut json)
            .and_then(|()| json.end())
            .map_err(|e| self.bad(&e))?;
        block.end_record();
        Ok(())
    }
}

impl Jsonl<'_> {
    pub(super) fn bad(&self, error: &serde_json::Error) -> Bad {
        let text = error.to_string();
        // The line is one of the file's, not the one of the text that was parsed.
        let what = match text.rfind(" at line ") {
            Some(at) => &text[..at],
            None => &text,
        };
        let found = if error.is_data() {
            what.to_owned()
        } else {
            format!("this is not JSON: {what} in column {}", error.column())
        };
        let hint = match self.item {
            Some(item) => format!("expected an object with a list of items in `{item}`").into(),
            None => Hint::of(
                "expected a list of items such as [\"milk\",\"bread\"]; \
                 for objects, name the list's field with {}",
                &[Setting::Item],
            ),
        };
        Bad::new(found, hint)
    }
}

/// Expects a list, or an object with one.
pub(super) struct RecordSeed<'a> {
    pub(super) block: &'a mut Block,
    pub(super) field: Option<&'a str>,
}

impl<'de> DeserializeSeed<'de> for RecordSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for RecordSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(if self.field.is_some() { "an object" } else { "a list of items" })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        match self.field {
            None => ListSeed(self.block).visit_seq(list),
            Some(_) => Err(A::Error::invalid_type(Unexpected::Seq, &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let Some(field) = self.field else {
            return Err(A::Error::invalid_type(Unexpected::Map, &self));
        };
        let mut found = false;
        while let Some(wanted) = object.next_key_seed(KeySeed(field))? {
            if !wanted {
                object.next_value::<IgnoredAny>()?;
            } else if found {
                return Err(A::Error::custom(format!("the field `{field}` stands twice")));
            } else {
                object.next_value_seed(ListSeed(self.block))?;
                found = true;
            }
        }
        if found {
            Ok(())
        } else {
            Err(A::Error::custom(format!("the object has no field `{field}`")))
        }
    }
}

/// Whether a key is the one that is looked for.
struct KeySeed<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = bool;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_str<E: Error>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}

/// Expects a list of items.
struct ListSeed<'a>(&'a mut Block);

impl<'de> DeserializeSeed<'de> for ListSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ListSeed<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of items")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(ItemSeed(&mut *self.0))?.is_some() {}
        Ok(())
    }
}

/// Expects one item.
struct ItemSeed<'a>(&'a mut Block);

impl<'de> DeserializeSeed<'de> for ItemSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for ItemSeed<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an item as text or a whole number")
    }
    fn visit_str<E: Error>(self, item: &str) -> Result<(), E> {
        self.0.push_trimmed(item);
        Ok(())
    }
    fn visit_u64<E: Error>(self, item: u64) -> Result<(), E> {
        self.0.push(&item.to_string());
        Ok(())
    }
    fn visit_i64<E: Error>(self, item: i64) -> Result<(), E> {
        self.0.push(&item.to_string());
        Ok(())
    }
}
