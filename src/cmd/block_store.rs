//! `brain-guard store export`: a session's transcript as it was imported. Where the client has
//! removed its file, this is the only way to get it back.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};

use super::import::{self, count};
use super::selector::Name;
use super::{Context, Exit, Run, err, out};
use crate::cli::StoreVerb;
use base::env::Env;
use base::new_file::NewFile;
use base::paths;
use store::blocks::{self, Folder, Reader, Root};
use store::index::Index;

const BUFFER: usize = 256 * 1024;

impl Run for StoreVerb {
    fn run(&self, Context { env, .. }: Context) -> anyhow::Result<Exit> {
        let Self::Export { session, out, edition } = self;
        export(env, &import::root(env)?, session, out.as_deref(), *edition)
    }
}

/// Writes it to a new file, or to stdout.
///
/// # Errors
/// No such session or edition; a target that exists; damage. On damage, a file gets nothing, and
/// stdout gets what precedes it.
fn export(
    env: &Env,
    root: &Root,
    session: &str,
    to: Option<&Path>,
    edition: Option<u64>,
) -> anyhow::Result<Exit> {
    let folder = find_folder(env, root, session)?;
    let target = to.map(|to| target(to, &folder)).transpose()?;
    let _held = import::settled(&folder)?;
    let (blocks, least) = match edition {
        Some(number) => (edition_blocks(&folder, number)?, 0),
        None => (folder.blocks(), indexed_bytes(root, &folder)),
    };
    let Some(target) = target else {
        let mut stdout = BufWriter::with_capacity(BUFFER, io::stdout().lock());
        let written = copy(&blocks, &folder, least, &mut stdout)
            .and_then(|_| stdout.flush().map_err(anyhow::Error::from));
        return match written {
            // The reader has closed the pipe, which is no error.
            Err(e) if is_broken_pipe(&e) => Ok(Exit::Done),
            other => other.map(|()| Exit::Done),
        };
    };
    let fork =
        NewFile::begin(&target).with_context(|| format!("could not write {}", target.display()))?;
    let mut hashed = Hashed { to: fork, hash: Sha256::new() };
    let held = copy(&blocks, &folder, least, &mut hashed)?;
    let written = hashed.to.finish().with_context(|| target.display().to_string())?;
    out(format_args!(
        "{}: {}, {} bytes, sha256 {:x}",
        written.path.display(),
        count(held.rows as usize, "row"),
        written.bytes,
        hashed.hash.finalize()
    ));
    Ok(Exit::Done)
}

/// Writes and hashes, so that the digest can be compared with another copy of the transcript.
struct Hashed {
    to: NewFile,
    hash: Sha256,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// The session of this name. `AGENT/ID` chooses one if several agents have the same id.
fn find_folder(env: &Env, root: &Root, name: &str) -> anyhow::Result<Folder> {
    let of_agent = name.split_once('/').filter(|(_, id)| !id.contains(['/', '.']));
    let (agent, id) = match (of_agent, Name::parse(env, name)?) {
        (Some((agent, id)), _) => (Some(agent), id.to_owned()),
        (None, name) => (None, name.id()),
    };
    let mut found = root.find(&id)?;
    found.retain(|folder| agent.is_none_or(|agent| folder.agent == agent));
    match found.len() {
        0 => bail!(
            "no imported session `{name}` in {}; `brain-guard import` imports sessions",
            root.sessions().display()
        ),
        1 => Ok(found.remove(0)),
        _ => {
            let list: Vec<String> =
                found.iter().map(|one| format!("{}/{}", one.agent, one.session)).collect();
            bail!("several sessions begin with {name}; name one:\n  {}", list.join("\n  "))
        }
    }
}

/// The file to write. A path without an extension is a folder; a missing one is made.
fn target(to: &Path, folder: &Folder) -> anyhow::Result<PathBuf> {
    if paths::is_folder(to) || to.extension().is_none() {
        return Ok(to.join(format!("{}.jsonl", folder.session)));
    }
    // The imported content may be anything, so it must not become another kind of file.
    if to.extension().is_some_and(|end| end != "jsonl") {
        bail!("{} does not end in .jsonl; for a folder, end it with `/`", to.display());
    }
    Ok(to.to_path_buf())
}

/// The blocks of an edition.
fn edition_blocks(folder: &Folder, number: u64) -> anyhow::Result<PathBuf> {
    let there = blocks::editions(folder)?;
    let numbers: Vec<String> = there.iter().map(|one| one.number.to_string()).collect();
    let found = there.into_iter().find(|one| one.number == number);
    found.map(|one| one.path).with_context(|| {
        let numbers = if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") };
        format!(
            "session {} has no edition {number}; there are: {numbers}. Without --edition you get its latest state",
            folder.session
        )
    })
}

/// Number of bytes that the index knows of; 0 if it cannot be read.
fn indexed_bytes(root: &Root, folder: &Folder) -> u64 {
    match Index::new(root.clone()).progress(folder) {
        Ok(progress) => progress.map_or(0, |progress| progress.bytes),
        Err(e) => {
            err(format_args!("{e}; it is unknown whether all blocks are there"));
            0
        }
    }
}

fn copy(blocks: &Path, folder: &Folder, least: u64, to: &mut dyn Write) -> anyhow::Result<Counted> {
    let reader = Reader::open_file(blocks)?;
    let held = read_rows(&reader, &folder.session, |row| to.write_all(row))?;
    if held.bytes < least || held.rows == 0 {
        bail!(
            "{}: {least} bytes were imported, but the store holds {}; `brain-guard doctor --fix` repairs what it can",
            blocks.display(),
            held.bytes
        );
    }
    Ok(held)
}

fn is_broken_pipe(e: &anyhow::Error) -> bool {
    e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

/// How much was read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counted {
    /// Rounds.
    pub rounds: u64,
    /// Rows.
    pub rows: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Passes each row of a session to `each`. Every row is verified: by the digest of its block, and
/// by its position.
///
/// # Errors
/// I/O errors, and those of `each`; `InvalidData` for damage.
pub fn read_rows(
    reader: &Reader,
    session: &str,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<Counted> {
    let wrong = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let owner = reader.session()?;
    if let Some(owner) = owner.filter(|owner| owner != session) {
        return Err(wrong(format!("the blocks belong to session {owner}")));
    }
    let (mut counted, mut last) = (Counted::default(), 0);
    reader.rows(0, |round, row| {
        if !(last..=last + 1).contains(&round) {
            let number = counted.rows;
            return Err(wrong(format!("row {number} is of round {round}, after round {last}")));
        }
        last = round;
        counted.rounds = last.into();
        counted.rows += 1;
        counted.bytes += row.len() as u64;
        each(row)
    })?;
    Ok(counted)
}
