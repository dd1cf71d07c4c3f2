//! Imports a session: blocks first, then the index. After a kill, complete rows in the blocks that
//! the index lacks are indexed; the rest is cut off and read again.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Serialize;

use super::engagement::Engagements;
use super::feed::Feed;
use super::parents;
use super::source::{Source, open};
use super::state::{State, Tail};
use base::lock::{self, Lock};
use base::{atomic, paths};
use sessions::dialect::{self, Dialect};
use sessions::line::Lines;
use store::blocks::{self, Folder, Reader, Root, Writer};
use store::index::{Index, Progress};

/// How long to wait for another import of the same session.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes to read at once.
const BUFFER: usize = 1024 * 1024;

/// Bytes after which rounds are recorded.
const BATCH: u64 = 64 * 1024 * 1024;

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Done {
    /// Its id.
    pub session: String,
    /// The agent that ran it.
    pub agent: String,
    /// Its file.
    pub source: String,
    /// The number of its rounds.
    pub rounds: u32,
    /// The number of new rows.
    pub new_rows: u64,
    /// The number of new bytes.
    pub new_bytes: u64,
    /// The edition with the earlier rows, if the file was rewritten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<u64>,
    /// The number of the last line if it was skipped, because it has no newline yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unended_line: Option<u64>,
}

impl Done {
    /// The note about a skipped last line.
    pub fn unended(&self) -> Option<String> {
        let line = self.unended_line?;
        let file = &self.source;
        Some(format!(
            "line {line} of {file} has no line break yet: left out, it may still be being written"
        ))
    }
}

/// Imports the new rows of a session. `read` gets the number of bytes after each row.
///
/// # Errors
/// An unreadable file, or another file with the same id. The stored rows stay.
pub fn session(
    root: &Root,
    index: &Index,
    source: Source,
    engagements: &Engagements,
    read: &mut dyn FnMut(u64),
) -> anyhow::Result<Done> {
    for parent in parents::unknown(index, &source) {
        // The rounds of a fork have their origins there. If it can't be read, they stand alone.
        let _ = Source::of(&parent, None)
            .map(|parent| alone(root, index, parent, engagements, &mut |_| {}));
    }
    alone(root, index, source, engagements, read)
}

/// Imports a session, whatever it was made from.
fn alone(
    root: &Root,
    index: &Index,
    mut source: Source,
    engagements: &Engagements,
    read: &mut dyn FnMut(u64),
) -> anyhow::Result<Done> {
    let shown = source.path.display().to_string();
    let file = open(&source.path).with_context(|| shown.clone())?;
    let mut reader = BufReader::with_capacity(BUFFER, &file);
    let first = reader.fill_buf().with_context(|| shown.clone())?;
    let Some(end) = memchr::memchr(b'\n', first) else {
        if first.len() < BUFFER {
            // There is no complete line to import.
            let unended_line = (!first.is_empty()).then_some(1);
            let session = source.session;
            return Ok(Done { source: shown, session, unended_line, ..Done::default() });
        }
        return import(root, index, source, &file, &dialect::Claude, engagements, read);
    };
    let dialect = dialect::detect(&first[..end]);
    let mut facts = sessions::dialect::Facts::default();
    dialect.facts(&first[..end], &mut facts);
    source.begun(dialect.has_header(), facts.id.as_deref());
    import(root, index, source, &file, dialect, engagements, read)
}

fn import(
    root: &Root,
    index: &Index,
    mut source: Source,
    file: &File,
    dialect: &'static dyn Dialect,
    engagements: &Engagements,
    read: &mut dyn FnMut(u64),
) -> anyhow::Result<Done> {
    source.begun(false, None);
    let folder = folder(root, &source)?;
    let _held = hold(&folder, PATIENCE)?;
    let mut writer = Writer::open(&folder.blocks())?;
    let known = known(index, &folder, &writer)?;
    let mut done = Done {
        session: folder.session.clone(),
        agent: folder.agent.clone(),
        source: source.path.display().to_string(),
        ..Done::default()
    };
    let mut feed = match take_up(&folder, &writer, &source, file, known, dialect)? {
        Taken::Up(feed) => feed,
        Taken::Differs => {
            drop(writer);
            done.set_aside = Some(blocks::set_aside(&folder)?.number);
            index.reset(&folder)?;
            writer = Writer::open(&folder.blocks())?;
            Box::new(Feed::new(&folder, &source, dialect))
        }
    };
    let (rows, bytes) = (feed.rows(), feed.bytes());
    let mut from = file;
    from.seek(SeekFrom::Start(bytes))?;
    let mut lines = Lines::from(BufReader::with_capacity(BUFFER, from), bytes, rows);
    let mut batch = bytes;
    while let Some(line) = lines.next().with_context(|| done.source.clone())? {
        if !line.ended() {
            done.unended_line = Some(feed.rows() + 1);
            break;
        }
        feed.write(line.bytes, &mut writer)?;
        read(line.bytes.len() as u64);
        if feed.bytes() - batch >= BATCH || feed.is_heavy() {
            batch = feed.bytes();
            feed.record(index, &mut writer, engagements, false)?;
        }
    }
    if feed.is_fresh() {
        feed.record(index, &mut writer, engagements, true)?;
    }
    done.rounds = feed.rounds();
    done.new_rows = feed.rows() - rows;
    done.new_bytes = feed.bytes() - bytes;
    Ok(done)
}

