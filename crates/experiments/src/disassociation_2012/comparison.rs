//! Figure 11: disassociation, Apriori (generalization) and DiffPart
//! (differential privacy).
//!
//! As in the paper, hierarchies are artificial where the data has none
//! (fan-out 5, and 10 for DiffPart), DiffPart spends 0.5 to 1.25 and its best
//! result counts, and re is over the 20 most frequent terms. The data sets
//! with real hierarchies are not in the paper.

use std::path::Path;

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::data::{Epsilon, K, M};
use setveil::measure::{Evaluation, Options};
use setveil::methods::{apriori, diffpart};
use setveil::workflow::evaluate;
use setveil::{Dataset, Hierarchy, Release};

use super::{Disassociation2012, release};
use crate::data;
use crate::figure::Figure;

const EPSILONS: [&str; 4] = ["0.5", "0.75", "1", "1.25"];
const WITH_HIERARCHY: [&str; 3] = ["groceries", "fruithut", "mdcr-icd9"];

impl Disassociation2012 {
    pub(super) fn other_methods(
        &self,
        all: &[(&str, Dataset)],
        folder: &Path,
    ) -> anyhow::Result<()> {
        let figure = |part: &str, y: &str| {
            let title = format!("Fig. 11{part}: {y}, k = 5, m = 2");
            Figure::new(&format!("disassociation-2012-fig11{part}"), &title, "data set", y)
        };
        let mut figures = [figure("a", "tKd"), figure("b", "tKd-ML2"), figure("c", "re")];
        for (name, data) in all {
            let tree = |fanout| balanced(data.vocabulary(), fanout, LeafOrder::Natural);
            self.compare(name, data, &tree(5)?, &tree(diffpart::FANOUT)?, &mut figures)?;
        }
        for name in WITH_HIERARCHY {
            let tree = data::hierarchy(name)?;
            self.compare(name, &data::load(name)?, &tree, &tree, &mut figures)?;
        }
        figures.iter().try_for_each(|figure| figure.write(folder))
    }

    fn compare(
        &self,
        name: &str,
        data: &Dataset,
        tree: &Hierarchy,
        diffpart_tree: &Hierarchy,
        [tkd, ml2, re]: &mut [Figure; 3],
    ) -> anyhow::Result<()> {
        let mut add = |line: &str, found: &Evaluation| {
            // Generalised data has none of the original itemsets to compare.
            if let Some(value) = found.tkd.filter(|_| line != "Apriori") {
                tkd.bar(line, name, value);
            }
            if let Some(value) = found.tkd_ml2 {
                ml2.bar(line, name, value);
            }
            if let Some(value) = found.re {
                re.bar(line, name, value);
            }
        };
        add("disassociation", &self.first_terms(&release(data, 5)?, data, tree)?);
        let parameters = apriori::Parameters::new(K::new(5)?, M::new(2)?, tree.clone());
        let generalized = apriori::anonymize(data, &parameters, &())?;
        add("Apriori", &self.first_terms(&generalized, data, tree)?);
        add("DiffPart", &self.best_diffpart(data, diffpart_tree, tree)?);
        Ok(())
    }

    fn first_terms(
        &self,
        release: &Release,
        data: &Dataset,
        tree: &Hierarchy,
    ) -> anyhow::Result<Evaluation> {
        let options =
            Options::default().seed(self.seed).re_range(0..20).hierarchy(Some(tree.clone().into()));
        Ok(evaluate(release, data, &options, &())?)
    }

    /// The best of every measure over the budgets, as in the paper: better
    /// than any single release.
    fn best_diffpart(
        &self,
        data: &Dataset,
        tree: &Hierarchy,
        levels: &Hierarchy,
    ) -> anyhow::Result<Evaluation> {
        let mut best = Evaluation::default();
        for epsilon in EPSILONS {
            let parameters = diffpart::Parameters::new(epsilon.parse::<Epsilon>()?, tree.clone());
            // Nothing here is published: the noise may be repeatable.
            let mut rng = ChaCha20Rng::seed_from_u64(self.seed);
            let noisy = diffpart::anonymize(data, &parameters, &mut rng, &())?;
            let found = self.first_terms(&noisy, data, levels)?;
            let least = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::min);
            best.tkd = least(best.tkd, found.tkd);
            best.tkd_ml2 = least(best.tkd_ml2, found.tkd_ml2);
            best.re = least(best.re, found.re);
        }
        Ok(best)
    }
}
