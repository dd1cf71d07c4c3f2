//! The rows of a new session as they are really written.

use std::cell::RefCell;
use std::io::{self, Write};

use super::Keeper;
use sessions::rows::Pieces;

/// A sink that shows its keeper the rows that go through it.
pub struct Shown<'k, 'c, W> {
    keeper: &'k RefCell<Keeper<'c>>,
    on: bool,
    rows: Pieces,
    sink: W,
}

impl<'k, 'c, W> Shown<'k, 'c, W> {
    /// Of what goes into `sink`; the keeper begins.
    ///
    /// # Errors
    /// A store that is being swept.
    pub fn new(keeper: &'k RefCell<Keeper<'c>>, sink: W) -> io::Result<Self> {
        keeper.borrow_mut().begin()?;
        Ok(Self { keeper, on: !keeper.borrow().idle(), rows: Pieces::default(), sink })
    }

    /// The sink, when all is written.
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
