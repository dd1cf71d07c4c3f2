//! Recommends surgery for a session, by a decision tree over its rounds.

mod beside;
mod turn;

use serde::Serialize;

pub use beside::Beside;
pub use turn::{Turn, cut, last_turn};

use super::context::Change;
use super::plan::{self, Plan, Refused, command};
use super::ranges;
use base::shown::format_minute;
use base::when::When;
use sessions::operation::{Fidelity, Operation};
use sessions::round::{Round, Session};
use store::engagement::Phase;

/// Least tokens to free for a new session to be worth it.
const WORTH: u64 = 2_000;
/// An engagement without a round among this many last ones is over.
const QUIET: usize = 5;
/// Least switches between two engagements to call them interleaved.
const CHANGES: usize = 3;

/// The situation of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Case {
    /// Finished work is accumulating.
    FinishedWork,
    /// One engagement is closed, others are live.
    ClosedEngagement,
    /// One engagement needs its own agent.
    SeparateWorkstream,
    /// Parallel sessions need synthesis.
    ParallelSessions,
    /// No work is known to be finished, but old rounds take room.
    OldRounds,
    /// Nothing more to compress.
    NothingLeft,
}

impl Case {
    /// A description of the case.
    pub fn words(self) -> &'static str {
        match self {
            Self::FinishedWork => "finished work is accumulating",
            Self::ClosedEngagement => "one engagement is closed, others are live",
            Self::SeparateWorkstream => "one engagement needs its own session",
            Self::ParallelSessions => "parallel sessions need synthesis",
            Self::OldRounds => "old rounds take up room",
            Self::NothingLeft => "nothing more to compress",
        }
    }
}

/// A recommendation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// The situation it is for.
    pub case: Case,
    /// The evidence, in numbers.
    pub why: String,
    /// Tokens that it frees; 0 if the context grows.
    pub frees: u64,
    /// Tokens in the new session's context; `None` if there is nothing to do.
    pub after: Option<u64>,
    /// What to do, if anything.
    #[serde(skip)]
    pub operation: Option<Operation>,
    /// The same as a command; empty if there is nothing to do.
    pub command: String,
}

impl Advice {
    fn new(
        session: &Session,
        case: Case,
        why: String,
        operation: Operation,
        change: Option<Change>,
    ) -> Self {
        Self {
            case,
            why,
            frees: change.map_or(0, |change| change.frees()),
            after: change.map(|change| change.after),
            command: command(session, &operation),
            operation: Some(operation),
        }
    }
}

/// Loads a session that tables name, by its id.
pub type Find<'f> = dyn FnMut(&str) -> Option<Session> + 'f;

/// All recommendations, at least one: those that make the session shorter, the best first, then the
/// others. `phases` come from the project's `engagement.md`.
pub fn advise(
    session: &Session,
    phases: &[Phase],
    beside: &Beside,
    find: &mut Find,
) -> Vec<Advice> {
    let context = session.in_context();
    let rounds: Vec<&Round> = context.iter().filter_map(|seq| session.round(*seq)).collect();
    let mut found = Vec::new();
    found.extend(finished(session, &rounds, phases, find));
    let names = engagements(&rounds);
    found.extend(names.iter().filter_map(|name| closed(session, &rounds, name, find)));
    found.sort_by_key(|advice| std::cmp::Reverse(advice.frees));
    found.extend(separate(session, &rounds, &names, find));
    if found.is_empty() {
        found.extend(old(session, &rounds, phases, find));
    }
    found.extend(beside.parallel(session, find));
    if found.is_empty() {
        found.push(nothing_left(&rounds));
    }
    found
}

/// What a plan would change.
fn change(plan: Result<Plan, Refused>, find: &mut Find) -> Option<Change> {
    let mut plan = plan.ok()?;
    plan.carry(find);
    Some(Change::estimate(&plan))
}

/// Recommends a plan if it frees enough.
fn worth(plan: Result<Plan, Refused>, find: &mut Find) -> Option<Change> {
    change(plan, find).filter(|change| change.frees() >= WORTH)
}

fn tokens(rounds: &[&Round]) -> u64 {
    rounds.iter().map(|round| round.tokens).sum()
}

fn numbers(rounds: &[&Round]) -> String {
    let mut seqs: Vec<u32> = rounds.iter().map(|round| round.seq).collect();
    seqs.sort_unstable();
    let word = if seqs.len() == 1 { "round" } else { "rounds" };
    format!("{word} {}", ranges::show(&seqs))
}

