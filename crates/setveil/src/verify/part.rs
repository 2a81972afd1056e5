//! A disassociated release, verified block by block.
//!
//! A block is some of the clusters, in the order of the release, with a
//! vocabulary of its own. A [`Part`] takes one after the other and keeps of
//! each what the rest must know: how many records and clusters, which terms,
//! the first and the last cluster for the order. Parts that looked at
//! neighbouring stretches of a release, on other threads or machines, are put
//! together by [`merge`](Part::merge). Memory: one block, every distinct term
//! once, two clusters, and the first violations.

mod bytes;

pub(crate) use bytes::{framed, pieces};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::cluster::{Checker, Items, Place, Rules};
use super::km::KmSearch;
use super::order::{self, ByNumber, ByText};
use super::work::Work;
use super::{Findings, LISTED, Verdict, Violation, manifest, safe, text};
use crate::data::{ItemId, Vocabulary};
use crate::release::{Cluster, Disassociated, Manifest, Model};
use crate::{Progress, Result};

/// What was found in a stretch of a disassociated release.
///
/// # Guarantee
/// However a release is cut into blocks and parts, adding the blocks in order
/// and merging the parts in order gives the verdict of
/// [`verify`](super::verify) on the whole.
///
/// ```
/// use setveil::{Dataset, data::{K, M}, methods::disassociation, verify::Part, release::Body};
///
/// let data = Dataset::from_records([["a", "b"], ["a", "b"], ["a", "c"], ["a", "c"]]);
/// let parameters = disassociation::Parameters::new(K::new(2)?, M::new(2)?);
/// let release = disassociation::anonymize(&data, &parameters, &())?;
/// let Body::Disassociated(body) = &release.body else { unreachable!() };
/// let mut part = Part::new(&release.manifest);
/// part.add(body, &())?;
/// assert!(part.finish().holds);
/// # Ok::<(), setveil::Error>(())
/// ```
pub struct Part {
    manifest: Manifest,
    /// None where the manifest promises nothing that could be checked.
    rules: Option<Rules>,
    /// The files that the clusters stand in, with how many of them; the first
    /// is continued from the part before unless it has a name.
    files: Vec<(Option<String>, u64)>,
    records: u64,
    labels: FxHashSet<Box<str>>,
    /// In how many records each sensitive term is at most, for who believes l.
    most: FxHashMap<Box<str>, u64>,
    borders: Option<(Border, Border)>,
    /// Who shares terms with whom, where the manifest says that the release is safe.
    joins: Option<safe::Joins>,
    found: Vec<Witness>,
    count: u64,
}

/// A violation in a line of one of the files.
struct Witness {
    file: usize,
    line: u64,
    violation: Violation,
}

/// A cluster with labels of its own.
#[derive(Clone)]
struct Border {
    cluster: Cluster,
    labels: Vocabulary,
}

impl Part {
    /// A part with nothing in it yet, of a release with this manifest.
    pub fn new(manifest: &Manifest) -> Self {
        let rules = match manifest.guarantee.model {
            Model::FormatKmAnonymity { k, m, l } if k >= 2 && m >= 1 && l != Some(0) => {
                Some(Rules { k: k.into(), m, l })
            }
            _ => None,
        };
        Self {
            manifest: manifest.clone(),
            rules,
            files: vec![(None, 0)],
            records: 0,
            labels: FxHashSet::default(),
            most: FxHashMap::default(),
            borders: None,
            joins: safe::Rules::of(manifest).map(safe::Joins::new),
            found: Vec::new(),
            count: 0,
        }
    }

    /// The blocks that follow stand in the file `name`, from its first line on.
    pub fn file(&mut self, name: &str) {
        self.files.push((Some(name.to_owned()), 0));
    }

    /// Checks the next block, its clusters on all threads.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) and
    /// [`Error::Undecided`](crate::Error::Undecided).
    pub fn add(&mut self, block: &Disassociated, progress: &dyn Progress) -> Result<()> {
        self.add_block(block, None, progress)
    }

    /// Like [`add`](Self::add), and compares the block's lines in the file
    /// with the canonical ones, byte by byte.
    pub fn add_with_text(
        &mut self,
        block: &Disassociated,
        lines: &[u8],
        progress: &dyn Progress,
    ) -> Result<()> {
        self.add_block(block, Some(lines), progress)
    }

