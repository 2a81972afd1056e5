//! Every method can be stopped at any time, and asks often.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::data::{Epsilon, Hierarchy, K, L, M, P};
use setveil::generate::{Quest, QuestParameters};
use setveil::methods::disassociation::{self, Clustering};
use setveil::methods::{
    apriori, cahd, diffpart, dls, local_suppression, partition, perm_mondrian, suppress_rare,
};
use setveil::workflow::{self, ItemsetOptions, QueryOptions, ReconstructOptions};
use setveil::{Dataset, Error, Progress, Release, Result, Stage, attack, measure, profile};

/// Says stop at the question after so many, and at all that follow.
#[derive(Default)]
struct StopAfter {
    questions: u64,
    asked: AtomicU64,
    most_steps: AtomicU64,
}

impl StopAfter {
    fn new(questions: u64) -> Self {
        Self { questions, ..Self::default() }
    }
}

impl Progress for StopAfter {
    fn stage(&self, _stage: Stage, _total: Option<u64>) {}

    fn advance(&self, steps: u64) -> ControlFlow<()> {
        self.most_steps.fetch_max(steps, Ordering::Relaxed);
        if self.asked.fetch_add(1, Ordering::Relaxed) < self.questions {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

fn quest(records: u64) -> Dataset {
    let parameters = QuestParameters::default().records(records).items(500);
    let mut quest = Quest::new(&parameters, 7).unwrap();
    let mut rows: Vec<Vec<String>> = Vec::new();
    while let Some(record) = quest.next_record() {
        rows.push(record.iter().map(|item| format!("{item:03}")).collect());
    }
    Dataset::from_records(rows)
}

fn tree(data: &Dataset) -> Hierarchy {
    balanced(data.vocabulary(), 5, LeafOrder::Natural).unwrap()
}

/// Two items that are rare enough.
fn sensitive(data: &Dataset) -> Vec<String> {
    let supports = data.supports();
    let rare = (0..data.item_count() as u32).filter(|&i| supports[i as usize] > 20);
    let mut rare: Vec<u32> = rare.collect();
    rare.sort_by_key(|&i| supports[i as usize]);
    data.vocabulary().texts(&rare[..2])
}

type Run = fn(&Dataset, &dyn Progress) -> Result<Release>;

fn k() -> K {
    K::new(5).unwrap()
}

fn m() -> M {
    M::new(2).unwrap()
}

const METHODS: [(&str, Run); 12] = [
    ("disassociation", |data, progress| {
        disassociation::anonymize(data, &disassociation::Parameters::new(k(), m()), progress)
    }),
    ("disassociation of one cluster", |data, progress| {
        let parameters = disassociation::Parameters::new(k(), M::new(3).unwrap())
            .with_clustering(Clustering::Whole);
        disassociation::anonymize(data, &parameters, progress)
    }),
    ("disassociation with sensitive terms", |data, progress| {
        let parameters = disassociation::Parameters::new(k(), m());
        let parameters = parameters.with_sensitive(sensitive(data), L::new(3).unwrap());
        disassociation::anonymize(data, &parameters, progress)
    }),
    ("dls", |data, progress| dls::anonymize(data, &dls::Parameters::new(k(), m()), progress)),
    ("apriori", |data, progress| {
        apriori::anonymize(data, &apriori::Parameters::new(k(), m(), tree(data)), progress)
    }),
    ("partition", |data, progress| {
        partition::anonymize(data, &partition::Parameters::new(k(), tree(data)), progress)
    }),
    ("cahd", |data, progress| {
        let parameters = cahd::Parameters::new(P::new(4).unwrap(), sensitive(data));
        cahd::anonymize(data, &parameters, &mut testkit::random::rng(1), progress)
    }),
    ("perm-mondrian", |data, progress| {
        let parameters = perm_mondrian::Parameters::new(P::new(4).unwrap(), sensitive(data));
        perm_mondrian::anonymize(data, &parameters, progress)
    }),
    ("diffpart", |data, progress| {
        let parameters = diffpart::Parameters::new("1".parse::<Epsilon>().unwrap(), tree(data));
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        diffpart::anonymize(data, &parameters, &mut rng, progress)
    }),
    ("local-suppression", |data, progress| {
        let parameters = local_suppression::Parameters::new(k(), m());
        local_suppression::anonymize(data, &parameters, progress)
    }),
    ("local-suppression of one leaf", |data, progress| {
        let mut parameters = local_suppression::Parameters::new(k(), M::new(3).unwrap());
        parameters.max_cluster_size = local_suppression::LeafSize::All;
        local_suppression::anonymize(data, &parameters, progress)
    }),
    ("suppress-rare", |data, progress| {
        suppress_rare::anonymize(data, &suppress_rare::Parameters::new(k()), progress)
    }),
];

#[test]
fn whenever_it_is_stopped_a_method_gives_nothing_but_that_it_was_stopped() {
    let data = quest(4_000);
    for (name, run) in METHODS {
        let all = StopAfter::new(u64::MAX);
        run(&data, &all).unwrap();
        let asked = all.asked.into_inner();
        assert!(asked > 0, "{name} asked {asked} times");
        let every = (asked / 40).max(1) as usize;
        for questions in (0..asked.min(20)).chain((0..asked).step_by(every)).chain([asked - 1]) {
            let observer = StopAfter::new(questions);
            let outcome = run(&data, &observer);
            assert!(matches!(outcome, Err(Error::Cancelled)), "{name} after {questions}");
        }
    }
}

/// About so many records are looked at between two questions at most: far less
/// than half a second of work in every method.
const RECORDS: u64 = 4_096;

#[test]
fn methods_ask_often() {
    let data = quest(40_000);
    for (name, run) in METHODS {
        let observer = StopAfter::new(u64::MAX);
        run(&data, &observer).unwrap();
        let asked = observer.asked.into_inner();
        assert!(asked >= data.len() as u64 / RECORDS, "{name} asked {asked} times");
        let steps = observer.most_steps.into_inner();
        assert!(steps <= 1 << 16, "{name} was silent for {steps} steps");
    }
}

/// What a recipient or an auditor does with a release and its original.
type Work = fn(&Release, &Dataset, &dyn Progress) -> Result<()>;

const WORK: [(&str, Work); 7] = [
    ("query", |release, data, progress| {
        let labels: Vec<Vec<&str>> = data.vocabulary().labels().map(|l| vec![l]).collect();
        workflow::query(release, &labels, &QueryOptions::default(), progress).map(drop)
    }),
    ("items", |release, _, progress| {
        workflow::items(release, &QueryOptions::default(), progress).map(drop)
    }),
    ("itemsets", |release, _, progress| {
        workflow::itemsets(release, &ItemsetOptions::default(), progress).map(drop)
    }),
    ("reconstruct", |release, _, progress| {
        workflow::reconstruct(release, &ReconstructOptions::default(), progress).map(drop)
    }),
    ("evaluate", |release, data, progress| {
        workflow::evaluate(release, data, &measure::Options::default(), progress).map(drop)
    }),
    ("attack", |release, data, progress| {
        let options = attack::Options::default().targets(40).worlds(5);
        workflow::attack(release, Some(data), &options, progress).map(drop)
    }),
    ("profile", |_, data, progress| {
        workflow::profile(data, &profile::Options::default(), progress).map(drop)
    }),
];

#[test]
fn the_recipients_work_can_be_stopped_too() {
    let data = quest(2_000);
    let parameters = disassociation::Parameters::new(k(), m());
    let release = disassociation::anonymize(&data, &parameters, &()).unwrap();
    for (name, work) in WORK {
        let all = StopAfter::new(u64::MAX);
        work(&release, &data, &all).unwrap();
        let asked = all.asked.into_inner();
        assert!(asked > 0, "{name} did not ask");
        for questions in [0, asked / 3, asked / 2, asked - 1] {
            let outcome = work(&release, &data, &StopAfter::new(questions));
            assert!(
                matches!(outcome, Err(Error::Cancelled)),
                "{name} after {questions} of {asked}"
            );
        }
    }
}
