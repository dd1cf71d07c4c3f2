//! Rows into packs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::cut::{Piece, pieces, role};
use super::pack::{self, ROLL};
use super::records::{Next, Records, WAY_OUT, id};
use base::atomic::{self, NO_WAIT};
use sessions::dialect::{Block, Row};

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1024 * 1024;

/// The longest time of a row that is put into a header: a longer one is none.
const LONGEST_TIME: usize = 64;

/// Whose rows are written.
#[derive(Debug, Clone, Copy)]
pub struct Author<'a> {
    /// The session's id.
    pub session: &'a str,
    /// The row's number, from 0.
    pub row: u64,
    /// The row's round.
    pub round: u32,
}

/// Appends rows to a session's packs. Whoever has one holds the session's lock.
#[derive(Debug)]
pub struct Writer {
    blocks: PathBuf,
    pack: u64,
    file: Option<File>,
    /// The pack's length, with what is gathered.
    length: u64,
    gathered: Vec<u8>,
    pieces: Vec<Piece>,
    roll: u64,
}

impl Writer {
    /// Goes on behind the whole rows that end at `position`: what is behind it is cut off.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(blocks: &Path, position: u64) -> io::Result<Self> {
        let (pack, length) = pack::place(position);
        let mut writer = Self {
            blocks: blocks.to_path_buf(),
            pack,
            file: None,
            length,
            gathered: Vec::new(),
            pieces: Vec::new(),
            roll: ROLL,
        };
        let path = pack::path(blocks, pack);
        let there = match fs::metadata(&path) {
            Ok(meta) => Some(meta.len()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        if there.unwrap_or(0) < length {
            let why = format!("{}: shorter than it was; {WAY_OUT}", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        if there.is_some_and(|there| there > length) {
            writer.file()?.set_len(length)?;
        }
        Ok(writer)
    }

    /// Begins a new pack at another length than [`ROLL`].
    #[must_use]
    pub fn rolling_at(mut self, roll: u64) -> Self {
        self.roll = roll;
        self
    }

    /// Where the next row will stand; a pack that is full gets no more.
    ///
    /// # Errors
    /// What the system says.
    pub fn place(&mut self) -> io::Result<u64> {
        if self.length >= self.roll {
            self.sync()?;
            (self.pack, self.length, self.file) = (self.pack + 1, 0, None);
        }
        Ok(self.end())
    }

    /// Where the rows so far end.
    pub fn end(&self) -> u64 {
        pack::position(self.pack, self.length)
    }

    /// Appends a row, at the place that [`Writer::place`] gave.
    ///
    /// # Errors
    /// What the system says; nothing more can be written then.
    pub fn row(
        &mut self,
        whose: Author,
        row: &Row,
        line: &[u8],
        parts: &[Block],
    ) -> io::Result<()> {
        let mut cut = std::mem::take(&mut self.pieces);
        pieces(line, parts, &mut cut);
        for piece in &cut {
            let before = self.gathered.len();
            let bytes = piece.bytes.of(line);
            header(&mut self.gathered, whose, row, line, piece)?;
            self.length += (self.gathered.len() - before + bytes.len()) as u64;
            if bytes.len() < BUFFER {
                self.gathered.extend_from_slice(bytes);
            } else {
                self.flush()?;
                self.file()?.write_all(bytes)?;
            }
        }
        self.pieces = cut;
        if self.gathered.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Waits until all rows are on the disk.
    ///
    /// # Errors
    /// What the system says.
    pub fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.file.as_ref().map_or(Ok(()), File::sync_data)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let gathered = std::mem::take(&mut self.gathered);
        let written = self.file()?.write_all(&gathered);
        self.gathered = gathered;
        self.gathered.clear();
        written
    }

    /// The pack, made where it is not there.
    fn file(&mut self) -> io::Result<&mut File> {
        let file = if let Some(file) = self.file.take() {
            file
        } else {
            let path = pack::path(&self.blocks, self.pack);
            let mut options = OpenOptions::new();
            options.append(true).mode(0o600).custom_flags(NO_WAIT);
            match options.open(&path) {
                Ok(file) => file,
                Err(e) if e.kind() == io::ErrorKind::NotFound => {
                    atomic::create_private_dir(&self.blocks)?;
                    let file = options.create(true).open(&path)?;
                    // Some file systems refuse to sync a folder; the file stands.
                    let _ = File::open(&self.blocks).and_then(|folder| folder.sync_all());
                    file
                }
                Err(e) => return Err(e),
            }
        };
        Ok(self.file.insert(file))
    }
}

/// Where the whole rows end that stand behind `position`: what was written and not yet
/// indexed when a process was killed. `each` gets every row of them with its position.
///
/// # Errors
/// What the system says, and what `each` does; `InvalidData` where a block is not what its id
/// says.
pub fn whole_rows(
    blocks: &Path,
    position: u64,
    mut each: impl FnMut(u64, &[u8]) -> io::Result<()>,
) -> io::Result<u64> {
    let mut records = Records::at(blocks, position);
    let (mut row, mut began) = (Vec::new(), position);
    loop {
        let there = matches!(records.peek()?, Next::Record(_));
        if row.is_empty() {
            // It may stand in the next pack.
            began = records.position();
        }
        if !there {
            return Ok(began);
        }
        records.take(&mut row)?;
        if row.last() == Some(&b'\n') {
            each(began, &row)?;
            row.clear();
        }
    }
}

/// Writes a header by hand: the names need no escapes, and there is one to a block.
fn header(
    to: &mut Vec<u8>,
    whose: Author,
    row: &Row,
    line: &[u8],
    piece: &Piece,
) -> io::Result<()> {
    let bytes = piece.bytes.of(line);
    to.extend_from_slice(br#"{"id":""#);
    to.extend_from_slice(&id(bytes));
    to.extend_from_slice(br#"","session":"#);
    serde_json::to_writer(&mut *to, whose.session)?;
    write!(
        to,
        r#","round_seq":{},"row":{},"role":"{}","type":"{}""#,
        whose.round,
        whose.row,
        role(row.kind),
        piece.kind.name()
    )?;
    if let Some(at) = row.at.filter(|at| at.len() <= LONGEST_TIME) {
        to.extend_from_slice(br#","timestamp":"#);
        serde_json::to_writer(&mut *to, at)?;
    }
    let start = piece.content.start - piece.bytes.start;
    let length = piece.content.end - piece.content.start;
    writeln!(to, r#","bytes":{},"content":[{start},{length}]}}"#, bytes.len())
}
