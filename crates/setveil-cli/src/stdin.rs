//! Standard input that can be left: a read from a pipe waits for whoever
//! writes, and Ctrl-C must not.

use std::io::{Cursor, Read, Result};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use setveil::Progress;

/// Bytes that are handed over at once.
const BLOCK: usize = 1 << 18;

/// Standard input, read by a thread of its own.
pub struct Stdin<'a> {
    blocks: Receiver<Result<Vec<u8>>>,
    current: Cursor<Vec<u8>>,
    progress: &'a dyn Progress,
}

impl<'a> Stdin<'a> {
    pub fn new(progress: &'a dyn Progress) -> Self {
        let (give, blocks) = sync_channel(4);
        std::thread::spawn(move || {
            let mut stdin = std::io::stdin().lock();
            loop {
                let mut block = vec![0; BLOCK];
                let read = stdin.read(&mut block).map(|length| {
                    block.truncate(length);
                    block
                });
                let last = read.as_ref().map_or(true, Vec::is_empty);
                // Nobody takes it any more once the reading was stopped.
                if give.send(read).is_err() || last {
                    return;
                }
            }
        });
        Self { blocks, current: Cursor::default(), progress }
    }

    /// The next block; none at the end, or when the caller of all this says stop.
    fn next(&self) -> Result<Option<Vec<u8>>> {
        loop {
            match self.blocks.recv_timeout(Duration::from_millis(100)) {
                Ok(block) => return block.map(Some),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                // Whoever reads asks the same question right after this, and ends with an error.
                Err(RecvTimeoutError::Timeout) => {
                    if let ControlFlow::Break(()) = self.progress.advance(0) {
                        return Ok(None);
                    }
                }
            }
        }
    }
}

impl Read for Stdin<'_> {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize> {
        if self.current.position() == self.current.get_ref().len() as u64 {
            match self.next()? {
                Some(block) => self.current = Cursor::new(block),
                None => return Ok(0),
            }
        }
        self.current.read(buf)
    }
}
