//! Decides a carrier's next action in one pure step: the carrier reports, and the answer is one
//! action. The module follows it and decides nothing.

use chrono::Duration;
use serde::{Deserialize, Serialize};

use super::{BoundarySettings, Carrier, EndReason, Hold, SHORTLY_BEFORE, Step, Token};
use base::clock::Time;
use base::shown::remaining;

/// What a carrier reports.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Report {
    /// A main-loop turn of a session ended.
    TurnComplete {
        /// The model answered (the turn has usage).
        #[serde(default)]
        answered: bool,
        /// A person stopped the turn.
        #[serde(default)]
        is_aborted: bool,
    },
    /// The requested wait is over.
    Waited,
    /// The carrier begins, for example in a client that resumed the session, or begins again; or a
    /// command between two turns wants it to.
    #[serde(alias = "agreed")]
    Begun,
    /// The session was cleared.
    Cleared,
    /// The text was handed to the client.
    Submitted {
        /// Why the client dropped it, if it did.
        #[serde(default)]
        dropped: Option<String>,
    },
    /// An action failed.
    Failed {
        /// The action that failed.
        #[serde(default)]
        what: String,
        /// The client's error message.
        #[serde(default)]
        why: String,
    },
}

impl Report {
    /// Whether a person pressed Escape, or the guard ended the turn itself.
    pub fn is_escape(&self) -> bool {
        matches!(self, Self::TurnComplete { is_aborted: true, .. })
    }
}

/// A carrier's next action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "lowercase")]
pub enum Action {
    /// Nothing more.
    None,
    /// Wait and show `status`.
    Wait {
        /// Milliseconds.
        ms: u64,
        /// The text for the status strip.
        status: String,
        /// Whether the user may answer it with "later" or "now".
        choice: bool,
        /// Whether the session is cleared within seconds.
        soon: bool,
    },
    /// Clear the session.
    Clear {
        /// The token's id.
        token: String,
    },
    /// Start the next turn with the text.
    Submit {
        /// The token's id.
        token: String,
        /// Which text to submit.
        #[serde(skip)]
        what: Text,
        /// The text; the caller fills it in.
        text: String,
    },
}

/// The texts a carrier may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Text {
    /// The sealed file with its kick-off.
    #[default]
    Delivery,
    /// One line that asks the session to go on.
    Continue,
}

/// The facts that a report is judged by.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The session the report is about.
    pub session: &'a str,
    /// When the person at the terminal counts as gone; `None` if nobody is there.
    pub gone_at: Option<Time>,
    /// Why the operator keeps the session, if they do.
    pub held: Option<&'a str>,
    /// Whether there are notes to restart from.
    pub has_notes: bool,
    /// Why the boundary is not wanted any more, if so.
    pub gone: Option<&'a str>,
    /// When somebody last changed the prompt box, if known.
    pub typed: Option<Time>,
    /// Background agents that still run.
    pub agents: u32,
    /// The delivery is valid: the seal is unbroken, or none is needed.
    pub sealed: bool,
    /// The carrier that can take over.
    pub next: Option<Carrier>,
    /// The current time.
    pub now: Time,
    /// The settings.
    pub settings: &'a BoundarySettings,
}

