//! Feeds a session's rows into blocks and rounds.

use std::io;
use std::path::PathBuf;

use super::engagement::Engagements;
use super::source::Source;
use super::state::{State, Tail};
use sessions::dialect::{self, Dialect, Scratch};
use sessions::digest::Digest;
use sessions::round::{Round, Session};
use store::blocks::{Folder, Writer};
use store::engagement::Engagement;
use store::index::{Index, Progress, Words};

/// Bytes of text to hold before rounds are recorded.
const WORDS: usize = 8 * 1024 * 1024;

/// Rounds to hold before they are recorded.
const ROUNDS: usize = 8192;

/// The state of an import.
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
    /// Complete rounds that are not recorded yet.
    ended: Vec<(Round, Words)>,
    weight: usize,
    /// Whether there is something to record.
    fresh: bool,
}

impl Feed {
    /// For a session without rows so far.
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

    /// Continues after the recorded rows.
    #[must_use]
    pub fn resumed(mut self, progress: &Progress, state: State, tail: Tail) -> Self {
        self.dialect = dialect::named(&state.dialect).unwrap_or(self.dialect);
        (self.digest, self.tail) = (state.digest, tail);
        (self.bytes, self.rows) = (progress.bytes, progress.rows);
        // A file that moved is recorded, too.
        self.fresh = progress.source != self.source;
        self
    }

    /// Adds a row that is already in the blocks.
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

    /// Adds a row and writes it to the blocks.
    pub fn write(&mut self, line: &[u8], writer: &mut Writer) -> io::Result<()> {
        self.adopt(line);
        writer.row(self.digest.seq(), line)
    }

    /// Records the rounds so far; if this is the `last` call, the open round, too.
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
        let (standings, cut) = if last { self.digest.standings() } else { Default::default() };
        let session = Session { cut, ..self.session() };
        let engagement = engagements.tag(session.cwd.as_deref(), &mut rounds);
        if let Some(Engagement { id, phases, .. }) = engagement {
            index.set_phases(&id, &phases)?;
        }
        let state = State::new(self.dialect.name(), self.digest.clone(), &self.tail);
        let progress = Progress {
            source: self.source.clone(),
            bytes: self.bytes,
            rows: self.rows,
            state: serde_json::to_string(&state)?,
        };
        let split = self.digest.session().engagement.as_deref();
        index.record(&self.folder, &session, &rounds, &standings, &progress, split)?;
        // How rounds stand is recorded with the last rows.
        (self.weight, self.fresh) = (0, !last);
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
            base: self.digest.base(),
            used: self.digest.context(),
            cut: None,
            model: facts.model.clone(),
            rounds: Vec::new(),
        }
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of rounds, including the open one.
    pub fn rounds(&self) -> u32 {
        self.digest.seq()
    }

    /// Whether there is something to record.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Whether the unrecorded rounds take much memory.
    pub fn is_heavy(&self) -> bool {
        self.weight >= WORDS || self.ended.len() >= ROUNDS
    }
}
