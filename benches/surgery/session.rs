//! Sessions of any length, always with the same bytes, kept between runs.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

pub const MB: u64 = 1024 * 1024;

/// Increase it when the content changes: files of another version are made again.
const VERSION: u32 = 2;

/// The file time of sessions, since 1970.
const WRITTEN: Duration = Duration::from_secs(1_774_000_000);

/// Writes a session round by round.
pub trait Rounds {
    /// The next round, a row on each line.
    fn round(&mut self) -> String;

    /// The time of the next row.
    fn time(&self) -> String;
}

/// A session on disk, with its properties.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Session {
    pub path: PathBuf,
    pub bytes: u64,
    pub rows: u64,
    pub rounds: u64,
    /// Bytes of the largest round, and of the largest row.
    pub largest: u64,
    pub largest_row: u64,
    /// A time just after the first round, and one in the middle.
    pub early: String,
    pub middle: String,
}

/// The session of that number with at least this many bytes or rounds, made if missing. `begin`
/// gets its id and number.
///
/// # Errors
/// Too little space, or the system's error.
pub fn session(
    folder: &Path,
    number: u16,
    bytes: u64,
    rounds: u64,
    begin: &dyn Fn(&str, u64) -> Box<dyn Rounds>,
) -> io::Result<Session> {
    let folder = folder.join(format!("sessions-{VERSION}"));
    fs::create_dir_all(&folder)?;
    // The id comes from the file's length and the number, so it is unique.
    let id = format!("{:08x}-{number:04x}-4000-8000-{rounds:012x}", bytes / MB);
    let (path, told) = (folder.join(format!("{id}.jsonl")), folder.join(format!("{id}.json")));
    let known = fs::read(&told).ok().and_then(|b| serde_json::from_slice::<Session>(&b).ok());
    if let Some(known) = known
        && fs::metadata(&path).is_ok_and(|m| m.len() == known.bytes)
    {
        return Ok(Session { path, ..known });
    }
    room(&folder, bytes.max(rounds * 2048))?;
    let aside = path.with_extension("part");
    let mut out = BufWriter::with_capacity(1 << 20, File::create(&aside)?);
    let mut writer = begin(&id, u64::from(number));
    let mut made = Session {
        path: path.clone(),
        bytes: 0,
        rows: 0,
        rounds: 0,
        largest: 0,
        largest_row: 0,
        early: String::new(),
        middle: String::new(),
    };
    while made.bytes < bytes || made.rounds < rounds {
        let round = writer.round();
        out.write_all(round.as_bytes())?;
        made.largest = made.largest.max(round.len() as u64);
        for row in round.split_inclusive('\n') {
            made.rows += 1;
            made.largest_row = made.largest_row.max(row.len() as u64);
        }
        made.bytes += round.len() as u64;
        made.rounds += 1;
        if made.rounds == 1 {
            made.early = writer.time();
        }
        if made.bytes >= bytes / 2 && made.rounds >= rounds / 2 && made.middle.is_empty() {
            made.middle = writer.time();
        }
    }
    out.flush()?;
    // Pending disk writes would distort the measurement.
    out.get_ref().sync_all()?;
    // An old time, so that the session counts as idle.
    out.get_ref().set_modified(SystemTime::UNIX_EPOCH + WRITTEN)?;
    fs::rename(&aside, &path)?;
    fs::write(&told, serde_json::to_vec(&made)?)?;
    Ok(made)
}

/// # Errors
/// The disk has less free space than `bytes` plus a reserve.
pub fn room(folder: &Path, bytes: u64) -> io::Result<()> {
    let disk = rustix::fs::statvfs(folder)?;
    let (free, needed) = (disk.f_bavail * disk.f_frsize, bytes + 64 * MB);
    if free < needed {
        return Err(io::Error::other(format!(
            "{} has {} MB free and {} are needed; name another folder by --dir, or fewer sizes by --sizes 300",
            folder.display(),
            free / MB,
            needed / MB,
        )));
    }
    Ok(())
}