/// Takes a report, moves the token forward, and returns the next action.
pub fn next(token: &mut Token, report: &Report, at: &Situation) -> Action {
    match report {
        // A person who pressed Escape wants to speak first. The end of their next turn reports
        // again.
        Report::TurnComplete { is_aborted: true, .. }
            if token.parent == at.session && token.step > Step::Unsealed && !token.cut =>
        {
            token.stop();
            Action::None
        }
        Report::TurnComplete { .. } if token.parent == at.session => turn_ended(token, at),
        Report::TurnComplete { answered, is_aborted }
            if token.child.as_deref() == Some(at.session) =>
        {
            answer(token, *answered, *is_aborted, at)
        }
        Report::Begun if token.step <= Step::Pending => turn_ended(token, at),
        // The module never got the order to clear.
        Report::Begun if token.step == Step::Clearing && token.parent == at.session => {
            token.step = Step::Pending;
            turn_ended(token, at)
        }
        // Whoever should have delivered the notes died.
        Report::Begun
            if token.step == Step::Cleared
                && token.child.as_deref() == Some(at.session)
                && at.now - token.since >= OVERDUE =>
        {
            submit(token, Text::Delivery)
        }
        Report::Waited if token.step == Step::Unsealed => wait_for_person(at),
        Report::Waited if token.step == Step::Pending => waited(token, at),
        Report::Waited if token.step == Step::Delivered => continue_now(token, at),
        Report::Cleared => {
            token.advance(Step::Cleared, at.now);
            if token.step == Step::Cleared { submit(token, Text::Delivery) } else { Action::None }
        }
        Report::Submitted { dropped: None } => {
            token.advance(Step::Delivered, at.now);
            Action::None
        }
        Report::Failed { what, why } => {
            // After a failed submit the token is still cleared, so the hooks wake the session
            // instead.
            token.hand_on(at.next, format!("{what} failed: {why}"), at.now);
            Action::None
        }
        // After a dropped delivery the token is still cleared: the hooks wake the session, or its
        // next prompt gets the file.
        Report::TurnComplete { .. }
        | Report::Waited
        | Report::Begun
        | Report::Submitted { dropped: Some(_) } => Action::None,
    }
}

/// How long after a clear its delivery is overdue.
const OVERDUE: Duration = Duration::seconds(7);

fn submit(token: &Token, what: Text) -> Action {
    Action::Submit { token: token.id.clone(), what, text: String::new() }
}

/// Waits while the notes are not sealed. Another process seals them once the person counts as gone,
/// and a new boundary replaces this one.
fn wait_for_person(at: &Situation) -> Action {
    let left = at.gone_at.map_or(Duration::zero(), |gone| gone - at.now);
    let status = unsealed_status(left, at.held, at.has_notes);
    let ms = millis(left + SEALING).min(LOOK);
    Action::Wait { ms, status, choice: at.has_notes, soon: false }
}

/// What happens to a session whose notes are not sealed. Its user counts as away after `left`.
pub fn unsealed_status(left: Duration, held: Option<&str>, has_notes: bool) -> String {
    let is_due = left <= Duration::zero();
    let when = if is_due { "now".to_owned() } else { format!("in {}", remaining(left)) };
    match held {
        Some(why) => held_status(why),
        None if !has_notes => format!(
            "No new notes, so this session does not restart; {when}, the blocks are lifted and the agent goes on. /brain-guard:seal asks for notes"
        ),
        None if is_due => "This session restarts from unfinished notes now".to_owned(),
        None => format!(
            "This session restarts from unfinished notes {when}; a prompt from you goes first"
        ),
    }
}

fn held_status(why: &str) -> String {
    format!("This session does not restart: {why}")
}

/// The time a carrier allows for that seal.
const SEALING: Duration = Duration::seconds(2);

fn turn_ended(token: &mut Token, at: &Situation) -> Action {
    if token.step == Step::Unsealed {
        return wait_for_person(at);
    }
    if token.step != Step::Pending || token.hold == Some(Hold::Escape) {
        return Action::None;
    }
    // The notice runs by the clock. Turns that nobody began (a monitor's event, an agent's end) do
    // not restart it.
    token.hold = None;
    // The carrier's time starts here and not at the seal, because turns may lie between.
    token.since = at.now;
    if at.gone.is_none() && !at.sealed {
        token.fail(EndReason::Edited, at.now);
        return Action::None;
    }
    waited(token, at)
}

fn waited(token: &mut Token, at: &Situation) -> Action {
    match due(token, at) {
        Due::Held => Action::None,
        Due::Later { ms, status, soon } => Action::Wait { ms, status, choice: true, soon },
        Due::Now => {
            token.advance(Step::Clearing, at.now);
            Action::Clear { token: token.id.clone() }
        }
    }
}

/// Whether a pending boundary may clear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Due {
    /// Not in this turn, or not at all.
    Held,
    /// After a wait.
    Later {
        /// Milliseconds.
        ms: u64,
        /// The status for the user.
        status: String,
        /// Whether it clears within seconds.
        soon: bool,
    },
    /// At once.
    Now,
}

/// Milliseconds between two updates of a notice.
const TICK: u64 = 1_000;

/// Milliseconds until a carrier checks again. The operator may start the boundary in the meantime.
const LOOK: u64 = 5_000;

