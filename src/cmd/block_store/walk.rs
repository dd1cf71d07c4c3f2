//! Reads all rows of a session in order.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use store::blocks::{Folder, Reader};

/// The content of a session's blocks.
#[derive(Debug, Default)]
pub struct Held {
    pub rows: u64,
    pub bytes: u64,
    pub rounds: Vec<HeldRound>,
    /// Why reading stopped early.
    pub damage: Option<String>,
    /// The session's file no longer has these bytes.
    pub differs: bool,
}

/// A round, as counted from its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldRound {
    pub seq: u32,
    pub rows: u32,
    pub bytes: u64,
}

/// Reads all rows, verified by their digests, and compares them with the session's file if that can
/// be read.
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
    let read = Reader::open(folder).and_then(|reader| {
        reader.check_pages()?;
        rows(&reader, &folder.session, &mut held, compare)
    });
    match read {
        // A session without blocks has no damage.
        Err(e) if e.kind() != io::ErrorKind::NotFound => held.damage = Some(e.to_string()),
        _ => {}
    }
    Held { differs, ..held }
}

/// Passes each row of a session to `each`. Every row is verified: by the digest of its block, and
/// by its position.
///
/// # Errors
/// I/O errors, and those of `each`; `InvalidData` for damage.
pub fn rows(
    reader: &Reader,
    session: &str,
    held: &mut Held,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let wrong = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let of = reader.session()?;
    if of.as_deref().is_some_and(|of| of != session) {
        return Err(wrong(format!("the blocks belong to session {}", of.unwrap_or_default())));
    }
    reader.rows(0, |seq, row| {
        let last = held.rounds.last().map_or(0, |round| round.seq);
        if !(last..=last + 1).contains(&seq) {
            let number = held.rows;
            return Err(wrong(format!("row {number} is of round {seq}, behind round {last}")));
        }
        match held.rounds.last_mut().filter(|round| round.seq == seq) {
            Some(round) => {
                round.rows += 1;
                round.bytes += row.len() as u64;
            }
            None => held.rounds.push(HeldRound { seq, rows: 1, bytes: row.len() as u64 }),
        }
        held.rows += 1;
        held.bytes += row.len() as u64;
        each(row)
    })
}
