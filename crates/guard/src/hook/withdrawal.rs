//! Whether a boundary that waits is still wanted, and what its user is told if not.

use super::facts::{Facts, View};
use crate::boundary::{Step, Token};
use crate::policy::stance::Ranks;
use crate::texts::{Text, render};
use base::shown;

/// What the client itself knows about the conversation now.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClientCount {
    /// Tokens in the context.
    pub tokens: Option<u64>,
    /// Whether the last turn is not in the conversation any more.
    pub is_rewound: bool,
}

/// Why the tiers that asked for a boundary that waits do not hold any more, for its user. `None`
/// while it is wanted.
pub fn reason(facts: &Facts, token: &Token, client: ClientCount) -> Option<String> {
    let Ranks { context: by_context, file: by_file } = token.asked;
    if token.step != Step::Pending {
        return None;
    }
    if let Some(cap) = facts.mode_cap() {
        return Some(cap.why());
    }
    if token.asked == Ranks::default() {
        return None;
    }
    if client.is_rewound {
        return Some("you rewound it".to_owned());
    }
    // An unattended run has ended its turn, and nothing but the boundary would go on with it.
    if by_context == 0 || !facts.attended() {
        return None;
    }
    let view = view(facts, client);
    let reading = view.context?.reading;
    let file = view.readings.file.map_or(0, |file| view.ramp.file_rank(file.percent(), by_file));
    let holds = view.ramp.context_rank(reading.percent(), by_context) >= by_context
        || by_file > 0 && file >= by_file;
    (!holds).then(|| format!("the context is at {} again", shown_usage(&reading)))
}

/// The session by what the client counts, which its transcript may not have yet.
fn view(facts: &Facts, client: ClientCount) -> View {
    let mut view = facts.view();
    // After a rewind to the start, the client counts nothing yet.
    let tokens = client.tokens.filter(|tokens| *tokens > 0).or(client.is_rewound.then_some(0));
    if let (Some(context), Some(tokens)) = (&mut view.context, tokens) {
        context.reading.used = tokens;
        view.readings.context = Some(context.reading);
        view.stance = facts.stance(&view.ramp, &view.readings);
    }
    view
}

/// `4 % (39k of 967k)`.
fn shown_usage(reading: &sessions::gauge::Reading) -> String {
    let (used, limit) = (shown::tokens(reading.used), shown::tokens(reading.limit));
    format!("{:.0} % ({used} of {limit})", reading.percent().floor())
}

/// Withdraws a boundary that has not begun to clear. Returns the line for the user.
pub fn withdraw(facts: &mut Facts, why: &str) -> Option<String> {
    let waits =
        |t: &Token| t.parent == facts.id && matches!(t.step, Step::Unsealed | Step::Pending);
    let token = facts.token().filter(waits)?;
    let withdrawn = facts.change_token(&token.id, |t| waits(t) && t.withdraw(why, facts.now));
    if withdrawn != Some(true) {
        return None;
    }
    facts.update(|s| s.token = None);
    Some(line(facts, why, ClientCount::default()))
}

/// The line about a withdrawn boundary: why, and what is in force now.
pub fn line(facts: &Facts, why: &str, client: ClientCount) -> String {
    let blocked = view(facts, client).blocked();
    let state = if blocked.is_empty() {
        "Nothing is blocked".to_owned()
    } else {
        format!("Blocked: {}", blocked.join(", "))
    };
    render(&facts.places, Text::UserWithdrawn, &[("why", why), ("state", &state)])
}
