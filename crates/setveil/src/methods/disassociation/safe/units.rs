//! Terms whose supports alone force them to meet.
//!
//! If x is missing in n - s_x records, y in n - s_y and so on, all of q terms
//! are together in at least s_1 + ... + s_q - (q - 1) n. A *unit* is a set of
//! terms for which this is at least k for any q <= m of them: it is
//! k^m-anonymous whatever the records are, and knowing that its terms were put
//! together tells nothing beyond their supports.

/// Divides terms into units: each, by falling support, goes to the first unit
/// that stays one. Gives indices into `supports`, which must fall.
///
/// Any q terms of a unit meet in k records if the m rarest do: leaving one of
/// them out takes away at most n.
pub(super) fn certified(supports: &[u32], n: u32, k: u32, m: u32) -> Vec<Vec<usize>> {
    let mut units: Vec<Vec<usize>> = Vec::new();
    for (x, &support) in supports.iter().enumerate() {
        let stays = |unit: &Vec<usize>| {
            // The newcomer is the rarest, and the last ones are the next.
            let others = unit.iter().rev().take(m as usize - 1);
            let q = others.len() as u64 + 1;
            let sum = u64::from(support) + others.map(|&y| u64::from(supports[y])).sum::<u64>();
            sum >= (q - 1) * u64::from(n) + u64::from(k)
        };
        match units.iter_mut().find(|unit| stays(unit)) {
            Some(unit) => unit.push(x),
            None => units.push(vec![x]),
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pairs_need_n_plus_k() {
        assert_eq!(certified(&[9, 8, 4, 3], 10, 2, 2), [vec![0, 1, 2], vec![3]]);
        assert_eq!(certified(&[9, 8, 4, 3], 10, 3, 2), [vec![0, 1], vec![2], vec![3]]);
        assert_eq!(certified(&[9, 8, 4, 3], 10, 2, 1), [vec![0, 1, 2, 3]]);
    }

    proptest! {
        #![proptest_config(testkit::settings::cases(256))]

        /// Placed so that they meet as seldom as possible, any q <= m terms of
        /// a unit still meet in k records.
        #[test]
        fn whatever_the_records_are(
            mut supports in prop::collection::vec(1u32..12, 1..7),
            k in 2u32..5,
            m in 1u32..5,
        ) {
            supports.sort_unstable_by(|a, b| b.cmp(a));
            supports.retain(|&s| s >= k);
            for unit in certified(&supports, 12, k, m) {
                for set in 1u32..1 << unit.len() {
                    if set.count_ones() > m {
                        continue;
                    }
                    let missing: u32 = unit.iter().enumerate()
                        .filter(|(i, _)| set >> i & 1 == 1)
                        .map(|(_, &t)| 12 - supports[t])
                        .sum();
                    prop_assert!(12 >= missing + k);
                }
            }
        }
    }
}
