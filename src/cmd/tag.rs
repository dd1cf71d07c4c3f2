//! `tag`: which engagement rounds belong to. Tags are only in the index; the blocks do
//! not change.

mod found;
pub mod matrix;
mod phases;

use std::collections::BTreeMap;
use std::fmt;

use anyhow::bail;
use serde::Serialize;

use super::surgery::source::Store;
use super::{Context, Exit, Failure, Run, err, show};
use crate::cli::{TagArgs, TagVerb};
use base::env::Env;
use base::shown::count_with_noun;
use sessions::round::Session;
use store::blocks::Folder;
use store::engagement;
use surgery::{ranges, table};

impl Run for TagArgs {
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        let Context { env, now } = context;
        if let Some(TagVerb::Matrix(args)) = &self.what {
            return args.run(context);
        }
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let usage =
            |what: &str| Err(Failure::usage(what).hint("see brain-guard tag --help").into());
        let narrow = &self.narrow;
        let is_narrowed =
            narrow.session.is_some() || narrow.agent.is_some() || narrow.since.is_some();
        let narrowed = "--session, --agent and --since belong to --search and --from";
        if self.remove {
            let (session, rounds) = match words.as_slice() {
                _ if is_narrowed => return usage(narrowed),
                [session, rounds] => (Some(*session), *rounds),
                [rounds] => (None, *rounds),
                [_, _, ..] => return usage("--remove takes [SESSION] ROUNDS, and no engagement"),
                [] => return usage("rounds are missing: `brain-guard tag --remove [SESSION] 3-5`"),
            };
            show(&Retagged::make(env, session, rounds, None)?, self.json)?;
            return Ok(Exit::Done);
        }
        let (session, rounds, id) = match (&self.search, &self.from, words.as_slice()) {
            (Some(query), _, [id]) => {
                valid(id)?;
                return found::run(env, now, query, id, self);
            }
            (Some(_), ..) => {
                return usage("--search QUERY takes one engagement behind it, and nothing else");
            }
            (_, Some(file), []) => return phases::run(env, now, file, self),
            (_, Some(_), _) => return usage("--from reads the engagement from its file"),
            (_, _, [session, rounds, id]) => (Some(*session), *rounds, *id),
            (_, _, [rounds, id]) => (None, *rounds, *id),
            _ => {
                return usage(
                    "rounds or the engagement are missing: `brain-guard tag [SESSION] 3-5 console-work`",
                );
            }
        };
        let is_rounds = |text: &str| text == "all" || ranges::parse(text).is_ok();
        if is_rounds(id) && !is_rounds(rounds) {
            let what = match session {
                Some(_) => "the rounds come before the engagement",
                None => "the engagement is missing",
            };
            return usage(&format!("{what}: `brain-guard tag [SESSION] 3-5 console-work`"));
        }
        valid(id)?;
        if is_narrowed {
            return usage(narrowed);
        }
        show(&Retagged::make(env, session, rounds, Some(id))?, self.json)?;
        Ok(Exit::Done)
    }
}

/// Rounds whose tag was changed.
#[derive(Debug, Serialize)]
pub(crate) struct Retagged {
    session: String,
    agent: String,
    engagement: Option<String>,
    rounds: String,
    changed: usize,
    /// The tags they had before: rounds by tag.
    before: BTreeMap<String, String>,
    #[serde(skip)]
    unchanged: usize,
    /// The same with those that had this tag already.
    #[serde(skip)]
    pub(crate) all_before: BTreeMap<String, String>,
}

impl Retagged {
    /// Sets the tag of the named rounds of a session, or removes it.
    pub(crate) fn make(
        env: &Env,
        session: Option<&str>,
        rounds: &str,
        engagement: Option<&str>,
    ) -> anyhow::Result<Self> {
        let store = Store::open(env)?;
        let session = store.session(env, session)?;
        let seqs = named(rounds, &session)?;
        let before = tags(&session, &seqs, engagement);
        let changed = store.index.tag(&store.folder(&session), &seqs, engagement)?;
        Ok(Self {
            all_before: tags(&session, &seqs, None),
            session: session.id,
            agent: session.agent,
            engagement: engagement.map(str::to_owned),
            rounds: ranges::show(&seqs),
            changed,
            before,
            unchanged: seqs.len() - changed,
        })
    }