/// How long a change of the prompt box holds the clock.
const TYPING: Duration = Duration::seconds(10);

/// For how long somebody who types holds it in all.
const TYPING_AT_MOST: Duration = Duration::minutes(10);

/// From this many seconds on, the clear is near.
const SOON: u64 = 10;

/// The shortest notice to a person.
const SHORTEST_NOTICE: u64 = 5;

/// Whether a pending boundary may clear. Withdraws one that is not wanted any more, and starts the
/// notice to an attended user.
pub fn due(token: &mut Token, at: &Situation) -> Due {
    if token.hold.is_some() {
        return Due::Held;
    }
    if token.at_once {
        return Due::Now;
    }
    if let Some(why) = at.gone {
        token.withdraw(why, at.now);
        return Due::Held;
    }
    if let Some(why) = at.held {
        token.notice_until = None;
        keep_waiting(token, at.now);
        return Due::Later { ms: LOOK, status: held_status(why), soon: false };
    }
    let agents_until = token.created + seconds(at.settings.times.agents_wait_seconds);
    if at.agents > 0 && at.now < agents_until {
        // An agent's end starts a turn that reports again. This wait is the upper bound.
        let agents = if at.agents == 1 { "agent" } else { "agents" };
        let status = format!("{} after {} background {agents}", token.restart(), at.agents);
        let ms = millis(agents_until - at.now).min(LOOK);
        return Due::Later { ms, status, soon: false };
    }
    let earliest = token.not_before.filter(|earliest| at.now < *earliest);
    if earliest.is_some() {
        keep_waiting(token, at.now);
    }
    let is_noticed = at.gone_at.is_some() && at.settings.attended_notice_seconds > 0;
    let restart = token.restart();
    let in_seconds = |left: u64, because: &str| {
        format!("{restart} in {left} s{because}; a prompt from you goes first")
    };
    if let Some(until) = earliest.filter(|_| !is_noticed) {
        let ms = millis(until - at.now);
        let status = in_seconds(ms.div_ceil(TICK), SHORTLY_BEFORE);
        return Due::Later { ms: (ms - 1) % TICK + 1, status, soon: false };
    }
    if is_noticed {
        let notice = seconds(at.settings.attended_notice_seconds.max(SHORTEST_NOTICE));
        let ends = (at.now + notice).max(earliest.unwrap_or(at.now));
        let ends = *token.notice_until.get_or_insert(ends);
        let held = at.typed.map_or(ends, |typed| (typed + TYPING).min(ends + TYPING_AT_MOST));
        let until = ends.max(held);
        if at.now < until {
            if at.now >= ends {
                // The carrier's time starts when nobody types any more.
                token.since = at.now;
            }
            let ms = millis(until - at.now);
            let left = ms.div_ceil(TICK);
            let because = if until == ends { token.delay_reason() } else { "" };
            let status = in_seconds(left, because);
            // Waits until the next whole second, so that the countdown skips none.
            return Due::Later { ms: (ms - 1) % TICK + 1, status, soon: left <= SOON };
        }
    }
    Due::Now
}

/// The carrier is alive and waits, so its time starts when nothing holds it back.
fn keep_waiting(token: &mut Token, now: Time) {
    if now - token.since >= Duration::milliseconds(LOOK as i64) {
        token.since = now;
    }
}

fn answer(token: &mut Token, answered: bool, is_aborted: bool, at: &Situation) -> Action {
    if is_aborted {
        return Action::None;
    }
    // The turn began without the notes.
    if token.step == Step::Cleared {
        return submit(token, Text::Delivery);
    }
    if token.step != Step::Delivered {
        return Action::None;
    }
    if answered {
        token.advance(Step::Acknowledged, at.now);
        return Action::None;
    }
    let Some(back_off) = at.settings.times.retry_seconds.get(token.unanswered as usize) else {
        return Action::None;
    };
    let back_off = seconds(*back_off);
    token.unanswered += 1;
    token.retry_at = Some(at.now + back_off);
    let status = format!(
        "The fresh session has the notes but did not answer. Next try in {} s",
        back_off.num_seconds()
    );
    Action::Wait { ms: millis(back_off), status, choice: false, soon: false }
}

