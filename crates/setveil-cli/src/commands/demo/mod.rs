//! `setveil demo`: the main job from end to end on a sample in the binary.
//!
//! Each step prints what it did in plain words and leaves what the next one
//! needs; to add a step, append a function to the list in [`Args::run`].

mod draw;

use std::path::PathBuf;

use serde::Serialize;
use setveil::attack::{self, Report};
use setveil::data::{K, M};
use setveil::generate::pharmacy;
use setveil::measure::{self, Evaluation};
use setveil::methods::disassociation;
use setveil::profile::Profile;
use setveil::release::{Body, Cluster};
use setveil::risk::Level;
use setveil::verify::Verdict;
use setveil::{Dataset, Method, Release, io, workflow};

use crate::context::{Context, Exit};
use crate::risk;

/// Show what setveil does, on a small made-up sample, in about a second
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  setveil demo\n  setveil demo -o demo-release")]
pub struct Args {
    /// Keep the release in this directory [default: nothing is written]
    #[arg(long, short, value_name = "RELEASE")]
    output: Option<PathBuf>,
    /// Replace an earlier release of that name
    #[arg(long)]
    force: bool,
}

/// What the steps hand on, and what they say.
struct Demo<'a> {
    context: &'a Context,
    data: Dataset,
    release: Option<Release>,
    text: String,
    answer: Answer,
}

#[derive(Serialize, Default)]
struct Answer {
    profile: Option<Profile>,
    verify: Option<Verdict>,
    attack: Option<Report>,
    risk: Option<Vec<Level>>,
    evaluate: Option<Evaluation>,
    release: Option<PathBuf>,
}

const K_SHOWN: u32 = 5;
const M_SHOWN: u32 = 2;

impl Args {
    pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        if let Some(dir) = &self.output {
            io::check_target(dir, self.force)?;
        }
        let mut demo = Demo {
            context,
            data: pharmacy(),
            release: None,
            text: String::new(),
            answer: Answer::default(),
        };
        let steps = [
            Demo::show_risk,
            Demo::anonymize,
            Demo::show_cluster,
            Demo::verify,
            Demo::attack,
            Demo::evaluate,
        ];
        for step in steps {
            step(&mut demo)?;
        }
        if let (Some(dir), Some(release)) = (&self.output, &demo.release) {
            io::write_release(release, dir, self.force)?;
            demo.say(&format!("The release is in {}.", dir.display()));
            demo.answer.release = Some(dir.clone());
        }
        demo.say(
            "Your own data:  setveil anonymize disassociation baskets.csv -k 5 -m 2 -o release",
        );
        let holds = demo.answer.verify.as_ref().is_some_and(|v| v.holds);
        context.answer(&demo.answer, || std::mem::take(&mut demo.text))?;
        Ok(if holds { Exit::Done } else { Exit::Violated })
    }
}

