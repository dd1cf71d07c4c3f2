//! One session from its file into the store: blocks first, then the index. Whatever a killed
//! process left is taken up: whole rows behind what the index knows are indexed, the rest is
//! cut off and read again.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Serialize;

use super::engagement::Engagements;
use super::feed::Feed;
use super::source::Source;
use super::state::{State, Tail};
use base::lock::{self, Lock};
use base::{atomic, paths};
use sessions::dialect::{self, Dialect};
use sessions::line::Lines;
use store::blocks::{self, Folder, Reader, Root, Writer};
use store::index::{Index, Progress};

/// Another inscriber of the same session is waited for.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes that are read at once.
const BUFFER: usize = 1024 * 1024;

/// Bytes after which what there is so far is recorded.
const BATCH: u64 = 64 * 1024 * 1024;

/// What was done with a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Done {
    /// Its id.
    pub session: String,
    /// Who ran it.
    pub agent: String,
    /// Its file.
    pub source: String,
    /// Its rounds in all.
    pub rounds: u32,
    /// Rows that were new.
    pub new_rows: u64,
    /// Bytes that were new.
    pub new_bytes: u64,
    /// The edition that what was there before is kept as, for the file was written anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<u64>,
    /// The last line's number, where it has no line break yet and was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unended_line: Option<u64>,
}

impl Done {
    /// Says which line was left out, for it may still be being written.
    pub fn unended(&self) -> Option<String> {
        let line = self.unended_line?;
        let file = &self.source;
        Some(format!(
            "line {line} of {file} has no line break yet: left out, it may still be being written"
        ))
    }
}

/// Inscribes a session; what is in the store already is left as it is. `read` is told how
/// many bytes were read.
///
/// # Errors
/// What the system says, named; another file of the same id. What is in the store stays.
pub fn session(
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
            // Not even a line: nothing that could be inscribed.
            let unended_line = (!first.is_empty()).then_some(1);
            let session = source.session;
            return Ok(Done { source: shown, session, unended_line, ..Done::default() });
        }
        return inscribe(root, index, source, &file, &dialect::Claude, engagements, read);
    };
    let dialect = dialect::of_first_line(&first[..end]);
    let mut facts = sessions::dialect::Facts::default();
    dialect.facts(&first[..end], &mut facts);
    source.begun(dialect.name() == "pi", facts.id.as_deref());
    inscribe(root, index, source, &file, dialect, engagements, read)
}

fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(atomic::NO_WAIT).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

fn inscribe(
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

/// Takes a session's lock, its folder made where it is not there.
///
/// # Errors
/// `WouldBlock` where another process kept it for so long; what the system says.
pub fn hold(folder: &Folder, patience: Duration) -> io::Result<Lock> {
    loop {
        atomic::create_private_dir(&folder.path).map_err(|e| Root::unusable(&folder.path, &e))?;
        match lock::acquire(&folder.lock(), patience) {
            Ok(held) if held.is_of(&folder.lock()) => return Ok(held),
            // It was empty, and was removed in this moment.
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                let why = format!(
                    "another process is importing {}; try again when that is done",
                    folder.session
                );
                return Err(io::Error::new(e.kind(), why));
            }
            Err(e) => return Err(Root::unusable(&folder.lock(), &e)),
        }
    }
}

/// Takes a session's lock when no inscription is under way any more; none where its folder can
/// only be read, for that has no inscriber.
///
/// # Errors
/// An inscription that takes too long.
pub fn settled(folder: &Folder) -> anyhow::Result<Option<Lock>> {
    match hold(folder, PATIENCE) {
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => Err(e.into()),
        held => Ok(held.ok()),
    }
}

/// Where a session is kept. A subagent whose kind became known later stays where it is.
fn folder(root: &Root, source: &Source) -> io::Result<Folder> {
    let folder = root.folder(&source.agent, &source.session);
    if source.subagent
        && !folder.path.is_dir()
        && let Some(other) = root.named(&folder.session)?.pop()
    {
        return Ok(other);
    }
    Ok(folder)
}

/// How far the session is inscribed; what another version of this program knew of it is
/// forgotten, and read from the blocks anew.
fn known(
    index: &Index,
    folder: &Folder,
    blocks: &Writer,
) -> anyhow::Result<Option<(Progress, State)>> {
    let Some(progress) = index.progress(folder)? else { return Ok(None) };
    let state = State::read(&progress.state);
    // With fewer rows: a process was killed as it set them aside, or somebody removed them.
    let there = blocks.rows() >= progress.rows;
    if let Some(state) = state.filter(|_| there) {
        return Ok(Some((progress, state)));
    }
    index.reset(folder)?;
    Ok(None)
}

/// Where a session is gone on with.
enum Taken {
    /// Behind what is in the store.
    Up(Box<Feed>),
    /// The file no longer begins with what is in the store.
    Differs,
}

/// Takes up what is in the store, compared with the file.
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
                "{}: session {} is in the store from {}, which holds something else; `--agent NAME` keeps this one apart",
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
