//! The methods as choices, and a method from the fields of a form.

use serde_json::{Map, Value};
use setveil::methods::Knob;
use setveil::{Dataset, Error, Method, Result};

use crate::form::Fields;
use crate::shelf::{Said, TreeFrom};

/// A method that can be chosen.
#[derive(Debug)]
pub(crate) struct Choice {
    /// Its name in forms.
    pub(crate) key: &'static str,
    /// Its name in the library.
    pub(crate) method: &'static str,
    pub(crate) title: &'static str,
    /// What it does, for somebody who hears of it for the first time.
    pub(crate) plain: &'static str,
    /// What it is chosen for.
    pub(crate) good: &'static str,
    /// What it costs.
    pub(crate) cost: &'static str,
}

/// The choices in the order of the page.
pub(crate) const CHOICES: &[Choice] = &[
    Choice {
        key: "disassociation",
        method: "disassociation",
        title: "Disassociation",
        plain: "Puts similar records together and hides which of the rarer things occurred together.",
        good: "Every item stays as it is. The usual choice.",
        cost: "Rare combinations cannot be counted exactly.",
    },
    Choice {
        key: "disassociation-safe",
        method: "disassociation",
        title: "Disassociation, safe",
        plain: "The same, in parts that show nothing that was hidden.",
        good: "Also holds against somebody who knows this program.",
        cost: "Less is known of where an item occurs. Sensitive items cannot be named.",
    },
    Choice {
        key: "local-suppression",
        method: "local-suppression",
        title: "Local suppression",
        plain: "Each record gives up the few items that make a rare combination; those are only counted.",
        good: "Keeps far more combinations.",
        cost: "Whoever knows more than m items learns more than from disassociation.",
    },
    Choice {
        key: "dls",
        method: "dls",
        title: "Disassociation with suppression",
        plain: "As disassociation, but single occurrences are left out where that keeps items together.",
        good: "Fewer clusters are cut apart.",
        cost: "Counts are lower bounds.",
    },
    Choice {
        key: "partition",
        method: "partition",
        title: "Partition",
        plain: "Replaces items by more general ones until every record equals others.",
        good: "Records stay whole, and each equals k - 1 others.",
        cost: "Needs a hierarchy. Details are lost.",
    },
    Choice {
        key: "apriori",
        method: "apriori",
        title: "Apriori",
        plain: "Replaces items by more general ones everywhere alike, until combinations are frequent.",
        good: "Every item means the same in all records.",
        cost: "Needs a hierarchy. Often loses more than Partition.",
    },
    Choice {
        key: "cahd",
        method: "cahd",
        title: "Groups around sensitive items (CAHD)",
        plain: "Publishes ordinary items exactly, and sensitive items apart, per group of similar people.",
        good: "Ordinary items stay exact and together.",
        cost: "Needs a list of sensitive items. Ordinary items can identify people.",
    },
    Choice {
        key: "perm-mondrian",
        method: "perm-mondrian",
        title: "Groups by cutting (PermMondrian)",
        plain: "As the groups above, formed by cutting the data in halves.",
        good: "A baseline to compare with.",
        cost: "Needs a list of sensitive items. Usually worse than CAHD.",
    },
    Choice {
        key: "diffpart",
        method: "diffpart",
        title: "Differential privacy (DiffPart)",
        plain: "Publishes counts of sets of items with random noise, and only those that stand out.",
        good: "Holds whatever an attacker knows.",
        cost: "Needs a public hierarchy. Small sets drown in the noise.",
    },
    Choice {
        key: "suppress-rare",
        method: "suppress-rare",
        title: "Leave out rare items",
        plain: "Removes every item that fewer than k people have.",
        good: "Simple. A baseline to compare with.",
        cost: "Promises nothing about combinations.",
    },
];

/// What the form says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) key: String,
    pub(crate) k: u32,
    pub(crate) m: u32,
    pub(crate) size: usize,
    pub(crate) p: u32,
    pub(crate) l: u32,
    pub(crate) epsilon: f64,
    /// Leave out records with sensitive items only.
    pub(crate) drop_sensitive_only: bool,
    /// Do not publish the names of leaves that no class shows.
    pub(crate) hide_leaves: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            key: CHOICES[0].key.to_owned(),
            k: 5,
            m: 2,
            size: 50,
            p: 10,
            l: 4,
            epsilon: 1.0,
            drop_sensitive_only: false,
            hide_leaves: true,
        }
    }
}

