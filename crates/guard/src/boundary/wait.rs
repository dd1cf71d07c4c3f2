//! The waiting states of a boundary: who ends each one, and when at the latest. A state without
//! both would stop a run. The waiter process uses its own rows. The other rows describe
//! `hook::rewake` and the person's next turn.

use chrono::Duration;

use super::{BoundarySettings, Carrier, EndReason, Step, Token};

/// Who ends a wait that takes too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The process that follows the end of a turn (`hook --rewake`).
    TurnEnd,
    /// The boundary's own process (`waiter`).
    Waiter,
    /// A person, who uses the session; nothing is blocked.
    Person,
}

/// A wait of a boundary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// Who ends it.
    pub owner: Owner,
    /// How long it may take. It counts from the start of the step, or for [`Owner::TurnEnd`] from
    /// the last prompt. `None` only for [`Owner::Person`].
    pub limit: Option<Duration>,
    /// Why the boundary continues or ends when the time is over.
    pub why: EndReason,
}

/// What a token waits for in its step; `None` if it has ended. `agents`: some still run.
pub fn wait(token: &Token, agents: bool, settings: &BoundarySettings) -> Option<Wait> {
    let seconds = |seconds: u64| Duration::seconds(seconds.clamp(1, 86_400) as i64);
    let step = seconds(settings.times.step_seconds.min(3_600));
    let give_up = seconds(settings.times.give_up_seconds);
    let attended = Duration::minutes(settings.attended_minutes.min(100_000) as i64);
    let types = matches!(token.carrier, Carrier::Tmux | Carrier::X11);
    let (owner, limit, why) = match token.step {
        Step::Unsealed => (Owner::TurnEnd, attended, "the person is gone".into()),
        Step::Pending if token.hold.is_some() => {
            return Some(Wait {
                owner: Owner::Person,
                limit: None,
                why: "a person has the session".into(),
            });
        }
        Step::Pending if token.carrier == Carrier::Manual => {
            (Owner::TurnEnd, attended, EndReason::Late)
        }
        Step::Pending => {
            let agents = if agents { settings.times.agents_wait_seconds } else { 0 };
            let notice = seconds(settings.attended_notice_seconds.saturating_add(agents));
            let (acts, why) = if types {
                (give_up, "the carrier could not act in time")
            } else {
                (step, "the plugin's module did not act")
            };
            (Owner::Waiter, notice + acts, why.into())
        }
        // Carriers that type keys retry for longer.
        Step::Clearing => (Owner::Waiter, if types { give_up } else { step }, EndReason::Late),
        Step::Cleared => (Owner::Waiter, step * 3, "the notes were not delivered in time".into()),
        Step::Delivered => {
            (Owner::Waiter, answer(settings), "the fresh session did not answer in time".into())
        }
        Step::Acknowledged | Step::Failed | Step::Withdrawn => return None,
    };
    Some(Wait { owner, limit: Some(limit), why })
}

/// The time for a new session's first answer: all retries, and the turns between them.
pub fn answer(settings: &BoundarySettings) -> Duration {
    let retries =
        settings.times.retry_seconds.iter().fold(0, |all: u64, one| all.saturating_add(*one));
    Duration::seconds(retries.min(86_400) as i64) + Duration::hours(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::testing::token;

    #[test]
    fn every_waiting_state_has_an_owner_and_a_deadline() {
        let settings = BoundarySettings::default();
        let steps = [
            Step::Unsealed,
            Step::Pending,
            Step::Clearing,
            Step::Cleared,
            Step::Delivered,
            Step::Acknowledged,
            Step::Failed,
        ];
        let carriers = [Carrier::Mod, Carrier::Tmux, Carrier::X11, Carrier::Manual];
        for step in steps {
            for carrier in carriers {
                let hold = Some(crate::boundary::Hold::Prompt);
                for (hold, agents) in [(None, false), (hold, false), (None, true)] {
                    let token = Token { carrier, hold, ..token(step) };
                    let Some(wait) = wait(&token, agents, &settings) else {
                        assert!(!token.live(), "{token:?}");
                        continue;
                    };
                    if let Some(limit) = wait.limit {
                        assert!(limit < Duration::hours(3), "{token:?}: {limit}");
                    } else {
                        assert_eq!(wait.owner, Owner::Person, "{token:?}");
                        assert!(!token.awaits_carrier("old"), "nothing is blocked: {token:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_retries_of_a_first_answer_are_outlived() {
        let settings = BoundarySettings::default();
        let retries: u64 = settings.times.retry_seconds.iter().sum();
        assert!(retries > 60 * 60, "an API that is away for an hour is asked again");
        assert!(answer(&settings) > Duration::seconds(retries as i64 + 30 * 60));
    }
}
