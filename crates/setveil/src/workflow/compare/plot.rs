//! Risk against lost itemsets, as SVG.

use std::fmt::Write;

use super::cells::Row;

const LEFT: f64 = 70.0;
const TOP: f64 = 50.0;
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 320.0;

/// Every setting whose guarantee holds; the frontier is filled and named.
pub fn scatter(rows: &[Row]) -> String {
    let points: Vec<(&Row, f64, f64)> = rows
        .iter()
        .filter(|row| row.holds == Some(true))
        .filter_map(|row| Some((row, row.risk?, row.tkd?)))
        .collect();
    let top = |f: fn(&(&Row, f64, f64)) -> f64| {
        points.iter().map(f).fold(0.0_f64, f64::max).max(1e-6) * 1.15
    };
    let (most_risk, most_loss) = (top(|p| p.1), top(|p| p.2));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 440\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"13\"><title>Risk and lost itemsets</title>\
         <desc>Each point is a setting; filled points are on the Pareto frontier.</desc>\
         <rect width=\"720\" height=\"440\" fill=\"#fff\"/>\
         <text x=\"{LEFT}\" y=\"28\" font-size=\"17\">Risk and lost itemsets</text>\
         <text x=\"{}\" y=\"425\" text-anchor=\"middle\">risk: probability of finding a person</text>\
         <text transform=\"translate(18 {}) rotate(-90)\" text-anchor=\"middle\">tkd: lost itemsets</text>",
        LEFT + WIDTH / 2.0,
        TOP + HEIGHT / 2.0
    );
    for i in 0..=4 {
        let share = f64::from(i) / 4.0;
        let (x, y) = (LEFT + share * WIDTH, TOP + HEIGHT - share * HEIGHT);
        let _ = write!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#e0e4ea\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{:.3}</text>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{:.3}</text>",
            LEFT + WIDTH,
            LEFT - 8.0,
            y + 4.0,
            share * most_loss,
            TOP + HEIGHT + 20.0,
            share * most_risk
        );
    }
    for (row, risk, tkd) in points {
        let x = LEFT + risk / most_risk * WIDTH;
        let y = TOP + HEIGHT - tkd / most_loss * HEIGHT;
        let (fill, name) =
            if row.frontier { ("#1f4e8c", row.cell.name()) } else { ("#fff", String::new()) };
        // Names of points at the right end stand on their left.
        let (at, anchor) =
            if x > LEFT + 0.7 * WIDTH { (x - 9.0, "end") } else { (x + 9.0, "start") };
        let _ = write!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"{fill}\" stroke=\"#1f4e8c\">\
             <title>{}: risk {risk:.4}, tkd {tkd:.3}</title></circle>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" font-size=\"11\">{name}</text>",
            row.cell.name(),
            y - 7.0
        );
    }
    svg + "</svg>\n"
}
