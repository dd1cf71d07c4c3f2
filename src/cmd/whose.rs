//! Finds the session and the job a command is about.
#![allow(clippy::disallowed_methods, reason = "commands are an edge")]

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::{Exit, err, out};
use crate::cli::Whose;
use base::clock::Time;
use base::env::{self, Env};
use base::paths::{Places, project_root, safe_name};
use guard::files::ancestry::below_a_client;
use guard::files::jobs::{self, Open};
use guard::files::state;
use guard::hook::facts::Facts;

/// A project, and a session of it by id.
#[derive(Debug)]
pub struct Found {
    /// The project's root.
    pub project: PathBuf,
    /// The session.
    pub session: String,
}

/// Whether an agent runs this. Every process the client starts carries a mark; the agent
/// can take that off, but not its client from above itself.
pub fn in_an_agents_shell(env: &Env) -> bool {
    let places = || Places::of(env, Path::new("/"));
    env.get(env::CLAUDECODE).is_some() || places().is_some_and(|p| below_a_client(&p, 0))
}

/// Refuses a verb of the operator's where an agent runs it, and says so.
pub fn operator_only(env: &Env, verb: &str) -> Result<(), Exit> {
    if !in_an_agents_shell(env) {
        return Ok(());
    }
    let typed = if AT_THE_PROMPT.contains(&verb) {
        format!(", or type /brain-guard:{verb} at the prompt")
    } else {
        String::new()
    };
    err(format_args!(
        "`brain-guard {verb}` is the user's to run, not the agent's: run it in a terminal of your own{typed}"
    ));
    Err(Exit::Refused)
}

/// Refuses a verb of the operator's that was typed at a prompt, and says so, where an agent
/// typed it: the client starts the hook itself, so one that runs further down was fed a prompt
/// by the agent's shell or in a client of its own.
pub fn typed_by_operator(places: &Places, verb: &str) -> Result<(), String> {
    if below_a_client(places, 1) {
        return Err(format!(
            "brain-guard: /brain-guard:{verb} is the user's: type it in a session that no agent started"
        ));
    }
    Ok(())
}

/// The operator's verbs that can also be typed at the client's prompt.
const AT_THE_PROMPT: [&str; 4] = ["override", "now", "later", "job accept"];

/// The project a command is about.
///
/// # Errors
/// No current folder.
pub fn project(env: &Env, whose: &Whose) -> anyhow::Result<PathBuf> {
    match &whose.project {
        Some(dir) => Ok(dir.clone()),
        None => Ok(project_root(env, &env.cwd().context("the current folder is gone")?)),
    }
}

/// The session: as asked, else the one this process runs in, else the project's
/// only one whose client still lives.
///
/// # Errors
/// None or several; the message lists them and how to name one.
pub fn find(env: &Env, whose: &Whose) -> anyhow::Result<Found> {
    let project = project(env, whose)?;
    let named = whose.session.clone().or_else(|| env.get(env::SESSION_ID));
    if let Some(session) = named {
        if !safe_name(&session) {
            bail!("{session:?} is no session id");
        }
        if whose.session.is_some() && whose.call.is_none() {
            known(env, &project, &session)?;
        }
        return Ok(Found { project, session });
    }
    let places =
        Places::of(env, &project).context("HOME is not set, so there is no place for state")?;
    let mut live = live(&places)?;
    match live.len() {
        1 => Ok(Found { project, session: live.remove(0) }),
        0 => bail!(
            "no live session in {}; run this in a project where Claude Code runs with the plugin, or name one with --session{}",
            project.display(),
            last(&places).map(|id| format!(" (the last one here was {id})")).unwrap_or_default()
        ),
        _ => bail!(
            "several live sessions in {}; name one with --session:\n  {}",
            project.display(),
            live.join("\n  ")
        ),
    }
}

/// As [`find`], for a verb that only shows: without a live session the project's last one,
/// and a line that says so.
///
/// # Errors
/// As [`find`]; no session at all.
pub fn find_or_last(env: &Env, whose: &Whose) -> anyhow::Result<Found> {
    if let Some(found) = find_any(env, whose)? {
        return Ok(found);
    }
    let project = project(env, whose)?;
    let places =
        Places::of(env, &project).context("HOME is not set, so there is no place for state")?;
    let session = last(&places).with_context(|| {
        format!(
            "no session yet in {}; start Claude Code with the plugin there, or name a project with --project",
            project.display()
        )
    })?;
    err(format_args!("no live session here; this is the last one, {session}"));
    Ok(Found { project, session })
}

/// As [`find`], but without a live session there is none rather than an error.
///
/// # Errors
/// As [`find`], but for "no live session".
pub fn find_any(env: &Env, whose: &Whose) -> anyhow::Result<Option<Found>> {
    let nobody = whose.session.is_none() && env.get(env::SESSION_ID).is_none() && {
        let places = Places::of(env, &project(env, whose)?);
        places.is_none_or(|places| live(&places).is_ok_and(|live| live.is_empty()))
    };
    if nobody { Ok(None) } else { find(env, whose).map(Some) }
}

/// A session named by hand must be one of the project's: a typo would lose a note.
fn known(env: &Env, project: &Path, session: &str) -> anyhow::Result<()> {
    let Some(places) = Places::of(env, project) else { return Ok(()) };
    let all = state::all(&places)?;
    if all.iter().any(|id| id == session) {
        return Ok(());
    }
    let list = if all.is_empty() { "none".to_owned() } else { format!("\n  {}", all.join("\n  ")) };
    bail!("no session {session} in {}; known there: {list}", project.display())
}

/// Sessions whose client is still there and still in them.
fn live(places: &Places) -> anyhow::Result<Vec<String>> {
    let mut live = Vec::new();
    for id in state::all(places)? {
        let Ok(Some(session)) = state::load(places, &id) else { continue };
        let Some(client) = session.client else { continue };
        let seated = state::seat(places, client.pid).is_some_and(|s| s == id);
        if seated && state::client(client.pid) == Some(client) {
            live.push(id);
        }
    }
    Ok(live)
}

/// The session that was begun last, whether it lives or not.
fn last(places: &Places) -> Option<String> {
    let all = state::all(places).ok()?.into_iter();
    let begun = all.filter_map(|id| Some((state::load(places, &id).ok()??.started?, id)));
    begun.max().map(|(_, id)| id)
}

/// The facts of the session a command is about.
///
/// # Errors
/// As [`find`], and no place for state.
pub fn facts<'a>(env: &'a Env, now: Time, found: &'a Found) -> anyhow::Result<Facts<'a>> {
    Facts::for_session(env, now, &found.project, &found.session)
        .context("HOME is not set, so there is no place for state")
}

/// The job the session works on: the one its verbs moved it to last, its own, or a
/// default one of the session's where the hooks have not been at work.
pub fn job(facts: &Facts) -> String {
    // Right after it left its job there is none; what is shown then is that one.
    facts.asker().job().unwrap_or_else(|| facts.session.job.clone())
}

/// Opens the file of the session's job to write. What was refused, or goes elsewhere,
/// is told.
///
/// # Errors
/// What the system says of the file.
pub fn open(facts: &Facts) -> anyhow::Result<Result<Open, Exit>> {
    let opened = jobs::open(&facts.asker()).with_context(|| {
        format!("could not open {}", facts.places.compaction(&job(facts)).display())
    })?;
    Ok(opened
        .inspect(|open| {
            if let Some(why) = &open.instead {
                out(format_args!("{why}. This session works on the job {} now.", open.job));
            }
        })
        .map_err(|refusal| {
            err(refusal);
            Exit::Refused
        }))
}
