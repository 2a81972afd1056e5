//! Charts whose colours follow the page, and whose points are links. The
//! numbers of every chart stand in a table beside it.

use maud::{Markup, html};

/// A named line of values over 1, 2, ... known items, each with its error.
pub(crate) struct Line {
    pub(crate) name: String,
    /// The class of its colour: `s0`, `s1`, ...
    pub(crate) class: &'static str,
    pub(crate) points: Vec<(f64, f64, f64)>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 46.0;

/// Numbers to places.
#[derive(Clone, Copy)]
struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
    powers: bool,
}

impl Scale {
    fn at(self, value: f64) -> f64 {
        let (value, from, to) = match self.powers {
            true => (value.max(self.from).log10(), self.from.log10(), self.to.log10()),
            false => (value, self.from, self.to),
        };
        let share = if to > from { (value - from) / (to - from) } else { 0.5 };
        self.start + share.clamp(0.0, 1.0) * (self.end - self.start)
    }

    /// Four to six round numbers.
    fn ticks(self) -> Vec<f64> {
        if self.powers {
            let mut ticks = Vec::new();
            let mut power = 10_f64.powf(self.from.log10().floor());
            while power <= self.to {
                ticks.extend([1.0, 2.0, 5.0].map(|step| step * power));
                power *= 10.0;
            }
            return ticks.into_iter().filter(|t| (self.from..=self.to).contains(t)).collect();
        }
        let rough = (self.to - self.from).max(1e-9) / 4.0;
        let power = 10_f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
        let step = steps.into_iter().find(|step| *step >= rough).unwrap_or(rough);
        let first = (self.from / step).ceil() as i64;
        (first..).map(|i| i as f64 * step).take_while(|t| *t <= self.to * 1.000_001).collect()
    }
}

fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value {
        0.0 => "0 %".into(),
        v if v < 0.1 => format!("{v:.2} %"),
        v if v < 10.0 => format!("{}", (v * 10.0).round() / 10.0) + " %",
        v => format!("{v:.0} %"),
    }
}

fn px(value: f64) -> String {
    format!("{:.1}", value)
}

/// Shares over the number of known items.
pub(crate) fn curve(title: &str, spoken: &str, lines: &[Line]) -> Markup {
    let points = || lines.iter().flat_map(|line| &line.points);
    let most = points().map(|p| p.1 + p.2).fold(0.01, f64::max);
    let last = points().map(|p| p.0).fold(2.0, f64::max);
    let x = Scale { from: 0.8, to: last + 0.2, start: LEFT, end: WIDTH - RIGHT, powers: false };
    let y = Scale {
        from: 0.0,
        to: (most * 1.08).min(1.0),
        start: HEIGHT - BOTTOM,
        end: TOP,
        powers: false,
    };
    html! {
        svg class="plot" viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(title) {
            title { (title) } desc { (spoken) }
            @for tick in y.ticks() {
                line class="grid" x1=(px(LEFT)) x2=(px(WIDTH - RIGHT)) y1=(px(y.at(tick))) y2=(px(y.at(tick))) {}
                text x=(px(LEFT - 8.0)) y=(px(y.at(tick) + 4.0)) text-anchor="end" { (percent(tick)) }
            }
            @for known in 1..=(last as u32) {
                text x=(px(x.at(known.into()))) y=(px(HEIGHT - BOTTOM + 18.0)) text-anchor="middle" { (known) }
            }
            text x=(px((LEFT + WIDTH - RIGHT) / 2.0)) y=(px(HEIGHT - 6.0)) text-anchor="middle" { "items that somebody knows of a person" }
            @for line in lines {
                g class=(line.class) {
                    polyline class="line" points=(line.points.iter().map(|p| format!("{:.1},{:.1}", x.at(p.0), y.at(p.1))).collect::<Vec<_>>().join(" ")) {}
                    @for &(known, value, error) in &line.points {
                        @if error > 0.0 {
                            line class="spread" x1=(px(x.at(known))) x2=(px(x.at(known))) y1=(px(y.at(value - error))) y2=(px(y.at(value + error))) {}
                        }
                        circle class="point" cx=(px(x.at(known))) cy=(px(y.at(value))) r="5" {}
                    }
                }
            }
        }
        (key(&lines.iter().map(|line| (line.class, line.name.as_str())).collect::<Vec<_>>()))
    }
}

/// The names of the colours.
pub(crate) fn key(names: &[(&str, &str)]) -> Markup {
    html! {
        ul class="key" aria-label="Colours" { @for (class, name) in names {
            li { svg viewBox="0 0 12 12" aria-hidden="true" class=(class) { circle class="point" cx="6" cy="6" r="5" {} } (name) }
        } }
    }
}

/// A point that leads somewhere.
pub(crate) struct Point {
    pub(crate) class: &'static str,
    /// Risk and loss.
    pub(crate) at: (f64, f64),
    pub(crate) spread: (f64, f64),
    /// What is written beside it, if it is among the best.
    pub(crate) label: Option<String>,
    /// What it is, for everybody.
    pub(crate) name: String,
    pub(crate) href: String,
}

