//! Sessions of pi, and of `OpenClaw` up to 2026.7.1: a file of rows. It is written anew under
//! `OpenClaw`'s lock, beside itself, and only takes its place while nobody wrote it.

use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Change, GatewayLock, Refused, SessionFile, Stamp, holders, idle, kept, told};
use crate::clock;
use crate::store::{atomic, state};
use crate::transcript::dialect;
use crate::transcript::line::Lines;
use crate::transcript::span;

/// Bytes that are read and written at a time: what was read is still near when it is looked at.
const BUFFER: usize = 256 * 1024;

/// How long nothing may have been written.
const IDLE: Duration = Duration::from_secs(30);

/// How long the lock is waited for, as `OpenClaw` does.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a process is waited for that opened the file before it was replaced.
const LATE: Duration = Duration::from_secs(2);

/// A session's file.
#[derive(Debug, Clone)]
pub struct Jsonl {
    path: PathBuf,
    idle: Duration,
    patience: Duration,
}

impl Jsonl {
    /// The file at `path`, which may be a link to it.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), idle: IDLE, patience: PATIENCE }
    }

    /// The same with other times: how long nothing may have been written, and how long the
    /// lock is waited for.
    pub fn with_times(mut self, idle: Duration, patience: Duration) -> Self {
        (self.idle, self.patience) = (idle, patience);
        self
    }

    /// Whether it is as it was read, and nobody is at work in it.
    fn untouched(&self, real: &Path, stamp: Stamp) -> Result<(), Refused> {
        let there = fs::metadata(real).map_err(|e| told(real, &e))?;
        if Stamp::of(&there) != stamp {
            return Err(Refused::Changed(self.path.display().to_string()));
        }
        if let Some(pid) = holders::writers(real, stamp.inode).first() {
            return Err(Refused::Busy(format!(
                "{} is held open by process {pid}, which may write it: try again when that has ended",
                self.path.display()
            )));
        }
        match idle::why_not(real, stamp, self.idle, clock::now()).map_err(|e| told(real, &e))? {
            Some(why) => Err(Refused::Busy(why)),
            None => Ok(()),
        }
    }

    /// The file's lock, by the name it was given; and, where that is a link, by its own.
    fn locks(&self, real: &Path) -> Result<Vec<GatewayLock>, Refused> {
        let mut places = vec![self.path.as_path(), real];
        if GatewayLock::place(&self.path)? == GatewayLock::place(real)? {
            places.pop();
        }
        places.into_iter().map(|place| GatewayLock::acquire(place, self.patience)).collect()
    }
}

impl SessionFile for Jsonl {
    fn path(&self) -> &Path {
        &self.path
    }

    fn rows(&self, each: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<Stamp> {
        let file = open(&self.path).map_err(|e| told(&self.path, &e))?;
        let stamp = Stamp::of(&file.metadata()?);
        // What is appended meanwhile belongs to the next reading.
        let mut lines = Lines::new(BufReader::with_capacity(BUFFER, file.take(stamp.size)));
        while let Some(line) = lines.next()? {
            each(line.number - 1, line.bytes)?;
        }
        Ok(stamp)
    }

    fn edit(
        &self,
        stamp: Stamp,
        ready: &mut dyn FnMut() -> io::Result<()>,
        change: Change<'_>,
    ) -> Result<(), Refused> {
        let real = fs::canonicalize(&self.path).map_err(|e| told(&self.path, &e))?;
        let source = open(&real).map_err(|e| told(&real, &e))?;
        supported(&self.path, &real, &source)?;
        // Nothing is left in a folder where there is nothing to be done.
        self.untouched(&real, stamp)?;
        let locks = self.locks(&real)?;
        self.untouched(&real, stamp)?;
        if Stamp::of(&source.metadata()?) != stamp {
            return Err(Refused::Changed(self.path.display().to_string()));
        }
        ready()?;
        let Some(temp) = Temp::write(&real, &source, stamp, change)? else { return Ok(()) };
        self.untouched(&real, stamp)?;
        if !locks.iter().all(GatewayLock::is_ours) {
            return Err(Refused::Locked(format!(
                "the lock of {} was taken over by another process meanwhile",
                self.path.display()
            )));
        }
        temp.put(&real)?;
        late(&real, source, stamp).map_err(|e| Refused::Io(told(&real, &e)))
    }
}

fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(atomic::NO_WAIT).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(file)
}

