//! The hook: JSON on stdin, JSON or nothing on stdout, exit 0. On any fault of its own it lets the
//! call through and logs a line.

mod after_surgery;
pub mod bearings;
pub mod boundary_flow;
pub mod deliver;
mod dialog;
pub mod event;
pub mod facts;
pub mod input;
pub mod job_assignment;
pub mod jobs;
pub mod journal;
pub mod limits;
pub mod messages;
pub mod notify;
pub mod opening;
mod phase;
pub mod post_tool;
pub mod pre_tool;
pub mod prompt;
pub mod question;
pub mod reply;
pub mod rewake;
pub mod select;
pub mod session;
pub mod session_end;
pub mod settings;
pub mod settings_news;
pub mod standing;
mod start_lines;
pub mod stop;
pub mod surroundings;
pub mod target;
mod unsealed;
pub mod variables;
pub mod watch;
pub mod wire;
pub mod withdrawal;

use std::io::Read;
use std::mem::ManuallyDrop;
use std::time::Duration;

use crate::boundary::{Client, Token};
use crate::files::journal::Journal;
use crate::journal::What;
use crate::policy::command::{Answer, OwnCommand};
use crate::session::reach::Reach;
use base::clock::{self, Time};
use base::env::{self, Env};
use base::paths::{Places, project_root};
use event::{Event, Kind, Source};
use facts::Facts;
use reply::Reply;
use wire::Payload;

/// Larger payloads pass unread. No tool sends one near this size, and four times as much took
/// longer than a call may wait.
const MAX_PAYLOAD: u64 = 16 * 1024 * 1024;

/// How one registered hook entry differs from the main one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// `hook`: decides.
    Main,
    /// `hook --piece N`: adds one more piece of a delivery.
    Piece(usize),
    /// `hook --rewake`: starts a turn where nothing else does.
    Rewake,
}

/// What the hook needs from the program around it. It keeps the hook free of carriers and verbs.
#[derive(Clone, Copy)]
pub struct Program {
    /// Looks for the terminals around the client.
    pub find_terminals: fn(&Env, Client) -> Reach,
    /// Answers a command that a person typed, by its name and arguments.
    pub answer_command: fn(&Facts, &str, &str) -> Option<String>,
    /// Acts at a session's start, and returns a line for the user.
    pub on_session_start: fn(&Facts, Source) -> Option<String>,
    /// Executes the agent's verbs for the call with this id.
    pub run_verbs: fn(&Facts, &str, &OwnCommand) -> Vec<Answer>,
}

/// Reads one payload and answers it. Never fails: it logs a fault and answers with silence.
pub fn run(role: Role, input: impl Read, env: &Env, now: Time, program: Program) -> Reply {
    let mut bytes = Vec::with_capacity(input::USUAL);
    if let Err(e) = input.take(MAX_PAYLOAD).read_to_end(&mut bytes) {
        log_fault(env, now, "payload not read", &e.to_string());
        return Reply::default();
    }
    let payload: Payload = match serde_json::from_slice(&bytes) {
        Ok(payload) => payload,
        Err(e) => {
            // Valid JSON of a shape that we do not model is not a fault.
            if !e.is_data() {
                log_fault(env, now, "payload is not JSON", &e.to_string());
            }
            return Reply::default();
        }
    };
    let Some(event) = Event::from_payload(&payload) else { return Reply::default() };
    let Some(facts) = Facts::for_event(env, now, &event) else {
        let is_start = matches!(event.kind, Kind::SessionStart { .. }) && role == Role::Main;
        let line = "brain-guard does nothing: HOME is not set, so it has no place for its state";
        return Reply { user: is_start.then(|| line.to_owned()), ..Reply::default() };
    };
    // The process ends with the answer, so dropping the settings would waste time.
    let mut facts = ManuallyDrop::new(facts);
    facts.program = Some(program);
    if !facts.on() {
        return answer_while_off(&facts, role, &event);
    }
    if role == Role::Main && !facts.unseen {
        standing::note_dialog(&mut facts, &event);
    }
    let reply = match role {
        Role::Main => handle(&mut facts, &event, program),
        Role::Piece(number) => piece(&mut facts, &event, number),
        Role::Rewake => rewake::handle(&mut facts, &event),
    };
    journal::record_reply(&facts, &event, &reply);
    if matches!(event.kind, Kind::Dialog(_) | Kind::Stop { .. } | Kind::TurnFailed)
        && role == Role::Main
        && !event.subagent
        && !facts.unseen
    {
        standing::ask_for_user(&mut facts);
    }
    reply
}

/// Answers commands that a person types, and nothing else.
fn answer_while_off(facts: &Facts, role: Role, event: &Event) -> Reply {
    match &event.kind {
        Kind::Expansion { command, args, .. } if role == Role::Main && !facts.unseen => {
            prompt::answer_command(facts, command, args)
        }
        _ => Reply::default(),
    }
}

/// Answers the event, and adds what the user should know.
fn handle(facts: &mut Facts, event: &Event, program: Program) -> Reply {
    remember_surroundings(facts);
    // Handling the event may save the session's first state.
    let had_state = !facts.unseen;
    let mut reply = dispatch(facts, event);
    let mut lines = Vec::new();
    if let Kind::SessionStart { source, .. } = event.kind {
        lines.extend((program.on_session_start)(facts, source));
    }
    if !event.subagent && shows_lines(&event.kind) {
        let refusing = limits::refusing_line(facts);
        lines.extend(settings_news::news(facts));
        lines.extend(refusing);
    }
    lines.extend(state_error_line(facts, &event.kind, had_state));
    for line in lines {
        reply.add_line(line);
    }
    reply
}

