//! Where byte strings lie between two steps of work on data that may not fit
//! into memory: memory, a disk, or whatever somebody brings.

use crate::{Error, Result};

/// Byte strings in the order in which they were put there.
pub trait Shelf: Sized {
    /// Appends one.
    fn put(&mut self, bytes: &[u8]) -> Result<()>;
    /// Shows all of them; may be called again.
    fn each(&mut self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
}

/// The error of whoever finds that what lies on a shelf is not what was put there.
pub(crate) fn damaged() -> Error {
    let what = "the temporary file does not hold what was written to it".into();
    let hint = "the disk is at fault, or somebody else has changed it: run the command again";
    Error::Infeasible { what, hint: hint.into() }
}

/// Gives new shelves. One that is dropped takes no more room.
pub trait Shelves {
    /// A shelf.
    type Shelf: Shelf;
    /// An empty one.
    fn shelf(&mut self) -> Result<Self::Shelf>;
}

/// Shelves in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct InMemory;

impl Shelves for InMemory {
    type Shelf = Vec<Vec<u8>>;

    fn shelf(&mut self) -> Result<Self::Shelf> {
        Ok(Vec::new())
    }
}

impl Shelf for Vec<Vec<u8>> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.push(bytes.to_vec());
        Ok(())
    }

    fn each(&mut self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.iter().try_for_each(|bytes| visit(bytes))
    }
}
