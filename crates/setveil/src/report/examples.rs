//! Examples, drawn as the papers draw them: chunks side by side, shared
//! chunks above the clusters that share them.

use std::fmt::Write;

use super::html::{Page, escape, number};
use crate::data::Vocabulary;
use crate::release::{Bag, Body, Cluster, Leaf, Release};

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
                page.raw(&draw_cluster(cluster, vocabulary));
            }
        }
        Body::Generalized(body) => {
            page.text("The largest classes: what their records look like, and how many there are.");
            let mut largest: Vec<usize> = (0..body.classes.len()).collect();
            largest.sort_by_key(|&i| std::cmp::Reverse(body.classes.get(i).1));
            let rows: Vec<Vec<String>> = largest
                .into_iter()
                .take(LINES)
                .map(|i| {
                    let (items, count) = body.classes.get(i);
                    vec![vocabulary.texts(items).join(", "), number(count.into())]
                })
                .collect();
            page.table("Classes", &["items", "records"], &rows);
        }
        Body::Grouped(body) => {
            page.text(
                "Each group lists the ordinary items of its records and, apart from them, its \
                 sensitive items with counts.",
            );
            for group in body.groups.iter().filter(|g| !g.sensitive.is_empty()).take(3) {
                let mut html = format!(
                    "<div class=\"cluster\"><h4>A group of {} records</h4><div class=\"chunks\">",
                    group.size
                );
                html += &draw_chunk("ordinary items", "chunk", &group.records, vocabulary);
                html += "<div class=\"chunk terms\"><h5>sensitive items</h5><ul>";
                for &(item, count) in group.sensitive.iter().take(LINES) {
                    let _ = write!(html, "<li>{}</li>", line(vocabulary.label(item), count));
                }
                page.raw(&(html + "</ul></div></div></div>"));
            }
        }
        Body::Located(body) => {
            page.text(
                "Each leaf lists what its records keep, and apart from that in how many further \
                 records other items are. Listed items are in at least one.",
            );
            let telling = body.leaves.iter().filter(|leaf| !leaf.kept.is_empty());
            for leaf in telling.take(3) {
                page.raw(&draw_leaf(leaf, vocabulary));
            }
        }
    }
}

fn draw_leaf(leaf: &Leaf, vocabulary: &Vocabulary) -> String {
    let mut html = format!(
        "<div class=\"cluster\"><h4>A leaf of {} records</h4><div class=\"chunks\">",
        leaf.size
    );
    html += &draw_chunk("kept", "chunk", &leaf.kept, vocabulary);
    html += "<div class=\"chunk terms\"><h5>further items</h5><ul>";
    for &(item, count) in leaf.counted.iter().take(LINES) {
        let _ = write!(html, "<li>{}</li>", line(vocabulary.label(item), count));
    }
    for &item in leaf.listed.iter().take(LINES) {
        let _ = write!(html, "<li>{}</li>", escape(vocabulary.label(item)));
    }
    html + "</ul></div></div></div>"
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

fn draw_cluster(cluster: &Cluster, vocabulary: &Vocabulary) -> String {
    let mut html = String::from("<div class=\"cluster\">");
    match cluster {
        Cluster::Simple(leaf) => {
            let _ =
                write!(html, "<h4>A cluster of {} records</h4><div class=\"chunks\">", leaf.size);
            for (i, chunk) in leaf.record_chunks.iter().enumerate() {
                let name = format!("record chunk {}", i + 1);
                html += &draw_chunk(&name, "chunk", chunk, vocabulary);
            }
            if !leaf.term_chunk.is_empty() {
                html += "<div class=\"chunk terms\"><h5>term chunk</h5><ul>";
                for &term in leaf.term_chunk.iter().take(TERMS) {
                    let _ = write!(html, "<li>{}</li>", escape(vocabulary.label(term)));
                }
                html += &more(leaf.term_chunk.len(), TERMS);
                html += "</ul></div>";
            }
            html += "</div>";
        }
        Cluster::Joint(joint) => {
            let _ = write!(
                html,
                "<h4>A joint cluster of {} records: {} clusters share chunks</h4>\
                 <div class=\"chunks\">",
                joint.size,
                cluster.leaves().len()
            );
            for (i, chunk) in joint.shared_chunks.iter().enumerate() {
                let name = format!("shared chunk {}", i + 1);
                html += &draw_chunk(&name, "chunk shared", chunk, vocabulary);
            }
            html += "</div>";
            for child in joint.children.iter().take(LEAVES) {
                html += &draw_cluster(child, vocabulary);
            }
            let left = joint.children.len().saturating_sub(LEAVES);
            if left > 0 {
                let _ = write!(html, "<p class=\"note\">… and {left} more clusters</p>");
            }
        }
    }
    html + "</div>"
}

fn draw_chunk(name: &str, class: &str, chunk: &Bag, vocabulary: &Vocabulary) -> String {
    let mut html = format!("<div class=\"{class}\"><h5>{name}</h5><ul>");
    for (items, count) in chunk.iter().take(LINES) {
        let _ = write!(html, "<li>{}</li>", line(&vocabulary.texts(items).join(", "), count));
    }
    html + &more(chunk.len(), LINES) + "</ul></div>"
}

fn line(text: &str, count: u32) -> String {
    let times = match count {
        1 => String::new(),
        n => format!(" <span class=\"times\">× {n}</span>"),
    };
    escape(text) + &times
}

fn more(len: usize, shown: usize) -> String {
    let left = len.saturating_sub(shown);
    if left == 0 { String::new() } else { format!("<li class=\"times\">… {left} more</li>") }
}
