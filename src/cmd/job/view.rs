//! `job list` and `job show`: what there is of each job.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Around;
use crate::cli::Whose;
use crate::cmd::{Exit, err, out, out_json};
use base::atomic;
use base::clock::Time;
use base::env::Env;
use base::plain;
use guard::compaction;
use guard::files::jobs;
use guard::files::origin::{self, Origin};
use guard::job::{Holder, Record, State, refusal};

/// What is shown of a job.
struct Line {
    name: String,
    record: Record,
    auto: bool,
    own: bool,
    holder: Option<Holder>,
    origin: Origin,
    words: usize,
    written: Option<Time>,
    sealed: u64,
}

fn line(around: &Around, name: &str, own: Option<&str>) -> Line {
    let Around { places, settings, .. } = around;
    let path = places.compaction(name);
    let text = atomic::read_text(&path).ok().flatten().unwrap_or_default();
    let origin = origin::origin(places, name);
    // Nothing that came with a checkout speaks before it is accepted.
    let record = if origin.has_effect() { jobs::record(places, name) } else { Record::default() };
    Line {
        auto: jobs::auto(places, name, &record),
        own: own == Some(name),
        holder: jobs::holder(places, name),
        origin,
        words: compaction::gauge_words(&text, &settings.file.shape),
        written: atomic::stat(&path).map(|(nanos, _)| Time::from_timestamp_nanos(nanos)),
        sealed: jobs::last_version(places, name),
        name: name.to_owned(),
        record,
    }
}

impl Line {
    fn json(&self, around: &Around) -> Value {
        json!({
            "name": self.name,
            "state": self.record.state,
            "default": self.auto,
            "own": self.own,
            "holder": self.holder,
            "phase": self.record.phase.as_ref().map(|phase| &phase.name),
            "words": self.words,
            "written": self.written,
            "sealed_version": self.sealed,
            "origin": self.origin(),
            "path": around.places.compaction(&self.name),
        })
    }

