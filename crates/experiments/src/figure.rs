//! A figure: lines over one axis, or bars over names. It is written as an SVG
//! plot and a CSV table, and printed as a table in Markdown.

use std::path::Path;

use setveil::chart::{self, Line};

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
    pub lines: Vec<Line>,
    /// Names for 0, 1, ... on the horizontal axis; empty if it has numbers.
    pub categories: Vec<String>,
}

impl Figure {
    /// A figure without lines.
    pub fn new(name: &str, title: &str, x: &str, y: &str) -> Self {
        let [name, title, x, y] = [name, title, x, y].map(str::to_owned);
        Self { name, title, x, y, lines: Vec::new(), categories: Vec::new() }
    }

    /// Adds a point to the line called `line`, which is made if it is new.
    pub fn point(&mut self, line: &str, x: f64, y: f64) {
        match self.lines.iter_mut().find(|known| known.name == line) {
            Some(line) => line.points.push((x, y)),
            None => self.lines.push(Line { name: line.to_owned(), points: vec![(x, y)] }),
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
        let mut table = csv::Writer::from_path(folder.join(format!("{}.csv", self.name)))?;
        table.write_record(["line", &self.x, &self.y])?;
        for line in &self.lines {
            for &(x, y) in &line.points {
                table.write_record([&line.name, &self.label(x), &y.to_string()])?;
            }
        }
        table.flush()?;
        std::fs::write(folder.join(format!("{}.svg", self.name)), self.plot())?;
        Ok(std::io::Write::write_all(&mut std::io::stdout(), (self.table() + "\n").as_bytes())?)
    }

    /// A line a row, in Markdown; a dash where a line has no point.
    pub fn table(&self) -> String {
        let points = self.lines.iter().flat_map(|line| &line.points);
        let mut xs: Vec<f64> = points.map(|p| p.0).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let row =
            |first: &str, cells: Vec<String>| format!("| {first} | {} |\n", cells.join(" | "));
        let mut table = format!("{} ({})\n\n", self.title, self.y);
        table += &row(&self.x, xs.iter().map(|&x| self.label(x)).collect());
        table += &format!("|---|{}\n", "---|".repeat(xs.len()));
        for Line { name, points } in &self.lines {
            let at = |x: &f64| points.iter().find(|p| p.0 == *x).map(|p| short(p.1));
            table += &row(name, xs.iter().map(|x| at(x).unwrap_or_else(|| "-".into())).collect());
        }
        table
    }

    fn label(&self, x: f64) -> String {
        self.categories.get(x as usize).cloned().unwrap_or_else(|| x.to_string())
    }

    fn plot(&self) -> String {
        let axes = (&*self.x, &*self.y);
        if self.categories.is_empty() {
            chart::lines(&self.title, axes, &self.lines)
        } else {
            chart::grouped_bars(&self.title, axes, &self.lines, &self.categories)
        }
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
