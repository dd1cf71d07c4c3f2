//! `seal`: the finalization pass, and the request for the boundary.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{Exit, err, out, out_json, stdin_text};
use super::{append, whose};
use crate::cli::Whose;
use base::atomic;
use base::clock::Time;
use base::env::Env;
use guard::compaction::{self, Role};
use guard::files::jobs;
use guard::files::requests::{self, Request};
use guard::files::sealing::{self, Authored, FromAgent, Outcome, Writer};
use guard::hook::crossing;
use guard::hook::facts::Facts;
use guard::job::slice::Note;
use guard::seal::{self, Input, Question, Refused, Sealed};

/// What is asked of the seal.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// Text for Prior Summary, `-` for stdin.
    pub summary: Option<String>,
    /// A boundary in so many words, or none.
    pub clear: Option<bool>,
    /// Change nothing.
    pub dry_run: bool,
    /// Report as JSON.
    pub json: bool,
    /// A file that belongs to no job.
    pub file: Option<PathBuf>,
}

/// Runs the verb.
///
/// # Errors
/// No session, or what the system says of the files.
pub fn run(env: &Env, now: Time, whose: &Whose, ask: &Ask) -> anyhow::Result<Exit> {
    let summary = match ask.summary.as_deref() {
        Some("-") => Some(stdin_text()?),
        other => other.map(str::to_owned),
    };
    // One that says nothing would count as this session's word on the job.
    let summary = summary.filter(|text| text.lines().any(|line| !compaction::says_nothing(line)));
    if let Some(path) = &ask.file {
        return loose(env, now, whose, ask, path, summary.as_deref());
    }
    let found = whose::find(env, whose)?;
    let facts = whose::facts(env, now, &found)?;
    let mut job = whose::job(&facts);
    if !ask.dry_run {
        // A denied agent's first reflex is to seal: it gets the file it is to write.
        match whose::open(&facts)? {
            Ok(open) => job = open.job,
            Err(exit) => return Ok(exit),
        }
    }
    if !ask.dry_run && !ask.json {
        super::keep_bytes(&facts.places, &job)?;
    }
    let source = jobs::read(&facts.places, &job)?.unwrap_or_default();
    let authored = sealing::authored(&source, &facts.session, &facts.settings);
    let asked = requests::seal_asked(&facts.places, facts.id);
    let asked = asked.as_ref().or(facts.session.seal_asked.as_ref());
    let hands_on = ask.clear != Some(false) && authored.entries > 0;
    let seal = |may_ask: bool| {
        let by = Writer { id: facts.id, session: &facts.session };
        let agent = FromAgent { summary: summary.as_deref(), asked, may_ask, hands_on };
        let Facts { places, settings, .. } = &facts;
        sealing::run(places, &job, by, settings, Some(agent), now, ask.dry_run)
            .with_context(|| format!("could not seal {}", places.compaction(&job).display()))
    };
    let remember = |question: &Question| {
        let asked = sealing::asked(&job, question, asked);
        requests::leave(&facts.places, facts.id, &Request::SealAsked(asked))
    };
    let mut outcome = seal(!ask.dry_run)?;
    if let Outcome::Asked(question) = &outcome {
        if let Some(text) = &summary {
            keep_summary(&facts, text)?;
        }
        // After all else, or a call that is killed and made again would count as the answer.
        // What can't be remembered would be asked again and again.
        if remember(question).is_err() {
            outcome = seal(false)?;
        }
    }
    match outcome {
        Outcome::Asked(question) => put(&facts, ask, &question, summary.is_some()),
        Outcome::NoFile => {
            err(format_args!(
                "the job {job} has no compaction file yet; write one first:\n  brain-guard append --kind next 'the next step'"
            ));
            Ok(Exit::Refused)
        }
        Outcome::Refused(refused) => refuse(&refused, ask.json),
        Outcome::Sealed(sealed, path) => {
            if !ask.dry_run {
                if summary.is_some() {
                    let _held = jobs::lock(&facts.places, &job)?;
                    jobs::summed(&facts.places, &job, facts.id, sealed.report.version)?;
                }
                let request = Request::Seal {
                    job: job.clone(),
                    version: sealed.report.version,
                    clear: ask.clear,
                    authored: authored.entries > 0,
                    promised: next(&facts, ask, &authored).0,
                    words: Some(sealed.report.words()),
                    at: now,
                };
                requests::leave(&facts.places, facts.id, &request)?;
            }
            report(&facts, ask, &sealed, &path.display().to_string(), &authored)
        }
    }
}

/// Puts a summary into the file that came with a seal which asks something first: the agent does
/// not have to write it again.
fn keep_summary(facts: &Facts, text: &str) -> anyhow::Result<()> {
    let Ok(open) = whose::open(facts)? else { return Ok(()) };
    let shape = &facts.settings.file.shape;
    let section = shape.with_role(Role::Summary).unwrap_or_else(|| shape.home());
    let document = compaction::parse(&open.text, shape);
    let is_new = |text: &str| document.section(section).all(|entry| entry.text != text);
    let entries = seal::summary_entries(text, shape).into_iter();
    let new = entries.filter(|(_, text)| is_new(text));
    let notes: Vec<Note> =
        new.map(|(marker, text)| Note { section, marker, text, first: false }).collect();
    append::write(facts, &open, &notes)?;
    Ok(())
}

