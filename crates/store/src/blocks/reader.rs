//! Rounds and whole transcripts out of the store.

use std::io;
use std::path::Path;

use super::records::{Next, Records};
use super::root::Folder;
use sessions::rows::Rows;

/// Reads a session's rows from the store, verified by their ids.
#[derive(Debug)]
pub struct Reader {
    records: Records,
}

impl Reader {
    /// Opens the blocks of a session.
    ///
    /// # Errors
    /// `NotFound` where it has none.
    pub fn open(folder: &Folder) -> io::Result<Self> {
        let blocks = folder.blocks();
        if !blocks.is_dir() {
            let why =
                format!("{}: no blocks; `brain-guard inscribe` writes them", blocks.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        }
        Ok(Self::of(&blocks))
    }

    /// Of the blocks in this folder, as those of an edition that was set aside.
    pub fn of(blocks: &Path) -> Self {
        Self { records: Records::at(blocks, 0) }
    }

    /// [`Reader::round`] where nothing says at which position it begins: all before it is
    /// passed over.
    ///
    /// # Errors
    /// `NotFound` where there is none; as [`Reader::round`].
    pub fn find(&mut self, seq: u32, rows: &mut Rows) -> io::Result<()> {
        self.records.seek(0)?;
        loop {
            match self.records.peek()? {
                Next::Record(head) if head.round_seq == seq => {
                    return self.round(self.records.position(), seq, rows);
                }
                Next::Record(_) => self.records.skip()?,
                _ => {
                    return Err(io::Error::new(io::ErrorKind::NotFound, format!("no round {seq}")));
                }
            }
        }
    }

    /// The rows of the round `seq` that begins at `position` ([`sessions::round::Round::position`]),
    /// into `rows`, which is emptied first. Quick where rounds are read in their order.
    ///
    /// # Errors
    /// What the system says; `InvalidData` where a block is not what its id says, or no block
    /// of the round stands there.
    pub fn round(&mut self, position: u64, seq: u32, rows: &mut Rows) -> io::Result<()> {
        rows.clear();
        self.records.seek(position)?;
        while self.row(rows, Some(seq))? {}
        if rows.ends.is_empty() {
            let why = format!(
                "round {seq} is not where the index says; `brain-guard store check --repair` indexes it anew"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(())
    }

    /// Writes the transcript as it was, all of it; returns its length.
    ///
    /// # Errors
    /// As [`Reader::round`], and what the writer says.
    pub fn original(&mut self, to: &mut dyn io::Write) -> io::Result<u64> {
        self.records.seek(0)?;
        let (mut rows, mut length) = (Rows::default(), 0);
        while self.row(&mut rows, None)? {
            to.write_all(&rows.bytes)?;
            length += rows.bytes.len() as u64;
            rows.clear();
        }
        Ok(length)
    }

    /// Puts the next row behind `rows`; `false` where there is none, or none of the round.
    fn row(&mut self, rows: &mut Rows, seq: Option<u32>) -> io::Result<bool> {
        let start = rows.bytes.len();
        loop {
            match self.records.peek()? {
                Next::Record(head) if seq.is_none_or(|seq| head.round_seq == seq) => {
                    self.records.take(&mut rows.bytes)?;
                    // Only the last block of a row ends with a line break.
                    if rows.bytes.last() == Some(&b'\n') {
                        rows.ends.push(rows.bytes.len());
                        return Ok(true);
                    }
                }
                // A row of which some blocks are missing is being written.
                _ => {
                    rows.bytes.truncate(start);
                    return Ok(false);
                }
            }
        }
    }
}
