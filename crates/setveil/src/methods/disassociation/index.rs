//! Numbers of different things that must not be taken for each other.

macro_rules! index {
    ($(#[$doc:meta])* $name:ident, $number:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) struct $name(pub(super) $number);

        impl $name {
            #[inline]
            pub(super) fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(
    /// A record's place among the records of one chain of HORPART.
    Row, u32
);
index!(
    /// A chain of HORPART.
    ChainId, usize
);
index!(
    /// A simple cluster's place among all, which become leaves in REFINE.
    LeafId, u32
);