/// Puts a question to the agent; `kept` where the summary that came with the seal is in the file.
fn put(facts: &Facts, ask: &Ask, question: &Question, kept: bool) -> anyhow::Result<Exit> {
    if ask.json {
        let mut value = serde_json::to_value(question)?;
        merge(&mut value, json!({"verdict": "asked", "boundary": false, "summary_kept": kept}));
        out_json(&value)?;
    } else {
        let command = match ask.clear {
            None => "brain-guard seal",
            Some(true) => "brain-guard seal --clear",
            Some(false) => "brain-guard seal --no-clear",
        };
        let path = facts.places.compaction(&whose::job(facts));
        err(question.text(command, &path.display().to_string()));
        if kept {
            err("Your summary is in the file now; don't repeat it.");
        }
    }
    Ok(Exit::Refused)
}

/// What happens next, as the agent needs to know it.
fn next(facts: &Facts, ask: &Ask, authored: &Authored) -> (bool, String) {
    if ask.dry_run {
        return (false, "dry run: nothing was changed".into());
    }
    if authored.entries == 0 {
        let empty = if authored.empty.is_empty() {
            String::new()
        } else {
            format!(" Empty sections: {}.", authored.empty.join(", "))
        };
        return (
            false,
            format!(
                "sealed, but no boundary: nothing was written in this session.{empty} Write what the next session needs (`brain-guard append --kind …`; `none: why` is an answer), then seal again."
            ),
        );
    }
    let refusal = crossing::why_no_boundary(facts, &whose::job(facts), ask.clear, true);
    // A second seal in one turn changes nothing of what the first one asked for.
    let waits = ask.clear != Some(false) && crossing::waits_sealed(facts);
    match refusal.filter(|_| !waits) {
        None => (true, "end your turn now: this session is then cleared, and a fresh one continues from these notes".into()),
        Some(refusal) => (false, format!("sealed, but no boundary: {}; go on with the work", refusal.why)),
    }
}

fn report(
    facts: &Facts,
    ask: &Ask,
    sealed: &Sealed,
    path: &str,
    authored: &Authored,
) -> anyhow::Result<Exit> {
    let (boundary, said) = next(facts, ask, authored);
    if ask.json {
        let mut value = serde_json::to_value(&sealed.report)?;
        merge(
            &mut value,
            json!({
                "path": if ask.dry_run { Value::Null } else { json!(path) },
                "boundary": boundary,
                "next": said,
                "authored": authored.entries,
                "empty_sections": authored.empty,
                "dry_run": ask.dry_run,
            }),
        );
        out_json(&value)?;
    } else {
        out(&sealed.report);
        if !ask.dry_run {
            out(format_args!("sealed version: {path}"));
        }
        out(said);
    }
    Ok(Exit::Done)
}

fn merge(value: &mut Value, more: Value) {
    if let (Value::Object(value), Value::Object(more)) = (value, more) {
        value.extend(more);
    }
}

fn refuse(refused: &Refused, json: bool) -> anyhow::Result<Exit> {
    if json {
        let mut value = serde_json::to_value(&refused.report)?;
        merge(
            &mut value,
            json!({
                "words": refused.words, "cut": refused.cut, "heaviest": refused.heaviest, "boundary": false,
            }),
        );
        out_json(&value)?;
    } else {
        out(&refused.report);
        err(refused);
    }
    Ok(Exit::Refused)
}

/// Seals a file that belongs to no job: the result to stdout, the file untouched.
fn loose(
    env: &Env,
    now: Time,
    whose: &Whose,
    ask: &Ask,
    path: &std::path::Path,
    summary: Option<&str>,
) -> anyhow::Result<Exit> {
    let project = whose::project(env, whose)?;
    let places = base::paths::Places::of(env, &project)
        .context("HOME is not set; set it to your home folder")?;
    let (settings, _) = guard::hook::facts::read_settings(&places, env);
    let source = atomic::read_text(path)
        .with_context(|| format!("could not read {}", path.display()))?
        .with_context(|| format!("{} does not exist", path.display()))?;
    let input = Input {
        source: &source,
        shape: &settings.file.shape,
        job: "file",
        limits: settings.seal_limits(),
        now,
        summary,
        inherited: &BTreeSet::<compaction::EntryId>::new(),
        last_version: 0,
        replaces: &[],
        past: None,
        git: None,
    };
    match seal::seal(&input) {
        Err(refused) => refuse(&refused, ask.json),
        Ok(sealed) => {
            if ask.json {
                let mut value = serde_json::to_value(&sealed.report)?;
                merge(
                    &mut value,
                    json!({
                        "text": sealed.text, "removed": sealed.removed_markdown, "dry_run": ask.dry_run,
                    }),
                );
                out_json(&value)?;
            } else if ask.dry_run {
                out(&sealed.report);
            } else {
                out(sealed.text.trim_end_matches('\n'));
            }
            Ok(Exit::Done)
        }
    }
}
