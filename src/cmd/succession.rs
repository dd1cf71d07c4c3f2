//! Surgery on the running session: proposes it to the user, and performs it between turns. The
//! program makes a successor offline, and the plugin's module goes on in it.

mod here;
mod offer;
mod perform;
pub(super) mod wake;

use std::{io, iter};

use anyhow::{anyhow, bail};
use clap::Parser;

use super::surgery::view;
use super::{advise, operator, outlive_limit_on_files};
use crate::cli::ExtractionArgs;
use guard::files::{boundary, state, succession};
use guard::hook::facts::Facts;
use guard::succession::{By, Step, Succession, Work};
use sessions::cost::Cost;
use sessions::model::refuses_changed_thinking;
use sessions::operation::{Extraction, Operation, Order};

pub use here::ask;
pub use offer::{offer, question};
pub use perform::{operate, step, wait_for_row};

/// Runs a command as typed at the client's prompt, and returns the answer.
pub fn at_the_prompt(facts: &Facts, command: &str, args: &str) -> String {
    // A session may be written here, in the hook's process.
    let _ = outlive_limit_on_files();
    operator::refuse_prompt_of_agent(&facts.places, command)
        .map_err(anyhow::Error::from)
        .and_then(|()| answer(facts, command, args.trim()))
        .unwrap_or_else(|e| format!("brain-guard: {e:#}"))
}

fn answer(facts: &Facts, command: &str, args: &str) -> anyhow::Result<String> {
    if facts.token().is_some_and(|token| token.awaits_carrier_or_held(facts.id)) {
        bail!("the notes are sealed, so this session is cleared soon; /brain-guard:later keeps it");
    }
    match (command, args) {
        (_, "no") => decline(facts),
        ("undo", "") => go_back(facts),
        ("undo", "redo") => go_again(facts),
        ("undo", _) => bail!("/brain-guard:undo goes back; /brain-guard:undo redo goes on again"),
        (_, "yes") => agree(facts),
        ("slim", "") => propose_advice(facts),
        ("view", "") if facts.seen.mod_alive && wake::open_viewer(facts)? => {
            Ok("brain-guard: this session opens above; ? shows the keys, q comes back here"
                .to_owned())
        }
        ("view", "") => {
            Ok(format!("brain-guard: run `brain-guard view {}` in another terminal", facts.id))
        }
        ("extract", _) => propose_extraction(facts, args),
        _ => bail!("say yes or no, or nothing to see what it would do"),
    }
}

fn new(facts: &Facts, work: Work, effect: String, cost: Option<Cost>, by: By) -> Succession {
    Succession {
        from: facts.id.to_owned(),
        work,
        effect,
        cost,
        by,
        step: Step::Proposed,
        why: None,
        to: None,
        goes_on: false,
        client: facts.session.client,
        since: facts.now,
    }
}

fn open(facts: &Facts) -> Option<Succession> {
    succession::open(&facts.places, facts.id, facts.session.client, facts.now)
}

/// What the agent proposed and the user has not answered.
fn asked_by_agent(facts: &Facts) -> Option<Succession> {
    open(facts).filter(|open| open.step == Step::Proposed && open.by == By::Agent)
}

/// Proposes an order, with what a dry run says of it.
fn propose(facts: &Facts, order: Order) -> anyhow::Result<Succession> {
    let dry = perform::dry_run_here(facts, &order)?;
    let made =
        new(facts, Work::Make(Box::new(order)), view::effect(&dry), Some(dry.cost), By::User);
    succession::create(&facts.places, &made)?;
    Ok(made)
}

fn propose_advice(facts: &Facts) -> anyhow::Result<String> {
    if let Some(asked) = asked_by_agent(facts) {
        return Ok(format!("brain-guard: {}", proposal(facts, &asked, "slim")));
    }
    let report = advise::Report::of(facts.env, facts.now, Some(facts.id))?;
    let Some((advice, operation)) = report.compression() else {
        let extract = Operation::Extract(Extraction::default()).into();
        let more = match perform::dry_run_here(facts, &extract) {
            Ok(_) => ". /brain-guard:extract shows what long values take",
            Err(_) => "",
        };
        return Ok(format!(
            "brain-guard: there is nothing to shorten: no finished work was found, and the rest would free too little{more}"
        ));
    };
    let made = propose(facts, operation.clone().into())?;
    Ok(format!(
        "brain-guard: {}: {}\n{}",
        advice.case.words(),
        advice.why,
        proposal(facts, &made, "slim")
    ))
}

fn propose_extraction(facts: &Facts, args: &str) -> anyhow::Result<String> {
    let made = propose(facts, Operation::Extract(extraction(args)?).into())?;
    Ok(format!("brain-guard: {}", proposal(facts, &made, "extract")))
}

