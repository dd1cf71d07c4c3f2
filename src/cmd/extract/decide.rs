//! `extract decide` and `extract keep`: for a plugin in the client, which changes what the model
//! gets. The session itself is not written.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;

use anyhow::{Context as _, ensure};
use memchr::memmem;
use serde::Serialize;
use serde_json::value::RawValue;

use super::planned::Planned;
use super::read::{self, Read};
use super::run::{execute, judged, merged_settings, plan_session};
use super::source::{self, Kind, Source};
use super::tail::written;
use crate::cli::DecideArgs;
use crate::cmd::{Context, Exit, import, out_json};
use base::clock::Time;
use extract::edit;
use extract::placeholder::{self, About, Names};
use extract::plan::Plan;
use extract::when::Verdict;
use sessions::files::{Change, Edited, Refused, SessionFile, Stamp};
use sessions::model::refuses_changed_thinking;
use sessions::settings::Trigger;
use sessions::span;
use store::extracted::Word;

/// The key of what the model gets of a row.
const CONTENT: &str = "message.content";

/// What a plugin puts in the place of an entry's content.
#[derive(Debug, Serialize)]
struct Lean {
    entry_id: String,
    /// The message's own time, and for a result the id of its call. A client's plugin that gets no
    /// ids of entries finds the message by these.
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<Box<RawValue>>,
    content: Box<RawValue>,
}

impl Lean {
    /// Of a row with placeholders.
    fn of(entry: &str, row: &[u8]) -> io::Result<Self> {
        let json = |key| {
            let json = edit::locate(row, key).map(|at| at.slice(row).to_vec());
            let json = json.map(|json| String::from_utf8(json).map_err(io::Error::other));
            Ok::<_, io::Error>(json.transpose()?.map(RawValue::from_string).transpose()?)
        };
        let (timestamp, call) = (json("message.timestamp")?, json("message.toolCallId")?);
        let content = json(CONTENT)?.ok_or_else(|| io::Error::other("it has no content"))?;
        Ok(Self { entry_id: entry.to_owned(), timestamp, call, content })
    }
}

#[derive(Debug, Serialize)]
struct Decision {
    session: String,
    /// Whether it goes now.
    acts: bool,
    /// Why, or why not.
    verdict: Verdict,
    /// Why it must not go, whatever it is worth.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    /// Values that go.
    values: u64,
    /// Tokens that leave the context, estimated.
    saved: u64,
    /// What goes now; of a session in a database, all that is masked.
    entries: Vec<Lean>,
    /// Masked entries that must not be: a client that masks by itself puts them back.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    back: BTreeSet<Word>,
}

/// Decides what goes. With `keep`, content that goes now is in the store before this returns.
///
/// # Errors
/// A session that cannot be read, or whose client takes no edits; a store that cannot be written.
pub fn run(Context { env, now }: Context, args: &DecideArgs, keep: bool) -> anyhow::Result<Exit> {
    let DecideArgs { args, drops_thinking } = args;
    let settings = merged_settings(env, &args.what.clone().into())?;
    let source = source::find(env, &import::root(env)?, args.session.as_deref())?;
    ensure!(
        source.kind != Kind::Claude,
        "{} is a session of Claude Code, where `extract run` makes a new session",
        source.path.display()
    );
    let Planned { mut read, mut plan, .. } = plan_session(&source, &settings, now)?;
    // Only what the model gets, and no thinking: its placeholder would be the agent's own words.
    plan.items.retain(|item| item.sent && !item.whole && item.key.starts_with(CONTENT));
    // OpenClaw has a user's text in several forms.
    plan.items.retain(|item| source.kind != Kind::Database || item.trigger != Trigger::User);
    let found = Masked::find(&source, &read, &plan)?;
    plan.items.retain(|item| found.rows.contains(&item.row));
    // The user's next prompt may be in the session by now; it says nothing about the cache.
    read.last = found.answered.or(read.last);
    let planned = judged(&source, &settings, now, read, plan);
    let is_worth_it =
        matches!(planned.verdict, Verdict::Cold | Verdict::Pays(_) | Verdict::Interval);
    let may = is_worth_it && settings.enabled;
    let refused = found.refused().filter(|_| may && !drops_thinking);
    let acts = may && refused.is_none() && !found.entries.is_empty();
    let session = source.session.clone();
    let (verdict, saved) = (planned.verdict, planned.look.saved);
    let is_kept =
        |entry: &&Word| planned.read.ledger.extractable_flag(entry) == Some(&false.into());
    let back = planned.read.live.iter().map(|live| &live.entry).filter(is_kept).cloned().collect();
    let source = Source { file: Box::new(Unwritten(source.file)), ..source };
    if keep && acts {
        execute(&source, &settings, now, &planned)?;
    }
    let Masked { values, mut entries, .. } = found;
    if source.kind == Kind::Database {
        entries = if settings.enabled { all_masked(&source)? } else { Vec::new() };
    }
    out_json(&Decision { session, acts, verdict, refused, values, saved, entries, back })?;
    Ok(Exit::Done)
}

