//! Where byte strings lie between two steps of work on data that may not fit
//! into memory: memory, a disk, or whatever somebody brings.

use crate::Result;

/// Byte strings in the order in which they were put there.
pub trait Shelf: Sized {
    /// Appends one.
    fn put(&mut self, bytes: &[u8]) -> Result<()>;
    /// Shows all of them; may be called again.
    fn each(&mut self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
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
