//! Finds session files, and their agent by their location.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use base::env::Env;
use base::{atomic, new_file, paths};

/// Levels of folders to search: project, session, `subagents`.
const DEPTH: usize = 4;

/// The agent of the client's main sessions.
pub const MAIN: &str = "claude";

/// The agent of subagents of unknown type.
const SUBAGENT: &str = "subagent";

/// A session file to import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file, with links resolved.
    pub path: PathBuf,
    /// The agent that ran it.
    pub agent: String,
    /// Its id.
    pub session: String,
    /// For a subagent: the session that started it.
    pub parent: Option<String>,
    /// Whether a subagent ran it.
    pub subagent: bool,
}

/// The client's notes about a subagent, beside its file.
#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "agentType")]
    kind: Option<String>,
}

impl Source {
    /// Identifies a file by its location: `<session>/subagents/`, or `agents/<agent>/sessions/` for
    /// `OpenClaw`. `agent` sets the agent, except for subagents.
    ///
    /// # Errors
    /// A missing or unreadable file.
    pub fn of(path: &Path, agent: Option<&str>) -> io::Result<Self> {
        let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", path.display()));
        let path = fs::canonicalize(path).map_err(named)?;
        let name = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned());
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let above = |n| path.ancestors().nth(n).and_then(name).unwrap_or_default();
        let of_claw = above(1) == "sessions" && above(3) == "agents";
        let beside = above(1) == "subagents";
        let subagent = beside || stem.starts_with("agent-");
        let meta = || {
            let text = atomic::read_start(&path.with_extension("meta.json"), 64 * 1024).ok()??;
            serde_json::from_str::<Meta>(&text).ok()?.kind.filter(|kind| !kind.is_empty())
        };
        let agent = if subagent {
            meta().unwrap_or_else(|| SUBAGENT.to_owned())
        } else if let Some(agent) = agent {
            agent.to_owned()
        } else if of_claw {
            above(2)
        } else {
            String::new()
        };
        let parent = beside.then(|| above(2)).filter(|parent| !parent.is_empty());
        Ok(Self { agent, session: stem, parent, subagent, path })
    }

    /// Completes the agent and id from the file's first line; `header` is the id in pi's header.
    pub fn begun(&mut self, is_pi: bool, header: Option<&str>) {
        if !self.agent.is_empty() {
            return;
        }
        MAIN.clone_into(&mut self.agent);
        if is_pi {
            "pi".clone_into(&mut self.agent);
            // pi puts a time in front of the id in file names.
            if let Some(id) = header.filter(|id| paths::is_safe_name(id)) {
                id.clone_into(&mut self.session);
            }
        }
    }
}

/// Opens a session file; never waits for one that is no regular file.
pub fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(atomic::NO_WAIT).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

/// The folders with sessions of Claude Code, `OpenClaw` and pi.
pub fn homes(env: &Env) -> Vec<PathBuf> {
    let claude = paths::config_folder(env).map(|config| config.join("projects"));
    let claw = openclaw(env).map(|claw| claw.join("agents"));
    let pi = env.home().map(|home| home.join(".pi/agent/sessions"));
    [claude, claw, pi].into_iter().flatten().collect()
}

/// `OpenClaw`'s folder.
pub fn openclaw(env: &Env) -> Option<PathBuf> {
    env.path("OPENCLAW_STATE_DIR").or_else(|| Some(env.home()?.join(".openclaw")))
}

/// The folders with a project's sessions of Claude Code and pi.
pub fn of_project(env: &Env, project: &Path) -> Vec<PathBuf> {
    let project = paths::resolve(project);
    let text = project.to_string_lossy();
    let name = new_file::project_name(&text);
    let pi = format!("--{}--", text.trim_start_matches('/').replace(['/', '\\', ':'], "-"));
    let claude = paths::config_folder(env).map(|config| config.join("projects").join(name));
    let pi = env.home().map(|home| home.join(".pi/agent/sessions").join(pi));
    [claude, pi].into_iter().flatten().collect()
}

/// The session files in a folder and below, sorted. Links do not make files or folders occur twice.
/// Errors go to `left`.
pub fn below(folder: &Path, left: &mut dyn FnMut(&Path, &io::Error)) -> Vec<PathBuf> {
    find_files(folder, &is_session, left)
}

/// Whether the file has the name of a session file.
pub fn is_session(path: &Path) -> bool {
    path.extension().is_some_and(|ext| ext == "jsonl")
}

