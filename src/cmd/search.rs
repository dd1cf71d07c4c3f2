//! `search`: finds rounds by their words.

use std::fmt;
use std::path::Path;

use serde::{Serialize, Serializer};

use super::look::Look;
use super::surgery::source::{self, Store};
use super::{Context, Exit, Run, err, import, selector, session_list, show};
use crate::cli::{NarrowArgs, SearchArgs};
use base::clock::Time;
use base::env::Env;
use base::shown::count_with_noun;
use guard::hook::facts::read_settings;
use sessions::settings::ImportWhen;
use store::index::{Copied, Filter, Hit, Tagged};
use surgery::table;

/// The result of a search.
#[derive(Debug, Clone)]
pub struct Found {
    /// The words that were searched.
    pub query: String,
    /// The rounds, best first.
    pub hits: Vec<Hit>,
    /// How many rounds were ranked, if more matched.
    pub ranked: Option<usize>,
    /// If nothing was found: how to import the sessions that are not imported.
    not_imported: Option<String>,
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

/// A search result in its printed form.
struct Listed<'a> {
    found: &'a Found,
    look: Look,
    /// There may be more hits.
    is_cut: bool,
}

#[derive(Serialize)]
struct Hits<'a> {
    query: &'a str,
    rounds: Vec<Referred<'a>>,
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
        let Found { query, hits, .. } = self.found;
        let rounds = hits.iter().map(|hit| Referred { hit, reference: reference(hit) }).collect();
        Hits { query, rounds }.serialize(serializer)
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
        write!(f, "in full: brain-guard show {}{more}", reference(first))
    }
}

/// The rounds that match the arguments.
///
/// # Errors
/// A query without a word; an unknown session.
pub fn of(env: &Env, now: Time, args: &SearchArgs) -> anyhow::Result<Found> {
    let store = Store::open(env)?;
    store.tell_unknown()?;
    let query = args.query.join(" ");
    let narrowed = filter(&store, env, now, &args.narrow)?;
    let tagged = args.engagement.clone().map_or(Tagged::Any, Tagged::As);
    if let Tagged::As(id) = &tagged {
        // An unknown engagement is an error that lists the known ones.
        store.index.engagement(id)?;
    }
    let filter = Filter { tagged, ..narrowed };
    let (hits, ranked) = store.index.search_soon(&query, &filter, args.limit)?;
    let not_imported = if hits.is_empty() { not_imported(env, &store)? } else { None };
    Ok(Found { query, hits, ranked, not_imported })
}

/// How to import the sessions that are not imported, if there are any.
fn not_imported(env: &Env, store: &Store) -> anyhow::Result<Option<String>> {
    let files = session_list::not_imported(env, store)?;
    if files == 0 {
        return Ok(None);
    }
    let are = count_with_noun(files, "session is", "sessions are");
    let mut text = format!("{are} not imported: brain-guard import --all");
    let places = selector::places(env, Path::new("/"))?;
    if read_settings(&places, env).0.surgery.import == ImportWhen::Off {
        text.push_str("\nto import each session as it ends: brain-guard ");
        text.push_str(import::AT_SESSION_END);
    }
    Ok(Some(text))
}

impl Found {
    /// A message that not all rounds were ranked, and how to search them all.
    pub fn left_out(&self) -> Option<String> {
        let (ranked, query) = (self.ranked?, &self.query);
        Some(format!(
            "more than {ranked} rounds hold {query:?}; only those of the sessions imported last are ranked. To search all, add words, or --since, --session, --engagement or --agent"
        ))
    }

    /// The message for no hits.
    pub fn nothing(&self) -> String {
        let missing = self.not_imported.as_deref().map(|how| format!("\n{how}"));
        format!(
            "no round holds {:?} (searched: the user's and the agent's words in imported sessions){}",
            self.query,
            missing.unwrap_or_default()
        )
    }
}

/// A hit, on two lines.
pub fn line(hit: &Hit, look: Look) -> String {
    let tag = hit.engagement.as_ref().map(|id| format!("  #{id}")).unwrap_or_default();
    let (begin, end) = if look.colour { ("\x1b[1m", "\x1b[0m") } else { ("[", "]") };
    let copies: Vec<String> = hit.copies.iter().map(place).collect();
    let also =
        if copies.is_empty() { String::new() } else { format!("  also {}", copies.join(", ")) };
    format!(
        "{}  {}  {}{tag}{also}\n       {}",
        reference(hit),
        base::shown::local_minute(hit.started),
        hit.agent,
        hit.snippet.marked(begin, end)
    )
}

/// The reference that `show` takes for a round.
pub fn reference(hit: &Hit) -> String {
    format!("{}:{}", table::short(&hit.session), table::number(hit.seq))
}

fn place(copy: &Copied) -> String {
    format!("{}:{}", table::short(&copy.session), table::number(copy.seq))
}

/// Which rounds to search, from the arguments.
///
/// # Errors
/// An unknown session, or a time that cannot be parsed.
pub(super) fn filter(
    store: &Store,
    env: &Env,
    now: Time,
    narrow: &NarrowArgs,
) -> anyhow::Result<Filter> {
    let session = narrow.session.as_deref();
    let session = session.map(|name| store.session(env, Some(name))).transpose()?;
    let session = session.map(|session| store.folder(&session));
    let since = narrow.since.as_deref().map(|text| source::since("--since", text, now));
    Ok(Filter {
        session,
        agent: narrow.agent.clone(),
        since: since.transpose()?,
        ..Filter::default()
    })
}
