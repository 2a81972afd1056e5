//! Charts as SVG: the one place where pictures with numbers are drawn, for the
//! report, for comparisons, and for the papers' figures.
//!
//! Every picture has a title and a description that a screen reader speaks,
//! loads nothing, and scales with the page around it.

mod bars;
mod panels;
mod plane;

use maud::html;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

pub use bars::{Row, bars, columns};
pub use panels::{Mark, Panel, panels};
pub use plane::{Line, grouped_bars, lines};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

const INK: RGBColor = RGBColor(27, 36, 48);
const SOFT: RGBColor = RGBColor(72, 82, 95);
const GRID: RGBColor = RGBColor(224, 228, 234);
const TINT: RGBColor = RGBColor(238, 241, 245);
const BLUE: RGBColor = RGBColor(31, 78, 140);
const ORANGE: RGBColor = RGBColor(196, 106, 26);

/// Draws a picture. Drawing into memory does not fail.
fn picture(
    title: &str,
    spoken: &str,
    size: (u32, u32),
    draw: impl FnOnce(&Area) -> Drawn,
) -> String {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        draw(&area).and_then(|()| area.present()).expect("drawing into memory does not fail");
    }
    // The writer of pictures knows no titles.
    let (head, drawing) = svg.split_once('>').unwrap_or((&svg, ""));
    let head = head.replacen("<svg ", "<svg role=\"img\" ", 1);
    let words = html! { title { (title) } desc { (spoken) } };
    format!("{head}>{}{drawing}", words.into_string())
}

/// Text of so many pixels, with the given corner or middle at its place.
fn text(size: f64, horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    // The writer makes fonts smaller by this factor.
    let font = ("sans-serif", size * 1.24).into_font();
    font.color(&INK).pos(Pos::new(horizontal, vertical))
}

/// A number of pixels.
fn px(value: f64) -> i32 {
    value.round() as i32
}