fn continue_now(token: &mut Token, at: &Situation) -> Action {
    // The wait may have begun before the retry was set, or an answer came in the meantime.
    match token.retry_at {
        Some(due) if due <= at.now => {
            token.retry_at = None;
            submit(token, Text::Continue)
        }
        _ => Action::None,
    }
}

fn seconds(value: u64) -> Duration {
    Duration::seconds(value.min(86_400) as i64)
}

fn millis(duration: Duration) -> u64 {
    duration.num_milliseconds().max(1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::testing::token;

    fn at(session: &'static str, attended: bool, now: Time) -> Situation<'static> {
        static SETTINGS: std::sync::LazyLock<BoundarySettings> =
            std::sync::LazyLock::new(BoundarySettings::default);
        Situation {
            session,
            gone_at: attended.then(|| now + Duration::minutes(10)),
            held: None,
            has_notes: true,
            gone: None,
            typed: None,
            agents: 0,
            sealed: true,
            next: None,
            now,
            settings: &SETTINGS,
        }
    }

    fn done(answered: bool) -> Report {
        Report::TurnComplete { answered, is_aborted: false }
    }

    #[test]
    fn the_straight_road() {
        let mut t = token(Step::Pending);
        let now = t.created;
        assert_eq!(
            next(&mut t, &done(true), &at("old", false, now)),
            Action::Clear { token: "t".into() }
        );
        t.child = Some("new".into());
        let action = next(&mut t, &Report::Cleared, &at("new", false, now));
        assert!(matches!(action, Action::Submit { what: Text::Delivery, .. }));
        assert_eq!(
            next(&mut t, &Report::Submitted { dropped: None }, &at("new", false, now)),
            Action::None
        );
        assert_eq!(t.step, Step::Delivered);
        assert_eq!(next(&mut t, &done(true), &at("new", false, now)), Action::None);
        assert_eq!(t.step, Step::Acknowledged);
        assert_eq!(next(&mut t, &Report::Cleared, &at("new", false, now)), Action::None);
    }

    #[test]
    fn a_clear_that_the_module_never_heard_of_is_ordered_again() {
        let mut t = token(Step::Clearing);
        let now = t.created;
        assert_eq!(next(&mut t, &Report::Begun, &at("new", false, now)), Action::None);
        assert!(matches!(
            next(&mut t, &Report::Begun, &at("old", false, now)),
            Action::Clear { .. }
        ));
        assert_eq!(t.step, Step::Clearing);
    }

    #[test]
    fn notes_that_nobody_delivered_are_delivered_when_overdue() {
        let mut t = token(Step::Cleared);
        t.child = Some("new".into());
        let later = |seconds| t.since + Duration::seconds(seconds);
        let (soon, overdue) = (later(1), later(8));
        assert_eq!(next(&mut t, &Report::Begun, &at("new", false, soon)), Action::None);
        assert_eq!(next(&mut t, &Report::Begun, &at("other", false, overdue)), Action::None);
        let action = next(&mut t, &Report::Begun, &at("new", false, overdue));
        assert!(matches!(action, Action::Submit { what: Text::Delivery, .. }));
        let action = next(&mut t, &done(true), &at("new", false, soon));
        assert!(matches!(action, Action::Submit { what: Text::Delivery, .. }), "after a turn");
    }

    #[test]
    fn unfinished_notes_say_when_the_session_restarts() {
        let status = |seconds, held| unsealed_status(Duration::seconds(seconds), held, true);
        assert!(status(61, None).contains("unfinished notes in 61 s;"));
        assert!(status(-5, None).ends_with("unfinished notes now"));
        assert!(status(61, Some("it is paused")).ends_with("does not restart: it is paused"));
        let without = unsealed_status(Duration::seconds(61), None, false);
        assert!(
            without.starts_with("No new notes, so ") && without.contains("in 61 s, the blocks")
        );
    }

    #[test]
    fn a_boundary_right_after_another_one_waits() {
        let mut t = token(Step::Pending);
        let now = t.created;
        t.not_before = Some(now + Duration::seconds(90));
        for attended in [false, true] {
            let at = at("old", attended, now);
            let Action::Wait { status, .. } = next(&mut t, &done(true), &at) else {
                panic!("it waits")
            };
            assert!(status.contains(" in 90 s, because the last restart was"), "{status}");
        }
        let later = now + Duration::seconds(90);
        let action = next(&mut t, &Report::Waited, &at("old", true, later));
        assert!(matches!(action, Action::Clear { .. }));
    }

    #[test]
    fn an_attended_user_gets_notice_and_a_prompt_cancels_it() {
        let mut t = token(Step::Pending);
        let now = t.created;
        let action = next(&mut t, &done(true), &at("old", true, now));
        assert!(matches!(action, Action::Wait { ms: 1_000, .. }));
        t.cancel();
        let later = now + Duration::seconds(61);
        assert_eq!(next(&mut t, &Report::Waited, &at("old", true, later)), Action::None);
        let action = next(&mut t, &done(true), &at("old", true, later));
        assert!(matches!(action, Action::Wait { ms: 1_000, .. }));
        assert_eq!(t.since, later, "the carrier's time begins anew");
        let latest = later + Duration::seconds(60);
        assert!(matches!(
            next(&mut t, &Report::Waited, &at("old", true, latest)),
            Action::Clear { .. }
        ));
    }

    #[test]
    fn what_is_not_wanted_any_more_is_withdrawn_right_before_the_act() {
        let mut t = token(Step::Pending);
        let now = t.created;
        assert!(matches!(next(&mut t, &done(true), &at("old", true, now)), Action::Wait { .. }));
        let gone = Situation { gone: Some("compacted"), sealed: false, ..at("old", true, now) };
        assert_eq!(next(&mut t, &Report::Waited, &gone), Action::None);
        assert_eq!((t.step, &t.why), (Step::Withdrawn, &Some("compacted".into())));
        assert_eq!(next(&mut t, &Report::Waited, &at("old", true, now)), Action::None);
        let mut t = Token { at_once: true, ..token(Step::Pending) };
        assert!(matches!(next(&mut t, &Report::Waited, &gone), Action::Clear { .. }));
    }

    #[test]
    fn somebody_who_types_holds_the_clock_for_a_while() {
        let mut t = token(Step::Pending);
        let began = t.created;
        next(&mut t, &done(true), &at("old", true, began));
        let after = |t: &mut Token, seconds: i64, since_key: i64| {
            let now = began + Duration::seconds(seconds);
            let typed = Some(now - Duration::seconds(since_key));
            next(t, &Report::Waited, &Situation { typed, ..at("old", true, now) })
        };
        for second in 55..650 {
            let action = after(&mut t.clone(), second, 1);
            assert!(matches!(action, Action::Wait { .. }), "{second}: {action:?}");
        }
        assert!(matches!(after(&mut t.clone(), 69, 9), Action::Wait { .. }));
        assert!(matches!(after(&mut t.clone(), 69, 10), Action::Clear { .. }));
        assert!(matches!(after(&mut t, 661, 1), Action::Clear { .. }), "not for ever");
    }

    #[test]
    fn after_escape_only_a_prompt_lets_a_turns_end_begin_the_notice() {
        let mut t = token(Step::Pending);
        let now = t.created;
        let escape = Report::TurnComplete { answered: false, is_aborted: true };
        for report in [&escape, &done(true), &Report::Waited] {
            assert_eq!(next(&mut t, report, &at("old", true, now)), Action::None);
            assert!(t.hold.is_some(), "{report:?}");
        }
        t.cancel();
        let action = next(&mut t, &done(true), &at("old", true, now));
        assert!(matches!(action, Action::Wait { ms: 1_000, .. }));
    }

    #[test]
    fn a_turn_that_nobody_began_does_not_renew_the_notice() {
        let mut t = token(Step::Pending);
        let now = t.created;
        assert!(matches!(
            next(&mut t, &done(true), &at("old", true, now)),
            Action::Wait { ms: 1_000, .. }
        ));
        let later = now + Duration::seconds(20);
        assert!(matches!(
            next(&mut t, &done(true), &at("old", true, later)),
            Action::Wait { ms: 1_000, .. }
        ));
        let latest = now + Duration::seconds(60);
        assert!(matches!(
            next(&mut t, &done(true), &at("old", true, latest)),
            Action::Clear { .. }
        ));
    }

    #[test]
    fn the_operator_holds_it_back_or_starts_it() {
        let mut t = token(Step::Pending);
        let now = t.created;
        let held = Situation { held: Some("you paused brain-guard"), ..at("old", true, now) };
        let Action::Wait { status, .. } = next(&mut t, &done(true), &held) else {
            panic!("it waits")
        };
        assert!(status.contains("you paused brain-guard"), "{status}");
        // The carrier's time does not run while the session must not restart.
        let long = now + Duration::minutes(30);
        let held = Situation { now: long, ..held };
        assert!(matches!(next(&mut t, &Report::Waited, &held), Action::Wait { .. }));
        assert_eq!(t.since, long);
        // After that, a complete new notice runs.
        let later = long + Duration::seconds(90);
        let action = next(&mut t, &Report::Waited, &at("old", true, later));
        assert!(matches!(action, Action::Wait { .. }));
        assert_eq!(t.notice_until, Some(later + Duration::seconds(60)));
        t.at_once = true;
        let busy = Situation { agents: 1, ..at("old", true, later) };
        assert!(matches!(next(&mut t, &Report::Waited, &busy), Action::Clear { .. }));
    }

    #[test]
    fn an_unsealed_session_waits_for_its_person() {
        let mut t = token(Step::Unsealed);
        let now = t.created;
        let action = next(&mut t, &done(true), &at("old", true, now));
        assert!(matches!(action, Action::Wait { ms: 5_000, .. }), "{action:?}");
        let escape = Report::TurnComplete { answered: false, is_aborted: true };
        assert!(matches!(next(&mut t, &escape, &at("old", true, now)), Action::Wait { .. }));
        assert_eq!((t.step, t.hold), (Step::Unsealed, None));
    }

    #[test]
    fn background_agents_are_waited_for_but_not_for_ever() {
        let mut t = token(Step::Pending);
        let busy = |now| Situation { agents: 1, ..at("old", false, now) };
        let now = t.created;
        assert!(matches!(next(&mut t, &done(true), &busy(now)), Action::Wait { ms: 5_000, .. }));
        let later = now + Duration::seconds(600);
        assert!(matches!(next(&mut t, &Report::Waited, &busy(later)), Action::Clear { .. }));
    }

    #[test]
    fn unanswered_is_asked_again_and_never_delivered_again() {
        let mut t = token(Step::Delivered);
        t.child = Some("new".into());
        let mut now = t.created;
        for back_off in [5, 20, 60, 300, 900, 3600] {
            let action = next(&mut t, &done(false), &at("new", false, now));
            assert_eq!(
                action,
                Action::Wait {
                    ms: (back_off * 1000) as u64,
                    status: format!(
                        "The fresh session has the notes but did not answer. Next try in {back_off} s"
                    ),
                    choice: false,
                    soon: false,
                }
            );
            now += Duration::seconds(back_off);
            let action = next(&mut t, &Report::Waited, &at("new", false, now));
            assert!(matches!(action, Action::Submit { what: Text::Continue, .. }));
        }
        assert_eq!(next(&mut t, &done(false), &at("new", false, now)), Action::None);
        assert_eq!(t.step, Step::Delivered);
    }

    #[test]
    fn an_edit_after_the_seal_ends_it_and_so_does_a_failed_clear() {
        let mut t = token(Step::Pending);
        let now = t.created;
        let broken = Situation { sealed: false, ..at("old", false, now) };
        assert_eq!(next(&mut t, &done(true), &broken), Action::None);
        assert_eq!(t.step, Step::Failed);
        let mut t = token(Step::Clearing);
        let failed = Report::Failed { what: "clear".into(), why: "stopped".into() };
        next(&mut t, &failed, &at("old", false, now));
        assert_eq!(t.why, Some("clear failed: stopped".into()));
        let mut t = token(Step::Clearing);
        let beside = Situation { next: Some(Carrier::Tmux), ..at("old", false, now) };
        next(&mut t, &failed, &beside);
        assert_eq!((t.step, t.carrier), (Step::Clearing, Carrier::Tmux));
        let mut t = token(Step::Cleared);
        next(&mut t, &failed, &at("new", false, now));
        assert_eq!(t.step, Step::Cleared);
    }
}
