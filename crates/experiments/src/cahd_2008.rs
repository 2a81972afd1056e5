//! cahd-2008, section V: CAHD against PermMondrian on BMS-WebView-1 and -2, the
//! printed grouping and the blind one that replaces it.
//!
//! Records with sensitive items only are left out for all of them.
//! Sensitive items are drawn at random, as in the paper, among those that are
//! rare enough for the largest p of the figures; every point is the mean over
//! several draws.

use std::path::Path;
use std::time::Instant;

use clap::Args;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use setveil::data::{Alpha, P};
use setveil::measure::kl::{Queries, kl_divergence};
use setveil::methods::cahd::{Grouping, SensitiveOnly};
use setveil::methods::{cahd, perm_mondrian};
use setveil::release::Body;
use setveil::{Dataset, Release};

use crate::data;
use crate::figure::Figure;

/// Figures 9 to 13 of cahd-2008: utility and time of CAHD, blind groups and PermMondrian
#[derive(Debug, Args)]
pub struct Cahd2008 {
    /// How many draws of sensitive items each point is the mean of
    #[arg(long, default_value = "5")]
    draws: u64,
    /// How many random group-by queries measure each release
    #[arg(long, default_value = "100")]
    queries: u32,
    /// Where the random draws begin
    #[arg(long, default_value = "2008")]
    seed: u64,
}

const DEGREES: [u32; 5] = [4, 8, 12, 16, 20];
const SENSITIVE: [usize; 4] = [5, 10, 15, 20];
const RS: [u32; 7] = [2, 3, 4, 5, 6, 7, 8];
const ALPHAS: [u32; 5] = [1, 2, 3, 4, 5];

/// A release, what it cost, and what is left.
struct Run {
    release: Release,
    seconds: f64,
    kept: Dataset,
}

impl Cahd2008 {
    /// Draws all figures into `folder`.
    pub fn run(&self, folder: &Path) -> anyhow::Result<()> {
        for name in ["bms-webview-1", "bms-webview-2"] {
            let data = data::load(name)?;
            self.by_degree(name, &data)?.iter().try_for_each(|f| f.write(folder))?;
            self.by_sensitive(name, &data)?.write(folder)?;
            self.by_r(name, &data)?.write(folder)?;
            if name == "bms-webview-2" {
                self.by_alpha(&data)?.iter().try_for_each(|f| f.write(folder))?;
            }
        }
        Ok(())
    }

    /// Fig. 9 (m = 10) and Fig. 12 (m = 20): error and time over p.
    fn by_degree(&self, name: &str, data: &Dataset) -> anyhow::Result<[Figure; 2]> {
        let mut error = error_figure("9", name, "r = 4, m = 10", "p");
        let title = format!("Fig. 12: time, {name}, m = 20");
        let mut time = Figure::new(&format!("cahd-2008-fig12-{name}"), &title, "p", "seconds");
        for p in DEGREES {
            for method in METHODS {
                let kl = self.mean_error(data, method, p, 10, 4)?;
                error.point(method.name(), p.into(), kl);
                time.point(method.name(), p.into(), self.mean_seconds(data, method, p, 20)?);
            }
        }
        Ok([error, time])
    }

    /// Fig. 10: error over the number of sensitive items.
    fn by_sensitive(&self, name: &str, data: &Dataset) -> anyhow::Result<Figure> {
        let mut figure = error_figure("10", name, "r = 4", "m");
        for m in SENSITIVE {
            for p in [10, 20] {
                for method in METHODS {
                    let kl = self.mean_error(data, method, p, m, 4)?;
                    figure.point(&format!("{}, p = {p}", method.name()), m as f64, kl);
                }
            }
        }
        Ok(figure)
    }

    /// Fig. 11: error over the number of items in a query.
    fn by_r(&self, name: &str, data: &Dataset) -> anyhow::Result<Figure> {
        let mut figure = error_figure("11", name, "m = 10", "r");
        for r in RS {
            for p in [10, 20] {
                for method in METHODS {
                    let kl = self.mean_error(data, method, p, 10, r)?;
                    figure.point(&format!("{}, p = {p}", method.name()), r.into(), kl);
                }
            }
        }
        Ok(figure)
    }

