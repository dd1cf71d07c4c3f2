//! How rounds stand to the next request.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{RowState, Rows, Sequence};
use crate::dialect::Kind;

/// Where a round is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The client sends it.
    #[default]
    InContext,
    /// A compaction removed it from the context.
    Compacted,
    /// The user went back to before it.
    Rewound,
    /// A row behind it names a parent that is not in the file, so the client does not find it.
    Cut,
}

/// Rows of a round: those with an id, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The round.
    pub seq: u32,
    /// Its rows.
    pub rows: Range<u32>,
}

/// How a round stands to the next request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Standing {
    /// Where it is now.
    pub state: State,
    /// Its position among the rounds in the context, from 0.
    pub place: Option<u32>,
    /// Which rows stand for it, in order, if not all of its own. What a compaction kept of the end
    /// of an earlier round is part of the compaction's round.
    pub parts: Vec<Part>,
}

/// How each round stands, from round 1.
pub(super) fn of(sequence: &Sequence, rows: &Rows, ends: &[usize]) -> Vec<Standing> {
    let begins = || ends.iter().copied();
    let spans: Vec<Range<usize>> =
        begins().zip(begins().skip(1).chain([rows.len()])).map(|(from, to)| from..to).collect();
    let round_of = |row: usize| ends.partition_point(|end| *end <= row);
    let counts = |row: &usize| {
        let link = &rows.links[*row];
        !matches!(sequence.states[*row], RowState::Copy | RowState::Beside)
            && (link.kind != Kind::Boundary || link.has_words)
    };
    let is_written = |row: &usize| counts(row) || sequence.states[*row] == RowState::Copy;
    let opening = |span: &Range<usize>| span.clone().find(counts).or(span.clone().next());
    let mut standings: Vec<Standing> = Vec::with_capacity(spans.len());
    for (at, span) in spans.iter().enumerate() {
        let before = standings.last().map_or(State::InContext, |before| before.state);
        let state = match opening(span).map(|row| sequence.states[row]) {
            Some(RowState::Sent) => State::InContext,
            Some(RowState::Compacted) => State::Compacted,
            Some(RowState::Rewound) => State::Rewound,
            Some(RowState::Cut) => State::Cut,
            Some(RowState::Copy | RowState::Beside) | None => before,
        };
        let kept = |row: &usize| {
            counts(row) && (state != State::Compacted || sequence.states[*row] != RowState::Rewound)
        };
        let all = span.clone().filter(is_written).count();
        let own: Vec<usize> = span.clone().filter(kept).collect();
        let parts =
            if own.len() == all { Vec::new() } else { parts(&own, &|_| at + 1, &|_| span.start) };
        standings.push(Standing { state, place: None, parts });
    }
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    // What hooks say when a session starts is before its first round.
    let mut ahead = Vec::new();
    for row in sequence.rows.iter().copied().filter(counts) {
        let round = round_of(row);
        let opens = round > 0 && opening(&spans[round - 1]) == Some(row);
        match groups.last_mut() {
            Some((_, rows)) if !opens => rows.push(row),
            _ if round > 0 => {
                let mut rows = std::mem::take(&mut ahead);
                rows.push(row);
                groups.push((round, rows));
            }
            _ if rows.links[row].kind == Kind::Attachment => ahead.push(row),
            _ => {}
        }
    }
    // A compaction whose summary is not there yet.
    let sent = standings.iter_mut().filter(|standing| standing.state == State::InContext);
    for (place, standing) in (groups.len() as u32..).zip(sent) {
        standing.place = Some(place);
    }
    let begin_of = |round: usize| if round == 0 { 0 } else { spans[round - 1].start };
    for (place, (round, sent)) in groups.into_iter().enumerate() {
        let span = spans[round - 1].clone();
        let mut sorted = sent.clone();
        sorted.sort_unstable();
        let is_whole = sorted.into_iter().eq(span.filter(is_written))
            && !sent.iter().any(|row| rows.is_early(*row));
        let parts = if is_whole { Vec::new() } else { parts(&sent, &round_of, &begin_of) };
        let place = Some(place as u32);
        standings[round - 1] = Standing { state: State::InContext, place, parts };
    }
    standings
}

/// Rows as runs that follow each other in one round.
fn parts(
    rows: &[usize],
    round_of: &dyn Fn(usize) -> usize,
    begin_of: &dyn Fn(usize) -> usize,
) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for row in rows {
        let round = round_of(*row);
        let (seq, at) = (round as u32, (row - begin_of(round)) as u32);
        match parts.last_mut() {
            Some(part) if part.seq == seq && part.rows.end == at => part.rows.end += 1,
            _ => parts.push(Part { seq, rows: at..at + 1 }),
        }
    }
    parts
}
