//! Bar charts as SVG, drawn for a width that a phone shows unscaled, with a
//! title and a description that a screen reader speaks.

use std::fmt::Write;

use super::html::escape;

const WIDTH: f64 = 400.0;
const COLOURS: [&str; 2] = ["#1f4e8c", "#c46a1a"];

/// A labelled bar or a group of bars.
pub(super) struct Row {
    pub(super) label: String,
    /// Each bar's length (0 to 1) and what is written behind it.
    pub(super) bars: Vec<(f64, String)>,
}

/// Horizontal bars, labels above them. `series` names the bars of a group.
pub(super) fn bars(caption: &str, series: &[&str], rows: &[Row]) -> String {
    let mut drawing = String::new();
    let mut y = 4.0;
    if series.len() > 1 {
        let mut x = 0.0;
        for (i, name) in series.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let _ = write!(
                drawing,
                "<rect x=\"{x}\" y=\"{y}\" width=\"11\" height=\"11\" fill=\"{colour}\"/>\
                 <text x=\"{}\" y=\"{}\" font-size=\"12\">{}</text>",
                x + 16.0,
                y + 10.0,
                escape(name)
            );
            x += 30.0 + 6.6 * name.len() as f64;
        }
        y += 24.0;
    }
    let mut spoken = Vec::new();
    for row in rows {
        let _ = write!(
            drawing,
            "<text x=\"0\" y=\"{}\" font-size=\"12.5\">{}</text>",
            y + 12.0,
            escape(&row.label)
        );
        y += 17.0;
        for (i, (length, text)) in row.bars.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let width = (length.clamp(0.0, 1.0) * (WIDTH - 70.0)).max(1.5);
            let _ = write!(
                drawing,
                "<rect x=\"0\" y=\"{y}\" width=\"{:.0}\" height=\"14\" fill=\"#eef1f5\"/>\
                 <rect x=\"0\" y=\"{y}\" width=\"{width:.1}\" height=\"14\" fill=\"{colour}\"/>\
                 <text x=\"{:.1}\" y=\"{}\" font-size=\"12\">{}</text>",
                WIDTH - 70.0,
                WIDTH - 64.0,
                y + 11.5,
                escape(text)
            );
            let name = series.get(i).filter(|_| series.len() > 1);
            let name = name.map_or(String::new(), |n| format!("{n} "));
            spoken.push(format!("{}: {name}{text}", row.label));
            y += 17.0;
        }
        y += 7.0;
    }
    figure(caption, &spoken.join("; "), y, &drawing)
}

/// Vertical columns for the counts of classes with short names.
pub(super) fn columns(caption: &str, x_axis: &str, counts: &[(String, u64)]) -> String {
    let (top, height) = (20.0, 150.0);
    let most = counts.iter().map(|c| c.1).max().unwrap_or(0).max(1) as f64;
    let step = WIDTH / counts.len().max(1) as f64;
    let mut drawing = String::new();
    for (i, (name, count)) in counts.iter().enumerate() {
        let bar = *count as f64 / most * (height - 16.0);
        let (x, y) = (i as f64 * step, top + height - bar);
        let middle = x + step / 2.0;
        let _ = write!(
            drawing,
            "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{bar:.1}\" fill=\"{}\"/>\
             <text x=\"{middle:.1}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"middle\">{}</text>\
             <text x=\"{middle:.1}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"middle\">{}</text>",
            x + step * 0.1,
            step * 0.8,
            COLOURS[0],
            y - 4.0,
            super::html::number(*count),
            top + height + 15.0,
            escape(name)
        );
    }
    let _ = write!(
        drawing,
        "<line x1=\"0\" x2=\"{WIDTH}\" y1=\"{0}\" y2=\"{0}\" stroke=\"#48525f\"/>\
         <text x=\"{1}\" y=\"{2}\" font-size=\"12\" text-anchor=\"middle\">{3}</text>",
        top + height,
        WIDTH / 2.0,
        top + height + 34.0,
        escape(x_axis)
    );
    let spoken: Vec<String> = counts.iter().map(|(n, c)| format!("{n}: {c}")).collect();
    figure(caption, &spoken.join("; "), top + height + 42.0, &drawing)
}

fn figure(caption: &str, spoken: &str, height: f64, drawing: &str) -> String {
    let caption = escape(caption);
    format!(
        "<figure><figcaption>{caption}</figcaption>\
         <svg role=\"img\" viewBox=\"0 0 {WIDTH} {height:.0}\" aria-label=\"{caption}\">\
         <title>{caption}</title><desc>{}</desc>{drawing}</svg></figure>",
        escape(spoken)
    )
}
