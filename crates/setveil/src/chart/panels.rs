//! Points of several kinds over two axes, one panel below the other with the
//! same horizontal axis: one colour and shape a kind with a key on top, bars for
//! the spread, and names that do not overlap.

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::{Area, Drawn, GRID, INK, SOFT, picture, text};

/// A point of a panel.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Which kind it is of, counted from 0.
    pub kind: usize,
    /// Where it is.
    pub at: (f64, f64),
    /// How far each way it could as well be.
    pub spread: (f64, f64),
    /// What it is called; written beside it where there is room.
    pub name: String,
    /// Whether it is filled and named in the picture; all are named in words.
    pub marked: bool,
}

/// One vertical axis with its points.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The name of the vertical axis.
    pub y: String,
    /// Its points.
    pub marks: Vec<Mark>,
}

const WIDTH: u32 = 760;
const HEIGHT: u32 = 300;
const KEY: u32 = 26;
/// Colours that differ to people who do not see all of them (Okabe and Ito).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
    RGBColor(120, 94, 10),
];

/// Panels one below the other; `kinds` are the names of the kinds.
pub fn panels(title: &str, x: &str, kinds: &[String], panels: &[Panel]) -> String {
    let most = |marks: &mut dyn Iterator<Item = f64>| marks.fold(1e-6, f64::max) * 1.12;
    let all = || panels.iter().flat_map(|panel| &panel.marks);
    let scale = Scale::of(&mut all().map(|mark| mark.at.0));
    let right = most(&mut all().map(|mark| mark.at.0 + mark.spread.0));
    let speak = |panel: &Panel| {
        let marks = panel.marks.iter().map(|mark| {
            format!("{}: {x} {:.4}, {} {:.4}", mark.name, mark.at.0, panel.y, mark.at.1)
        });
        marks.collect::<Vec<_>>().join("; ")
    };
    let spoken: Vec<String> = panels.iter().map(speak).collect();
    let rows = kinds.len().div_ceil(KEYS_A_ROW) as u32;
    let head = 40 + KEY * rows;
    let size = (WIDTH, head + HEIGHT * panels.len() as u32);
    picture(title, &spoken.join("; "), size, |area| {
        area.fill(&WHITE)?;
        let style = text(17.0, HPos::Left, VPos::Top);
        area.draw(&Text::new(title, (14, 12), style))?;
        draw_key(area, kinds)?;
        let (_, below) = area.split_vertically(head);
        let areas = below.split_evenly((panels.len().max(1), 1));
        for (area, panel) in areas.iter().zip(panels) {
            let top = most(&mut panel.marks.iter().map(|mark| mark.at.1 + mark.spread.1));
            draw_panel(area, x, panel, (scale, right), top)?;
        }
        Ok(())
    })
}

const KEYS_A_ROW: usize = 4;

/// The horizontal axis: by powers where values differ by more than a factor of 8.
#[derive(Clone, Copy)]
enum Scale {
    Linear,
    /// From this value on.
    Powers(f64),
}

impl Scale {
    fn of(values: &mut dyn Iterator<Item = f64>) -> Self {
        let (mut least, mut most) = (f64::MAX, 0.0_f64);
        for value in values {
            (least, most) = (least.min(value), most.max(value));
        }
        if least > 0.0 && most > 8.0 * least { Self::Powers(least * 0.7) } else { Self::Linear }
    }

    fn place(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Powers(least) => value.max(least).log10(),
        }
    }

    fn start(self) -> f64 {
        match self {
            Self::Linear => 0.0,
            Self::Powers(least) => least.log10(),
        }
    }

    fn label(self, place: f64) -> String {
        let value = match self {
            Self::Linear => place,
            Self::Powers(_) => 10_f64.powf(place),
        };
        let digits = (1.0 - value.max(1e-9).log10().floor()).clamp(0.0, 6.0) as usize;
        format!("{value:.digits$}")
    }
}

fn draw_key(area: &Area, kinds: &[String]) -> Drawn {
    for (kind, name) in kinds.iter().enumerate() {
        let x = 22 + (kind % KEYS_A_ROW) as i32 * ((WIDTH as i32 - 30) / KEYS_A_ROW as i32);
        let y = 46 + (kind / KEYS_A_ROW) as i32 * KEY as i32;
        draw_shape(area, (x, y), kind, true)?;
        let style = text(12.5, HPos::Left, VPos::Center);
        area.draw(&Text::new(name.as_str(), (x + 12, y), style))?;
    }
    Ok(())
}

/// The shape of a kind; filled or empty.
fn draw_shape(area: &Area, (x, y): (i32, i32), kind: usize, filled: bool) -> Drawn {
    let colour = COLOURS[kind % COLOURS.len()];
    let corners: Vec<(i32, i32)> = match kind % 4 {
        0 => {
            let fill = if filled { colour.filled() } else { WHITE.filled() };
            area.draw(&Circle::new((x, y), 5, fill))?;
            return area.draw(&Circle::new((x, y), 5, colour.stroke_width(2)));
        }
        1 => vec![(x - 5, y - 5), (x + 5, y - 5), (x + 5, y + 5), (x - 5, y + 5)],
        2 => vec![(x, y - 6), (x + 6, y + 5), (x - 6, y + 5)],
        _ => vec![(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)],
    };
    let fill = if filled { colour.filled() } else { WHITE.filled() };
    area.draw(&Polygon::new(corners.clone(), fill))?;
    let outline = corners.iter().chain(&corners[..1]).copied().collect::<Vec<_>>();
    area.draw(&PathElement::new(outline, colour.stroke_width(2)))
}

