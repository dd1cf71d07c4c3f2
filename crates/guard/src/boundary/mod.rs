//! The boundary between one session and the next. A one-shot token only moves forward. Every hook
//! and carrier may move it, and none can repeat a step.

pub mod arrival;
pub mod budget;
mod delivery;
pub mod plan;
mod settings;
pub mod wait;

use chrono::TimeDelta;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::policy::stance::Ranks;
use base::clock::Time;
pub use notes::job::{Client, Delivery};
pub use settings::{BoundarySettings, CarrierChoice, Times};

/// Why a session without notes of its own is not cleared: what it knows would be lost.
pub const NOTHING_WRITTEN: &str = "no new notes were written in this session";

/// Why a restart waits for longer than its notice.
const SHORTLY_BEFORE: &str = ", because the last restart was shortly before";

/// The step a boundary has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// The notes are not sealed and a person is there. When the person counts as gone, the guard
    /// seals and opens a new boundary.
    Unsealed,
    /// Sealed. The turn has not ended yet, or the notice is running.
    Pending,
    /// The carrier was told to clear.
    Clearing,
    /// The new session exists.
    Cleared,
    /// The text is in the new conversation, and no answer has come yet.
    Delivered,
    /// The new session has answered.
    Acknowledged,
    /// It ended without a working new session; `why` has the reason.
    Failed,
    /// It is not wanted any more; `why` has the reason. The session goes on.
    Withdrawn,
}

impl Step {
    /// Its name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unsealed => "unsealed",
            Self::Pending => "pending",
            Self::Clearing => "clearing",
            Self::Cleared => "cleared",
            Self::Delivered => "delivered",
            Self::Acknowledged => "acknowledged",
            Self::Failed => "failed",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// Why a boundary ended without success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// The compaction file lost its seal. The agent can seal again, so the blocks stay and the
    /// turn's end says so.
    Edited,
    /// The clear did not come. It may still come, because the client first runs what its user
    /// queued.
    Late,
    /// The client is gone.
    ClientEnded,
    /// The user left the session with `/resume`.
    Left,
    /// A reason that no code depends on, as text.
    #[serde(untagged)]
    Other(String),
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Edited => "the compaction file was edited after its seal",
            Self::Late => "the session was not cleared in time",
            Self::ClientEnded => "the client ended",
            Self::Left => "the user went to another session",
            Self::Other(why) => why,
        })
    }
}

impl From<&str> for EndReason {
    fn from(why: &str) -> Self {
        Self::Other(why.to_owned())
    }
}

impl From<String> for EndReason {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

/// What holds back the clear of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hold {
    /// A prompt came during the notice. The hold ends with its turn.
    Prompt,
    /// The user pressed Escape. The hold ends after their next prompt.
    Escape,
}

/// What performs a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Carrier {
    /// In process, by the plugin's module.
    Mod,
    /// Keys into the client's tmux pane.
    Tmux,
    /// Keys into the client's X11 window.
    X11,
    /// The user types `/clear`; the hooks deliver and wake the new session.
    Manual,
}

impl Carrier {
    /// The name used in settings and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mod => "mod",
            Self::Tmux => "tmux",
            Self::X11 => "x11",
            Self::Manual => "manual",
        }
    }
}

/// One boundary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// The id. The delivered text contains it, which identifies the delivery.
    pub id: String,
    /// The job that was sealed, focused or completed.
    pub job: String,
    /// The ranks of the tiers that asked for the seal; zero for a seal by hand, a focus or a
    /// completion.
    #[serde(default)]
    pub asked: Ranks,
    /// The session that ends.
    pub parent: String,
    /// The session that begins, once it exists.
    pub child: Option<String>,
    /// The step it has reached.
    pub step: Step,
    /// Why it failed.
    pub why: Option<EndReason>,
    /// What performs it.
    pub carrier: Carrier,
    /// What it waits for after its keys were refused.
    #[serde(default)]
    pub waits: Option<String>,
    /// Carriers that failed.
    #[serde(default)]
    pub tried: Vec<Carrier>,
    /// What it delivers.
    #[serde(default)]
    pub delivery: Delivery,
    /// Whether the carrier starts the new session's first turn; otherwise the hook does.
    #[serde(default)]
    pub kicks_off: bool,
    /// Version of the sealed file; 0 if none is delivered.
    pub version: u64,
    /// Path of the delivered text: the sealed file, or a copy of another delivery.
    pub sealed: String,
    /// The client's process.
    pub client: Option<Client>,
    /// When it was created.
    pub created: Time,
    /// When it reached the step.
    pub since: Time,
    /// When the job's last boundary is long enough ago.
    pub not_before: Option<Time>,
    /// When the notice to an attended user ends.
    pub notice_until: Option<Time>,
    /// What holds the clear back.
    pub hold: Option<Hold>,
    /// The operator asked not to wait for anything.
    #[serde(default)]
    pub at_once: bool,
    /// The user was told that the session restarts.
    #[serde(default)]
    pub told: bool,
    /// The guard ended the turn itself after the seal, so a person did not interrupt it.
    pub cut: bool,
    /// Turns of the new session that ended without an answer.
    pub unanswered: u32,
    /// When to ask the new session to continue.
    pub retry_at: Option<Time>,
}