/// Tells the user that the state can't be kept: when the session starts, or, if it was kept until
/// then, with a prompt. Nothing can note that it was told.
fn state_error_line(facts: &Facts, kind: &Kind, had_state: bool) -> Option<String> {
    let is_due = match kind {
        Kind::SessionStart { .. } => true,
        Kind::Prompt(_) => had_state,
        _ => false,
    };
    let error = facts.unkept.get().filter(|_| is_due)?;
    let path = facts.places.state.display();
    Some(format!(
        "brain-guard can't keep its state in {path} ({error}): it blocks nothing and continues no session until it can; `brain-guard doctor` says what to do"
    ))
}

/// Whether the client shows the user a line in the answer to this event.
fn shows_lines(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::SessionStart { .. }
            | Kind::Prompt(_)
            | Kind::PreTool(_)
            | Kind::PostBatch(_)
            | Kind::Stop { .. }
    )
}

/// Saves what only the client's own processes see, for commands that run outside of it.
fn remember_surroundings(facts: &mut Facts) {
    let seen = Some(facts.seen);
    if !facts.unseen && facts.session.seen != seen {
        facts.update(|s| s.seen = seen);
    }
}

fn dispatch(facts: &mut Facts, event: &Event) -> Reply {
    if matches!(event.kind, Kind::PreTool(_)) && !event.subagent {
        boundary_flow::tidy(facts);
    }
    match &event.kind {
        Kind::PreTool(call) => pre_tool::handle(facts, event, call),
        Kind::PostTool(call, output) => post_tool::used(facts, event, call, *output),
        Kind::PostToolFailure(call) => post_tool::used(facts, event, call, None),
        Kind::PostBatch(bytes) => post_tool::batch(facts, event, *bytes),
        Kind::SessionStart { source, model, .. } => session::start(facts, event, *source, *model),
        Kind::Prompt(text) => prompt::submit(facts, event, text),
        Kind::Expansion { command, args, is_foreign } => {
            prompt::expand(facts, command, args, *is_foreign)
        }
        Kind::Shadow(name) => prompt::shadowed(facts, name),
        Kind::Stop { agents, shells } => stop::handle(facts, event, *agents, shells),
        Kind::TurnFailed => stop::failed(facts, event),
        Kind::PreCompact { by_person } => session::before_compaction(facts, *by_person),
        Kind::ModelSwitch(model) => {
            session::switch_model(facts, model);
            Reply::default()
        }
        Kind::Question => question::wait(facts),
        Kind::Dialog(_) => Reply::default(),
        Kind::SessionEnd => session_end::session(facts),
    }
}

/// How long the hook of a piece waits for the main hook of the same event.
const PIECE_TIMEOUT: Duration = Duration::from_secs(4);

/// Waits until the main hook has saved what this event means for the session, and returns the
/// session's boundary. `None` if it never did, or there is no boundary.
fn wait_for_main_hook(facts: &mut Facts, event: &Event, timeout: Duration) -> Option<Token> {
    if matches!(event.kind, Kind::SessionStart { .. }) && facts.unseen {
        let path = facts.places.session(facts.id, "json");
        if !boundary_flow::wait_for(timeout, || path.exists()) {
            return None;
        }
        let session = crate::files::state::load(&facts.places, facts.id).ok().flatten()?;
        (facts.session, facts.unseen) = (session, false);
    }
    if matches!(&event.kind, Kind::Prompt(text) if prompt::resumes(text)) {
        // The main hook takes the job that was offered.
        job_assignment::wait_for_offered(facts);
    }
    facts.token()
}

fn piece(facts: &mut Facts, event: &Event, number: usize) -> Reply {
    let Some(token) = wait_for_main_hook(facts, event, PIECE_TIMEOUT) else {
        return Reply::default();
    };
    match &event.kind {
        Kind::SessionStart { source: Source::Clear, .. } if token.hooks_deliver() => {
            deliver::claim_piece(facts, &token, number, "")
                .map_or_else(Reply::default, |text| Reply::note("SessionStart", text))
        }
        Kind::Prompt(text) if deliver::delivered_by(facts, text).is_none() => {
            prompt::attach(facts, Some(&token), number)
        }
        _ => Reply::default(),
    }
}

/// Makes a panic end the process with success and a line in the log, because a bug must still let
/// the call through. The panic hook runs before the release profile aborts.
pub fn pass_on_panic() {
    #[allow(clippy::exit, reason = "a panicking hook has nowhere to return to")]
    std::panic::set_hook(Box::new(|info| {
        log_fault(&Env::Process, clock::now(), "panic", &info.to_string());
        std::process::exit(0);
    }));
}

/// Logs a fault that happens before the event is known.
pub fn log_fault(env: &Env, now: Time, what: &str, error: &str) {
    let root = env.path(env::PROJECT_DIR).or_else(|| env.cwd().map(|cwd| project_root(env, &cwd)));
    if let Some(places) = root.and_then(|root| Places::for_project(env, &root)) {
        Journal::of_project(&places).record(&places, now, What::fault(what, &error));
    }
}
