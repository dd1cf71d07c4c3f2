//! What a session is doing, and whether it needs its user, who is told while they are away.

use chrono::Duration;

use super::boundary_flow::wrote_notes;
use super::event::{Event, Kind, QUESTION_TOOL};
use super::facts::Facts;
use super::{dialog, notify};
use crate::boundary::{Carrier, NOTHING_WRITTEN, Step, Token};
use crate::files::state;
use crate::policy::stance::Cap;
use crate::session::Activity;
use base::clock::Time;
use base::plain;
use base::shown::{age, clock_time, count_with_noun};

/// What a session is doing, since when, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// What it is doing.
    pub activity: Activity,
    /// Since when; `None` if nothing says so.
    pub since: Option<Time>,
    /// Why, in words; may be empty.
    pub why: String,
}

impl Standing {
    fn new(activity: Activity, since: Option<Time>, why: impl Into<String>) -> Self {
        Self { activity, since, why: why.into() }
    }

    /// What the session is doing now.
    pub fn of(facts: &Facts) -> Self {
        let session = &facts.session;
        let answered = facts.transcript_usage().and_then(|usage| usage.at);
        if let Some((since, message)) = &session.dialog {
            return Self::new(Activity::WaitsForYou, Some(*since), message);
        }
        if let Some(began) = session.turn {
            let last = answered.max(Some(began));
            let patience =
                Duration::minutes(facts.settings.notify.still_minutes.min(100_000) as i64);
            return if last.is_some_and(|last| facts.now - last >= patience) {
                Self::new(
                    Activity::StandsStill,
                    last,
                    "a turn runs without a response; a tool may still run",
                )
            } else {
                Self::new(Activity::Works, Some(began), "")
            };
        }
        if let Some(token) = facts.token().filter(|token| token.parent == facts.id)
            && let Some(standing) = at_boundary(facts, &token)
        {
            return standing;
        }
        if let Some((_, cap)) = session.lifted.as_ref().filter(|(until, _)| *until > facts.now) {
            let is_failure = matches!(cap, Cap::Failed(_));
            let activity = if is_failure { Activity::WaitsForYou } else { Activity::TurnOver };
            return Self::new(activity, answered, format!("nothing is blocked: {}", cap.why()));
        }
        if session.broke.is_some_and(|broke| answered.is_none_or(|answered| answered < broke)) {
            return Self::new(Activity::WaitsForYou, session.broke, "an API error ended its turn");
        }
        let agents = session.background.agents;
        if agents > 0 {
            let agents = count_with_noun(agents as usize, "agent", "agents");
            return Self::new(Activity::Works, answered, format!("{agents} in the background"));
        }
        if session.prompts == 0 {
            return Self::new(Activity::Idle, session.started, "");
        }
        Self::new(Activity::TurnOver, session.over.max(answered).or(session.started), "")
    }

    /// All three on one line: `waits for you, 12 min: …`.
    pub fn line(&self, now: Time) -> String {
        let since = self.since.map(|since| format!(", {}", age(now - since)));
        let why = if self.why.is_empty() { String::new() } else { format!(": {}", self.why) };
        format!("{}{}{why}", self.activity.words(), since.unwrap_or_default())
    }
}

/// How a session ended, if it did.
pub fn describe_end(facts: &Facts) -> Option<String> {
    if let Some(at) = facts.session.ended {
        return Some(format!("ended at {}", clock_time(at, facts.now)));
    }
    let client = facts.session.client.filter(|client| !state::lives(&facts.places, *client));
    client.map(|_| "ended with its client, which is gone".to_owned())
}

