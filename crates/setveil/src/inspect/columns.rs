//! Lines that look like rows of a table: a header, and positions that identify.
//!
//! Sets have no positions; the first lines of the text have. Records of one
//! constant length alone are no sign: fixed-length categorical data is set
//! data. A sign is a position whose values belong to it alone and are
//! (nearly) as many as the lines, or follow a pattern that no other position has.

use std::collections::{HashMap, HashSet};

use super::items::Labels;
use super::shape::{is_date, is_id, pattern};
use super::{Finding, Kind, Severity, names, short};

/// Fewer lines than these tell nothing about how unique values are.
const ENOUGH: usize = 20;

/// Rows of more cells than these are not looked at as persons with several rows.
const MOST_COLUMNS: usize = 12;

/// The first lines as a table.
pub(super) struct Table<'a> {
    /// The names of the columns, if the first line is a header.
    pub(super) header: Option<&'a [String]>,
    rows: Vec<&'a [String]>,
    /// How many fields (nearly) all rows have; none if they differ.
    pub(super) width: Option<usize>,
    /// The position that identifies, and how.
    pub(super) id: Option<(usize, Identifies)>,
}

/// How a position identifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identifies {
    /// A value of its own in so many of the rows.
    Uniquely(usize),
    /// So many values, each perhaps in several rows.
    Repeatedly(usize),
}

/// What the values at one position have in common.
struct Position {
    rows: usize,
    /// Rows whose value occurs in no other record of all data.
    once: usize,
    distinct: usize,
    /// The pattern of (nearly) all values that look like ids.
    id_pattern: Option<String>,
    /// The pattern of values that are all short numbers, too short to be ids by themselves.
    number: Option<String>,
    /// Whether equal values stand together.
    runs: bool,
    dates: bool,
}

impl<'a> Table<'a> {
    /// The table that `rows` make, if there are any.
    pub(super) fn new(rows: &'a [Vec<String>], data: &Labels) -> Option<Self> {
        let first = rows.first()?;
        let all: Vec<&[String]> = rows.iter().map(Vec::as_slice).collect();
        let width = width(&all[1..]);
        let header = Some(first.as_slice())
            .filter(|header| width == Some(header.len()) && is_header(header, &all[1..], data));
        let rows = if header.is_some() { all[1..].to_vec() } else { all };
        let id = identifying(&rows, width, data);
        Some(Self { header, rows, width, id })
    }

    pub(super) fn findings(&self) -> impl Iterator<Item = Finding> {
        let lines = self.rows.len() as u64;
        let refuse = |kind, count: usize, examples| {
            let (severity, count) = (Severity::Refuse, count as u64);
            Finding { severity, kind, count, of: lines, examples }
        };
        let header = self.header.map(|header| {
            let names = header.iter().take(6).map(|n| short(n)).collect();
            refuse(Kind::Header, 1, names)
        });
        let id = self.id.map(|(at, how)| {
            let mut examples: Vec<String> = Vec::new();
            for value in self.rows.iter().filter_map(|row| row.get(at)) {
                if examples.len() < 3 && !examples.contains(&short(value)) {
                    examples.push(short(value));
                }
            }
            let position = at + 1;
            match how {
                Identifies::Uniquely(n) => refuse(Kind::UniquePosition { position }, n, examples),
                Identifies::Repeatedly(n) => refuse(Kind::IdPosition { position }, n, examples),
            }
        });
        header.into_iter().chain(id)
    }
}

/// The number of fields that at least 95 of 100 rows have, if it is two or more.
fn width(rows: &[&[String]]) -> Option<usize> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    rows.iter().for_each(|row| *counts.entry(row.len()).or_default() += 1);
    let (&width, &count) = counts.iter().max_by_key(|&(width, count)| (*count, *width))?;
    (width >= 2 && count * 100 >= rows.len() * 95).then_some(width)
}

/// Whether a line names the columns of those below it.
fn is_header(header: &[String], rows: &[&[String]], data: &Labels) -> bool {
    let distinct: HashSet<&String> = header.iter().collect();
    let names = distinct.len() == header.len()
        && header.iter().all(|n| names::could_name_a_column(n) && data.support(n) <= 1);
    if !names || rows.len() < 2 {
        return false;
    }
    // Below a name without digits, nothing but numbers, codes or dates.
    let coded = |at: usize| {
        let digit = |text: &str| text.bytes().any(|b| b.is_ascii_digit());
        let values = rows.iter().filter_map(|row| row.get(at)).filter(|v| !v.is_empty());
        let (all, with) = values.fold((0, 0), |(a, w), v| (a + 1, w + usize::from(digit(v))));
        !digit(&header[at]) && all >= 2 && with * 10 >= all * 9
    };
    header.iter().any(|name| names::is_known(name)) || (0..header.len()).any(coded)
}

