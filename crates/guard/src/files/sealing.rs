//! The seal on disk: reads the live file, runs the pure seal, and writes the result under the job's
//! lock. The verb uses it, and the hooks use it without the agent.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use super::journal::Journal;
use super::{archives, commits, jobs};
use crate::journal::What;
use crate::session::{SealAsked, Session};
use crate::settings::Settings;
use base::atomic;
use base::clock::Time;
use base::paths::Places;
use notes::compaction::{self, Document, EntryId, FrontMatter, Role, Stamp, StampState};
use notes::job::{Sealer, phase};
use notes::seal::{self, Input, Past, Question, Refused, Sealed, Verdict};

/// The result of a seal.
#[derive(Debug)]
pub enum Outcome {
    /// Sealed now or before, with the path of the version. A dry run writes nothing.
    Sealed(Box<Sealed>, PathBuf),
    /// Still too large; nothing was changed.
    Refused(Box<Refused>),
    /// The agent has to answer a question first; nothing was changed.
    Asked(Question),
    /// There is no compaction file yet.
    NoFile,
}

/// The inputs of an agent's seal. The guard's own seal has none and asks nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct FromAgent<'a> {
    /// New text for the summary section.
    pub summary: Option<&'a str>,
    /// What the agent was asked before.
    pub asked: Option<&'a SealAsked>,
    /// Whether the seal may ask a new question.
    pub may_ask: bool,
    /// Whether a fresh session may continue from these notes. Only then a next step is needed.
    pub hands_on: bool,
}

/// The session that seals.
#[derive(Debug, Clone, Copy)]
pub struct Writer<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its state.
    pub session: &'a Session,
}

/// Seals the job's file. On an error the live file is unchanged.
pub fn run(
    places: &Places,
    job: &str,
    by: Writer,
    settings: &Settings,
    agent: Option<FromAgent>,
    now: Time,
    dry: bool,
) -> io::Result<Outcome> {
    if !places.compaction(job).exists() {
        return Ok(Outcome::NoFile);
    }
    let _held = jobs::lock(places, job)?;
    let Some(source) = jobs::read(places, job)? else { return Ok(Outcome::NoFile) };
    if !dry && let Err(e) = commits::update(places, job, by.id, by.session) {
        // The notes matter more than the list of commits.
        let fault = What::fault("commits not read", &e);
        Journal::of_session(places, by.id).record(places, now, fault);
    }
    let commits = commits::for_seal(places, job);
    let inherited: BTreeSet<EntryId> = by.session.notes.inherited.iter().copied().collect();
    let last_version = jobs::last_version(places, job);
    let record = jobs::record(places, job);
    let sealer = Sealer { session: by.id.to_owned(), ordinal: record.ordinal(by.id) };
    // Only used to recognize edited entries; without it they count as new.
    let before = atomic::read_text(&jobs::sealed_path(places, job, last_version)).ok().flatten();
    let past = Past { session: sealer.ordinal, ages: &record.entries, sealed: before.as_deref() };
    let asked = agent.and_then(|agent| agent.asked).filter(|asked| asked.job == job);
    let version = FrontMatter::read(&source).0.version.unwrap_or(0);
    let replaces = asked.filter(|asked| asked.version == version);
    let input = Input {
        source: &source,
        shape: &settings.file.shape,
        job,
        limits: settings.seal_limits(),
        now,
        summary: agent.and_then(|agent| agent.summary),
        inherited: &inherited,
        past: Some(past),
        last_version,
        replaces: replaces.map_or(&[], |asked| &asked.condense),
        git: Some(&commits),
    };
    let mut sealed = seal::seal(&input);
    if let Ok(same) = &sealed
        && same.report.verdict == Verdict::AlreadySealed
        && let Some(source) = without_commits(places, job, &source, settings)
    {
        sealed = seal::seal(&Input { source: &source, ..input });
    }
    match sealed {
        Err(refused) => Ok(Outcome::Refused(refused)),
        Ok(sealed) => {
            if let Some(agent) = agent.filter(|agent| agent.may_ask) {
                // Nothing was written since the last seal, which asked.
                let since =
                    if sealed.report.verdict == Verdict::AlreadySealed { asked } else { replaces };
                let little = settings.boundary.times.little_words;
                let mut question = unasked(Question::for_seal(&input, &sealed, little), since);
                if !agent.hands_on {
                    (question.next_step, question.little) = (None, None);
                }
                if !question.is_empty() {
                    return Ok(Outcome::Asked(question));
                }
            }
            let path = jobs::sealed_path(places, job, sealed.report.version);
            if !dry && (sealed.text != source || !path.exists()) {
                archives::save_invalid_utf8(places, job)?;
                // Written before the file, so that a kill in between counts nothing twice.
                jobs::change_record(places, job, |record| {
                    record.entries.clone_from(&sealed.ages);
                    record.sealer = Some(sealer);
                    if let Some(phase) = record.phase.as_mut() {
                        phase::sealed(phase, &compaction::parse(&source, &settings.file.shape));
                    }
                })?;
                jobs::write_sealed(places, job, &source, &sealed)?;
            }
            Ok(Outcome::Sealed(Box::new(sealed), path))
        }
    }
}

