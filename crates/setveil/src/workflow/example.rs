//! One part of a release before and after: the records that went in, and what
//! is published of them. For whoever has the original.

use serde::Serialize;

use crate::data::{ItemId, Vocabulary};
use crate::measure::ncp;
use crate::release::{Bag, Body, Generalized, SimpleCluster};
use crate::{Dataset, Method, Progress, Release, Result};

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
    let method = Method::of(&release.manifest).ok();
    let records = |members: &[u32]| -> Vec<Vec<String>> {
        let record = |&r: &u32| original.vocabulary().texts(original.record(r as usize));
        members.iter().map(record).collect()
    };
    let vocabulary = release.body.vocabulary();
    Ok(match &release.body {
        Body::Disassociated(body) => {
            let leaves: Vec<&SimpleCluster> =
                body.clusters.iter().flat_map(|cluster| cluster.leaves()).collect();
            let pieces = |leaf: &SimpleCluster| {
                leaf.record_chunks.len() + usize::from(!leaf.term_chunk.is_empty())
            };
            let sizes = leaves.iter().map(|leaf| (u64::from(leaf.size), pieces(leaf)));
            let Some(at) = chosen(sizes) else { return Ok(None) };
            let members = match &method {
                Some(method) => method.members(release, original, progress)?,
                None => None,
            };
            Some(Example {
                part: "cluster",
                size: leaves[at].size.into(),
                before: members.map(|members| records(&members[at])),
                after: chunks(leaves[at], vocabulary),
            })
        }
        Body::Located(body) => {
            let pieces = |leaf: &crate::release::Leaf| {
                usize::from(!leaf.kept.is_empty())
                    + usize::from(!leaf.counted.is_empty() || !leaf.listed.is_empty())
            };
            let sizes = body.leaves.iter().map(|leaf| (u64::from(leaf.size), pieces(leaf)));
            let Some(at) = chosen(sizes) else { return Ok(None) };
            let leaf = &body.leaves[at];
            let kept = match &method {
                Some(method) => method.kept(original, progress)?,
                None => None,
            };
            let members = kept.map(|kept| -> Vec<u32> {
                (0..original.len() as u32).filter(|&r| kept.leaf[r as usize] == at as u32).collect()
            });
            let counted = leaf
                .counted
                .iter()
                .map(|&(item, n)| (vec![vocabulary.label(item).to_owned()], Some(u64::from(n))));
            let listed =
                leaf.listed.iter().map(|&item| (vec![vocabulary.label(item).to_owned()], None));
            let further = Piece {
                name: "in further records".to_owned(),
                lines: counted.chain(listed).collect(),
            };
            Some(Example {
                part: "leaf",
                size: leaf.size.into(),
                before: members.map(|members| records(&members)),
                after: vec![piece("what records keep", &leaf.kept, vocabulary), further],
            })
        }
        Body::Generalized(body) => {
            let sizes = body.classes.iter().map(|(items, n)| (u64::from(n), items.len().min(2)));
            let Some(at) = chosen(sizes) else { return Ok(None) };
            let (items, size) = body.classes.get(at);
            let members = members_of_class(body, original, at, release)?;
            Some(Example {
                part: "class",
                size: size.into(),
                before: members.map(|members| records(&members)),
                after: vec![Piece {
                    name: "every record".to_owned(),
                    lines: vec![(vocabulary.texts(items), Some(size.into()))],
                }],
            })
        }
        Body::Grouped(body) => {
            let pieces = |sensitive: &[(ItemId, u32)]| 1 + usize::from(!sensitive.is_empty());
            let sizes = body.groups.iter().map(|g| (u64::from(g.size), pieces(&g.sensitive)));
            let Some(at) = chosen(sizes) else { return Ok(None) };
            let group = &body.groups[at];
            let sensitive = group
                .sensitive
                .iter()
                .map(|&(item, n)| (vec![vocabulary.label(item).to_owned()], Some(u64::from(n))));
            Some(Example {
                part: "group",
                size: group.size.into(),
                // Groups are formed with secret random numbers: nobody can repeat it.
                before: None,
                after: vec![
                    piece("ordinary items", &group.records, vocabulary),
                    Piece { name: "sensitive items".to_owned(), lines: sensitive.collect() },
                ],
            })
        }
    })
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

fn piece(name: &str, bag: &Bag, vocabulary: &Vocabulary) -> Piece {
    let line = |(items, count): (&[ItemId], u32)| (vocabulary.texts(items), Some(count.into()));
    Piece { name: name.to_owned(), lines: bag.iter().map(line).collect() }
}

/// The records of a class, as one assignment that agrees with the release has
/// them; none for noisy counts and where names were hidden.
fn members_of_class(
    body: &Generalized,
    original: &Dataset,
    class: usize,
    release: &Release,
) -> Result<Option<Vec<u32>>> {
    use crate::release::Supports;
    let hidden = |tree: &crate::Hierarchy| {
        original.vocabulary().labels().any(|label| tree.node(label).is_none())
    };
    if release.manifest.guarantee.supports == Supports::Noisy
        || body.hierarchy.as_ref().is_some_and(hidden)
    {
        return Ok(None);
    }
    let classes = ncp::classes_of(body, original, None)?;
    let own = classes.iter().zip(0..).filter(|(c, _)| **c == Some(class as u32));
    Ok(Some(own.map(|(_, record)| record).collect()))
}