    fn add_block(
        &mut self,
        block: &Disassociated,
        lines: Option<&[u8]>,
        progress: &dyn Progress,
    ) -> Result<()> {
        let start = self.files.last().expect("there is at least one").1;
        if let Some(rules) = self.rules {
            let items = Items {
                len: block.vocabulary.len(),
                sensitive: manifest::sensitive_marks(&self.manifest, &block.vocabulary),
            };
            let safe = self.joins.as_ref().map(safe::Joins::rules);
            for (i, findings) in check(block, rules, safe, &items, progress)? {
                self.take(start + i, findings);
            }
            self.add_sensitive(block, rules, &items.sensitive);
        }
        for (i, what) in lines.map_or(Vec::new(), |lines| text::clusters(block, lines)) {
            let mut findings = Findings::new(&block.vocabulary);
            findings.add("text", || format!(": {what}"), &[], 0, 0);
            self.take(start + i, findings);
        }
        if let (Some(first), Some(last)) = (block.clusters.first(), block.clusters.last()) {
            let first = Border::new(first, &block.vocabulary);
            let last = Border::new(last, &block.vocabulary);
            self.meet(&first, self.files.len() - 1, start);
            self.borders = match self.borders.take() {
                Some((before, _)) => Some((before, last)),
                None => Some((first, last)),
            };
        }
        if let Some(joins) = &mut self.joins {
            joins.add(block);
        }
        self.records += block.records();
        let new = block.vocabulary.labels().filter(|label| !self.labels.contains(*label));
        let new: Vec<Box<str>> = new.map(Box::from).collect();
        self.labels.extend(new);
        self.files.last_mut().expect("there is at least one").1 += block.clusters.len() as u64;
        Ok(())
    }

    fn add_sensitive(&mut self, block: &Disassociated, rules: Rules, sensitive: &[bool]) {
        if sensitive.is_empty() || rules.l.is_none() {
            return;
        }
        for leaf in block.clusters.iter().flat_map(Cluster::leaves) {
            for &term in leaf.term_chunk.iter().filter(|&&t| sensitive[t as usize]) {
                let label = Box::from(block.vocabulary.label(term));
                *self.most.entry(label).or_default() += rules.most(leaf.size);
            }
        }
    }

    /// Appends a part that looked at what follows directly. Both must be of
    /// the same release.
    pub fn merge(&mut self, later: Self) {
        let base = self.files.len() - 1;
        let shift = self.files[base].1;
        // What the later part began without a name goes on in this part's last file.
        let place = |file: usize, line: u64| match file {
            0 => (base, shift + line),
            _ => (base + file, line),
        };
        if let Some((first, last)) = later.borders {
            let named = later.files.iter().position(|file| file.1 > 0).unwrap_or(0);
            let (file, line) = place(named, 0);
            self.meet(&first, file, line);
            self.borders = match self.borders.take() {
                Some((before, _)) => Some((before, last)),
                None => Some((first, last)),
            };
        }
        self.count += later.count;
        for witness in later.found {
            let (file, line) = place(witness.file, witness.line);
            self.found.push(Witness { file, line, ..witness });
        }
        self.trim();
        if let (Some(joins), Some(later)) = (&mut self.joins, later.joins) {
            joins.merge(later);
        }
        self.records += later.records;
        self.labels.extend(later.labels);
        for (label, most) in later.most {
            *self.most.entry(label).or_default() += most;
        }
        let mut files = later.files.into_iter();
        self.files[base].1 += files.next().expect("there is at least one").1;
        self.files.extend(files);
    }

    /// The distinct labels so far, ascending, which this part has no more: most files of a release have the
    /// same ones, so whoever collects many parts unites their labels first.
    pub fn take_labels(&mut self) -> Vec<Box<str>> {
        let mut labels: Vec<Box<str>> = std::mem::take(&mut self.labels).into_iter().collect();
        labels.sort_unstable();
        labels
    }

    /// Gives labels back that were taken.
    pub fn add_labels(&mut self, labels: impl IntoIterator<Item = Box<str>>) {
        self.labels.extend(labels);
    }

    /// What is to be said about the whole release, its manifest included.
    pub fn finish(self) -> Verdict {
        let nothing = Vocabulary::default();
        let mut findings = Findings::new(&nothing);
        let published = |label: &str| self.labels.contains(label);
        manifest::check(&self.manifest, manifest::Kind::Clusters, &published, &mut findings);
        for (what, found, expected) in [
            ("records", self.records, self.manifest.records),
            ("items", self.labels.len() as u64, self.manifest.items),
        ] {
            if found != expected {
                findings.add("totals", || format!("manifest.json: {what}"), &[], found, expected);
            }
        }
        self.check_sensitive(&mut findings);
        if let Some(joins) = self.joins {
            joins.check(&mut findings);
        }
        findings.count += self.count - self.found.len() as u64;
        for Witness { file, line, mut violation } in self.found {
            let name = self.files[file].0.as_deref().unwrap_or("clusters.jsonl");
            violation.r#where = format!("{name}:{}{}", line + 1, violation.r#where);
            findings.take(violation);
        }
        findings.verdict(&self.manifest)
    }

