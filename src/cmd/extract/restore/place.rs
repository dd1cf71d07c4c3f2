//! Restores values into the session file.

use std::cell::Cell;
use std::{io, iter};

use super::choose::{Choice, Left};
use super::{answered, choose, content, log, noted, previous, sound};
use crate::cmd::err;
use crate::cmd::extract::placeholder_lookup::Live;
use crate::cmd::extract::read::{self, Read};
use crate::cmd::extract::redact::Asked;
use crate::cmd::extract::report_left_rows;
use crate::cmd::extract::source::Source;
use base::clock::Time;
use extract::edit;
use extract::restore::{self, Answer};
use sessions::files::Refused;
use sessions::settings::ExtractSettings;

/// An entry with restored values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The answer as the seed defines it.
    pub answer: Answer,
    /// Whether the call that requested it was redacted.
    pub redacted: bool,
}

/// Restores an entry, or all, into the session file. Unless `unmarked`, entries get a time mark,
/// and the settings decide whether restore calls are redacted. Also returns the values that cannot
/// be restored.
///
/// # Errors
/// An unknown entry or key, damaged or missing content (for `all`: all of it), or a [`Refused`] to
/// downcast to. Nothing is changed then.
pub fn in_place(
    source: &Source,
    settings: &ExtractSettings,
    now: Time,
    entry: &str,
    keys: &[String],
    unmarked: bool,
) -> anyhow::Result<(Vec<Placed>, Vec<Left>)> {
    report_left_rows(source.file.settle()?);
    let _held = source.extracted.hold()?;
    let mut read = read::session(source)?;
    read.doubt.tell();
    // `gc` looks at every file that a ledger names.
    read::adopt_records(source, &read);
    let mut choice = choose::choose(source, &read, entry, keys)?;
    // For `all`, the others are restored, and calls for failed entries must stay.
    if entry == choose::ALL {
        sound(source, &mut choice)?;
    }
    let Choice { live: chosen, left, .. } = choice;
    let asked = if unmarked {
        Asked::default()
    } else {
        let of = chosen.iter().map(|live| &*live.entry);
        let of = of.filter(|_| !settings.keep_purge_control_calls);
        Asked::of(&read.ledger, settings).and(of)
    };
    let of_entries = || chosen.chunk_by(|a, b| a.entry == b.entry);
    // The choice is made, so free the memory for the edit.
    let before: Vec<_> = of_entries().map(|live| previous(&read, live)).collect();
    (read.entries, read.live) = (Vec::new(), Vec::new());
    let is_redacted = |live: &[Live]| live.first().is_some_and(|live| asked.redacted(&live.entry));
    let mut by_row: Vec<&Live> = chosen.iter().collect();
    by_row.sort_by_key(|live| live.row);
    let work = Work { source, read: &read, by_row, asked: &asked, moved: Cell::new(false) };
    let at = (!unmarked).then_some(now);
    let edited = source.file.edit(read.stamp, &mut |row, line| work.row(row, line, at));
    match edited {
        Err(Refused::Io(_)) if work.moved.get() => {
            return Err(Refused::Changed(source.path.display().to_string()).into());
        }
        other => report_left_rows(other?.left),
    }
    // Record only what was done. If the process is killed before, the marks in the rows say the
    // same; without marks, only the restore count is lost.
    let mut records = of_entries().map(|live| noted(live, now, is_redacted(live)));
    if let Err(e) = source.extracted.add_all(&mut iter::empty(), &mut records) {
        err(format_args!("it is restored; that could not be noted in the store: {e}"));
    }
    let mut placed = Vec::new();
    for (live, before) in of_entries().zip(before) {
        let redacted = is_redacted(live);
        log(source, live, redacted);
        placed.push(Placed { answer: answered(live, before), redacted });
    }
    Ok((placed, left))
}

struct Work<'a> {
    source: &'a Source,
    read: &'a Read,
    /// Sorted by row.
    by_row: Vec<&'a Live>,
    asked: &'a Asked,
    moved: Cell<bool>,
}

impl Work<'_> {
    fn row(&self, row: u64, line: &[u8], at: Option<Time>) -> io::Result<Option<Vec<u8>>> {
        let mut new = None;
        let mut values = Vec::new();
        let from = self.by_row.partition_point(|live| live.row < row);
        for live in self.by_row[from..].iter().take_while(|live| live.row == row) {
            let there = edit::locate(line, &live.key).map(|span| span.slice(line));
            let ours = |json| self.read.ledger.placeholder(&live.entry, &live.key, json);
            if there.and_then(ours).is_none() {
                return Err(self.is_moved());
            }
            let content =
                content(self.source, live).map_err(|e| io::Error::other(format!("{e:#}")))?;
            values.push((live.key.to_string(), content));
        }
        if !values.is_empty() {
            new = Some(restore::row(line, &values, at).map_err(|_| self.is_moved())?);
        }
        let current = new.as_deref().unwrap_or(line);
        Ok(self.asked.row(row, current).or(new))
    }

    fn is_moved(&self) -> io::Error {
        self.moved.set(true);
        io::Error::other("it changed after it was read")
    }
}
