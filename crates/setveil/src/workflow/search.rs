//! Items by a part of their name, a page at a time: what whoever shows a list
//! needs, and never more than that.

use std::cmp::Reverse;

use serde::Serialize;

use crate::Dataset;
use crate::data::hierarchy::NodeId;
use crate::data::{Hierarchy, ItemId};
use crate::query::Answer;

/// Which part of the matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// How many matches come before.
    pub skip: usize,
    /// How many are given at most.
    pub take: usize,
}

/// A part of the matches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Matches<T> {
    /// How many there are in all.
    pub total: usize,
    /// Those in the window.
    pub shown: Vec<T>,
}

impl<T> Matches<T> {
    fn of(found: Vec<T>, window: Window) -> Self {
        let total = found.len();
        let shown = found.into_iter().skip(window.skip).take(window.take).collect();
        Self { total, shown }
    }

    fn map<U>(self, each: impl FnMut(T) -> U) -> Matches<U> {
        Matches { total: self.total, shown: self.shown.into_iter().map(each).collect() }
    }
}

/// The items of a data set by their supports, to be searched many times.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// The most frequent first, then by text.
    order: Vec<(ItemId, u32)>,
}

/// An item and in how many records it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Its label.
    pub item: String,
    /// In how many records it is.
    pub support: u32,
}

impl Catalogue {
    /// Counts the items of `data`.
    pub fn new(data: &Dataset) -> Self {
        let mut order: Vec<(ItemId, u32)> = (0..).zip(data.supports()).collect();
        order.sort_unstable_by_key(|&(item, support)| (Reverse(support), item));
        Self { order }
    }

    /// The items of `data`, from which this was made, that have all `words` in
    /// their name, whatever the case of the letters.
    pub fn find(&self, data: &Dataset, words: &str, window: Window) -> Matches<Listed> {
        let wanted = Wanted::new(words);
        let label = |item: ItemId| data.vocabulary().label(item);
        let found = self.order.iter().copied().filter(|&(item, _)| wanted.fits(label(item)));
        Matches::of(found.collect(), window)
            .map(|(item, support)| Listed { item: label(item).to_owned(), support })
    }
}

/// The answers whose items have all `words` in their names, in their order.
pub fn find_answers<'a>(answers: &'a [Answer], words: &str, window: Window) -> Matches<&'a Answer> {
    let wanted = Wanted::new(words);
    let fits = |answer: &&Answer| answer.itemset.iter().any(|item| wanted.fits(item));
    Matches::of(answers.iter().filter(fits).collect(), window)
}

/// A node of a hierarchy with its way to the root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Its label first, the root last.
    pub path: Vec<String>,
    /// How many leaves are under it; 1 for a leaf.
    pub leaves: u32,
    /// Whether it is a leaf.
    pub leaf: bool,
}

/// The nodes of a hierarchy that have all `words` in their name, those nearest to
/// the root first.
pub fn find_nodes(tree: &Hierarchy, words: &str, window: Window) -> Matches<Node> {
    let wanted = Wanted::new(words);
    let nodes = 0..tree.len() as NodeId;
    let mut found: Vec<NodeId> = nodes.filter(|&node| wanted.fits(tree.label(node))).collect();
    found.sort_by_key(|&node| tree.depth(node));
    Matches::of(found, window).map(|node| {
        let mut path = vec![tree.label(node).to_owned()];
        let mut above = node;
        while above != 0 {
            above = tree.parent(above);
            path.push(tree.label(above).to_owned());
        }
        Node { path, leaves: tree.leaf_count(node), leaf: tree.is_leaf(node) }
    })
}

/// How many items of `data` are no leaf of a hierarchy, and the first of them.
pub fn missing_from(tree: &Hierarchy, data: &Dataset, first: usize) -> (usize, Vec<String>) {
    let leaf = |label: &str| tree.node(label).is_some_and(|node| tree.is_leaf(node));
    let mut missing = data.vocabulary().labels().filter(|label| !leaf(label));
    let shown: Vec<String> = missing.by_ref().take(first).map(str::to_owned).collect();
    (shown.len() + missing.count(), shown)
}

/// What a name must have.
struct Wanted(Vec<String>);

impl Wanted {
    fn new(words: &str) -> Self {
        Self(words.split_whitespace().map(str::to_lowercase).collect())
    }

    fn fits(&self, label: &str) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let label = label.to_lowercase();
        self.0.iter().all(|word| label.contains(word.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Window = Window { skip: 0, take: 10 };

    #[test]
    fn items_are_found_by_their_words_the_frequent_first() {
        let data = Dataset::from_records([
            vec!["Red Wine", "bread"],
            vec!["red wine vinegar", "bread"],
            vec!["Red Wine"],
        ]);
        let catalogue = Catalogue::new(&data);
        let names = |words: &str, window: Window| {
            let found = catalogue.find(&data, words, window);
            (found.total, found.shown.into_iter().map(|l| l.item).collect::<Vec<_>>())
        };
        assert_eq!(names("", ALL).1, ["Red Wine", "bread", "red wine vinegar"]);
        assert_eq!(names("WINE red", ALL), (2, vec!["Red Wine".into(), "red wine vinegar".into()]));
        assert_eq!(names("", Window { skip: 1, take: 1 }), (3, vec!["bread".into()]));
        assert_eq!(names("beer", ALL), (0, vec![]));
        assert_eq!(names("", Window { skip: 9, take: 1 }), (3, vec![]));
    }

    #[test]
    fn nodes_come_with_their_way_up() {
        let paths = [vec!["beer", "alcohol", "*"], vec!["alcopop", "alcohol", "*"]];
        let tree = Hierarchy::from_paths(&paths).unwrap();
        let found = find_nodes(&tree, "alco", ALL);
        let paths: Vec<Vec<String>> = found.shown.iter().map(|n| n.path.clone()).collect();
        assert_eq!(paths, [vec!["alcohol", "*"], vec!["alcopop", "alcohol", "*"]]);
        assert_eq!((found.shown[0].leaves, found.shown[0].leaf), (2, false));
        let data = Dataset::from_records([["beer", "alcohol", "tea"]]);
        assert_eq!(missing_from(&tree, &data, 1), (2, vec!["alcohol".to_owned()]));
    }
}
