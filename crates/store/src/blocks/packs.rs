//! How blocks were kept before: in packs, `<n>.pack` in a folder, each block behind a line of JSON
//! that says its length, its round and the SHA-256 of its bytes. They are only read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use base::atomic::NO_WAIT;

/// Bits of an offset in a pack; those above are the pack's number.
const BITS: u32 = 40;

/// A longer line is none of ours.
const LINE: u64 = 8 * 1024;

/// The line before a block.
#[derive(Deserialize)]
struct Header<'a> {
    id: &'a str,
    round_seq: u32,
    bytes: u64,
}

/// The folder of packs that were kept before there was this file of blocks.
pub fn of(blocks: &Path) -> PathBuf {
    blocks.with_extension("")
}

/// A position behind all that is there, torn rows too; 0 where nothing is.
///
/// # Errors
/// What the system says.
pub fn end(folder: &Path) -> io::Result<u64> {
    let Some(last) = numbers(folder)?.pop() else { return Ok(0) };
    Ok(last << BITS | fs::metadata(path(folder, last))?.len())
}

/// Bytes of all packs.
///
/// # Errors
/// What the system says.
pub fn size(folder: &Path) -> io::Result<u64> {
    let sizes =
        numbers(folder)?.into_iter().map(|pack| Ok(fs::metadata(path(folder, pack))?.len()));
    sizes.sum()
}

/// Hands out the whole rows from a position on with their rounds; returns where they end. A row
/// that was not written to its end, or is damaged, ends them.
///
/// # Errors
/// What the system says, and what `each` does.
pub fn rows(
    folder: &Path,
    from: u64,
    mut each: impl FnMut(u32, &[u8]) -> io::Result<()>,
) -> io::Result<u64> {
    let (first, mut offset) = (from >> BITS, from & ((1 << BITS) - 1));
    let (mut row, mut line, mut end) = (Vec::new(), Vec::new(), from);
    for (pack, expected) in numbers(folder)?.into_iter().filter(|pack| *pack >= first).zip(first..)
    {
        if pack != expected {
            break;
        }
        let file = OpenOptions::new().read(true).custom_flags(NO_WAIT).open(path(folder, pack))?;
        let mut file = BufReader::with_capacity(256 * 1024, file);
        file.seek(SeekFrom::Start(offset))?;
        while let Some(round) = block(&mut file, &mut line, &mut row, &mut offset)? {
            if row.last() == Some(&b'\n') {
                each(round, &row)?;
                row.clear();
                end = pack << BITS | offset;
            }
        }
        // Rows don't reach over packs.
        if !row.is_empty() || file.stream_position()? != offset {
            break;
        }
        offset = 0;
    }
    Ok(end)
}

/// Adds the next block to a row; says its round. `None` at the pack's end, or where no whole block
/// stands.
fn block(
    file: &mut BufReader<File>,
    line: &mut Vec<u8>,
    row: &mut Vec<u8>,
    offset: &mut u64,
) -> io::Result<Option<u32>> {
    line.clear();
    file.take(LINE).read_until(b'\n', line)?;
    let Ok(Header { id, round_seq, bytes }) = serde_json::from_slice(line) else {
        return Ok(None);
    };
    let start = row.len();
    file.take(bytes).read_to_end(row)?;
    let block = &row[start..];
    if block.len() as u64 != bytes || format!("{:x}", Sha256::digest(block)) != id {
        row.truncate(start);
        return Ok(None);
    }
    *offset += line.len() as u64 + bytes;
    Ok(Some(round_seq))
}

fn path(folder: &Path, pack: u64) -> PathBuf {
    folder.join(format!("{pack:06}.pack"))
}

fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut numbers = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".pack")?.parse::<u64>().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}
