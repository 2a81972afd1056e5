//! The matrix before and after Reverse Cuthill-McKee as pictures (cahd-2008,
//! Fig. 6), binned to pixels whatever the size of the data.
//!
//! It draws nothing itself: a [`Raster`] is counts per pixel.

use super::band_order;
use crate::data::{Dataset, ItemId};
use crate::methods::sensitive::Split;
use crate::{Progress, Result};

/// How many ones of the matrix fall on each pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raster {
    /// Pixels from left to right: the items.
    pub width: usize,
    /// Pixels from top to bottom: the records.
    pub height: usize,
    /// Row by row.
    pub counts: Vec<u32>,
}

/// The matrix in the order of the input and in the order of the band.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Records in the order of the input, items in the order of their text.
    pub before: Picture,
    /// Records in the order of the band, items by the mean place of their records.
    pub after: Picture,
}

/// One arrangement of the matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The pixels.
    pub raster: Raster,
    /// How far a one is from the diagonal on average, where 1 is the side of
    /// the picture. Ones that are spread evenly have 1/3.
    pub mean_distance: f64,
}

/// Arranges `data` without its `sensitive` items (which must ascend) in
/// pictures of at most `side` by `side` pixels.
///
/// # Errors
/// If `progress` says stop.
pub fn band(
    data: &Dataset,
    sensitive: &[ItemId],
    side: usize,
    progress: &dyn Progress,
) -> Result<Band> {
    let split = Split::new(data, sensitive, progress)?;
    let order = band_order(&split, data.item_count(), progress)?;
    let is_qid = |i: &ItemId| sensitive.binary_search(i).is_err();
    let columns: Vec<ItemId> = (0..data.item_count() as ItemId).filter(is_qid).collect();
    let mut input = vec![0; split.len()];
    for (row, &source) in split.source.iter().enumerate() {
        input[source as usize] = row as u32;
    }
    let sorted = by_mean_place(&split, &order, &columns, data.item_count());
    Ok(Band {
        before: picture(&split, &input, &columns, data.item_count(), side),
        after: picture(&split, &order, &sorted, data.item_count(), side),
    })
}

/// The columns in the order of the mean place of their ones.
fn by_mean_place(split: &Split, order: &[u32], columns: &[ItemId], items: usize) -> Vec<ItemId> {
    let mut sums = vec![(0u64, 0u64); items];
    for (place, &row) in order.iter().enumerate() {
        for &item in split.qid.row(row as usize) {
            let (sum, count) = &mut sums[item as usize];
            (*sum, *count) = (*sum + place as u64, *count + 1);
        }
    }
    let mut sorted = columns.to_vec();
    // Cross-multiplied: a mean as a fraction compares exactly.
    sorted.sort_by(|&a, &b| {
        let ((x, n), (y, k)) = (sums[a as usize], sums[b as usize]);
        (u128::from(x) * u128::from(k)).cmp(&(u128::from(y) * u128::from(n))).then(a.cmp(&b))
    });
    sorted
}

fn picture(split: &Split, order: &[u32], columns: &[ItemId], items: usize, side: usize) -> Picture {
    let (n, d) = (order.len(), columns.len());
    let mut place = vec![0; items];
    for (i, &item) in columns.iter().enumerate() {
        place[item as usize] = i;
    }
    let (width, height) = (d.clamp(1, side.max(1)), n.clamp(1, side.max(1)));
    let mut counts = vec![0u32; width * height];
    let (mut distance, mut ones) = (0.0, 0u64);
    for (i, &row) in order.iter().enumerate() {
        for &item in split.qid.row(row as usize) {
            let j = place[item as usize];
            counts[i * height / n * width + j * width / d] += 1;
            distance += ((i as f64 + 0.5) / n as f64 - (j as f64 + 0.5) / d as f64).abs();
            ones += 1;
        }
    }
    let mean_distance = if ones == 0 { 0.0 } else { distance / ones as f64 };
    Picture { raster: Raster { width, height, counts }, mean_distance }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffled_band_becomes_a_band_again() {
        let label = |i: usize| format!("{:03}", i * 71 % 100);
        let rows = (0..99).map(|i| i * 37 % 99).map(|i| [label(i), label(i + 1)]);
        let data = Dataset::from_records(rows);
        let band = band(&data, &[], 50, &()).unwrap();
        assert_eq!((band.after.raster.width, band.after.raster.height), (50, 50));
        for picture in [&band.before, &band.after] {
            assert_eq!(picture.raster.counts.iter().sum::<u32>(), 198);
        }
        assert!(band.before.mean_distance > 0.2 && band.after.mean_distance < 0.02, "{band:?}");
        let raster = &band.after.raster;
        for (i, &count) in raster.counts.iter().enumerate() {
            assert!(count == 0 || (i / 50).abs_diff(i % 50) <= 1, "pixel {i}");
        }
    }

    #[test]
    fn sensitive_columns_and_empty_data_are_no_trouble() {
        let data = Dataset::from_records([vec!["a", "x"], vec!["x"]]);
        let x = data.vocabulary().id("x").unwrap();
        let band = super::band(&data, &[x], 10, &()).unwrap();
        assert_eq!((band.before.raster.width, band.before.raster.height), (1, 2));
        assert_eq!(band.before.raster.counts, [1, 0]);
        assert_eq!(
            super::band(&Dataset::default(), &[], 10, &()).unwrap().after.raster.counts,
            [0]
        );
    }
}
