//! Reads the lines of a file from its end in growing blocks, so that a decision costs the same at 1
//! MB and at 1 GB.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs::OpenOptions;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use super::atomic;

/// How many bytes to read back before giving up.
const MAX_BACK: u64 = 64 * 1024 * 1024;

/// Holds the last response of most sessions; each further page is a page fault.
const FIRST_BLOCK: u64 = 8 * 1024;
const LARGEST_BLOCK: u64 = 1024 * 1024;

/// The longest line kept in memory. A longer one holds whole requests or images.
const LONGEST: usize = 2 * 1024 * 1024;

/// Passes the lines of `path` to `each`, last first, without their newline. A last line without a
/// newline is passed on too; a torn one is no valid JSON. For a line that is too long, an empty one
/// is passed on before its start is found.
///
/// # Errors
/// `NotFound` if there is no file.
pub fn lines_backwards(
    path: &Path,
    mut each: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> io::Result<()> {
    let file = OpenOptions::new().read(true).custom_flags(atomic::NO_WAIT).open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let length = meta.len();
    let stop = length.saturating_sub(MAX_BACK);
    let (mut start, mut block) = (length, FIRST_BLOCK);
    let mut bytes: Vec<u8> = Vec::new();
    // The end of a line whose start is not read yet.
    let mut pending: Vec<u8> = Vec::new();
    let mut passing = false;
    while start > stop {
        let from = start.saturating_sub(block).max(stop);
        let fresh = (start - from) as usize;
        bytes.resize(fresh, 0);
        file.read_exact_at(&mut bytes, from)?;
        bytes.append(&mut pending);
        (start, block) = (from, (block * 4).min(LARGEST_BLOCK));
        // Only the new bytes can hold the newline before that line. What is left of the first
        // newline belongs to a line that starts further left.
        let (mut end, mut searched) = (bytes.len(), fresh);
        while let Some(newline) = last_newline(&bytes[..searched]) {
            let whole = !std::mem::take(&mut passing);
            if whole && newline + 1 < end && each(&bytes[newline + 1..end]).is_break() {
                return Ok(());
            }
            (end, searched) = (newline, newline);
        }
        if !passing && end > LONGEST {
            passing = true;
            if each(&[]).is_break() {
                return Ok(());
            }
        }
        if !passing {
            pending.extend_from_slice(&bytes[..end]);
        }
    }
    if start == 0 && !pending.is_empty() {
        let _ = each(&pending);
    }
    Ok(())
}

/// Finds the last newline. Not with `memchr`: it probes the processor before its first search.
/// Under a hypervisor that costs more than all searches of the hook (five exits of 12 µs each,
/// measured).
fn last_newline(bytes: &[u8]) -> Option<usize> {
    // A block without a newline is skipped by a loop that the compiler vectorizes.
    const BLOCK: usize = 64;
    let has = |block: &[u8]| block.iter().fold(0, |found, b| found | u8::from(*b == b'\n')) != 0;
    let mut end = bytes.len();
    for block in bytes.rchunks(BLOCK) {
        if has(block) {
            let at = block.iter().rposition(|b| *b == b'\n')?;
            return Some(end - block.len() + at);
        }
        end -= block.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn collect(text: &[u8]) -> Vec<Vec<u8>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        std::fs::write(&path, text).unwrap();
        let mut lines = Vec::new();
        lines_backwards(&path, |line| {
            lines.push(line.to_vec());
            ControlFlow::Continue(())
        })
        .unwrap();
        lines
    }

    #[test]
    fn a_line_longer_than_several_blocks() {
        let long = vec![b'x'; 300_000];
        let text = [b"first\n".as_slice(), &long, b"\nlast"].concat();
        assert_eq!(collect(&text), [b"last".to_vec(), long, b"first".to_vec()]);
    }

    #[test]
    fn a_line_too_long_to_be_kept_is_passed_over() {
        let long = vec![b'x'; 2 * LONGEST];
        let text = [b"first\n".as_slice(), &long, b"\nlast"].concat();
        assert_eq!(collect(&text), [b"last".to_vec(), Vec::new(), b"first".to_vec()]);
        assert_eq!(collect(&long), [Vec::<u8>::new()]);
    }

    #[test]
    fn a_folder_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert!(lines_backwards(dir.path(), |_| ControlFlow::Continue(())).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_same_lines_as_split(lines in proptest::collection::vec("[a-z]{0,20000}", 0..12)) {
            let text = lines.join("\n");
            let expected: Vec<Vec<u8>> = text
                .split('\n').rev().filter(|l| !l.is_empty()).map(|l| l.as_bytes().to_vec()).collect();
            prop_assert_eq!(collect(text.as_bytes()), expected);
        }
    }
}
