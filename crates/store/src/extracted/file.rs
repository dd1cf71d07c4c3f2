//! The file of a ledger: read line by line, and only ever appended to.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::io::{self, BufRead, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::{Ledger, Record, Words, named, settle};
use base::atomic::NO_WAIT;

/// Its name in the session's folder.
pub const NAME: &str = "ledger.jsonl";

/// Bytes to read and write at a time.
const BUFFER: usize = 64 * 1024;

/// Reads a ledger, as [`super::Extracted::ledger`] describes.
pub fn read(folder: &Path) -> io::Result<Ledger> {
    let (mut words, mut ledger) = (Words::default(), Ledger::default());
    lines(folder, &mut |line| {
        ledger.push(words.record(line)?);
        Ok(())
    })?;
    Ok(ledger)
}

/// Collects the extractions in these rows. A broken line does not hide the other records; its error
/// is returned at the end.
pub fn find_extracts(
    folder: &Path,
    rows: &HashSet<String>,
    found: &mut Vec<Record>,
) -> io::Result<()> {
    let mut words = Words::default();
    let (mut number, mut broken) = (0, None);
    let mut look = |line: &[u8]| -> Result<(), serde_json::Error> {
        found.extend(words.of_rows(line, rows)?);
        Ok(())
    };
    lines(folder, &mut |line| {
        number += 1;
        match look(line) {
            Err(e) if line.ends_with(b"\n") => {
                broken.get_or_insert_with(|| no_record(folder, number, &e));
                Ok(())
            }
            other => other,
        }
    })?;
    broken.map_or(Ok(()), Err)
}

/// The error for a line that is not a record.
fn no_record(folder: &Path, number: u64, why: &serde_json::Error) -> io::Error {
    let path = folder.join(NAME);
    let why = format!(
        "{}: line {number} is not a record of the ledger ({why}); repair or remove that line",
        path.display()
    );
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Passes the lines of a ledger to `each`; a torn last line is ignored.
fn lines(
    folder: &Path,
    each: &mut dyn FnMut(&[u8]) -> Result<(), serde_json::Error>,
) -> io::Result<()> {
    let path = folder.join(NAME);
    let file = match OpenOptions::new().read(true).custom_flags(NO_WAIT).open(&path) {
        Ok(file) => file,
        // A dangling symlink is a ledger that cannot be read.
        Err(e) if absent(&e) && path.symlink_metadata().is_err_and(|e| absent(&e)) => {
            return Ok(());
        }
        Err(e) => return Err(named(&path, &e)),
    };
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(|e| named(&path, &e))? == 0 {
            break;
        }
        match each(&line) {
            Ok(()) => {}
            Err(_) if line.last() != Some(&b'\n') => break,
            Err(e) => return Err(no_record(folder, number, &e)),
        }
    }
    Ok(())
}

/// Appends records and syncs the file. The caller holds the session's lock.
pub fn append(folder: &Path, records: &mut dyn Iterator<Item = Record>) -> io::Result<()> {
    let path = folder.join(NAME);
    let new = path.symlink_metadata().is_err();
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600).custom_flags(NO_WAIT);
    let mut file = options.open(&path).map_err(|e| named(&path, &e))?;
    let before = mend(&mut file).map_err(|e| named(&path, &e))?;
    let write = || -> io::Result<()> {
        let mut lines = BufWriter::with_capacity(BUFFER, &file);
        for record in records {
            serde_json::to_writer(&mut lines, &record)?;
            lines.write_all(b"\n")?;
        }
        lines.flush()?;
        drop(lines);
        file.sync_all()
    };
    let written = write();
    if let Err(e) = written {
        // Readers would ignore half a record as well; the error above is the one that matters.
        let _ = file.set_len(before);
        return Err(named(&path, &e));
    }
    if new { settle(folder) } else { Ok(()) }
}

/// Makes the file end with a newline, and returns its length: completes a whole last record, cuts
/// off a torn one.
fn mend(file: &mut File) -> io::Result<u64> {
    let length = file.seek(SeekFrom::End(0))?;
    if length == 0 {
        return Ok(0);
    }
    let mut last = [0];
    file.seek(SeekFrom::Start(length - 1))?;
    file.read_exact(&mut last)?;
    if last == [b'\n'] {
        return Ok(length);
    }
    file.rewind()?;
    let (mut reader, mut line, mut begins) = (BufReader::new(&mut *file), Vec::new(), 0);
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)? as u64;
        if line.last() != Some(&b'\n') {
            break;
        }
        begins += read;
    }
    if Words::default().record(&line).is_ok() {
        file.write_all(b"\n")?;
        return Ok(length + 1);
    }
    file.set_len(begins)?;
    Ok(begins)
}

/// Whether the error says that there is no such file.
pub(super) fn absent(why: &io::Error) -> bool {
    matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