/// Risk against loss; every point is a link.
pub(crate) fn field(title: &str, (across, up): (&str, &str), points: &[Point]) -> Markup {
    let xs = || points.iter().map(|p| p.at.0);
    let (least, most) = (xs().fold(f64::MAX, f64::min), xs().fold(0.0, f64::max));
    let powers = least > 0.0 && most > 8.0 * least;
    let right = points.iter().map(|p| p.at.0 + p.spread.0).fold(0.001, f64::max) * 1.12;
    let from = if powers { least * 0.7 } else { 0.0 };
    let height = HEIGHT + 60.0;
    let x = Scale { from, to: right, start: LEFT, end: WIDTH - RIGHT - 30.0, powers };
    let top = points.iter().map(|p| p.at.1 + p.spread.1).fold(0.01, f64::max) * 1.12;
    let y = Scale { from: 0.0, to: top, start: height - BOTTOM, end: TOP + 14.0, powers: false };
    html! {
        svg class="plot" viewBox={ "0 0 " (WIDTH) " " (height) } role="group" aria-label=(title) {
            @for tick in y.ticks() {
                line class="grid" x1=(px(LEFT)) x2=(px(WIDTH - RIGHT)) y1=(px(y.at(tick))) y2=(px(y.at(tick))) {}
                text x=(px(LEFT - 8.0)) y=(px(y.at(tick) + 4.0)) text-anchor="end" { (round(tick)) }
            }
            @for tick in x.ticks() {
                line class="grid" x1=(px(x.at(tick))) x2=(px(x.at(tick))) y1=(px(TOP)) y2=(px(height - BOTTOM)) {}
                text x=(px(x.at(tick))) y=(px(height - BOTTOM + 18.0)) text-anchor="middle" { (percent(tick)) }
            }
            text x=(px((LEFT + WIDTH) / 2.0)) y=(px(height - 6.0)) text-anchor="middle" { (across) }
            text x=(px(LEFT)) y=(px(TOP - 3.0)) { (up) }
            @for point in points {
                @let (cx, cy) = (x.at(point.at.0), y.at(point.at.1));
                g class=(point.class) {
                    line class="spread" x1=(px(x.at(point.at.0 - point.spread.0))) x2=(px(x.at(point.at.0 + point.spread.0))) y1=(px(cy)) y2=(px(cy)) {}
                    line class="spread" x1=(px(cx)) x2=(px(cx)) y1=(px(y.at(point.at.1 - point.spread.1))) y2=(px(y.at(point.at.1 + point.spread.1))) {}
                    a href=(point.href) aria-label=(point.name) {
                        title { (point.name) }
                        circle class="target" cx=(px(cx)) cy=(px(cy)) r="12" {}
                        circle class=(if point.label.is_some() { "point" } else { "point hollow" }) cx=(px(cx)) cy=(px(cy)) r="6" {}
                    }
                }
            }
            @for (text, at, anchor) in labels(points, &|p| (x.at(p.at.0), y.at(p.at.1))) {
                text class="label" x=(px(at.0)) y=(px(at.1)) text-anchor=(anchor) { (text) }
            }
        }
    }
}

fn round(value: f64) -> String {
    format!("{}", (value * 1000.0).round() / 1000.0)
}

/// Names beside points, where they cover neither a point nor each other.
fn labels<'a>(
    points: &'a [Point],
    place: &dyn Fn(&Point) -> (f64, f64),
) -> Vec<(&'a str, (f64, f64), &'static str)> {
    // Left, top, right, bottom.
    let mut taken: Vec<[f64; 4]> = points
        .iter()
        .map(|p| {
            let (x, y) = place(p);
            [x - 7.0, y - 7.0, x + 7.0, y + 7.0]
        })
        .collect();
    let meets =
        |a: &[f64; 4], b: &[f64; 4]| a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
    let mut written = Vec::new();
    for point in points {
        let Some(text) = &point.label else { continue };
        let (x, y) = place(point);
        let wide = text.chars().count() as f64 * 6.2;
        let spots = [
            (x + 10.0, y - 6.0, "start"),
            (x + 10.0, y + 15.0, "start"),
            (x - 10.0, y - 6.0, "end"),
            (x - 10.0, y + 15.0, "end"),
        ];
        let space = |&(x, y, anchor): &(f64, f64, &'static str)| match anchor {
            "start" => [x, y - 11.0, x + wide, y + 3.0],
            _ => [x - wide, y - 11.0, x, y + 3.0],
        };
        let free = |spot: &&(f64, f64, &'static str)| {
            let space = space(spot);
            space[0] > LEFT && space[2] < WIDTH && !taken.iter().any(|other| meets(other, &space))
        };
        if let Some(spot) = spots.iter().find(free) {
            taken.push(space(spot));
            written.push((text.as_str(), (spot.0, spot.1), spot.2));
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_a_few_round_numbers() {
        for (from, to, powers) in [(0.0, 1.0, false), (0.0, 0.013, false), (0.003, 0.4, true)] {
            let scale = Scale { from, to, start: 0.0, end: 100.0, powers };
            let ticks = scale.ticks();
            assert!((3..=9).contains(&ticks.len()), "{ticks:?}");
            assert!(ticks.windows(2).all(|w| scale.at(w[0]) < scale.at(w[1])), "{ticks:?}");
        }
    }

    #[test]
    fn points_are_links_with_names_that_cannot_become_markup() {
        let point = |name: &str| Point {
            class: "s0",
            at: (0.1, 0.2),
            spread: (0.01, 0.02),
            label: Some(name.to_owned()),
            name: name.to_owned(),
            href: "there".to_owned(),
        };
        let svg = field("t", ("a", "b"), &[point("<k>"), point("<k>")]).into_string();
        assert_eq!(svg.matches("href=\"there\"").count(), 2);
        assert!(!svg.contains("<k>") && svg.contains("&lt;k&gt;"));
        assert!(field("t", ("a", "b"), &[]).into_string().contains("<svg"));
        assert!(curve("t", "s", &[]).into_string().contains("<svg"));
    }
}
