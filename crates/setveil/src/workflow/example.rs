//! One part of a release before and after: the records that went in, and what
//! is published of them. For whoever has the original.

use serde::Serialize;

use crate::data::{ItemId, Vocabulary};
use crate::measure::ncp;
use crate::release::{
    Bag, Body, Disassociated, Generalized, Grouped, Leaf, Located, SimpleCluster, Supports,
};
use crate::{Dataset, Hierarchy, Method, Progress, Release, Result};

/// One part of a release before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Example {
    /// What such a part is called: cluster, leaf, class or group.
    pub part: &'static str,
    /// How many records it holds.
    pub size: u64,
    /// Its records before; none where nobody can say who is in it.
    pub before: Option<Vec<Vec<String>>>,
    /// What is published of them.
    pub after: Vec<Piece>,
}

/// Something that is published of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Piece {
    /// What it is.
    pub name: String,
    /// Sets of items, and how often each occurs; none where that is not said.
    pub lines: Vec<(Vec<String>, Option<u64>)>,
}

/// The largest part that is shown.
const LARGEST: u64 = 12;

/// A part that shows what the method does: one with several pieces, and small
/// enough to be looked at if there is one. None for an empty release.
///
/// # Errors
/// If the method cannot be repeated on `original`, or `progress` says stop.
pub fn example(
    release: &Release,
    original: &Dataset,
    progress: &dyn Progress,
) -> Result<Option<Example>> {
    let show = Show { release, original, progress };
    match &release.body {
        Body::Disassociated(body) => show.cluster(body),
        Body::Located(body) => show.leaf(body),
        Body::Generalized(body) => show.class(body),
        Body::Grouped(body) => Ok(show.group(body)),
    }
}

struct Show<'a> {
    release: &'a Release,
    original: &'a Dataset,
    progress: &'a dyn Progress,
}

impl Show<'_> {
    fn method(&self) -> Option<Method> {
        Method::of(&self.release.manifest).ok()
    }

    fn records(&self, members: &[u32]) -> Vec<Vec<String>> {
        let vocabulary = self.original.vocabulary();
        members.iter().map(|&r| vocabulary.texts(self.original.record(r as usize))).collect()
    }

    fn cluster(&self, body: &Disassociated) -> Result<Option<Example>> {
        let leaves: Vec<&SimpleCluster> =
            body.clusters.iter().flat_map(|cluster| cluster.leaves()).collect();
        let pieces = |leaf: &SimpleCluster| {
            leaf.record_chunks.len() + usize::from(!leaf.term_chunk.is_empty())
        };
        let sizes = leaves.iter().map(|leaf| (u64::from(leaf.size), pieces(leaf)));
        let Some(at) = chosen(sizes) else { return Ok(None) };
        let members = match self.method() {
            Some(method) => method.members(self.release, self.original, self.progress)?,
            None => None,
        };
        Ok(Some(Example {
            part: "cluster",
            size: leaves[at].size.into(),
            before: members.map(|members| self.records(&members[at])),
            after: chunks(leaves[at], &body.vocabulary),
        }))
    }

    fn leaf(&self, body: &Located) -> Result<Option<Example>> {
        let pieces = |leaf: &Leaf| {
            let further = !leaf.counted.is_empty() || !leaf.listed.is_empty();
            usize::from(!leaf.kept.is_empty()) + usize::from(further)
        };
        let sizes = body.leaves.iter().map(|leaf| (u64::from(leaf.size), pieces(leaf)));
        let Some(at) = chosen(sizes) else { return Ok(None) };
        let (leaf, vocabulary) = (&body.leaves[at], &body.vocabulary);
        let kept = match self.method() {
            Some(method) => method.kept(self.original, self.progress)?,
            None => None,
        };
        let members = kept.map(|kept| -> Vec<u32> {
            let own = |&r: &u32| kept.leaf[r as usize] == at as u32;
            (0..self.original.len() as u32).filter(own).collect()
        });
        let listed =
            leaf.listed.iter().map(|&item| (vec![vocabulary.label(item).to_owned()], None));
        let further = counted(&leaf.counted, vocabulary).chain(listed);
        Ok(Some(Example {
            part: "leaf",
            size: leaf.size.into(),
            before: members.map(|members| self.records(&members)),
            after: vec![
                piece("what records keep", &leaf.kept, vocabulary),
                Piece { name: "in further records".to_owned(), lines: further.collect() },
            ],
        }))
    }

    fn class(&self, body: &Generalized) -> Result<Option<Example>> {
        let sizes = body.classes.iter().map(|(items, n)| (u64::from(n), items.len().min(2)));
        let Some(at) = chosen(sizes) else { return Ok(None) };
        let (items, size) = body.classes.get(at);
        let lines = vec![(body.vocabulary.texts(items), Some(size.into()))];
        Ok(Some(Example {
            part: "class",
            size: size.into(),
            before: self.members_of_class(body, at)?.map(|members| self.records(&members)),
            after: vec![Piece { name: "every record".to_owned(), lines }],
        }))
    }

    /// The records of a class, as one assignment that agrees with the release has
    /// them; none for noisy counts and where names were hidden.
    fn members_of_class(&self, body: &Generalized, class: usize) -> Result<Option<Vec<u32>>> {
        let labels = || self.original.vocabulary().labels();
        let hides = |tree: &Hierarchy| labels().any(|label| tree.node(label).is_none());
        let noisy = self.release.manifest.guarantee.supports == Supports::Noisy;
        if noisy || body.hierarchy.as_ref().is_some_and(hides) {
            return Ok(None);
        }
        let classes = ncp::classes_of(body, self.original, None)?;
        let own = classes.iter().zip(0..).filter(|(c, _)| **c == Some(class as u32));
        Ok(Some(own.map(|(_, record)| record).collect()))
    }

    fn group(&self, body: &Grouped) -> Option<Example> {
        let pieces = |sensitive: &[(ItemId, u32)]| 1 + usize::from(!sensitive.is_empty());
        let sizes = body.groups.iter().map(|g| (u64::from(g.size), pieces(&g.sensitive)));
        let group = &body.groups[chosen(sizes)?];
        let sensitive = counted(&group.sensitive, &body.vocabulary).collect();
        Some(Example {
            part: "group",
            size: group.size.into(),
            // Groups are formed with secret random numbers: nobody can repeat it.
            before: None,
            after: vec![
                piece("ordinary items", &group.records, &body.vocabulary),
                Piece { name: "sensitive items".to_owned(), lines: sensitive },
            ],
        })
    }
}

