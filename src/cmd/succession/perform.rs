//! Performs an agreed succession: makes the successor, and answers the module's reports.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use crate::cmd::surgery::made::Made;
use crate::cmd::surgery::pipeline;
use crate::cmd::surgery::remove::Removal;
use crate::cmd::surgery::source::Store;
use crate::cmd::surgery::target::Destination;
use crate::cmd::{Context, Failure};
use base::tail::lines_backwards;
use guard::files::journal::Journal;
use guard::files::succession;
use guard::hook::facts::Facts;
use guard::journal::What;
use guard::succession::{self as plan, Action, Report, Situation, Step, Succession, Work};
use guard::texts::{Text, render};
use sessions::operation::Order;
use sessions::round::Session;

/// Answers a report of the module; `None` if the session has no succession.
pub fn step(facts: &Facts, text: &str) -> Option<Value> {
    let mut report: Report = serde_json::from_str(text).ok()?;
    if let Report::Operated { successor } = &report
        && !is_readable(facts, successor)
    {
        report = Report::Failed { what: "surgery".to_owned(), why: UNREADABLE.to_owned() };
    }
    let from = origin(facts)?;
    let moved = succession::update(&facts.places, &from, |token| {
        let before = token.clone();
        let at = Situation {
            session: facts.id,
            agents: facts.session.background.agents,
            now: facts.now,
        };
        (plan::next(token, &report, &at), before, token.clone())
    });
    let (action, before, token) = match moved {
        Ok(moved) => moved?,
        Err(e) => {
            facts.fault("succession not moved", &e);
            return None;
        }
    };
    let is_new = before.step != token.step;
    if is_new {
        let Succession { step, effect, to, why, .. } = token.clone();
        let what = What::Succession { step, effect, to, why };
        Journal::of_session(&facts.places, &token.from).record(&facts.places, facts.now, what);
    }
    if token.to.is_none() {
        let made = if let Report::Overtaken { successor } = report { successor } else { None };
        discard(facts, &token, made.or(before.to));
    }
    let mut value = serde_json::to_value(&action).ok()?;
    if matches!(action, Action::Submit { .. }) {
        value["text"] = json!(render(&facts.places, Text::Slimmed, &[("what", &token.effect)]));
    }
    if is_new && let Some(said) = result_of(&token) {
        value["say"] = json!(said);
    }
    Some(value)
}

/// Why a session is not gone on in.
pub const UNREADABLE: &str = "the file of the session to go on in has no rows";

/// Whether a session's file has rows: the client would go on in an empty session. A file that is
/// not there is the client's to refuse.
pub fn is_readable(facts: &Facts, session: &str) -> bool {
    let file = facts.transcript.as_ref().map(|own| own.with_file_name(format!("{session}.jsonl")));
    file.is_none_or(|file| ends_with_row(&file, "\"uuid\":").unwrap_or(true))
}

/// The session whose succession the client is in: this one, or the one it came from.
fn origin(facts: &Facts) -> Option<String> {
    let client = facts.session.client;
    let open = |from: &str| succession::open(&facts.places, from, client, facts.now);
    let before = facts.session.surgery.entered_from.as_deref().and_then(open);
    let led_here = before.filter(|before| before.leads_to(facts.id));
    led_here.or_else(|| open(facts.id)).map(|open| open.from)
}

/// Removes a successor that the token no longer leads to: a turn overtook it, or the client
/// refused it.
fn discard(facts: &Facts, token: &Succession, successor: Option<String>) {
    let Some(successor) = successor.filter(|_| matches!(token.work, Work::Make(_))) else { return };
    if let Err(e) = Removal::run(facts.env, facts.now, Some(&successor)) {
        facts.fault("successor not removed", &io::Error::other(format!("{e:#}")));
    }
}

/// What the user is told at the end.
fn result_of(token: &Succession) -> Option<String> {
    match (token.step, &token.work) {
        (Step::Failed, _) => {
            Some(format!("the session stays as it was: {}", token.why.as_deref()?))
        }
        (Step::Proposed, _) => Some(format!(
            "the session stays as it was: {}. /brain-guard:slim yes tries again",
            token.why.as_deref()?
        )),
        (Step::Done, Work::Make(_)) => {
            Some(format!("{}. /brain-guard:undo goes back", token.effect))
        }
        (Step::Done, Work::Enter(_)) => Some(token.effect.clone()),
        _ => None,
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
    wait_for_row(facts, row, PATIENCE);
    let made =
        succession::load(&facts.places, facts.id).map_err(anyhow::Error::from).and_then(|token| {
            let token = token.context("nothing was agreed on")?;
            match &token.work {
                Work::Make(order) if token.step == Step::Operating => make(facts, order),
                _ => bail!("nothing was agreed on"),
            }
        });
    match made {
        Ok(id) => json!({"event": "operated", "successor": id}),
        Err(e) => json!({"event": "failed", "what": "surgery", "why": format!("{e:#}")}),
    }
}

/// Waits until the client has written `row`, at most for `patience`.
pub fn wait_for_row(facts: &Facts, row: Option<&str>, patience: Duration) {
    if let (Some(row), Some(transcript)) = (row, &facts.transcript) {
        let began = Instant::now();
        while began.elapsed() < patience && !ends_with_row(transcript, row).unwrap_or(true) {
            std::thread::sleep(LOOK);
        }
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

/// Makes the successor, and returns its id.
pub fn make(facts: &Facts, order: &Order) -> anyhow::Result<String> {
    Ok(make_first(facts, order, Destination::default())?.id)
}

/// What an order would make of this session: the successor to go on in.
pub fn dry_run_here(facts: &Facts, order: &Order) -> anyhow::Result<Made> {
    make_first(facts, order, DRY_RUN)
}

fn make_first(facts: &Facts, order: &Order, to: Destination) -> anyhow::Result<Made> {
    let context = Context { env: facts.env, now: facts.now };
    let store = Store::open(facts.env)?;
    let session = store.session(facts.env, Some(facts.id))?;
    first(pipeline::perform(context, &store, &session, order, to)?)
}

const DRY_RUN: Destination = Destination { out: None, dry_run: true };

/// What an order would make of a session: the successor to go on in.
pub fn dry_run(
    context: Context,
    store: &Store,
    session: &Session,
    order: &Order,
) -> anyhow::Result<Made> {
    first(pipeline::perform(context, store, session, order, DRY_RUN)?)
}

/// The successor to go on in, if several were made.
fn first(made: Vec<Made>) -> anyhow::Result<Made> {
    let made = made.into_iter().next().ok_or_else(|| {
        let hint = "`brain-guard extract plan` says what stays, and why";
        Failure::refused("nothing can be extracted now").hint(hint)
    })?;
    Ok(made)
}
