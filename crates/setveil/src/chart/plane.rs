//! Points, lines and grouped bars over two axes.

use super::{Area, BLUE, GRID, INK, picture, text};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

const SIZE: (u32, u32) = (720, 440);
const PAPER: RGBAColor = RGBAColor(255, 255, 255, 0.85);

/// A point of a scatter plot.
#[derive(Clone, Debug)]
pub struct Point {
    /// Where it is.
    pub at: (f64, f64),
    /// What it is called.
    pub name: String,
    /// Whether it is filled and named in the picture; all are named in words.
    pub marked: bool,
}

/// A named line of points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

/// Points from 0 on.
pub fn scatter(title: &str, (x, y): (&str, &str), points: &[Point]) -> String {
    let most = |value: fn(&Point) -> f64| points.iter().map(value).fold(1e-6, f64::max) * 1.15;
    let (right, top) = (most(|p| p.at.0), most(|p| p.at.1));
    let speak = |p: &Point| format!("{}: {:.4}, {:.4}", p.name, p.at.0, p.at.1);
    let spoken: Vec<String> = points.iter().map(speak).collect();
    picture(title, &spoken.join("; "), SIZE, |area| {
        area.fill(&WHITE)?;
        let mut chart = builder(area, title).build_cartesian_2d(0.0..right, 0.0..top)?;
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(x).y_desc(y).light_line_style(WHITE).bold_line_style(GRID);
        mesh.x_labels(5).y_labels(5).draw()?;
        for point in points {
            let fill = if point.marked { BLUE } else { WHITE };
            chart.draw_series([Circle::new(point.at, 5, fill.filled())])?;
            chart.draw_series([Circle::new(point.at, 5, BLUE)])?;
            if point.marked {
                // Names of points at the right end stand on their left.
                let far = point.at.0 > 0.7 * right;
                let (side, shift) = if far { (HPos::Right, -9) } else { (HPos::Left, 9) };
                let style = text(11.0, side, VPos::Bottom);
                let name =
                    EmptyElement::at(point.at) + Text::new(point.name.clone(), (shift, -4), style);
                chart.draw_series([name])?;
            }
        }
        Ok(())
    })
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
        let point = Point { at: (0.5, 0.25), name: "<k> & co".into(), marked: true };
        let svg = scatter("Risk", ("x", "y"), &[point]);
        assert!(svg.starts_with("<svg role=\"img\" ") && svg.trim_end().ends_with("</svg>"));
        assert!(svg.contains("<title>Risk</title>"));
        assert!(svg.contains("&lt;k&gt; &amp; co: 0.5000, 0.2500") && !svg.contains("<k>"));
    }

    #[test]
    fn nothing_to_show_is_no_error() {
        for svg in [
            scatter("t", ("x", "y"), &[]),
            lines("t", ("x", "y"), &[]),
            super::super::columns("t", "x", &[]),
            super::super::bars("t", &["a", "b"], &[]),
        ] {
            assert!(svg.contains("<title>t</title>"));
        }
    }
}
