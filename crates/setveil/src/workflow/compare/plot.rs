//! Risk against lost itemsets, as SVG.

use super::cells::Row;
use crate::chart::{self, Point};

/// Every setting whose guarantee holds; the frontier is filled and named.
pub fn scatter(rows: &[Row]) -> String {
    let points: Vec<Point> = rows
        .iter()
        .filter(|row| row.holds == Some(true))
        .filter_map(|row| {
            Some(Point { at: (row.risk?, row.tkd?), name: row.cell.name(), marked: row.frontier })
        })
        .collect();
    let axes = ("risk: probability of finding a person", "tkd: lost itemsets");
    chart::scatter("Risk and lost itemsets", axes, &points)
}
