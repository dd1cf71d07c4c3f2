//! `seal`: seals the compaction file, and requests the boundary.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;

use super::succession::wake;
use super::{
    Context, Exit, Failure, Run, append, err, operator, out, out_json, selector, show, stdin_text,
};
use crate::cli::SealArgs;
use base::atomic;
use guard::files::jobs;
use guard::files::sealing::{self, Authored, FromAgent, Outcome, Writer};
use guard::files::state;
use guard::hook::boundary_flow::{self, Opening};
use guard::hook::facts::Facts;
use notes::compaction::{self, Role};
use notes::job::slice::Note;
use notes::seal::{self, Heavy, Input, Question, Refused};

impl Run for SealArgs {
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        let summary = match self.summary.as_deref() {
            Some("-") => Some(stdin_text()?),
            other => other.map(str::to_owned),
        };
        // An empty summary would count as this session's summary of the job.
        let says = |text: &String| text.lines().any(|line| !compaction::says_nothing(line));
        let summary = summary.filter(says);
        match &self.file {
            Some(path) => seal_file(context, self, path, summary.as_deref()),
            None => seal_job(context, self, summary.as_deref()),
        }
    }
}

fn seal_job(
    Context { env, now }: Context,
    ask: &SealArgs,
    summary: Option<&str>,
) -> anyhow::Result<Exit> {
    let found = selector::find(env, &ask.selector)?;
    let mut facts = selector::facts(env, now, &found)?;
    let mut job = selector::job(&facts);
    if !ask.dry_run {
        // A denied agent often seals first: this creates the file that it has to fill.
        job = selector::open(&mut facts)?.job;
    }
    if !ask.dry_run && !ask.json {
        super::keep_bytes(&facts.places, &job)?;
    }
    let source = jobs::read(&facts.places, &job)?.unwrap_or_default();
    let authored = sealing::authored(&source, &facts.session, &facts.settings);
    let asked = facts.session.notes.seal_asked.clone();
    let asked = asked.as_ref();
    let hands_on = ask.boundary() != Some(false) && authored.entries > 0;
    let seal = |facts: &Facts, may_ask: bool| {
        let by = Writer { id: facts.id, session: &facts.session };
        let agent = FromAgent { summary, asked, may_ask, hands_on };
        let Facts { places, settings, .. } = facts;
        sealing::run(places, &job, by, settings, Some(agent), now, ask.dry_run)
            .with_context(|| format!("could not seal {}", places.compaction(&job).display()))
    };
    let remember = |question: &Question| {
        let asked = sealing::asked(&job, question, asked);
        state::update(&facts.places, facts.id, |session| session.notes.seal_asked = Some(asked))
    };
    let mut outcome = seal(&facts, !ask.dry_run)?;
    if let Outcome::Asked(question) = &outcome {
        if let Some(text) = summary {
            keep_summary(&facts, &job, text)?;
        }
        // Remember the question last: if the call is killed earlier and made again, that must not
        // count as the answer. If it cannot be remembered, seal without a question, which would
        // else come back every time.
        if remember(question).is_err() {
            outcome = seal(&facts, false)?;
        }
    }
    match outcome {
        Outcome::Asked(question) => ask_agent(&facts, ask, &question, summary.is_some()),
        Outcome::NoFile => {
            let hint = "write one first:\n  brain-guard append --kind next 'the next step'";
            let what = format!("the job {job} has no compaction file yet");
            Err(Failure::refused(what).hint(hint).into())
        }
        Outcome::Refused(refused) => refuse(&refused, ask.json),
        Outcome::Sealed(sealed, path) => {
            let version = sealed.report.version;
            if !ask.dry_run && summary.is_some() {
                let _held = jobs::lock(&facts.places, &job)?;
                jobs::record_summary(&facts.places, &job, facts.id, version)?;
            }
            let (boundary, next) = if ask.dry_run {
                (false, "dry run: nothing was changed".into())
            } else {
                boundary_flow::sealed_as(&facts, &job, version, Some(sealed.report.words()), false);
                next(&mut facts, ask, &job, version, &authored)
            };
            let report = SealReport {
                report: &sealed.report,
                path: (!ask.dry_run).then_some(path),
                boundary,
                next,
                authored: authored.entries,
                empty_sections: &authored.empty,
                dry_run: ask.dry_run,
            };
            show(&report, ask.json)?;
            Ok(Exit::Done)
        }
    }
}

/// Adds the summary of a seal that asks a question first to the file, so that the agent does not
/// have to write it again.
fn keep_summary(facts: &Facts, job: &str, text: &str) -> anyhow::Result<()> {
    let open = jobs::open(&facts.asker(), job)?.map_err(Failure::refused)?;
    let shape = &facts.settings.file.shape;
    let section = shape.with_role(Role::Summary).unwrap_or_else(|| shape.home());
    let entries = seal::summary_entries(text, shape).into_iter();
    let notes: Vec<Note> =
        entries.map(|(marker, text)| Note { section, marker, text, first: false }).collect();
    append::write(facts, &open, &notes)?;
    Ok(())
}

