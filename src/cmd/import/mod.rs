//! `brain-guard import`: imports session files into the store.

mod anew;
mod bounds;
mod engagement;
mod feed;
mod parents;
mod session;
mod source;
mod state;
#[cfg(test)]
mod tests;
mod watch;

use base::shown::size;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::{Context, Exit, err, out, out_json, progress, show};
use crate::cli::ImportArgs;
use base::env::Env;
use base::paths::{Places, project_root};
use guard::hook::facts::read_settings;
use sessions::settings::SurgerySettings;
use store::blocks::Root;
use store::index::{Index, Progress};

pub use anew::{reindex, renew};
pub use bounds::{Bounds, remove};
pub use engagement::Engagements;
pub use session::{Done, PATIENCE, hold, settled};
pub use source::{Source, below, find_files, homes, ids, is_session, of_project, open, openclaw};

/// The command that has each session imported as it ends.
pub const AT_SESSION_END: &str = "settings set surgery.import session-end";

/// Finds the store from the environment and the user's settings.
///
/// # Errors
/// A location that is invalid or unreadable.
pub fn root(env: &Env) -> anyhow::Result<Root> {
    let root = Root::locate(env)?;
    root.usable()?;
    Ok(root)
}

/// The user's settings of the store.
pub fn settings(env: &Env) -> SurgerySettings {
    let project = project_root(env, &env.cwd().unwrap_or_default());
    let places = Places::for_project(env, &project);
    places.map(|places| read_settings(&places, env).0.surgery).unwrap_or_default()
}

/// Imports the new rows of a session file, of which `known` bytes are in the store. If it takes
/// long, a bar shows on a terminal.
///
/// # Errors
/// A file or store that cannot be used; the error names it.
pub fn session(root: &Root, index: &Index, path: &Path, known: u64) -> anyhow::Result<Done> {
    let source = Source::of(path, None)?;
    let new = source.path.metadata().map_or(0, |meta| meta.len()).saturating_sub(known);
    let bar = progress::bar(new);
    let done = session::session(root, index, source, &Engagements::default(), &mut |read| {
        bar.inc(read);
    });
    bar.finish_and_clear();
    done
}

/// Rows that are not JSON, at most a thousand: round, and row in the round from 0.
pub fn malformed(progress: &Progress) -> Vec<(u32, u32)> {
    state::malformed(&progress.state)
}

/// Finds a client's session file by its id or id prefix.
///
/// # Errors
/// Several sessions with this prefix.
pub fn find(env: &Env, id: &str) -> anyhow::Result<Option<PathBuf>> {
    let is = |path: &PathBuf| source::ids(path).iter().any(|own| own == id);
    let begins = |path: &PathBuf| source::ids(path).iter().any(|own| own.starts_with(id));
    let homes = source::homes(env);
    let all = homes.iter().flat_map(|home| source::below(home, &mut |_, _| {}));
    let mut found: Vec<PathBuf> = all.filter(|path| !id.is_empty() && begins(path)).collect();
    if found.iter().any(is) {
        found.retain(is);
    }
    if found.len() > 1 {
        bail!("several sessions begin with {id}; name the file:\n  {}", join_paths(&found));
    }
    Ok(found.pop())
}

/// Lists paths for a message.
pub fn join_paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join("\n  ")
}

/// The result of an import.
#[derive(Debug, Default, Serialize)]
struct Report {
    sessions: usize,
    /// Sessions with new rows.
    imported: Vec<Done>,
    failed: Vec<Failed>,
    notes: Vec<String>,
    #[serde(skip)]
    store: PathBuf,
}

#[derive(Debug, Serialize)]
struct Failed {
    path: PathBuf,
    why: String,
}

/// A run of the command.
struct Run<'a> {
    env: &'a Env,
    args: &'a ImportArgs,
    root: Root,
    index: Index,
    engagements: Engagements,
}

impl super::Run for ImportArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        let root = root(env)?;
        let index = Index::new(root.clone());
        let run = Run { env, args: self, root, index, engagements: Engagements::default() };
        if self.behind {
            carrier::waiter::detach();
            return watch::until_quiet(&run, now);
        }
        if self.watch {
            return watch::run(&run);
        }
        let mut report = Report { store: run.root.path().to_path_buf(), ..Report::default() };
        let files = run.files(&mut report)?;
        let bytes = |path: &PathBuf| path.metadata().map_or(0, |meta| meta.len());
        let bar = bar(files.iter().map(bytes).sum());
        for path in &files {
            let before = bar.position();
            run.import_file(path, &mut report, &mut |read| bar.inc(read));
            // Count the rows that were already in the store.
            bar.set_position(before + bytes(path));
        }
        bar.finish_and_clear();
        run.tell(&report)
    }
}

