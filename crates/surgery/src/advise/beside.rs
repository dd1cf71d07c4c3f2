//! Sessions that ran at the same time.

use std::collections::HashSet;

use super::{Advice, Case, Find, change};
use crate::plan::{self, Plan};
use crate::table::short;
use base::clock::Time;
use base::shown::local_minute;
use sessions::operation::{Fidelity, Operation};
use sessions::round::{Round, Session};

/// Most merges to recommend.
const NAMED: usize = 3;

/// The other sessions of a session's project.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// When surgery made the current session, if it did.
    pub made: Option<Time>,
    /// The other sessions, each with the time surgery made it, if it did.
    pub others: Vec<(Session, Option<Time>)>,
}

/// Work of two sessions in the same period.
struct Parallel<'a> {
    other: &'a Session,
    from: Time,
    to: Time,
    own: usize,
    its: usize,
}

impl Beside {
    /// Recommends merges with sessions that ran in parallel, those with the most rounds first.
    pub(super) fn parallel(&self, session: &Session, find: &mut Find) -> Vec<Advice> {
        let others = self.others.iter();
        let mut found: Vec<Parallel> =
            others.filter_map(|(other, made)| self.with(session, other, *made)).collect();
        found.sort_by_key(|parallel| std::cmp::Reverse(parallel.own.min(parallel.its)));
        let more = found.len().saturating_sub(NAMED);
        found.truncate(NAMED);
        let mut advice: Vec<Advice> =
            found.iter().map(|found| found.advice(session, find)).collect();
        if let Some(last) = advice.last_mut().filter(|_| more > 0) {
            last.why = format!("{}; {more} more ran then, with fewer rounds", last.why);
        }
        advice
    }

    /// Compares the rounds of both sessions in the period they share. Ignores subagents, and
    /// sessions made from each other. Rounds that surgery or a client copied do not count: they
    /// keep the times of the original.
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
        let known: HashSet<_> = other.rounds.iter().map(|round| other.origin(round)).collect();
        let within = |r: &&Round| r.started.is_some_and(|at| at >= from && at <= to);
        let (mut own, mut its) = (0, other.rounds.iter().filter(within).count());
        for round in session.rounds.iter().filter(within) {
            if known.contains(&session.origin(round)) {
                its = its.saturating_sub(1);
            } else {
                own += 1;
            }
        }
        // A single question in another session is not parallel work.
        (from < to && own > 1 && its > 1).then_some(Parallel { other, from, to, own, its })
    }
}

impl Parallel<'_> {
    fn advice(&self, session: &Session, find: &mut Find) -> Advice {
        let Self { other, from, to, own, its } = self;
        let merged = plan::merge(session.clone(), (*other).clone(), Fidelity::default());
        let change = change(merged.map(|plan| Plan { voices: true, ..plan }), find);
        let with = short(&other.id).to_owned();
        let why = format!(
            "{with} ran at the same time from {} to {}: {own} rounds here, {its} there",
            local_minute(Some(*from)),
            local_minute(Some(*to))
        );
        let operation = Operation::Merge { with, has_table: true };
        Advice::new(session, Case::ParallelSessions, why, operation, change)
    }
}
