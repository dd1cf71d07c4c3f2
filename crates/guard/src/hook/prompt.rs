//! `UserPromptSubmit` and `UserPromptExpansion`: prompts, by whomever.

use super::deliver;
use super::event::{Event, by_a_person};
use super::facts::Facts;
use super::limits;
use super::pre_tool::settle;
use super::reply::Reply;
use super::{account, unsealed};
use crate::boundary::{Delivery, Step, Token};
use crate::files::boundary;
use crate::files::journal::What;
use crate::files::prompts;
use crate::job::Prompt;
use crate::session::First;
use base::switch::Switch;

/// `UserPromptSubmit`.
pub fn submit(facts: &mut Facts, _event: &Event, text: &str) -> Reply {
    let token = facts.token();
    if let Some(token) = token.as_ref().filter(|t| deliver::is_delivery(text, t)) {
        let moved =
            boundary::update(&facts.places, &token.id, |t| t.advance(Step::Delivered, facts.now));
        if let Err(e) = moved {
            facts.fault("token not moved", &e);
        }
        account::did(facts, What::Delivered(text.len() as u64));
        turn_begins(facts);
        return Reply::default();
    }
    if facts.unseen {
        facts.session = super::session::begin(facts, First::Grace);
        super::session::look_around(facts);
    }
    if answered(facts, text, token.as_ref()) {
        return Reply::default();
    }
    turn_begins(facts);
    limits::refresh(facts);
    if facts.session.first != First::Done {
        // A turn without tools leaves its first reading to us: its row may not be there at its Stop.
        let (context, counted) = (facts.context(None, 0), facts.file().map(|f| f.1));
        settle(facts, context, counted);
    }
    let continued = token.as_ref().is_some_and(|t| t.step == Step::Delivered && t.unanswered > 0)
        && text.starts_with("brain-guard:");
    if by_a_person(text) && !continued && own_command(text) != Some("resume") {
        person(facts, text, token.as_ref());
        // The session works on another job already, and this turn begins without its file.
        let turned = |t: &&Token| t.holds(facts.id) && t.delivery != Delivery::Sealed;
        if let Some(token) = token.as_ref().filter(turned) {
            let note = super::jobs::stays(facts, token, "its user spoke first");
            return Reply::note("UserPromptSubmit", note);
        }
    }
    attach(facts, token.as_ref(), 1)
}

/// Whether a prompt is one of our commands that [`expand`] answers: no turn begins.
/// The client may raise both events for it, in any order (2.1.329).
fn answered(facts: &Facts, text: &str, token: Option<&Token>) -> bool {
    match own_command(text) {
        Some("override" | "now" | "later" | "status" | "explain" | "report" | "doctor") => true,
        Some("job") => views(text.split_once(char::is_whitespace).map_or("", |(_, args)| args)),
        Some("resume") => !awaited(facts, token),
        _ => false,
    }
}

/// Which of our slash commands a prompt is.
fn own_command(text: &str) -> Option<&str> {
    text.strip_prefix("/brain-guard:")?.split_whitespace().next()
}

/// Whether these arguments of the job command are answered here: those that only look, and
/// what only a person may say. The others are the agent's to run.
fn views(args: &str) -> bool {
    matches!(args.split_whitespace().next(), None | Some("list" | "show" | "accept"))
}

/// Whether this session is one that was cleared and has not answered yet.
fn awaited(facts: &Facts, token: Option<&Token>) -> bool {
    token.is_some_and(|t| {
        t.child.as_deref() == Some(facts.id) && matches!(t.step, Step::Cleared | Step::Delivered)
    })
}

/// The carriers that type wait for the end of what begins here.
fn turn_begins(facts: &mut Facts) {
    let now = facts.now;
    facts.update(|s| {
        // What comes into a person's turn leaves it theirs.
        s.asked &= s.turn.is_some();
        (s.turn, s.broke) = (Some(now), None);
        s.prompts += 1;
    });
}

fn person(facts: &mut Facts, text: &str, token: Option<&Token>) {
    let now = facts.now;
    facts.update(|s| {
        (s.last_human, s.asked) = (Some(now), true);
        s.stop_blocks = 0;
        if s.first == First::Base {
            s.first_bytes += text.len() as u64;
        }
    });
    // A command of ours says what to do with the work, not what the work is.
    if facts.settings.prompts == Switch::On && own_command(text).is_none() {
        let prompt = Prompt { at: now, session: facts.id.to_owned(), text: text.to_owned() };
        if let Err(e) = prompts::keep(&facts.places, &facts.session.job, &prompt) {
            facts.fault("prompt not kept", &e);
        }
    }
    if let Some(token) = token.filter(|t| t.waits_for_person(facts.id)) {
        unsealed::prompted(facts, token);
    }
    if let Some(token) = token.filter(|t| t.holds_or_cancelled(facts.id)) {
        let cancelled = boundary::update(&facts.places, &token.id, Token::cancel);
        if let Err(e) = cancelled {
            facts.fault("notice not cancelled", &e);
        }
    }
}

/// A prompt that comes first in a cleared session gets the file, once.
pub fn attach(facts: &Facts, token: Option<&Token>, piece: usize) -> Reply {
    let ours = token.filter(|t| {
        t.child.as_deref() == Some(facts.id)
            && (t.step == Step::Cleared
                || (piece > 1 && t.step == Step::Delivered && deliver::by_hooks(facts, t)))
    });
    ours.and_then(|t| deliver::claim_piece(facts, t, piece, ""))
        .map_or_else(Reply::default, |text| Reply::note("UserPromptSubmit", text))
}

/// `UserPromptExpansion` of one of our commands: answered without a turn.
pub fn expand(facts: &Facts, command: &str, args: &str) -> Reply {
    if command == "resume" && !awaited(facts, facts.token().as_ref()) {
        return Reply::block("brain-guard: no notes wait for this session".to_owned());
    }
    if command == "job" && !views(args) {
        return Reply::default();
    }
    let answer = facts.outside.and_then(|outside| (outside.answer)(facts, command, args));
    answer.map_or_else(Reply::default, Reply::block)
}
