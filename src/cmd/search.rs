//! `search`: rounds by what was said in them.

use std::fmt;
use std::io::{self, IsTerminal as _};

use serde::{Serialize, Serializer};

use super::surgery::source::{self, Store};
use super::{Context, Exit, Run, err, show};
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

impl Run for SearchArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        let found = of(env, now, self)?;
        if let Some(left) = found.left_out() {
            err(left);
        }
        let look = Look::of(env);
        let is_cut = found.hits.len() == self.limit;
        show(&Listed { found: &found, look, is_cut }, self.json)?;
        Ok(Exit::Done)
    }
}

/// What was found, as it is printed.
struct Listed<'a> {
    found: &'a Found,
    look: Look,
    /// There may be more.
    is_cut: bool,
}

#[derive(Serialize)]
struct Referred<'a> {
    #[serde(flatten)]
    hit: &'a Hit,
    #[serde(rename = "ref")]
    reference: String,
}

impl Serialize for Listed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hits = self.found.hits.iter();
        serializer.collect_seq(hits.map(|hit| Referred { hit, reference: reference(hit) }))
    }
}

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for hit in &self.found.hits {
            writeln!(f, "{}", line(hit, self.look))?;
        }
        let Some(first) = self.found.hits.first() else {
            return f.write_str(&self.found.nothing());
        };
        let more = if self.is_cut { "; --limit shows more" } else { "" };
        write!(f, "in full: brain-guard inject {}{more}", reference(first))
    }
}

/// The rounds that were asked for.
///
/// # Errors
/// A query without a word; a session that is none.
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
            "more than {ranked} rounds hold {query:?}; only those of the sessions imported last are ranked. To search all, add words, or --since, --session, --engagement or --agent"
        ))
    }

    /// That there is none.
    pub fn nothing(&self) -> String {
        format!("no round holds {:?} (only imported sessions are searched)", self.query)
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