/// The part with most pieces among those that are small enough, or the
/// smallest one.
fn chosen(parts: impl Iterator<Item = (u64, usize)>) -> Option<usize> {
    let rank = |&(_, (size, pieces)): &(usize, (u64, usize))| match size <= LARGEST {
        true => (true, pieces.min(4), size),
        false => (false, 0, u64::MAX - size),
    };
    // Of equal ones the first.
    parts
        .enumerate()
        .fold(None, |best, part| match best {
            Some(best) if rank(&best) >= rank(&part) => Some(best),
            _ => Some(part),
        })
        .map(|(at, _)| at)
}

fn chunks(leaf: &SimpleCluster, vocabulary: &Vocabulary) -> Vec<Piece> {
    let number =
        |(i, chunk): (usize, &Bag)| piece(&format!("record chunk {}", i + 1), chunk, vocabulary);
    let mut pieces: Vec<Piece> = leaf.record_chunks.iter().enumerate().map(number).collect();
    if !leaf.term_chunk.is_empty() {
        let terms = vocabulary.texts(&leaf.term_chunk).into_iter().map(|term| (vec![term], None));
        pieces.push(Piece { name: "term chunk".to_owned(), lines: terms.collect() });
    }
    pieces
}

type Line = (Vec<String>, Option<u64>);

fn counted<'a>(
    items: &'a [(ItemId, u32)],
    vocabulary: &'a Vocabulary,
) -> impl Iterator<Item = Line> + 'a {
    items.iter().map(|&(item, n)| (vec![vocabulary.label(item).to_owned()], Some(u64::from(n))))
}

fn piece(name: &str, bag: &Bag, vocabulary: &Vocabulary) -> Piece {
    let line = |(items, count): (&[ItemId], u32)| (vocabulary.texts(items), Some(count.into()));
    Piece { name: name.to_owned(), lines: bag.iter().map(line).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::hierarchy::{LeafOrder, balanced};
    use crate::generate::pharmacy;

    /// Every published set of items is a part of what some record had, and the
    /// records are as many as the part says.
    #[test]
    fn what_is_published_comes_from_the_records_before() {
        let data = pharmacy();
        let tree = balanced(data.vocabulary(), 4, LeafOrder::Natural).unwrap();
        for json in [
            r#"{"method": "disassociation", "parameters": {"k": 3, "m": 2}}"#,
            r#"{"method": "dls", "parameters": {"k": 3, "m": 2}}"#,
            r#"{"method": "local-suppression", "parameters": {"k": 3, "m": 2, "max_cluster_size": 12}}"#,
            r#"{"method": "suppress-rare", "parameters": {"k": 3}}"#,
            r#"{"method": "partition", "parameters": {"k": 3}}"#,
        ] {
            let method: Method = serde_json::from_str(json).unwrap();
            let method = method.with_hierarchy(tree.clone());
            let release = method.run(&data, &()).unwrap().release;
            let example = example(&release, &data, &()).unwrap().unwrap();
            let before = example.before.unwrap_or_else(|| panic!("{json}"));
            assert_eq!(before.len() as u64, example.size, "{json}");
            assert!(example.after.iter().any(|piece| !piece.lines.is_empty()));
            if method.needs_hierarchy() {
                continue;
            }
            for (items, _) in example.after.iter().flat_map(|piece| &piece.lines) {
                let held = |record: &Vec<String>| items.iter().all(|item| record.contains(item));
                assert!(before.iter().any(held), "{json}: {items:?}");
            }
        }
    }

    #[test]
    fn nobody_says_who_is_in_a_group() {
        let data = pharmacy();
        let json = r#"{"method": "cahd", "parameters": {"p": 3, "sensitive": ["insulin needles"],
            "sensitive_only": "drop"}}"#;
        let method: Method = serde_json::from_str(json).unwrap();
        let release = method.run(&data, &()).unwrap().release;
        let example = example(&release, &data, &()).unwrap().unwrap();
        assert_eq!((example.part, example.before, example.after.len()), ("group", None, 2));
    }
}
