//! Reads a file line by line from its start, for files too large to be read whole.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// A longer line is passed on as an empty one; no row that counts comes near this.
const LONGEST: usize = 64 * 1024 * 1024;

/// Passes the lines of `path` to `each` in order, without their newline. A last line that is torn
/// or still being written is passed on too.
///
/// # Errors
/// `NotFound` if there is no file.
pub fn lines(path: &Path, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut reader = BufReader::with_capacity(256 * 1024, file);
    let (mut line, mut too_long) = (Vec::new(), false);
    loop {
        let block = reader.fill_buf()?;
        if block.is_empty() {
            break;
        }
        let end = memchr::memchr(b'\n', block);
        let piece = &block[..end.unwrap_or(block.len())];
        too_long |= line.len() + piece.len() > LONGEST;
        if !too_long {
            line.extend_from_slice(piece);
        }
        let taken = piece.len() + usize::from(end.is_some());
        reader.consume(taken);
        if end.is_some() {
            each(if too_long { b"" } else { &line });
            line.clear();
            too_long = false;
        }
    }
    if !line.is_empty() && !too_long {
        each(&line);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_and_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        let long = "x".repeat(700_000);
        std::fs::write(&path, format!("one\n\n{long}\ntorn")).unwrap();
        let mut found = Vec::new();
        lines(&path, |line| found.push(String::from_utf8(line.to_vec()).unwrap())).unwrap();
        assert_eq!(found, ["one", "", long.as_str(), "torn"]);
        assert!(lines(dir.path(), |_| ()).is_err());
        let missing = lines(&dir.path().join("missing"), |_| ()).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
