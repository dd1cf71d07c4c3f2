//! `search`: rounds by what was said in them.

use std::io::{self, IsTerminal as _};

use serde_json::json;

use super::surgery::source::{self, Store};
use super::{Exit, err, out, out_json};
use crate::cli::{NarrowArgs, SearchArgs};
use anyhow::bail;
use base::clock::Time;
use base::env::Env;
use base::when::When;
use store::index::{Filter, Hit, Tagged};
use surgery::table;

/// How what was found is marked.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    colour: bool,
}

impl Look {
    /// In brackets.
    pub const PLAIN: Self = Self { colour: false };

    /// In bold on a terminal, in brackets elsewhere.
    pub fn of(env: &Env) -> Self {
        Self { colour: io::stdout().is_terminal() && env.get("NO_COLOR").is_none() }
    }
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// What was looked for.
    pub query: String,
    /// The rounds, best first.
    pub hits: Vec<Hit>,
    /// So many were ranked, where there were more.
    pub ranked: Option<usize>,
}

/// Runs the verb.
///
/// # Errors
/// A query without a word; a session that is none.
pub fn run(env: &Env, now: Time, args: &SearchArgs) -> anyhow::Result<Exit> {
    let found = of(env, now, args)?;
    if let Some(left) = found.left_out() {
        err(left);
    }
    if args.json {
        let with_reference = |hit: &Hit| {
            let mut value = serde_json::to_value(hit)?;
            value["ref"] = json!(reference(hit));
            Ok(value)
        };
        out_json(&found.hits.iter().map(with_reference).collect::<serde_json::Result<Vec<_>>>()?)?;
        return Ok(Exit::Done);
    }
    let look = Look::of(env);
    for hit in &found.hits {
        out(line(hit, look));
    }
    match found.hits.first() {
        None => out(found.nothing()),
        Some(hit) => {
            let more = if found.hits.len() == args.limit { "; --limit shows more" } else { "" };
            out(format_args!("in full: brain-guard inject {}{more}", reference(hit)));
        }
    }
    Ok(Exit::Done)
}

/// The rounds that were asked for.
///
/// # Errors
/// As [`run`].
pub fn of(env: &Env, now: Time, args: &SearchArgs) -> anyhow::Result<Found> {
    let store = Store::open(env)?;
    store.tell_unknown()?;
    let query = args.query.join(" ");
    let narrowed = filter(&store, env, now, &args.narrow)?;
    let tagged = args.engagement.clone().map_or(Tagged::Any, Tagged::As);
    if let Tagged::As(id) = &tagged {
        // One that nobody has is told with those that there are.
        store.index.engagement(id)?;
    }
    let filter = Filter { tagged, ..narrowed };
    let (hits, ranked) = store.index.search_soon(&query, &filter, args.limit)?;
    Ok(Found { query, hits, ranked })
}

impl Found {
    /// That not all were ranked, and how to have them all.
    pub fn left_out(&self) -> Option<String> {
        let (ranked, query) = (self.ranked?, &self.query);
        Some(format!(
            "more than {ranked} rounds hold {query:?}; ranked are those of the sessions inscribed last. More words, or --since, --session, --engagement or --agent, look through all"
        ))
    }

    /// That there is none.
    pub fn nothing(&self) -> String {
        format!("no round holds {:?} (searched is what is inscribed)", self.query)
    }
}

/// A round that was found, on two lines.
pub fn line(hit: &Hit, look: Look) -> String {
    let tag = hit.engagement.as_ref().map(|id| format!("  #{id}")).unwrap_or_default();
    let (begin, end) = if look.colour { ("\x1b[1m", "\x1b[0m") } else { ("[", "]") };
    format!(
        "{}  {}  {}{tag}\n       {}",
        reference(hit),
        base::shown::minute(hit.started),
        hit.agent,
        hit.snippet.marked(begin, end)
    )
}

/// How `inject` is told which round.
pub fn reference(hit: &Hit) -> String {
    format!("{}:{}", table::short(&hit.session), table::number(hit.seq))
}

/// Which rounds are looked through, by the arguments.
///
/// # Errors
/// A session or time that is none.
pub(super) fn filter(
    store: &Store,
    env: &Env,
    now: Time,
    narrow: &NarrowArgs,
) -> anyhow::Result<Filter> {
    let session = narrow.session.as_deref();
    let session = session.map(|name| store.session(env, Some(name))).transpose()?;
    let session = session.map(|session| store.folder(&session));
    let since = narrow.since.as_deref().map(|text| match source::when(text, now)? {
        When::At(moment) => Ok(moment.at),
        When::Round(_) => bail!("--since takes a time, as 2026-03-19 or 2h, and no round"),
    });
    Ok(Filter {
        session,
        agent: narrow.agent.clone(),
        since: since.transpose()?,
        ..Filter::default()
    })
}