/// The matching files in a folder and below, sorted and without duplicates.
pub fn find_files(
    folder: &Path,
    is: &dyn Fn(&Path) -> bool,
    left: &mut dyn FnMut(&Path, &io::Error),
) -> Vec<PathBuf> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    walk(folder, DEPTH, is, &mut seen, &mut found, left);
    found.sort();
    found
}

fn walk(
    folder: &Path,
    depth: usize,
    is: &dyn Fn(&Path) -> bool,
    seen: &mut BTreeSet<(u64, u64)>,
    found: &mut Vec<PathBuf>,
    left: &mut dyn FnMut(&Path, &io::Error),
) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // The folder may have been removed since it was listed.
        Err(e) if e.kind() == io::ErrorKind::NotFound => return,
        Err(e) => return left(folder, &e),
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let Ok(meta) = fs::metadata(&path) else { continue };
        if hidden || !(meta.is_dir() || meta.is_file() && is(&path)) {
            continue;
        }
        if !seen.insert((meta.dev(), meta.ino())) {
            continue;
        }
        if meta.is_file() {
            found.push(path);
        } else if depth > 0 {
            walk(&path, depth - 1, is, seen, found, left);
        }
    }
}

/// The possible ids of a session file: its stem, and the part after the time that pi puts in front.
pub fn ids(path: &Path) -> Vec<String> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let id = stem.rsplit_once('_').map(|(_, id)| id.to_owned());
    [Some(stem.into_owned()), id].into_iter().flatten().collect()
}

/// The files of a session's subagents.
pub fn subagents(main: &Path) -> Vec<PathBuf> {
    below(&main.with_extension("").join("subagents"), &mut |_, _| {})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_a_file_is_by_where_it_lies() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        let of = |path: &Path, agent| {
            let mut source = Source::of(path, agent).unwrap();
            source.begun(false, None);
            (source.agent, source.session, source.parent)
        };
        let main = write("projects/-p/abc.jsonl", "");
        let text = |a: &str, b: &str, c: Option<&str>| (a.into(), b.into(), c.map(str::to_owned));
        assert_eq!(of(&main, None), text("claude", "abc", None));
        assert_eq!(of(&main, Some("me")), text("me", "abc", None));
        let sub = write("projects/-p/abc/subagents/agent-1.jsonl", "");
        assert_eq!(of(&sub, Some("me")), text("subagent", "agent-1", Some("abc")));
        write("projects/-p/abc/subagents/agent-1.meta.json", r#"{"agentType":"Explore"}"#);
        assert_eq!(of(&sub, None), text("Explore", "agent-1", Some("abc")));
        let claw = write("agents/main/sessions/x.jsonl", "");
        assert_eq!(of(&claw, None), text("main", "x", None));
        let mut pi = Source::of(&write("s/2026_u1.jsonl", ""), None).unwrap();
        pi.begun(true, Some("u1"));
        assert_eq!((pi.agent.as_str(), pi.session.as_str()), ("pi", "u1"));
        let mut odd = Source::of(&root.join("s/2026_u1.jsonl"), None).unwrap();
        odd.begun(true, Some("../u1"));
        assert_eq!(odd.session, "2026_u1");
        assert_eq!(subagents(&main), std::slice::from_ref(&sub));
        assert!(
            Source::of(&root.join("none.jsonl"), None)
                .unwrap_err()
                .to_string()
                .contains("none.jsonl")
        );
    }

    #[test]
    fn a_folder_is_walked_once_whatever_links_lead_into_it() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("p/s/subagents")).unwrap();
        for path in ["p/s.jsonl", "p/s/subagents/agent-1.jsonl", "p/.hidden.jsonl", "p/x.json"] {
            fs::write(at(path), "").unwrap();
        }
        std::os::unix::fs::symlink(at(""), at("p/loop")).unwrap();
        std::os::unix::fs::symlink(at("p/s.jsonl"), at("p/again.jsonl")).unwrap();
        std::os::unix::fs::symlink(at("gone"), at("p/gone.jsonl")).unwrap();
        assert!(
            std::process::Command::new("mkfifo")
                .arg(at("p/pipe.jsonl"))
                .status()
                .unwrap()
                .success()
        );
        let found = below(&at(""), &mut |path, e| panic!("{}: {e}", path.display()));
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