/// A question that the agent has to answer before the seal.
#[derive(Serialize)]
struct Asked<'a> {
    #[serde(flatten)]
    question: &'a Question,
    verdict: &'static str,
    boundary: bool,
    summary_kept: bool,
}

/// Asks the agent; `kept` means that the seal's summary is in the file.
fn ask_agent(
    facts: &Facts,
    ask: &SealArgs,
    question: &Question,
    kept: bool,
) -> anyhow::Result<Exit> {
    if ask.json {
        out_json(&Asked { question, verdict: "asked", boundary: false, summary_kept: kept })?;
    } else {
        let command = match ask.boundary() {
            None => "brain-guard seal",
            Some(true) => "brain-guard seal --clear",
            Some(false) => "brain-guard seal --no-clear",
        };
        let path = facts.places.compaction(&selector::job(facts));
        err(question.text(command, &path.display().to_string()));
        if kept {
            err("Your summary is in the file now; don't repeat it.");
        }
    }
    Ok(Exit::Refused)
}

/// Opens the boundary that the seal asks for. Returns whether there is one, and what the agent does
/// next.
fn next(
    facts: &mut Facts,
    ask: &SealArgs,
    job: &str,
    version: u64,
    authored: &Authored,
) -> (bool, String) {
    // A second seal in one turn does not change what the first one asked for.
    let waits = boundary_flow::waits_sealed(facts);
    let clear = ask.boundary().or_else(|| waits.then_some(true));
    let opening = Opening::of_seal(&facts.places, job, version, clear, authored.entries > 0);
    let opened = boundary_flow::open(facts, &opening);
    if opened.is_ok() && facts.session.turn.is_none() {
        // Without a turn, none will end. If this fails, the waiter tries another way.
        let _ = wake::module(facts);
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
                "sealed, but no boundary: no new notes were written in this session.{empty} Write what the next session needs and the notes don't say yet (`brain-guard append --kind …`; `none: why` is an answer), then seal again."
            ),
        );
    }
    match opened {
        Ok(()) => {
            let when = match facts.session.turn {
                _ if operator::is_agent(facts.env) => {
                    "end your turn now: this session is then cleared"
                }
                Some(_) => "this session is cleared once its turn is over",
                None => "this session is cleared, after a notice above its prompt",
            };
            (true, format!("{when}, and a fresh one continues from these notes"))
        }
        Err(why) if operator::is_agent(facts.env) => {
            (false, format!("sealed, but no boundary: {why}; go on with the work"))
        }
        Err(why) => (false, format!("sealed, but this session does not restart: {why}")),
    }
}

/// What was sealed, and what happens next.
#[derive(Serialize)]
struct SealReport<'a> {
    #[serde(flatten)]
    report: &'a seal::Report,
    /// The sealed version's file; `None` in a dry run.
    path: Option<PathBuf>,
    boundary: bool,
    next: String,
    authored: usize,
    empty_sections: &'a [String],
    dry_run: bool,
}

impl fmt::Display for SealReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.report)?;
        if let Some(path) = &self.path {
            writeln!(f, "sealed version: {}", path.display())?;
        }
        f.write_str(&self.next)
    }
}

/// A refused seal, with the heaviest entries.
#[derive(Serialize)]
struct RefusedReport<'a> {
    #[serde(flatten)]
    report: &'a seal::Report,
    words: usize,
    cut: usize,
    heaviest: &'a [Heavy],
    boundary: bool,
}

fn refuse(refused: &Refused, json: bool) -> anyhow::Result<Exit> {
    if json {
        out_json(&RefusedReport {
            report: &refused.report,
            words: refused.words,
            cut: refused.cut,
            heaviest: &refused.heaviest,
            boundary: false,
        })?;
    } else {
        out(&refused.report);
        err(refused);
    }
    Ok(Exit::Refused)
}

/// A sealed file that belongs to no job.
#[derive(Serialize)]
struct LooseReport<'a> {
    #[serde(flatten)]
    report: &'a seal::Report,
    text: &'a str,
    removed: &'a str,
    dry_run: bool,
}

impl fmt::Display for LooseReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dry_run { write!(f, "{}", self.report) } else { f.write_str(self.text) }
    }
}

/// Seals a file that belongs to no job. The result goes to stdout; the file does not change.
fn seal_file(
    Context { env, now }: Context,
    ask: &SealArgs,
    path: &Path,
    summary: Option<&str>,
) -> anyhow::Result<Exit> {
    let project = selector::project(env, &ask.selector)?;
    let places = selector::places(env, &project)?;
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
            let report = LooseReport {
                report: &sealed.report,
                text: &sealed.text,
                removed: &sealed.removed_markdown,
                dry_run: ask.dry_run,
            };
            show(&report, ask.json)?;
            Ok(Exit::Done)
        }
    }
}
