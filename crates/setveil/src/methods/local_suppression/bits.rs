//! Flags, one bit each: what is looked up all the time stays in the cache.

/// A fixed number of flags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// `len` flags, none of them set.
    pub(super) fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)])
    }

    pub(super) fn get(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    pub(super) fn set(&mut self, at: usize, value: bool) {
        let bit = 1 << (at % 64);
        if value {
            self.0[at / 64] |= bit;
        } else {
            self.0[at / 64] &= !bit;
        }
    }

    /// The places of the flags that are set, ascending.
    pub(super) fn ones(&self) -> impl Iterator<Item = u32> {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            let rests = std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)));
            let bits = rests.take_while(|&rest| rest != 0).map(u64::trailing_zeros);
            bits.map(move |bit| at as u32 * 64 + bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_are_set_are_found_in_order() {
        let mut bits = Bits::new(200);
        let places = [0, 1, 63, 64, 127, 199];
        places.iter().for_each(|&at| bits.set(at, true));
        bits.set(1, false);
        assert_eq!(bits.ones().collect::<Vec<u32>>(), [0, 63, 64, 127, 199]);
        assert_eq!(Bits::new(130).ones().count(), 0);
    }
}
