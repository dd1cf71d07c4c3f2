//! The location of the store, and its folders.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use base::env::Env;
use base::paths::{config_folder, is_safe_name, resolve, short_digest, state_root};

/// The variable that sets the store's location.
const STORE: &str = "BRAIN_GUARD_STORE";

/// What errors about the location recommend.
const WAY_OUT: &str = "the variable BRAIN_GUARD_STORE says where the store lies";

/// The store's folder: `<data>/brain-guard`, unless a setting or the environment moves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root(PathBuf);

impl Root {
    /// The store in this folder; it holds `sessions/`.
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Locates the store: `BRAIN_GUARD_STORE`, else the user's data folder.
    ///
    /// # Errors
    /// `InvalidInput` for a path that is relative, has `..`, or is in the guard's own state or
    /// settings. `NotFound` if no location is set and there is no home.
    pub fn locate(env: &Env) -> io::Result<Self> {
        let (root, from) = Self::asked(env)?;
        // Agents run these commands, too, and must not point the store there.
        if root.0.components().any(|part| part == Component::ParentDir) {
            let path = root.0.display();
            let why = format!("{from}: `{path}`: write the store's path without `..`");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let path = resolve(&root.0);
        let of_a_project = state_root(env).is_some_and(|all| {
            path.strip_prefix(resolve(&all)).is_ok_and(|rest| rest.components().next().is_some())
        });
        let settings = config_folder(env).map(|folder| resolve(&folder.join("brain-guard")));
        if of_a_project || settings.is_some_and(|folder| path.starts_with(folder)) {
            let path = root.0.display();
            let why = format!(
                "{from}: {path} is where brain-guard keeps its own state; name another folder"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        Ok(root)
    }

    /// The path, and what set it.
    fn asked(env: &Env) -> io::Result<(Self, &'static str)> {
        if let Some(path) = env.path(STORE) {
            if path.is_absolute() {
                return Ok((Self(path), STORE));
            }
            let shown = path.display();
            let why = format!("{STORE}: `{shown}` is not an absolute path; write the full path");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let data = env.path("XDG_DATA_HOME").filter(|path| path.is_absolute());
        let data = data.or_else(|| Some(env.home()?.join(".local/share"))).ok_or_else(|| {
            let why = "HOME is not set; set it, or BRAIN_GUARD_STORE, to say where the store lies";
            io::Error::new(io::ErrorKind::NotFound, why)
        })?;
        Ok((Self(data.join("brain-guard")), "XDG_DATA_HOME"))
    }

    /// Checks that the folder is readable or does not exist yet.
    pub fn usable(&self) -> io::Result<()> {
        match fs::read_dir(&self.0) {
            Ok(_) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(Self::folder_error(&self.0, &e)),
        }
    }

    /// An error on a folder of the store, with the hint how to move the store.
    pub fn folder_error(folder: &Path, why: &io::Error) -> io::Error {
        io::Error::new(why.kind(), format!("{}: {why}; {WAY_OUT}", folder.display()))
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// `<root>/sessions`.
    pub fn sessions(&self) -> PathBuf {
        self.0.join("sessions")
    }

    /// The folder of a session. Names that are not valid for folders are changed, and stay
    /// distinct.
    pub fn folder(&self, agent: &str, session: &str) -> Folder {
        let (agent, session) = (folder_name(agent), folder_name(session));
        let path = self.sessions().join(&agent).join(&session);
        Folder { agent, session, path }
    }

    /// All sessions, sorted by agent and id.
    pub fn all(&self) -> io::Result<Vec<Folder>> {
        let mut all = Vec::new();
        for agent in names(&self.sessions())? {
            for session in names(&self.sessions().join(&agent))? {
                let folder = self.folder(&agent, &session);
                if folder.has_blocks() || folder.database().is_file() {
                    all.push(folder);
                }
            }
        }
        Ok(all)
    }

    /// Sessions with exactly this id, of any agent.
    pub fn find_exact(&self, id: &str) -> io::Result<Vec<Folder>> {
        let agents = names(&self.sessions())?;
        let folders = agents.iter().map(|agent| self.folder(agent, id));
        Ok(folders.filter(|folder| folder.path.is_dir()).collect())
    }

    /// Sessions whose id starts with `id`; if some are equal to it, only those.
    pub fn find(&self, id: &str) -> io::Result<Vec<Folder>> {
        let mut found = self.all()?;
        found.retain(|folder| !id.is_empty() && folder.session.starts_with(id));
        if found.iter().any(|folder| folder.session == id) {
            found.retain(|folder| folder.session == id);
        }
        Ok(found)
    }
}

/// Turns a name into a valid folder name; a valid one stays as it is.
pub fn folder_name(name: &str) -> String {
    if is_safe_name(name) {
        return name.to_owned();
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let kept: String = name.chars().map(plain).take(80).collect();
    let whole = format!("{kept}-{}", &short_digest(name.as_bytes())[..8]);
    whole.trim_start_matches(['.', '-']).to_owned()
}

/// The folders with valid names in a folder, sorted; empty if it does not exist.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(Root::folder_error(folder, &e)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        if let Some(name) = entry.file_name().to_str().filter(|name| is_safe_name(name))
            && entry.path().is_dir()
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// A session's folder in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// The agent that ran it.
    pub agent: String,
    /// Its id.
    pub session: String,
    /// `<root>/sessions/<agent>/<session>`.
    pub path: PathBuf,
}

impl Folder {
    /// The database of the session.
    pub fn database(&self) -> PathBuf {
        self.path.join("session.db")
    }

    /// The file of its rows.
    pub fn blocks(&self) -> PathBuf {
        self.path.join("blocks.db")
    }

    /// Whether the store has rows of it.
    pub fn has_blocks(&self) -> bool {
        self.blocks().is_file()
    }

    /// The lock that a writer holds.
    pub fn lock(&self) -> PathBuf {
        self.path.join(".lock")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_goes_before_the_data_folder() {
        let at = |env: &Env| Root::locate(env).map(|root| root.0);
        let home = ("HOME", "/h");
        let plain = Env::from_pairs([home]);
        assert_eq!(at(&plain).unwrap(), Path::new("/h/.local/share/brain-guard"));
        let data = Env::from_pairs([home, ("XDG_DATA_HOME", "/d")]);
        assert_eq!(at(&data).unwrap(), Path::new("/d/brain-guard"));
        let own = Env::from_pairs([home, ("XDG_DATA_HOME", "/d"), (STORE, "/s")]);
        assert_eq!(at(&own).unwrap(), Path::new("/s"));
        let relative = at(&Env::from_pairs([(STORE, "s")])).unwrap_err().to_string();
        assert!(relative.contains(STORE) && relative.contains("`s`"), "{relative}");
        assert!(at(&Env::from_pairs([])).is_err());
    }

    #[test]
    fn no_store_lies_where_the_guard_keeps_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().to_str().unwrap();
        fs::create_dir_all(dir.path().join(".local/state/brain-guard/p-1/sessions")).unwrap();
        std::os::unix::fs::symlink(dir.path().join(".local/state"), dir.path().join("link"))
            .unwrap();
        let at = |path: &str| {
            let path = format!("{home}/{path}");
            Root::locate(&Env::from_pairs([("HOME", home), (STORE, path.as_str())]))
        };
        for path in [
            ".local/state/brain-guard/p-1",
            ".local/state/brain-guard/p-1/sessions/new",
            "link/brain-guard/p-1",
            "s/../.claude/brain-guard",
            ".claude/brain-guard/templates",
        ] {
            assert_eq!(at(path).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{path}");
        }
        for path in ["s", ".local/state/brain-guard", ".claude/store"] {
            assert!(at(path).is_ok(), "{path}");
        }
    }

    #[test]
    fn names_from_outside_stay_inside_and_apart() {
        let root = Root::new("/s".into());
        let mut seen = std::collections::BTreeSet::new();
        for name in ["", ".", "..", "../../x", "a/b", "a-b", "a:b", ".hidden", "ü", "-", "x\0y"] {
            let folder = root.folder("claude", name);
            assert_eq!(folder.path.parent().unwrap(), Path::new("/s/sessions/claude"), "{name:?}");
            assert!(is_safe_name(&folder.session), "{name:?}: {:?}", folder.session);
            assert!(seen.insert(folder.session.clone()), "{name:?}");
            assert_eq!(root.folder("claude", &folder.session), folder, "once changed, it stays");
        }
    }

    #[test]
    fn sessions_are_found_by_how_they_begin() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path().into());
        assert_eq!(root.all().unwrap(), []);
        for (agent, session) in [("claude", "abc"), ("claude", "abcd"), ("Explore", "agent-1")] {
            let folder = root.folder(agent, session);
            fs::create_dir_all(&folder.path).unwrap();
            fs::write(folder.blocks(), "").unwrap();
        }
        fs::create_dir_all(root.sessions().join("claude/half-made")).unwrap();
        fs::write(root.sessions().join("sessions.db"), "").unwrap();
        let ids = |found: Vec<Folder>| found.into_iter().map(|f| f.session).collect::<Vec<_>>();
        assert_eq!(ids(root.all().unwrap()), ["agent-1", "abc", "abcd"]);
        assert_eq!(ids(root.find("ab").unwrap()), ["abc", "abcd"]);
        assert_eq!(ids(root.find("abc").unwrap()), ["abc"]);
        assert_eq!(ids(root.find("x").unwrap()), [""; 0]);
        assert_eq!(root.find_exact("agent-1").unwrap()[0].agent, "Explore");
        assert_eq!(root.find_exact("ab").unwrap(), []);
    }
}
