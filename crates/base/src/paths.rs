//! The locations of all files. They are keyed by session id and by the project where the session
//! started; nothing is found by being the newest.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

mod real;

use std::hash::Hasher as _;
use std::io;
use std::path::{Path, PathBuf};

use fnv::FnvHasher;

use super::{atomic, beneath};
use crate::env::{self, Env};

use real::real;
pub use real::{resolve, same_file};

/// Whether a path is a folder, or is written like one (ends in `/`).
pub fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// The folders and files of one project.
#[derive(Debug, Clone)]
pub struct Places {
    /// Root of the project.
    pub project: PathBuf,
    /// This project's state, private to the user and never in the checkout.
    pub state: PathBuf,
    /// The user's settings.
    pub user_settings: PathBuf,
    /// The folder of the user's own texts, which replace ours by file name.
    pub user_texts: PathBuf,
    /// The user's settings accept this project's jobs without asking (`trust.projects`).
    pub trusted: bool,
}

impl Places {
    /// The locations of `project` in this environment; `None` without a home or a state folder.
    pub fn for_project(env: &Env, project: &Path) -> Option<Self> {
        let project = real(project);
        let state = state_root(env)?.join(key(&project));
        let config = config_folder(env)?.join("brain-guard");
        Some(Self {
            project,
            state,
            user_settings: config.join("settings.json"),
            user_texts: config.join("templates"),
            trusted: false,
        })
    }

    /// The client's config folder, which contains ours.
    pub fn client_config(&self) -> Option<&Path> {
        self.user_settings.parent()?.parent()
    }

    /// The lock for work on an X display, shared by all projects.
    pub fn display_lock(&self, display: &str) -> PathBuf {
        let name: String =
            display.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let all = self.state.parent().unwrap_or(&self.state);
        all.join(format!("x11-{name}.lock"))
    }

    /// The project's `.brain-guard` folder, which may come with a checkout.
    pub fn top(&self) -> PathBuf {
        self.project.join(beneath::TOP)
    }

    /// The project's settings file.
    pub fn project_settings(&self) -> PathBuf {
        self.top().join("settings.json")
    }

    /// The cached merged settings of this name.
    pub fn merged_settings(&self, name: &str) -> PathBuf {
        self.state.join("merged").join(format!("{name}.json"))
    }

    /// A job's folder: in the project, or in the state if the project is not writable. The folder
    /// in the state is created only then, so its existence decides.
    pub fn job(&self, job: &str) -> PathBuf {
        let aside = self.state.join("jobs").join(job);
        if aside.is_dir() { aside } else { self.top().join("jobs").join(job) }
    }

    /// A job's compaction file.
    pub fn compaction(&self, job: &str) -> PathBuf {
        self.job(job).join("compaction.md")
    }

    /// A session's state file, or a sidecar of it (`ext` without the dot).
    pub fn session(&self, id: &str, ext: &str) -> PathBuf {
        self.state.join("sessions").join(format!("{id}.{ext}"))
    }

    /// Where the plugin module writes its readings, one file per tool call.
    pub fn snapshots(&self) -> PathBuf {
        self.state.join("snapshots")
    }

    /// The folder of the jobs' commit lists.
    pub fn commits(&self) -> PathBuf {
        self.state.join("commits")
    }

    /// Which session made which commit, for all projects: two of them may be working trees of one
    /// repository.
    pub fn commit_claims(&self) -> PathBuf {
        self.state.parent().unwrap_or(&self.state).join("commits")
    }

    /// A boundary's token.
    pub fn token(&self, id: &str) -> PathBuf {
        self.state.join("boundary").join(format!("{id}.json"))
    }

    /// The log.
    pub fn log(&self) -> PathBuf {
        self.state.join("log.jsonl")
    }

    /// Creates the job's folder and the ignore file above it. Falls back to the state folder if the
    /// project is not writable.
    pub fn ensure_job(&self, job: &str) -> io::Result<PathBuf> {
        let dir = self.job(job);
        if beneath::is_dir(&dir) {
            return Ok(dir);
        }
        match self.ensure_in_project(&dir) {
            Ok(()) => Ok(dir),
            // Never fall back silently because of what a checkout brings. A link is the old name of
            // a job, not another job.
            Err(e) if beneath::is_refused(&e) || beneath::is_link(&dir) => Err(e),
            Err(_) => {
                let aside = self.state.join("jobs").join(job);
                atomic::create_private_dir(&aside)?;
                Ok(aside)
            }
        }
    }

    /// Creates the folder of all jobs: in the project, or in the state if the project is not
    /// writable.
    pub fn ensure_jobs(&self) -> io::Result<PathBuf> {
        let dir = self.top().join("jobs");
        if beneath::is_dir(&dir) || self.ensure_in_project(&dir).is_ok() {
            return Ok(dir);
        }
        let aside = self.state.join("jobs");
        atomic::create_private_dir(&aside)?;
        Ok(aside)
    }

