//! The demo's own folders: a home, a state, a small project. It reads nothing of the user's, and
//! removes all of it afterwards.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;

use base::env::Env;
use base::paths::Places;

/// The folders, and the environment of the processes in them.
#[derive(Debug)]
pub struct World {
    root: PathBuf,
    pub home: PathBuf,
    pub project: PathBuf,
    pub env: BTreeMap<String, String>,
    pub places: Places,
}

/// The search path for programs if the environment has none.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The demo's settings: a short notice before the clear, because nobody waits for it.
const SETTINGS: &str = r#"{"boundary": {"attended_notice_seconds": 1}}"#;

impl World {
    ///
    /// # Errors
    /// No writable temporary folder.
    pub fn new(env: &Env) -> anyhow::Result<Self> {
        let temp = env.path("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"));
        let root = own_folder(&temp).with_context(|| {
            format!(
                "could not make a folder in {}; set TMPDIR to one that can be written",
                temp.display()
            )
        })?;
        Self::lay_out(env, &root).inspect_err(|_| remove(&root))
    }

    fn lay_out(env: &Env, root: &Path) -> anyhow::Result<Self> {
        let (home, project) = (root.join("home"), root.join("project"));
        let config = home.join(".claude/brain-guard");
        let source = project.join("src");
        let mut files = vec![
            (config.join("settings.json"), SETTINGS.to_owned()),
            (source.join("retry.rs"), long_source()),
        ];
        for name in ["main.rs", "queue.rs", "config.rs", "worker.rs", "store.rs"] {
            files.push((source.join(name), format!("// {name}\nfn todo() {{}}\n")));
        }
        for folder in [&config, &source] {
            fs::create_dir_all(folder)
                .with_context(|| format!("could not make {}", folder.display()))?;
        }
        for (path, text) in files {
            fs::write(&path, text)
                .with_context(|| format!("could not write {}", path.display()))?;
        }
        let at = |path: PathBuf| path.to_string_lossy().into_owned();
        let vars = BTreeMap::from([
            ("HOME".to_owned(), at(home.clone())),
            ("XDG_STATE_HOME".to_owned(), at(home.join(".local/state"))),
            ("XDG_DATA_HOME".to_owned(), at(home.join(".local/share"))),
            ("XDG_CONFIG_HOME".to_owned(), at(home.join(".config"))),
            ("PATH".to_owned(), env.get("PATH").unwrap_or_else(|| PATH.to_owned())),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
        ]);
        let places =
            Places::for_project(&Env::Map(vars.clone()), &project).context("no place for state")?;
        Ok(Self { root: root.to_path_buf(), home, project, env: vars, places })
    }

    /// A file of the project's source.
    pub fn source(&self, name: &str) -> PathBuf {
        self.project.join("src").join(name)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        remove(&self.root);
    }
}

/// Removes a folder. Retries, because the process that watches a boundary may write into it until
/// its token is gone.
fn remove(root: &Path) {
    for _ in 0..50 {
        match fs::remove_dir_all(root) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                std::thread::sleep(Duration::from_millis(20));
            }
            _ => return,
        }
    }
}

/// Creates a new folder that is private to the user.
fn own_folder(temp: &Path) -> io::Result<PathBuf> {
    let temp = fs::canonicalize(temp)?;
    for attempt in 0..1000 {
        let path = temp.join(format!("brain-guard-demo-{}-{attempt}", std::process::id()));
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// A file longer than the part that may be read again.
fn long_source() -> String {
    let mut text = "// retry.rs\nconst TRIES: u32 = 3;\n".to_owned();
    for line in 0..400 {
        let _ = writeln!(text, "// line {line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_is_private_and_leaves_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let env =
            Env::from_pairs([("TMPDIR", temp.path().to_str().unwrap()), ("HOME", "/nowhere")]);
        let world = World::new(&env).unwrap();
        assert!(world.places.state.starts_with(temp.path().canonicalize().unwrap()));
        assert!(world.places.user_settings.is_file());
        assert!(world.source("retry.rs").is_file());
        drop(world);
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
    }

    #[test]
    fn no_place_is_said_with_a_way_out() {
        let env = Env::from_pairs([("TMPDIR", "/no/such/folder")]);
        let said = format!("{:#}", World::new(&env).unwrap_err());
        assert!(said.contains("/no/such/folder; set TMPDIR"), "{said}");
    }
}
