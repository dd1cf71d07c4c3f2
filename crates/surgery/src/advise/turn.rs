//! Finds where a session turned to other work.

use chrono::TimeDelta;

use base::clock::Time;
use sessions::round::{Round, Session};
use store::engagement::Phase;

/// After a pause this long, work belongs to another day,
const PAUSE: TimeDelta = TimeDelta::hours(3);
/// once so many rounds show that it is other work: a session is often resumed to go on.
const OTHER: usize = 4;

/// The first round of other work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The round.
    pub seq: u32,
    /// When it began.
    pub at: Time,
    /// The reason: "the phase build", "a pause of 14 h".
    pub why: String,
}

/// The last turn in the context: a phase began, another engagement was taken up, or a long pause
/// ended.
pub fn last_turn(session: &Session, phases: &[Phase]) -> Option<Turn> {
    let context = session.in_context();
    let rounds: Vec<&Round> = context.iter().filter_map(|seq| session.round(*seq)).collect();
    // An engagement continues through untagged rounds.
    let mut engaged: Vec<Option<&str>> = Vec::with_capacity(rounds.len());
    for round in &rounds {
        let before = engaged.last().copied().flatten();
        engaged.push(round.engagement.as_deref().or(before));
    }
    (1..rounds.len()).rev().find_map(|n| {
        let (before, here) = (rounds[n - 1], rounds[n]);
        let at = here.started?;
        let phase = phases.iter().rev().find(|phase| {
            phase.from <= at && before.started.is_some_and(|earlier| earlier < phase.from)
        });
        let pause = before.ended.or(before.started).map(|ended| at - ended);
        let why = match (phase, engaged[n - 1], engaged[n]) {
            (Some(phase), ..) => format!("the phase {}", phase.name),
            // An engagement that work returns to, now or later, is not over.
            (None, Some(left), Some(taken))
                if left != taken
                    && !engaged[..n].contains(&Some(taken))
                    && !engaged[n..].contains(&Some(left)) =>
            {
                format!("the turn to {taken}")
            }
            _ => {
                let is_other = rounds.len() - n >= OTHER;
                let pause = pause.filter(|pause| *pause >= PAUSE && is_other)?;
                format!("a pause of {} h", pause.num_hours())
            }
        };
        Some(Turn { seq: here.seq, at, why })
    })
}

/// Where to cut a successor's context: at the last turn, else at the last third of the tokens.
/// `None` if there is nothing to cut off.
pub fn cut(session: &Session, phases: &[Phase]) -> Option<Turn> {
    if let Some(turn) = last_turn(session, phases) {
        return Some(turn);
    }
    let context = session.in_context();
    let rounds: Vec<&Round> = context.iter().filter_map(|seq| session.round(*seq)).collect();
    let third = rounds.iter().map(|r| r.tokens).sum::<u64>() / 3;
    let last = rounds.len().checked_sub(1).filter(|last| *last > 0)?;
    let mut kept = 0;
    let fits = |round: &&&Round| {
        kept += round.tokens;
        kept <= third
    };
    let behind = rounds.iter().rev().take_while(fits).count();
    let round = rounds[(rounds.len() - behind).clamp(1, last)];
    let at = round.started.or(session.started)?;
    Some(Turn { seq: round.seq, at, why: "the last third of its tokens".to_owned() })
}
