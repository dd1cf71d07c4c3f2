//! Records read one after the other, from pack to pack.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::Header;
use super::pack;
use base::atomic::NO_WAIT;

/// The longest header: longer is damage.
const HEADER: u64 = 8 * 1024;

/// Bytes that are read at once.
const BUFFER: usize = 256 * 1024;

/// What to do about damage.
pub const WAY_OUT: &str = "`brain-guard store check --repair` takes the session from its file anew";

/// What reading needs of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// SHA-256 of the block's bytes, in hex.
    pub id: [u8; 64],
    /// The block's round.
    pub round_seq: u32,
    /// The block's row.
    pub row: u64,
    /// The block's length.
    pub bytes: u64,
}

impl Head {
    fn of(line: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Written<'a> {
            id: &'a str,
            round_seq: u32,
            row: u64,
            bytes: u64,
        }
        let Written { id, round_seq, row, bytes } = serde_json::from_slice(line).ok()?;
        // An id of another length is no block's.
        let id = id.as_bytes().try_into().unwrap_or([0; 64]);
        Some(Self { id, round_seq, row, bytes })
    }
}

/// What stands at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// A whole record.
    Record(Head),
    /// Nothing: the end of the last pack.
    End,
    /// The beginning of a record whose end was not written, at the end of the last pack.
    Torn,
}

/// Reads records.
#[derive(Debug)]
pub struct Records {
    blocks: PathBuf,
    pack: u64,
    file: Option<BufReader<File>>,
    /// The pack's length as it was last looked at.
    length: u64,
    /// Where in the pack the next record begins.
    offset: u64,
    /// The header of that record, once read; empty before.
    line: Vec<u8>,
    /// What it says, once the whole record is known to be there.
    head: Option<Head>,
}

impl Records {
    /// Records from a position on.
    pub fn at(blocks: &Path, position: u64) -> Self {
        let (pack, offset) = pack::place(position);
        let blocks = blocks.to_path_buf();
        Self { blocks, pack, file: None, length: 0, offset, line: Vec::new(), head: None }
    }

    /// Where the next record begins.
    pub fn position(&self) -> u64 {
        pack::position(self.pack, self.offset)
    }

    /// Goes on from another position.
    ///
    /// # Errors
    /// What the system says.
    pub fn seek(&mut self, position: u64) -> io::Result<()> {
        let (pack, offset) = pack::place(position);
        if (pack, offset) == (self.pack, self.offset) {
            return Ok(());
        }
        self.pass();
        if pack != self.pack {
            self.file = None;
        }
        (self.pack, self.offset) = (pack, offset);
        if let Some(file) = &mut self.file {
            file.seek(SeekFrom::Start(offset))?;
        }
        Ok(())
    }

    /// What the next record is; asked again, the same.
    ///
    /// # Errors
    /// What the system says; `InvalidData`, naming pack and place, where a record is no record.
    pub fn peek(&mut self) -> io::Result<Next> {
        if let Some(head) = self.head {
            return Ok(Next::Record(head));
        }
        if self.line.is_empty() {
            while !self.open()? {
                // What was appended since the pack was opened.
                self.length = self.file_length()?;
                if self.offset < self.length {
                    continue;
                }
                if self.file.is_none() || !self.is_next_pack() {
                    // What stands behind one that is gone would be lost without a word.
                    let last = pack::numbers(&self.blocks)?.pop();
                    if last.is_none_or(|last| last <= self.pack) {
                        return Ok(Next::End);
                    }
                    // It may have been begun in this moment.
                    if self.file.is_none() || !self.is_next_pack() {
                        return Err(self.damaged("is in a pack that is missing"));
                    }
                }
                (self.pack, self.offset, self.file) = (self.pack + 1, 0, None);
            }
            let Some(file) = &mut self.file else { return Ok(Next::End) };
            file.take(HEADER).read_until(b'\n', &mut self.line)?;
        }
        let end = self.offset + self.line.len() as u64;
        let whole = self.line.last() == Some(&b'\n');
        if !whole && self.line.len() as u64 >= HEADER {
            return Err(self.damaged("holds no record"));
        }
        let Some(head) = Head::of(&self.line) else {
            if whole {
                return Err(self.damaged("holds no record"));
            }
            return self.torn();
        };
        if !whole || end.saturating_add(head.bytes) > self.length {
            self.length = self.file_length()?;
            if !whole || end.saturating_add(head.bytes) > self.length {
                return self.torn();
            }
        }
        self.head = Some(head);
        Ok(Next::Record(head))
    }

