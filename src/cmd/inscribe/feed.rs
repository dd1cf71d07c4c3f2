//! The rows of a session on their way: into blocks and into rounds.

use std::io;
use std::path::PathBuf;

use super::engagement::Engagements;
use super::source::Source;
use super::state::{State, Tail};
use sessions::dialect::{self, Dialect, Scratch};
use sessions::digest::Digest;
use sessions::round::{Round, Session};
use store::blocks::{Folder, Writer};
use store::index::{Index, Progress, Words};

/// Bytes of words that are kept before rounds are recorded.
const WORDS: usize = 8 * 1024 * 1024;

/// Rounds that are kept before they are recorded.
const ROUNDS: usize = 8192;

/// A session as far as it was read.
pub struct Feed {
    folder: Folder,
    source: PathBuf,
    parent: Option<String>,
    dialect: &'static dyn Dialect,
    scratch: Scratch,
    digest: Digest,
    tail: Tail,
    bytes: u64,
    rows: u64,
    /// Rounds that ended and are not recorded yet.
    ended: Vec<(Round, Words)>,
    weight: usize,
    /// Rows that are not recorded yet.
    fresh: bool,
}

impl Feed {
    /// A session of which nothing was read.
    pub fn new(folder: &Folder, source: &Source, dialect: &'static dyn Dialect) -> Self {
        Self {
            folder: folder.clone(),
            source: source.path.clone(),
            parent: source.parent.clone(),
            dialect,
            scratch: Scratch::default(),
            digest: Digest::default(),
            tail: Tail::default(),
            bytes: 0,
            rows: 0,
            ended: Vec::new(),
            weight: 0,
            fresh: false,
        }
    }

    /// The same, as far as it was recorded.
    #[must_use]
    pub fn resumed(mut self, progress: &Progress, state: State, tail: Tail) -> Self {
        self.dialect = dialect::named(&state.dialect).unwrap_or(self.dialect);
        (self.digest, self.tail) = (state.digest, tail);
        (self.bytes, self.rows) = (progress.bytes, progress.rows);
        self
    }

    /// Takes a row that is in the blocks already.
    pub fn adopt(&mut self, line: &[u8]) {
        let row = self.dialect.row(line, &mut self.scratch);
        let ended = self.digest.row(self.dialect, &row, line, self.scratch.blocks());
        self.tail.push(line);
        self.bytes += line.len() as u64;
        self.rows += 1;
        self.fresh = true;
        if let Some((round, words)) = ended {
            self.weight += words.user.len() + words.agent.len();
            self.ended.push((round, words));
        }
    }

    /// Takes a row and writes it.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&mut self, line: &[u8], writer: &mut Writer) -> io::Result<()> {
        self.adopt(line);
        writer.row(self.digest.seq(), line)
    }

    /// Records what was read, with the round that is open where it is the `last`.
    ///
    /// # Errors
    /// What the system says of the blocks or the databases.
    pub fn record(
        &mut self,
        index: &Index,
        writer: &mut Writer,
        engagements: &Engagements,
        last: bool,
    ) -> anyhow::Result<()> {
        writer.commit()?;
        let mut rounds = std::mem::take(&mut self.ended);
        if last {
            rounds.extend(self.digest.open());
        }
        let session = self.session();
        engagements.tag(session.cwd.as_deref(), &mut rounds);
        let state = State::new(self.dialect.name(), self.digest.clone(), &self.tail);
        let progress = Progress {
            source: self.source.clone(),
            bytes: self.bytes,
            rows: self.rows,
            state: serde_json::to_string(&state)?,
        };
        index.record(&self.folder, &session, &rounds, &progress, None)?;
        (self.weight, self.fresh) = (0, false);
        Ok(())
    }

    fn session(&self) -> Session {
        let facts = self.digest.session();
        Session {
            id: self.folder.session.clone(),
            agent: self.folder.agent.clone(),
            dialect: self.dialect.name().to_owned(),
            cwd: facts.cwd.clone(),
            source: self.source.to_str().map(str::to_owned),
            started: facts.started,
            ended: facts.ended,
            parent: self.parent.clone().or_else(|| facts.parent.clone()),
            rounds: Vec::new(),
        }
    }

    /// Bytes that were read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Rows that were read.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Rounds so far, the open one too.
    pub fn rounds(&self) -> u32 {
        self.digest.seq()
    }

    /// Whether some of it is not recorded.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Whether what is not recorded takes much memory.
    pub fn is_heavy(&self) -> bool {
        self.weight >= WORDS || self.ended.len() >= ROUNDS
    }
}
