//! Extracts from Claude Code sessions into a new session, with surgery's exporter and checks. The
//! session itself is never written: a running client only appends, and would undo the change.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context as _, ensure};
use serde::Serialize;

use super::gain::Gain;
use super::planned::How;
use super::read::COMPARED;
use super::{extractable_flag, record};
use crate::cli::{ExtractArgs, OutputArgs};
use crate::cmd::surgery::extracted::Chosen;
use crate::cmd::surgery::make;
use crate::cmd::surgery::source::Store;
use crate::cmd::surgery::target::client_folder;
use crate::cmd::surgery::view::{is_extract_run, resume_command};
use crate::cmd::{Context, Exit, Failure, show, succession};
use ::surgery::plan::{Operation, in_whole};
use ::surgery::table::short;
use ::surgery::values::is_copy;
use base::clock::Time;
use base::env::Env;
use base::shown::format_minute;
use extract::edit;
use extract::entry::{Entries, Entry};
use extract::plan::{self, NoGain, Plan};
use extract::rules::Stays;
use sessions::cost::Cost;
use sessions::round::Session;
use sessions::rows::RowSplitter;
use sessions::settings::ExtractSettings;
use store::blocks::Reader;
use store::extracted::{Extract, Ledger, Record};

/// The answer if nothing could be extracted.
#[derive(Serialize)]
struct Nothing {
    session: String,
    id: Option<String>,
    extracted: [(); 0],
}

impl fmt::Display for Nothing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "nothing to extract from {}; `brain-guard extract plan` says what stays, and why",
            self.session
        )
    }
}

/// Makes a new session without the values that the settings extract.
///
/// # Errors
/// A session that cannot be read, or an export that fails; no session is made then.
pub fn run(
    Context { env, now }: Context,
    session: &str,
    args: &ExtractArgs,
    settings: &ExtractSettings,
    how: &How,
    cost: Cost,
) -> anyhow::Result<Exit> {
    let store = Store::open(env)?;
    let session = store.session(env, Some(session))?;
    ensure!(
        session.dialect == "claude",
        "{} is not a session of Claude Code: its rows are those of {}",
        session.id,
        session.dialect
    );
    let chosen = chosen(&store, &session, settings, now, cost)?;
    if chosen.is_empty() {
        show(&Nothing { session: session.id, id: None, extracted: [] }, args.json)?;
        return Ok(Exit::Done);
    }
    let operation = Operation::Extract {
        keep_recent: settings.keep_recent,
        min_value_length: settings.min_value_length,
        trigger_types: settings.trigger_types.clone(),
    };
    if !how.again && !how.dry_run && !how.here {
        refuse_second_copy(env, &store, &session)?;
    }
    let output = OutputArgs {
        out: how.out.clone(),
        dry_run: how.dry_run || how.here,
        json: args.json,
        ..OutputArgs::default()
    };
    let made = make::make_lean(env, now, &store, in_whole(session, operation), &chosen, &output)?;
    if how.here {
        return succession::ask_for_extraction(Context { env, now }, &made);
    }
    if made.path.is_some() {
        log(&format!("claude/{}", made.id), &made.extracted);
    }
    show(&made, output.json)?;
    Ok(Exit::Done)
}

/// Checks that no session that `extract run` made from this one is still there. A second one would
/// be forgotten, or continued by mistake.
///
/// # Errors
/// There is one; the error says how to continue, undo, or make another.
fn refuse_second_copy(env: &Env, store: &Store, session: &Session) -> anyhow::Result<()> {
    let mut exports = store.index.exports()?.into_iter().rev();
    let copy = exports.find(|export| {
        is_extract_run(&export.operation)
            && export.undone.is_none()
            && export.detail.sources.iter().any(|(_, id)| *id == session.id)
            && Path::new(&export.path).is_file()
    });
    let Some(copy) = copy else { return Ok(()) };
    let (path, cwd) = (Path::new(&copy.path), session.cwd.as_deref());
    let own = cwd.and_then(|cwd| client_folder(env, cwd));
    let id = own.filter(|own| path.parent() == Some(own)).map(|_| copy.id.as_str());
    let name = short(&copy.id);
    let what = format!(
        "{} was extracted already, into {name} ({})",
        short(&session.id),
        format_minute(Some(copy.made))
    );
    let hint = format!(
        "nothing was written.\n  continue it    {}\n  remove it      brain-guard surgery undo {name}\n  make another   the same command with --again",
        resume_command(&session.dialect, cwd, id, path)
    );
    Err(Failure::refused(what).hint(hint).into())
}

