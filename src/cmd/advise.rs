//! `advise`: recommends surgery for a session, with the command for each.

use base::shown;
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use serde::Serialize;

use super::surgery::numbers;
use super::surgery::source::Store;
use super::{Context, Exit, Run, err, show};
use crate::cli::AdviseArgs;
use base::atomic;
use base::clock::Time;
use base::env::Env;
use base::paths::project_root;
use base::shown::group_thousands;
use guard::hook::facts::Facts;
use sessions::operation::Operation;
use sessions::round::Session;
use store::blocks::Reader;
use store::engagement::{self, Phase};
use store::index::Export;
use surgery::advise::{Advice, Beside, advise};
use surgery::context;
use surgery::table::short;

impl Run for AdviseArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        show(&Report::of(env, now, self.session.as_deref())?, self.json)?;
        Ok(Exit::Done)
    }
}

impl Report {
    /// Recommends surgery for a session.
    ///
    /// # Errors
    /// A session that cannot be found or imported.
    pub fn of(env: &Env, now: Time, session: Option<&str>) -> anyhow::Result<Self> {
        let store = Store::open(env)?;
        let session = store.session(env, session)?;
        let beside = beside(&store, &session)?;
        let context = session.in_context();
        let held = context::Context::of(&session);
        let limit = scale_of(env, now, &store, &session)?.map(|scale| scale.limit);
        let reader = Reader::open(&store.folder(&session));
        let is_cold = reader.is_ok_and(|r| numbers::is_cold(&session, &r, now).unwrap_or(false));
        let advice = advise(&session, &phases(&session), &beside, &mut |id| store.known(id));
        let case = |advice: Advice| Case {
            frees_percent: limit.map(|limit| percent(advice.frees, limit)),
            now: held.now,
            advice,
        };
        Ok(Self {
            tokens: held.now,
            limit,
            percent: limit.map(|limit| percent(held.now, limit)),
            base_known: held.base.is_some(),
            cache_cold: is_cold,
            rounds: context.len(),
            advice: advice.into_iter().map(case).collect(),
            left: session.rounds.len() - context.len(),
            session: session.id,
        })
    }

    /// The first recommendation that can be carried out.
    pub(crate) fn best(&self) -> Option<(&Advice, &Operation)> {
        let mut cases = self.advice.iter().map(|case| &case.advice);
        cases.find_map(|advice| Some((advice, advice.operation.as_ref()?)))
    }

    /// The first recommendation that makes this session shorter.
    pub fn compression(&self) -> Option<(&Advice, &Operation)> {
        self.advice.iter().map(|case| &case.advice).find_map(|advice| {
            let operation = advice.operation.as_ref()?;
            let shortens = match operation {
                Operation::CompressBefore(_) | Operation::CompressEngagement(_) => true,
                Operation::ExtractEngagement(_)
                | Operation::Merge { .. }
                | Operation::Split(_)
                | Operation::Edit(_)
                | Operation::Extract(_) => false,
            };
            shortens.then_some((advice, operation))
        })
    }
}

/// What a session's context is measured by.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    /// The tokens at which the client compacts it.
    pub(crate) limit: u64,
    /// The names of the guard's tiers, and the percent of the limit at which each begins.
    pub(crate) tiers: Vec<(String, f64)>,
}

/// What the context of this session is measured by; `None` for a session of another client.
///
/// # Errors
/// An unreadable index.
pub(crate) fn scale_of(
    env: &Env,
    now: Time,
    store: &Store,
    session: &Session,
) -> anyhow::Result<Option<Scale>> {
    let Some(cwd) = session.cwd.as_deref().filter(|_| session.dialect == "claude") else {
        return Ok(None);
    };
    let exports = store.index.exports()?;
    let sources = sources_of(&exports, &session.id);
    let mut files = vec![(session.id.clone(), session.source.clone())];
    if !sources.is_empty() {
        let mut all = store.index.sessions()?;
        all.retain(|other| sources.contains(other.id.as_str()));
        files.extend(all.into_iter().map(|other| (other.id, other.source)));
    }
    let files = files.iter().filter_map(|(id, file)| Some((id.as_str(), file.as_ref()?.as_ref())));
    Ok(scale(env, now, Path::new(cwd), files))
}

