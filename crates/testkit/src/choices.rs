//! Any bytes, read as choices: what a fuzzer changes in its input changes one
//! choice, and every input means something.

/// Bytes that are used up; zeros after the last one.
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    /// Choices from `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether there is something left to choose from.
    pub fn left(&self) -> bool {
        !self.0.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let (&first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        first
    }

    /// A number below `end`, which is at most 256.
    pub fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end.max(1)
    }

    /// Whether something happens that happens once in `n` times.
    pub fn once_in(&mut self, n: u8) -> bool {
        self.byte() % n == n - 1
    }

    /// A size or a count: small as a rule, sometimes at a border, seldom 0.
    pub fn number(&mut self) -> u32 {
        match self.byte() {
            small @ 0..200 => 1 + u32::from(small) % 12,
            200..220 => 12 + 8 * u32::from(self.byte()),
            220..235 => 1 << (self.byte() % 32),
            235..245 => u32::MAX - u32::from(self.byte() % 3),
            245..248 => 0,
            _ => u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()]),
        }
    }
}
