//! `extract restore`.

mod choose;
mod place;
mod stream;

use std::io;

use anyhow::{Context as _, anyhow};
use serde::Serialize;

use super::placeholder_lookup::Live;
use super::read::{self, Read};
use super::record;
use super::source::{self, Source};
use super::{preview, view};
use crate::cmd::import::count;
use crate::cmd::{Exit, err, import, out, out_json, out_unchanged};
use base::clock::Time;
use base::env::Env;
use base::lock::Lock;
use extract::lines::Lines;
use extract::restore::Answer;
use store::extracted::Record;

pub use choose::listed;
use choose::{Choice, Left};
pub use place::{Placed, in_place};

/// The most entries or failed values to print one by one; the rest is counted.
const SHOWN: usize = 20;

/// Restored values of an entry, to output at the end of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The answer as the seed defines it.
    pub answer: Answer,
    /// The texts by key: strings without quotes, other JSON as it is.
    pub texts: Vec<(String, String)>,
}

/// Restores an entry as output. The session stays unchanged, and the ledger records the restore.
///
/// # Errors
/// As [`run`], and `all` as the entry.
pub fn as_output(
    env: &Env,
    now: Time,
    session: &str,
    entry: &str,
    keys: &[String],
    lines: Option<Lines>,
) -> anyhow::Result<Restored> {
    anyhow::ensure!(entry != choose::ALL, "name one entry: each is restored by its own call");
    let source = source::find(env, &import::root(env)?, Some(session))?;
    let chosen = Chosen::of(&source, now, entry, keys, lines)?;
    let mut texts = Vec::new();
    for live in &chosen.live {
        texts.push((live.key.to_string(), text(&source, live, lines)?));
    }
    Ok(Restored { answer: answer(&chosen.read, &chosen.live), texts })
}

/// Options of a restore.
#[derive(Debug, Clone, Copy, Default)]
pub struct How {
    /// The number, from 1, of the content to use if several match.
    pub from: Option<usize>,
    /// Only these lines of each text.
    pub lines: Option<Lines>,
    /// Write into the session file.
    pub in_place: bool,
    /// Do not mark the entry as restored.
    pub unmarked: bool,
    /// Output JSON.
    pub json: bool,
}

/// Restores an entry, or all.
///
/// # Errors
/// An unknown entry or key, damaged content, or an unwritable file: nothing is changed then. For
/// `all`, the good values are restored, the others reported, and the result is [`Exit::Refused`].
pub fn run(
    env: &Env,
    now: Time,
    session: &str,
    entry: &str,
    keys: &[String],
    how: How,
) -> anyhow::Result<Exit> {
    let mut source = source::find(env, &import::root(env)?, Some(session))?;
    source.meant = how.from;
    if how.in_place {
        let settings = source::settings(env);
        let (placed, left) = in_place(&source, &settings, now, entry, keys, how.unmarked)?;
        tell_placed(&source, &placed, &left, entry == choose::ALL, how.json)?;
        return Ok(tell_left(&left));
    }
    let chosen = Chosen::of(&source, now, entry, keys, how.lines)?;
    if how.json {
        let many = entry == choose::ALL;
        out_json(&stream::Told { source: &source, chosen: &chosen, many })?;
    } else {
        tell(&source, &chosen)?;
    }
    Ok(tell_left(&chosen.left))
}

/// Reports the values that `all` could not restore, and returns the exit.
fn tell_left(left: &[Left]) -> Exit {
    if left.is_empty() {
        return Exit::Done;
    }
    for Left { why, .. } in left.iter().take(SHOWN) {
        err(format_args!("{why:#}"));
    }
    let more = left.len().saturating_sub(SHOWN);
    if more > 0 {
        err(format_args!("and {} more; --json has all", count(more, "value")));
    }
    Exit::Refused
}

/// A value that was not restored, as JSON.
#[derive(Serialize)]
struct NotRestored<'a> {
    restored: bool,
    entry_id: &'a str,
    key: &'a str,
    why: String,
}

impl<'a> NotRestored<'a> {
    fn of(left: &'a Left) -> Self {
        let why = format!("{:#}", left.why);
        Self { restored: false, entry_id: &left.entry, key: &left.key, why }
    }
}

/// A value that was, or was not, restored in place, as JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum InPlace<'a> {
    Placed {
        #[serde(flatten)]
        answer: &'a Answer,
        redacted: bool,
    },
    Left(NotRestored<'a>),
}

/// Values to restore as output; the ledger already records the restore.
struct Chosen {
    read: Read,
    /// Values of an entry are adjacent.
    live: Vec<Live>,
    /// Only these lines of each text.
    lines: Option<Lines>,
    /// Values that cannot be restored.
    left: Vec<Left>,
    /// Keeps the content from being removed meanwhile.
    _held: Option<Lock>,
}

impl Chosen {
    fn of(
        source: &Source,
        now: Time,
        entry: &str,
        keys: &[String],
        lines: Option<Lines>,
    ) -> anyhow::Result<Self> {
        let held = allow_unwritable(source.extracted.hold())?;
        let read = read::session(source)?;
        read.doubt.tell();
        let mut choice = choose::choose(source, &read, entry, keys)?;
        // Check for damage before printing anything; the content is too large to keep in memory.
        sound(source, &mut choice)?;
        if let Some(lines) = lines {
            choice.live = with_lines(source, choice.live, lines)?;
        }
        let Choice { live, left, .. } = choice;
        let chosen = Self { read, live, lines, left, _held: held };
        let records: Vec<_> = chosen.entries().map(|live| noted(live, now, false)).collect();
        allow_unwritable(source.extracted.add(&records))?;
        read::adopt_records(source, &chosen.read);
        for live in chosen.entries() {
            log(source, live, false);
        }
        Ok(chosen)
    }