/// What a session whose turn is over is doing at a boundary.
fn at_boundary(facts: &Facts, token: &Token) -> Option<Standing> {
    // While it waits, a carrier's time starts again and again.
    let opened = Some(token.created).max(facts.session.over);
    let since = if token.step <= Step::Clearing { opened } else { Some(token.since) };
    let held = facts.held_reason();
    Some(match token.step {
        Step::Unsealed | Step::Pending if held.is_some() => {
            Standing::new(Activity::TurnOver, since, held.unwrap_or_default())
        }
        Step::Unsealed if !wrote_notes(facts) => Standing::new(
            Activity::WaitsForYou,
            since,
            format!("it does not restart: {NOTHING_WRITTEN}"),
        ),
        Step::Pending if token.hold.is_some() => {
            Standing::new(Activity::TurnOver, since, "it restarts after your next prompt's turn")
        }
        Step::Pending if token.carrier == Carrier::Manual => {
            let why =
                format!("{}: type /clear, and the fresh session gets the notes", token.what());
            Standing::new(Activity::WaitsForYou, since, why)
        }
        Step::Unsealed => Standing::new(Activity::Restarts, since, "from unfinished notes"),
        Step::Pending | Step::Clearing => {
            let why = token.waits.clone().unwrap_or_else(|| token.what());
            Standing::new(Activity::Restarts, since, why)
        }
        Step::Failed => {
            let why = token.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            Standing::new(Activity::WaitsForYou, since, format!("it was not cleared{why}"))
        }
        _ => return None,
    })
}

/// Tells the user that the session needs them, once for each need. While they are there it waits. Of
/// a turn's end they hear once after each prompt of theirs: events in the background begin turns, too.
pub fn ask_for_user(facts: &mut Facts) {
    let standing = Standing::of(facts);
    let need = Some(standing.activity).filter(|activity| activity.needs_you());
    let told = facts.session.notified.need;
    let is_known = match told {
        Some(Activity::TurnOver) => need.is_none(),
        Some(Activity::WaitsForYou) => need == Some(Activity::TurnOver),
        _ => false,
    };
    if need == told || is_known {
        return;
    }
    // A turn is over now, or was when they left. What begins now has no age.
    let is_aged = |since: &Time| {
        need != Some(Activity::TurnOver) && facts.now - *since >= Duration::seconds(1)
    };
    let text = Standing { since: standing.since.filter(is_aged), ..standing }.line(facts.now);
    if need.is_none() || notify::tell(facts, &text) {
        facts.update(|s| s.notified.need = need);
    }
}

/// Most characters of a dialog's text.
const DIALOG: usize = 200;

/// Remembers a dialog that the client shows. Any other event of the session means that it is closed,
/// but for the end of one of several calls. Whoever let its call run is there.
pub fn note_dialog(facts: &mut Facts, event: &Event) {
    let text = |said: &str, ended| plain::line(&dialog::text(facts, said, ended), DIALOG);
    let shown = match &event.kind {
        Kind::Dialog(said) => Some((facts.now, text(said, None))),
        _ => None,
    };
    if let Kind::PostTool(call, _) | Kind::PostToolFailure(call) = &event.kind
        && let Some((since, said)) = &facts.session.dialog
        && !event.subagent
        && dialog::may_stand(facts, call.id)
    {
        let is_named = said.contains(['(', ':']);
        let said = if is_named { said.clone() } else { text(said, Some(call.id)) };
        let stands = Some((*since, said));
        return facts.update(|s| s.dialog.clone_from(&stands));
    }
    let is_run = match &event.kind {
        Kind::PostTool(..) => true,
        // The guard itself closes a question that nobody answers.
        Kind::PostToolFailure(call) => call.tool != QUESTION_TOOL,
        _ => false,
    };
    if is_run && !event.subagent && facts.session.dialog.is_some() {
        facts.saw_typing(facts.now);
    }
    if shown.is_some() || facts.session.dialog.is_some() {
        let now = facts.now;
        facts.update(|s| {
            // The next response is due from the answer on: the last one is older than the dialog.
            if shown.is_none() {
                s.turn = s.turn.map(|_| now);
            }
            (s.dialog, s.notified.need) = (shown.clone(), None);
        });
    }
}