/// What the context of a session of Claude Code is measured by, as `status` finds it. `files`: its
/// id and file, then those of the sessions it was made from, which may have shown a longer window
/// than its own short context does.
pub(crate) fn scale<'f>(
    env: &Env,
    now: Time,
    folder: &Path,
    files: impl IntoIterator<Item = (&'f str, &'f Path)>,
) -> Option<Scale> {
    let project = project_root(env, folder);
    let limit_of = |(id, file): (&'f str, &'f Path)| {
        let mut facts = Facts::for_session(env, now, &project, id)?;
        facts.transcript = facts.transcript.or(Some(file.into())).filter(|file| file.is_file());
        let limit = facts.context(None, 0)?.reading.limit;
        Some((limit, facts.ramp(limit)))
    };
    let (limit, ramp) = files.into_iter().filter_map(limit_of).max_by_key(|(limit, _)| *limit)?;
    let tiers = ramp.tiers().iter().map(|tier| (tier.name.clone(), tier.context)).collect();
    Some(Scale { limit, tiers })
}

/// Tokens in percent of a limit, rounded down as everywhere.
pub(crate) fn percent(tokens: u64, limit: u64) -> u64 {
    (tokens * 100).checked_div(limit).unwrap_or(0)
}

/// What is recommended for a session.
#[derive(Debug, Serialize)]
pub struct Report {
    session: String,
    /// Rounds that are still in the context.
    rounds: usize,
    /// Tokens of its context.
    pub tokens: u64,
    /// Whether `tokens` includes the system prompt and the tools.
    base_known: bool,
    /// Whether the prompt cache has expired, so that a change costs nothing.
    pub cache_cold: bool,
    limit: Option<u64>,
    percent: Option<u64>,
    advice: Vec<Case>,
    /// Rounds that are no longer in its context.
    #[serde(skip)]
    left: usize,
}

/// A recommendation, in relation to the limit.
#[derive(Debug, Serialize)]
struct Case {
    #[serde(flatten)]
    advice: Advice,
    frees_percent: Option<u64>,
    #[serde(skip)]
    now: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: context {}", short(&self.session), shown::tokens(self.tokens))?;
        match self.limit.zip(self.percent) {
            Some((limit, percent)) => {
                write!(f, " of {} tokens ({percent} %)", shown::tokens(limit))?;
            }
            None => f.write_str(" tokens")?,
        }
        if !self.base_known {
            f.write_str(" without system prompt and tools")?;
        }
        let rounds = if self.rounds == 1 { "round" } else { "rounds" };
        write!(f, ", {} {rounds}", group_thousands(self.rounds as u64))?;
        if self.left > 0 {
            write!(f, "; {} no longer in it", self.left)?;
        }
        self.advice.iter().try_for_each(|case| write!(f, "\n{case}"))
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { advice, frees_percent, now } = self;
        write!(f, "\n{}\n  {}", advice.case.words(), advice.why)?;
        let Some(after) = advice.after else { return Ok(()) };
        f.write_str("\n  ")?;
        if advice.frees > 0 {
            write!(f, "frees {} tokens", shown::tokens(advice.frees))?;
            if let Some(percent) = frees_percent {
                write!(f, " ({percent} % of the limit)")?;
            }
            f.write_str(": ")?;
        }
        write!(f, "{} now, {} after", shown::tokens(*now), shown::tokens(after))?;
        write!(f, "\n  {}", advice.command)
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
pub(crate) fn sources_of<'e>(exports: &'e [Export], id: &'e str) -> BTreeSet<&'e str> {
    let (mut all, mut due) = (BTreeSet::new(), vec![id]);
    while let Some(id) = due.pop() {
        let made = exports.iter().filter(|export| export.id == id);
        let sources = made.flat_map(|export| &export.detail.sources);
        due.extend(sources.map(|(_, source)| source.as_str()).filter(|source| all.insert(*source)));
    }
    all
}
