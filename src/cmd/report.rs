//! `report`: a session, or all sessions of a job, over time: as text, JSON or a page.

mod events;
mod gather;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use chrono::{FixedOffset, Offset as _};

use super::whose;
use super::{Exit, out, out_json};
use crate::cli::Whose;
use base::atomic;
use base::clock::Time;
use base::env::Env;
use base::paths::Places;
use guard::hook::facts::Facts;
use guard::report::{self, Report, Subject};

/// What is asked for.
#[derive(Debug)]
pub struct Ask {
    /// The job: by name, or the session's.
    pub job: Option<Option<String>>,
    /// Where the page goes.
    pub html: Option<PathBuf>,
    /// Print JSON.
    pub json: bool,
}

/// Runs the verb.
///
/// # Errors
/// No such session or job, or what the system says of the page's file.
pub fn run(env: &Env, now: Time, whose: &Whose, ask: &Ask) -> anyhow::Result<Exit> {
    let project = whose::project(env, whose)?;
    let places = Places::of(env, &project)
        .context("HOME is not set, so there is no place for state; set it to your home folder")?;
    let subject = subject(env, now, whose, ask, &places)?;
    let report = gather::report(env, now, &places, subject)?;
    let zone = now.with_timezone(&chrono::Local).offset().fix();
    if let Some(file) = &ask.html {
        write(&report, zone, file)?;
    }
    if ask.json {
        out_json(&report)?;
    } else if ask.html.is_none() {
        out(report::text(&report, zone));
    }
    Ok(Exit::Done)
}

/// The answer to the slash command: this session over time.
pub fn at_the_prompt(facts: &Facts) -> String {
    let subject = Subject::Session(facts.id.to_owned());
    let zone = facts.now.with_timezone(&chrono::Local).offset().fix();
    match gather::report(facts.env, facts.now, &facts.places, subject) {
        Ok(report) => format!("brain-guard\n{}", report::text(&report, zone).trim_end()),
        Err(e) => format!("brain-guard: {e:#}"),
    }
}

fn subject(
    env: &Env,
    now: Time,
    whose: &Whose,
    ask: &Ask,
    places: &Places,
) -> anyhow::Result<Subject> {
    if let Some(Some(name)) = &ask.job {
        return Ok(Subject::Job(name.clone()));
    }
    let found = whose::find_or_last(env, whose).map_err(|e| {
        let known = gather::known(places);
        if known.is_empty() {
            e
        } else {
            e.context(format!(
                "which one? Name it with --job NAME or --session ID:\n  {}",
                known.join("\n  ")
            ))
        }
    })?;
    let facts = whose::facts(env, now, &found)?;
    if facts.unseen {
        bail!(
            "no session {} in {}; its hooks have not run yet",
            found.session,
            found.project.display()
        );
    }
    Ok(if ask.job.is_some() {
        Subject::Job(whose::job(&facts))
    } else {
        Subject::Session(found.session.clone())
    })
}

/// Replaces the file, as `>` would, but whole or not at all, and private where it is new.
fn write(report: &Report, zone: FixedOffset, file: &Path) -> anyhow::Result<()> {
    let page = report::page(report, zone)?;
    if file == Path::new("-") {
        out(page.trim_end());
        return Ok(());
    }
    if file.is_dir() {
        bail!("{} is a folder; name a file in it", file.display());
    }
    atomic::write(file, page.as_bytes())
        .with_context(|| format!("could not write {}", file.display()))?;
    super::err(format_args!("wrote {} ({} KB)", file.display(), page.len().div_ceil(1024)));
    Ok(())
}
