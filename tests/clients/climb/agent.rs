//! The scripted agent. It follows its plan, reacts to results, and records data for the judge.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::climb::calls::{self, Call};
use crate::climb::character::{Act, Plan};
use crate::climb::judge::Part;
use crate::climb::notes;
use crate::climb::tally::{Fault, Faults};
use crate::climb::verdict::tokens;
use crate::support::evidence::{lock, short};
use crate::support::mock::{Gate, Reply, Request};

/// One session of the climb; it ends with a boundary.
pub struct Session {
    pub number: usize,
    pub id: String,
    pub plan: Plan,
    /// The remaining acts, each with its context usage and its number of denials.
    pub acts: VecDeque<(f64, Act, usize)>,
    pub percent: f64,
    pub sealed: bool,
    /// The person pressed Escape, so nothing is blocked.
    pub lifted: bool,
    /// Files that the session read or wrote.
    pub known: Vec<PathBuf>,
    /// Calls without a result so far.
    pub open: Vec<Call>,
    /// Facts written into the notes.
    pub facts: Vec<String>,
    /// The number of sealed versions before this session.
    versions: usize,
    /// The session waits for the person's first prompt.
    waits: bool,
    /// Holds the last answer until it opens.
    pub gate: Gate,
    pub held: bool,
    /// The sealed notes at the session's start.
    pub carried: Option<String>,
    /// Notes in the first and in the last request.
    pub first: Vec<Part>,
    pub last: Vec<Part>,
}

/// State shared by the threads of the mock and the test.
#[derive(Default)]
pub struct State {
    pub project: PathBuf,
    /// The folder with brain-guard's state.
    pub kept: PathBuf,
    pub plans: VecDeque<Plan>,
    pub sessions: Vec<Session>,
    pub faults: Faults,
    pub calls: usize,
    pub denied: usize,
    pub undecided: usize,
    pub active: Option<Instant>,
    /// Times from the last request of a session without a person to the next session's first.
    pub pauses: Vec<Duration>,
    pub made: usize,
    /// How often each kind of act was played, for the output.
    pub acts: BTreeMap<String, usize>,
    rounds: HashMap<String, usize>,
}

/// The agent; clones share their state.
#[derive(Clone, Default)]
pub struct Agent(pub Arc<Mutex<State>>);

impl Agent {
    /// Runs a function on the current session.
    pub fn now<T>(&self, look: impl FnOnce(&mut Session) -> T) -> Option<T> {
        lock(&self.0).sessions.last_mut().map(look)
    }

    /// The number of sessions so far.
    pub fn sessions(&self) -> usize {
        lock(&self.0).sessions.len()
    }

    /// Answers a request of the main conversation.
    pub fn answer(&self, request: &Request) -> Reply {
        let mut state = lock(&self.0);
        let before = state.active.replace(Instant::now());
        let id = request.session.clone().unwrap_or_default();
        if !state.sessions.iter().any(|session| session.id == id) {
            let alone = state.sessions.last().is_some_and(|last| last.plan.person.is_none());
            state.pauses.extend(before.filter(|_| alone).map(|at| at.elapsed()));
            begin(&mut state, &id, request);
        } else if state.sessions.last().is_some_and(|session| session.id != id) {
            let number = state.sessions.len();
            let late = format!("a request of an earlier session: {}", short(request.prompt(), 80));
            state.faults.add(number, Fault::Boundary, late);
            return Reply::text("I am over.");
        }
        let state = &mut *state;
        let Some(mut session) = state.sessions.pop() else { return Reply::error(400) };
        let reply = go_on(state, &mut session, request);
        state.sessions.push(session);
        reply
    }

    /// Answers a request of a subagent. The guard must not deny its calls.
    pub fn assist(&self, request: &Request) -> Reply {
        let mut state = lock(&self.0);
        let number = state.sessions.len();
        for result in request.tool_results() {
            if calls::was_denied(result.is_error, &result.text) {
                let text = format!("a subagent was denied: {}", short(&result.text, 200));
                state.faults.add(number, Fault::Verdict, text);
            }
        }
        let doc = state.project.join(format!("doc-{}.txt", number % calls::DOCS));
        let round = state.rounds.entry(request.agent.clone().unwrap_or_default()).or_default();
        *round += 1;
        let reply = match *round {
            1 => Reply::bash("echo looked"),
            2 => Reply::tool("Read", json!({"file_path": doc})),
            _ => Reply::text("I have looked around."),
        };
        let slow = request.user_texts().iter().any(|text| text.contains("slowly"));
        if slow { reply.delay(Duration::from_millis(900)) } else { reply }
    }
}