    /// The whole header of the next record, once [`Records::peek`] said that it is one.
    ///
    /// # Errors
    /// `InvalidData` where it is none.
    pub fn header(&self) -> io::Result<Header> {
        serde_json::from_slice(&self.line).map_err(|_| self.damaged("holds no record"))
    }

    /// Takes the record that [`Records::peek`] found: its bytes are put behind `to`.
    ///
    /// # Errors
    /// What the system says; `InvalidData` where the bytes are not what the id says.
    pub fn take(&mut self, to: &mut Vec<u8>) -> io::Result<()> {
        let head = self.head.ok_or(io::ErrorKind::NotFound)?;
        let (start, bytes) = (to.len(), head.bytes);
        let file = self.file.as_mut().ok_or(io::ErrorKind::NotFound)?;
        to.reserve(bytes as usize);
        file.take(bytes).read_to_end(to)?;
        let same = to.len() - start == bytes as usize && id(&to[start..]) == head.id;
        if !same {
            return Err(self.damaged("is not what its id says"));
        }
        self.offset += self.line.len() as u64 + bytes;
        self.pass();
        Ok(())
    }

    /// Passes over the record that [`Records::peek`] found.
    ///
    /// # Errors
    /// What the system says.
    pub fn skip(&mut self) -> io::Result<()> {
        let bytes = self.head.ok_or(io::ErrorKind::NotFound)?.bytes;
        let file = self.file.as_mut().ok_or(io::ErrorKind::NotFound)?;
        file.seek_relative(bytes as i64)?;
        self.offset += self.line.len() as u64 + bytes;
        self.pass();
        Ok(())
    }

    /// Forgets the record that was next.
    fn pass(&mut self) {
        self.line.clear();
        self.head = None;
    }

    /// Opens the pack; whether there is more of it to read, as far as is known.
    fn open(&mut self) -> io::Result<bool> {
        if self.file.is_none() {
            let path = pack::path(&self.blocks, self.pack);
            let file = match OpenOptions::new().read(true).custom_flags(NO_WAIT).open(&path) {
                Ok(file) => file,
                Err(e) if e.kind() == io::ErrorKind::NotFound && self.offset == 0 => {
                    self.length = 0;
                    return Ok(false);
                }
                Err(e) => return Err(named(&path, &e)),
            };
            self.length = file.metadata()?.len();
            let mut file = BufReader::with_capacity(BUFFER, file);
            if self.offset > 0 {
                file.seek(SeekFrom::Start(self.offset))?;
            }
            self.file = Some(file);
        }
        if self.offset > self.length && self.offset > self.file_length()? {
            return Err(self.damaged("lies behind the pack's end"));
        }
        Ok(self.offset < self.length)
    }

    fn file_length(&self) -> io::Result<u64> {
        self.file.as_ref().map_or(Ok(0), |file| Ok(file.get_ref().metadata()?.len()))
    }

    fn is_next_pack(&self) -> bool {
        pack::path(&self.blocks, self.pack + 1).is_file()
    }

    fn torn(&mut self) -> io::Result<Next> {
        if self.is_next_pack() {
            return Err(self.damaged("is cut off"));
        }
        let offset = self.offset;
        // It may be whole by the time it is asked for again.
        self.pass();
        if let Some(file) = &mut self.file {
            file.seek(SeekFrom::Start(offset))?;
        }
        Ok(Next::Torn)
    }

    fn damaged(&self, what: &str) -> io::Error {
        let path = pack::path(&self.blocks, self.pack);
        let why = format!("{}: the block at {} {what}; {WAY_OUT}", path.display(), self.offset);
        io::Error::new(io::ErrorKind::InvalidData, why)
    }
}

fn named(path: &Path, why: &io::Error) -> io::Error {
    io::Error::new(why.kind(), format!("{}: {why}", path.display()))
}

/// A block's id.
pub fn id(bytes: &[u8]) -> [u8; 64] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut hex = [0; 64];
    for (pair, byte) in hex.chunks_exact_mut(2).zip(Sha256::digest(bytes)) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    hex
}
