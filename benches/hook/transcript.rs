//! Transcripts of any length with the same end.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::harness::MB;
use crate::session::{CLAUDE, Writer};

/// Bytes at the end that all transcripts share, so that reads from the end differ only by file
/// length.
const TAIL: usize = 768 * 1024;

/// The transcript's path; all these paths have the same length.
pub fn path(folder: &Path, megabytes: u64) -> PathBuf {
    folder.join(format!("{megabytes:04}.jsonl"))
}

/// Writes a transcript for each length in MB, and returns the tokens in the context at its end.
///
/// # Errors
/// Any I/O error.
pub fn write(folder: &Path, sizes: &[u64]) -> io::Result<u64> {
    let session = "00000000-0000-4000-8000-000000000000";
    let mut end = Writer::new(CLAUDE, session, 2);
    let mut tail = String::new();
    while tail.len() < TAIL {
        tail.push_str(&end.round());
    }
    tail.push_str(&end.call());
    for megabytes in sizes {
        let mut out = BufWriter::new(File::create(path(folder, *megabytes))?);
        let mut body = Writer::new(CLAUDE, session, 1);
        let mut left = (megabytes * MB).saturating_sub(tail.len() as u64);
        while left > 0 {
            let round = body.round();
            out.write_all(round.as_bytes())?;
            left = left.saturating_sub(round.len() as u64);
        }
        out.write_all(tail.as_bytes())?;
        out.flush()?;
        // Pending disk writes would distort the measurement.
        out.get_ref().sync_all()?;
    }
    Ok(end.tokens())
}
