//! `search`: rounds by what was said in them.

use std::io::{self, IsTerminal as _};

use serde_json::json;

use super::surgery::source::Store;
use super::{Exit, err, out, out_json, tag};
use crate::cli::SearchArgs;
use crate::clock::Time;
use crate::env::Env;
use crate::index::{Filter, Hit, Tagged};
use crate::surgery::table;

/// How what was found is marked.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    colour: bool,
}

impl Look {
    /// In bold on a terminal, in brackets elsewhere.
    pub fn of(env: &Env) -> Self {
        Self { colour: io::stdout().is_terminal() && env.get("NO_COLOR").is_none() }
    }
}

/// Runs the verb.
///
/// # Errors
/// A query without a word; a session that is none.
pub fn run(env: &Env, now: Time, args: &SearchArgs) -> anyhow::Result<Exit> {
    let store = Store::open(env)?;
    let query = args.query.join(" ");
    let narrowed = tag::filter(&store, env, now, &args.narrow)?;
    let tagged = args.engagement.clone().map_or(Tagged::Any, Tagged::As);
    if let Tagged::As(id) = &tagged {
        // One that nobody has is told with those that there are.
        store.index.engagement(id)?;
    }
    let filter = Filter { tagged, ..narrowed };
    let (hits, ranked) = store.index.search_soon(&query, &filter, args.limit)?;
    if let Some(ranked) = ranked {
        err(format_args!(
            "more than {ranked} rounds hold {query:?}; ranked are those of the sessions inscribed last. More words, or --since, --session, --engagement or --agent, look through all"
        ));
    }
    if args.json {
        let with_reference = |hit: &Hit| {
            let mut value = serde_json::to_value(hit)?;
            value["ref"] = json!(reference(hit));
            Ok(value)
        };
        out_json(&hits.iter().map(with_reference).collect::<serde_json::Result<Vec<_>>>()?)?;
        return Ok(Exit::Done);
    }
    let look = Look::of(env);
    for hit in &hits {
        out(line(hit, look));
    }
    match hits.first() {
        None => out(format_args!("no round holds {query:?} (searched is what is inscribed)")),
        Some(hit) => {
            let more = if hits.len() == args.limit { "; --limit shows more" } else { "" };
            out(format_args!("in full: brain-guard inject {}{more}", reference(hit)));
        }
    }
    Ok(Exit::Done)
}

/// A round that was found, on two lines.
pub fn line(hit: &Hit, look: Look) -> String {
    let tag = hit.engagement.as_ref().map(|id| format!("  #{id}")).unwrap_or_default();
    let (begin, end) = if look.colour { ("\x1b[1m", "\x1b[0m") } else { ("[", "]") };
    format!(
        "{}  {}  {}{tag}\n       {}",
        reference(hit),
        table::minute(hit.started),
        hit.agent,
        hit.snippet.marked(begin, end)
    )
}

/// How `inject` is told which round.
fn reference(hit: &Hit) -> String {
    format!("{}:{}", table::short(&hit.session), table::number(hit.seq))
}