fn begin(state: &mut State, id: &str, request: &Request) {
    let number = state.sessions.len() + 1;
    let sealed = notes::sealed(&state.kept);
    let plan = state.plans.pop_front().unwrap_or(Plan {
        acts: VecDeque::new(),
        retries: 0,
        detours: false,
        answers: false,
        person: None,
        name: "is the last",
    });
    state.sessions.push(Session {
        number,
        id: id.to_owned(),
        acts: plan.acts.iter().map(|(at, act)| (*at, act.clone(), 0)).collect(),
        waits: plan.person.is_some(),
        plan,
        percent: 5.0,
        sealed: false,
        lifted: false,
        known: Vec::new(),
        open: Vec::new(),
        facts: Vec::new(),
        versions: sealed.len(),
        gate: Gate::default(),
        held: false,
        carried: sealed.last().and_then(|path| std::fs::read_to_string(path).ok()),
        first: request.notes(),
        last: Vec::new(),
    });
}

fn go_on(state: &mut State, session: &mut Session, request: &Request) -> Reply {
    session.last = request.notes();
    let results = request.tool_results();
    for call in std::mem::take(&mut session.open) {
        match results.iter().find(|result| result.id == call.id) {
            Some(result) => {
                let denied = call.was_denied(result.is_error, &result.text);
                call.judge(state, session, denied, &result.text);
                if result.text.contains("not sealed yet") {
                    *state.acts.entry("seal that asks".to_owned()).or_default() += 1;
                }
                react(session, &call, denied, result.is_error, &result.text);
            }
            None => session.open.push(call),
        }
    }
    let text = request.last_user_text();
    if text.contains("Stop hook additional context") {
        *state.acts.entry("refused end".to_owned()).or_default() += 1;
    }
    if results.is_empty() && text.contains("Stop hook additional context") {
        session.sealed = false;
        if session.acts.is_empty() {
            seal_again(session);
        }
    }
    session.waits &= !request.said(&format!("please go on with part {} now", session.number));
    if session.waits {
        return Reply::text("I wait for you.").tokens(tokens(session.percent));
    }
    next(state, session)
}

/// The next answer: one call, or several if the plan says so.
fn next(state: &mut State, session: &mut Session) -> Reply {
    let mut reply: Option<Reply> = None;
    while let Some((at, act, tries)) = session.acts.pop_front() {
        if reply.is_some() && !matches!(act, Act::Also(_)) {
            session.acts.push_front((at, act, tries));
            break;
        }
        session.percent = at.max(session.percent + 0.02);
        match act {
            Act::End => {
                let text = Reply::thinking("enough for now").and_text("I end my turn.");
                return text.tokens(tokens(session.percent));
            }
            Act::EndHeld => {
                session.held = true;
                let text = Reply::text("I end\n\nmy turn.\n").hang(&session.gate);
                return text.tokens(tokens(session.percent));
            }
            act => {
                let Some(call) = Call::new(state, session, act, tries) else { continue };
                let input = call.input.clone();
                let thought = || Reply::thinking("what comes next?").and_text("I go on.");
                let made = reply.unwrap_or_else(thought);
                reply = Some(made.and_tool_id(&call.id, call.tool, input));
                session.open.push(call);
            }
        }
    }
    let reply = reply.unwrap_or_else(|| Reply::text("Nothing is left to do."));
    reply.tokens(tokens(session.percent))
}

/// Plans the agent's reaction to a result.
fn react(session: &mut Session, call: &Call, denied: bool, error: bool, text: &str) {
    let at = session.percent;
    if !denied && !error {
        session.facts.extend(call.fact.clone());
        session.known.extend(call.path.clone().filter(|_| call.tool != "Bash"));
    }
    match &call.act {
        Act::Work(tool) if denied && call.tries < session.plan.retries => {
            session.acts.push_front((at, Act::Work(tool), call.tries + 1));
        }
        Act::Work(tool) if denied && session.plan.detours => {
            let other = match *tool {
                "Read" | "Again" => "Bash",
                "Bash" => "grep",
                "grep" => "WebFetch",
                "WebFetch" => "Agent",
                _ => return,
            };
            session.acts.push_front((at, Act::Work(other), session.plan.retries));
        }
        Act::Seal(command) if !denied => {
            if text.contains("not sealed yet") {
                session.acts.push_front((at, Act::Seal(command), call.tries + 1));
                if session.plan.answers {
                    session.acts.push_front((at, Act::Append("next"), 0));
                }
            } else if error && call.tries < 2 {
                session.acts.push_front((at, Act::Seal(command), call.tries + 1));
                session.acts.push_front((at, Act::Append("next"), 0));
            }
        }
        Act::Sloppy(form) if call.tool == "Read" && !denied => {
            session.acts.push_front((at, Act::Sloppy(form), 1));
        }
        _ => {}
    }
}

impl Session {
    /// Checks on disk whether this session made a sealed version.
    pub fn look(&mut self, kept: &std::path::Path) {
        self.sealed |= notes::sealed(kept).len() > self.versions;
    }
}

fn seal_again(session: &mut Session) {
    let at = session.percent;
    for act in [Act::Append("next"), Act::Seal("brain-guard seal --clear"), Act::End] {
        session.acts.push_back((at, act, 0));
    }
}