    fn entries(&self) -> impl Iterator<Item = &[Live]> {
        self.live.chunk_by(|a, b| a.entry == b.entry)
    }
}

/// Ignores a store that cannot be written, as in a sandbox: the content can still be read.
fn allow_unwritable<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::PermissionDenied
                    | io::ErrorKind::ReadOnlyFilesystem
                    // A sweep holds the store; each read is verified anyway.
                    | io::ErrorKind::WouldBlock
            ) =>
        {
            err(format_args!("not noted in the store: {e}"));
            Ok(None)
        }
        other => other.map(Some),
    }
}

/// Reads and verifies the content.
fn content(source: &Source, live: &Live) -> anyhow::Result<Vec<u8>> {
    let what = || format!("{} of {} can't be restored", live.key, live.entry);
    source.extracted.get(&live.object).with_context(what)
}

/// Drops values whose content is damaged.
fn sound(source: &Source, choice: &mut Choice) -> anyhow::Result<()> {
    choice.keep(|live| content(source, &live).map(|_| live))
}

/// The values that have these lines.
///
/// # Errors
/// None of them has.
fn with_lines(source: &Source, live: Vec<Live>, lines: Lines) -> anyhow::Result<Vec<Live>> {
    let mut why = None;
    let mut has = |live: &Live| text(source, live, Some(lines)).map_err(|e| why = Some(e)).is_ok();
    let found: Vec<Live> = live.into_iter().filter(|live| has(live)).collect();
    match why.filter(|_| found.is_empty()) {
        Some(why) => Err(why),
        None => Ok(found),
    }
}

/// A string without its quotes, other JSON as it is.
fn text(source: &Source, live: &Live, lines: Option<Lines>) -> anyhow::Result<String> {
    let text = preview::text(&content(source, live)?);
    let Some(lines) = lines else { return Ok(text) };
    let has = |lines| anyhow!("{} of {} has {}", live.key, live.entry, count(lines, "line"));
    lines.of(&text).map_err(has)
}

fn noted(of_entry: &[Live], at: Time, redacted: bool) -> Record {
    let entry = of_entry.first().map_or_else(|| "".into(), |live| live.entry.clone());
    let keys = of_entry.iter().map(|live| live.key.clone()).collect();
    Record::Restore { entry, keys, at, redacted }
}

fn log(source: &Source, of_entry: &[Live], redacted: bool) {
    let values: Vec<(&str, u64)> = of_entry.iter().map(|live| (&*live.key, live.bytes)).collect();
    if let Some(first) = of_entry.first() {
        record::restored(&source.name(), &first.entry, &values, redacted);
    }
}

/// The answer for restored values.
fn answer(read: &Read, of_entry: &[Live]) -> Answer {
    answered(of_entry, previous(read, of_entry))
}

/// When the entry was last restored.
fn previous(read: &Read, of_entry: &[Live]) -> Option<Time> {
    let marked = of_entry.iter().filter_map(|live| read.entry(live.row)?.restored).max();
    marked.max(read.ledger.last_restored(&of_entry.first()?.entry))
}

fn answered(of_entry: &[Live], previous: Option<Time>) -> Answer {
    let entry = of_entry.first().map(|live| &*live.entry).unwrap_or_default();
    let keys = of_entry.iter().map(|live| live.key.to_string()).collect();
    Answer::new(entry, keys, previous)
}

/// Prints the texts; with headings, unless there is only one.
fn tell(source: &Source, chosen: &Chosen) -> anyhow::Result<()> {
    let alone = chosen.live.len() == 1 && chosen.left.is_empty();
    let of_one = chosen.entries().count() == 1;
    for of_entry in chosen.entries() {
        for live in of_entry {
            let text = text(source, live, chosen.lines)?;
            if alone {
                out_unchanged(&text);
            } else {
                out(format_args!("## {} {}\n\n{text}\n", live.entry, live.key));
            }
        }
        // Advice about one entry; whoever prints everything wants a copy.
        if of_one {
            suggest(&answer(&chosen.read, of_entry));
        }
    }
    Ok(())
}

/// Prints the suggestion, which is not part of the requested output.
fn suggest(answer: &Answer) {
    if let Some(suggestion) = &answer.suggestion {
        err(format_args!("{}: {suggestion}", answer.entry_id));
    }
}

fn tell_placed(
    source: &Source,
    all: &[Placed],
    left: &[Left],
    many: bool,
    json: bool,
) -> anyhow::Result<()> {
    if json {
        let placed = all
            .iter()
            .map(|placed| InPlace::Placed { answer: &placed.answer, redacted: placed.redacted });
        let left = left.iter().map(|left| InPlace::Left(NotRestored::of(left)));
        let told: Vec<InPlace> = placed.chain(left).collect();
        // One entry is an object, `all` a list.
        return match told.as_slice() {
            [only] if !many => out_json(only),
            all => out_json(&all),
        };
    }
    let (shown, rest) = all.split_at(all.len().min(SHOWN));
    for Placed { answer, redacted } in shown {
        let redacted = if *redacted { "; the call that asked is redacted" } else { "" };
        out(format_args!(
            "restored {} of {} in {}{redacted}",
            answer.keys_restored.join(", "),
            answer.entry_id,
            source.place().display()
        ));
        suggest(answer);
    }
    if !rest.is_empty() {
        let values = rest.iter().map(|placed| placed.answer.keys_restored.len()).sum();
        let entries = view::of_entries(rest.len());
        out(format_args!("and {} of {entries} more; --json has all", count(values, "value")));
    }
    Ok(())
}
