//! `extract set-extractable`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;

use anyhow::bail;
use serde::Serialize;
use serde_json::Value;

use super::extractable_flag::{parse, to_json};
use super::read::{self, Read};
use super::report_left_rows;
use super::restore::listed;
use super::source::{self, Kind, Source};
use crate::cmd::import;
use base::clock::Time;
use base::env::Env;
use extract::edit;
use extract::entry::Extractable;
use extract::placeholder::Names;
use store::extracted::{Record, Set};

/// The row's field with the flag.
const FIELD: &str = "_extractable";

/// The flag of an entry after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The entry.
    pub entry_id: String,
    /// true, false, a number of messages, or null.
    pub extractable: Value,
    /// Why the ledger has the flag: the session could not be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_ledger: Option<String>,
}

/// Sets whether an entry may be extracted; `None` removes the flag. If the session cannot be
/// written, the ledger gets the flag, and every plan obeys it.
///
/// # Errors
/// An unknown entry, or an unwritable store.
pub fn set(
    env: &Env,
    now: Time,
    session: &str,
    entry: &str,
    value: Option<Extractable>,
) -> anyhow::Result<Answer> {
    let source = source::find(env, &import::root(env)?, Some(session))?;
    set_in(&source, now, entry, value)
}

/// The new flag and its effect.
#[derive(Debug, Serialize)]
pub struct Said {
    #[serde(flatten)]
    answer: Answer,
    #[serde(skip)]
    follows: String,
}

impl Said {
    /// Sets the flag.
    ///
    /// # Errors
    /// As [`set`], and an invalid value.
    pub fn run(
        env: &Env,
        now: Time,
        session: &str,
        entry: &str,
        value: &str,
    ) -> anyhow::Result<Self> {
        let value = parse(value)?;
        let source = source::find(env, &import::root(env)?, Some(session))?;
        let answer = set_in(&source, now, entry, value)?;
        let id = &answer.entry_id;
        let follows = match value {
            None => format!("{id} has no flag any more; the settings decide"),
            Some(Extractable::Always) if is_extracted_next(env, &source, now, id)? => {
                format!("{id} is extracted at the next run")
            }
            Some(Extractable::Always) => format!(
                "{id} may be extracted at any length and place, but nothing in it can be now: it is already extracted, would not get shorter, or must not be changed"
            ),
            Some(Extractable::Never | Extractable::After(_)) if is_extracted(&source, id)? => {
                let in_pi = if source.kind == Kind::Jsonl && value == Some(Extractable::Never) {
                    ". A running pi does that when its turn ends"
                } else {
                    ""
                };
                format!(
                    "{id} is extracted already; this counts once it is put back in its place{in_pi}"
                )
            }
            Some(Extractable::Never) => format!("{id} is never extracted"),
            Some(Extractable::After(n)) => {
                format!("{id} stays until {} follow it", import::count(n as usize, "message"))
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

/// Whether something of the entry is extracted.
///
/// # Errors
/// A session that cannot be read.
fn is_extracted(source: &Source, id: &str) -> anyhow::Result<bool> {
    Ok(read::session(source)?.live.iter().any(|live| &*live.entry == id))
}

/// Whether the next run extracts something from the entry.
///
/// # Errors
/// A session that cannot be read.
fn is_extracted_next(env: &Env, source: &Source, now: Time, id: &str) -> anyhow::Result<bool> {
    let planned = super::run::plan_session(source, &source::settings(env), now)?;
    Ok(planned.plan.items.iter().any(|item| item.entry == id))
}

/// Finds an entry by its id, its placeholder's id, or a prefix of either.
///
/// # Errors
/// No match, or several.
fn find_entry_id(source: &Source, read: &Read, asked: &str) -> anyhow::Result<String> {
    let mut ids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for entry in read.entries.iter().filter(|known| known.id.starts_with(asked)) {
        ids.entry(&entry.id).or_default().insert(&entry.id);
    }
    // A session made from another one has placeholders with the older ids.
    for live in read.live.iter().filter(|live| live.entry.starts_with(asked)) {
        let row = read.entry(live.row).map(|entry| entry.id.as_str());
        ids.entry(&*live.entry).or_default().extend(row);
    }
    let names: Names = read.ledger.entries().collect();
    let asked = names.owner(asked).filter(|owner| ids.contains_key(owner)).unwrap_or(asked);
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
            "{asked} is no longer a row of {}: all of its content was extracted; `extract restore` prints it",
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

/// Sets the flag in the session or the ledger; does nothing if it is already set.
fn set_in(
    source: &Source,
    now: Time,
    entry: &str,
    value: Option<Extractable>,
) -> anyhow::Result<Answer> {
    let read = read::session(source)?;
    let id = find_entry_id(source, &read, entry)?;
    let mut answer = Answer { entry_id: id.clone(), extractable: to_json(value), in_ledger: None };
    let of_entry = || read.entries.iter().filter(|known| known.id == id);
    if of_entry().all(|known| known.extractable == value && !known.unclear) {
        return Ok(answer);
    }
    let record = |in_row| {
        let (entry, value) = (id.as_str().into(), answer.extractable.clone());
        let file = source.place().into();
        Record::Set(Box::new(Set { entry, value, at: now, file, in_row }))
    };
    if source.kind == Kind::Database {
        source.extracted.add(&[record(false)])?;
        return Ok(answer);
    }
    // The ledger overrides the row, so it must never have an older value.
    let beside = read.ledger.extractable_flag(&id).is_some();
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

/// Writes the flag into the rows.
///
/// # Errors
/// Why they are not written: the session is unchanged.
fn in_rows(
    source: &Source,
    read: &Read,
    rows: &BTreeSet<u64>,
    value: Option<Extractable>,
) -> anyhow::Result<()> {
    if source.kind == Kind::Claude {
        bail!("{} is Claude Code's, which is never changed", source.path.display());
    }
    let json = value.map(|_| to_json(value).to_string());
    let edited = source.file.edit(read.stamp, &mut |row, line| {
        if !rows.contains(&row) {
            return Ok(None);
        }
        let new = edit::with_field(line, FIELD, json.as_deref().map(str::as_bytes));
        let left = || io::Error::other(format!("line {} is not valid JSON: left alone", row + 1));
        let new = new.filter(|_| edit::sound(line)).ok_or_else(left)?;
        Ok((new != line).then_some(new))
    });
    report_left_rows(edited?.left);
    Ok(())
}
