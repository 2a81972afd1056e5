//! What is in the files, and how to work with them.

use super::html::{Page, number};
use super::verdict::parts_name;
use crate::chart::columns;
use crate::release::{Body, Cluster, Leaf, Release, Supports};

pub(super) fn contents(page: &mut Page, release: &Release) {
    page.section("What is in the release");
    let mut rows = vec![
        vec!["records".to_owned(), number(release.manifest.records)],
        vec!["distinct items".to_owned(), number(release.manifest.items)],
    ];
    let sizes: Vec<u64> = match &release.body {
        Body::Disassociated(body) => {
            let leaves: Vec<_> = body.clusters.iter().flat_map(Cluster::leaves).collect();
            let joint = body.clusters.iter().filter(|c| matches!(c, Cluster::Joint(_))).count();
            let chunks: usize = leaves.iter().map(|l| l.record_chunks.len()).sum();
            let terms: usize = leaves.iter().map(|l| l.term_chunk.len()).sum();
            rows.push(vec!["clusters".into(), number(leaves.len() as u64)]);
            rows.push(vec!["joint clusters at the top".into(), number(joint as u64)]);
            rows.push(vec!["record chunks".into(), number(chunks as u64)]);
            rows.push(vec!["shared chunks".into(), number(shared_chunks(&body.clusters))]);
            rows.push(vec!["entries in term chunks".into(), number(terms as u64)]);
            leaves.iter().map(|l| l.size.into()).collect()
        }
        Body::Generalized(body) => {
            rows.push(vec!["classes".into(), number(body.classes.len() as u64)]);
            body.classes.iter().map(|(_, count)| count.into()).collect()
        }
        Body::Grouped(body) => {
            rows.push(vec!["groups".into(), number(body.groups.len() as u64)]);
            body.groups.iter().map(|g| g.size.into()).collect()
        }
        Body::Located(body) => {
            let sum = |count: &dyn Fn(&Leaf) -> usize| {
                number(body.leaves.iter().map(|leaf| count(leaf) as u64).sum())
            };
            let kept: u64 = body.leaves.iter().map(|leaf| leaf.kept.total()).sum();
            rows.push(vec!["leaves".into(), number(body.leaves.len() as u64)]);
            rows.push(vec!["kept sub-records".into(), number(kept)]);
            rows.push(vec!["counted items".into(), sum(&|leaf| leaf.counted.len())]);
            rows.push(vec!["listed items".into(), sum(&|leaf| leaf.listed.len())]);
            rows.push(vec!["items with a total".into(), number(body.totals.len() as u64)]);
            body.leaves.iter().map(|leaf| leaf.size.into()).collect()
        }
    };
    page.table("Contents", &["what", "how many"], &rows);
    let caption = format!("How many {} have how many records", parts_name(release));
    let shown: Vec<(String, u64, String)> =
        histogram(&sizes).into_iter().map(|(name, n)| (name, n, number(n))).collect();
    page.figure(&caption, columns(&caption, "records", &shown));
    let rows: Vec<Vec<String>> = release
        .manifest
        .files
        .iter()
        .map(|f| vec![f.name.clone(), number(f.bytes), number(f.lines), in_blocks(&f.sha256)])
        .collect();
    if !rows.is_empty() {
        page.table("Published files", &["file", "bytes", "lines", "SHA-256"], &rows);
    }
}

fn shared_chunks(clusters: &[Cluster]) -> u64 {
    let shared = |c: &Cluster| match c {
        Cluster::Simple(_) => 0,
        Cluster::Joint(joint) => joint.shared_chunks.len() as u64 + shared_chunks(&joint.children),
    };
    clusters.iter().map(shared).sum()
}

/// Sizes in at most eight classes of equal width, or of doubling width where
/// they spread over more than two orders of magnitude.
fn histogram(sizes: &[u64]) -> Vec<(String, u64)> {
    let (Some(&least), Some(&most)) = (sizes.iter().min(), sizes.iter().max()) else {
        return Vec::new();
    };
    let mut edges = vec![least];
    if most > 100 * least.max(1) {
        let factor = ((most + 1) as f64 / least.max(1) as f64).powf(1.0 / 7.0);
        let mut edge = least.max(1) as f64;
        while *edges.last().expect("it has one") <= most {
            edge *= factor;
            let next = (edge.ceil() as u64).max(edges[edges.len() - 1] + 1);
            edges.push(next);
        }
    } else {
        let width = ((most - least) / 8 + 1).max(1);
        while *edges.last().expect("it has one") <= most {
            edges.push(edges[edges.len() - 1] + width);
        }
    }
    edges
        .windows(2)
        .map(|w| {
            let count = sizes.iter().filter(|s| (w[0]..w[1]).contains(s)).count() as u64;
            let name = if w[1] - w[0] == 1 {
                w[0].to_string()
            } else {
                format!("{}–{}", w[0], w[1] - 1)
            };
            (name, count)
        })
        .collect()
}

pub(super) fn how_to_use(page: &mut Page, release: &Release) {
    page.section("How to work with it");
    page.text("For an analyst who has only the release:");
    let labels: Vec<&str> = release.body.vocabulary().labels().take(2).collect();
    let itemset = labels.join(",");
    let (answer, worlds, check) = match release.manifest.guarantee.supports {
        Supports::Noisy => (
            "an estimate, without bounds",
            "the noisy records, for any mining tool\nsetveil reconstruct RELEASE -o records",
            "is the release well-formed?",
        ),
        _ => (
            "bounds that always hold",
            "ten data sets that the release could have come from, for any mining tool\n\
             setveil reconstruct RELEASE -n 10 -o worlds",
            "does the guarantee hold?",
        ),
    };
    page.code(&format!(
        "# in how many records do items stand together? {answer}\n\
         setveil query RELEASE \"{itemset}\"\n\n# {worlds}\n\n\
         # {check}\nsetveil verify RELEASE"
    ));
}

/// A check sum in pieces that fit on a line.
fn in_blocks(hex: &str) -> String {
    let pieces: Vec<&str> =
        hex.as_bytes().chunks(16).map(|p| std::str::from_utf8(p).unwrap_or_default()).collect();
    pieces.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_falls_into_one_class() {
        let spread: Vec<u64> = (1..=30).map(|i| i * i * 40).collect();
        for sizes in [vec![5], vec![5, 5, 6], (5..51).collect(), spread, vec![1, 100_000]] {
            let classes = histogram(&sizes);
            assert!(classes.len() <= 9, "{classes:?}");
            assert_eq!(classes.iter().map(|c| c.1).sum::<u64>(), sizes.len() as u64, "{classes:?}");
        }
        assert!(histogram(&[]).is_empty());
    }
}
