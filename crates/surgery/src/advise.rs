//! Recommends surgery for a session, by a decision tree over its rounds.

mod beside;
mod turn;

use serde::Serialize;

pub use beside::Beside;
pub use turn::{Turn, cut, last_turn};

use super::plan::in_context;
use super::ranges;
use super::table::{self, short};
use base::shown::format_minute;
use sessions::round::{Round, Session};
use store::engagement::Phase;

/// Least tokens to free for a new session to be worth it.
const WORTH: u64 = 2_000;
/// An engagement without a round among this many last ones is over.
const QUIET: usize = 5;
/// Least switches between two engagements to call them interleaved.
const CHANGES: usize = 3;
/// Bytes of text per token, on average.
const BYTES_A_TOKEN: u64 = 4;

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
    /// Tokens that it frees; 0 if that is not the point.
    pub frees: u64,
    /// The command to run; empty if there is nothing to do.
    pub command: String,
}

/// All recommendations in the tree's order, at least one. `phases` come from the project's
/// `engagement.md`.
pub fn advise(session: &Session, phases: &[Phase], beside: &Beside) -> Vec<Advice> {
    let context = in_context(session);
    let rounds: Vec<&Round> = context.iter().filter_map(|seq| session.round(*seq)).collect();
    let mut found = Vec::new();
    found.extend(finished(session, &rounds, phases));
    let names = engagements(&rounds);
    found.extend(names.iter().filter_map(|name| closed(session, &rounds, name)));
    found.extend(separate(session, &rounds, &names));
    found.extend(beside.parallel(session));
    if found.is_empty() {
        found.push(nothing_left(session, &rounds, phases));
    }
    found
}

/// Tokens that rounds take beyond their lines in an index.
fn freed(rounds: &[&Round]) -> u64 {
    let beyond = |round: &&Round| {
        round.tokens.saturating_sub(table::line(round).len() as u64 / BYTES_A_TOKEN)
    };
    rounds.iter().map(beyond).sum()
}

fn tokens(rounds: &[&Round]) -> u64 {
    rounds.iter().map(|round| round.tokens).sum()
}

/// A share of the context, in words.
fn share(part: u64, rounds: &[&Round]) -> String {
    let percent = (part * 100).checked_div(tokens(rounds)).unwrap_or(0);
    format!("{part} of {} tokens, {percent} %", tokens(rounds))
}

fn numbers(rounds: &[&Round]) -> String {
    let seqs: Vec<u32> = rounds.iter().map(|round| round.seq).collect();
    let word = if seqs.len() == 1 { "round" } else { "rounds" };
    format!("{word} {}", ranges::show(&seqs))
}

fn finished(session: &Session, rounds: &[&Round], phases: &[Phase]) -> Option<Advice> {
    let turn = last_turn(session, phases)?;
    let before: Vec<&Round> = rounds.iter().copied().filter(|r| r.seq < turn.seq).collect();
    let frees = freed(&before);
    (frees >= WORTH && before.len() > 1).then(|| Advice {
        case: Case::FinishedWork,
        why: format!(
            "{} lie before {} ({}): {}",
            numbers(&before),
            turn.why,
            format_minute(Some(turn.at)),
            share(tokens(&before), rounds)
        ),
        frees,
        command: format!(
            "brain-guard surgery compress-before {} round:{}",
            short(&session.id),
            turn.seq
        ),
    })
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

fn closed(session: &Session, rounds: &[&Round], name: &str) -> Option<Advice> {
    let own = of(rounds, name);
    let last = own.last()?.seq;
    let since = rounds.iter().filter(|r| r.seq > last).count();
    let frees = freed(&own);
    (since >= QUIET && frees >= WORTH).then(|| Advice {
        case: Case::ClosedEngagement,
        why: format!(
            "{name} has {} and none of the last {since}: {}",
            numbers(&own),
            share(tokens(&own), rounds)
        ),
        frees,
        command: format!("brain-guard surgery compress-engagement {} {name}", short(&session.id)),
    })
}

/// Two live engagements that alternate: recommends to extract the one not worked on last.
fn separate(session: &Session, rounds: &[&Round], names: &[&str]) -> Option<Advice> {
    let [.., other, current] = names else { return None };
    let line: Vec<&str> = rounds.iter().filter_map(|r| r.engagement.as_deref()).collect();
    let line: Vec<&str> =
        line.into_iter().filter(|name| [other, current].contains(&name)).collect();
    let changes = line.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let own = of(rounds, other);
    let since = rounds.iter().filter(|r| own.last().is_some_and(|last| r.seq > last.seq)).count();
    let frees = tokens(&own);
    (changes >= CHANGES && since < QUIET && frees >= WORTH).then(|| Advice {
        case: Case::SeparateWorkstream,
        why: format!(
            "{other} and {current} alternate {changes} times; {other} has {}: {}",
            numbers(&own),
            share(frees, rounds)
        ),
        frees,
        command: format!("brain-guard surgery extract-engagement {} {other}", short(&session.id)),
    })
}

fn nothing_left(session: &Session, rounds: &[&Round], phases: &[Phase]) -> Advice {
    let cut = cut(session, phases);
    let before: Vec<&Round> =
        rounds.iter().copied().filter(|r| cut.as_ref().is_some_and(|c| r.seq < c.seq)).collect();
    let then = if cut.is_some() {
        "a successor would start with a compressed context"
    } else {
        "there is nothing to compress; continue in this session"
    };
    Advice {
        case: Case::NothingLeft,
        why: format!(
            "the context has {} of {} tokens; no finished or separate work in it is \
             worth an operation; {then}",
            if rounds.len() == 1 {
                "1 round".to_owned()
            } else {
                format!("{} rounds", rounds.len())
            },
            tokens(rounds)
        ),
        frees: freed(&before),
        command: cut
            .map_or_else(String::new, |_| format!("brain-guard revive {}", short(&session.id))),
    }
}

#[cfg(test)]
mod tests;
