//! `advise`: recommends surgery for a session, with the command for each.

use base::shown;
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use serde::Serialize;

use super::surgery::source::Store;
use super::{Context, Exit, Run, err, show};
use crate::cli::AdviseArgs;
use base::atomic;
use base::shown::group_thousands;
use sessions::round::Session;
use store::engagement::{self, Phase};
use store::index::Export;
use surgery::advise::{Advice, Beside, advise};
use surgery::plan::in_context;
use surgery::table::short;

impl Run for AdviseArgs {
    fn run(&self, Context { env, .. }: Context) -> anyhow::Result<Exit> {
        let store = Store::open(env)?;
        let session = store.session(env, self.session.as_deref())?;
        let beside = beside(&store, &session)?;
        let context = in_context(&session);
        let rounds = context.iter().filter_map(|seq| session.round(*seq));
        let report = Report {
            tokens: rounds.map(|round| round.tokens).sum(),
            rounds: context.len(),
            advice: advise(&session, &phases(&session), &beside),
            left: session.rounds.len() - context.len(),
            session: session.id,
        };
        show(&report, self.json)?;
        Ok(Exit::Done)
    }
}

#[derive(Debug, Serialize)]
struct Report {
    session: String,
    /// Rounds that are still in the context.
    rounds: usize,
    tokens: u64,
    advice: Vec<Advice>,
    /// Rounds that are no longer in its context.
    #[serde(skip)]
    left: usize,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} {} in its context, {} tokens",
            short(&self.session),
            group_thousands(self.rounds as u64),
            if self.rounds == 1 { "round" } else { "rounds" },
            shown::tokens(self.tokens),
        )?;
        if self.left > 0 {
            write!(f, "; {} no longer in it", self.left)?;
        }
        self.advice.iter().try_for_each(|advice| write!(f, "\n{}", text(advice)))
    }
}

/// The phases from the project's `engagement.md`. If it cannot be parsed, a message says so: advice
/// can be based on the rounds alone.
pub fn phases(session: &Session) -> Vec<Phase> {
    let Some(cwd) = &session.cwd else { return Vec::new() };
    let file = Path::new(cwd).join("engagement.md");
    let Ok(Some(text)) = atomic::read_text(&file) else { return Vec::new() };
    match engagement::parse(&text) {
        Ok(engagement) => engagement.phases,
        Err(why) => {
            err(format_args!("{}: {why}; its phases are left aside", file.display()));
            Vec::new()
        }
    }
}

/// Sessions of the same project that ran at the same time, with their rounds. Without those that
/// surgery made from this session or this session from: they repeat its work.
fn beside(store: &Store, session: &Session) -> anyhow::Result<Beside> {
    let mut all = store.index.sessions()?;
    let exports = store.index.exports()?;
    let own = sources_of(&exports, &session.id);
    all.retain(|other| {
        if own.contains(other.id.as_str())
            || sources_of(&exports, &other.id).contains(session.id.as_str())
        {
            return false;
        }
        let before = other.ended.zip(session.started).is_some_and(|(e, s)| e < s);
        let after = other.started.zip(session.ended).is_some_and(|(s, e)| s > e);
        other.id != session.id && other.cwd == session.cwd && !before && !after
    });
    let made = |id: &str| exports.iter().find(|export| export.id == id).map(|export| export.made);
    let load = |other: &Session| -> anyhow::Result<_> {
        Ok((store.index.session(&store.folder(other))?, made(&other.id)))
    };
    let others = all.iter().map(load).collect::<anyhow::Result<_>>()?;
    Ok(Beside { made: made(&session.id), others })
}

/// The sessions that surgery made this session from, directly or indirectly.
fn sources_of<'e>(exports: &'e [Export], id: &'e str) -> BTreeSet<&'e str> {
    let (mut all, mut due) = (BTreeSet::new(), vec![id]);
    while let Some(id) = due.pop() {
        let made = exports.iter().filter(|export| export.id == id);
        let sources = made.flat_map(|export| &export.detail.sources);
        due.extend(sources.map(|(_, source)| source.as_str()).filter(|source| all.insert(*source)));
    }
    all
}

fn text(advice: &Advice) -> String {
    let text = format!("\n{}\n  {}\n  {}", advice.case.words(), advice.why, advice.command);
    text.trim_end().to_owned()
}
