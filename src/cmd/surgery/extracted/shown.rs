//! Observes the rows of a new session as they are written.

use std::cell::RefCell;
use std::io::{self, Write};

use super::Keeper;
use sessions::rows::RowSplitter;

/// A sink that passes the written rows to its keeper.
pub struct Shown<'k, 'c, W> {
    keeper: &'k RefCell<Keeper<'c>>,
    on: bool,
    rows: RowSplitter,
    sink: W,
}

impl<'k, 'c, W> Shown<'k, 'c, W> {
    /// Wraps `sink` and starts the keeper.
    ///
    /// # Errors
    /// A store that is being swept.
    pub fn new(keeper: &'k RefCell<Keeper<'c>>, sink: W) -> io::Result<Self> {
        keeper.borrow_mut().begin()?;
        Ok(Self { keeper, on: !keeper.borrow().idle(), rows: RowSplitter::default(), sink })
    }

    /// Returns the sink after the last write.
    pub fn done(self) -> W {
        self.sink
    }
}

impl<W: Write> Write for Shown<'_, '_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.sink.write(bytes)?;
        if self.on {
            self.rows.of(&bytes[..written], |row| self.keeper.borrow_mut().written(row));
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