/// Whether a file of this kind is written at all, by where it is and by its first row.
fn supported(path: &Path, real: &Path, source: &File) -> Result<(), Refused> {
    let name = path.display();
    let database = |file: &Path| {
        let folder = std::path::absolute(file).ok()?.parent()?.to_owned();
        let there = folder.parent()?.join("agent/openclaw-agent.sqlite");
        (folder.ends_with("sessions") && there.exists()).then_some(there)
    };
    if let Some(database) = database(path).or_else(|| database(real)) {
        return Err(Refused::Unsupported(format!(
            "{name} lies in an OpenClaw that keeps its sessions in {}: its doctor stops at such a file; name the session in the database instead",
            database.display()
        )));
    }
    let mut lines = Lines::new(BufReader::new(source));
    let mut first = Vec::new();
    while let Some(line) = lines.next().map_err(|e| told(real, &e))? {
        // pi passes over what is no JSON, also ahead of the header.
        if span::fields(line.bytes, &mut Vec::new()).is_some() {
            first = line.bytes.to_vec();
            break;
        }
    }
    let first = first.as_slice();
    if first.is_empty() {
        return Err(Refused::Unsupported(format!("{name} holds no session")));
    }
    let is = |field: &str| span::find(first, field).is_some_and(|id| id.starts_with(b"\""));
    if dialect::of_first_line(first).name() != "pi" {
        // The seed's flat rows come without one.
        if is("__id") || is("id") && !is("uuid") && !is("sessionId") {
            return Ok(());
        }
        return Err(Refused::Unsupported(format!(
            "{name} is no session of pi or OpenClaw: its first row is no header"
        )));
    }
    match span::find(first, "version") {
        Some(b"3") if is("id") => Ok(()),
        Some(b"3") => Err(Refused::Unsupported(format!("{name}: its header has no id"))),
        version => {
            let version = version.map_or("1".into(), String::from_utf8_lossy);
            Err(Refused::Unsupported(format!(
                "{name} is a session of version {version}, not 3: open it once with its client, which brings one of version 1 or 2 to 3"
            )))
        }
    }
}

/// The new file, under a name that nobody asks for; removed when it is dropped.
#[derive(Debug)]
struct Temp {
    path: PathBuf,
    file: File,
}

impl Temp {
    /// Written and on the disk, with the rights, owner and time of the old one: by the time of
    /// its last row a client knows which session was the last. `None` where no row changes.
    fn write(
        real: &Path,
        mut source: &File,
        stamp: Stamp,
        change: Change<'_>,
    ) -> Result<Option<Self>, Refused> {
        sweep(real);
        let (path, file) = atomic::temp_beside(real, 0o600).map_err(|e| told(real, &e))?;
        let temp = Self { path, file };
        let failed = |e: &io::Error| Refused::Io(told(&temp.path, e));
        let old = source.metadata()?;
        temp.belongs_to(&old).map_err(|e| failed(&e))?;
        source.seek(SeekFrom::Start(0))?;
        let mut lines = Lines::new(BufReader::with_capacity(BUFFER, source.take(stamp.size)));
        let mut out = BufWriter::with_capacity(BUFFER, &temp.file);
        let mut changed = false;
        while let Some(line) = lines.next().map_err(|e| told(real, &e))? {
            let number = line.number - 1;
            let Some(new) = change(number, line.bytes)? else {
                out.write_all(line.bytes).map_err(|e| failed(&e))?;
                continue;
            };
            if let Err(lost) = kept(line.bytes, &new) {
                let what = format!("{}: row {number} would lose {lost}", real.display());
                return Err(io::Error::new(io::ErrorKind::InvalidData, what).into());
            }
            changed |= new != line.bytes;
            out.write_all(&new).map_err(|e| failed(&e))?;
        }
        out.flush().map_err(|e| failed(&e))?;
        drop(out);
        if !changed {
            return Ok(None);
        }
        let times = FileTimes::new().set_modified(old.modified()?).set_accessed(old.accessed()?);
        temp.file.set_times(times).and_then(|()| temp.file.sync_all()).map_err(|e| failed(&e))?;
        Ok(Some(temp))
    }

    fn belongs_to(&self, old: &fs::Metadata) -> io::Result<()> {
        let new = self.file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            std::os::unix::fs::fchown(&self.file, Some(old.uid()), Some(old.gid()))?;
        }
        self.file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o7777))
    }

    fn put(mut self, real: &Path) -> io::Result<()> {
        fs::rename(&self.path, real).map_err(|e| told(real, &e))?;
        self.path = PathBuf::new();
        if let Some(folder) = real.parent() {
            // Some file systems refuse to sync a folder; the rename itself stands.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // Nobody asks for it; the next one removes what stays.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes what processes left beside the file that were killed as they wrote it.
fn sweep(real: &Path) {
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else { return };
    let begins = format!(".{}.", name.to_string_lossy());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let middle = name.strip_prefix(&begins).and_then(|rest| rest.strip_suffix(".tmp"));
        let pid = middle.and_then(|m| m.split('.').find_map(|part| part.parse().ok()));
        if pid.is_some_and(|pid| state::client(pid).is_none()) {
            // What can't be removed is in nobody's way.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// pi knows no lock, and appends by opening the file: rows that came into the old one since the
/// last look go behind those of the new one.
fn late(real: &Path, mut old: File, stamp: Stamp) -> io::Result<()> {
    let deadline = Instant::now() + LATE;
    while !holders::writers(real, stamp.inode).is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut rows = Vec::new();
    old.seek(SeekFrom::Start(stamp.size))?;
    old.read_to_end(&mut rows)?;
    if rows.is_empty() { Ok(()) } else { atomic::append(real, &rows) }
}

#[cfg(test)]
mod tests;
