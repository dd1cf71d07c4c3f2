//! Inscription that goes on with what is appended.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Exit, Report, Run, err, line, out, out_json};
use crate::cmd::ending::Ending;
use base::atomic::{self, Mark};
use base::paths::{Places, project_root};
use base::{clock, log};

/// How often files are looked at.
const GLANCE: Duration = Duration::from_secs(2);

/// How often files that end are looked at.
const BEAT: Duration = Duration::from_millis(200);

/// A file that was not written for so long has its last row.
const QUIET: Duration = Duration::from_secs(2);

/// The longest that a client is given to write it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Looks at the files again and again, until interrupted. What is being inscribed then is
/// brought to its end.
pub fn run(run: &Run) -> anyhow::Result<Exit> {
    let ending = Ending::by_signals()?;
    let mut known: BTreeMap<PathBuf, Mark> = BTreeMap::new();
    let mut told: BTreeMap<PathBuf, String> = BTreeMap::new();
    loop {
        let mut report = Report::default();
        // A project goes on to its next engagement while it is watched.
        run.engagements.forget();
        for path in run.files(&mut report)? {
            let Some(mark) = atomic::mark(&path).filter(|mark| known.get(&path) != Some(mark))
            else {
                continue;
            };
            let before = report.failed.len();
            run.one(&path, &mut report, &mut |_| {});
            if report.failed.len() == before {
                known.insert(path, mark);
            }
            if ending.asked() {
                break;
            }
        }
        for done in &report.inscribed {
            if run.args.json { out_json(done)? } else { out(line(done)) }
        }
        for fault in run.engagements.faults() {
            err(fault);
        }
        report.failed.retain(|failure| told.get(&failure.path) != Some(&failure.why));
        for failure in report.failed {
            err(format_args!("{}: {}", failure.path.display(), failure.why));
            told.insert(failure.path, failure.why);
        }
        if ending.wait(GLANCE) {
            return Ok(Exit::Done);
        }
    }
}

/// Inscribes once the files are no longer written: the client that ends a session writes its
/// last rows behind its hooks.
pub fn until_quiet(run: &Run) -> anyhow::Result<Exit> {
    let began = Instant::now();
    let (mut known, mut since) = (BTreeMap::new(), began);
    loop {
        let files = run.files(&mut Report::default())?;
        let marks: BTreeMap<PathBuf, Option<Mark>> =
            files.into_iter().map(|path| (path.clone(), atomic::mark(&path))).collect();
        if marks != known {
            (known, since) = (marks, Instant::now());
        }
        if since.elapsed() >= QUIET || began.elapsed() >= PATIENCE {
            break;
        }
        std::thread::sleep(BEAT);
    }
    let mut report = Report::default();
    for path in known.keys() {
        run.one(path, &mut report, &mut |_| {});
    }
    let project = project_root(run.env, &run.env.cwd().unwrap_or_default());
    if let Some(places) = Places::of(run.env, &project) {
        for failure in &report.failed {
            let details =
                json!({"what": "session not imported", "path": failure.path, "error": failure.why});
            log::write(&places.log(), clock::now(), "fault", &details);
        }
    }
    Ok(if report.failed.is_empty() { Exit::Done } else { Exit::Refused })
}
