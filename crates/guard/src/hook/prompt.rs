//! Handles prompts from anyone: `UserPromptSubmit` and `UserPromptExpansion`.

use super::deliver;
use super::event::{Event, is_from_person};
use super::facts::Facts;
use super::limits;
use super::pre_tool::settle;
use super::reply::Reply;
use super::{after_surgery, boundary_flow, job_assignment, unsealed};
use crate::boundary::{Delivery, Step, Token};
use crate::files::job_files;
use crate::files::shadows::{self, CLEAR, RESUME};
use crate::journal::What;
use crate::session::First;
use crate::texts::Text;
use base::switch::Switch;
use notes::job::Prompt;

/// `UserPromptSubmit`.
pub fn submit(facts: &mut Facts, _event: &Event, text: &str) -> Reply {
    let mut token = facts.token();
    if let Some(token) = deliver::delivered_by(facts, text) {
        if deliver::by_hooks(facts, &token) && deliver::has_arrived(facts, &token) {
            // A background command ended right after the clear: the client's prompt about it came
            // first and took the notes along.
            let reason = "brain-guard: this session has its notes already";
            return Reply::drop_prompt(reason.to_owned());
        }
        facts.change_token(&token.id, |t| t.advance(Step::Delivered, facts.now));
        facts.record(What::Delivered { bytes: text.len() as u64 });
        turn_begins(facts);
        return Reply::default();
    }
    if facts.unseen {
        facts.session = super::session::begin(facts, First::Grace);
        facts.look_around();
    }
    if resumes(text)
        && !awaited(facts, token.as_ref())
        && matches!(job_assignment::resume_offered(facts), Some(Ok(())))
    {
        token = facts.token();
    }
    if answered(facts, text, token.as_ref()) {
        return Reply::default();
    }
    turn_begins(facts);
    limits::refresh(facts);
    if facts.session.first != First::Done {
        // A turn without tools needs its first reading here, because its row may be missing at its
        // `Stop`.
        let (context, counted) = (facts.context(None, 0), facts.file().map(|f| f.1));
        settle(facts, context, counted);
    }
    let retried = || token.as_ref().is_some_and(|t| t.step == Step::Delivered && t.unanswered > 0);
    let continued =
        text.starts_with("brain-guard:") && (retried() || after_surgery::asks_to_go_on(facts));
    let mut changed = None;
    let from_person = is_from_person(text) && !continued && !resumes(text);
    if from_person {
        changed = super::settings_news::agree(facts);
        if changed.is_some() {
            token = facts.token();
        }
        let line = end_override(facts, text);
        changed = changed.into_iter().chain(line).reduce(|all, line| format!("{all}\n{line}"));
        record_person_prompt(facts, text, token.as_ref());
        // The session already works on another job, and this turn starts without its file.
        let turned = |t: &&Token| t.awaits_carrier(facts.id) && t.delivery != Delivery::Sealed;
        if let Some(token) = token.as_ref().filter(turned) {
            let note = super::jobs::not_cleared_text(facts, token, "its user spoke first");
            let mut reply = Reply::note("UserPromptSubmit", note);
            if let Some(line) = changed {
                reply.add_line(line);
            }
            return reply;
        }
    }
    let mut reply = attach(facts, token.as_ref(), 1);
    let sealed = |t: &&Token| t.awaits_carrier_or_held(facts.id) && t.delivery == Delivery::Sealed;
    let is_told =
        from_person && facts.settings.prompts == Switch::On && facts.override_reason().is_none();
    if let Some(token) = token.as_ref().filter(|t| is_told && sealed(t)) {
        let note = deliver::boundary_text(facts, token, Text::SealedPrompt, &[]);
        reply = Reply::note("UserPromptSubmit", note);
    }
    let lifted = from_person.then(|| boundary_flow::lifted_line(facts)).flatten();
    for line in changed.into_iter().chain(made_outside(facts)).chain(lifted) {
        reply.add_line(line);
    }
    reply
}

/// Whoever asks for a seal wants the restart, which an override would refuse.
fn end_override(facts: &mut Facts, text: &str) -> Option<String> {
    if own_command(text) != Some("seal") || facts.override_reason().is_none() {
        return None;
    }
    facts.update(|s| s.override_ = None);
    let until = "the override is off, because you asked for a seal".to_owned();
    let line = format!("brain-guard: {until}");
    facts.record(What::Override { until });
    Some(line)
}

/// Says once that a session was made of this one outside of its client, while that is there.
fn made_outside(facts: &mut Facts) -> Option<String> {
    let (operation, id) = facts.session.surgery.made_outside.clone()?;
    facts.update(|session| session.surgery.made_outside = None);
    let file = facts.transcript.as_ref()?.with_file_name(format!("{id}.jsonl"));
    file.is_file().then(|| {
        format!(
            "brain-guard: {operation} made a new session of this one. What you say here is not in it; /resume {id} goes on there."
        )
    })
}

