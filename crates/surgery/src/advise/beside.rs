//! Sessions that ran at the same time.

use std::collections::HashSet;

use super::{Advice, Case};
use crate::table::short;
use base::clock::Time;
use base::shown::minute;
use sessions::round::{Round, Session};

/// Merges that are named at most.
const NAMED: usize = 3;

/// The other sessions of a session's project.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// When surgery made the session that is looked at, where it did.
    pub made: Option<Time>,
    /// The others, and when surgery made them.
    pub others: Vec<(Session, Option<Time>)>,
}

/// Work of two sessions that fell together.
struct Parallel<'a> {
    other: &'a Session,
    from: Time,
    to: Time,
    own: usize,
    its: usize,
}

impl Beside {
    /// The merges with sessions that ran while this one did, those with the most rounds first.
    pub(super) fn parallel(&self, session: &Session) -> Vec<Advice> {
        let others = self.others.iter();
        let mut found: Vec<Parallel> =
            others.filter_map(|(other, made)| self.with(session, other, *made)).collect();
        found.sort_by_key(|parallel| std::cmp::Reverse(parallel.own.min(parallel.its)));
        let more = found.len().saturating_sub(NAMED);
        found.truncate(NAMED);
        let mut advice: Vec<Advice> = found.iter().map(|found| found.advice(session)).collect();
        if let Some(last) = advice.last_mut().filter(|_| more > 0) {
            last.why = format!("{}; {more} more ran then, with fewer rounds", last.why);
        }
        advice
    }

    /// Another session that rounds of both fall together with in time. Sessions that one was
    /// made from the other, and those of subagents, are no parallel work; nor is what surgery
    /// copied into a session, which has the times of the work that it is, or a client into both.
    fn with<'a>(
        &self,
        session: &Session,
        other: &'a Session,
        made: Option<Time>,
    ) -> Option<Parallel<'a>> {
        let from_each_other = |a: &Session, b: &Session| a.parent.as_deref() == Some(b.id.as_str());
        let subagent = |s: &Session| s.id.starts_with("agent-") && s.parent.is_some();
        if session.id == other.id
            || session.dialect != other.dialect
            || from_each_other(session, other)
            || from_each_other(other, session)
            || subagent(session)
            || subagent(other)
        {
            return None;
        }
        let began = |session: &Session, made: Option<Time>| {
            session.started.map(|at| made.map_or(at, |m| at.max(m)))
        };
        let from = began(session, self.made)?.max(began(other, made)?);
        let to = session.ended?.min(other.ended?);
        // What a client copied into a fork keeps its time and its words.
        let words = |round: &'a Round| Some((round.started?, round.said.as_deref()?));
        let known: HashSet<_> = other.rounds.iter().filter_map(words).collect();
        let within = |r: &&Round| r.started.is_some_and(|at| at >= from && at <= to);
        let (mut own, mut its) = (0, other.rounds.iter().filter(within).count());
        for round in session.rounds.iter().filter(within) {
            let copied = round.started.zip(round.said.as_deref());
            if copied.is_some_and(|words| known.contains(&words)) {
                its = its.saturating_sub(1);
            } else {
                own += 1;
            }
        }
        // One question asked beside is no parallel work.
        (from < to && own > 1 && its > 1).then_some(Parallel { other, from, to, own, its })
    }
}

impl Parallel<'_> {
    fn advice(&self, session: &Session) -> Advice {
        let Self { other, from, to, own, its } = self;
        Advice {
            case: Case::ParallelSessions,
            why: format!(
                "{} ran at the same time from {} to {}: {own} rounds here, {its} there",
                short(&other.id),
                minute(Some(*from)),
                minute(Some(*to))
            ),
            frees: 0,
            command: format!(
                "brain-guard surgery merge {} {}",
                short(&session.id),
                short(&other.id)
            ),
        }
    }
}