/// Recommends to compress the rounds before a turn.
fn before(
    case: Case,
    session: &Session,
    rounds: &[&Round],
    turn: &Turn,
    find: &mut Find,
) -> Option<Advice> {
    let before: Vec<&Round> =
        rounds.iter().copied().take_while(|round| round.seq != turn.seq).collect();
    let cut = When::Round(turn.seq);
    let change = worth(plan::compress_before(session.clone(), cut, Fidelity::default()), find)?;
    let first = session.round(turn.seq).map(|round| round.user_preview.as_str());
    let first = first.filter(|words| !words.is_empty());
    let first = first.map(|words| format!("; round {} is the first to stay: {words}", turn.seq));
    let why = format!(
        "{} {} before {} ({}){}",
        numbers(&before),
        if before.len() == 1 { "lies" } else { "lie" },
        turn.why,
        format_minute(Some(turn.at)),
        first.unwrap_or_default()
    );
    let operation = Operation::CompressBefore(cut);
    (before.len() > 1 || case == Case::OldRounds)
        .then(|| Advice::new(session, case, why, operation, Some(change)))
}

fn finished(
    session: &Session,
    rounds: &[&Round],
    phases: &[Phase],
    find: &mut Find,
) -> Option<Advice> {
    before(Case::FinishedWork, session, rounds, &last_turn(session, phases)?, find)
}

/// The oldest rounds up to the last third, if nothing better is known.
fn old(session: &Session, rounds: &[&Round], phases: &[Phase], find: &mut Find) -> Option<Advice> {
    before(Case::OldRounds, session, rounds, &cut(session, phases)?, find)
}

/// The engagements of these rounds, the most recent one last.
fn engagements<'r>(rounds: &[&'r Round]) -> Vec<&'r str> {
    let mut names: Vec<&str> = Vec::new();
    for name in rounds.iter().filter_map(|r| r.engagement.as_deref()) {
        names.retain(|known| *known != name);
        names.push(name);
    }
    names
}

fn of<'r>(rounds: &[&'r Round], name: &str) -> Vec<&'r Round> {
    rounds.iter().copied().filter(|r| r.engagement.as_deref() == Some(name)).collect()
}

fn closed(session: &Session, rounds: &[&Round], name: &str, find: &mut Find) -> Option<Advice> {
    let own = of(rounds, name);
    let last = own.last()?.seq;
    let since = rounds.iter().rev().take_while(|round| round.seq != last).count();
    let compressed = || plan::compress_engagement(session.clone(), name, Fidelity::default());
    let change = if since < QUIET { None } else { worth(compressed(), find) }?;
    let why = format!("{name} has {} and none of the last {since}", numbers(&own));
    let operation = Operation::CompressEngagement(name.to_owned());
    Some(Advice::new(session, Case::ClosedEngagement, why, operation, Some(change)))
}

/// Two live engagements that alternate: recommends to extract the one not worked on last.
fn separate(
    session: &Session,
    rounds: &[&Round],
    names: &[&str],
    find: &mut Find,
) -> Option<Advice> {
    let [.., other, current] = names else { return None };
    let line: Vec<&str> = rounds.iter().filter_map(|r| r.engagement.as_deref()).collect();
    let line: Vec<&str> =
        line.into_iter().filter(|name| [other, current].contains(&name)).collect();
    let changes = line.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let own = of(rounds, other);
    let last = own.last()?.seq;
    let since = rounds.iter().rev().take_while(|round| round.seq != last).count();
    if changes < CHANGES || since >= QUIET || tokens(&own) < WORTH {
        return None;
    }
    let extracted = plan::extract_engagement(session.clone(), other, Fidelity::default());
    let change = change(extracted, find)?;
    let why =
        format!("{other} and {current} alternate {changes} times; {other} has {}", numbers(&own));
    let operation = Operation::ExtractEngagement((*other).to_owned());
    Some(Advice::new(session, Case::SeparateWorkstream, why, operation, Some(change)))
}

fn nothing_left(rounds: &[&Round]) -> Advice {
    let held = match rounds.len() {
        1 => "1 round".to_owned(),
        number => format!("{number} rounds"),
    };
    Advice {
        case: Case::NothingLeft,
        why: format!(
            "the context has {held}; no operation would free {WORTH} tokens; continue in this session"
        ),
        frees: 0,
        after: None,
        operation: None,
        command: String::new(),
    }
}

#[cfg(test)]
mod tests;
