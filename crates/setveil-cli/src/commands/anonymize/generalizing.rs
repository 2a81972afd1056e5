//! What the methods that publish ancestors have in common.

/// What their help says in the end.
pub const LOSS_AND_NAMES: &str = "\
    The answer includes the information loss `ncp` (0 nothing lost, 1 everything).\n\
    The hierarchy is published with the release: a hierarchy made from the data names every\n\
    item in it. See --hide-leaves.";
