//! Packs: their names, and what a position in them is.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// From this length on a pack gets no more rows.
pub const ROLL: u64 = 64 * 1024 * 1024;

/// Bits of a position that tell the place in the pack; those above tell the pack.
const BITS: u32 = 40;

/// A record's position, by its pack's number and where in it it begins.
pub fn position(pack: u64, offset: u64) -> u64 {
    pack << BITS | offset
}

/// The pack's number and the place in it.
pub fn place(position: u64) -> (u64, u64) {
    (position >> BITS, position & ((1 << BITS) - 1))
}

/// A pack's file.
pub fn path(blocks: &Path, pack: u64) -> PathBuf {
    blocks.join(format!("{pack:06}.pack"))
}

/// The numbers of the packs there are, sorted; none where there is no folder.
///
/// # Errors
/// What the system says.
pub fn numbers(blocks: &Path) -> io::Result<Vec<u64>> {
    let entries = match fs::read_dir(blocks) {
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
