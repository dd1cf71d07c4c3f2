//! `tag` and `untag`: which engagement rounds belong to. Tags are in the index alone; the
//! blocks stay as they are.

mod found;
mod phases;

use std::collections::BTreeMap;

use anyhow::bail;
use serde_json::json;

use super::surgery::source::Store;
use super::{Exit, err, out, out_json};
use crate::cli::{TagArgs, UntagArgs};
use base::clock::Time;
use base::env::Env;
use sessions::round::Session;
use store::blocks::Folder;
use store::engagement;
use surgery::{ranges, table};

/// Runs `tag`.
///
/// # Errors
/// A session, round or id that is none.
pub fn run(env: &Env, now: Time, args: &TagArgs) -> anyhow::Result<Exit> {
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    let usage = |what: &str| {
        err(format_args!("{what}; see brain-guard tag --help"));
        Ok(Exit::Usage)
    };
    let (session, rounds, id) = match (&args.search, &args.from, words.as_slice()) {
        (Some(query), _, [id]) => {
            valid(id)?;
            return found::run(env, now, query, id, args);
        }
        (Some(_), ..) => {
            return usage("--search QUERY takes one engagement behind it, and nothing else");
        }
        (_, Some(file), []) => return phases::run(env, now, file, args),
        (_, Some(_), _) => return usage("--from reads the engagement from its file"),
        (_, _, [session, rounds, id]) => (Some(*session), *rounds, *id),
        (_, _, [rounds, id]) => (None, *rounds, *id),
        _ => return usage("a session, rounds and an engagement are needed"),
    };
    valid(id)?;
    if args.narrow.session.is_some() || args.narrow.agent.is_some() || args.narrow.since.is_some() {
        return usage("--session, --agent and --since belong to --search and --from");
    }
    change(env, session, rounds, Some(id), args.json)
}

/// Runs `untag`.
///
/// # Errors
/// As [`run`].
pub fn untag(env: &Env, args: &UntagArgs) -> anyhow::Result<Exit> {
    match args.words.as_slice() {
        [session, rounds] => change(env, Some(session), rounds, None, args.json),
        [rounds] => change(env, None, rounds, None, args.json),
        _ => Ok(Exit::Usage),
    }
}

/// Gives the named rounds of a session a tag, or takes theirs away.
fn change(
    env: &Env,
    session: Option<&str>,
    rounds: &str,
    engagement: Option<&str>,
    as_json: bool,
) -> anyhow::Result<Exit> {
    let store = Store::open(env)?;
    let session = store.session(env, session)?;
    let seqs = named(rounds, &session)?;
    let before = tags(&session, &seqs, engagement);
    let changed = store.index.tag(&store.folder(&session), &seqs, engagement)?;
    if as_json {
        out_json(&json!({
            "session": session.id,
            "agent": session.agent,
            "engagement": engagement,
            "rounds": ranges::show(&seqs),
            "changed": changed,
            "before": before,
        }))?;
        return Ok(Exit::Done);
    }
    let what = engagement.map_or("untagged".to_owned(), |id| format!("tagged {id}"));
    let rest = match seqs.len() - changed {
        0 => String::new(),
        same => format!(" ({same} as before)"),
    };
    out(format_args!(
        "{}:{} {what}{rest}",
        table::short(&session.id),
        ranges::show(&seqs).replace(", ", ",")
    ));
    for (id, seqs) in before {
        out(format_args!("  {seqs} had been tagged {id}"));
    }
    Ok(Exit::Done)
}

/// The rounds of a session that a text names: numbers and ranges of them, or `all`.
///
/// # Errors
/// What is no number, and what rounds there are.
fn named(text: &str, session: &Session) -> anyhow::Result<Vec<u32>> {
    let all = || session.rounds.iter().map(|round| round.seq);
    if text == "all" {
        return Ok(all().collect());
    }
    let named = ranges::parse(text)?;
    let last = all().max().unwrap_or_default();
    if let Some(beyond) = named.iter().find(|range| *range.end() > last) {
        let there = if last == 0 { "no rounds".to_owned() } else { format!("rounds 1-{last}") };
        bail!("session {} has {there}; there is no {}", session.id, ranges::show_range(beyond));
    }
    let mut seqs: Vec<u32> = named.into_iter().flatten().collect();
    seqs.sort_unstable();
    seqs.dedup();
    Ok(seqs)
}

/// The other tags that these rounds have: rounds by tag.
fn tags(session: &Session, seqs: &[u32], now: Option<&str>) -> BTreeMap<String, String> {
    let mut tags: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let named = session.rounds.iter().filter(|round| seqs.binary_search(&round.seq).is_ok());
    for round in named {
        if let Some(id) = round.engagement.as_ref().filter(|id| Some(id.as_str()) != now) {
            tags.entry(id.clone()).or_default().push(round.seq);
        }
    }
    tags.into_iter().map(|(id, seqs)| (id, ranges::show(&seqs))).collect()
}

/// That rounds can be tagged with it.
///
/// # Errors
/// An engagement's id that is none.
pub(super) fn valid(id: &str) -> anyhow::Result<()> {
    engagement::id_fault(id).map_or(Ok(()), |fault| Err(anyhow::anyhow!(fault)))
}

/// Rounds of several sessions, in the order in which they came.
type Groups = Vec<(Folder, Vec<u32>)>;

/// Puts a round to those of its session.
fn add(groups: &mut Groups, folder: Folder, seq: u32) {
    match groups.iter_mut().find(|(known, _)| *known == folder) {
        Some((_, seqs)) => seqs.push(seq),
        None => groups.push((folder, vec![seq])),
    }
}

/// Tags the rounds of each session, and tells; `left` is what else is to be said.
fn tag_all(
    store: &Store,
    mut groups: Groups,
    id: &str,
    left: Option<String>,
    as_json: bool,
) -> anyhow::Result<Exit> {
    let mut done = Vec::new();
    let mut changed = 0;
    for (folder, seqs) in &mut groups {
        seqs.sort_unstable();
        changed += store.index.tag(folder, seqs, Some(id))?;
        let rounds = ranges::show(seqs).replace(", ", ",");
        if as_json {
            let (session, agent) = (&folder.session, &folder.agent);
            done.push(json!({ "session": session, "agent": agent, "rounds": rounds }));
        } else {
            out(format_args!("{}:{rounds} tagged {id}", table::short(&folder.session)));
        }
    }
    if as_json {
        out_json(&json!({ "engagement": id, "changed": changed, "sessions": done }))?;
    } else if groups.is_empty() {
        out("nothing to tag");
    }
    if let Some(left) = left {
        err(left);
    }
    Ok(Exit::Done)
}
