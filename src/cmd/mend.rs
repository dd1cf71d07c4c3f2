//! `brain-guard mend`: makes a sound session of one that Claude Code reads only in part, or that the
//! API refuses. The original stays as it is.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use serde::Serialize;

use super::surgery::view;
use super::{Context, Exit, Failure, Run, import, progress, selector, show, validate};
use crate::cli::MendArgs;
use base::clock::Time;
use base::env::Env;
use base::new_file::{self, NewFile};
use base::shown::{count_with_noun, shell_quote};
use guard::client;
use sessions::dialect::{Block, Claude, Dialect as _, Scratch};
use sessions::digest::Digest;
use sessions::ranges;
use sessions::refusal::Refusal;
use sessions::sent::State;
use sessions::span;
use surgery::ids;
use surgery::mend::{Finding, Mend, Survey};
use surgery::table::short;
use surgery::validate::{Level, Validator};

/// How many findings are printed. `--json` has all.
const LISTED: usize = 20;

impl Run for MendArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        show(&Mended::of(env, now, &self.session, self.dry_run)?, self.json)?;
        Ok(Exit::Done)
    }
}

/// What the client sends of a session.
#[derive(Debug, Serialize)]
struct Sent {
    /// How many rounds the session has.
    rounds: usize,
    /// Those in the next request: `1-8`.
    sent: String,
}

/// A mended session, or one that needs it not.
#[derive(Debug, Serialize)]
pub(crate) struct Mended {
    session: String,
    findings: Vec<Finding>,
    before: Sent,
    /// What the API refuses of it.
    refused: Option<Refusal>,
    after: Option<Sent>,
    /// The new session; `None` if nothing was wrong, or in a dry run.
    pub(crate) id: Option<String>,
    pub(crate) path: Option<PathBuf>,
    /// Errors that `validate` still finds in it.
    errors: usize,
    /// The command that resumes it.
    #[serde(skip)]
    resume: String,
}

impl Mended {
    /// Looks at a session, and makes a sound one unless it is a dry run.
    ///
    /// # Errors
    /// A session that is missing, unreadable, open in a client, or not of Claude Code.
    pub(crate) fn of(env: &Env, now: Time, name: &str, dry_run: bool) -> anyhow::Result<Self> {
        let file = selector::file(env, name)?;
        let session = import::ids(&file).pop().unwrap_or_default();
        let running = client::find_session_process(&session, &file).filter(|_| !dry_run);
        if let Some(pid) = running {
            let what = format!("the process {pid} has the session {} open", short(&session));
            return Err(Failure::refused(what).hint("end it first, or look with --dry-run").into());
        }
        // A client may append while this reads.
        let length = file.metadata().map_or(0, |found| found.len());
        let (mut survey, mut before) = (Survey::default(), Reading::default());
        each_line(&file, length, &mut |number, line| {
            validate::require_claude(&file, number, line)?;
            survey.line(number, line);
            before.row(line);
            Ok(())
        })?;
        let cwd = before.last_folder(&file);
        let mut mend = survey.finish();
        ensure!(mend.has_rows(), "there is no message in {}", file.display());
        let mut mended = Self {
            session,
            findings: std::mem::take(&mut mend.findings),
            before: before.sent(),
            refused: mend.refusal,
            after: None,
            id: None,
            path: None,
            errors: 0,
            resume: String::new(),
        };
        if mended.findings.is_empty() {
            return Ok(mended);
        }
        let seed = format!("{now:?} {}", std::process::id());
        let id = ids::Source::new(&seed, &mended.session).uuid("session").as_str().to_owned();
        let path = file.with_file_name(format!("{id}.jsonl"));
        if dry_run {
            mended.write((&file, length), mend, &id, &mut io::sink())?;
            return Ok(mended);
        }
        let failed = || format!("could not write {}", path.display());
        let mut draft = NewFile::begin(&path).with_context(failed)?;
        mended.write((&file, length), mend, &id, &mut draft)?;
        ensure!(
            file.metadata().is_ok_and(|found| found.len() == length),
            "{} was written meanwhile; end what writes it, and try again",
            file.display()
        );
        draft.finish().with_context(failed)?;
        mended.resume = view::resume_command(cwd.as_deref(), Some(&id), &path);
        (mended.id, mended.path) = (Some(id), Some(path));
        Ok(mended)
    }

    /// Whether anything is to be mended.
    pub(crate) fn is_broken(&self) -> bool {
        !self.findings.is_empty()
    }

