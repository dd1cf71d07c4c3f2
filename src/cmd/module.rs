//! `mod …`: answers the plugin's module. The module reports and obeys; the decisions are made here
//! and in `boundary::plan`.

mod tool;

use std::path::PathBuf;
use std::time::Duration;

use chrono::DateTime;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::mcp::tools;
use super::{Context, Exit, Run, notice, operator, out_json_line, status, stdin_text, succession};
use crate::cli::ModArgs;
use base::clock::Time;
use base::env::{self, Env};
use base::paths::{Places, is_safe_name, project_root};
use base::switch::Switch;
use carrier::waiter;
use guard::boundary::plan::{self, Action, Report, Situation, Text as PlanText};
use guard::boundary::{Carrier, EndReason, Step, Token};
use guard::files::{boundary, sealing, shadows, state};
use guard::hook::event::{Event, Kind, Source};
use guard::hook::facts::{Facts, read_settings};
use guard::hook::pre_tool;
use guard::hook::question::{self, Question};
use guard::hook::session;
use guard::hook::standing;
use guard::hook::watch;
use guard::hook::withdrawal;
use guard::hook::{boundary_flow, deliver, job_assignment};
use guard::policy::bands::effect;
use guard::session::Surroundings;
use guard::texts::Text;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Ask {
    version: Option<String>,
    session_id: Option<String>,
    tool_name: Option<String>,
    tool_input: Option<Box<RawValue>>,
    event: Option<String>,
    row: Option<String>,
    /// What the client counts in the context now.
    tokens: Option<u64>,
    /// When the turn ended, in Unix milliseconds.
    at: Option<i64>,
    /// How many subagents run now.
    agents: Option<u32>,
    /// Whether the last turn is not in the conversation any more.
    is_rewound: bool,
    /// How many milliseconds ago somebody last changed the prompt box.
    typed_ms: Option<i64>,
    /// The button that the user pressed.
    button: Option<String>,
}

/// How long the report of a clear waits for the new session's hook. The module gives up on us after
/// 5 s.
const SESSION_PATIENCE: Duration = Duration::from_secs(4);

impl Run for ModArgs {
    /// Answers one question. Anything unknown is answered with "none": the module waits for us and
    /// must not block a run.
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        let text = stdin_text()?;
        let asked: Ask = serde_json::from_str(&text).unwrap_or_default();
        let session = asked.session_id.as_deref().filter(|id| is_safe_name(id));
        let answer = match (self.ask.as_str(), session) {
            ("start", _) => start(env, asked.version.as_deref()),
            ("poll", Some(id)) => facts(env, now, id)
                .map(|f| json!({"sealed": sealed(&f), "question": succession::question(&f)})),
            ("operate", Some(id)) => {
                facts(env, now, id).map(|f| succession::operate(&f, asked.row.as_deref()))
            }
            ("strip", Some(id)) => {
                facts(env, now, id).map(|mut f| strip(&mut f, asked.row.as_deref()))
            }
            ("waits", Some(id)) => facts(env, now, id).map(|mut f| {
                saw_typing(&mut f, &asked);
                standing::ask_for_user(&mut f);
                json!({"action": "none"})
            }),
            ("question", Some(id)) => facts(env, now, id).map(|f| question(&f)),
            ("press", Some(id)) => facts(env, now, id).map(|f| {
                let button = asked.button.as_deref().unwrap_or_default();
                let said = operator::refuse_prompt_of_agent(&f.places, button)
                    .map_err(anyhow::Error::from)
                    .and_then(|()| notice::pressed(&f, button));
                let said = said.unwrap_or_else(|e| format!("{e:#}"));
                json!({"say": said})
            }),
            ("gate", Some(id)) => facts(env, now, id).map(|mut f| gate(&mut f, &asked)),
            ("tool", Some(id)) => tool::answer(env, now, id, &asked, &text),
            ("step", Some(id)) => {
                if matches!(asked.event.as_deref(), Some("cleared" | "resumed")) {
                    wait_for_session(env, id);
                }
                let is_begun = asked.event.as_deref() == Some("begun");
                let is_late = is_begun && start_cleared_session(env, now, id);
                let report = if is_late { r#"{"event":"cleared"}"# } else { &text };
                facts(env, now, id).map(|mut f| step(&mut f, &asked, report))
            }
            _ => None,
        };
        out_json_line(&answer.unwrap_or_else(|| json!({"action": "none"})))?;
        Ok(Exit::Done)
    }
}

