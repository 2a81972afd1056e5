//! Brute force over hierarchies: all cuts, all groupings, all assignments.
//! Text and sets throughout, for data that fits on a page.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt;

/// A generalised record.
pub type Labels = BTreeSet<String>;

/// A hierarchy as its paths, `leaf;parent;...;*`.
#[derive(Clone, Debug)]
pub struct Tree {
    /// One line a leaf.
    pub lines: Vec<String>,
    above: BTreeMap<String, Vec<String>>,
    leaves: BTreeMap<String, BTreeSet<String>>,
    children: BTreeMap<String, BTreeSet<String>>,
}

impl Tree {
    /// Takes the lines of a hierarchy file.
    pub fn new(lines: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let lines: Vec<String> = lines.into_iter().map(Into::into).collect();
        let mut tree = Self {
            lines: lines.clone(),
            above: BTreeMap::new(),
            leaves: BTreeMap::new(),
            children: BTreeMap::new(),
        };
        for line in &lines {
            let path: Vec<String> = line.split(';').map(str::to_owned).collect();
            for pair in path.windows(2) {
                tree.children.entry(pair[1].clone()).or_default().insert(pair[0].clone());
            }
            for label in &path {
                tree.leaves.entry(label.clone()).or_default().insert(path[0].clone());
            }
            tree.above.insert(path[0].clone(), path);
        }
        tree
    }

    /// A random tree over the leaves `a`, `b`, ...
    pub fn random(seed: u64, leaves: usize) -> Self {
        let mut rng = crate::random::rng(seed);
        // Groups of groups, until one is left.
        let mut level: Vec<(String, Vec<usize>)> =
            (0..leaves).map(|i| (crate::random::label(i), vec![i])).collect();
        let mut paths: Vec<String> = level.iter().map(|l| l.0.clone()).collect();
        let mut name = 0;
        while level.len() > 3 {
            let mut next: Vec<(String, Vec<usize>)> = Vec::new();
            while !level.is_empty() {
                let size = rng.random_range(1..=level.len().min(3));
                let group: Vec<_> = level.drain(..size).collect();
                if size == 1 {
                    next.extend(group); // Unbalanced: it waits for the next level.
                    continue;
                }
                name += 1;
                let members: Vec<usize> = group.into_iter().flat_map(|g| g.1).collect();
                members.iter().for_each(|&m| paths[m] += &format!(";N{name}"));
                next.push((format!("N{name}"), members));
            }
            level = next;
        }
        Self::new(paths.into_iter().map(|p| p + ";*"))
    }

    /// The library's form.
    pub fn hierarchy(&self) -> setveil::Hierarchy {
        let paths: Vec<Vec<&str>> = self.lines.iter().map(|l| l.split(';').collect()).collect();
        setveil::Hierarchy::from_paths(&paths).expect("a tree")
    }

    /// The penalty of an instance published as `label`.
    pub fn penalty(&self, label: &str) -> f64 {
        match self.leaves[label].len() {
            1 => 0.0,
            n => n as f64 / self.lines.len() as f64,
        }
    }

    /// Every cut: sets of labels of which each leaf has exactly one above it.
    pub fn cuts(&self) -> Vec<Labels> {
        self.cuts_below("*")
    }

    fn cuts_below(&self, label: &str) -> Vec<Labels> {
        let mut cuts = vec![Labels::from([label.to_owned()])];
        if let Some(children) = self.children.get(label) {
            let mut products = vec![Labels::new()];
            for child in children {
                let below = self.cuts_below(child);
                products = products
                    .iter()
                    .flat_map(|p| below.iter().map(|b| p.union(b).cloned().collect()))
                    .collect();
            }
            cuts.extend(products);
        }
        cuts
    }

    /// The record under a set of labels, and its loss; none if an item has no label.
    pub fn generalize(&self, record: &[String], labels: &Labels) -> Option<(Labels, f64)> {
        let (mut set, mut loss) = (Labels::new(), 0.0);
        for item in record {
            let label = self.above.get(item)?.iter().find(|l| labels.contains(*l))?;
            loss += self.penalty(label);
            set.insert(label.clone());
        }
        Some((set, loss))
    }
}

