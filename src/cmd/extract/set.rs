//! `extract set-extractable`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;

use anyhow::bail;
use serde::Serialize;
use serde_json::Value;

use super::extractable_flag::{parse, shown};
use super::read::{self, Read};
use super::restore::listed;
use super::source::{self, Kind, Source};
use super::told;
use crate::cmd::inscribe;
use base::clock::Time;
use base::env::Env;
use extract::edit;
use extract::entry::Extractable;
use store::extracted::{Record, Set};

/// The field of an entry that says it.
const FIELD: &str = "_extractable";

/// What is said of an entry now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The entry.
    pub entry_id: String,
    /// true, false, a number of messages, or null.
    pub extractable: Value,
    /// The ledger says it, for the session could not be written: why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_ledger: Option<String>,
}

/// Says of an entry whether it may be extracted; `None` takes back what was said. A session that
/// lives, or is never written, keeps its row: then the ledger says it, and every plan goes by
/// that.
///
/// # Errors
/// An entry that is not there; a store that can't be written.
pub fn set(
    env: &Env,
    now: Time,
    session: &str,
    entry: &str,
    value: Option<Extractable>,
) -> anyhow::Result<Answer> {
    let source = source::find(env, &inscribe::root(env)?, Some(session), false)?;
    set_in(&source, now, entry, value)
}

/// What was said of an entry, and what follows from it.
#[derive(Debug, Serialize)]
pub struct Said {
    #[serde(flatten)]
    answer: Answer,
    #[serde(skip)]
    follows: String,
}

impl Said {
    /// Says it.
    ///
    /// # Errors
    /// What keeps it from being done.
    pub fn run(
        env: &Env,
        now: Time,
        session: &str,
        entry: &str,
        value: &str,
        offline: bool,
    ) -> anyhow::Result<Self> {
        let value = parse(value)?;
        let source = source::find(env, &inscribe::root(env)?, Some(session), offline)?;
        let answer = set_in(&source, now, entry, value)?;
        let id = &answer.entry_id;
        let follows = match value {
            None => format!("nothing is said of {id} any more: the settings hold"),
            Some(Extractable::Always) if goes(env, &source, now, id)? => {
                format!("{id} is extracted at the next run")
            }
            Some(Extractable::Always) => format!(
                "{id} may be extracted whatever its length and place, but nothing in it can be now: it is extracted already, would not get shorter, or is not to be touched"
            ),
            Some(Extractable::Never) => format!("{id} is never extracted"),
            Some(Extractable::After(n)) => {
                format!("{id} stays until {} are behind it", inscribe::count(n as usize, "message"))
            }
        };
        Ok(Self { answer, follows })
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.follows)?;
        self.answer.in_ledger.as_ref().map_or(Ok(()), |why| {
            write!(f, "\nkept in the store's ledger, for the session was not written: {why}")
        })
    }
}

/// Whether something of an entry goes at the next run.
///
/// # Errors
/// A session that can't be read.
fn goes(env: &Env, source: &Source, now: Time, id: &str) -> anyhow::Result<bool> {
    let planned = super::run::planned(source, &source::settings(env), now)?;
    Ok(planned.plan.items.iter().any(|item| item.entry == id))
}

/// The entry that is meant, by its id, by what its placeholder calls it, or by how one begins.
///
/// # Errors
/// None, or several.
fn named(source: &Source, read: &Read, asked: &str) -> anyhow::Result<String> {
    let mut ids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for entry in read.entries.iter().filter(|known| known.id.starts_with(asked)) {
        ids.entry(&entry.id).or_default().insert(&entry.id);
    }
    // In a session that was made of another one placeholders call entries by their older ids.
    for live in read.live.iter().filter(|live| live.entry.starts_with(asked)) {
        let row = read.entry(live.row).map(|entry| entry.id.as_str());
        ids.entry(&*live.entry).or_default().extend(row);
    }
    let rows = match ids.get(asked) {
        Some(rows) => rows.clone(),
        None if asked.is_empty() => BTreeSet::new(),
        None => ids.values().flatten().copied().collect(),
    };
    match rows.into_iter().collect::<Vec<_>>().as_slice() {
        [id] => Ok((*id).to_owned()),
        [] if asked.is_empty() => bail!(
            "the entry's name is empty; `extract plan SESSION --json` lists entries of {} that can be extracted, `extract context SESSION` those that are",
            source.place().display()
        ),
        [] if ids.contains_key(asked) => bail!(
            "{asked} is not a row of {} any more: what it held went whole; `extract restore` prints it",
            source.place().display()
        ),
        [] => bail!(
            "there is no entry {asked} in {}; `extract plan SESSION --json` lists entries that can be extracted, `extract context SESSION` those that are",
            source.place().display()
        ),
        several => bail!(
            "several entries of {} begin with `{asked}`; write more of it: {}",
            source.place().display(),
            listed(several)
        ),
    }
}

/// Sets it in a session's file, or beside it; what holds already is left alone.
fn set_in(
    source: &Source,
    now: Time,
    entry: &str,
    value: Option<Extractable>,
) -> anyhow::Result<Answer> {
    let read = read::session(source)?;
    let id = named(source, &read, entry)?;
    let mut answer = Answer { entry_id: id.clone(), extractable: shown(value), in_ledger: None };
    let of_entry = || read.entries.iter().filter(|known| known.id == id);
    if of_entry().all(|known| known.extractable == value && !known.unclear) {
        return Ok(answer);
    }
    let record = |in_row| {
        let (entry, value) = (id.as_str().into(), answer.extractable.clone());
        let file = source.place().into();
        Record::Set(Box::new(Set { entry, value, at: now, file, in_row }))
    };
    // What the ledger says goes before the row: it must never say the older.
    let beside = read.ledger.said(&id).is_some();
    if beside {
        source.extracted.add(&[record(false)])?;
    }
    let rows: BTreeSet<u64> = of_entry().map(|known| known.row).collect();
    match in_rows(source, &read, &rows, value) {
        Ok(()) if beside => source.extracted.add(&[record(true)])?,
        Ok(()) => {}
        Err(why) => {
            if !beside {
                source.extracted.add(&[record(false)])?;
            }
            answer.in_ledger = Some(why.to_string());
        }
    }
    Ok(answer)
}

/// Writes it into the rows.
///
/// # Errors
/// Why they are not written: the session is as it was.
fn in_rows(
    source: &Source,
    read: &Read,
    rows: &BTreeSet<u64>,
    value: Option<Extractable>,
) -> anyhow::Result<()> {
    if source.kind == Kind::Claude {
        bail!("{} is Claude Code's, which is never changed", source.path.display());
    }
    let json = value.map(|_| shown(value).to_string());
    let edited = source.file.edit(read.stamp, &mut |row, line| {
        if !rows.contains(&row) {
            return Ok(None);
        }
        let new = edit::with_field(line, FIELD, json.as_deref().map(str::as_bytes));
        let left = || io::Error::other(format!("line {} is not valid JSON: left alone", row + 1));
        let new = new.filter(|_| edit::sound(line)).ok_or_else(left)?;
        Ok((new != line).then_some(new))
    });
    told(edited?.left);
    Ok(())
}
