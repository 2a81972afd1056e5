//! Examples, drawn as the papers draw them: chunks side by side, shared
//! chunks above the clusters that share them.

use maud::{Markup, html};

use super::html::{Page, number};
use crate::data::Vocabulary;
use crate::release::{Bag, Body, Cluster, Group, Leaf, Release};

/// Lines that are shown of a chunk.
const LINES: usize = 10;
/// Items of a term chunk that are shown.
const TERMS: usize = 24;
/// Leaves of a joint cluster that are shown.
const LEAVES: usize = 3;

pub(super) fn examples(page: &mut Page, release: &Release) {
    page.section("Examples");
    let vocabulary = release.body.vocabulary();
    match &release.body {
        Body::Disassociated(body) => {
            page.text(
                "Each box is a chunk: an unordered list of parts of records, with how often each \
                 occurs. Lines of neighbouring chunks do not belong together; that is the point. \
                 A term chunk only names items that occur in the cluster.",
            );
            for cluster in chosen(&body.clusters) {
                page.add(draw_cluster(cluster, vocabulary));
            }
        }
        Body::Generalized(body) => classes(page, &body.classes, vocabulary),
        Body::Grouped(body) => {
            page.text(
                "Each group lists the ordinary items of its records and, apart from them, its \
                 sensitive items with counts.",
            );
            for group in body.groups.iter().filter(|g| !g.sensitive.is_empty()).take(3) {
                page.add(draw_group(group, vocabulary));
            }
        }
        Body::Located(body) => {
            page.text(
                "Each leaf lists what its records keep, and apart from that in how many further \
                 records other items are. Listed items are in at least one.",
            );
            for leaf in body.leaves.iter().filter(|leaf| !leaf.kept.is_empty()).take(3) {
                page.add(draw_leaf(leaf, vocabulary));
            }
        }
    }
}

fn classes(page: &mut Page, classes: &Bag, vocabulary: &Vocabulary) {
    page.text("The largest classes: what their records look like, and how many there are.");
    let mut largest: Vec<usize> = (0..classes.len()).collect();
    largest.sort_by_key(|&i| std::cmp::Reverse(classes.get(i).1));
    let row = |i| {
        let (items, count) = classes.get(i);
        vec![vocabulary.texts(items).join(", "), number(count.into())]
    };
    let rows: Vec<Vec<String>> = largest.into_iter().take(LINES).map(row).collect();
    page.table("Classes", &["items", "records"], &rows);
}

fn draw_group(group: &Group, vocabulary: &Vocabulary) -> Markup {
    let open = draw_chunk("ordinary items", "chunk", &group.records, vocabulary);
    let sensitive = html! {
        @for &(item, count) in group.sensitive.iter().take(LINES) {
            (line(vocabulary.label(item), count))
        }
    };
    draw_part(("A group", group.size), open, ("sensitive items", sensitive))
}

fn draw_leaf(leaf: &Leaf, vocabulary: &Vocabulary) -> Markup {
    let kept = draw_chunk("kept", "chunk", &leaf.kept, vocabulary);
    let further = html! {
        @for &(item, count) in leaf.counted.iter().take(LINES) {
            (line(vocabulary.label(item), count))
        }
        @for &item in leaf.listed.iter().take(LINES) {
            li { (vocabulary.label(item)) }
        }
        (more(leaf.counted.len() + leaf.listed.len(), 2 * LINES))
    };
    draw_part(("A leaf", leaf.size), kept, ("further items", further))
}

/// A part of a release: what its records have, and beside it what is only counted.
fn draw_part(
    (part, size): (&str, u32),
    records: Markup,
    (title, counted): (&str, Markup),
) -> Markup {
    html! {
        div class="cluster" {
            h4 { (part) " of " (size) " records" }
            div class="chunks" {
                (records)
                div class="chunk terms" {
                    h5 { (title) }
                    ul { (counted) }
                }
            }
        }
    }
}

/// A cluster with several chunks, one with a term chunk, and a joint one: the
/// first of each kind that fits on a page.
fn chosen(clusters: &[Cluster]) -> Vec<&Cluster> {
    let small = |c: &&Cluster| c.chunks().iter().map(Bag::len).sum::<usize>() <= 4 * LINES;
    let kinds: [&dyn Fn(&Cluster) -> bool; 3] = [
        &|c| matches!(c, Cluster::Simple(s) if s.record_chunks.len() >= 2),
        &|c| matches!(c, Cluster::Simple(s) if !s.term_chunk.is_empty() && !s.record_chunks.is_empty()),
        &|c| matches!(c, Cluster::Joint(j) if j.children.len() <= LEAVES),
    ];
    let mut chosen: Vec<&Cluster> = Vec::new();
    for kind in kinds {
        let found = clusters
            .iter()
            .filter(small)
            .find(|c| kind(c) && !chosen.iter().any(|other| std::ptr::eq(*other, *c)));
        chosen.extend(found);
    }
    if chosen.is_empty() { clusters.iter().take(1).collect() } else { chosen }
}

fn draw_cluster(cluster: &Cluster, vocabulary: &Vocabulary) -> Markup {
    match cluster {
        Cluster::Simple(leaf) => html! {
            div class="cluster" {
                h4 { "A cluster of " (leaf.size) " records" }
                div class="chunks" {
                    @for (i, chunk) in leaf.record_chunks.iter().enumerate() {
                        (draw_chunk(&format!("record chunk {}", i + 1), "chunk", chunk, vocabulary))
                    }
                    @if !leaf.term_chunk.is_empty() {
                        div class="chunk terms" {
                            h5 { "term chunk" }
                            ul {
                                @for &term in leaf.term_chunk.iter().take(TERMS) {
                                    li { (vocabulary.label(term)) }
                                }
                                (more(leaf.term_chunk.len(), TERMS))
                            }
                        }
                    }
                }
            }
        },
        Cluster::Joint(joint) => html! {
            div class="cluster" {
                h4 {
                    "A joint cluster of " (joint.size) " records: " (cluster.leaves().len())
                    " clusters share chunks"
                }
                div class="chunks" {
                    @for (i, chunk) in joint.shared_chunks.iter().enumerate() {
                        @let name = format!("shared chunk {}", i + 1);
                        (draw_chunk(&name, "chunk shared", chunk, vocabulary))
                    }
                }
                @for child in joint.children.iter().take(LEAVES) {
                    (draw_cluster(child, vocabulary))
                }
                @if joint.children.len() > LEAVES {
                    p class="note" { "… and " (joint.children.len() - LEAVES) " more clusters" }
                }
            }
        },
    }
}

fn draw_chunk(name: &str, class: &str, chunk: &Bag, vocabulary: &Vocabulary) -> Markup {
    html! {
        div class=(class) {
            h5 { (name) }
            ul {
                @for (items, count) in chunk.iter().take(LINES) {
                    (line(&vocabulary.texts(items).join(", "), count))
                }
                (more(chunk.len(), LINES))
            }
        }
    }
}

fn line(text: &str, count: u32) -> Markup {
    html! { li { (text) @if count != 1 { " " span class="times" { "× " (count) } } } }
}

fn more(len: usize, shown: usize) -> Markup {
    html! { @if len > shown { li class="times" { "… " (len - shown) " more" } } }
}