    /// A sensitive term could be in k records even for who believes that it is
    /// in at most 1/l of every cluster's.
    fn check_sensitive(&self, findings: &mut Findings) {
        let Some(rules) = self.rules else { return };
        let mut few: Vec<(&str, u64)> = self.most.iter().map(|(t, &most)| (&**t, most)).collect();
        few.retain(|&(_, most)| most < rules.k);
        few.sort_unstable();
        for (term, support) in few {
            findings.take(Violation {
                r#where: "clusters.jsonl".into(),
                itemset: vec![term.to_owned()],
                support,
                required: rules.k,
                rule: "sensitive-support",
            });
        }
    }

    /// The first cluster of what follows must not come before the last one so far.
    fn meet(&mut self, next: &Border, file: usize, line: u64) {
        let Some((_, last)) = &self.borders else { return };
        let by = ByText(&last.labels, &next.labels);
        if order::clusters(&last.cluster, &next.cluster, by).is_gt() {
            self.count += 1;
            let violation = Violation::order(String::new());
            self.found.push(Witness { file, line, violation });
            self.trim();
        }
    }

    /// Takes what was found in line `line` of the current file.
    fn take(&mut self, line: u64, findings: Findings) {
        self.count += findings.count;
        let file = self.files.len() - 1;
        let new = findings.violations.into_iter();
        self.found.extend(new.map(|violation| Witness { file, line, violation }));
        self.trim();
    }

    /// Keeps the first witnesses. They are sorted so that neither blocks nor
    /// parts show in the list.
    fn trim(&mut self) {
        let place = |v: &Violation| !(v.rule == "canonical-order" && v.r#where.is_empty());
        self.found.sort_by_key(|w| (w.file, w.line, place(&w.violation)));
        self.found.truncate(LISTED);
    }
}

/// What is wrong with the clusters of a block, with their indices.
fn check<'a>(
    block: &'a Disassociated,
    rules: Rules,
    safe: Option<safe::Rules>,
    items: &Items,
    progress: &dyn Progress,
) -> Result<Vec<(u64, Findings<'a>)>> {
    let work = Work::new(occurrences(block), progress);
    let found: Result<Vec<_>> = block
        .clusters
        .par_iter()
        .enumerate()
        .map_init(<(KmSearch, safe::Tails)>::default, |(search, tails), (i, cluster)| {
            let mut findings = Findings::new(&block.vocabulary);
            if i > 0 && order::clusters(&block.clusters[i - 1], cluster, ByNumber).is_gt() {
                findings.add("canonical-order", String::new, &[], 0, 0);
            }
            let mut meter = work.meter();
            let meters = &mut meter;
            Checker { rules, items, search, meter: meters, findings: &mut findings }
                .cluster(cluster, &Place::cluster())?;
            if let Some(rules) = safe {
                safe::cluster(cluster, rules, tails, &mut meter, &mut findings)?;
            }
            meter.flush()?;
            progress.step(1)?;
            Ok((i as u64, findings))
        })
        .filter(|result| result.as_ref().map_or(true, |(_, findings)| findings.count > 0))
        .collect();
    found
}

fn occurrences(block: &Disassociated) -> u64 {
    let mut stack: Vec<&Cluster> = block.clusters.iter().collect();
    let mut sum = 0;
    while let Some(cluster) = stack.pop() {
        sum += cluster.chunks().iter().map(|chunk| chunk.items().len() as u64).sum::<u64>();
        stack.extend(cluster.children());
    }
    sum
}

impl Border {
    fn new(cluster: &Cluster, vocabulary: &Vocabulary) -> Self {
        let mut used: Vec<ItemId> = Vec::new();
        let mut stack = vec![cluster];
        while let Some(cluster) = stack.pop() {
            cluster.chunks().iter().for_each(|chunk| used.extend_from_slice(chunk.items()));
            if let Cluster::Simple(leaf) = cluster {
                used.extend_from_slice(&leaf.term_chunk);
            }
            stack.extend(cluster.children());
        }
        used.sort_unstable();
        used.dedup();
        let labels = Vocabulary::new(used.iter().map(|&item| vocabulary.label(item)));
        let mut cluster = cluster.clone();
        renumber(&mut cluster, &|item| used.partition_point(|&u| u < item) as ItemId);
        Self { cluster, labels }
    }
}

fn renumber(cluster: &mut Cluster, number: &dyn Fn(ItemId) -> ItemId) {
    let chunks = match cluster {
        Cluster::Simple(leaf) => {
            leaf.term_chunk.iter_mut().for_each(|item| *item = number(*item));
            &mut leaf.record_chunks
        }
        Cluster::Joint(joint) => {
            joint.children.iter_mut().for_each(|child| renumber(child, number));
            &mut joint.shared_chunks
        }
    };
    for chunk in chunks {
        let mut renumbered = crate::release::Bag::default();
        for (items, count) in chunk.iter() {
            let items: Vec<ItemId> = items.iter().map(|&item| number(item)).collect();
            renumbered.push(&items, count);
        }
        *chunk = renumbered;
    }
}