fn project(env: &Env) -> Option<PathBuf> {
    env.path(env::PROJECT_DIR).or_else(|| Some(project_root(env, &env.cwd()?)))
}

fn facts<'a>(env: &'a Env, now: Time, id: &'a str) -> Option<Facts<'a>> {
    let root = project(env)?;
    Facts::for_session(env, now, &root, id).filter(|f| f.on() && !f.unseen)
}

/// The client's clear or resume may return while the `SessionStart` hooks still run. Without their state of
/// the new session, its delivery would be missed.
fn wait_for_session(env: &Env, id: &str) {
    let root = project(env);
    if let Some(places) = root.and_then(|root| Places::for_project(env, &root)) {
        let path = places.session(id, "json");
        boundary_flow::wait_for(SESSION_PATIENCE, || path.exists());
    }
}

/// Starts the session that the module has cleared into, if every hook of its start was killed.
fn start_cleared_session(env: &Env, now: Time, id: &str) -> bool {
    let root = project(env);
    let facts = root.and_then(|root| Facts::for_session(env, now, &root, id));
    let Some(mut facts) = facts.filter(|f| f.on() && f.unseen) else { return false };
    let parent = job_assignment::left_seat(&facts);
    let parent = parent.and_then(|id| state::load(&facts.places, &id).ok()?);
    let token = parent.and_then(|parent| boundary::load(&facts.places, &parent.token?).ok()?);
    let is_cleared = |t: &Token| {
        t.step == Step::Clearing || (t.step == Step::Cleared && t.child.as_deref() == Some(id))
    };
    if token.is_none_or(|t| t.carrier != Carrier::Mod || !is_cleared(&t)) {
        return false;
    }
    let kind = Kind::SessionStart { source: Source::Clear, model: None, uncached: None };
    let event =
        Event { session: id, transcript: None, cwd: None, subagent: false, mode: None, kind };
    // The module delivers the notes. What the agent's shell has left running is not told.
    session::start(&mut facts, &event, Source::Clear, None);
    facts.fault("session begun late", &"no hook of its start was done");
    true
}

/// Compares versions: a module of another version does nothing. Names the tools that the module
/// offers the agent.
fn start(env: &Env, version: Option<&str>) -> Option<Value> {
    let own = env!("CARGO_PKG_VERSION");
    if version != Some(own) {
        let why = format!(
            "the plugin's module is version {}, the program {own}; run `brain-guard install` and restart the session",
            version.unwrap_or("unknown")
        );
        return Some(json!({"ok": false, "why": why}));
    }
    let root = project(env)?;
    let places = Places::for_project(env, &root)?;
    if let Err(e) = places.ensure_state() {
        return Some(json!({"ok": false, "why": format!("no place for state: {e}")}));
    }
    // The client's own variable, or our parent: the client starts us directly.
    let pid = env
        .client_pid()
        .or_else(|| rustix::process::getppid().map(|p| p.as_raw_nonzero().get() as u32));
    let is_offered = read_settings(&places, env).0.extract.mcp;
    let tools: &[tools::Tool] = if is_offered { &tools::TOOLS } else { &[] };
    let tools: Vec<Value> = tools.iter().map(tools::Tool::to_spec).collect();
    Some(json!({"ok": true, "snapshots": places.snapshots(), "pid": pid, "tools": tools}))
}

fn sealed(facts: &Facts) -> bool {
    facts.token().is_some_and(|t| t.awaits_carrier(facts.id) && t.carrier == Carrier::Mod)
}

/// How long the strip waits for the client to write `row`, the conversation's last.
const ROW_PATIENCE: Duration = Duration::from_secs(1);

