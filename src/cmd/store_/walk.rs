//! A session's blocks from the first to the last.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use store::blocks::{Folder, Head, Header, Next, Records};

/// What the blocks of a session hold.
#[derive(Debug, Default)]
pub struct Held {
    /// Blocks.
    pub blocks: u64,
    /// Rows.
    pub rows: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Its rounds, in order.
    pub rounds: Vec<HeldRound>,
    /// Where the whole rows end.
    pub end: u64,
    /// Something stands behind these.
    pub torn: bool,
    /// Why not all was read.
    pub damage: Option<String>,
    /// The session's file holds something else.
    pub differs: bool,
}

/// A round as its blocks tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldRound {
    /// Its number.
    pub seq: u32,
    /// Where its first block stands.
    pub position: u64,
    /// Its rows.
    pub rows: u32,
    /// Bytes of these.
    pub bytes: u64,
}

/// Reads all blocks, verified by their ids, and compares them with the session's file where
/// that can be read.
pub fn verify(folder: &Folder, source: Option<&Path>) -> Held {
    let mut held = Held::default();
    let mut source = source.and_then(|path| File::open(path).ok()).map(BufReader::new);
    let (mut differs, mut there) = (false, Vec::new());
    let compare = |row: &[u8]| {
        if let Some(file) = &mut source {
            there.clear();
            let read = file.take(row.len() as u64).read_to_end(&mut there);
            if read.is_err() || there != row {
                (differs, source) = (true, None);
            }
        }
        Ok(())
    };
    if let Err(e) = rows(&folder.blocks(), &folder.session, &mut held, compare) {
        held.damage = Some(e.to_string());
    }
    Held { differs, ..held }
}

/// Hands out the rows in these blocks of a session, each verified: by the ids of its blocks,
/// and by what the headers say of where it belongs.
///
/// # Errors
/// What the system says, and what `each` does; `InvalidData` for damage.
pub fn rows(
    blocks: &Path,
    session: &str,
    held: &mut Held,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut records = Records::at(blocks, 0);
    let (mut row, mut began, mut blocks) = (Vec::new(), 0, 0);
    loop {
        let next = match records.peek()? {
            Next::Record(_) => Some(records.header()?),
            next => {
                held.torn = matches!(next, Next::Torn) || !row.is_empty();
                None
            }
        };
        if row.is_empty() {
            (began, blocks) = (records.position(), 0);
            held.end = began;
        }
        let Some(header) = next else { return Ok(()) };
        if let Some(why) = odd(&header, session, held) {
            let why = format!("row {} of the blocks {why}", held.rows);
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        records.take(&mut row)?;
        blocks += 1;
        if row.last() != Some(&b'\n') {
            continue;
        }
        match held.rounds.last_mut().filter(|round| round.seq == header.round_seq) {
            Some(round) => {
                round.rows += 1;
                round.bytes += row.len() as u64;
            }
            None => held.rounds.push(HeldRound {
                seq: header.round_seq,
                position: began,
                rows: 1,
                bytes: row.len() as u64,
            }),
        }
        held.blocks += blocks;
        held.rows += 1;
        held.bytes += row.len() as u64;
        each(&row)?;
        row.clear();
    }
}

/// What is wrong with a header, as the next of those before.
fn odd(header: &Header, session: &str, held: &Held) -> Option<String> {
    let last = held.rounds.last().map_or(0, |round| round.seq);
    if header.session != session {
        return Some(format!("is of session {}", header.session));
    }
    if header.row != held.rows {
        return Some(format!("says that it is row {}", header.row));
    }
    if !(last..=last + 1).contains(&header.round_seq) {
        return Some(format!("is of round {}, behind round {last}", header.round_seq));
    }
    let (start, length) = header.content;
    (start.saturating_add(length) > header.bytes).then(|| "has its content outside".to_owned())
}

/// Goes over the blocks without reading them.
///
/// # Errors
/// What the system says; `InvalidData` where a block is none.
pub fn headers(folder: &Folder, mut each: impl FnMut(Head)) -> io::Result<()> {
    let mut records = Records::at(&folder.blocks(), 0);
    while let Next::Record(head) = records.peek()? {
        each(head);
        records.skip()?;
    }
    Ok(())
}
