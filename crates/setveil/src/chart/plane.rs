//! Points, lines and grouped bars over two axes.

use super::{Area, GRID, INK, picture};
use plotters::prelude::*;

const SIZE: (u32, u32) = (720, 440);
const PAPER: RGBAColor = RGBAColor(255, 255, 255, 0.85);

/// A named line of points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

/// Lines, with a key if there are several.
pub fn lines(title: &str, (x, y): (&str, &str), lines: &[Line]) -> String {
    let xs = || lines.iter().flat_map(|line| &line.points).map(|p| p.0);
    let (left, right) = (xs().fold(f64::MAX, f64::min), xs().fold(f64::MIN, f64::max));
    picture(title, &names(lines), SIZE, |area| {
        area.fill(&WHITE)?;
        let range = (left..right.max(left + 1e-9), 0.0..top(lines));
        let mut chart = builder(area, title).build_cartesian_2d(range.0, range.1)?;
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(x).y_desc(y).light_line_style(WHITE).bold_line_style(GRID).draw()?;
        for (i, line) in lines.iter().enumerate() {
            let colour = Palette99::pick(i).to_rgba();
            let points = line.points.iter().copied();
            chart
                .draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?
                .label(line.name.as_str())
                .legend(move |at| key(at, colour));
            chart.draw_series(points.map(|p| Circle::new(p, 3, colour.filled())))?;
        }
        if lines.len() > 1 {
            chart.configure_series_labels().background_style(PAPER).border_style(GRID).draw()?;
        }
        Ok(())
    })
}

/// Bars over named places: a point at x belongs to `categories[x]`.
pub fn grouped_bars(
    title: &str,
    (x, y): (&str, &str),
    lines: &[Line],
    categories: &[String],
) -> String {
    let right = categories.len() as f64 - 0.5;
    let name = |x: &f64| match x.fract() == 0.0 {
        true => categories.get(*x as usize).cloned().unwrap_or_default(),
        false => String::new(),
    };
    picture(title, &names(lines), SIZE, |area| {
        area.fill(&WHITE)?;
        let range = 0.0..top(lines) * 1.2;
        let mut chart = builder(area, title).build_cartesian_2d(-0.5..right, range)?;
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(x).y_desc(y).light_line_style(WHITE).bold_line_style(GRID);
        mesh.disable_x_mesh().x_labels(2 * categories.len() + 1).x_label_formatter(&name);
        mesh.draw()?;
        let width = 0.8 / lines.len() as f64;
        for (i, line) in lines.iter().enumerate() {
            let colour = Palette99::pick(i).to_rgba();
            let bar = |&(x, y): &(f64, f64)| {
                let left = x - 0.4 + i as f64 * width;
                Rectangle::new([(left, 0.0), (left + width * 0.9, y)], colour.filled())
            };
            let series = chart.draw_series(line.points.iter().map(bar))?;
            series.label(line.name.as_str()).legend(move |at| key(at, colour));
        }
        if lines.len() > 1 {
            let mut names = chart.configure_series_labels();
            // In the room above the bars.
            names.position(SeriesLabelPosition::UpperRight);
            names.background_style(PAPER).border_style(GRID).draw()?;
        }
        Ok(())
    })
}

fn names(lines: &[Line]) -> String {
    lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>().join("; ")
}

fn top(lines: &[Line]) -> f64 {
    lines.iter().flat_map(|line| &line.points).map(|p| p.1).fold(1e-9, f64::max) * 1.08
}

fn builder<'a, 'b>(area: &'a Area<'b>, title: &str) -> ChartBuilder<'a, 'b, SVGBackend<'b>> {
    let mut chart = ChartBuilder::on(area);
    chart.caption(title, ("sans-serif", 20).into_font().color(&INK)).margin(14);
    chart.x_label_area_size(44).y_label_area_size(64);
    chart
}

fn key((x, y): (i32, i32), colour: RGBAColor) -> PathElement<(i32, i32)> {
    PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_speaks_and_cannot_be_broken_by_a_name() {
        let line = Line { name: "<k> & co".into(), points: vec![(0.5, 0.25), (1.0, 0.5)] };
        let svg = lines("Risk", ("x", "y"), &[line]);
        assert!(svg.starts_with("<svg role=\"img\" ") && svg.trim_end().ends_with("</svg>"));
        assert!(svg.contains("<title>Risk</title>"));
        assert!(svg.contains("&lt;k&gt; &amp; co") && !svg.contains("<k>"));
    }

    #[test]
    fn nothing_to_show_is_no_error() {
        for svg in [
            lines("t", ("x", "y"), &[]),
            super::super::columns("t", "x", &[]),
            super::super::bars("t", &["a", "b"], &[]),
        ] {
            assert!(svg.contains("<title>t</title>"));
        }
    }
}