/// The figures for the status strip, unless the user has turned it off, and what the user is told
/// about them.
fn strip(facts: &mut Facts, row: Option<&str>) -> Value {
    succession::wait_for_row(facts, row, ROW_PATIENCE);
    if !facts.session.seen.is_some_and(|seen| seen.mod_alive) {
        // The hook of the session's start ran before the module could say so.
        let seen = Surroundings { mod_alive: true, ..facts.session.seen.unwrap_or(facts.seen) };
        facts.update(|s| s.seen = Some(seen));
    }
    let offer = succession::offer(facts);
    if facts.settings.strip == Switch::Off {
        return json!({"say": offer});
    }
    let view = facts.view();
    let tiers = view
        .ramp
        .tiers()
        .iter()
        .map(|tier| json!({"context": tier.context, "effect": effect(&tier.blocks)}));
    let capped = facts.cap(&view.readings).map(|cap| status::cap_in_short(facts, &cap));
    json!({
        // Before the first reading the limit is a guess.
        "measured": view.context.is_some(),
        "used": view.context.map_or(0, |c| c.reading.used),
        "limit": view.context.map_or_else(|| facts.limit_for(None, 0), |c| c.reading.limit),
        "file": view.readings.file.map_or(0.0, |f| f.percent()),
        "tiers": tiers.collect::<Vec<_>>(),
        "file_rank": view.stance.file_rank,
        "harmless": view.ramp.last_harmless(),
        "capped": capped,
        "next_session": boundary_flow::next_session_gets(facts),
        "say": offer,
    })
}

/// How long to leave a question's dialog open. If nobody is there any more, the text to close it
/// with.
fn question(facts: &Facts) -> Value {
    match question::check_question(facts) {
        Question::Open => json!({"action": "wait", "ms": 5_000}),
        Question::Unanswerable(text) => json!({"action": "deny", "text": text}),
        Question::Unrestricted => json!({"action": "none"}),
    }
}

/// After the seal the turn is over: the first call that the hook would deny ends it.
fn gate(facts: &mut Facts, asked: &Ask) -> Value {
    let tool = asked.tool_name.as_deref().unwrap_or_default();
    if !sealed(facts) || !pre_tool::denied_after_seal(facts, tool, asked.tool_input.as_deref()) {
        return json!({"action": "none", "sealed": sealed(facts)});
    }
    let Some(token) = facts.token() else { return json!({"action": "none"}) };
    let cut = facts.change_token(&token.id, |t| std::mem::replace(&mut t.cut, true));
    let Some(was_cut) = cut else { return json!({"action": "none"}) };
    // The client sends no Stop for a turn that is aborted.
    let now = facts.now;
    facts.update(|s| (s.turn, s.over, s.dialog) = (None, Some(now), None));
    let text = format!("{}: this turn ends here", token.what());
    let say = (!was_cut).then(|| format!("this turn was ended, because {}", token.what()));
    json!({"action": "abort", "text": text, "say": say, "sealed": true})
}

/// Remembers when somebody last changed the prompt box.
fn saw_typing(facts: &mut Facts, asked: &Ask) {
    if let Some(ago) = asked.typed_ms.filter(|ago| (0..86_400_000).contains(ago)) {
        facts.saw_typing(facts.now - chrono::Duration::milliseconds(ago));
    }
}

/// Notes that a turn has ended: one that the user cut short, by Esc or by refusing a call, has no
/// Stop to say it. The next one may run already.
fn end_turn(facts: &mut Facts, asked: &Ask, is_aborted: bool) {
    // If agents run on in the background, the dialog may be of one of them.
    let is_closed = is_aborted || asked.agents.unwrap_or_default() == 0;
    let is_refused = facts.session.dialog.is_some() && is_closed;
    if is_refused {
        // Whoever did so is there.
        facts.saw_typing(facts.now);
    }
    let ended = asked.at.and_then(DateTime::from_timestamp_millis).unwrap_or(facts.now);
    if is_refused || facts.session.turn.is_some_and(|began| began < ended) {
        facts.update(|s| {
            s.turn = s.turn.filter(|began| *began >= ended);
            s.over = Some(ended);
            if is_refused {
                (s.dialog, s.notified.need) = (None, None);
            }
        });
    }
}