impl Token {
    /// Moves forward to `step`. Returns `false` without a change for any other direction.
    pub fn advance(&mut self, step: Step, now: Time) -> bool {
        let forward = step > self.step && self.step < Step::Acknowledged;
        // A delivered text cannot be taken back; the boundary can only wait for an answer.
        let allowed = forward && !(step == Step::Failed && self.step == Step::Delivered);
        if allowed {
            (self.step, self.since) = (step, now);
        }
        allowed
    }

    /// Ends it without success. Returns `false` if it is too late for that.
    pub fn fail(&mut self, why: impl Into<EndReason>, now: Time) -> bool {
        let failed = self.advance(Step::Failed, now);
        if failed {
            self.why = Some(why.into());
        }
        failed
    }

    /// Ends it before the clear, because it is not wanted any more. Returns `false` if it is too
    /// late for that.
    pub fn withdraw(&mut self, why: impl Into<EndReason>, now: Time) -> bool {
        let withdrawn = self.step <= Step::Clearing && self.advance(Step::Withdrawn, now);
        if withdrawn {
            self.why = Some(why.into());
        }
        withdrawn
    }

    /// Keeps the session for this turn, because a person wants to go on. The notice restarts when
    /// the turn ends.
    pub fn cancel(&mut self) {
        self.hold = (self.step == Step::Pending).then_some(Hold::Prompt);
        self.notice_until = None;
    }

    /// A person pressed Escape. Turns that nobody began (a background command's end) do not count
    /// until their next prompt.
    pub fn stop(&mut self) {
        self.cancel();
        self.hold = self.hold.map(|_| Hold::Escape);
    }

    /// Continues after a late clear, so that the notes still arrive. Returns `false` for any other
    /// failure. After an hour the clear is the user's own and the notes are old.
    pub fn revive(&mut self, now: Time) -> bool {
        let late = self.clear_timed_out() && now - self.since < TimeDelta::hours(1);
        if late {
            (self.step, self.since, self.why) = (Step::Cleared, now, None);
        }
        late
    }

    /// Whether it failed only because the clear did not come in time.
    pub fn clear_timed_out(&self) -> bool {
        self.step == Step::Failed && self.why == Some(EndReason::Late)
    }

    /// Ends it because nobody is left to answer: the client ended, or went to another session. Only
    /// this ends a delivered text that has no answer.
    pub fn abandon(&mut self, why: impl Into<EndReason>, now: Time) {
        if self.live() {
            (self.step, self.since) = (Step::Failed, now);
            self.why = Some(why.into());
        }
    }

    /// Passes it to the next carrier; without one it fails. Works only before the clear.
    pub fn hand_on(&mut self, next: Option<Carrier>, why: impl Into<EndReason>, now: Time) {
        if self.step > Step::Clearing {
            return;
        }
        self.tried.push(self.carrier);
        match next {
            Some(next) => (self.carrier, self.since) = (next, now),
            None => {
                self.fail(why, now);
            }
        }
    }

    /// Whether the hooks of the new session's start deliver the file.
    pub fn hooks_deliver(&self) -> bool {
        self.carrier != Carrier::Mod
    }

    /// Whether the carrier, not the hook, starts the new session's first turn.
    pub fn carrier_starts(&self) -> bool {
        self.carrier == Carrier::Mod || self.kicks_off
    }

    /// Whether it has not ended yet.
    pub fn live(&self) -> bool {
        self.step < Step::Acknowledged
    }

    /// Whether the session waits for its carrier, even if something holds the clear back.
    pub fn awaits_carrier_or_held(&self, session: &str) -> bool {
        self.parent == session && matches!(self.step, Step::Pending | Step::Clearing)
    }