    /// Where commands leave their requests: next to the jobs, and in the state if the project is
    /// not writable.
    pub fn requests(&self) -> [PathBuf; 2] {
        [self.top().join("requests"), self.state.join("requests")]
    }

    /// Calls `write` with the first request folder that is writable.
    pub fn write_request<T>(&self, write: impl Fn(&Path) -> io::Result<T>) -> io::Result<T> {
        let [beside, aside] = self.requests();
        self.ensure_in_project(&beside).and_then(|()| write(&beside)).or_else(|_| {
            atomic::create_private_dir(&aside)?;
            write(&aside)
        })
    }

    fn ensure_in_project(&self, dir: &Path) -> io::Result<()> {
        let top = self.top();
        beneath::create_dirs(&top, 0o755)?;
        let ignore = top.join(".gitignore");
        // Written before the folder that it hides: this is not called once that exists.
        if !beneath::exists(&ignore) {
            // On failure the folder only shows up in git.
            let _ = atomic::write(&ignore, b"*\n!.gitignore\n!settings.json\n");
        }
        // The folder holds the user's prompts.
        atomic::create_private_dir(dir)
    }

    /// Creates the state folders.
    pub fn ensure_state(&self) -> io::Result<()> {
        for dir in ["sessions", "boundary", "snapshots", "outputs", "claims", "merged"] {
            atomic::create_private_dir(&self.state.join(dir))?;
        }
        Ok(())
    }
}

/// The folder that holds the state of every project; `None` without a home.
pub fn state_root(env: &Env) -> Option<PathBuf> {
    let base = env.path("XDG_STATE_HOME").filter(|p| p.is_absolute());
    Some(base.or_else(|| Some(env.home()?.join(".local/state")))?.join("brain-guard"))
}

/// The client's own config folder.
pub fn config_folder(env: &Env) -> Option<PathBuf> {
    env.path("CLAUDE_CONFIG_DIR").or_else(|| Some(env.home()?.join(".claude")))
}

/// The project a process works for: the one the client names, else the nearest folder above `cwd`
/// with `.brain-guard` or `.git`, else `cwd`.
pub fn project_root(env: &Env, cwd: &Path) -> PathBuf {
    if let Some(dir) = env.path(env::PROJECT_DIR) {
        return dir;
    }
    let marked = |dir: &&Path| dir.join(".brain-guard").is_dir() || dir.join(".git").exists();
    cwd.ancestors().find(marked).unwrap_or(cwd).to_path_buf()
}

/// A folder name for a path: readable, and unique by a digest of the whole path.
fn key(project: &Path) -> String {
    let name: String = project
        .file_name()
        .map_or_else(|| "root".into(), |n| n.to_string_lossy().into_owned())
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
        .take(40)
        .collect();
    format!("{name}-{}", short_digest(project.as_os_str().as_encoded_bytes()))
}

/// Sixteen hex digits for a text, by [`digest`].
pub fn short_digest(bytes: &[u8]) -> String {
    format!("{:016x}", digest(bytes))
}

/// A hash that is the same on every machine and may be kept in files. Not cryptographic: such a
/// library probes the processor first, which costs the hook more than the rest of its start.
pub fn digest(bytes: &[u8]) -> u64 {
    let mut hash = FnvHasher::default();
    hash.write(bytes);
    hash.finish()
}

/// Whether a name from outside is safe as a file name.
pub fn is_safe_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 128
        && !name.starts_with('.')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn places_are_keyed_and_a_read_only_project_moves_aside() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().to_str().unwrap();
        let env = Env::from_pairs([("HOME", home)]);
        let places = Places::for_project(&env, Path::new("/proc/self")).unwrap();
        assert!(places.state.starts_with(dir.path().join(".local/state/brain-guard")));
        let made = places.ensure_job("j").unwrap();
        assert!(made.starts_with(&places.state));
        assert_eq!(places.job("j"), made);
        assert!(Places::for_project(&Env::from_pairs([]), Path::new("/x")).is_none());
    }

    #[test]
    fn what_hides_the_folder_is_made_ahead_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, dir.path()).unwrap();
        // A folder in its place cannot be overwritten, and that is no error.
        let ignore = dir.path().join(".brain-guard/.gitignore");
        fs::create_dir_all(&ignore).unwrap();
        assert!(places.ensure_job("j").unwrap().starts_with(dir.path()));
        fs::remove_dir(&ignore).unwrap();
        places.ensure_job("k").unwrap();
        assert!(ignore.is_file());
    }

    #[test]
    fn names_from_outside() {
        assert!(is_safe_name("f9c5fc05-a55f-4e0a-8c8c-0334817c94c0"));
        for bad in ["", "..", ".hidden", "a/b", "a\0b", "ü"] {
            assert!(!is_safe_name(bad), "{bad}");
        }
    }
}
