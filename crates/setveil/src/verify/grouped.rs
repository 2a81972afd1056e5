//! The association guarantee of grouped releases (cahd-2008, section II-A),
//! counted from the published groups alone.
//!
//! Rules, by the names that a violation carries:
//!
//! - `model`: groups promise association and nothing else.
//! - `parameters`: p is at least 2 and the same in both places of the manifest.
//! - `sensitive-list`: the manifest lists the sensitive items that occur, ascending.
//! - `degree`: a sensitive item with count c stands in a group of at least c * p records.
//! - `group-size`: a group has at least p records.
//! - `group-records`: a group lists no more records than it has.
//! - `sensitive-in-records`: no sensitive item stands among the items of a record.
//! - `sensitive-unlisted`: only items on the manifest's list are counted as sensitive.
//! - `canonical-order`: items, records, sensitive items and groups ascend and repeat
//!   only where they may; counts are positive. Any other order could tell something.
//! - `totals`: records and items add up to what the manifest says.
//!
//! It does not decide whether the groups come from the original, which nobody
//! can see, nor what an attacker who replays the algorithm learns.

use super::{Findings, manifest, order};
use crate::data::ItemId;
use crate::release::{Group, Grouped, Manifest, Model};
use crate::{Progress, Result};

/// Groups between two questions whether to go on.
const GROUPS: usize = 1 << 10;

pub(super) fn check(
    manifest: &Manifest,
    body: &Grouped,
    progress: &dyn Progress,
    findings: &mut Findings,
) -> Result<()> {
    let published = |label: &str| body.vocabulary.id(label).is_some();
    manifest::check(manifest, manifest::Kind::Groups, &published, findings);
    let Model::Association { p } = manifest.guarantee.model else {
        findings.add("model", || "manifest.json: guarantee".into(), &[], 0, 0);
        return Ok(());
    };
    check_parameters(p, findings);
    let mut published = Published {
        p: u64::from(p),
        is_sensitive: listed(manifest, body, findings),
        seen: vec![false; body.vocabulary.len()],
        records: 0,
    };
    for (i, group) in body.groups.iter().enumerate() {
        if i % GROUPS == 0 {
            progress.step(GROUPS.min(body.groups.len() - i) as u64)?;
        }
        if i > 0 && order::groups(&body.groups[i - 1], group).is_gt() {
            findings.add("canonical-order", || line(i), &[], 0, 0);
        }
        published.check_group(i, group, findings);
    }
    let items = published.seen.iter().filter(|&&seen| seen).count() as u64;
    for (name, found, said) in
        [("records", published.records, manifest.records), ("items", items, manifest.items)]
    {
        if found != said {
            findings.add("totals", || format!("manifest.json: {name}"), &[], found, said);
        }
    }
    Ok(())
}

fn line(i: usize) -> String {
    format!("groups.jsonl:{}", i + 1)
}

fn check_parameters(p: u32, findings: &mut Findings) {
    if p < 2 {
        findings.add("parameters", || "manifest.json: guarantee.p".into(), &[], p.into(), 2);
    }
}

/// Which items of the vocabulary the manifest lists as sensitive.
fn listed(manifest: &Manifest, body: &Grouped, findings: &mut Findings) -> Vec<bool> {
    let mut is_sensitive = vec![false; body.vocabulary.len()];
    let list = manifest.parameters.get("sensitive").and_then(|v| v.as_array());
    let labels: Option<Vec<&str>> =
        list.and_then(|list| list.iter().map(|label| label.as_str()).collect());
    let place = || "manifest.json: parameters.sensitive".to_owned();
    let Some(labels) = labels else {
        findings.add("sensitive-list", place, &[], 0, 1);
        return is_sensitive;
    };
    if labels.is_empty() || !labels.is_sorted_by(|a, b| a < b) {
        findings.add("sensitive-list", place, &[], labels.len() as u64, 1);
    }
    for label in labels {
        match body.vocabulary.id(label) {
            Some(item) => is_sensitive[item as usize] = true,
            // A label that no group has would be said here and nowhere else.
            None => {
                let place = || format!("manifest.json: {label:?} is in no group");
                findings.add("sensitive-list", place, &[], 0, 1);
            }
        }
    }
    is_sensitive
}

/// What is known and counted while the groups pass by.
struct Published {
    p: u64,
    is_sensitive: Vec<bool>,
    seen: Vec<bool>,
    records: u64,
}

impl Published {
    fn check_group(&mut self, i: usize, group: &Group, findings: &mut Findings) {
        let size = u64::from(group.size);
        self.records += size;
        if size < self.p {
            findings.add("group-size", || line(i), &[], size, self.p);
        }
        // A record that is not listed would have sensitive items only, and everybody
        // who knows that of a person would be certain.
        let listed = group.records.total();
        if listed != size {
            findings.add("group-records", || line(i), &[], listed, size);
        }
        self.check_records(i, group, findings);
        self.check_sensitive(i, group, findings);
    }

    fn check_records(&mut self, i: usize, group: &Group, findings: &mut Findings) {
        if let Some((at, what)) = order::bag_fault(&group.records) {
            let place = || format!("{} records[{at}]: {what}", line(i));
            findings.add("canonical-order", place, group.records.get(at).0, 0, 0);
        }
        let mut exposed: Vec<ItemId> = Vec::new();
        for &item in group.records.items() {
            self.seen[item as usize] = true;
            if self.is_sensitive[item as usize] {
                exposed.push(item);
            }
        }
        exposed.sort_unstable();
        exposed.dedup();
        for item in exposed {
            let holders = group.records.iter().filter(|(items, _)| items.contains(&item));
            let count = holders.map(|(_, count)| u64::from(count)).sum();
            findings.add("sensitive-in-records", || line(i), &[item], count, 0);
        }
    }

    fn check_sensitive(&mut self, i: usize, group: &Group, findings: &mut Findings) {
        let size = u64::from(group.size);
        for (at, &(item, count)) in group.sensitive.iter().enumerate() {
            self.seen[item as usize] = true;
            let place = || format!("{} sensitive[{at}]", line(i));
            let count = u64::from(count);
            let needed = count.saturating_mul(self.p);
            if needed > size {
                findings.add("degree", place, &[item], size, needed);
            }
            if !self.is_sensitive[item as usize] {
                findings.add("sensitive-unlisted", place, &[item], count, 0);
            }
            if count == 0 || (at > 0 && group.sensitive[at - 1].0 >= item) {
                findings.add("canonical-order", place, &[item], 0, 0);
            }
        }
    }
}