    /// In one word, for programs.
    fn origin(&self) -> &'static str {
        match self.origin {
            Origin::Own => "own",
            Origin::Changed => "changed",
            Origin::Accepted => "accepted",
            Origin::Found => "found",
        }
    }

    fn held(&self) -> String {
        match &self.holder {
            Some(_) if self.own => "this session".into(),
            Some(holder) => refusal::named(holder),
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
    let local = |at: Time| at.with_timezone(&chrono::Local).format("%Y-%m-%d %H:%M").to_string();
    at.map_or_else(|| "-".into(), local)
}

/// `job list`: the one written last first.
pub(super) fn list(env: &Env, now: Time, whose: &Whose, as_json: bool) -> anyhow::Result<Exit> {
    let around = Around::of(env, whose)?;
    let own = around.facts(env, now).and_then(|facts| facts.asker().job());
    if as_json {
        let lines: Vec<Value> =
            lines(&around, own.as_deref()).iter().map(|line| line.json(&around)).collect();
        out_json(&lines)?;
    } else {
        out(table(&around, own.as_deref()));
    }
    Ok(Exit::Done)
}

fn lines(around: &Around, own: Option<&str>) -> Vec<Line> {
    let mut lines: Vec<Line> =
        jobs::on_disk(&around.places).iter().map(|name| line(around, name, own)).collect();
    lines.sort_by(|a, b| b.written.cmp(&a.written).then_with(|| a.name.cmp(&b.name)));
    lines
}

/// The jobs of a project, one a line.
pub(super) fn table(around: &Around, own: Option<&str>) -> String {
    let lines = lines(around, own);
    if lines.is_empty() {
        return "no job yet; the first note makes one (`brain-guard append`), or `brain-guard job focus NAME`".into();
    }
    let widest = lines.iter().map(|line| line.name.len()).max().unwrap_or(0);
    let row = |line: &Line| {
        let own = if line.own { "*" } else { " " };
        let phase = line.record.phase.as_ref().map_or("-", |phase| &phase.name);
        let default = if line.auto { ", default" } else { "" };
        let origin = match line.origin {
            Origin::Own => "",
            Origin::Changed => ", changed by something else",
            Origin::Accepted => ", came with the repository",
            Origin::Found => ", came with the repository: not accepted",
        };
        format!(
            "{own} {:<widest$}  {:<9}  {:>6} words  written {:<16}  phase {phase}  held by {}{default}{origin}",
            line.name,
            state(line.record.state),
            line.words,
            when(line.written),
            line.held(),
        )
    };
    lines.iter().map(row).collect::<Vec<_>>().join("\n")
}

/// All that is known of one job, by rows.
pub(super) fn described(around: &Around, name: &str, own: Option<&str>) -> String {
    let versions = jobs::versions(&around.places, name, &around.settings.file.shape);
    text(around, &line(around, name, own), &versions)
}

/// `job show`.
pub(super) fn show(
    env: &Env,
    now: Time,
    whose: &Whose,
    name: Option<&str>,
    as_json: bool,
) -> anyhow::Result<Exit> {
    let around = Around::of(env, whose)?;
    let own = around.facts(env, now).and_then(|facts| facts.asker().job());
    let name = match around.job(env, now, name) {
        Ok(name) => name,
        Err(why) => {
            err(why);
            return Ok(Exit::Refused);
        }
    };
    if as_json {
        let line = line(&around, &name, own.as_deref());
        let versions = jobs::versions(&around.places, &name, &around.settings.file.shape);
        let mut value = line.json(&around);
        let versions: Vec<Value> = versions
            .iter()
            .map(|v| json!({"version": v.number, "sealed": v.sealed, "path": v.path}))
            .collect();
        let record = &line.record;
        value["created"] = json!(record.created);
        value["phase"] = json!(record.phase);
        value["phases"] = json!(record.phases);
        value["summary"] = json!(record.summary);
        value["lineage"] = json!(record.lineage);
        value["sealed"] = Value::Array(versions);
        out_json(&value)?;
    } else {
        out(described(&around, &name, own.as_deref()));
    }
    Ok(Exit::Done)
}

fn text(around: &Around, line: &Line, versions: &[jobs::Version]) -> String {
    let record = &line.record;
    let mut text = String::new();
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<9} {value}");
    };
    let default = if line.auto { " (a default job's name)" } else { "" };
    row("job", &format!("{}{default}", line.name));
    row("state", state(record.state));
    row("held by", &line.held());
    row("file", &around.places.compaction(&line.name).display().to_string());
    row("words", &format!("{}, written {}", line.words, when(line.written)));
    row("created", &when(record.created));
    if let Some(phase) = &record.phase {
        row("phase", &format!("{}, since {}", phase.name, when(phase.entered)));
    }
    for phase in &record.phases {
        row("was in", &format!("{}, {} to {}", phase.name, when(phase.entered), when(phase.left)));
    }
    for link in &record.lineage {
        let version = link.version.map_or_else(String::new, |v| format!(" with version {v}"));
        row("went", &format!("{} -> {}{version}, {}", link.from, link.to, when(Some(link.at))));
    }
    for version in versions {
        let path = version.path.display();
        row("sealed", &format!("{}, {} {path}", version.number, when(version.sealed)));
    }
    if versions.is_empty() {
        row("sealed", "never");
    }
    text.trim_end().to_owned()
}

/// `job show --version`: the sealed text, byte for byte.
pub(super) fn version(
    env: &Env,
    now: Time,
    whose: &Whose,
    name: Option<&str>,
    number: u64,
) -> anyhow::Result<Exit> {
    let around = Around::of(env, whose)?;
    let job = match around.job(env, now, name) {
        Ok(job) => job,
        Err(why) => {
            err(why);
            return Ok(Exit::Refused);
        }
    };
    match jobs::version(&around.places, &job, number)? {
        Some(text) => {
            let text = text.strip_suffix('\n').unwrap_or(&text);
            out(plain::block(text, usize::MAX));
            Ok(Exit::Done)
        }
        None => Ok(no_version(&around, &job, number)),
    }
}

/// Tells which versions there are.
pub(super) fn no_version(around: &Around, job: &str, number: u64) -> Exit {
    let versions = jobs::versions(&around.places, job, &around.settings.file.shape);
    let numbers: Vec<String> = versions.iter().map(|v| v.number.to_string()).collect();
    if numbers.is_empty() {
        err(format_args!("the job {job} was never sealed; `brain-guard seal` makes version 1"));
    } else {
        err(format_args!("the job {job} has no version {number}; it has: {}", numbers.join(", ")));
    }
    Exit::Refused
}
