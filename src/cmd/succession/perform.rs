//! Performs an agreed succession: makes the successor, and answers the module's reports.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use base::env;
use base::log;
use base::tail::lines_backwards;
use guard::files::succession;
use guard::hook::facts::Facts;
use guard::succession::{self as plan, Action, Report, Situation, Step, Tokens, Work};
use guard::texts::{Text, render};

/// Answers a report of the module; `None` if the session has no succession.
pub fn step(facts: &Facts, text: &str) -> Option<Value> {
    let report: Report = serde_json::from_str(text).ok()?;
    let from = of(facts)?;
    let moved = succession::update(&facts.places, &from, |token| {
        let before = token.step;
        let at = Situation { session: facts.id, agents: facts.session.agents, now: facts.now };
        (plan::next(token, &report, &at), before, token.clone())
    });
    let (action, before, token) = match moved {
        Ok(moved) => moved?,
        Err(e) => {
            facts.fault("succession not moved", &e);
            return None;
        }
    };
    if before != token.step {
        let details = json!({
            "session": token.from, "to": token.to, "step": token.step, "why": token.why,
            "what": token.what,
        });
        log::write(&facts.places.log(), facts.now, "succession", &details);
    }
    let mut value = serde_json::to_value(&action).ok()?;
    if matches!(action, Action::Submit { .. }) {
        value["text"] = json!(render(&facts.places, Text::Slimmed, &[("what", &token.what)]));
    }
    if token.step == Step::Failed && before != Step::Failed {
        let why = token.why.as_deref().unwrap_or_default();
        value["say"] = json!(format!("the session stays as it was: {why}"));
    }
    if token.step == Step::Done && before != Step::Done {
        value["say"] = json!(done(&token));
    }
    Some(value)
}

/// The session whose succession the client is in.
fn of(facts: &Facts) -> Option<String> {
    let client = facts.session.client;
    let own = succession::open(&facts.places, facts.id, client, facts.now).map(|open| open.from);
    let before = || {
        let from = facts.session.entered_from.as_deref()?;
        succession::open(&facts.places, from, client, facts.now)
            .filter(|open| open.leads_to(facts.id))
            .map(|open| open.from)
    };
    before().or(own)
}

fn done(token: &plan::Succession) -> String {
    match token.work {
        Work::Make(_) => format!("{}. /brain-guard:undo goes back", token.what),
        Work::Enter(_) => token.what.clone(),
    }
}

/// How long to wait for the client to write its last row, and between two looks.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);

/// Rows at the transcript's end among which the last row of the conversation is.
const ROWS: usize = 50;

/// Makes the successor that was agreed on. `row` is the id of the conversation's last row, which
/// the client writes shortly after the turn's end.
pub fn operate(facts: &Facts, row: Option<&str>) -> Value {
    if let (Some(row), Some(transcript)) = (row, &facts.transcript) {
        let began = Instant::now();
        while began.elapsed() < PATIENCE && !ends_with_row(transcript, row).unwrap_or(true) {
            std::thread::sleep(LOOK);
        }
    }
    let made =
        succession::load(&facts.places, facts.id).map_err(anyhow::Error::from).and_then(|token| {
            let token = token.context("nothing was agreed on")?;
            match &token.work {
                Work::Make(words) if token.step == Step::Operating => make(facts, words),
                _ => bail!("nothing was agreed on"),
            }
        });
    match made {
        Ok(id) => json!({"event": "operated", "successor": id}),
        Err(e) => json!({"event": "failed", "what": "surgery", "why": format!("{e:#}")}),
    }
}

fn ends_with_row(transcript: &Path, row: &str) -> io::Result<bool> {
    let (mut is_there, mut left) = (false, ROWS);
    lines_backwards(transcript, |line| {
        is_there = memchr::memmem::find(line, row.as_bytes()).is_some();
        left -= 1;
        if is_there || left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(is_there)
}

/// Runs the verb, and returns the id of the session it made.
pub fn make(facts: &Facts, words: &[String]) -> anyhow::Result<String> {
    let made = run(facts, words, &[])?;
    let first = made.get(0).unwrap_or(&made);
    first["id"].as_str().map(str::to_owned).context("it made no session")
}

/// What the verb would save.
pub fn dry_run(facts: &Facts, words: &[String]) -> anyhow::Result<Tokens> {
    let made = run(facts, words, &["--dry-run"])?;
    let tokens = &made.get(0).unwrap_or(&made)["tokens"];
    let figure = |name: &str| tokens[name].as_u64().context("it told no figures");
    Ok(Tokens { before: figure("before")?, after: figure("after")? })
}

/// Runs a verb of this program on the session.
fn run(facts: &Facts, words: &[String], more: &[&str]) -> anyhow::Result<Value> {
    let program = facts.env.program().context("brain-guard cannot find its own program file")?;
    let output = Command::new(program)
        .args(words)
        .args(more)
        .arg("--json")
        .env(env::SESSION_ID, facts.id)
        .current_dir(&facts.places.project)
        .stdin(Stdio::null())
        .output()
        .context("could not start brain-guard")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{}", said.trim().trim_start_matches("brain-guard: "));
    }
    serde_json::from_slice(&output.stdout).context("its output is not JSON")
}
