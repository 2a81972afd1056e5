//! A figure: lines over one axis, or bars over names. It is written as an SVG
//! plot and a CSV table, and printed as a table in Markdown.

use std::fmt::Write;
use std::path::Path;

use anyhow::anyhow;
use plotters::coord::Shift;
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
    /// Names for 0, 1, ... on the horizontal axis; empty if it has numbers.
    pub categories: Vec<String>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

impl Figure {
    /// A figure without lines.
    pub fn new(name: &str, title: &str, x: &str, y: &str) -> Self {
        let [name, title, x, y] = [name, title, x, y].map(str::to_owned);
        Self { name, title, x, y, lines: Vec::new(), categories: Vec::new() }
    }

    /// Adds a point to the line called `line`, which is made if it is new.
    pub fn point(&mut self, line: &str, x: f64, y: f64) {
        match self.lines.iter_mut().find(|(name, _)| name == line) {
            Some((_, points)) => points.push((x, y)),
            None => self.lines.push((line.to_owned(), vec![(x, y)])),
        }
    }

    /// Adds a bar of `line` over the name `category`. A figure has either
    /// points or bars.
    pub fn bar(&mut self, line: &str, category: &str, y: f64) {
        let known = self.categories.iter().position(|c| c == category);
        let at = known.unwrap_or_else(|| {
            self.categories.push(category.to_owned());
            self.categories.len() - 1
        });
        self.point(line, at as f64, y);
    }

    /// Writes `NAME.csv` and `NAME.svg` into `folder` and prints the table.
    pub fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let mut table = format!("line,{},{}\n", self.x, self.y);
        for (name, points) in &self.lines {
            for &(x, y) in points {
                writeln!(table, "{},{},{y}", quoted(name), quoted(&self.label(x)))?;
            }
        }
        std::fs::write(folder.join(format!("{}.csv", self.name)), table)?;
        self.plot(&folder.join(format!("{}.svg", self.name))).map_err(|e| anyhow!("{e}"))?;
        Ok(std::io::Write::write_all(&mut std::io::stdout(), (self.table() + "\n").as_bytes())?)
    }

    /// A line a row, in Markdown; a dash where a line has no point.
    pub fn table(&self) -> String {
        let mut xs: Vec<f64> = self.lines.iter().flat_map(|(_, p)| p.iter().map(|p| p.0)).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let row =
            |first: &str, cells: Vec<String>| format!("| {first} | {} |\n", cells.join(" | "));
        let mut table = format!("{} ({})\n\n", self.title, self.y);
        table += &row(&self.x, xs.iter().map(|&x| self.label(x)).collect());
        table += &format!("|---|{}\n", "---|".repeat(xs.len()));
        for (name, points) in &self.lines {
            let at = |x: &f64| points.iter().find(|p| p.0 == *x).map(|p| short(p.1));
            table += &row(name, xs.iter().map(|x| at(x).unwrap_or_else(|| "-".into())).collect());
        }
        table
    }

    fn label(&self, x: f64) -> String {
        self.categories.get(x as usize).cloned().unwrap_or_else(|| x.to_string())
    }

    fn plot(&self, path: &Path) -> Drawn {
        let area = SVGBackend::new(path, (720, 440)).into_drawing_area();
        area.fill(&WHITE)?;
        if self.categories.is_empty() {
            self.draw_lines(&area)?
        } else {
            self.draw_bars(&area)?
        }
        area.present()?;
        Ok(())
    }

    fn top(&self) -> f64 {
        self.lines.iter().flat_map(|(_, p)| p).map(|p| p.1).fold(1e-9, f64::max) * 1.08
    }

    fn draw_lines(&self, area: &Area) -> Drawn {
        let xs = || self.lines.iter().flat_map(|(_, p)| p).map(|p| p.0);
        let (left, right) = (xs().fold(f64::MAX, f64::min), xs().fold(f64::MIN, f64::max));
        let mut chart = chart(area, &self.title)
            .build_cartesian_2d(left..right.max(left + 1e-9), 0.0..self.top())?;
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(&self.x)
            .y_desc(&self.y)
            .light_line_style(WHITE)
            .bold_line_style(GRID)
            .draw()?;
        for (i, (name, line)) in self.lines.iter().enumerate() {
            let colour = Palette99::pick(i).to_rgba();
            chart
                .draw_series(LineSeries::new(line.iter().copied(), colour.stroke_width(2)))?
                .label(name)
                .legend(move |at| key(at, colour));
            chart.draw_series(line.iter().map(|&p| Circle::new(p, 3, colour.filled())))?;
        }
        if self.lines.len() > 1 {
            chart.configure_series_labels().background_style(PAPER).border_style(GRID).draw()?;
        }
        Ok(())
    }

    fn draw_bars(&self, area: &Area) -> Drawn {
        let right = self.categories.len() as f64 - 0.5;
        let mut chart =
            chart(area, &self.title).build_cartesian_2d(-0.5..right, 0.0..self.top() * 1.2)?;
        let whole = |x: &f64| if x.fract() == 0.0 { self.label(*x) } else { String::new() };
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(&self.x).y_desc(&self.y).light_line_style(WHITE).bold_line_style(GRID);
        mesh.disable_x_mesh().x_labels(2 * self.categories.len() + 1).x_label_formatter(&whole);
        mesh.draw()?;
        let width = 0.8 / self.lines.len() as f64;
        for (i, (name, bars)) in self.lines.iter().enumerate() {
            let colour = Palette99::pick(i).to_rgba();
            let bar = |&(x, y): &(f64, f64)| {
                let left = x - 0.4 + i as f64 * width;
                Rectangle::new([(left, 0.0), (left + width * 0.9, y)], colour.filled())
            };
            chart.draw_series(bars.iter().map(bar))?.label(name).legend(move |at| key(at, colour));
        }
        if self.lines.len() > 1 {
            let mut names = chart.configure_series_labels();
            // In the room above the bars.
            names.position(SeriesLabelPosition::UpperRight);
            names.background_style(PAPER).border_style(GRID).draw()?;
        }
        Ok(())
    }
}

