//! `extract gc`: shows how much content is kept. With `--forget`, removes what no session needs;
//! besides this, only `purge` removes content.

mod files;

use base::shown::size;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use serde::Serialize;

use self::files::Files;
use super::asked;
use crate::cmd::import::{self, count};
use crate::cmd::{Exit, confirmed, err, operator, show};
use base::clock::Time;
use base::env::Env;
use sessions::settings::ExtractSettings;
use store::blocks::Root;
use store::extracted::{self, Amount, GiveUp, State, Swept};

#[derive(Debug, Clone, Copy)]
pub struct Ask {
    /// Also give up the content of sessions whose files are gone.
    pub forget: bool,
    /// Do not ask for confirmation.
    pub yes: bool,
    /// Only show what would be removed.
    pub dry_run: bool,
    pub json: bool,
}

/// The result of a sweep, or of a dry run.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    swept: Swept,
    dry_run: bool,
    /// Without `--forget`, nothing is removed.
    #[serde(skip)]
    only_shown: bool,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&line(&self.swept, self.dry_run))?;
        if self.only_shown && self.swept.gone.bytes > 0 {
            f.write_str("\nNothing was removed; `brain-guard extract gc --forget` does it.")?;
        }
        Ok(())
    }
}

/// Runs the verb.
///
/// # Errors
/// Faulty settings, or a store that cannot be swept.
pub fn run(env: &Env, now: Time, ask: Ask) -> anyhow::Result<Exit> {
    let Ask { forget, yes, dry_run, json } = ask;
    if forget {
        operator::refuse_agent(env, "extract gc --forget")?;
    }
    let root = import::root(env)?;
    let settings = asked::settings(env)?;
    let sweep = |dry_run| sweep(&root, &settings, import::homes(env), now, dry_run);
    let dry_run = dry_run || !forget;
    if !dry_run {
        // Name the sessions before their content is removed.
        let would = sweep(true)?;
        session_notes(&would, true).iter().for_each(err);
        if would.gone.bytes > 0 && !yes && !confirmed(&line(&would, true), "--yes removes it")? {
            return Ok(Exit::Refused);
        }
    }
    let swept = sweep(dry_run)?;
    if !json {
        session_notes(&swept, dry_run).iter().for_each(err);
    }
    show(&Report { swept, dry_run, only_shown: !forget }, json)?;
    Ok(Exit::Done)
}

/// Removes content that no placeholder of a known session needs, and that of sessions whose files
/// are also missing below `homes`. Content used within the retention period stays.
///
/// # Errors
/// Other extractions or restores that hold the store for too long.
pub fn sweep(
    root: &Root,
    settings: &ExtractSettings,
    homes: Vec<PathBuf>,
    now: Time,
    dry_run: bool,
) -> anyhow::Result<Swept> {
    let kept_for = settings.kept_for().map_err(|why| anyhow!("extract.retention: {why}"))?;
    let older = kept_for.map_or(Some(now), |kept_for| now.checked_sub_signed(kept_for));
    let older = older.unwrap_or(Time::MIN_UTC);
    let mut files = Files::new(root, homes);
    let mut ask = |file: &Path, ledger: &_| files.held(file, ledger);
    let swept = extracted::sweep(root, older, &mut ask, GiveUp::Missing, dry_run)?;
    // Do not create a store if nothing was ever extracted.
    if !dry_run && root.path().join("extracted").is_dir() {
        let state = State { last_retention_run_at: Some(now), ..State::read(root) };
        state.write(root).context("could not record when content was removed")?;
    }
    Ok(swept)
}

/// Lists what a sweep could not read, and the sessions whose content it removed.
fn session_notes(swept: &Swept, dry_run: bool) -> Vec<String> {
    let unread = swept.unread.iter().map(|path| {
        let path = path.display();
        format!("{path} can't be read, or is on a disk that is not there: what it may need stays")
    });
    let will = if dry_run { "would be removed" } else { "is removed" };
    let content =
        swept.sessions.iter().map(|session| format!("content of session {session} {will}"));
    let forgotten = swept.forgotten.iter().map(|session| {
        format!("the record of session {session} {will}: its files and its content are gone")
    });
    let missing = swept.missing.iter().map(|session| {
        format!(
            "the files of session {session} are not found; its content stays, because another session needs it or it was used within the retention"
        )
    });
    unread.chain(missing).chain(content).chain(forgotten).collect()
}

/// Summarizes a sweep on one line.
fn line(swept: &Swept, dry_run: bool) -> String {
    let Swept { gone, kept, unnamed, waiting, .. } = swept;
    let waits = match waiting {
        Amount { count: 0, .. } => String::new(),
        Amount { count: waits, bytes } => format!(
            ", of which no session needs {waits}, {} (their retention is not over)",
            size(*bytes)
        ),
    };
    let unnamed = match unnamed {
        0 => String::new(),
        bytes => format!(
            "; {} stay although no ledger names them: a ledger may be lost, or a run was killed",
            size(*bytes),
        ),
    };
    format!(
        "{}, {}, {}; {} {} kept, {}{waits}{unnamed}",
        count(gone.count as usize, "object"),
        size(gone.bytes),
        if dry_run { "would be removed" } else { "removed" },
        kept.count,
        if kept.count == 1 { "is" } else { "are" },
        size(kept.bytes.saturating_sub(swept.unnamed)),
    )
}
