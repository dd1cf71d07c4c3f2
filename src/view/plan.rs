//! What is planned, and what it comes to.

use super::message::{Done, Figures};
use crate::cmd::advise::percent;
use base::shown::{breaks_even, tokens};
use base::when::When;
use sessions::cost::Cost;
use sessions::operation::{Fate, Fates, Operation, Order};
use sessions::round::Session;

/// The plan for the open session. Nothing is done yet.
#[derive(Debug, Clone, Default)]
pub struct Pending {
    /// What becomes of single rounds; the others stay.
    pub fates: Fates,
    /// An operation on the whole session, in place of fates.
    pub whole: Option<Operation>,
    /// Which version of the plan it is. Figures of another one are old.
    pub number: u64,
    /// Figures, or why the plan can't be.
    pub figures: Option<Result<Vec<Figures>, String>>,
    /// Why it is recommended.
    pub why: Option<String>,
}

/// A step that can be taken back.
#[derive(Debug, Clone)]
pub enum Step {
    /// The plan for a session, by its id, before a change of it.
    Planned(String, Box<Pending>),
    /// Something was done.
    Done(Done),
}

impl Step {
    /// Whether it is a plan for this session.
    pub fn is_plan_of(&self, session: &str) -> bool {
        matches!(self, Self::Planned(of, _) if of == session)
    }
}

impl Pending {
    /// Whether nothing is planned.
    pub fn is_empty(&self) -> bool {
        self.order().is_none()
    }

    /// The plan as an order; `None` if everything stays.
    pub fn order(&self) -> Option<Order> {
        let operation = match &self.whole {
            Some(operation) => operation.clone(),
            None if self.fates.values().any(|fate| *fate != Fate::Keep) => {
                Operation::Edit(self.fates.clone())
            }
            None => return None,
        };
        Some(Order::from(operation))
    }

    /// The next version of the plan, with other rounds.
    #[must_use]
    pub fn with_fate(&self, seqs: &[u32], fate: &Fate) -> Self {
        let mut fates = if self.whole.is_some() { Fates::new() } else { self.fates.clone() };
        for seq in seqs {
            if *fate == Fate::Keep {
                fates.remove(seq);
            } else {
                fates.insert(*seq, fate.clone());
            }
        }
        Self { fates, number: self.number + 1, ..Self::default() }
    }

    /// The next version: this operation.
    #[must_use]
    pub fn with_operation(&self, operation: Operation, why: Option<String>) -> Self {
        Self { whole: Some(operation), why, number: self.number + 1, ..Self::default() }
    }

    /// The next version: nothing is planned.
    #[must_use]
    pub fn emptied(&self) -> Self {
        Self { number: self.number + 1, ..Self::default() }
    }

    /// Takes figures of this version.
    pub fn take_figures(&mut self, number: u64, figures: Result<Vec<Figures>, String>) {
        if number == self.number {
            self.figures = Some(figures);
        }
    }

    /// The mark of a round: `i`, `s`, `d` or `x`.
    pub fn mark(&self, seq: u32) -> Option<char> {
        if let Some(Operation::CompressBefore(When::Round(cut))) = self.whole {
            return (seq < cut).then_some('i');
        }
        self.fates.get(&seq).and_then(|fate| match fate {
            Fate::Keep => None,
            Fate::Index => Some('i'),
            Fate::Shrink => Some('s'),
            Fate::Drop => Some('d'),
            Fate::Engagement(_) => Some('x'),
        })
    }

    /// The lines below the rounds: figures, and the command that does the same.
    pub fn lines(&self, session: &Session, limit: Option<u64>) -> Vec<String> {
        let Some(order) = self.order() else { return Vec::new() };
        let mut lines = match &self.figures {
            None => vec!["…".to_owned()],
            Some(Err(why)) => vec![why.clone()],
            Some(Ok(figures)) => figures.iter().map(|one| line(one, limit)).collect(),
        };
        if order.operation == Operation::Split(None) && matches!(self.figures, Some(Ok(_))) {
            let context = session.in_context();
            let rounds = context.iter().filter_map(|seq| session.round(*seq));
            let untagged = rounds.filter(|round| round.is_work() && round.engagement.is_none());
            match untagged.count() {
                0 => {}
                1 => lines.push("1 round has no tag: a line of a table stands for it".to_owned()),
                count => lines
                    .push(format!("{count} rounds have no tag: lines of a table stand for them")),
            }
        }
        lines.extend(self.why.clone());
        lines.push(surgery::plan::command(session, &order.operation));
        lines
    }
}

/// `114k → 43k (12 → 4 %), breaks even after 5 requests; thinking left out: 14`.
fn line(figures: &Figures, limit: Option<u64>) -> String {
    let Cost { before, after, cold, .. } = figures.cost;
    let name = if figures.name.is_empty() { "" } else { &format!("{}: ", figures.name) };
    let share = limit
        .map(|limit| format!(" ({} → {} %)", percent(before, limit), percent(after, limit)))
        .unwrap_or_default();
    let pays = match figures.cost.pays_after() {
        None => "saves no tokens".to_owned(),
        Some(_) if cold => "saves at once, as the prompt cache has expired".to_owned(),
        Some(requests) => breaks_even(requests),
    };
    let left = match figures.thinking_left {
        0 => String::new(),
        count => format!("; thinking blocks left out: {count}"),
    };
    format!("{name}{} → {}{share}, {pays}{left}", tokens(before), tokens(after))
}