    /// Fig. 13: error and time over alpha.
    fn by_alpha(&self, data: &Dataset) -> anyhow::Result<[Figure; 2]> {
        let name = "bms-webview-2";
        let mut error = error_figure("13a", name, "r = 4, m = 10", "alpha");
        let title = format!("Fig. 13b: time, {name}, m = 10");
        let file = format!("cahd-2008-fig13b-{name}");
        let mut time = Figure::new(&file, &title, "alpha", "seconds");
        for alpha in ALPHAS {
            for p in [10, 20] {
                let method = Method::AsPrinted(alpha);
                let line = format!("CAHD, p = {p}");
                error.point(&line, alpha.into(), self.mean_error(data, method, p, 10, 4)?);
                time.point(&line, alpha.into(), self.mean_seconds(data, method, p, 10)?);
            }
        }
        Ok([error, time])
    }

    fn mean_error(
        &self,
        data: &Dataset,
        method: Method,
        p: u32,
        m: usize,
        r: u32,
    ) -> anyhow::Result<f64> {
        let mut sum = 0.0;
        for draw in 0..self.draws {
            let Run { release, kept, .. } = self.release(data, method, p, m, draw)?;
            let Body::Grouped(body) = &release.body else { unreachable!("both methods group") };
            let queries = Queries { count: self.queries, r, seed: self.seed + draw };
            let made = setveil::Method::of(&release.manifest)?;
            let kl = kl_divergence(made.sensitive(), body, &kept, &queries, &())?;
            sum += kl.expect("the sensitive items were drawn from the data");
        }
        Ok(sum / self.draws as f64)
    }

    fn mean_seconds(
        &self,
        data: &Dataset,
        method: Method,
        p: u32,
        m: usize,
    ) -> anyhow::Result<f64> {
        let mut sum = 0.0;
        for draw in 0..self.draws {
            sum += self.release(data, method, p, m, draw)?.seconds;
        }
        Ok(sum / self.draws as f64)
    }

    fn release(
        &self,
        data: &Dataset,
        method: Method,
        p: u32,
        m: usize,
        draw: u64,
    ) -> anyhow::Result<Run> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed + draw);
        let items = cahd::draw(data, m, P::new(20)?, &mut rng)?;
        let named = cahd::resolve(data, &items)?;
        let (kept, _) = cahd::settle_sensitive_only(data, named, SensitiveOnly::Drop)?;
        let start = Instant::now();
        let release = method.anonymize(&kept, P::new(p)?, items, &mut rng)?;
        Ok(Run { release, seconds: start.elapsed().as_secs_f64(), kept: kept.into_owned() })
    }
}

#[derive(Clone, Copy)]
enum Method {
    AsPrinted(u32),
    Blind,
    PermMondrian,
}

const METHODS: [Method; 3] = [Method::AsPrinted(3), Method::Blind, Method::PermMondrian];

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::AsPrinted(_) => "CAHD as printed",
            Self::Blind => "blind groups",
            Self::PermMondrian => "PermMondrian",
        }
    }

    fn anonymize(
        self,
        data: &Dataset,
        p: P,
        items: Vec<String>,
        rng: &mut ChaCha8Rng,
    ) -> anyhow::Result<Release> {
        Ok(match self {
            Self::AsPrinted(alpha) => {
                let grouping = Grouping::AsPrinted { alpha: Alpha::new(alpha)? };
                let parameters = cahd::Parameters::new(p, items).grouping(grouping);
                cahd::anonymize(data, &parameters, rng, &())?
            }
            Self::Blind => cahd::anonymize(data, &cahd::Parameters::new(p, items), rng, &())?,
            Self::PermMondrian => {
                perm_mondrian::anonymize(data, &perm_mondrian::Parameters::new(p, items), &())?
            }
        })
    }
}

fn error_figure(number: &str, name: &str, fixed: &str, x: &str) -> Figure {
    let title = format!("Fig. {number}: reconstruction error, {name}, {fixed}");
    Figure::new(&format!("cahd-2008-fig{number}-{name}"), &title, x, "KL-divergence")
}