/// The position that identifies, if there is one.
fn identifying(
    rows: &[&[String]],
    width: Option<usize>,
    data: &Labels,
) -> Option<(usize, Identifies)> {
    if rows.len() < ENOUGH {
        return None;
    }
    let at = |p: usize| position(rows, p, data);
    // The numbers of the lines; they can be items of other lines as well.
    let numbered = counts_up(rows, 0) && rows.windows(2).all(|w| w[0][0] != w[1][0]);
    let Some(width) = width else {
        if numbered {
            return Some((0, Identifies::Uniquely(rows.len())));
        }
        // Lines of different lengths: the first field may be an id, the others not.
        let first = at(0).filter(|p| p.rows >= ENOUGH && p.once * 10 >= p.rows * 9)?;
        let others = rows.iter().flat_map(|row| row.iter().skip(1)).filter(|v| !v.is_empty());
        let (all, once) =
            others.fold((0, 0), |(a, o), v| (a + 1, o + usize::from(data.support(v) <= 1)));
        return (all > 0 && once * 2 < all).then_some((0, Identifies::Uniquely(first.once)));
    };
    let positions: Vec<Option<Position>> = (0..width).map(at).collect();
    let unique = |p: &Position| p.rows >= ENOUGH && p.once * 20 >= p.rows * 19 && !p.dates;
    let found = (0..width).find(|&p| positions[p].as_ref().is_some_and(unique));
    if found.is_none() && numbered {
        return Some((0, Identifies::Uniquely(rows.len())));
    }
    if let Some(p) = found {
        // Where every position is like that, items that occur once are the rule.
        let all = positions.iter().flatten().all(|p| p.once * 2 >= p.rows);
        let id = positions[p].as_ref().filter(|id| !all || id.id_pattern.is_some())?;
        return Some((p, Identifies::Uniquely(id.once)));
    }
    let repeated = (0..width).find(|&p| is_repeated(rows, p, &positions))?;
    let distinct = positions[repeated].as_ref().map_or(0, |p| p.distinct);
    Some((repeated, Identifies::Repeatedly(distinct)))
}

/// Whether position `p` says whose row it is, several rows a person: values of
/// a pattern that no other position has, and many of them; or numbers that
/// count up.
fn is_repeated(rows: &[&[String]], p: usize, positions: &[Option<Position>]) -> bool {
    let Some(id) = &positions[p] else { return false };
    let width = positions.len();
    if width > MOST_COLUMNS {
        return false;
    }
    // Rows of few cells are seldom sets that were sorted by their first item.
    if counts_up(rows, p) && id.distinct >= if width <= 4 { 3 } else { 10 } {
        return true;
    }
    let Some(pattern) = id.id_pattern.as_ref().or(id.number.as_ref()) else { return false };
    let alone = positions.iter().enumerate().all(|(q, other)| {
        let same = |other: &Position| {
            other.id_pattern.as_ref() == Some(pattern) || other.number.as_ref() == Some(pattern)
        };
        q == p || !other.as_ref().is_some_and(same)
    });
    let many = if id.runs { id.rows / 20 } else { id.rows / 10 };
    alone && id.distinct >= many.max(10) && apart(rows, p)
}

/// Whether a position holds numbers that never fall and hardly ever leave one out.
fn counts_up(rows: &[&[String]], at: usize) -> bool {
    let number = |row: &&[String]| row.get(at).and_then(|v| v.parse::<u64>().ok());
    let Some(numbers) = rows.iter().map(number).collect::<Option<Vec<u64>>>() else { return false };
    let steps: Vec<u64> = numbers.windows(2).filter_map(|w| w[1].checked_sub(w[0])).collect();
    let ups = steps.iter().filter(|&&step| step > 0).count();
    let ones = steps.iter().filter(|&&step| step == 1).count();
    steps.len() + 1 == numbers.len() && ups > 0 && ones * 10 >= ups * 9
}

fn position(rows: &[&[String]], at: usize, data: &Labels) -> Option<Position> {
    let values: Vec<&str> = rows
        .iter()
        .filter_map(|row| row.get(at))
        .map(String::as_str)
        .filter(|v| !v.is_empty())
        .collect();
    let first = values.first()?;
    let distinct: HashSet<&str> = values.iter().copied().collect();
    let once = values.iter().filter(|v| data.support(v) <= 1).count();
    let changes = 1 + values.windows(2).filter(|w| w[0] != w[1]).count();
    let pattern_of_first = pattern(first);
    let like_ids =
        values.iter().filter(|v| like_an_id(v) && pattern(v) == pattern_of_first).count();
    Some(Position {
        rows: values.len(),
        once,
        distinct: distinct.len(),
        id_pattern: (like_ids * 50 >= values.len() * 49).then_some(pattern_of_first),
        number: values
            .iter()
            .all(|v| v.bytes().all(|b| b.is_ascii_digit()))
            .then(|| "9".to_owned()),
        runs: changes == distinct.len(),
        dates: values.iter().all(|v| is_date(v)),
    })
}

/// As [`is_id`], and numbers of four digits and more: in a column of its own.
fn like_an_id(text: &str) -> bool {
    is_id(text) || (text.len() >= 4 && text.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether the values at one position stand at no other.
fn apart(rows: &[&[String]], at: usize) -> bool {
    let values: HashSet<&String> = rows.iter().filter_map(|row| row.get(at)).collect();
    let elsewhere = |(p, value): (usize, &String)| p != at && values.contains(value);
    !rows.iter().any(|row| row.iter().enumerate().any(elsewhere))
}
