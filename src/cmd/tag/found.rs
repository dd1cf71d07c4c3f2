//! `tag --search`: finds candidates by their words, and tags them after the user agrees.

use std::io::{self, IsTerminal as _};

use anyhow::bail;
use serde::Serialize;

use super::{add, tag_all};
use crate::cli::TagArgs;
use crate::cmd::look::Look;
use crate::cmd::search::{self, filter};
use crate::cmd::surgery::source::Store;
use crate::cmd::{Exit, Failure, ask, out, out_json};
use base::clock::Time;
use base::env::Env;
use store::index::{Filter, Hit, Tagged};
use surgery::ranges;

#[derive(Serialize)]
struct Candidates<'a> {
    engagement: &'a str,
    candidates: &'a [Hit],
}

/// Shows the candidates, asks, and tags them.
///
/// # Errors
/// A query without a word; an unknown session.
pub fn run(env: &Env, now: Time, query: &str, id: &str, args: &TagArgs) -> anyhow::Result<Exit> {
    let store = Store::open(env)?;
    store.tell_unknown()?;
    let tagged = if args.retag { Tagged::Not(id.to_owned()) } else { Tagged::No };
    let filter = Filter { tagged, ..filter(&store, env, now, &args.narrow)? };
    let mut hits = store.index.search(query, &filter, args.limit)?;
    if hits.is_empty() {
        let such = if args.retag { "other round" } else { "untagged round" };
        bail!("no {such} holds {query:?} (only imported sessions are searched)");
    }
    if args.json && !args.yes {
        out_json(&Candidates { engagement: id, candidates: &hits })?;
        return Err(Failure::refused("nothing was tagged").hint("--yes tags these").into());
    }
    if !args.json {
        let look = Look::of(env);
        for (n, hit) in hits.iter().enumerate() {
            out(format_args!("{:>3}  {}", n + 1, search::line(hit, look)));
        }
    }
    if !args.yes {
        if !io::stdin().is_terminal() {
            let what = "nothing was tagged: there is no terminal to ask on";
            let hint = format!("--yes tags these {} as {id}", hits.len());
            return Err(Failure::refused(what).hint(hint).into());
        }
        hits = chosen(
            hits,
            &ask(&format!("tag these as {id}? y, or the numbers of those to tag (1-3,5): "))?,
        )?;
        if hits.is_empty() {
            out("nothing was tagged");
            return Ok(Exit::Refused);
        }
    }
    let mut groups = Vec::new();
    for hit in hits {
        add(&mut groups, store.root.folder(&hit.agent, &hit.session), hit.seq);
    }
    tag_all(&store, groups, id, None, args.json)
}

/// The candidates that an answer selects: all for `y`, some by their numbers in the list, else
/// none.
///
/// # Errors
/// Numbers that are not in the list.
fn chosen(hits: Vec<Hit>, answer: &str) -> anyhow::Result<Vec<Hit>> {
    if ["y", "yes"].contains(&answer.to_lowercase().as_str()) {
        return Ok(hits);
    }
    if !answer.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(Vec::new());
    }
    let ranges = ranges::parse(answer)?;
    if let Some(beyond) = ranges.iter().find(|range| *range.end() as usize > hits.len()) {
        bail!("the list has no {}; nothing was tagged", beyond.end());
    }
    let taken = |n: usize| ranges.iter().any(|range| range.contains(&(n as u32 + 1)));
    Ok(hits.into_iter().enumerate().filter(|(n, _)| taken(*n)).map(|(_, hit)| hit).collect())
}