    /// Whether the session waits for a person before its notes are sealed.
    pub fn waits_for_person(&self, session: &str) -> bool {
        self.parent == session && self.step == Step::Unsealed
    }

    /// Whether the session waits for its carrier, or the boundary failed.
    pub fn awaits_carrier_or_failed(&self, session: &str) -> bool {
        self.awaits_carrier(session) || (self.parent == session && self.step == Step::Failed)
    }

    /// Whether the main loop should only end its turn.
    pub fn awaits_carrier(&self, session: &str) -> bool {
        self.awaits_carrier_or_held(session) && self.hold.is_none()
    }
}

/// A token for tests.
#[cfg(test)]
pub mod testing {
    use super::{Carrier, Delivery, Step, Time, Token};

    /// A token of the plugin's module at a step.
    ///
    /// # Panics
    /// Never.
    pub fn token(step: Step) -> Token {
        let at: Time = "2026-01-01T00:00:00Z".parse().expect("a time");
        Token {
            id: "t".into(),
            job: "j".into(),
            asked: crate::policy::stance::Ranks::default(),
            parent: "old".into(),
            child: None,
            step,
            why: None,
            carrier: Carrier::Mod,
            waits: None,
            tried: Vec::new(),
            delivery: Delivery::Sealed,
            kicks_off: false,
            version: 1,
            sealed: "/s/v0001.md".into(),
            client: None,
            created: at,
            since: at,
            not_before: None,
            notice_until: None,
            hold: None,
            told: false,
            at_once: false,
            cut: false,
            unanswered: 0,
            retry_at: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::token;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_delivered_text_is_never_failed() {
        let mut t = token(Step::Delivered);
        assert!(!t.fail("x", t.created));
        assert_eq!((t.step, t.why), (Step::Delivered, None));
    }

    #[test]
    fn only_abandoning_ends_what_was_delivered() {
        let mut t = token(Step::Delivered);
        t.abandon(EndReason::ClientEnded, t.created);
        assert_eq!((t.step, &t.why), (Step::Failed, &Some(EndReason::ClientEnded)));
        let mut t = token(Step::Acknowledged);
        t.abandon(EndReason::ClientEnded, t.created);
        assert_eq!(t.step, Step::Acknowledged);
    }

    #[test]
    fn the_next_carrier_takes_over_until_none_is_left() {
        let mut t = token(Step::Clearing);
        t.hand_on(Some(Carrier::Tmux), "no answer", t.created);
        assert_eq!(
            (t.step, t.carrier, t.tried.as_slice()),
            (Step::Clearing, Carrier::Tmux, &[Carrier::Mod][..])
        );
        t.hand_on(None, "the pane is gone", t.created);
        assert_eq!((t.step, &t.why), (Step::Failed, &Some("the pane is gone".into())));
        let mut t = token(Step::Cleared);
        t.hand_on(Some(Carrier::Tmux), "x", t.created);
        assert_eq!(t.carrier, Carrier::Mod);
    }

    #[test]
    fn only_a_late_clear_revives() {
        let mut t = token(Step::Clearing);
        assert!(!t.revive(t.created));
        assert!(t.fail(EndReason::Late, t.created) && t.revive(t.created));
        assert_eq!((t.step, &t.why), (Step::Cleared, &None));
        let mut t = token(Step::Clearing);
        assert!(t.fail("the client ended", t.created) && !t.revive(t.created));
        let mut t = token(Step::Clearing);
        assert!(t.fail(EndReason::Late, t.created) && !t.revive(t.created + TimeDelta::hours(1)));
    }

    proptest! {
        #[test]
        fn forward_only(steps in proptest::collection::vec(0usize..7, 0..20)) {
            use Step::{
                Acknowledged, Cleared, Clearing, Delivered, Failed, Pending, Unsealed, Withdrawn,
            };
            let all = [Pending, Clearing, Cleared, Delivered, Acknowledged, Failed, Withdrawn];
            let mut t = token(Unsealed);
            let mut seen = vec![t.step];
            for s in steps {
                if t.advance(all[s], t.created) {
                    seen.push(t.step);
                }
            }
            prop_assert!(seen.windows(2).all(|w| w[0] < w[1]));
            let after_end = seen.iter().position(|s| *s >= Acknowledged).map_or(0, |i| seen.len() - 1 - i);
            prop_assert_eq!(after_end, 0);
        }
    }
}
