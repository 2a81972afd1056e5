//! A figure: lines over one axis, written as an SVG plot and a CSV table.

use std::fmt::Write;
use std::path::Path;

use anyhow::anyhow;
use plotters::prelude::*;

/// Named lines of points.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// The file name without extension.
    pub name: String,
    /// What stands above the plot.
    pub title: String,
    /// The horizontal axis.
    pub x: String,
    /// The vertical axis.
    pub y: String,
    /// The lines.
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
}

impl Figure {
    /// A figure without lines.
    pub fn new(name: &str, title: &str, x: &str, y: &str) -> Self {
        let [name, title, x, y] = [name, title, x, y].map(str::to_owned);
        Self { name, title, x, y, lines: Vec::new() }
    }

    /// Adds a point to the line called `line`, which is made if it is new.
    pub fn point(&mut self, line: &str, x: f64, y: f64) {
        match self.lines.iter_mut().find(|(name, _)| name == line) {
            Some((_, points)) => points.push((x, y)),
            None => self.lines.push((line.to_owned(), vec![(x, y)])),
        }
    }

    /// Writes `NAME.csv` and `NAME.svg` into `folder`.
    pub fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let mut table = format!("line,{},{}\n", self.x, self.y);
        for (name, points) in &self.lines {
            for (x, y) in points {
                writeln!(table, "{name},{x},{y}")?;
            }
        }
        std::fs::write(folder.join(format!("{}.csv", self.name)), table)?;
        self.plot(&folder.join(format!("{}.svg", self.name))).map_err(|e| anyhow!("{e}"))
    }

    fn plot(&self, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
        let points = || self.lines.iter().flat_map(|(_, p)| p.iter().copied());
        let max = |f: fn((f64, f64)) -> f64| points().map(f).fold(f64::MIN, f64::max);
        let min = |f: fn((f64, f64)) -> f64| points().map(f).fold(f64::MAX, f64::min);
        let (left, right) = (min(|p| p.0), max(|p| p.0));
        let top = max(|p| p.1).max(1e-9) * 1.08;
        let area = SVGBackend::new(path, (720, 440)).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(&self.title, ("sans-serif", 20))
            .margin(14)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(left..right.max(left + 1e-9), 0.0..top)?;
        chart
            .configure_mesh()
            .x_desc(&self.x)
            .y_desc(&self.y)
            .light_line_style(WHITE)
            .bold_line_style(RGBColor(228, 228, 228))
            .draw()?;
        for (i, (name, line)) in self.lines.iter().enumerate() {
            let colour = Palette99::pick(i).to_rgba();
            chart
                .draw_series(LineSeries::new(line.iter().copied(), colour.stroke_width(2)))?
                .label(name)
                .legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2))
                });
            chart.draw_series(line.iter().map(|&p| Circle::new(p, 3, colour.filled())))?;
        }
        if self.lines.len() > 1 {
            chart
                .configure_series_labels()
                .background_style(WHITE.mix(0.85))
                .border_style(RGBColor(200, 200, 200))
                .draw()?;
        }
        area.present()?;
        Ok(())
    }
}