    /// How many rounds were tagged, in words.
    pub(crate) fn brief(&self) -> String {
        let rounds = count_with_noun(self.changed + self.unchanged, "round", "rounds");
        match &self.engagement {
            Some(id) => format!("{rounds} tagged {id}"),
            None => format!("{rounds} without a tag now"),
        }
    }
}

impl fmt::Display for Retagged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (session, rounds) = (table::short(&self.session), self.rounds.replace(", ", ","));
        match &self.engagement {
            Some(id) => write!(f, "{session}:{rounds} tagged {id}")?,
            None if self.changed == 0 => return write!(f, "{session}:{rounds} had no tag"),
            None => write!(f, "{session}:{rounds} untagged")?,
        }
        if self.unchanged > 0 {
            write!(f, " ({} as before)", self.unchanged)?;
        }
        self.before.iter().try_for_each(|(id, seqs)| write!(f, "\n  {seqs} had been tagged {id}"))
    }
}

/// The rounds that a text names: numbers and ranges of them, or `all`. Tables and summaries in a range
/// are left out.
///
/// # Errors
/// A part that is no number; rounds that do not exist, or only tables and summaries.
fn named(text: &str, session: &Session) -> anyhow::Result<Vec<u32>> {
    let work = |named: &dyn Fn(u32) -> bool| -> Vec<u32> {
        let rounds = session.rounds.iter().filter(|round| named(round.seq) && round.is_work());
        rounds.map(|round| round.seq).collect()
    };
    if text == "all" {
        return Ok(work(&|_| true));
    }
    let named = ranges::parse(text).map_err(Failure::usage)?;
    let last = session.rounds.last().map_or(0, |round| round.seq);
    if let Some(beyond) = named.iter().find(|range| *range.end() > last) {
        let range = ranges::show_range(beyond);
        bail!("there are no rounds {range} in {}: {}", session.id, session.describe_rounds());
    }
    let seqs = work(&|seq| named.iter().any(|range| range.contains(&seq)));
    if seqs.is_empty() {
        bail!(
            "no round in {text} can have a tag: index tables and summaries have no engagement; tag \
             the rounds that they stand for"
        );
    }
    Ok(seqs)
}

/// The other tags of these rounds: rounds by tag.
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

/// Checks an engagement's id.
///
/// # Errors
/// An invalid id.
pub(crate) fn valid(id: &str) -> anyhow::Result<()> {
    engagement::id_fault(id).map_or(Ok(()), |fault| Err(Failure::usage(fault).into()))
}

/// Rounds by session, in order of first appearance.
type Groups = Vec<(Folder, Vec<u32>)>;

/// Adds a round to its session's group.
fn add(groups: &mut Groups, folder: Folder, seq: u32) {
    match groups.iter_mut().find(|(known, _)| *known == folder) {
        Some((_, seqs)) => seqs.push(seq),
        None => groups.push((folder, vec![seq])),
    }
}

#[derive(Debug, Serialize)]
struct TaggedAll {
    engagement: String,
    changed: usize,
    sessions: Vec<TaggedSession>,
}

#[derive(Debug, Serialize)]
struct TaggedSession {
    session: String,
    agent: String,
    rounds: String,
}

impl fmt::Display for TaggedAll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sessions.is_empty() {
            return f.write_str("nothing to tag");
        }
        self.sessions.iter().try_for_each(|TaggedSession { session, rounds, .. }| {
            writeln!(f, "{}:{rounds} tagged {}", table::short(session), self.engagement)
        })
    }
}

/// Tags the rounds of each session and prints the result. `left` is an extra line for stderr.
fn tag_all(
    store: &Store,
    groups: Groups,
    id: &str,
    left: Option<String>,
    json: bool,
) -> anyhow::Result<Exit> {
    let mut all = TaggedAll { engagement: id.to_owned(), changed: 0, sessions: Vec::new() };
    for (folder, mut seqs) in groups {
        seqs.sort_unstable();
        all.changed += store.index.tag(&folder, &seqs, Some(id))?;
        let rounds = ranges::show(&seqs).replace(", ", ",");
        all.sessions.push(TaggedSession { session: folder.session, agent: folder.agent, rounds });
    }
    show(&all, json)?;
    if let Some(left) = left {
        err(left);
    }
    Ok(Exit::Done)
}