    fn write(
        &mut self,
        (file, length): (&Path, u64),
        mut mend: Mend,
        id: &str,
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        let (mut after, mut validator) = (Reading::default(), Validator::new(Some(id)));
        let (mut scratch, mut rows, mut written) = (Scratch::default(), Vec::new(), 0);
        each_line(file, length, &mut |_, line| {
            rows.clear();
            mend.line(line, id, &mut scratch, &mut rows);
            for row in rows.split_inclusive(|byte| *byte == b'\n') {
                written += 1;
                validator.line(written, row);
                after.row(row);
            }
            out.write_all(&rows).context("could not write the new session")
        })?;
        let errors = validator.finish().into_iter().filter(|found| found.level == Level::Error);
        self.errors = errors.count();
        self.after = Some(after.sent());
        Ok(())
    }
}

/// Passes each line of the first `length` bytes.
fn each_line(
    file: &Path,
    length: u64,
    each: &mut dyn FnMut(u64, &[u8]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let bar = progress::of_file(file);
    let mut lines = validate::lines(file)?;
    while let Some(line) =
        lines.next().with_context(|| format!("{} can't be read", file.display()))?
    {
        let left = length.saturating_sub(line.offset).min(line.bytes.len() as u64);
        if left == 0 {
            break;
        }
        bar.inc(left);
        each(line.number, line.bytes.get(..left as usize).unwrap_or_default())?;
    }
    bar.finish_and_clear();
    Ok(())
}

/// Reads a session as a client does.
#[derive(Default)]
struct Reading {
    digest: Digest,
    scratch: Scratch,
    blocks: Vec<Block>,
    /// The folders that its rows name, without repetition in a row.
    folders: Vec<String>,
}

impl Reading {
    fn row(&mut self, line: &[u8]) {
        let row = Claude.row(line, &mut self.scratch);
        let folder = span::get(line, &self.scratch.fields, "cwd").and_then(span::text);
        if let Some(folder) =
            folder.filter(|folder| self.folders.last().is_none_or(|last| last != folder))
        {
            self.folders.push(folder.into_owned());
        }
        Claude.blocks(line, &row, &mut self.scratch, &mut self.blocks);
        self.digest.row(&Claude, &row, line, &self.blocks);
    }

    /// The folder that the session last worked in: the client keeps its file under that name.
    fn last_folder(&self, file: &Path) -> Option<String> {
        let place = file.parent()?.file_name()?;
        let is_there = |folder: &&String| place == new_file::project_name(folder).as_str();
        self.folders.iter().rfind(is_there).or(self.folders.last()).cloned()
    }

    fn sent(&self) -> Sent {
        let (standings, _) = self.digest.standings();
        let sent = (1..).zip(&standings);
        let sent: Vec<u32> = sent
            .filter(|(_, standing)| standing.state == State::InContext)
            .map(|(round, _)| round)
            .collect();
        Sent { rounds: standings.len(), sent: ranges::show(&sent) }
    }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sent.as_str() {
            "" => write!(f, "none of {}", count_with_noun(self.rounds, "round", "rounds")),
            one if one.parse::<u32>().is_ok() => write!(f, "round {one} of {}", self.rounds),
            several => write!(f, "rounds {several} of {}", self.rounds),
        }
    }
}

impl fmt::Display for Mended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { findings, before, .. } = self;
        let name = short(&self.session);
        let Some(after) = &self.after else {
            return write!(
                f,
                "nothing to mend: every row of {name} is read, and the client sends {before}"
            );
        };
        write!(f, "mend {name}")?;
        for finding in findings.iter().take(LISTED) {
            write!(f, "\n  {finding}")?;
        }
        if findings.len() > LISTED {
            write!(f, "\n  and {} more; --json lists all", findings.len() - LISTED)?;
        }
        let mut line = |name: &str, what: &str| write!(f, "\n  {name:<9}{what}");
        let refused = self.refused.map(|refusal| format!(", and {}", refusal.words()));
        line("before", &format!("the client sends {before}{}", refused.unwrap_or_default()))?;
        line("after", &format!("the client sends {after}"))?;
        if self.errors > 0 {
            let errors = count_with_noun(self.errors, "error", "errors");
            line("note", &format!("`brain-guard validate` still finds {errors} in it"))?;
        }
        let (Some(id), Some(path)) = (&self.id, &self.path) else {
            return line("dry run", "nothing was written");
        };
        let path = shell_quote(&path.to_string_lossy());
        line("session", id)?;
        line("continue", &self.resume)?;
        line("undo", &format!("rm {path}"))
    }
}
