//! `extract watch`: extracts repeatedly. Unchanged files are not read; a session is edited when
//! that costs no prompt cache or breaks even. It removes no content. The store keeps the run times,
//! never the settings.

mod act;
mod look;
mod schedule;
mod tell;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use chrono::Local;

use self::look::{Came, Moment, Watched};
use self::tell::{Report, Teller};
use super::{asked, source};
use crate::cmd::ending::Ending;
use crate::cmd::{Exit, import, out, out_json_line};
use base::atomic;
use base::clock::{self, Time};
use base::env::Env;
use base::lock::{self, Lock};
use sessions::files::{self, Jsonl, SessionFile as _};
use sessions::settings::ExtractSettings;
use store::blocks::Root;
use store::extracted::State;

pub use self::schedule::next_look;

/// The longest wait: settings may change, and the machine may have slept.
const PATROL: Duration = Duration::from_secs(30);

/// The message if extraction is off.
const OFF: &str = "extract.enabled is false in your settings: nothing is extracted until it is true; what would be extracted is told";

/// Watches files and folders until it is told to end, or checks them once.
///
/// # Errors
/// A missing path, faulty settings, or another watch on the same store.
pub fn run(env: &Env, paths: &[PathBuf], once: bool, json: bool) -> anyhow::Result<Exit> {
    let root = import::root(env)?;
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        bail!("{}: no such file or folder", missing.display());
    }
    let settings = asked::settings(env)?;
    let ending = Ending::by_signals()?;
    let _alone = lock_store(&root)?;
    let watch = Watch {
        env,
        root,
        paths,
        settings,
        ending,
        watched: Watched::default(),
        teller: Teller::default(),
        last_look: None,
        once,
        json,
    };
    watch.run()
}

/// Locks the store against a second watch: two would disturb each other, and neither would know
/// what the other checked.
///
/// # Errors
/// Another watch is running.
fn lock_store(root: &Root) -> anyhow::Result<Lock> {
    let path = lock_file(root);
    let folder = path.parent().unwrap_or(root.path());
    atomic::create_private_dir(folder).with_context(|| folder.display().to_string())?;
    match lock::acquire(&path, Duration::ZERO) {
        Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => bail!(
            "another `extract watch` is at work on this store ({}); end it, and give one all the paths",
            path.display()
        ),
        other => other.with_context(|| path.display().to_string()),
    }
}

/// Locked while a watch is running.
fn lock_file(root: &Root) -> PathBuf {
    root.path().join("extracted/watch.lock")
}

/// Whether a watch is running on the store.
pub fn is_running(root: &Root) -> bool {
    let path = lock_file(root);
    path.exists()
        && lock::acquire(&path, Duration::ZERO)
            .is_err_and(|e| e.kind() == std::io::ErrorKind::WouldBlock)
}

struct Watch<'a> {
    env: &'a Env,
    root: Root,
    paths: &'a [PathBuf],
    /// The last valid ones.
    settings: ExtractSettings,
    ending: Ending,
    watched: Watched,
    teller: Teller,
    last_look: Option<Time>,
    once: bool,
    json: bool,
}

impl Watch<'_> {
    fn run(mut self) -> anyhow::Result<Exit> {
        let began = clock::now();
        loop {
            let now = clock::now();
            self.renew();
            if !self.settings.enabled {
                self.teller.once(OFF);
            }
            let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
            // A clock that was set back must not delay the next check.
            self.last_look = self.last_look.map(|last| last.min(now));
            let looks = self.once || due(next_look(&self.settings, self.last_look, began, &Local));
            let mut report = looks.then(|| self.look(now));
            let next = next_look(&self.settings, self.last_look, began, &Local);
            if let Some(report) = &mut report {
                report.next = next.filter(|_| !self.once);
                self.tell(report)?;
            }
            if self.once {
                let failed = |seen: &look::Seen| matches!(seen.came, Came::Failed { .. });
                let sound = report.is_some_and(|r| r.left.is_empty() && !r.seen.iter().any(failed));
                return Ok(if sound { Exit::Done } else { Exit::Refused });
            }
            let left =
                next.map_or(PATROL, |next| (next - clock::now()).to_std().unwrap_or_default());
            if self.ending.wait(left.min(PATROL)) {
                return Ok(Exit::Done);
            }
        }
    }

    /// Reloads the settings; if they are faulty, the last valid ones stay.
    fn renew(&mut self) {
        match asked::load_valid(self.env) {
            Ok(settings) if settings == self.settings => {}
            Ok(settings) => {
                self.settings = settings;
                self.watched.forget();
            }
            Err(e) => self.teller.once(&format!("{e:#}\nuntil then the settings from before hold")),
        }
    }

    fn look(&mut self, now: Time) -> Report {
        let Found { files, databases, left } = found(self.paths);
        if let Some(first) = databases.first() {
            self.teller.once(&format!("{}: {}", first.display(), act::DATABASE));
        }
        self.settle(&files);
        let moment = Moment { now, mark: &atomic::mark, ended: &|| self.ending.asked() };
        let (root, settings, teller) = (&self.root, &self.settings, &mut self.teller);
        let seen = self.watched.look(&files, &moment, &mut |path| {
            act::act(root, settings, clock::now(), path, &mut |said| teller.once(said))
        });
        // On an idle machine a check writes nothing.
        if self.last_look.is_none() || !seen.is_empty() {
            self.ran(|state| state.last_run_at = Some(now));
        }
        self.last_look = Some(now);
        let enabled = self.settings.enabled;
        Report { at: now, enabled, files: files.len(), seen, left, next: None }
    }

    /// Finishes edits that were killed or blocked by another process.
    fn settle(&mut self, files: &[PathBuf]) {
        let unfinished = files::unfinished(files);
        self.teller.waiting(&unfinished);
        for path in unfinished {
            // Wait only briefly for a process that holds an old file: the next check retries.
            let session = Jsonl::new(&path).with_times(PATROL, Duration::from_secs(1));
            match session.settle() {
                Ok(None) => {}
                Ok(Some(word)) => self.teller.waits(&path, &word),
                Err(refused) => self.teller.waits(&path, &refused.to_string()),
            }
        }
    }

    /// Updates the run times in the store.
    fn ran(&mut self, change: impl FnOnce(&mut State)) {
        let mut state = State::read(&self.root);
        change(&mut state);
        if let Err(e) = state.write(&self.root) {
            self.teller.once(&format!("what ran when could not be kept: {e}"));
        }
    }

    fn tell(&mut self, report: &Report) -> anyhow::Result<()> {
        if self.json {
            return out_json_line(report);
        }
        self.teller.tell(report);
        if self.once {
            out(tell::summary(report));
        }
        Ok(())
    }
}

/// The files at the watched paths.
struct Found {
    files: Vec<PathBuf>,
    /// `OpenClaw` databases in the folders; never written.
    databases: Vec<PathBuf>,
    /// Errors for paths that cannot be read.
    left: Vec<String>,
}

fn found(paths: &[PathBuf]) -> Found {
    let (mut files, mut databases, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for path in paths {
        if path.is_dir() {
            let mut fault = |path: &Path, e: &std::io::Error| {
                left.push(format!("{}: {e}", path.display()));
            };
            let is = |path: &Path| import::is_session(path) || source::is_database_name(path);
            for file in import::find_files(path, &is, &mut fault) {
                if source::is_database_name(&file) { &mut databases } else { &mut files }
                    .push(file);
            }
        } else if path.exists() {
            files.push(path.clone());
        } else {
            left.push(format!("{}: it is gone", path.display()));
        }
    }
    files.sort();
    files.dedup();
    Found { files, databases, left }
}