/// Whether a prompt is one of our commands that [`expand`] answers without a turn. The client may
/// send both events, in any order (2.1.329).
fn answered(facts: &Facts, text: &str, token: Option<&Token>) -> bool {
    let command = text.strip_prefix('/').and_then(|text| text.split_whitespace().next());
    let runs = |name: &str| CLEAR.iter().chain(&RESUME).any(|own| *own == name);
    if command.is_some_and(runs) && is_switching(facts, token) {
        return true;
    }
    match own_command(text) {
        Some(
            "override" | "now" | "later" | "status" | "explain" | "notes" | "report" | "doctor"
            | "setup" | "slim" | "extract" | "view" | "undo",
        ) => true,
        Some("job") => views(text.split_once(char::is_whitespace).map_or("", |(_, args)| args)),
        Some("resume") => !awaited(facts, token),
        _ => false,
    }
}

/// Whether a prompt asks for the notes that wait, or for the job that was offered.
pub fn resumes(text: &str) -> bool {
    own_command(text) == Some("resume")
}

/// The name of our slash command in a prompt.
fn own_command(text: &str) -> Option<&str> {
    text.strip_prefix("/brain-guard:")?.split_whitespace().next()
}

/// Whether the hook answers a job command with these arguments: views, and what only a person may
/// say. The agent runs the others.
fn views(args: &str) -> bool {
    matches!(args.split_whitespace().next(), None | Some("list" | "show" | "accept"))
}

/// Whether this session follows a clear and has not answered yet.
fn awaited(facts: &Facts, token: Option<&Token>) -> bool {
    token.is_some_and(|t| {
        t.child.as_deref() == Some(facts.id) && matches!(t.step, Step::Cleared | Step::Delivered)
    })
}

/// Marks the start of a turn, whose end the typing carriers wait for.
fn turn_begins(facts: &mut Facts) {
    let now = facts.now;
    facts.update(|s| {
        // A prompt during a person's turn does not change whose turn it is.
        s.asked &= s.turn.is_some();
        (s.turn, s.broke, s.uncached) = (Some(now), None, None);
        s.prompts += 1;
    });
}

fn record_person_prompt(facts: &mut Facts, text: &str, token: Option<&Token>) {
    let now = facts.now;
    facts.update(|s| {
        (s.last_human, s.asked, s.notified.need) = (Some(now), true, None);
        s.stop_blocks = 0;
        if s.first == First::Base {
            s.first_bytes += text.len() as u64;
        }
    });
    // Our commands say how to handle the work, not what it is.
    if facts.settings.prompts == Switch::On && own_command(text).is_none() {
        let prompt = Prompt { at: now, session: facts.id.to_owned(), text: text.to_owned() };
        if let Err(e) = job_files::keep_prompt(&facts.places, &facts.session.job, &prompt) {
            facts.fault("prompt not kept", &e);
        }
    }
    if let Some(token) = token.filter(|t| t.waits_for_person(facts.id)) {
        unsealed::prompted(facts, token);
    }
    if let Some(token) = token.filter(|t| t.awaits_carrier_or_held(facts.id)) {
        facts.change_token(&token.id, Token::cancel);
    }
}

/// Adds the notes to the first prompt of a cleared session, once.
pub fn attach(facts: &Facts, token: Option<&Token>, piece: usize) -> Reply {
    let ours = token.filter(|t| {
        t.child.as_deref() == Some(facts.id)
            && (t.step == Step::Cleared
                || (piece > 1 && t.step == Step::Delivered && deliver::by_hooks(facts, t)))
    });
    ours.and_then(|t| deliver::claim_piece(facts, t, piece, ""))
        .map_or_else(Reply::default, |text| Reply::note("UserPromptSubmit", text))
}

/// `UserPromptExpansion` of a file with the name of a command that the guard runs. While the guard
/// acts, its text does not reach the agent as words of the user.
pub fn shadowed(facts: &Facts, name: &str) -> Reply {
    if !name.starts_with("brain-guard:") && !is_switching(facts, facts.token().as_ref()) {
        return Reply::default();
    }
    let file = shadows::shadowing_file(&facts.places, name);
    let file = file.map_or_else(|| "another command".to_owned(), |path| path.display().to_string());
    Reply::block(format!("brain-guard: the client would run {file} instead of /{name}"))
}

/// Whether the guard is just clearing this session, or going to another one.
fn is_switching(facts: &Facts, token: Option<&Token>) -> bool {
    let clears = |t: &Token| t.parent == facts.id && t.step == Step::Clearing;
    token.is_some_and(clears) || after_surgery::is_resuming(facts)
}

/// `UserPromptExpansion` of one of our commands: answers it without a turn.
pub fn expand(facts: &mut Facts, command: &str, args: &str, is_foreign: bool) -> Reply {
    // The module does not know whose file it is.
    let is_foreign =
        || is_foreign || shadows::shadowing_file(&facts.places, "brain-guard:resume").is_some();
    if command == "resume" && is_foreign() {
        return shadowed(facts, "brain-guard:resume");
    }
    if command == "resume" && !awaited(facts, facts.token().as_ref()) {
        let why = match job_assignment::resume_offered(facts) {
            Some(Ok(())) => return Reply::default(),
            Some(Err(why)) => why,
            None => "no notes of an earlier session wait for this one".to_owned(),
        };
        return Reply::block(format!("brain-guard: {why}"));
    }
    answer_command(facts, command, args)
}

/// Answers a command that needs no turn.
pub fn answer_command(facts: &Facts, command: &str, args: &str) -> Reply {
    if command == "job" && !views(args) {
        return Reply::default();
    }
    let answer = facts.program.and_then(|program| (program.answer_command)(facts, command, args));
    answer.map_or_else(Reply::default, Reply::block)
}