fn step(facts: &mut Facts, asked: &Ask, text: &str) -> Value {
    let Ok(report) = serde_json::from_str::<Report>(text) else {
        return succeed(facts, text);
    };
    if let Report::Failed { what, why } = &report {
        facts.fault(what, why);
    }
    if let Report::TurnComplete { is_aborted, .. } = report {
        end_turn(facts, asked, is_aborted);
    }
    // A turn that was cut short has no Stop to say which agents have ended in it.
    let agents = asked.agents.filter(|_| matches!(report, Report::TurnComplete { .. }));
    if let Some(agents) = agents.filter(|agents| *agents != facts.session.background.agents) {
        facts.update(|s| s.background.agents = agents);
    }
    let Some(token) = facts.token().filter(|t| t.carrier == Carrier::Mod) else {
        return succeed(facts, text);
    };
    saw_typing(facts, asked);
    let client = withdrawal::ClientCount { tokens: asked.tokens, is_rewound: asked.is_rewound };
    let gone = withdrawal::reason(facts, &token, client);
    let has_notes = token.step != Step::Unsealed || boundary_flow::wrote_notes(facts);
    let held = facts.held_reason();
    let version = sealing::fresh_version(&facts.places, &token.job, &facts.settings);
    let (gone_at, agents, id, now) =
        (facts.gone_at(), facts.session.background.agents, facts.id, facts.now);
    let typed = facts.session.typed;
    let failed = matches!(report, Report::Failed { .. });
    let next = failed.then(|| waiter::next_carrier(facts, &token)).flatten();
    let planned = facts.change_token(&token.id, |t| {
        let before = t.step;
        let situation = Situation {
            session: id,
            gone_at,
            held: held.as_deref(),
            has_notes,
            gone: gone.as_deref(),
            typed,
            agents,
            sealed: t.stands(version),
            next,
            now,
            settings: &facts.settings.boundary,
        };
        (plan::next(t, &report, &situation), before, t.clone())
    });
    let Some((action, before, token)) = planned else { return json!({"action": "none"}) };
    if before == Step::Pending && token.hold.is_some() && report.is_escape() {
        boundary_flow::lift_because(facts, "you pressed Escape");
    }
    // An aborted turn has no Stop, so the watch is started here.
    if token.live()
        && let Err(e) = watch::start(facts.env, &facts.places, &token.id)
    {
        facts.fault("waiter not started", &e);
    }
    let withdrawn = gone.filter(|_| before != token.step && token.step == Step::Withdrawn);
    let withdrawn = withdrawn.map(|why| withdrawal::line(facts, &why, client));
    if token.step >= Step::Acknowledged {
        boundary_flow::tidy(facts);
    }
    let mut answer = if token.step >= Step::Acknowledged && action == Action::None {
        succeed(facts, text)
    } else {
        render(facts, &token, action)
    };
    let why = token.why.as_ref().filter(|_| before != token.step && token.step == Step::Failed);
    // A broken seal lifts nothing: the agent seals again.
    let why = why.filter(|why| **why != EndReason::Edited);
    let failed = why.map(|why| boundary_flow::failed_line(facts, why));
    if let Some(line) = withdrawn.or(failed) {
        answer["say"] = json!(unnamed(&line));
    }
    answer
}

/// What a report means for surgery on the running session. A boundary goes first.
fn succeed(facts: &mut Facts, text: &str) -> Value {
    let mut value = succession::step(facts, text).unwrap_or_else(|| json!({"action": "none"}));
    if value["action"] == "resume" {
        name_command(&mut value, facts, &shadows::RESUME);
    }
    value["sealed"] = json!(sealed(facts));
    value["question"] = json!(succession::question(facts));
    value
}

/// A line without our name, which the client adds to what a module says.
fn unnamed(line: &str) -> &str {
    line.strip_prefix("brain-guard: ").unwrap_or(line)
}

/// Names the command that the module runs, or what stands in its way.
fn name_command(action: &mut Value, facts: &Facts, names: &[&'static str]) {
    match shadows::free_name(&facts.places, names) {
        Ok(name) => action["command"] = json!(name),
        Err(why) => action["why"] = json!(why),
    }
}

fn render(facts: &Facts, token: &Token, action: Action) -> Value {
    let action = match action {
        Action::Submit { token: id, what, .. } => {
            let text = match what {
                PlanText::Delivery => deliver::text(facts, token),
                PlanText::Continue => {
                    Some(deliver::boundary_text(facts, token, Text::Continue, &[]))
                }
            };
            match text {
                Some(text) => Action::Submit { token: id, what, text },
                None => Action::None,
            }
        }
        other => other,
    };
    let mut value = serde_json::to_value(&action).unwrap_or_else(|_| json!({"action": "none"}));
    if matches!(action, Action::Clear { .. }) {
        name_command(&mut value, facts, &shadows::CLEAR);
    }
    value["sealed"] = json!(sealed(facts));
    value
}