/// Parses what was typed after `/brain-guard:extract`: options of `extract run`.
fn extraction(args: &str) -> anyhow::Result<Extraction> {
    #[derive(Parser)]
    #[command(name = "/brain-guard:extract", disable_help_flag = true)]
    struct Typed {
        #[command(flatten)]
        what: ExtractionArgs,
    }
    let words = iter::once("/brain-guard:extract").chain(args.split_whitespace());
    let typed = Typed::try_parse_from(words).map_err(|error| {
        let text = error.to_string();
        let what = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        anyhow!("{what}; write /brain-guard:extract with the options of brain-guard extract run")
    })?;
    Ok(typed.what.into())
}

fn proposal(facts: &Facts, made: &Succession, command: &str) -> String {
    let saving = made.cost.map(|cost| format!(": {}", view::cost(&cost))).unwrap_or_default();
    let other =
        if command == "slim" { ", /brain-guard:view lets you choose the rounds" } else { "" };
    let refuses = facts.model().0.filter(|model| refuses_changed_thinking(model));
    let thinking = refuses.map(|model| {
        format!("\nThinking behind the change is left out, because {model} refuses it there.")
    });
    let thinking = thinking.unwrap_or_default();
    format!(
        "{}{saving}{thinking}\nThe conversation goes on in a new session in this pane, where /rewind has no earlier code checkpoints. Files stay as they are. /brain-guard:undo comes back here.\n/brain-guard:{command} yes does it{other}",
        made.effect
    )
}

fn agree(facts: &Facts) -> anyhow::Result<String> {
    let Some(asked) = open(facts).filter(|open| open.step == Step::Proposed) else {
        bail!("there is nothing to agree to; /brain-guard:slim shows what can go");
    };
    begin(facts, &asked)
}

fn decline(facts: &Facts) -> anyhow::Result<String> {
    let declined = succession::update(&facts.places, facts.id, |open| {
        let is_open = open.step <= Step::Agreed;
        if is_open {
            open.fail("the user said no", facts.now);
        }
        is_open
    })?;
    if declined != Some(true) {
        bail!("there is nothing to say no to");
    }
    if facts.seen.mod_alive {
        // The agent's question leaves the strip.
        wake::module(facts)?;
    }
    Ok("brain-guard: this session stays as it is".to_owned())
}

/// The session before, which is as it was.
fn go_back(facts: &Facts) -> anyhow::Result<String> {
    let Some(original) = facts.session.surgery.made_of.clone() else {
        let redo = match undone_successor(facts) {
            Some(_) => ". /brain-guard:undo redo goes on in the one that was made of it",
            None => "",
        };
        bail!(
            "there is nothing to undo: neither slim nor extract made this session in this client{redo}"
        );
    };
    enter(
        facts,
        original,
        "back in the session as it was; files stay as they are. The later messages are in the other session: /brain-guard:undo redo goes on there",
    )
}

fn go_again(facts: &Facts) -> anyhow::Result<String> {
    let Some(successor) = undone_successor(facts) else {
        bail!(
            "there is nothing to redo: you did not come back to this session by /brain-guard:undo"
        );
    };
    enter(facts, successor, "again in the session you came back from. /brain-guard:undo goes back")
}

/// The successor that the user went back from.
fn undone_successor(facts: &Facts) -> Option<String> {
    facts.session.surgery.entered_from.clone().filter(|id| {
        let left = state::load(&facts.places, id).ok().flatten();
        left.is_some_and(|left| left.surgery.made_of.as_deref() == Some(facts.id))
    })
}

fn enter(facts: &Facts, to: String, effect: &str) -> anyhow::Result<String> {
    if !perform::is_readable(facts, &to) {
        bail!("{}: {to}", perform::UNREADABLE);
    }
    let made = new(facts, Work::Enter(to), effect.to_owned(), None, By::User);
    succession::create(&facts.places, &made)?;
    begin(facts, &made)
}

/// Lets the module perform it, or says how the user does.
fn begin(facts: &Facts, asked: &Succession) -> anyhow::Result<String> {
    succession::update(&facts.places, facts.id, |open| open.advance(Step::Agreed, facts.now))?;
    end_wait(facts)?;
    if facts.seen.mod_alive {
        wake::module(facts)?;
        return Ok(format!("brain-guard: {}", in_progress(&asked.effect)));
    }
    let to = match &asked.work {
        Work::Enter(to) => to.clone(),
        Work::Make(order) => perform::make(facts, order)?,
    };
    succession::update(&facts.places, facts.id, |open| {
        open.to = Some(to.clone());
        open.advance(Step::Resuming, facts.now);
    })?;
    Ok(format!("brain-guard: {} Type /resume {to}", in_progress(&asked.effect)))
}

/// Ends a boundary that waits for the user to be gone. They are there, and leave the session in
/// another way.
fn end_wait(facts: &Facts) -> io::Result<()> {
    if let Some(token) = facts.token().filter(|token| token.waits_for_person(facts.id)) {
        boundary::update(&facts.places, &token.id, |token| {
            token.withdraw("the user goes to another session", facts.now)
        })?;
        state::update(&facts.places, facts.id, |session| session.token = None)?;
    }
    Ok(())
}

/// The answer while it is performed; the end is told in its own line.
fn in_progress(effect: &str) -> String {
    format!("{}…", effect.split(". ").next().unwrap_or(effect))
}