impl Settings {
    /// What is given replaces `self`. A form that was sent says of boxes that they
    /// are not ticked by leaving them out; an address leaves them as they are.
    pub(crate) fn with(&self, fields: &Fields, sent: bool) -> Self {
        let box_of = |name: &str, before: bool| if sent { fields.has(name) } else { before };
        Self {
            key: fields.get("method").unwrap_or(&self.key).to_owned(),
            k: fields.number("k").unwrap_or(self.k),
            m: fields.number("m").unwrap_or(self.m),
            size: fields.number("size").unwrap_or(self.size),
            p: fields.number("p").unwrap_or(self.p),
            l: fields.number("l").unwrap_or(self.l),
            epsilon: fields.number("epsilon").unwrap_or(self.epsilon),
            drop_sensitive_only: box_of("drop_sensitive_only", self.drop_sensitive_only),
            hide_leaves: box_of("hide_leaves", self.hide_leaves),
        }
    }

    pub(crate) fn choice(&self) -> &'static Choice {
        CHOICES.iter().find(|choice| choice.key == self.key).unwrap_or(&CHOICES[0])
    }

    fn knobs(&self) -> &'static [Knob] {
        Method::knobs(self.choice().method).unwrap_or_default()
    }

    /// Method and numbers in a few words.
    pub(crate) fn name(&self) -> String {
        let mut name = self.choice().title.to_owned();
        for knob in self.knobs() {
            name += &match knob {
                Knob::K => format!(", k = {}", self.k),
                Knob::M => format!(", m = {}", self.m),
                Knob::MaxClusterSize => format!(", clusters of {}", self.size),
                Knob::P => format!(", p = {}", self.p),
                Knob::Epsilon => format!(", epsilon = {}", self.epsilon),
                _ => String::new(),
            };
        }
        name
    }

    /// The method, with the sensitive items and the hierarchy that were chosen.
    ///
    /// # Errors
    /// If a number is out of its range, or the method needs what was not chosen.
    pub(crate) fn method(&self, said: &Said, data: &Dataset) -> Result<Method> {
        let choice = self.choice();
        let mut parameters: Map<String, Value> = Map::new();
        for knob in self.knobs() {
            let value = match knob {
                Knob::K => Value::from(self.k),
                Knob::M => Value::from(self.m),
                Knob::MaxClusterSize => Value::from(self.size),
                Knob::P => Value::from(self.p),
                Knob::Epsilon => Value::from(self.epsilon),
                _ => continue,
            };
            parameters.insert(knob.name().to_owned(), value);
        }
        self.check_size()?;
        self.add_sensitive(&mut parameters, said)?;
        if choice.key == "disassociation-safe" {
            parameters.insert("safe".to_owned(), true.into());
        }
        if needs_tree(choice) && choice.method != "diffpart" {
            parameters.insert("hide_leaves".to_owned(), self.hide_leaves.into());
        }
        let method = Method::named(choice.method, parameters)?;
        match &said.tree {
            _ if !method.needs_hierarchy() => Ok(method),
            None => Err(Error::Unknown {
                what: format!("{} needs a hierarchy", choice.title),
                hint: "choose one first".into(),
            }),
            Some(tree) => Ok(match method {
                // As the command line has it: the method knows which tree suits it.
                Method::Diffpart(parameters) if matches!(tree.from, TreeFrom::Data(_)) => {
                    Method::Diffpart(parameters.universe_from_data(data)?)
                }
                method => method.with_hierarchy(tree.tree.clone()),
            }),
        }
    }

    /// Said here in the words of the form; the library says it too.
    fn check_size(&self) -> Result<()> {
        let needed = self.knobs().contains(&Knob::MaxClusterSize);
        if needed && self.size < 2 * self.k as usize {
            return Err(Error::Parameter {
                name: "the largest cluster",
                found: self.size.to_string(),
                expected: "at least 2k records",
            });
        }
        Ok(())
    }

    fn add_sensitive(&self, parameters: &mut Map<String, Value>, said: &Said) -> Result<()> {
        let choice = self.choice();
        let items: Vec<&str> = said.sensitive.iter().map(String::as_str).collect();
        match choice.key {
            _ if items.is_empty() && uses_p(choice) => {
                return Err(Error::Unknown {
                    what: format!("{} needs a list of sensitive items", choice.title),
                    hint: "name some first".into(),
                });
            }
            _ if items.is_empty() => {}
            "disassociation" | "dls" => {
                parameters.insert("sensitive".to_owned(), items.into());
                parameters.insert("l".to_owned(), self.l.into());
            }
            "local-suppression" => {
                parameters.insert("sensitive".to_owned(), items.into());
            }
            _ if uses_p(choice) => {
                parameters.insert("sensitive".to_owned(), items.into());
                if self.drop_sensitive_only {
                    parameters.insert("sensitive_only".to_owned(), "drop".into());
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn uses_p(choice: &Choice) -> bool {
    Method::knobs(choice.method).is_some_and(|knobs| knobs.contains(&Knob::P))
}

/// Whether the method treats sensitive items apart if there are some.
pub(crate) fn takes_sensitive(choice: &Choice) -> bool {
    uses_p(choice) || ["disassociation", "dls", "local-suppression"].contains(&choice.key)
}

/// Whether it needs a hierarchy.
pub(crate) fn needs_tree(choice: &Choice) -> bool {
    ["partition", "apriori", "diffpart"].contains(&choice.method)
}

/// The fields that matter to a choice, as names of the form.
pub(crate) fn fields_of(choice: &Choice) -> Vec<&'static str> {
    let knobs = Method::knobs(choice.method).unwrap_or_default().iter();
    let mut fields: Vec<&'static str> = knobs
        .map(|knob| match knob {
            Knob::MaxClusterSize => "size",
            knob => knob.name(),
        })
        .collect();
    if takes_sensitive(choice) {
        fields.push("sensitive");
    }
    if ["disassociation", "dls"].contains(&choice.key) {
        fields.push("l");
    }
    if uses_p(choice) {
        fields.push("drop_sensitive_only");
    }
    if needs_tree(choice) {
        fields.push("tree");
        if choice.method != "diffpart" {
            fields.push("hide_leaves");
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use setveil::Hierarchy;

    use super::*;
    use crate::shelf::Tree;

    #[test]
    fn every_method_of_the_library_can_be_chosen_and_made() {
        for name in Method::NAMES {
            assert!(CHOICES.iter().any(|choice| choice.method == *name), "{name}");
        }
        let data = Dataset::from_records([["a", "b"]]);
        let tree = Hierarchy::from_paths(&[vec!["a", "*"], vec!["b", "*"]]).unwrap();
        let tree = Tree { tree: Arc::new(tree), from: TreeFrom::Data(5) };
        let said = Said { sensitive: ["a".to_owned()].into(), tree: Some(tree), ..Said::default() };
        for choice in CHOICES {
            let settings = Settings { key: choice.key.to_owned(), ..Settings::default() };
            let method =
                settings.method(&said, &data).unwrap_or_else(|e| panic!("{}: {e}", choice.key));
            assert_eq!(method.name(), choice.method);
            assert_eq!(method.needs_hierarchy(), needs_tree(choice), "{}", choice.key);
            if method.needs_sensitive() {
                assert!(takes_sensitive(choice), "{}", choice.key);
            }
            assert!(!settings.name().is_empty() && !fields_of(choice).is_empty());
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let of = |key: &str| Settings { key: key.to_owned(), ..Settings::default() };
        for (key, word) in [("partition", "hierarchy"), ("cahd", "sensitive items")] {
            let error =
                of(key).method(&Said::default(), &Dataset::default()).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        let small = Settings { k: 30, ..Settings::default() };
        let error = small.method(&Said::default(), &Dataset::default()).unwrap_err().to_string();
        assert!(error.contains("largest cluster = 50: expected at least 2k"), "{error}");
        let none = Settings { k: 0, ..Settings::default() };
        assert!(none.method(&Said::default(), &Dataset::default()).is_err());
    }

    #[test]
    fn a_form_says_that_a_box_is_not_ticked_and_an_address_does_not() {
        let fields = Fields::of(&[("method", "dls"), ("k", "7"), ("m", "many")]);
        let before = Settings::default();
        assert!(!before.with(&fields, true).hide_leaves);
        let after = before.with(&fields, false);
        assert!(after.hide_leaves);
        assert_eq!((after.key.as_str(), after.k, after.m), ("dls", 7, 2));
    }
}
