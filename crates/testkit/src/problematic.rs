//! k^m-anonymity and minimal problematic itemsets by definition: every subset
//! of every record is made and counted.

use std::collections::BTreeMap;

use setveil::data::ItemId;

/// The support of every itemset of at most `m` items that occurs.
pub fn supports(records: &[Vec<ItemId>], m: usize) -> BTreeMap<Vec<ItemId>, u32> {
    let mut supports = BTreeMap::new();
    for record in records {
        assert!(record.len() < 20, "brute force is for short records");
        for subset in 1_u32..1 << record.len() {
            if subset.count_ones() as usize <= m {
                let chosen = (0..record.len()).filter(|i| subset >> i & 1 == 1);
                *supports.entry(chosen.map(|i| record[i]).collect()).or_default() += 1;
            }
        }
    }
    supports
}

/// Whether every itemset of at most `m` items that occurs is in `k` records.
pub fn is_anonymous(records: &[Vec<ItemId>], k: u32, m: usize) -> bool {
    supports(records, m).values().all(|&support| support >= k)
}

/// The itemsets of at most `m` items that occur in fewer than `k` records,
/// while each of their proper subsets occurs in `k`; by size, then by items.
pub fn minimal(records: &[Vec<ItemId>], k: u32, m: usize) -> Vec<Vec<ItemId>> {
    let supports = supports(records, m);
    let rare: Vec<&Vec<ItemId>> =
        supports.iter().filter(|(_, s)| **s < k).map(|(itemset, _)| itemset).collect();
    let contains = |set: &[ItemId], part: &[ItemId]| part.iter().all(|i| set.contains(i));
    let is_minimal =
        |set: &Vec<ItemId>| !rare.iter().any(|other| *other != set && contains(set, other));
    let mut minimal: Vec<Vec<ItemId>> =
        rare.iter().filter(|set| is_minimal(set)).map(|set| (*set).clone()).collect();
    minimal.sort_by_key(|set| (set.len(), set.clone()));
    minimal
}