/// Emits one debug record per entry.
fn log(session: &str, records: &[Record]) {
    let mut entries: BTreeMap<&str, Vec<(&str, u64)>> = BTreeMap::new();
    for one in records {
        if let Record::Extract(extract) = one {
            entries.entry(&extract.entry).or_default().push((&extract.key, extract.bytes));
        }
    }
    for (entry, values) in entries {
        record::extracted(session, entry, &values);
    }
}

/// Chooses what to extract from the session's rows in the store.
fn chosen(
    store: &Store,
    session: &Session,
    settings: &ExtractSettings,
    now: Time,
    cost: Cost,
) -> anyhow::Result<Chosen> {
    let folder = store.folder(session);
    let ledger = store.extracted(session)?;
    let mut read = Reading::of(&ledger, settings);
    Reader::open(&folder)?
        .original(&mut read)
        .with_context(|| format!("could not read {}", folder.blocks().display()))?;
    let Reading { entries, live, no_gain, .. } = read;
    let entries = entries.finish();
    let is_placeholder =
        |entry: &Entry, key: &str| live.get(&entry.row).is_some_and(|keys| keys.contains(key));
    let mut plan = plan::plan(&entries, settings, now, &is_placeholder, &no_gain);
    fit(&mut plan);
    drop(entries);
    let redact = !settings.keep_purge_control_calls;
    Ok(Chosen::of_plan(plan.items, settings.fixed.placeholder, redact, cost))
}

/// Keeps only what the new session would contain: not what left the context. A copy is extracted
/// with its text.
pub fn fit(plan: &mut Plan) {
    let mut away = 0;
    plan.items.retain(|item| {
        let copy = is_copy(&item.key);
        away += u64::from(!copy && !item.sent);
        !copy && item.sent
    });
    if away > 0 {
        *plan.stay.entry(Stays::Away).or_default() += away;
    }
}

/// The records of a ledger, by the id of the row that has the placeholder.
fn known(ledger: &Ledger) -> BTreeMap<&str, Vec<&Extract>> {
    let mut known: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for extract in ledger.records.iter().filter_map(Record::extract) {
        known.entry(extract.row()).or_default().push(&**extract);
    }
    known
}

/// A stand-in with the length of a new session's id.
const SESSION: &str = "00000000-0000-0000-0000-000000000000";

/// Feeds a transcript to the rules, row by row.
struct Reading<'s> {
    ledger: &'s Ledger,
    gain: Gain<'s>,
    entries: Entries,
    rows: u64,
    pieces: RowSplitter,
    /// What was extracted so far, by row id.
    known: BTreeMap<&'s str, Vec<&'s Extract>>,
    /// The keys that are placeholders, by row number.
    live: HashMap<u64, HashSet<String>>,
    no_gain: NoGain,
}

impl<'s> Reading<'s> {
    fn of(ledger: &'s Ledger, settings: &ExtractSettings) -> Self {
        let gain = Gain::new(SESSION, false, settings);
        let entries = if settings.fixed.dedupe {
            Entries::comparing(gain.shortest().max(COMPARED))
        } else {
            Entries::default()
        };
        Self {
            ledger,
            gain,
            entries,
            rows: 0,
            pieces: RowSplitter::default(),
            known: known(ledger),
            live: HashMap::new(),
            no_gain: NoGain::new(),
        }
    }

    fn line(&mut self, row: &[u8]) {
        let before = self.entries.found.len();
        self.entries.row(self.rows, row);
        for entry in &mut self.entries.found[before..] {
            extractable_flag::apply_ledger(self.ledger, entry);
            for extract in self.known.get(entry.id.as_str()).into_iter().flatten() {
                let json = edit::locate(row, &extract.key).map(|at| at.slice(row));
                if json.is_some_and(|json| Some(Record::digest(json)) == extract.placeholder) {
                    self.live.entry(self.rows).or_default().insert(extract.key.to_string());
                }
            }
            self.gain.none(entry, row, &mut self.no_gain);
        }
        self.rows += 1;
    }
}

impl Write for Reading<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.of(bytes, |row| self.line(row));
        self.pieces = pieces;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
