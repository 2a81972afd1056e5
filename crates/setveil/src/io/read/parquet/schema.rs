//! The tree of a schema, as a file lists it: every node says how many children follow.
//!
//! The decoder makes room for as many children as a node says, goes down as deep as the tree is, and writes
//! down for every leaf the names on the way to it: a long name above many leaves is copied for each.

/// The deepest tree; a list takes two levels.
const DEEPEST: usize = 100;
/// What the decoder takes for one name on the way to a leaf, besides its text.
const NAME: u64 = 48;

/// A node whose children are not all there yet.
struct Open {
    children: u64,
    /// The names from below the root to it, as they are copied.
    path: u64,
}

/// The nodes that are open, from the root on.
#[derive(Default)]
pub(super) struct Tree {
    open: Vec<Open>,
    begun: bool,
}

impl Tree {
    /// The next node, with a name of `name` bytes and `more` nodes behind it. The
    /// bytes of the names on the way to it, if it is a leaf; none: this is no tree.
    pub(super) fn add(&mut self, children: i32, name: u64, more: u64) -> Option<u64> {
        let children = u64::try_from(children).ok().filter(|&children| children <= more)?;
        let above = match self.open.last_mut() {
            Some(parent) => {
                parent.children -= 1;
                parent.path + name + NAME
            }
            // The root's own name is on no way.
            None if !self.begun => 0,
            None => return None,
        };
        self.begun = true;
        if children > 0 {
            self.open.push(Open { children, path: above });
        }
        while self.open.last().is_some_and(|node| node.children == 0) {
            self.open.pop();
        }
        (self.open.len() <= DEEPEST).then_some(if children > 0 { 0 } else { above })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_have_the_names_above_them() {
        let mut tree = Tree::default();
        assert_eq!(tree.add(2, 1000, 4), Some(0));
        assert_eq!(tree.add(2, 10, 3), Some(0));
        assert_eq!(tree.add(0, 1, 2), Some(11 + 2 * NAME));
        assert_eq!(tree.add(0, 2, 1), Some(12 + 2 * NAME));
        assert_eq!(tree.add(0, 3, 0), Some(3 + NAME));
        assert_eq!(tree.add(0, 3, 0), None, "a second root");
    }

    #[test]
    fn children_are_there_and_the_tree_is_not_deep() {
        assert_eq!(Tree::default().add(3, 1, 2), None);
        assert_eq!(Tree::default().add(-1, 1, 2), None);
        let mut deep = Tree::default();
        let levels = (0..1000).take_while(|_| deep.add(1, 1, 2000).is_some()).count();
        assert_eq!(levels, DEEPEST);
    }
}
