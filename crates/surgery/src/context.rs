//! What a context holds, in tokens: its base (system prompt and tools), and its rounds. A plan's
//! context has the same base, the rounds that stay, its tables, and its summaries.

use super::plan::{Piece, Place, Plan};
use super::{export, lines};
use sessions::round::{Round, Session};

/// Bounds of the factor on rounds. Estimates and copies err by less; what is beyond the bounds was
/// never in a round.
const FACTOR: (f64, f64) = (0.5, 2.0);
/// Tokens of the text around a table.
const AROUND_A_TABLE: u64 = 210;
/// Bytes of a table line per token: it has many digits and signs.
const BYTES_A_TOKEN: u64 = 3;

/// What the context of a session holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Context {
    /// Tokens beside rounds, if they are known.
    pub base: Option<u64>,
    /// All tokens: as the last response measured, else the base and the rounds.
    pub now: u64,
    /// By this the tokens of rounds are multiplied, so that base and rounds give `now`.
    factor: f64,
}

impl Context {
    /// The context of a session.
    pub fn of(session: &Session) -> Self {
        let context = session.in_context();
        let rounds = context.iter().filter_map(|seq| session.round(*seq));
        Self::new(session.base, session.used, rounds.map(|round| round.tokens).sum())
    }

    fn new(base: Option<u64>, used: Option<u64>, rounds: u64) -> Self {
        let Some(now) = used else {
            return Self { base, now: base.unwrap_or(0).saturating_add(rounds), factor: 1.0 };
        };
        let held = base.map_or(rounds, |base| now.saturating_sub(base)) as f64;
        let factor = (held / rounds.max(1) as f64).clamp(FACTOR.0, FACTOR.1);
        let factor = factor.min(now as f64 / rounds.max(1) as f64);
        let context = Self { base, now, factor };
        Self { base: Some(now.saturating_sub(context.scaled(rounds))), ..context }
    }

    /// Tokens of rounds, as they count in this context.
    pub fn scaled(&self, tokens: u64) -> u64 {
        (tokens as f64 * self.factor).round() as u64
    }

    /// Tokens that are in rounds.
    pub fn in_rounds(&self) -> u64 {
        self.now.saturating_sub(self.base.unwrap_or(0))
    }

    /// The context without some tokens of its rounds. Something always stays.
    pub fn without(&self, tokens: u64) -> u64 {
        with_base(self.base, self.in_rounds().saturating_sub(tokens))
    }
}

/// A context with this base, and tokens beside it. No request is without a message.
fn with_base(base: Option<u64>, tokens: u64) -> u64 {
    base.unwrap_or(0).saturating_add(tokens.max(1))
}

/// How to count what a plan's context holds.
pub struct Measure<'m> {
    /// Counts a text that surgery writes.
    pub text: &'m dyn Fn(&str) -> u64,
    /// Counts the summary that a compaction left.
    pub summary: &'m dyn Fn(&Round, Place) -> u64,
    /// The share of a whole round that stays.
    pub share: &'m dyn Fn(Place) -> f64,
}

/// The context before and after a plan, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// What both contexts hold beside rounds, if it is known.
    pub base: Option<u64>,
    /// The context of the source; of several sources, of the largest.
    pub before: u64,
    /// The context of the new session.
    pub after: u64,
    /// The part of `before` after the first change.
    pub behind: u64,
    /// What surgery writes: tables, with the text around them.
    pub added: u64,
}

impl Change {
    /// What a plan changes.
    pub fn of(plan: &Plan, measure: &Measure) -> Self {
        let contexts: Vec<Context> = plan.sessions.iter().map(Context::of).collect();
        let base = contexts.iter().filter_map(|context| context.base).max();
        let Some((number, main)) = contexts.iter().enumerate().max_by_key(|(_, c)| c.now) else {
            return Self { base, before: 0, after: 0, behind: 0, added: 0 };
        };
        let scaled = |place: Place| {
            let tokens = plan.at(place).map_or(0, |(_, round)| round.tokens);
            contexts.get(place.session).unwrap_or(main).scaled(tokens)
        };
        let table = |text: &str| main.scaled((measure.text)(text) + AROUND_A_TABLE);
        let (mut held, mut added) = (0, 0);
        for piece in &plan.pieces {
            match piece {
                Piece::Round(place) => {
                    held += (scaled(*place) as f64 * (measure.share)(*place)).round() as u64;
                }
                Piece::Index(places) => added += table(&lines::of(plan, places).join("\n")),
                Piece::Summary(place) => {
                    let round = plan.at(*place).map(|(_, round)| round);
                    held += main.scaled(round.map_or(0, |round| (measure.summary)(round, *place)));
                }
            }
        }
        if plan.voices {
            added += table(&export::voices(plan));
        }
        // Unchanged rounds at the start are still in the prompt cache.
        let unchanged = plan.whole().take(if number == 0 { plan.unchanged() } else { 0 });
        let unchanged = unchanged.take_while(|place| (measure.share)(*place) >= 1.0);
        let unchanged: u64 = unchanged.map(scaled).sum();
        Self {
            base,
            before: main.now,
            after: with_base(base, held + added),
            behind: main.in_rounds().saturating_sub(unchanged),
            added,
        }
    }

    /// The same without reading a row: tables are counted by their bytes. Agrees with a count
    /// within a few percent.
    pub fn estimate(plan: &Plan) -> Self {
        Self::of(
            plan,
            &Measure {
                text: &|text| text.len() as u64 / BYTES_A_TOKEN,
                summary: &|round, _| round.tokens,
                share: &|_| 1.0,
            },
        )
    }

    /// Tokens that leave the context.
    pub fn frees(&self) -> u64 {
        self.before.saturating_sub(self.after)
    }
}

#[cfg(test)]
mod tests;