/// Locks a session, and creates its folder if it does not exist.
///
/// # Errors
/// `WouldBlock` if another process holds the lock for longer than `patience`.
pub fn hold(folder: &Folder, patience: Duration) -> io::Result<Lock> {
    loop {
        atomic::create_private_dir(&folder.path)
            .map_err(|e| Root::folder_error(&folder.path, &e))?;
        match lock::acquire(&folder.lock(), patience) {
            Ok(held) if held.is_valid_for(&folder.lock()) => return Ok(held),
            // The empty folder was removed at this moment.
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                let why = format!(
                    "another process is importing {}; try again when that is done",
                    folder.session
                );
                return Err(io::Error::new(e.kind(), why));
            }
            Err(e) => return Err(Root::folder_error(&folder.lock(), &e)),
        }
    }
}

/// Waits for a running import and locks the session. `None` if its folder is read-only: then no
/// import can run.
///
/// # Errors
/// An import that takes too long.
pub fn settled(folder: &Folder) -> anyhow::Result<Option<Lock>> {
    match hold(folder, PATIENCE) {
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => Err(e.into()),
        held => Ok(held.ok()),
    }
}

/// The session's folder. A subagent keeps its folder even if its type becomes known later.
fn folder(root: &Root, source: &Source) -> io::Result<Folder> {
    let folder = root.folder(&source.agent, &source.session);
    if source.subagent
        && !folder.path.is_dir()
        && let Some(other) = root.find_exact(&folder.session)?.pop()
    {
        return Ok(other);
    }
    Ok(folder)
}

/// The recorded progress. If another version wrote it, it is reset, and the blocks are read again.
fn known(
    index: &Index,
    folder: &Folder,
    blocks: &Writer,
) -> anyhow::Result<Option<(Progress, State)>> {
    let Some(progress) = index.progress(folder)? else { return Ok(None) };
    let state = State::read(&progress.state);
    // Fewer rows than recorded: a kill while setting them aside, or they were removed.
    let there = blocks.rows() >= progress.rows;
    if let Some(state) = state.filter(|_| there) {
        return Ok(Some((progress, state)));
    }
    index.reset(folder)?;
    Ok(None)
}

/// How to continue a session.
enum Taken {
    /// After the stored rows.
    Up(Box<Feed>),
    /// From the start, because the file no longer begins with the stored rows.
    Differs,
}

/// Compares the stored rows with the file, and prepares to continue after them.
fn take_up(
    folder: &Folder,
    writer: &Writer,
    source: &Source,
    file: &File,
    known: Option<(Progress, State)>,
    dialect: &'static dyn Dialect,
) -> anyhow::Result<Taken> {
    let shown = || source.path.display().to_string();
    let mut feed = Feed::new(folder, source, dialect);
    if let Some((progress, state)) = known {
        let length = file.metadata()?.len();
        let behind = state.tail.min(progress.bytes);
        let mut tail = vec![0; behind as usize];
        let same = length >= progress.bytes && {
            file.read_exact_at(&mut tail, progress.bytes - behind).with_context(shown)?;
            state.is(&tail)
        };
        let elsewhere = progress.source != source.path
            && progress.source.exists()
            && !paths::same_file(&progress.source, &source.path);
        if !same && elsewhere {
            bail!(
                "{}: the store has another session with the id {}, imported from {}; store this one separately with `--agent NAME`",
                shown(),
                folder.session,
                progress.source.display()
            );
        }
        if !same {
            return Ok(Taken::Differs);
        }
        feed = feed.resumed(&progress, state, Tail::of(tail));
    }
    let from = feed.rows();
    if writer.rows() > from {
        let mut there = BufReader::with_capacity(BUFFER, file);
        there.seek(SeekFrom::Start(feed.bytes()))?;
        let (mut same, mut bytes) = (true, Vec::new());
        Reader::open(folder)?.rows(from, |_, row| {
            bytes.clear();
            (&mut there).take(row.len() as u64).read_to_end(&mut bytes)?;
            same = same && bytes == row;
            if same {
                feed.adopt(row);
            }
            Ok(())
        })?;
        if !same {
            return Ok(Taken::Differs);
        }
    }
    Ok(Taken::Up(Box::new(feed)))
}
