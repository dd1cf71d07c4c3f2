//! The locations of all files. They are keyed by session id and by the project where the session
//! started; nothing is found by being the newest.
#![allow(clippy::disallowed_methods, reason = "it finds the places of files")]

mod identity;
mod real;

use std::hash::Hasher as _;
use std::io;
use std::path::{Path, PathBuf};

use fnv::FnvHasher;

use super::atomic;
use crate::env::{self, Env};

pub use identity::{Identity, Known};
use real::real;
pub use real::{resolve, same_file};

/// Whether a path is a folder, or is written like one (ends in `/`).
pub fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// The folders and files of one project. Everything that the guard writes is below `states`; in the
/// project it only reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Root of the project.
    pub project: PathBuf,
    /// The state folder, private to the user.
    pub states: PathBuf,
    /// This project's part of it.
    pub state: PathBuf,
    /// The user's settings.
    pub user_settings: PathBuf,
    /// The folder of the user's own texts, which replace ours by file name.
    pub user_texts: PathBuf,
}

impl Places {
    /// The locations of `project` in this environment; `None` without a home or a state folder.
    pub fn for_project(env: &Env, project: &Path) -> Option<Self> {
        let project = real(project);
        let states = state_root(env)?;
        let state = identity::folder_for(&projects(&states), &key(&project), &project);
        let config = config_folder(env)?.join("brain-guard");
        Some(Self {
            project,
            states,
            state,
            user_settings: config.join("settings.json"),
            user_texts: config.join("templates"),
        })
    }

    /// The locations of the project whose part of the state folder this is. The project's own path
    /// is empty if the part does not tell it.
    pub fn for_state(&self, state: &Path) -> Self {
        let project = Known::load(state).map(|known| known.path).unwrap_or_default();
        Self { project, state: state.to_path_buf(), ..self.clone() }
    }

    /// The parts of the state folder, one for each project.
    pub fn all_states(&self) -> Vec<PathBuf> {
        let all = std::fs::read_dir(projects(&self.states)).into_iter().flatten().flatten();
        all.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    }

    /// The client's config folder, which contains ours.
    pub fn client_config(&self) -> Option<&Path> {
        self.user_settings.parent()?.parent()
    }

    /// The lock for work on an X display, shared by all projects.
    pub fn display_lock(&self, display: &str) -> PathBuf {
        let name: String =
            display.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        self.states.join(format!("x11-{name}.lock"))
    }

    /// The project's settings file, which may come with a checkout.
    pub fn project_settings(&self) -> PathBuf {
        self.project.join(MARKER).join("settings.json")
    }

    /// The folder of all jobs.
    pub fn jobs(&self) -> PathBuf {
        self.state.join("jobs")
    }

    /// A job's folder.
    pub fn job(&self, job: &str) -> PathBuf {
        self.jobs().join(job)
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

    /// The whole outputs of a session's calls whose results were shortened.
    pub fn outputs(&self, session: &str) -> PathBuf {
        self.state.join("outputs").join(session)
    }

    /// A boundary's token.
    pub fn token(&self, id: &str) -> PathBuf {
        self.state.join("boundary").join(format!("{id}.json"))
    }

    /// The log.
    pub fn log(&self) -> PathBuf {
        self.state.join("log.jsonl")
    }

    /// Creates the job's folder.
    pub fn ensure_job(&self, job: &str) -> io::Result<PathBuf> {
        let dir = self.job(job);
        atomic::create_private_dir(&dir)?;
        Ok(dir)
    }

    /// Creates the state folders, and records which folder the project is.
    pub fn ensure_state(&self) -> io::Result<()> {
        atomic::create_private_dir(&self.state)?;
        Known::record(&self.state, &self.project)?;
        for dir in ["sessions", "boundary", "snapshots", "outputs", "jobs"] {
            atomic::create_private_dir(&self.state.join(dir))?;
        }
        Ok(())
    }
}

/// The folder in a project that may hold settings.
const MARKER: &str = ".brain-guard";

/// The folder that holds the state of every project; `None` without a home.
pub fn state_root(env: &Env) -> Option<PathBuf> {
    let set = |name| env.path(name).filter(|path| path.is_absolute());
    set(env::STATE)
        .or_else(|| Some(set("XDG_STATE_HOME")?.join("brain-guard")))
        .or_else(|| Some(env.home()?.join(".local/state/brain-guard")))
}

/// The parts of the state folder.
fn projects(states: &Path) -> PathBuf {
    states.join("projects")
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
    let marked = |dir: &&Path| dir.join(MARKER).is_dir() || dir.join(".git").exists();
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
    let digest = short_digest(project.as_os_str().as_encoded_bytes());
    format!("{name}-{}", &digest[..8])
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
    use super::*;

    #[test]
    fn the_state_is_below_its_folder_by_project() {
        let env = |pairs: [(&str, &str); 3]| Env::from_pairs(pairs);
        let state = |env: &Env| Places::for_project(env, Path::new("/proc/self")).unwrap().state;
        let home = env([("HOME", "/home/u"), ("XDG_STATE_HOME", ""), (env::STATE, "")]);
        let all = Path::new("/home/u/.local/state/brain-guard/projects");
        assert_eq!(state(&home).parent(), Some(all));
        let xdg = env([("HOME", "/home/u"), ("XDG_STATE_HOME", "/x"), (env::STATE, "relative")]);
        assert_eq!(state(&xdg).parent(), Some(Path::new("/x/brain-guard/projects")));
        let own = env([("HOME", "/home/u"), ("XDG_STATE_HOME", "/x"), (env::STATE, "/own")]);
        assert_eq!(state(&own).parent(), Some(Path::new("/own/projects")));
        assert!(Places::for_project(&Env::from_pairs([]), Path::new("/x")).is_none());
    }

    #[test]
    fn names_from_outside() {
        assert!(is_safe_name("f9c5fc05-a55f-4e0a-8c8c-0334817c94c0"));
        for bad in ["", "..", ".hidden", "a/b", "a\0b", "ü"] {
            assert!(!is_safe_name(bad), "{bad}");
        }
    }
}