const GRID: RGBColor = RGBColor(228, 228, 228);
const PAPER: RGBAColor = RGBAColor(255, 255, 255, 0.85);

fn chart<'a, 'b>(area: &'a Area<'b>, title: &str) -> ChartBuilder<'a, 'b, SVGBackend<'b>> {
    let mut chart = ChartBuilder::on(area);
    chart.caption(title, ("sans-serif", 20)).margin(14);
    chart.x_label_area_size(44).y_label_area_size(64);
    chart
}

fn key((x, y): (i32, i32), colour: RGBAColor) -> PathElement<(i32, i32)> {
    PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2))
}

/// A field of a CSV table.
fn quoted(text: &str) -> String {
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Whole numbers as they are, others with three digits that count.
fn short(y: f64) -> String {
    if y.fract() == 0.0 {
        return y.to_string();
    }
    let whole = y.abs().max(1e-3).log10().floor() as i32;
    format!("{y:.*}", (2 - whole).clamp(0, 4) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_row_a_line_and_dashes_for_what_is_missing() {
        let mut figure = Figure::new("f", "Fig. 1", "k", "loss");
        figure.point("a", 10.0, 0.123_45);
        figure.point("a", 2.0, 1_234.5);
        figure.point("b", 2.0, 0.0);
        let expected = "Fig. 1 (loss)\n\n| k | 2 | 10 |\n|---|---|---|\n\
            | a | 1234 | 0.123 |\n| b | 0 | - |\n";
        assert_eq!(figure.table(), expected);
    }

    #[test]
    fn bars_keep_the_names_of_their_categories() {
        let mut figure = Figure::new("f", "Fig. 2", "data", "loss");
        figure.bar("a", "second", 2.0);
        figure.bar("a", "first", 12.0);
        figure.bar("b, too", "first", 3.5);
        let expected = "Fig. 2 (loss)\n\n| data | second | first |\n|---|---|---|\n\
            | a | 2 | 12 |\n| b, too | - | 3.50 |\n";
        assert_eq!(figure.table(), expected);
        let folder = std::env::temp_dir().join(format!("setveil-figure-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        figure.write(&folder).unwrap();
        let table = std::fs::read_to_string(folder.join("f.csv")).unwrap();
        let plot = std::fs::read_to_string(folder.join("f.svg")).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(table, "line,data,loss\na,second,2\na,first,12\n\"b, too\",first,3.5\n");
        assert!(plot.contains("second") && plot.contains("Fig. 2"));
    }
}