/// The smallest NCP of any k-anonymous local recoding: all ways to group the
/// records, and the best common cut for every group.
pub fn best_local(tree: &Tree, records: &[Vec<String>], k: usize) -> f64 {
    let cuts = tree.cuts();
    let all = (1usize << records.len()) - 1;
    let members = |mask: usize| records.iter().enumerate().filter(move |(i, _)| mask >> i & 1 == 1);
    let cost = |mask: usize| {
        let losses = cuts.iter().filter_map(|cut| {
            let done: Vec<(Labels, f64)> =
                members(mask).filter_map(|(_, r)| tree.generalize(r, cut)).collect();
            let same = done.iter().all(|d| d.0 == done[0].0);
            same.then(|| done.iter().map(|d| d.1).sum::<f64>())
        });
        losses.fold(f64::INFINITY, f64::min)
    };
    let mut best = vec![f64::INFINITY; all + 1];
    best[0] = 0.0;
    for mask in 1..=all {
        // The group of the first record is any part of the mask that holds it.
        let mut group = mask;
        while group > 0 {
            let first = mask & mask.wrapping_neg();
            if group & first != 0 && group.count_ones() as usize >= k {
                best[mask] = best[mask].min(best[mask & !group] + cost(group));
            }
            group = (group - 1) & mask;
        }
    }
    best[all] / records.iter().map(Vec::len).sum::<usize>() as f64
}

/// The smallest NCP of any cut under which every set of up to m labels that
/// occurs, occurs in k records.
pub fn best_global(tree: &Tree, records: &[Vec<String>], k: usize, m: usize) -> f64 {
    let mut best = f64::INFINITY;
    for cut in tree.cuts() {
        let done: Vec<(Labels, f64)> =
            records.iter().filter_map(|r| tree.generalize(r, &cut)).collect();
        let classes: Vec<(Labels, u32)> = done.iter().map(|d| (d.0.clone(), 1)).collect();
        if rare_itemset(&classes, k, m).is_none() {
            best = best.min(done.iter().map(|d| d.1).sum());
        }
    }
    best / records.iter().map(Vec::len).sum::<usize>() as f64
}

/// A set of 1 to m labels that occurs in fewer than k records, if there is one.
pub fn rare_itemset(classes: &[(Labels, u32)], k: usize, m: usize) -> Option<Labels> {
    for (class, _) in classes {
        let labels: Vec<&String> = class.iter().collect();
        for mask in 1usize..1 << labels.len() {
            if mask.count_ones() as usize > m {
                continue;
            }
            let set: Labels = (0..labels.len())
                .filter(|i| mask >> i & 1 == 1)
                .map(|i| labels[i].clone())
                .collect();
            let support: usize =
                classes.iter().filter(|c| c.0.is_superset(&set)).map(|c| c.1 as usize).sum();
            if support < k {
                return Some(set);
            }
        }
    }
    None
}

/// The smallest and the largest NCP over all ways to put the records into the
/// classes; none if there is no way. A record fits a class if it generalises
/// to exactly its labels.
pub fn ncp_range(
    tree: &Tree,
    records: &[Vec<String>],
    classes: &[(Labels, u32)],
) -> Option<(f64, f64)> {
    fn place(fits: &[Vec<Option<f64>>], room: &mut [u32], row: usize) -> Option<(f64, f64)> {
        let Some(options) = fits.get(row) else { return Some((0.0, 0.0)) };
        let mut range: Option<(f64, f64)> = None;
        for (class, loss) in options.iter().enumerate() {
            let Some(loss) = loss.filter(|_| room[class] > 0) else { continue };
            room[class] -= 1;
            if let Some((low, high)) = place(fits, room, row + 1) {
                let (a, b) = range.unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
                range = Some((a.min(low + loss), b.max(high + loss)));
            }
            room[class] += 1;
        }
        range
    }
    let fits: Vec<Vec<Option<f64>>> = records
        .iter()
        .map(|r| {
            let fit =
                |c: &(Labels, u32)| tree.generalize(r, &c.0).filter(|g| g.0 == c.0).map(|g| g.1);
            classes.iter().map(fit).collect()
        })
        .collect();
    let mut room: Vec<u32> = classes.iter().map(|c| c.1).collect();
    let instances = records.iter().map(Vec::len).sum::<usize>() as f64;
    let (low, high) = place(&fits, &mut room, 0)?;
    Some((low / instances, high / instances))
}