fn bar(bytes: u64) -> ProgressBar {
    let bar = ProgressBar::new(bytes);
    // If the template is invalid, the default one is good enough.
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {eta}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

impl Run<'_> {
    /// The files to import.
    fn files(&self, report: &mut Report) -> anyhow::Result<Vec<PathBuf>> {
        let mut left = |path: &Path, e: &io::Error| {
            report.failed.push(Failed { path: path.to_path_buf(), why: e.to_string() });
        };
        let folders = match &self.args.project {
            Some(project) => source::of_project(self.env, project),
            None if self.args.paths.is_empty() => source::homes(self.env),
            None => Vec::new(),
        };
        let mut files: Vec<PathBuf> =
            folders.iter().flat_map(|folder| source::below(folder, &mut left)).collect();
        if let Some(project) = self.args.project.as_deref().filter(|_| files.is_empty()) {
            bail!(
                "{}: no session of this project found in\n  {}",
                project.display(),
                join_paths(&folders)
            );
        }
        for path in &self.args.paths {
            if path.is_dir() {
                files.extend(source::below(path, &mut left));
            } else if path.symlink_metadata().is_ok() {
                files.push(path.clone());
                files.extend(source::subagents(path));
            } else {
                let id = path.to_str().filter(|id| !id.contains('/'));
                let found = id.map(|id| find(self.env, id)).transpose()?.flatten();
                let path = found.with_context(|| {
                    format!(
                        "no file {}, and no session with that id found in\n  {}\nGive the path of its file",
                        path.display(),
                        join_paths(&source::homes(self.env))
                    )
                })?;
                files.extend(source::subagents(&path));
                files.push(path);
            }
        }
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// Imports one file and adds the result to the report.
    fn import_file(&self, path: &Path, report: &mut Report, read: &mut dyn FnMut(u64)) {
        report.sessions += 1;
        let done =
            Source::of(path, self.args.agent.as_deref()).map_err(anyhow::Error::from).and_then(
                |source| session::session(&self.root, &self.index, source, &self.engagements, read),
            );
        report.notes.extend(done.iter().filter_map(Done::unended));
        match done {
            Ok(done) if done.new_rows > 0 || done.set_aside.is_some() => {
                report.imported.push(done);
            }
            Ok(_) => {}
            Err(e) => {
                let why = format!("{e:#}");
                report.failed.push(Failed { path: path.to_path_buf(), why });
            }
        }
    }

    /// Prints the report.
    fn tell(&self, report: &Report) -> anyhow::Result<Exit> {
        for fault in self.engagements.faults() {
            err(fault);
        }
        if !self.args.json {
            for Failed { path, why } in &report.failed {
                let path = path.display().to_string();
                // Most errors already contain the path.
                if why.contains(&path) { err(why) } else { err(format_args!("{path}: {why}")) }
            }
        }
        show(report, self.args.json)?;
        Ok(if report.failed.is_empty() { Exit::Done } else { Exit::Refused })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for done in &self.imported {
            writeln!(f, "{}", line(done))?;
        }
        for note in &self.notes {
            writeln!(f, "{note}")?;
        }
        let rows: u64 = self.imported.iter().map(|done| done.new_rows).sum();
        let bytes: u64 = self.imported.iter().map(|done| done.new_bytes).sum();
        write!(
            f,
            "{} looked at, {} with something new: {}, {}; store: {}",
            count(self.sessions, "session"),
            self.imported.len(),
            count(rows as usize, "row"),
            size(bytes),
            self.store.display()
        )
    }
}

/// The result for a session, on one line.
fn line(done: &Done) -> String {
    let kept = done.set_aside.map(|number| {
        format!("; its file was rewritten, the earlier rows are kept as edition {number}")
    });
    format!(
        "{} {}: {}, {} new, {} in all{}",
        done.agent,
        done.session,
        count(done.new_rows as usize, "row"),
        size(done.new_bytes),
        count(done.rounds as usize, "round"),
        kept.unwrap_or_default()
    )
}

/// `1 round`, `2 rounds`.
pub fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
