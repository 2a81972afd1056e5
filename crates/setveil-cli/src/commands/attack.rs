//! `setveil attack`.

use std::fmt::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use setveil::attack::{Adversary, GroupReplay, Level, Options, Report, TermSupports};
use setveil::error::plain;
use setveil::workflow::{self, Attacked, files};

use crate::context::{Context, Exit, side_by_side};
use crate::inputs::{KeepArgs, LayoutArgs};
use crate::risk::{self, percent, share};
use crate::table::table;

/// Measure what an attacker still learns from a release
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  setveil attack release --original baskets.dat --adversary \
    moderate --share 0.1\n\nThree promises are printed side by side and never mixed: format (what \
    `setveil verify` decides),\nalgorithm (what knowing the method gives away) and posterior (the \
    probability in the end).\nThe exit code is 0 whatever is found: an attack is a measurement, \
    not a verdict.")]
pub struct Args {
    /// The release directory
    #[arg(value_name = "RELEASE")]
    release: PathBuf,
    /// The original data: attack its records, and count which guesses are right
    #[arg(long, value_name = "DATA")]
    original: Option<PathBuf>,
    #[command(flatten)]
    layout: LayoutArgs,
    /// What the attacker knows
    #[arg(long, value_enum, default_value = "strong")]
    adversary: AdversaryArg,
    /// Moderate attacker: the share of the records of which m items are known
    #[arg(long, default_value_t = Options::default().share)]
    share: f64,
    /// The seed for everything that is drawn
    #[arg(long, default_value_t = Options::default().seed)]
    seed: u64,
    /// How many items of a target are known [default: the release's m, or 2]; one and two more
    /// are tried as well
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16))]
    known: Option<u32>,
    /// Examine at most so many targets; all of them if there are no more
    #[arg(long, value_name = "N", default_value_t = Options::default().targets)]
    targets: usize,
    /// Possible worlds to try the algorithm on, per cluster or for all groups; 0 for none
    #[arg(long, value_name = "N", default_value_t = Options::default().worlds)]
    worlds: usize,
    /// Clusters to try the algorithm on
    #[arg(long, value_name = "N", default_value_t = Options::default().clusters)]
    clusters: usize,
    /// With --original, replay the whole program at most so often, and less often on data of more
    /// than five million items; 0 for never
    #[arg(long, value_name = "N", default_value_t = Options::default().replays)]
    replays: usize,
    #[command(flatten)]
    keep: KeepArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum AdversaryArg {
    /// Knows the right m items of every record
    Strong,
    /// Knows m random items of some of the records
    Moderate,
    /// Knows pairs of ten random items and ten words from elsewhere
    Weak,
}

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let release = files::read(&self.release, context)?;
        let original =
            self.original.as_deref().map(|path| self.layout.read(path, context)).transpose()?;
        let original = original.as_ref().map(|input| &input.dataset);
        let answer = workflow::attack(&release, original, &self.options()?, context)?;
        context.answer(&answer, || describe(&answer))?;
        Ok(Exit::Done)
    }

    fn options(&self) -> anyhow::Result<Options> {
        let adversary = match self.adversary {
            AdversaryArg::Strong => Adversary::Strong,
            AdversaryArg::Moderate => Adversary::Moderate,
            AdversaryArg::Weak => Adversary::Weak,
        };
        Ok(Options::default()
            .keep(self.keep.read()?)
            .adversary(adversary)
            .share(self.share)
            .seed(self.seed)
            .known(self.known)
            .targets(self.targets)
            .worlds(self.worlds)
            .clusters(self.clusters)
            .replays(self.replays))
    }
}