type Axes<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

fn draw_panel(
    area: &Area,
    x: &str,
    panel: &Panel,
    (scale, right): (Scale, f64),
    top: f64,
) -> Drawn {
    let mut builder = ChartBuilder::on(area);
    builder.margin(10).x_label_area_size(42).y_label_area_size(60);
    let range = scale.start()..scale.place(right);
    let mut axes: Axes = builder.build_cartesian_2d(range, 0.0..top)?;
    let name = |place: &f64| scale.label(*place);
    let mut mesh = axes.configure_mesh();
    mesh.x_desc(x).y_desc(panel.y.as_str()).light_line_style(WHITE).bold_line_style(GRID);
    mesh.x_label_formatter(&name);
    mesh.x_labels(6).y_labels(5).axis_style(SOFT).draw()?;
    for mark in &panel.marks {
        let (ax, ay) = mark.at;
        let colour = COLOURS[mark.kind % COLOURS.len()];
        let (sx, sy) = mark.spread;
        let (left, right) = (scale.place(ax - sx), scale.place(ax + sx));
        let ax = scale.place(ax);
        let cross = [[(left, ay), (right, ay)], [(ax, (ay - sy).max(0.0)), (ax, ay + sy)]];
        axes.draw_series(cross.map(|line| PathElement::new(line, colour)))?;
    }
    let corner = area.get_base_pixel();
    let pixel = |at: &(f64, f64)| {
        let (x, y) = axes.backend_coord(&(scale.place(at.0), at.1));
        (x - corner.0, y - corner.1)
    };
    let places: Vec<(i32, i32)> = panel.marks.iter().map(|mark| pixel(&mark.at)).collect();
    for (mark, &place) in panel.marks.iter().zip(&places) {
        draw_shape(area, place, mark.kind, mark.marked)?;
    }
    let limits = area.dim_in_pixel();
    for (mark, label) in labels(panel, &places, limits) {
        let style = text(11.0, HPos::Left, VPos::Top).color(&INK);
        area.draw(&Text::new(mark, (label.left, label.top), style))?;
    }
    Ok(())
}

/// A rectangle of pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Space {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

impl Space {
    fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// Names of marked points and where there is room for them; those for which
/// there is none are left out.
fn labels<'a>(
    panel: &'a Panel,
    places: &[(i32, i32)],
    (width, height): (u32, u32),
) -> Vec<(&'a str, Space)> {
    let mut taken: Vec<Space> = places
        .iter()
        .map(|&(x, y)| Space { left: x - 7, top: y - 7, right: x + 7, bottom: y + 7 })
        .collect();
    let mut written = Vec::new();
    for (mark, &(x, y)) in panel.marks.iter().zip(places).filter(|(mark, _)| mark.marked) {
        // About as wide as letters of 11 pixels are.
        let (w, h) = (mark.name.chars().count() as i32 * 6 + 4, 14);
        let corners = [
            (x + 9, y - h - 2),
            (x + 9, y + 3),
            (x - 9 - w, y - h - 2),
            (x - 9 - w, y + 3),
            (x - w / 2, y - h - 9),
            (x - w / 2, y + 9),
            (x + 12, y - 3 * h / 2 - 8),
            (x - 12 - w, y - 3 * h / 2 - 8),
        ];
        let space = corners
            .iter()
            .map(|&(left, top)| Space { left, top, right: left + w, bottom: top + h })
            .find(|space| {
                space.left > 72
                    && space.right < width as i32 - 8
                    && space.top > 2
                    && space.bottom < height as i32 - 50
                    && !taken.iter().any(|other| other.meets(space))
            });
        if let Some(space) = space {
            taken.push(space);
            written.push((mark.name.as_str(), space));
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(kind: usize, at: (f64, f64), name: &str) -> Mark {
        Mark { kind, at, spread: (0.01, 0.02), name: name.into(), marked: true }
    }

    #[test]
    fn names_do_not_overlap_each_other_or_a_point() {
        let marks: Vec<Mark> =
            (0..40).map(|i| mark(0, (0.0, 0.0), &format!("setting {i}"))).collect();
        let places: Vec<(i32, i32)> =
            (0..40).map(|i| (100 + i * 17 % 500, 60 + i * 31 % 160)).collect();
        let panel = Panel { y: "y".into(), marks };
        let written = labels(&panel, &places, (WIDTH, HEIGHT));
        assert!(written.len() > 5, "{}", written.len());
        for (i, (_, a)) in written.iter().enumerate() {
            for (_, b) in &written[..i] {
                assert!(!a.meets(b), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn every_point_is_spoken_and_no_name_becomes_markup() {
        let panel = Panel {
            y: "lost".into(),
            marks: vec![mark(0, (0.5, 0.25), "<k>"), mark(5, (1.0, 0.5), "b")],
        };
        let svg = panels("Risk", "risk", &["a".into(), "b & c".into()], &[panel]);
        assert!(svg.contains("&lt;k&gt;: risk 0.5000, lost 0.2500") && !svg.contains("<k>"));
        assert!(svg.contains("b &amp; c"));
        assert!(panels("none", "x", &[], &[]).contains("<title>none</title>"));
    }
}
