//! `job list` and `job show`: the state of each job.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::JobContext;
use crate::cmd::Failure;
use base::atomic;
use base::clock::Time;
use base::plain;
use base::shown::local_minute;
use guard::files::jobs;
use notes::compaction;
use notes::job::{Holder, Link, PastPhase, Phase, Record, State, Summed, refusal};

/// A job, as it is shown.
#[derive(Debug, Serialize)]
struct Line {
    name: String,
    state: State,
    /// The guard chose the name.
    default: bool,
    /// It is the job of the session that asks.
    own: bool,
    holder: Option<Holder>,
    words: usize,
    written: Option<Time>,
    sealed_version: u64,
    path: PathBuf,
}

impl Line {
    fn of(around: &JobContext, name: &str) -> (Self, Record) {
        let JobContext { places, settings, .. } = around;
        let path = places.compaction(name);
        let text = atomic::read_text(&path).ok().flatten().unwrap_or_default();
        let record = jobs::record(places, name);
        let line = Self {
            name: name.to_owned(),
            state: record.state,
            default: jobs::auto(places, name, &record),
            own: around.own.as_deref() == Some(name),
            holder: jobs::holder(places, name),
            words: compaction::gauge_words(&text, &settings.file.shape),
            written: atomic::stat(&path).map(|(nanos, _)| Time::from_timestamp_nanos(nanos)),
            sealed_version: jobs::last_version(places, name),
            path,
        };
        (line, record)
    }

    fn holder_text(&self) -> String {
        match &self.holder {
            Some(_) if self.own => "this session".into(),
            Some(holder) => refusal::describe_holder(holder),
            None => "nobody".into(),
        }
    }
}

fn state(state: State) -> &'static str {
    match state {
        State::Active => "active",
        State::Paused => "paused",
        State::Completed => "completed",
    }
}

fn when(at: Option<Time>) -> String {
    local_minute(at)
}

/// A project's jobs, last written first.
#[derive(Debug, Serialize)]
pub(super) struct Jobs {
    jobs: Vec<Listed>,
}

#[derive(Debug, Serialize)]
struct Listed {
    #[serde(flatten)]
    line: Line,
    /// The name of its present phase.
    phase: Option<String>,
}

impl Jobs {
    /// All jobs.
    pub(super) fn of(around: &JobContext) -> Self {
        let names = jobs::all(&around.places);
        let listed = |name: &String| {
            let (line, record) = Line::of(around, name);
            Listed { line, phase: record.phase.map(|phase| phase.name) }
        };
        let mut jobs: Vec<Listed> = names.iter().map(listed).collect();
        jobs.sort_by(|a, b| {
            b.line.written.cmp(&a.line.written).then_with(|| a.line.name.cmp(&b.line.name))
        });
        Self { jobs }
    }
}

impl fmt::Display for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.jobs.is_empty() {
            return f.write_str("no job yet. The agent's first note begins one; `brain-guard job focus NAME` begins one now");
        }
        let widest = self.jobs.iter().map(|listed| listed.line.name.len()).max().unwrap_or(0);
        for Listed { line, phase } in &self.jobs {
            let own = if line.own { "*" } else { " " };
            let phase = phase.as_deref().unwrap_or("-");
            let default = if line.default { ", default" } else { "" };
            writeln!(
                f,
                "{own} {:<widest$}  {:<9}  {:>6} words  written {:<16}  phase {phase}  held by {}{default}",
                line.name,
                state(line.state),
                line.words,
                when(line.written),
                line.holder_text(),
            )?;
        }
        Ok(())
    }
}

/// All details of one job.
#[derive(Debug, Serialize)]
pub(super) struct Job {
    #[serde(flatten)]
    line: Line,
    created: Option<Time>,
    phase: Option<Phase>,
    phases: Vec<PastPhase>,
    summary: Option<Summed>,
    lineage: Vec<Link>,
    sealed: Vec<SealedVersion>,
}

#[derive(Debug, Serialize)]
struct SealedVersion {
    version: u64,
    sealed: Option<Time>,
    path: PathBuf,
}

impl Job {
    /// The named job, or else the session's.
    ///
    /// # Errors
    /// There is no such job.
    pub(super) fn of(around: &JobContext, name: Option<&str>) -> Result<Self, Failure> {
        let name = around.job(name)?;
        let (line, record) = Line::of(around, &name);
        let versions = jobs::versions(&around.places, &name, &around.settings.file.shape);
        let sealed = versions.into_iter().map(|one| SealedVersion {
            version: one.number,
            sealed: one.sealed,
            path: one.path,
        });
        Ok(Self {
            line,
            created: record.created,
            phase: record.phase,
            phases: record.phases,
            summary: record.summary,
            lineage: record.lineage,
            sealed: sealed.collect(),
        })
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = |name: &str, value: &str| writeln!(f, "{name:<9} {value}");
        let line = &self.line;
        let default = if line.default { " (a default job's name)" } else { "" };
        row("job", &format!("{}{default}", line.name))?;
        row("state", state(line.state))?;
        row("held by", &line.holder_text())?;
        row("file", &line.path.display().to_string())?;
        row("words", &format!("{}, written {}", line.words, when(line.written)))?;
        row("created", &when(self.created))?;
        if let Some(phase) = &self.phase {
            row("phase", &format!("{}, since {}", phase.name, when(phase.entered)))?;
        }
        for phase in &self.phases {
            let (entered, left) = (when(phase.entered), when(phase.left));
            row("was in", &format!("{}, {entered} to {left}", phase.name))?;
        }
        for link in &self.lineage {
            let version = link.version.map_or_else(String::new, |v| format!(" with version {v}"));
            row(
                "went",
                &format!("{} -> {}{version}, {}", link.from, link.to, when(Some(link.at))),
            )?;
        }
        for SealedVersion { version, sealed, path } in &self.sealed {
            row("sealed", &format!("{version}, {} {}", when(*sealed), path.display()))?;
        }
        if self.sealed.is_empty() {
            row("sealed", "never")?;
        }
        Ok(())
    }
}

/// `job show --version`: the sealed text, byte for byte.
///
/// # Errors
/// No such job or version.
pub(super) fn version(
    around: &JobContext,
    name: Option<&str>,
    number: u64,
) -> anyhow::Result<String> {
    let job = around.job(name)?;
    let text = jobs::version(&around.places, &job, number)?
        .ok_or_else(|| no_version(around, &job, number))?;
    Ok(plain::block(text.strip_suffix('\n').unwrap_or(&text), usize::MAX))
}

/// The error that a job has no such version; its hint lists the versions.
pub(super) fn no_version(around: &JobContext, job: &str, number: u64) -> Failure {
    let versions = jobs::versions(&around.places, job, &around.settings.file.shape);
    let numbers: Vec<String> = versions.iter().map(|v| v.number.to_string()).collect();
    if numbers.is_empty() {
        Failure::not_found(format_args!("the job {job} was never sealed"))
            .hint("`brain-guard seal` makes version 1")
    } else {
        Failure::not_found(format_args!("the job {job} has no version {number}"))
            .hint(format_args!("it has: {}", numbers.join(", ")))
    }
}
