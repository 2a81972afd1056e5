//! The sections with numbers.

use super::html::{Page, number, percent};
use super::svg::{Row, bars, columns};
use super::{Measured, Risk};
use crate::measure::{Evaluation, MEANINGS};
use crate::release::{Body, Cluster, Leaf, Release, Supports};
use crate::verify::Verdict;

pub(super) fn summary(
    page: &mut Page,
    release: &Release,
    verdict: &Verdict,
    measured: Option<&Measured>,
) {
    page.section("Summary");
    let parameters: Vec<String> = [("k", verdict.k), ("m", verdict.m)]
        .into_iter()
        .filter_map(|(name, value)| value.map(|v| format!("{name} = {v}")))
        .collect();
    let epsilon = verdict.epsilon.map(|e| format!("epsilon = {e}"));
    let parameters = parameters.into_iter().chain(epsilon).collect();
    let model = [vec![verdict.model.to_owned()], parameters].concat().join(", ");
    page.raw(&if let (true, Some(note)) = (verdict.holds, verdict.note) {
        format!(
            "<p class=\"verdict holds\"><strong>The release is well-formed.</strong> {model}. \
             Note: {note}.</p>"
        )
    } else if verdict.holds {
        format!(
            "<p class=\"verdict holds\"><strong>The guarantee holds.</strong> {model}. Checked on \
             the published files alone.</p>"
        )
    } else {
        format!(
            "<p class=\"verdict fails\"><strong>The guarantee does NOT hold: do not publish.\
             </strong> {model}: {} violations.</p>",
            number(verdict.violation_count)
        )
    });
    let mut facts = vec![
        ("records", number(release.manifest.records)),
        ("items", number(release.manifest.items)),
        (parts_name(release), number(parts(release) as u64)),
    ];
    if let Some(measured) = measured {
        if let Some(Risk { before, after, .. }) = measured.risk.iter().find(|r| r.known == 2) {
            facts.push(("found by 2 items, before", percent(*before)));
            facts.push(("found by 2 items, after", percent(*after)));
        }
        if let Some(tkd) = measured.evaluation.tkd {
            facts.push(("top itemsets kept", percent(1.0 - tkd)));
        }
    }
    let mut html = String::from("<dl class=\"facts\">");
    for (name, value) in facts {
        html += &format!("<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
    page.raw(&(html + "</dl>"));
    if measured.is_none() {
        page.raw(
            "<p class=\"note\">This report was made from the release alone. With the original, \
             the custodian can add risk and utility: <code>setveil report RELEASE --original \
             DATA -o report.html</code>.</p>",
        );
    } else {
        page.raw(
            "<p class=\"note\">Risk and utility were measured against the original data. Publish \
             this page only if these numbers may be known.</p>",
        );
    }
}

fn parts_name(release: &Release) -> &'static str {
    match &release.body {
        Body::Disassociated(_) => "clusters",
        Body::Generalized(_) => "classes",
        Body::Grouped(_) => "groups",
        Body::Located(_) => "leaves",
    }
}

fn parts(release: &Release) -> usize {
    match &release.body {
        Body::Disassociated(body) => body.clusters.iter().map(|c| c.leaves().len()).sum(),
        Body::Generalized(body) => body.classes.len(),
        Body::Grouped(body) => body.groups.len(),
        Body::Located(body) => body.leaves.len(),
    }
}

pub(super) fn verification(page: &mut Page, verdict: &Verdict) {
    page.section("Verification");
    page.text(
        "The check reads nothing but the published files and shares no code with the method that \
         made them. Anybody who has the release can repeat it with `setveil verify RELEASE`.",
    );
    if verdict.holds {
        page.text(&match verdict.note {
            None => "Result: the guarantee holds; no violation was found.".to_owned(),
            Some(note) => format!("Result: the release is well-formed. Note: {note}."),
        });
        return;
    }
    let rows: Vec<Vec<String>> = verdict
        .violations
        .iter()
        .take(20)
        .map(|v| {
            let itemset = v.itemset.join(", ");
            vec![v.rule.into(), v.r#where.clone(), itemset, number(v.support), number(v.required)]
        })
        .collect();
    let caption = format!("The first of {} violations", number(verdict.violation_count));
    page.table(&caption, &["rule", "place", "items", "found", "required"], &rows);
}

pub(super) fn risk(page: &mut Page, release: &Release, measured: &Measured) {
    if measured.risk.is_empty() {
        return;
    }
    page.section("Risk before and after");
    page.text(
        "Somebody knows a few items of a person. How surely do they find the person's record? \
         Before: one divided by the number of records that have these items, averaged over random \
         people and random items of theirs. After: the same with the number of records that could \
         have them in some data set that fits the release. This is what the guarantee speaks of; \
         how likely each candidate is, and what else an attacker infers, is measured by \
         `setveil attack`.",
    );
    let rows: Vec<Row> = measured
        .risk
        .iter()
        .map(|r| Row {
            label: format!("{} known", count(r.known, "item")),
            bars: vec![(r.before, percent(r.before)), (r.after, percent(r.after))],
        })
        .collect();
    page.raw(&bars("Probability of finding a person", &["before", "after"], &rows));
    let rows: Vec<Vec<String>> = measured
        .risk
        .iter()
        .map(|r| vec![r.known.to_string(), percent(r.before), percent(r.unique), percent(r.after)])
        .collect();
    page.table(
        "Probability of finding a person by known items",
        &["items known", "before", "before: alone with them", "after"],
        &rows,
    );
    if let (Some(k), Some(m)) =
        (release.manifest.guarantee.model.k(), release.manifest.guarantee.model.m())
    {
        page.text(&format!(
            "The guarantee covers up to {} ({} candidates in some possible data set). Numbers for \
             more are what happens to be left, not a promise.",
            count(m, "known item"),
            k
        ));
    }
}

fn count(n: u32, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

pub(super) fn utility(page: &mut Page, measured: &Measured) {
    page.section("What the data is still good for");
    let values = values(&measured.evaluation);
    let rows: Vec<Row> = values
        .iter()
        .filter(|(name, ..)| *name != "kl")
        .map(|(name, value, ..)| {
            let scale = if name.starts_with("re") { 2.0 } else { 1.0 };
            Row { label: (*name).to_owned(), bars: vec![(value / scale, format!("{value:.3}"))] }
        })
        .collect();
    page.raw(&bars("Measures (bars of re and re_a end at 2, the others at 1)", &[""], &rows));
    let rows: Vec<Vec<String>> = values
        .iter()
        .map(|(name, value, better, meaning)| {
            vec![(*name).into(), format!("{value:.4}"), (*better).into(), (*meaning).into()]
        })
        .collect();
    page.table("All measures", &["measure", "value", "better", "meaning"], &rows);
    let (records, items, occurrences) = measured.size;
    page.text(&format!(
        "The original has {} records, {} items and {} occurrences.",
        number(records),
        number(items),
        number(occurrences)
    ));
}

/// The measures that apply, with their direction and meaning.
fn values(evaluation: &Evaluation) -> Vec<(&'static str, f64, &'static str, &'static str)> {
    let json = serde_json::json!(evaluation);
    MEANINGS
        .iter()
        .filter_map(|&(name, better, meaning)| {
            json.get(name)?.as_f64().map(|value| (name, value, better, meaning))
        })
        .collect()
}

pub(super) fn shape(page: &mut Page, release: &Release) {
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
    page.raw(&columns(&caption, "records", &histogram(&sizes)));
    let rows: Vec<Vec<String>> = release
        .manifest
        .files
        .iter()
        .map(|f| vec![f.name.clone(), number(f.bytes), number(f.lines), f.sha256.clone()])
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
    let itemset = super::html::escape(&labels.join(","));
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
    page.raw(&format!(
        "<pre><code># in how many records do items stand together? {answer}\n\
         setveil query RELEASE \"{itemset}\"\n\n# {worlds}\n\n\
         # {check}\nsetveil verify RELEASE</code></pre>"
    ));
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
