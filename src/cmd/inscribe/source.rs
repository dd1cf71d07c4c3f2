//! Session files: whose they are by where they lie, and where they are looked for.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use base::env::Env;
use base::{atomic, paths};

/// Folders below a folder that are looked into: project, session, `subagents`.
const DEPTH: usize = 4;

/// Who runs the client's main sessions.
pub const MAIN: &str = "claude";

/// Who runs subagents of which nothing more is known.
const SUBAGENT: &str = "subagent";

/// A session's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file, without links.
    pub path: PathBuf,
    /// Who ran it.
    pub agent: String,
    /// Its id.
    pub session: String,
    /// Of a subagent: the session that it worked for.
    pub parent: Option<String>,
    /// Whether it is a subagent's.
    pub subagent: bool,
}

/// What the client notes of a subagent, beside its file.
#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "agentType")]
    kind: Option<String>,
}

impl Source {
    /// Whose a file is. A subagent's lies in `<session>/subagents/`, one of `OpenClaw` in
    /// `agents/<agent>/sessions/`; `agent` is who ran it where it is not a subagent's.
    ///
    /// # Errors
    /// What the system says of the file, named.
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

    /// Fills in what the file's beginning says: `header` is the id of pi's header.
    pub fn begun(&mut self, is_pi: bool, header: Option<&str>) {
        if !self.agent.is_empty() {
            return;
        }
        MAIN.clone_into(&mut self.agent);
        if is_pi {
            "pi".clone_into(&mut self.agent);
            // Its files are called by their time, too.
            if let Some(id) = header.filter(|id| paths::safe_name(id)) {
                id.clone_into(&mut self.session);
            }
        }
    }
}

/// The folders that hold sessions: the client's, `OpenClaw`'s and pi's.
pub fn homes(env: &Env) -> Vec<PathBuf> {
    let claude = paths::config_folder(env).map(|config| config.join("projects"));
    let home = env.home();
    let claw = env.path("OPENCLAW_STATE_DIR").or_else(|| Some(home.clone()?.join(".openclaw")));
    let pi = home.map(|home| home.join(".pi/agent/sessions"));
    [claude, claw.map(|claw| claw.join("agents")), pi].into_iter().flatten().collect()
}

/// The client's folder of a project's sessions, and pi's.
pub fn of_project(env: &Env, project: &Path) -> Vec<PathBuf> {
    let project = paths::resolve(project);
    let text = project.to_string_lossy();
    let dashed: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let pi = format!("--{}--", text.trim_start_matches('/').replace(['/', '\\', ':'], "-"));
    let claude = paths::config_folder(env).map(|config| config.join("projects").join(dashed));
    let pi = env.home().map(|home| home.join(".pi/agent/sessions").join(pi));
    [claude, pi].into_iter().flatten().collect()
}

/// The session files in a folder and those below it, sorted; every file and folder once,
/// by whatever links it is reached. What can't be read is handed to `left`.
pub fn below(folder: &Path, left: &mut dyn FnMut(&Path, &io::Error)) -> Vec<PathBuf> {
    such_below(folder, &is_session, left)
}

/// Whether a file is called as session files are.
pub fn is_session(path: &Path) -> bool {
    path.extension().is_some_and(|ext| ext == "jsonl")
}

/// As [`below`], files of which `is` holds.
pub fn such_below(
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
        // It may have been taken away since it was listed.
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

/// What a session is called by its file: as that is, and by the id behind the time that pi puts
/// ahead of it.
pub fn ids(path: &Path) -> Vec<String> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let id = stem.rsplit_once('_').map(|(_, id)| id.to_owned());
    [Some(stem.into_owned()), id].into_iter().flatten().collect()
}

/// The files of a main session's subagents.
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