impl Demo<'_> {
    /// Starts a step.
    fn step(&mut self, title: &str) {
        self.text += &self.context.heading(title);
        self.text += "\n\n";
    }

    /// A paragraph.
    fn say(&mut self, text: &str) {
        self.text += text;
        self.text += "\n\n";
    }

    fn show_risk(&mut self) -> anyhow::Result<()> {
        let profile = workflow::profile(&self.data, &Default::default(), self.context)?.profile;
        self.step("1. The data: a shop that sells food and medicine");
        self.say(&format!(
            "{} baskets, {} different goods, {:.1} in a basket. No names in it, and still:",
            profile.records, profile.items, profile.mean_length
        ));
        for row in &profile.reidentification {
            let things = if row.known == 1 { "thing" } else { "things" };
            self.text += &format!(
                "  who saw {} {things} of a basket has found the person in {:>3.0} of 100 cases\n",
                row.known,
                100.0 * row.unique
            );
        }
        self.text.push('\n');
        self.answer.profile = Some(profile);
        Ok(())
    }

    fn anonymize(&mut self) -> anyhow::Result<()> {
        self.step(&format!("2. Disassociation with k = {K_SHOWN}, m = {M_SHOWN}"));
        let parameters = disassociation::Parameters::new(K::new(K_SHOWN)?, M::new(M_SHOWN)?);
        let method = Method::Disassociation(parameters);
        let (release, _) = workflow::anonymize(&self.data, &method, self.context)?;
        self.say(&format!(
            "Baskets that look alike were put into clusters, and inside a cluster rare \
             combinations were\ntaken apart. All {} goods are still there, none was renamed \
             or made up.",
            release.manifest.items
        ));
        self.release = Some(release);
        Ok(())
    }

    fn show_cluster(&mut self) -> anyhow::Result<()> {
        let Some(Release { body: Body::Disassociated(body), .. }) = &self.release else {
            return Ok(());
        };
        let leaves = body.clusters.iter().flat_map(Cluster::leaves);
        let Some(shown) = draw::worth_showing(leaves) else { return Ok(()) };
        let drawing = draw::cluster(shown, &body.vocabulary);
        let size = shown.size;
        self.say(&format!(
            "One of the clusters as it is published, {size} baskets. Which part of one column \
             belongs to\nwhich part of another is not said; what stands in the term chunk was \
             bought, how often and\nwith what is not said either:\n\n{}",
            drawing.trim_end()
        ));
        Ok(())
    }

    fn verify(&mut self) -> anyhow::Result<()> {
        let Some(release) = &self.release else { return Ok(()) };
        let verdict = workflow::verify(release, self.context)?;
        self.step("3. Verification from the release alone");
        if verdict.holds {
            let holds = self.context.good("The guarantee holds.");
            self.say(&format!(
                "{holds} Whoever knows up to {M_SHOWN} goods of a person is left, in some \
                 original that the\nrelease allows, with at least {K_SHOWN} baskets that have \
                 them all. (This is the format guarantee;\nwhat an attacker gains who also knows \
                 the program is another question: docs/guarantees.md.)"
            ));
        } else {
            let not = self.context.bad("The guarantee does NOT hold");
            self.say(&format!("{not}: {} violations.", verdict.violation_count));
        }
        self.answer.verify = Some(verdict);
        Ok(())
    }

    fn attack(&mut self) -> anyhow::Result<()> {
        let Some(release) = &self.release else { return Ok(()) };
        let options = attack::Options::default().worlds(0);
        let attacked = workflow::attack(release, Some(&self.data), &options, self.context)?;
        self.step("4. What an attacker still achieves");
        self.say(
            "Someone knows some goods of a person, draws an original that the release could have \
             come from,\nand picks a basket with these goods:",
        );
        self.text += &risk::describe(attacked.risk.as_deref().unwrap_or_default());
        let report = attacked.report;
        self.say(&format!(
            "\nFrom the release alone, the likeliest further good of somebody of whom {M_SHOWN} are \
             known has a\nprobability of {} on average and {} at worst: what many baskets have in \
             common stays\nvisible, that is what makes the data useful (docs/known-limits.md).",
            share(report.mean_posterior),
            share(report.max_posterior)
        ));
        (self.answer.attack, self.answer.risk) = (Some(report), attacked.risk);
        Ok(())
    }

    fn evaluate(&mut self) -> anyhow::Result<()> {
        let Some(release) = &self.release else { return Ok(()) };
        let options = measure::Options::default().re_range(0..20).top(100);
        let found = workflow::evaluate(release, &self.data, &options, self.context)?;
        self.step("5. What the data is still good for");
        self.say(&format!(
            "{} of the 100 most frequent combinations are found again in a reconstruction; {} \
             of all\npairs of goods can be counted exactly ({} is the most that k = {K_SHOWN} allows); \
             {} of the goods that\n{K_SHOWN} people bought are only mentioned.",
            share(found.tkd.map(|lost| 1.0 - lost)),
            share(found.pairs_kept),
            share(found.pairs_limit),
            share(found.tlost)
        ));
        self.answer.evaluate = Some(found);
        Ok(())
    }
}

/// A share as a percentage.
fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "nothing".to_owned(), |s| format!("{:.0} %", 100.0 * s))
}
