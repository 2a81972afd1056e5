//! Which places of a line are still there, and the nearest one on either side
//! of any place.
//!
//! Two forests of pointers, one to the left and one to the right, halved on
//! the way (union-find): a removal and a question cost next to nothing, and a
//! walk never visits what was removed. cahd-2008, section IV, suggests linked
//! lists for this; they cannot answer for a place that is not in the list.

/// Some of the places `0..len`; places are only ever removed.
pub(super) struct Remaining {
    /// For place `i`, entry `i + 1` leads to the nearest place at or before it; 0 is the edge.
    left: Vec<u32>,
    /// For place `i`, entry `i` leads to the nearest place at or after it; `len` is the edge.
    right: Vec<u32>,
}

impl Remaining {
    /// The places for which `holds` is true.
    pub(super) fn new(len: usize, holds: impl Fn(usize) -> bool) -> Self {
        let edge = len as u32;
        let mut remaining = Self { left: (0..=edge).collect(), right: (0..=edge).collect() };
        for place in (0..len).filter(|&i| !holds(i)) {
            remaining.remove(place);
        }
        remaining
    }

    /// Takes `place` away.
    pub(super) fn remove(&mut self, place: usize) {
        self.left[place + 1] = place as u32;
        self.right[place] = place as u32 + 1;
    }

    /// The nearest place before `place`.
    pub(super) fn before(&mut self, place: usize) -> Option<usize> {
        (find(&mut self.left, place) as usize).checked_sub(1)
    }

    /// The nearest place after `place`.
    pub(super) fn after(&mut self, place: usize) -> Option<usize> {
        let found = find(&mut self.right, place + 1) as usize;
        (found + 1 < self.right.len()).then_some(found)
    }
}

fn find(parent: &mut [u32], mut at: usize) -> u32 {
    while parent[at] as usize != at {
        parent[at] = parent[parent[at] as usize];
        at = parent[at] as usize;
    }
    at as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_found_over_gaps() {
        let mut places = Remaining::new(10, |i| i % 2 == 0);
        assert_eq!((places.before(0), places.after(0)), (None, Some(2)));
        assert_eq!((places.before(5), places.after(5)), (Some(4), Some(6)));
        places.remove(4);
        places.remove(2);
        assert_eq!((places.before(5), places.after(0)), (Some(0), Some(6)));
        assert_eq!((places.before(9), places.after(8)), (Some(8), None));
        places.remove(8);
        assert_eq!((places.before(9), places.after(6)), (Some(6), None));
    }
}
