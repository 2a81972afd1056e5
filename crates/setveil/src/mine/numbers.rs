//! Numbers that nearly always have 32 bits.

/// A list of numbers, each with four bytes as long as that is enough.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    /// [`LARGE`] stands for a number that does not fit.
    small: Vec<u32>,
    /// Places and values of those, by place.
    large: Vec<(usize, u64)>,
}

const LARGE: u32 = u32::MAX;

impl Numbers {
    pub(super) fn with_capacity(count: usize) -> Self {
        Self { small: Vec::with_capacity(count), large: Vec::new() }
    }

    pub(super) fn push(&mut self, number: u64) {
        let small = u32::try_from(number).unwrap_or(LARGE);
        if small == LARGE {
            self.large.push((self.small.len(), number));
        }
        self.small.push(small);
    }

    #[inline]
    pub(super) fn get(&self, place: usize) -> u64 {
        match self.small[place] {
            LARGE => self.get_large(place),
            small => small.into(),
        }
    }

    #[cold]
    fn get_large(&self, place: usize) -> u64 {
        let at = self.large.binary_search_by_key(&place, |large| large.0);
        self.large[at.expect("every place of a large number is listed")].1
    }

    pub(super) fn len(&self) -> usize {
        self.small.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_come_back() {
        let limit = u64::from(u32::MAX);
        let all = [0, 7, limit - 1, limit, 3, limit + 1, u64::MAX, 0];
        let mut numbers = Numbers::with_capacity(2);
        all.iter().for_each(|&number| numbers.push(number));
        assert_eq!(numbers.len(), all.len());
        assert!(all.iter().enumerate().all(|(place, &number)| numbers.get(place) == number));
    }
}