/// The parts of a question that the agent was not asked before.
fn unasked(question: Question, asked: Option<&SealAsked>) -> Question {
    let Some(asked) = asked else { return question };
    Question {
        next_step: question.next_step.filter(|_| !asked.next_step),
        little: question.little.filter(|_| !asked.little),
        condense: question.condense.filter(|_| asked.condense.is_empty()),
        ..question
    }
}

/// Combines a question with what was asked before it, to be remembered.
pub fn asked(job: &str, question: &Question, before: Option<&SealAsked>) -> SealAsked {
    let version = question.version;
    let before = before.filter(|before| before.job == job && before.version == version);
    let before = before.cloned().unwrap_or_default();
    SealAsked {
        job: job.to_owned(),
        version,
        next_step: before.next_step || question.next_step.is_some(),
        little: before.little || question.little.is_some(),
        condense: [before.condense, question.ids_to_condense()].concat(),
    }
}

/// The sealed file without its commits, if they differ from the sealed version's. New commits do
/// not break a seal, but the boundary delivers the sealed version.
fn without_commits(
    places: &Places,
    job: &str,
    source: &str,
    settings: &Settings,
) -> Option<String> {
    let shape = &settings.file.shape;
    let section = shape.with_role(Role::Git)?;
    let document = compaction::parse(source, shape);
    let version = Stamp::read(&document)?.version;
    let sealed = atomic::read_text(&jobs::sealed_path(places, job, version)).ok()??;
    let sealed = compaction::parse(&sealed, shape);
    let texts = |document: &Document| -> Vec<String> {
        document.section(section).map(|entry| entry.text.clone()).collect()
    };
    if texts(&document) == texts(&sealed) {
        return None;
    }
    compaction::replace_section_body(source, shape, &shape.sections[section].name, "").ok()
}

/// The version of a file with an unbroken seal.
pub fn fresh_version(places: &Places, job: &str, settings: &Settings) -> Option<u64> {
    let text = jobs::read(places, job).ok()??;
    let document = compaction::parse(&text, &settings.file.shape);
    match Stamp::check(&document) {
        StampState::Fresh => Stamp::read(&document).map(|s| s.version),
        StampState::Broken | StampState::Absent => None,
    }
}

/// What the session has written itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authored {
    /// Entries that this session wrote or confirmed.
    pub entries: usize,
    /// Empty sections that an agent should write.
    pub empty: Vec<String>,
}

/// Counts the entries that were not there when the session began.
pub fn authored(text: &str, session: &Session, settings: &Settings) -> Authored {
    let document = compaction::parse(text, &settings.file.shape);
    let ids = jobs::authored_ids(&document);
    let entries = ids.iter().filter(|id| !session.notes.inherited.contains(id)).count();
    Authored { entries, empty: document.empty_authored() }
}