/// All entries that are masked now.
fn all_masked(source: &Source) -> anyhow::Result<Vec<Lean>> {
    let live = read::live(source, &source.extracted.ledger()?)?;
    let live = live.iter().filter(|live| live.key.starts_with(CONTENT));
    let rows: HashMap<u64, Word> = live.map(|live| (live.row, live.entry.clone())).collect();
    let mut all = Vec::new();
    source.file.rows(&mut |row, line| {
        if let Some(entry) = rows.get(&row) {
            all.push(Lean::of(entry, line)?);
        }
        Ok(())
    })?;
    Ok(all)
}

/// What the model gets instead of some entries.
#[derive(Debug, Default)]
struct Masked {
    entries: Vec<Lean>,
    /// Their rows.
    rows: HashSet<u64>,
    values: u64,
    /// The model of the last response.
    model: Option<String>,
    /// When that came.
    answered: Option<Time>,
    /// Whether signed thinking is in or behind the first of them.
    has_thinking: bool,
}

impl Masked {
    /// The entries with placeholders, as [`execute`] records them. An entry stays whose edit would
    /// be longer than what leaves it, such as one with an image.
    fn find(source: &Source, read: &Read, plan: &Plan) -> anyhow::Result<Self> {
        let mut names: Names = read.ledger.entries().collect();
        let mut items = plan.items.iter().peekable();
        let mut found = Self::default();
        let stamp = source.file.rows(&mut |row, line| {
            let (mut places, mut freed, mut entry) = (Vec::new(), 0, None);
            while let Some(item) = items.next_if(|item| item.row == row) {
                let json = line.get(item.span.start..item.span.end).unwrap_or_default();
                let tool = item.tool.as_deref();
                let about = About { entry: names.of(&item.entry), tool, json };
                let Some(put) = placeholder::json(&about, false) else { continue };
                freed += (json.len() - put.len()) as u64;
                entry = Some(&item.entry);
                places.push((item.span, put));
            }
            if let Some(entry) = entry {
                places.sort_by_key(|(span, _)| span.start);
                let lean = edit::replaced(line, &places);
                let lean = Lean::of(entry, &lean)?;
                if lean.content.get().len() as u64 <= freed {
                    found.rows.insert(row);
                    found.values += places.len() as u64;
                    found.entries.push(lean);
                }
            }
            let is_signed = memmem::find(line, b"\"thinkingSignature\"").is_some();
            found.has_thinking |= is_signed && !found.rows.is_empty();
            if let Some(at) = edit::locate(line, "message.model") {
                found.model = span::plain(at.slice(line)).map(str::to_owned);
                found.answered = written(line).or(found.answered);
            }
            Ok(())
        });
        let stamp = stamp.with_context(|| format!("{} can't be read", source.path.display()))?;
        ensure!(stamp == read.stamp, Refused::Changed(source.path.display().to_string()));
        Ok(found)
    }

    /// Newer models of Claude refuse a request whose thinking is behind a change.
    fn refused(&self) -> Option<String> {
        let model = self.model.as_ref().filter(|model| refuses_changed_thinking(model))?;
        self.has_thinking.then(|| format!("{model} refuses its thinking behind a change"))
    }
}

/// A session whose client makes the edits itself: here an edit only records its content.
struct Unwritten(Box<dyn SessionFile>);

impl SessionFile for Unwritten {
    fn rows(&self, each: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<Stamp> {
        self.0.rows(each)
    }

    fn edit(&self, stamp: Stamp, change: Change<'_>) -> Result<Edited, Refused> {
        let now = self.0.rows(&mut |row, line| change(row, line).map(drop))?;
        if now == stamp {
            return Ok(Edited::default());
        }
        Err(Refused::Changed("the session".to_owned()))
    }
}
