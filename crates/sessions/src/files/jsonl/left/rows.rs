//! Late rows: which of them a file lacks, and how they are appended.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;

use super::BUFFER;
use crate::line::Lines;
use base::disk;

/// The rows of `late` that this part of the file lacks, and where its leading late rows end.
pub fn missing(
    late: &[u8],
    mut new: &File,
    part: std::ops::Range<u64>,
) -> io::Result<(Vec<u8>, u64)> {
    let text = |row: &'_ [u8]| row.strip_suffix(b"\n").unwrap_or(row).len();
    let rows = || late.split_inclusive(|byte| *byte == b'\n');
    let mut there: HashMap<&[u8], u64> = rows().map(|row| (&row[..text(row)], 0)).collect();
    new.seek(SeekFrom::Start(part.start))?;
    let length = part.end.saturating_sub(part.start);
    let mut lines = Lines::new(BufReader::with_capacity(BUFFER, new.take(length)));
    let (mut at, mut alone) = (part.start, true);
    while let Some(line) = lines.next()? {
        match there.get_mut(&line.bytes[..text(line.bytes)]) {
            Some(times) if line.ended() => {
                *times += 1;
                at += if alone { line.bytes.len() as u64 } else { 0 };
            }
            _ => alone = false,
        }
    }
    let is_missing = |row: &&[u8]| match there.get_mut(&row[..text(row)]) {
        Some(times) if *times > 0 => {
            *times -= 1;
            false
        }
        _ => true,
    };
    Ok((rows().filter(is_missing).flatten().copied().collect(), at))
}

/// How many bytes of `rows` this last part of the file is: a kill may come in the middle of an
/// append.
pub fn begun(new: &File, part: std::ops::Range<u64>, rows: &[u8]) -> io::Result<Option<usize>> {
    let length = usize::try_from(part.end.saturating_sub(part.start)).unwrap_or(usize::MAX);
    let Some(rows) = rows.get(..length) else { return Ok(None) };
    let mut there = vec![0; length];
    new.read_exact_at(&mut there, part.start)?;
    Ok((there == rows).then_some(length))
}

/// Appends whole rows and syncs: all of them or, if the disk is full, none.
pub fn append(mut new: &File, at: u64, rows: &[u8]) -> io::Result<()> {
    let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
    match disk::reserve(new, at, rows.len() as u64) {
        // Not every file system can reserve space; a full one fails before anything is written.
        Err(e) if full.contains(&e.kind()) => return Err(e),
        _ => {}
    }
    let mut done = 0;
    while let Some(rest) = rows.get(done..).filter(|rest| !rest.is_empty()) {
        match new.write(rest) {
            Ok(written) if written > 0 => done += written,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            failed => {
                // Half a row would swallow the next one.
                if new.metadata()?.len() == at + done as u64 {
                    new.set_len(at)?;
                }
                return failed.and(Err(io::ErrorKind::WriteZero.into()));
            }
        }
    }
    new.sync_all()
}
