//! The old format, now read-only: `<n>.pack` files in a folder. A JSON line with the length, round
//! and SHA-256 precedes each block.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use base::atomic::NO_WAIT;

/// Bits of a position that are the offset in a pack; the upper bits are the pack's number.
const BITS: u32 = 40;

/// Longest header line; a longer one is not ours.
const LINE: u64 = 8 * 1024;

/// The line before a block.
#[derive(Deserialize)]
struct Header<'a> {
    id: &'a str,
    round_seq: u32,
    bytes: u64,
}

/// The folder of packs that earlier builds wrote instead of this block file.
pub fn pack_folder(blocks: &Path) -> PathBuf {
    blocks.with_extension("")
}

/// The position after all bytes, torn rows included; 0 if there are none.
pub fn end(folder: &Path) -> io::Result<u64> {
    let Some(last) = numbers(folder)?.pop() else { return Ok(0) };
    Ok(last << BITS | fs::metadata(path(folder, last))?.len())
}

/// Total bytes of all packs.
pub fn size(folder: &Path) -> io::Result<u64> {
    let sizes =
        numbers(folder)?.into_iter().map(|pack| Ok(fs::metadata(path(folder, pack))?.len()));
    sizes.sum()
}

/// Passes each complete row from a position on, with its round, to `each`. Stops at a torn or
/// damaged row, and returns the position after the last complete one.
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
        // Rows do not span packs.
        if !row.is_empty() || file.stream_position()? != offset {
            break;
        }
        offset = 0;
    }
    Ok(end)
}

/// Appends the next block to `row` and returns its round. `None` at the end of the pack or at an
/// incomplete block.
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
