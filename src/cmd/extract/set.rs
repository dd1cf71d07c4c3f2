//! `extract set-extractable`.

use std::collections::BTreeSet;
use std::io;

use anyhow::{Context as _, bail, ensure};
use serde::Serialize;
use serde_json::Value;

use super::read;
use super::source::{self, Kind, Source};
use crate::cmd::{Exit, inscribe, out, out_json};
use crate::env::Env;
use crate::extract::edit;
use crate::extract::entry::Extractable;

/// The field of an entry that says it.
const FIELD: &str = "_extractable";

/// What an entry says of itself now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The entry.
    pub entry_id: String,
    /// true, false, a number of messages, or null.
    pub extractable: Value,
}

/// Says of an entry whether it may be extracted; `None` takes back what was said.
///
/// # Errors
/// An entry that is not there; a file that can't be written.
pub fn set(
    env: &Env,
    session: &str,
    entry: &str,
    value: Option<Extractable>,
) -> anyhow::Result<Answer> {
    let source = source::find(env, &inscribe::root(env)?, session, false)?;
    set_in(&source, entry, value)
}

/// Runs the verb.
///
/// # Errors
/// What keeps it from being done.
pub fn run(
    env: &Env,
    session: &str,
    entry: &str,
    value: &str,
    offline: bool,
    json: bool,
) -> anyhow::Result<Exit> {
    let value = parse(value)?;
    let source = source::find(env, &inscribe::root(env)?, session, offline)?;
    let answer = set_in(&source, entry, value)?;
    if json {
        out_json(&answer)?;
        return Ok(Exit::Done);
    }
    let id = &answer.entry_id;
    out(match value {
        None => format!("{id} says nothing of itself any more: the settings hold"),
        Some(Extractable::Always) => format!("{id} is extracted at the next run"),
        Some(Extractable::Never) => format!("{id} is never extracted"),
        Some(Extractable::After(n)) => {
            format!("{id} stays until {} are behind it", inscribe::count(n as usize, "message"))
        }
    });
    Ok(Exit::Done)
}

/// `true`, `false`, a number of messages, or `none`.
///
/// # Errors
/// Anything else.
pub fn parse(value: &str) -> anyhow::Result<Option<Extractable>> {
    Ok(match value {
        "true" => Some(Extractable::Always),
        "false" => Some(Extractable::Never),
        "none" | "null" => None,
        number => Some(Extractable::After(number.parse().ok().with_context(|| {
            format!("`{value}` is neither true, false, none nor a number of messages")
        })?)),
    })
}

fn shown(value: Option<Extractable>) -> Value {
    match value {
        None => Value::Null,
        Some(Extractable::Always) => true.into(),
        Some(Extractable::Never) => false.into(),
        Some(Extractable::After(messages)) => messages.into(),
    }
}

/// Sets it in a session's file; one that says so already is left alone.
fn set_in(source: &Source, entry: &str, value: Option<Extractable>) -> anyhow::Result<Answer> {
    ensure!(
        source.kind != Kind::Claude,
        "{}: a session of Claude Code is never changed; extract.protect in your settings keeps what a tool gave, --keep-recent more messages",
        source.path.display()
    );
    let read = read::session(source)?;
    let begin: BTreeSet<&str> = read
        .entries
        .iter()
        .map(|known| known.id.as_str())
        .filter(|id| id.starts_with(entry) && !entry.is_empty())
        .collect();
    let id = match begin.iter().copied().collect::<Vec<_>>().as_slice() {
        _ if begin.contains(entry) => entry,
        [id] => *id,
        [] => bail!("there is no entry {entry} in {}", source.place().display()),
        several => bail!("several entries begin with `{entry}`: {}", several.join(", ")),
    };
    let rows: BTreeSet<u64> = read
        .entries
        .iter()
        .filter(|known| known.id == id && known.extractable != value)
        .map(|known| known.row)
        .collect();
    let answer = Answer { entry_id: id.to_owned(), extractable: shown(value) };
    if rows.is_empty() {
        return Ok(answer);
    }
    let json = value.map(|_| answer.extractable.to_string());
    source.file.edit(read.stamp, &mut || Ok(()), &mut |row, line| {
        if !rows.contains(&row) {
            return Ok(None);
        }
        let new = edit::with_field(line, FIELD, json.as_deref().map(str::as_bytes));
        new.map(Some).ok_or_else(|| io::Error::other(format!("row {} is no object", row + 1)))
    })?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_said_of_an_entry() {
        assert_eq!(parse("true").unwrap(), Some(Extractable::Always));
        assert_eq!(parse("false").unwrap(), Some(Extractable::Never));
        assert_eq!(parse("12").unwrap(), Some(Extractable::After(12)));
        assert_eq!(parse("none").unwrap(), None);
        for wrong in ["", "-1", "yes", "1.5"] {
            assert!(parse(wrong).unwrap_err().to_string().contains("neither true"), "{wrong}");
        }
    }
}
