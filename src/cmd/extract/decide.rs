//! `extract decide` and `extract keep`: for a plugin in the client, which changes what the model
//! gets. The session itself is not written.

use std::io;
use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use serde::Serialize;
use serde_json::value::RawValue;

use super::planned::Planned;
use super::run::{execute, merged_settings, plan_session};
use super::source::{self, Kind, Source};
use super::{numbers, placeholder_lookup};
use crate::cli::ExtractArgs;
use crate::cmd::{Context, Exit, import, out_json};
use extract::edit;
use extract::placeholder::{self, About, Names};
use extract::when::Verdict;
use sessions::files::{Change, Edited, Refused, SessionFile, Stamp};

/// The key of what the model gets of a row.
const CONTENT: &str = "message.content";

/// What a plugin puts in the place of an entry's content.
#[derive(Debug, Serialize)]
struct Lean {
    entry_id: String,
    /// Bytes that leave it.
    freed: u64,
    content: Box<RawValue>,
}

#[derive(Debug, Serialize)]
struct Decision {
    session: String,
    /// Whether it goes now.
    acts: bool,
    /// Why, or why not.
    verdict: Verdict,
    /// Values that go.
    values: usize,
    /// Tokens that leave the context, estimated.
    saved: u64,
    entries: Vec<Lean>,
}

/// Decides what goes. With `keep`, content that goes now is in the store before this returns.
///
/// # Errors
/// A session that cannot be read, or whose client takes no edits; a store that cannot be written.
pub fn run(Context { env, now }: Context, args: &ExtractArgs, keep: bool) -> anyhow::Result<Exit> {
    let settings = merged_settings(env, &args.what.clone().into())?;
    let source = source::find(env, &import::root(env)?, args.session.as_deref(), false)?;
    ensure!(
        source.kind != Kind::Claude,
        "{} is a session of Claude Code, where `extract run` makes a new session",
        source.path.display()
    );
    let mut planned = plan_session(&source, &settings, now)?;
    planned.plan.items.retain(|item| item.key.starts_with(CONTENT));
    let entries = lean(&source, &planned)?;
    let acts = matches!(planned.verdict, Verdict::Cold | Verdict::Pays(_) | Verdict::Interval);
    let decision = Decision {
        session: source.session.clone(),
        acts: acts && !entries.is_empty(),
        verdict: planned.verdict,
        values: planned.plan.items.len(),
        saved: numbers::look(&planned.read, &planned.plan, planned.amounts).saved,
        entries,
    };
    if keep && decision.acts {
        let source = Source { file: Box::new(Unwritten(source.file)), ..source };
        execute(&source, &settings, now, &planned)?;
    }
    out_json(&decision)?;
    Ok(Exit::Done)
}

/// The content of the entries with placeholders, as `execute` records them.
fn lean(source: &Source, planned: &Planned) -> anyhow::Result<Vec<Lean>> {
    let ledger = &planned.read.ledger;
    let mut names: Names = ledger.entries().collect();
    let mut items = planned.plan.items.iter().peekable();
    let mut found = Vec::new();
    let stamp = source.file.rows(&mut |row, line| {
        let (mut places, mut freed, mut entry) = (Vec::new(), 0, None);
        while let Some(item) = items.next_if(|item| item.row == row) {
            let json = line.get(item.span.start..item.span.end).unwrap_or_default();
            let about = About { entry: names.of(&item.entry), tool: item.tool.as_deref(), json };
            let Some(put) = placeholder::json(&about, item.whole) else { continue };
            let put = placeholder_lookup::make_unique(ledger, &item.entry, &item.key, put, json);
            freed += (json.len() - put.len()) as u64;
            entry = Some(&item.entry);
            places.push((item.span, put));
        }
        let Some(entry) = entry else { return Ok(()) };
        places.sort_by_key(|(span, _)| span.start);
        let line = edit::replaced(line, &places);
        let content = edit::locate(&line, CONTENT).map(|at| at.slice(&line));
        let content = String::from_utf8(content.unwrap_or_default().to_vec());
        let content = RawValue::from_string(content.map_err(io::Error::other)?)?;
        found.push(Lean { entry_id: entry.clone(), freed, content });
        Ok(())
    });
    let stamp = stamp.with_context(|| format!("{} can't be read", source.path.display()))?;
    ensure!(stamp == planned.read.stamp, Refused::Changed(source.path.display().to_string()));
    Ok(found)
}

/// A session whose client makes the edits. An edit that is made here ends when it was recorded.
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

    fn copied(&self) -> Option<PathBuf> {
        None
    }
}