fn describe(answer: &Attacked) -> String {
    let Attacked { report, format, promises, .. } = answer;
    let mut text = String::new();
    let adversary = format!("{:?}", report.adversary).to_lowercase();
    let _ = writeln!(text, "{} attacker on a release by {}\n", adversary, report.method);
    if let Some(promises) = promises {
        let _ = writeln!(text, "What is promised:\n{}\nWhat was found:", side_by_side(promises));
    }
    let _ = match format.holds {
        true if format.note.is_some() => {
            writeln!(text, "format     {}: well-formed, which is all a release shows", report.model)
        }
        true => writeln!(text, "format     {} holds", report.model),
        false => writeln!(
            text,
            "format     {} does NOT hold: {} violations",
            report.model, format.violation_count
        ),
    };
    if let Some(levels) = &answer.risk {
        text += "\nrisk       what somebody achieves who knows some items of a person and plays it \
                 out on the release\n\n";
        text += &risk::describe(levels);
        text.push('\n');
    }
    describe_algorithm(&mut text, report);
    describe_posterior(&mut text, report);
    describe_parts(&mut text, report);
    describe_targets(&mut text, report);
    text.push('\n');
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// Classes and groups.
fn describe_parts(text: &mut String, report: &Report) {
    if let Some(classes) = &report.classes {
        let _ = writeln!(
            text,
            "\nclasses    {} of at least {} records, {:.1} on average\n           {} of the \
             published occurrences are not generalised; {} of the records are in a class with \
             such an item",
            classes.count,
            classes.min_size,
            classes.mean_size,
            percent(classes.certain_items),
            percent(classes.homogeneous_records)
        );
    }
    if let Some(groups) = &report.association {
        let _ = writeln!(
            text,
            "\ngroups     {} of at least {} records\n           one sensitive item: at most {}, \
             {} on average\n           any sensitive item: at most {}, {} on average; {} records \
             in groups where everybody may have one",
            groups.groups,
            groups.min_size,
            percent(groups.max_item),
            percent(groups.mean_item),
            percent(groups.max_any),
            percent(groups.mean_any),
            groups.possibly_all_sensitive
        );
    }
}

fn describe_algorithm(text: &mut String, report: &Report) {
    describe_covers(text, report);
    describe_stages(text, report);
}

fn describe_covers(text: &mut String, report: &Report) {
    if let Some(pairs) = report.breached_pairs {
        let _ = writeln!(
            text,
            "algorithm  covers: {pairs} pairs in fewer than k records of their cluster, {} of \
             them in the whole release (as printed in the paper: {})",
            report.breached_pairs_release.unwrap_or(0),
            report.printed_total.unwrap_or(0)
        );
        if let Some(records) = report.vulnerable_records {
            let _ = writeln!(text, "           vulnerable records: {records}");
        }
    }
    if let Some(items) = report.items_below_k {
        let _ = writeln!(text, "           items in one term chunk only: {items}");
    }
    if let Some(replay) = report.algorithm.as_ref().and_then(|risk| risk.groups.as_ref()) {
        describe_replay(text, report, replay);
    } else if let Some(risk) = report.algorithm.as_ref().filter(|risk| risk.worlds_tried > 0) {
        let _ = writeln!(
            text,
            "           {} clusters enumerated, {} sampled, {} undecided; {} of {} worlds would \
             be published like this\n           pairs below k: {} for certain ({} by covers), \
             {} suspected ({} by covers)",
            risk.clusters_enumerated,
            risk.clusters_sampled,
            risk.clusters_undecided,
            risk.worlds_accepted,
            risk.worlds_tried,
            risk.breached_pairs,
            risk.breached_pairs_covered,
            risk.suspected_pairs,
            risk.suspected_pairs_covered
        );
    }
}

/// What is left of the worlds for who knows all other records.
fn describe_stages(text: &mut String, report: &Report) {
    let stages = report.algorithm.as_ref().map_or(&[][..], |risk| &risk.stages);
    for (supports, known) in
        [(TermSupports::Unknown, ""), (TermSupports::Known, " and every support")]
    {
        let shown = stages.iter().filter(|s| s.stage != "groups" && s.supports == supports);
        let kept: Vec<String> =
            shown.map(|s| format!("{}: {} of {}", s.stage, s.kept, s.tried)).collect();
        if !kept.is_empty() {
            let _ = writeln!(
                text,
                "           replayed with all other records{known} known, worlds kept by {}",
                kept.join(", ")
            );
        }
    }
}

fn describe_replay(text: &mut String, report: &Report, replay: &GroupReplay) {
    let (tried, kept) =
        report.algorithm.as_ref().map_or((0, 0), |risk| (risk.worlds_tried, risk.worlds_accepted));
    let _ = writeln!(
        text,
        "algorithm  replayed on possible data sets: {kept} of {tried} times a group came out as \
         published\n           {} groups with one sensitive occurrence, {} came out, {} often enough \
         to be judged:\n           there the most probable holder has {} on average (the counts \
         say {}), {} are certain",
        replay.groups,
        replay.groups_out,
        replay.groups_judged,
        share(replay.mean_posterior),
        share(replay.mean_promised),
        replay.certain
    );
    if let Some(right) = replay.guess_right {
        let _ = writeln!(
            text,
            "           the most probable holder is the right one in {}",
            percent(right)
        );
    }
}

/// Probabilities that follow from the release, as a table.
fn describe_posterior(text: &mut String, report: &Report) {
    *text += "posterior  how probable the most probable further item of a person is\n";
    let head = ["known", "targets", "below k", "candidates", "at most", "mean", "right"];
    let mut rows = Vec::new();
    for level in &report.levels {
        let Level { known, targets, below_k, min_candidates, .. } = level;
        let candidates = min_candidates.map_or("-".to_owned(), |c| format!("{c:.2}"));
        rows.push(vec![
            known.to_string(),
            targets.to_string(),
            share(*below_k),
            candidates,
            share(level.posterior.max),
            share(level.posterior.mean),
            share(level.posterior.guess_right),
        ]);
        if let Some(risk) = &level.posterior_algorithm {
            let mut row = vec![String::new(); 4];
            row[3] = "terms below k".to_owned();
            row.extend([share(risk.max), share(risk.mean), share(risk.guess_right)]);
            rows.push(row);
        }
    }
    *text += &table(head, rows, &[]);
}

fn describe_targets(text: &mut String, report: &Report) {
    if report.worst_targets.is_empty() {
        return;
    }
    text.push_str("\nworst targets (known -> learned, probability, expected candidates)\n");
    for target in &report.worst_targets {
        let _ = writeln!(
            text,
            "  {{{}}} -> {}  {}  {:.2}{}",
            plain(target.known.join(", ")),
            plain(&target.item),
            percent(target.posterior),
            target.candidates,
            match target.right {
                Some(true) => "  right",
                Some(false) => "  wrong",
                None => "",
            }
        );
    }
}
