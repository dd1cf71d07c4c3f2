//! `report`: a session, or all sessions of a job, over time: as text, JSON or a page.

mod gather;

use std::path::Path;

use anyhow::{Context as _, bail};
use chrono::{FixedOffset, Offset as _};

use super::{Context, Exit, Run, out, out_json, selector};
use crate::cli::ReportArgs;
use base::atomic;
use base::paths::Places;
use guard::hook::facts::Facts;
use guard::report::{self, Report, Subject};

impl Run for ReportArgs {
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        let Context { env, now } = context;
        let project = selector::project(env, &self.session.selector())?;
        let places = selector::places(env, &project)?;
        let subject = subject(context, self, &places)?;
        let report = gather::report(env, now, &places, subject)?;
        let zone = now.with_timezone(&chrono::Local).offset().fix();
        if let Some(file) = &self.html {
            write(&report, zone, file)?;
        }
        if self.json {
            out_json(&report)?;
        } else if self.html.is_none() {
            out(report::text(&report, zone));
        }
        Ok(Exit::Done)
    }
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
    Context { env, now }: Context,
    args: &ReportArgs,
    places: &Places,
) -> anyhow::Result<Subject> {
    if let Some(Some(name)) = &args.job {
        return Ok(Subject::Job(name.clone()));
    }
    let found = selector::find_or_last(env, &args.session.selector()).map_err(|e| {
        let known = gather::list_subjects(places);
        if known.is_empty() {
            e
        } else {
            e.context(format!(
                "which one? Name it with --job NAME or --session ID:\n  {}",
                known.join("\n  ")
            ))
        }
    })?;
    let facts = selector::facts(env, now, &found)?;
    if facts.unseen {
        bail!(
            "no session {} in {}; its hooks have not run yet",
            found.session,
            found.project.display()
        );
    }
    Ok(if args.job.is_some() {
        Subject::Job(selector::job(&facts))
    } else {
        Subject::Session(found.session.clone())
    })
}

/// Writes the file atomically. A new file is private to the user.
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
