//! Bars beside their names, drawn for a width that a phone shows unscaled.

use super::{Area, BLUE, Drawn, ORANGE, SOFT, TINT, picture, px, text};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

const WIDTH: f64 = 400.0;
/// Where bars end and their numbers begin.
const END: f64 = WIDTH - 70.0;
const COLOURS: [RGBColor; 2] = [BLUE, ORANGE];

/// A labelled bar or a group of bars.
#[derive(Clone, Debug)]
pub struct Row {
    /// What stands above.
    pub label: String,
    /// Each bar's length (0 to 1) and what is written behind it.
    pub bars: Vec<(f64, String)>,
}

/// Horizontal bars, labels above them. `series` names the bars of a group.
pub fn bars(title: &str, series: &[&str], rows: &[Row]) -> String {
    let key = if series.len() > 1 { 24.0 } else { 0.0 };
    let height: f64 = rows.iter().map(|row| 24.0 + 17.0 * row.bars.len() as f64).sum();
    let spoken: Vec<String> = rows.iter().map(|row| speak(row, series)).collect();
    let size = (WIDTH as u32, (4.0 + key + height) as u32);
    picture(title, &spoken.join("; "), size, |area| {
        if series.len() > 1 {
            draw_key(area, series)?;
        }
        let mut y = 4.0 + key;
        for row in rows {
            let style = text(12.5, HPos::Left, VPos::Top);
            area.draw(&Text::new(row.label.as_str(), (0, px(y)), style))?;
            y += 17.0;
            for (i, (length, number)) in row.bars.iter().enumerate() {
                draw_bar(area, y, *length, number, COLOURS[i % COLOURS.len()])?;
                y += 17.0;
            }
            y += 7.0;
        }
        Ok(())
    })
}

fn speak(row: &Row, series: &[&str]) -> String {
    let names = series.iter().copied().chain(std::iter::repeat(""));
    let bars = row.bars.iter().zip(names).map(|((_, number), name)| match name {
        "" => format!("{}: {number}", row.label),
        name => format!("{}: {name} {number}", row.label),
    });
    bars.collect::<Vec<_>>().join("; ")
}

fn draw_key(area: &Area, series: &[&str]) -> Drawn {
    let mut x = 0.0;
    for (i, name) in series.iter().enumerate() {
        let square = [(px(x), 4), (px(x) + 11, 15)];
        area.draw(&Rectangle::new(square, COLOURS[i % COLOURS.len()].filled()))?;
        let style = text(12.0, HPos::Left, VPos::Center);
        area.draw(&Text::new(*name, (px(x) + 16, 10), style))?;
        x += 30.0 + 6.6 * name.len() as f64;
    }
    Ok(())
}

/// A bar on a track that shows how long it could be.
fn draw_bar(area: &Area, y: f64, length: f64, number: &str, colour: RGBColor) -> Drawn {
    let width = (length.clamp(0.0, 1.0) * END).max(2.0);
    let (top, bottom) = (px(y), px(y) + 14);
    area.draw(&Rectangle::new([(0, top), (px(END), bottom)], TINT.filled()))?;
    area.draw(&Rectangle::new([(0, top), (px(width), bottom)], colour.filled()))?;
    let style = text(12.0, HPos::Left, VPos::Center);
    area.draw(&Text::new(number, (px(END) + 6, top + 7), style))
}

/// Vertical columns for the counts of classes with short names.
pub fn columns(title: &str, x_axis: &str, counts: &[(String, u64, String)]) -> String {
    let (top, height) = (20.0, 150.0);
    let most = counts.iter().map(|c| c.1).max().unwrap_or(0).max(1) as f64;
    let step = WIDTH / counts.len().max(1) as f64;
    let spoken: Vec<String> = counts.iter().map(|(n, _, c)| format!("{n}: {c}")).collect();
    let size = (WIDTH as u32, (top + height + 42.0) as u32);
    picture(title, &spoken.join("; "), size, |area| {
        let floor = px(top + height);
        for (i, (name, count, shown)) in counts.iter().enumerate() {
            let left = i as f64 * step;
            let middle = px(left + step / 2.0);
            let y = px(top + height - *count as f64 / most * (height - 16.0));
            let bar = [(px(left + step * 0.1), y), (px(left + step * 0.9), floor)];
            area.draw(&Rectangle::new(bar, BLUE.filled()))?;
            let above = text(11.0, HPos::Center, VPos::Bottom);
            area.draw(&Text::new(shown.as_str(), (middle, y - 3), above))?;
            let below = text(11.0, HPos::Center, VPos::Top);
            area.draw(&Text::new(name.as_str(), (middle, floor + 5), below))?;
        }
        area.draw(&PathElement::new([(0, floor), (px(WIDTH), floor)], SOFT))?;
        let axis = text(12.0, HPos::Center, VPos::Top);
        area.draw(&Text::new(x_axis, (px(WIDTH / 2.0), floor + 22), axis))
    })
}
