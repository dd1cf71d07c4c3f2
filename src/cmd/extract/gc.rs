//! `extract gc`: how much content is kept, and, with `--forget`, the removal of what no session
//! needs any more. Apart from it, only `purge` removes content.

mod files;

use base::shown::size;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use serde::Serialize;

use self::files::Files;
use super::asked;
use crate::cmd::inscribe::{self, count};
use crate::cmd::{Exit, confirmed, err, operator, show};
use base::clock::Time;
use base::env::Env;
use sessions::settings::ExtractSettings;
use store::blocks::Root;
use store::extracted::{self, Amount, GiveUp, Record, State, Swept};
use store::openclaw;

/// How to clean up.
#[derive(Debug, Clone, Copy)]
pub struct Ask {
    /// Also give up content of sessions whose files are gone.
    pub forget: bool,
    /// Do not ask whether to give it up.
    pub yes: bool,
    /// Only say what would go.
    pub dry_run: bool,
    /// For programs.
    pub json: bool,
}

/// What came of a sweep, or would.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    swept: Swept,
    dry_run: bool,
    /// Only `--forget` removes.
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
/// Settings with a fault in them; what the system says of the store.
pub fn run(env: &Env, now: Time, ask: Ask) -> anyhow::Result<Exit> {
    let Ask { forget, yes, dry_run, json } = ask;
    if forget {
        operator::refuse_agent(env, "extract gc --forget")?;
    }
    let root = inscribe::root(env)?;
    let settings = asked::settings(env)?;
    let sweep = |dry_run| sweep(&root, &settings, inscribe::homes(env), now, dry_run);
    let dry_run = dry_run || !forget;
    if !dry_run {
        // The sessions are named before their content goes.
        let would = sweep(true)?;
        said(&would, true).iter().for_each(err);
        if would.gone.bytes > 0 && !yes && !confirmed(&line(&would, true), "--yes removes it")? {
            return Ok(Exit::Refused);
        }
    }
    let swept = sweep(dry_run)?;
    if !json {
        said(&swept, dry_run).iter().for_each(err);
    }
    show(&Report { swept, dry_run, only_shown: !forget }, json)?;
    Ok(Exit::Done)
}

/// Removes what no placeholder of a known session needs, and the content of sessions whose files
/// are not found below `homes` either. What was used within the retention stays.
///
/// # Errors
/// What the system says; content that is being extracted or restored for too long.
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
    let mut swept = extracted::sweep(root, older, &mut ask, GiveUp::Missing, dry_run)?;
    for database in databases(root) {
        match openclaw::remove_older(&database, older, dry_run) {
            Ok((copies, bytes)) => swept.copies.add(copies, bytes),
            Err(_) => swept.unread.push(database),
        }
    }
    // Where nothing was ever extracted nothing is made.
    if !dry_run && root.path().join("extracted").is_dir() {
        let state = State { last_retention_run_at: Some(now), ..State::read(root) };
        state.write(root).context("when content was removed could not be kept")?;
    }
    Ok(swept)
}

/// OpenClaw's databases that something was extracted of: beside them are copies of ours.
fn databases(root: &Root) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for extracted in extracted::all(root).found {
        // What can't be read is told by the sweep.
        let ledger = extracted.ledger().unwrap_or_default();
        for record in &ledger.records {
            let Record::Extract(extract) = record else { continue };
            let database = extract.file.to_str().and_then(|place| Some(place.rsplit_once(':')?.0));
            let database = database.map(Path::new).filter(|path| path.is_file());
            found.extend(database.map(Path::to_path_buf));
        }
    }
    found
}

/// What a sweep could not read, and which sessions it is done with.
fn said(swept: &Swept, dry_run: bool) -> Vec<String> {
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

/// What a sweep came to, on a line.
fn line(swept: &Swept, dry_run: bool) -> String {
    let Swept { gone, kept, unnamed, waiting, copies, .. } = swept;
    let copies = match copies {
        Amount { count: 0, .. } => String::new(),
        Amount { count: copies, bytes } => format!(
            "; {} of OpenClaw's databases, {}, {}",
            if *copies == 1 { "1 copy".into() } else { format!("{copies} copies") },
            size(*bytes),
            if dry_run { "would be removed" } else { "removed" },
        ),
    };
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
            "; {} stay that no ledger names: one may be lost, or a run was killed",
            size(*bytes),
        ),
    };
    format!(
        "{}, {}, {}; {} {} kept, {}{waits}{unnamed}{copies}",
        count(gone.count as usize, "object"),
        size(gone.bytes),
        if dry_run { "would be removed" } else { "removed" },
        kept.count,
        if kept.count == 1 { "is" } else { "are" },
        size(kept.bytes.saturating_sub(swept.unnamed)),
    )
}
