//! Imports continuously what is appended.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::bounds::Removed;
use super::{Bounds, Exit, Failed, Report, Run, err, line, out, out_json};
use crate::cmd::ending::Ending;
use base::atomic::{self, Mark};
use base::clock::{self, Time};
use base::paths::{Places, project_root};
use guard::files::journal::Journal;
use guard::journal::What;

/// Time between two checks.
const GLANCE: Duration = Duration::from_secs(2);

/// Time between two checks of files that are about to end.
const BEAT: Duration = Duration::from_millis(200);

/// A file that was not written for this long is complete.
const QUIET: Duration = Duration::from_secs(2);

/// The longest time to wait for that.
const PATIENCE: Duration = Duration::from_secs(30);

/// Imports changed files repeatedly until interrupted. A started file is completed.
pub fn run(run: &Run) -> anyhow::Result<Exit> {
    let ending = Ending::by_signals()?;
    let mut known: BTreeMap<PathBuf, Mark> = BTreeMap::new();
    let mut told: BTreeMap<PathBuf, String> = BTreeMap::new();
    loop {
        let mut report = Report::default();
        // A project may move to its next engagement meanwhile.
        run.engagements.forget();
        for path in run.files(&mut report)? {
            let Some(mark) = atomic::mark(&path).filter(|mark| known.get(&path) != Some(mark))
            else {
                continue;
            };
            let before = report.failed.len();
            run.import_file(&path, &mut report, &mut |_| {});
            if report.failed.len() == before {
                known.insert(path, mark);
            }
            if ending.asked() {
                break;
            }
        }
        for done in &report.imported {
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

/// Imports once the files are quiet: a client writes a session's last rows after its hooks have
/// run. Then removes what exceeds the store's bounds.
pub fn until_quiet(run: &Run, now: Time) -> anyhow::Result<Exit> {
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
        run.import_file(path, &mut report, &mut |_| {});
    }
    let bounds = Bounds::of(&super::settings(run.env));
    let removed = bounds.map(|bounds| bounds.apply(&run.root, &run.index, now)).transpose();
    let project = project_root(run.env, &run.env.cwd().unwrap_or_default());
    if let Some(places) = Places::for_project(run.env, &project) {
        let journal = Journal::of_project(&places);
        let tell = |what| journal.record(&places, clock::now(), what);
        for Failed { path, why } in &report.failed {
            tell(What::fault(&format!("session not imported: {}", path.display()), why));
        }
        match &removed {
            Ok(Some(Removed { sessions, bytes })) if !sessions.is_empty() => {
                tell(What::StoreBounds { sessions: sessions.clone(), bytes: *bytes });
            }
            Ok(_) => {}
            Err(e) => tell(What::fault("the store's bounds not applied", &format!("{e:#}"))),
        }
    }
    let failed = !report.failed.is_empty() || removed.is_err();
    Ok(if failed { Exit::Refused } else { Exit::Done })
}
