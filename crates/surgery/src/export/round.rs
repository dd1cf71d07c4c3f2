//! Writes a round into the new session: selects and orders its rows, and removes calls and results
//! without a counterpart.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use memchr::memmem;

use super::claude;
use super::form::Link;
use super::out::Out;
use super::pairs::Pairs;
use super::{Companion, Exporter};
use crate::fidelity::Lens;
use crate::ids::{self, Fresh, Key};
use crate::plan::Place;
use crate::table;
use crate::validate;
use sessions::dialect::{Block, BlockKind, Claude, Dialect as _, Kind, Row, Scratch};
use sessions::rows::Rows;

/// A row to write.
struct Entry<'a> {
    /// The row as it will be written, except for the fields of a link.
    line: Cow<'a, [u8]>,
    /// Its original head; `content` is a span of `line`.
    row: Row<'a>,
    fresh: Fresh,
    /// The key of its API message.
    message: Option<Key>,
    /// Where the exporter has its fields and blocks.
    fields: Range<usize>,
    blocks: Range<usize>,
    /// Whether the plan's fidelity removed part of it.
    less: bool,
    gone: bool,
}

impl Exporter<'_> {
    /// Appends a round; `rows` are those of the store.
    pub(super) fn round(&mut self, place: Place, rows: &Rows, out: &mut Out) -> io::Result<()> {
        self.fields.clear();
        self.blocks.clear();
        self.changed |= rows.is_edited;
        let mut entries = self.entries(place, rows);
        out.given(self.thinking.drain(..));
        self.pair(place, &mut entries);
        let order = order(&entries);
        self.end_thinking(place, &mut entries, &order);
        if self.changed && self.plan.refuses_thinking().is_some() {
            self.leave_thinking(place, &mut entries);
        }
        self.emit(place, &entries, &order, out)
    }

    /// The rows that go into the new session, at the plan's fidelity.
    fn entries<'a>(&mut self, place: Place, rows: &'a Rows) -> Vec<Entry<'a>> {
        let session = &self.plan.sessions[place.session];
        let mut entries = Vec::with_capacity(rows.ends.len());
        let reference = table::reference(session, place.seq);
        let mut scratch = Scratch::default();
        let kept =
            rows.iter().filter(|line| claude::kept(&Claude.row(line, &mut scratch), session));
        let mut lens = Lens::new(kept, self.plan.fidelity_of(place), reference);
        for (number, line) in rows.iter().enumerate() {
            let row = Claude.row(line, &mut self.scratch);
            if row.kind == Kind::Broken {
                self.report.broken.push((place, number as u32));
                continue;
            }
            let Some(id) = row.id.filter(|_| claude::kept(&row, session)) else {
                self.report.bookkeeping += 1;
                continue;
            };
            if let Some(kind) = claude::once(line, &row).filter(|_| self.plan.sessions.len() > 1)
                && *self.once.entry(kind.to_owned()).or_insert(place.session) != place.session
            {
                self.report.bookkeeping += 1;
                continue;
            }
            // Only the head was parsed; the client would not read the row if the rest is invalid.
            if self.careful && !validate::is_json(line) {
                self.report.broken.push((place, number as u32));
                continue;
            }
            let Some(left) = lens.row(line, &row) else {
                self.changed = true;
                continue;
            };
            self.changed |= matches!(left, Cow::Owned(_));
            if matches!(row.content.map(|at| at.slice(line)), Some(b"\"\"" | b"[]")) {
                self.note(place, format_args!("a row whose message is empty left out"));
                continue;
            }
            let fresh = claude::fresh(&self.sources[place.session], id);
            if !self.written.insert(ids::key(fresh.as_str())) {
                self.note(place, format_args!("a second row with the id {id} left out"));
                continue;
            }
            let found = &mut self.report.companions;
            claude::companions(line, &mut |path| {
                found.insert(Companion { session: place.session, path });
            });
            if row.told {
                self.report.told.insert(place.session);
            }
            let message = row.message.map(ids::key);
            let line = Cow::Borrowed(line);
            let (fields, blocks) = self.noted();
            let less = self.summary || matches!(left, Cow::Owned(_));
            let mut entry = Entry { line, row, fresh, message, fields, blocks, less, gone: false };
            if row.kind == Kind::Assistant {
                self.remember(&entry);
            }
            if let Cow::Owned(line) = left {
                self.replace(&mut entry, line);
            }
            if entry.row.kind == Kind::Assistant {
                self.refuse(place, &mut entry);
            }
            entries.push(entry);
        }
        entries
    }

    /// Stores the fields and blocks of the row parsed last.
    fn noted(&mut self) -> (Range<usize>, Range<usize>) {
        let (fields, blocks) = (self.fields.len(), self.blocks.len());
        self.fields.extend_from_slice(&self.scratch.fields);
        self.blocks.extend_from_slice(self.scratch.blocks());
        (fields..self.fields.len(), blocks..self.blocks.len())
    }

    /// Replaces the line of a row.
    fn replace(&mut self, entry: &mut Entry, line: Vec<u8>) {
        let row = Claude.row(&line, &mut self.scratch);
        (entry.row.kind, entry.row.content) = (row.kind, row.content);
        entry.message = row.message.map(ids::key);
        (entry.fields, entry.blocks) = self.noted();
        entry.line = Cow::Owned(line);
    }

    /// Remembers the original thinking of a row.
    fn remember(&mut self, entry: &Entry) {
        let blocks = &self.blocks[entry.blocks.clone()];
        let thinking = blocks.iter().filter(|b| b.kind == BlockKind::Thinking);
        self.thinking.extend(thinking.map(|b| ids::digest(b.span.slice(&entry.line))));
    }

    /// Removes blocks that the API refuses.
    fn refuse(&mut self, place: Place, entry: &mut Entry) {
        let blocks = &self.blocks[entry.blocks.clone()];
        let taken = |block: &Block| claude::taken(block.span.slice(&entry.line));
        let refused: Vec<usize> = (0..blocks.len()).filter(|item| !taken(&blocks[*item])).collect();
        if !refused.is_empty() {
            let count = refused.len();
            self.note(place, format_args!("{count} blocks that the API does not take left out"));
            self.take(entry, &refused);
        }
    }

    /// Removes calls without a result before the next message, and results without a call. A call
    /// whose id is already in the new session gets a fresh one.
    fn pair(&mut self, place: Place, entries: &mut [Entry]) {
        let mut pairs = Pairs::default();
        for (at, entry) in entries.iter().enumerate().filter(|(_, e)| !e.gone) {
            if entry.row.kind == Kind::Assistant {
                pairs.message(entry.message);
            }
            let blocks = &self.blocks[entry.blocks.clone()];
            claude::calls(&entry.line, &entry.row, blocks, &mut |call| {
                let key = ids::key(call.id);
                pairs.call(key, at, &call);
                if !call.result && !self.calls.insert(key) {
                    pairs.again.push(call.id.to_owned());
                }
            });
        }
        let (orphans, open) = (pairs.gone.len(), pairs.open.len() + pairs.passed.len());
        if orphans > 0 {
            self.note(place, format_args!("{orphans} tool results without their call left out"));
        }
        if open > 0 {
            self.note(place, format_args!("{open} tool calls without a result left out"));
        }
        let calls = pairs.open.iter().chain(&pairs.passed).map(|(_, at, item)| (*at, *item));
        pairs.gone.extend(calls);
        pairs.gone.sort_unstable();
        for group in pairs.gone.chunk_by(|a, b| a.0 == b.0) {
            let items: Vec<usize> = group.iter().map(|g| g.1).collect();
            self.take(&mut entries[group[0].0], &items);
        }
        for old in pairs.again {
            self.rename(place, entries, &old);
        }
    }

    /// Removes items from the message of a row.
    fn take(&mut self, entry: &mut Entry, items: &[usize]) {
        self.changed = true;
        match claude::without(&entry.line, &entry.row, items) {
            Some(line) => self.replace(entry, line),
            None => entry.gone = true,
        }
    }

    /// Gives a tool call of this round another id in all rows that name it.
    fn rename(&mut self, place: Place, entries: &mut [Entry], old: &str) {
        let fresh = self.sources[place.session].hex(&format!("{old} {}", place.seq), 24);
        let (from, to) = (format!("\"{old}\""), format!("\"toolu_{}\"", fresh.as_str()));
        self.calls.insert(ids::key(&to[1..to.len() - 1]));
        for entry in entries {
            let Some(first) = memmem::find(&entry.line, from.as_bytes()) else { continue };
            let mut line = entry.line[..first].to_vec();
            let mut rest = &entry.line[first..];
            while let Some(at) = memmem::find(rest, from.as_bytes()) {
                line.extend_from_slice(&rest[..at]);
                // Within a text, a quote has a backslash: that is not an id.
                let escaped = line.last() == Some(&b'\\');
                line.extend_from_slice(if escaped { &from } else { &to }.as_bytes());
                rest = &rest[at + from.len()..];
            }
            line.extend_from_slice(rest);
            self.replace(entry, line);
        }
    }

    /// Removes the thinking of a round that is changed itself, or behind a change.
    fn leave_thinking(&mut self, place: Place, entries: &mut [Entry]) {
        for entry in entries.iter_mut().filter(|entry| !entry.gone) {
            let blocks = &self.blocks[entry.blocks.clone()];
            let thinking = |at: &usize| blocks[*at].kind == BlockKind::Thinking;
            let items: Vec<usize> = (0..blocks.len()).filter(thinking).collect();
            if !items.is_empty() {
                self.left.0 += items.len();
                self.left.1.get_or_insert(place);
                self.take(entry, &items);
            }
        }
    }

    /// Removes thinking at the end of a message, because the API refuses it there.
    fn end_thinking(&mut self, place: Place, entries: &mut [Entry], order: &[usize]) {
        let mut taken = 0;
        let same = |a: &usize, b: &usize| {
            entries[*a].message.is_some() && entries[*a].message == entries[*b].message
        };
        let groups: Vec<&[usize]> = order.chunk_by(same).collect();
        for group in groups {
            for at in group.iter().rev() {
                let entry = &entries[*at];
                if entry.gone {
                    continue;
                }
                let blocks = &self.blocks[entry.blocks.clone()];
                let thinking = |b: &&Block| b.kind == BlockKind::Thinking;
                let trailing = blocks.iter().rev().take_while(thinking).count();
                taken += trailing;
                let keeps = trailing < blocks.len();
                if trailing > 0 {
                    let items: Vec<usize> = (blocks.len() - trailing..blocks.len()).collect();
                    self.take(&mut entries[*at], &items);
                }
                if keeps {
                    break;
                }
            }
        }
        if taken > 0 {
            self.note(place, format_args!("{taken} thinking blocks that nothing follows left out"));
        }
    }

    /// Writes the rows; returns their bytes.
    fn emit(
        &mut self,
        place: Place,
        entries: &[Entry],
        order: &[usize],
        out: &mut Out,
    ) -> io::Result<()> {
        let session = &self.plan.sessions[place.session];
        let origin = session.round(place.seq).map(|round| session.origin(round).to_string());
        let origin = origin.unwrap_or_default();
        for entry in entries.iter().filter(|e| e.gone) {
            // No other row may refer to it.
            self.written.remove(&ids::key(entry.fresh.as_str()));
        }
        // The current message, and its fresh id, if it has one.
        let (mut current, mut renamed, mut used) = (None, None, None);
        for at in order.iter().filter(|at| !entries[**at].gone) {
            let entry = &entries[*at];
            let old = entry.row.id.unwrap_or_default();
            if entry.row.kind == Kind::Assistant
                && (entry.message.is_none() || entry.message != current)
            {
                current = entry.message;
                let taken = entry.message.is_some_and(|key| !self.messages.insert(key));
                renamed = taken.then(|| {
                    let fresh = self.sources[place.session].hex(&format!("message {old}"), 24);
                    format!("msg_{}", fresh.as_str())
                });
            }
            self.advance(entry.row.at);
            let lineage = self.lineage.take();
            let known = |id: &str| {
                let fresh = claude::fresh(&self.sources[place.session], id);
                self.written.contains(&ids::key(fresh.as_str())).then_some(fresh)
            };
            let link = Link {
                id: entry.fresh.as_str(),
                parent: self.last.as_ref().map(Fresh::as_str),
                time: &self.time,
                old,
                lineage: lineage.as_deref(),
                less: entry.less,
                origin: &origin,
                message: renamed.as_deref().filter(|_| entry.row.kind == Kind::Assistant),
                known: &known,
                ..Link::of(self.birth, session)
            };
            let start = out.rows.len();
            let usage = claude::row(
                &entry.line,
                &self.fields[entry.fields.clone()],
                &entry.row,
                &link,
                &mut out.rows,
            );
            let answer = usage.filter(|_| entry.row.used.is_some()).map(|usage| {
                let first = used.replace(entry.message) != Some(entry.message);
                (usage, first)
            });
            out.row(start, answer)?;
            self.last = Some(entry.fresh);
            self.report.rows += 1;
        }
        Ok(())
    }

    /// Names files that leave with the round of a compaction.
    pub(super) fn put_back(&mut self, place: Place, files: &[String]) {
        if !files.is_empty() {
            let files = files.join(", ");
            self.note(
                place,
                format_args!(
                    "left out files that the client attached again after the compaction: {files}"
                ),
            );
        }
    }

    fn note(&mut self, place: Place, what: std::fmt::Arguments) {
        let round = table::reference(&self.plan.sessions[place.session], place.seq);
        self.report.notes.push(format!("{round}: {what}"));
    }
}

/// The order to write rows in: their own, except that the rows of one message stay together. The
/// result of its first call may come before its last call.
fn order(entries: &[Entry]) -> Vec<usize> {
    let mut order = Vec::with_capacity(entries.len());
    let mut last: Option<(Key, usize)> = None;
    for (at, entry) in entries.iter().enumerate().filter(|(_, e)| !e.gone) {
        match (entry.row.kind, entry.message, &mut last) {
            (Kind::Assistant, Some(key), Some((open, end))) if key == *open => {
                *end += 1;
                order.insert(*end, at);
            }
            (Kind::Assistant, Some(key), _) => {
                last = Some((key, order.len()));
                order.push(at);
            }
            _ => order.push(at),
        }
    }
    order
}
