//! A small sample to show: baskets of a shop that sells food, household goods
//! and medicine. Everything in it is made up.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::draw::{Poisson, Weighted};
use crate::Dataset;

/// What everybody buys, with how often.
const STAPLES: [(&str, f64); 12] = [
    ("bread", 9.0),
    ("milk", 9.0),
    ("eggs", 6.0),
    ("bananas", 6.0),
    ("apples", 5.0),
    ("coffee", 5.0),
    ("butter", 4.0),
    ("cheese", 4.0),
    ("water", 4.0),
    ("chocolate", 3.0),
    ("newspaper", 2.0),
    ("toothpaste", 2.0),
];

/// What some people buy: how many of a hundred customers they are, and their goods.
const CUSTOMERS: [(f64, &[&str]); 10] = [
    (22.0, &["diapers", "baby food", "wet wipes", "beer", "frozen pizza", "juice"]),
    (18.0, &["noodles", "energy drink", "frozen pizza", "beer", "crisps", "painkiller"]),
    (14.0, &["tea", "honey", "cough syrup", "handkerchiefs", "painkiller", "nasal spray"]),
    (12.0, &["olive oil", "tomatoes", "pasta", "red wine", "basil", "mozzarella"]),
    (10.0, &["dog food", "dog treats", "rubber gloves", "cleaning spray"]),
    (8.0, &["blood pressure pills", "compression socks", "reading glasses", "tea"]),
    (6.0, &["insulin needles", "test strips", "sugar-free biscuits", "diet soda"]),
    (5.0, &["folic acid", "pregnancy test", "ginger", "pickles"]),
    (3.0, &["sleeping pills", "herbal tea", "antidepressant", "chamomile"]),
    (2.0, &["nicotine gum", "chewing gum", "lighter", "cigarettes"]),
];

/// 400 baskets with names that people recognise; always the same.
pub fn pharmacy() -> Dataset {
    let mut rng = ChaCha8Rng::seed_from_u64(2012);
    let kind = Weighted::new(CUSTOMERS.iter().map(|c| c.0));
    let staple = Weighted::new(STAPLES.iter().map(|s| s.1));
    let (staples, specials) = (Poisson::new(2.2), Poisson::new(1.8));
    let mut basket = |_| {
        let goods = CUSTOMERS[kind.draw(&mut rng)].1;
        let mut items: Vec<&str> = Vec::new();
        for _ in 0..staples.draw(&mut rng) {
            items.push(STAPLES[staple.draw(&mut rng)].0);
        }
        for _ in 0..specials.draw(&mut rng).max(usize::from(items.is_empty())) {
            // The first goods of a list are the usual ones.
            let at = rng.random_range(0..goods.len()).min(rng.random_range(0..goods.len()));
            items.push(goods[at]);
        }
        items
    };
    Dataset::from_records((0..400).map(&mut basket))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_sample_is_small_and_always_the_same() {
        let data = super::pharmacy();
        assert_eq!(data.len(), 400);
        assert!(data.vocabulary().id("insulin needles").is_some());
        assert_eq!(data, super::pharmacy());
    }
}
