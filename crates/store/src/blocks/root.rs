//! Where the store lies, and what folders it has.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::packs;
use base::env::Env;
use base::paths::{config_folder, resolve, safe_name, short_digest, states};

/// The variable that says where the store lies.
const STORE: &str = "BRAIN_GUARD_STORE";

/// The setting that says it.
const SETTING: &str = "surgery.store";

/// What an error says of where the store lies.
const WAY_OUT: &str =
    "the setting `surgery.store` (or the variable BRAIN_GUARD_STORE) says where the store lies";

/// Where the sessions are kept: `<data>/brain-guard`, by a setting or the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root(PathBuf);

impl Root {
    /// The store in this folder; it holds `sessions/`.
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Where the environment puts it (`BRAIN_GUARD_STORE`), else the setting `surgery.store`,
    /// else the user's data folder. `~/` in the setting is the user's home.
    ///
    /// # Errors
    /// `InvalidInput` for a path that would be another one in every folder, and for one where
    /// the guard keeps its state or settings; `NotFound` where neither says where and there is
    /// no home.
    pub fn of(env: &Env, setting: Option<&str>) -> io::Result<Self> {
        let (root, from) = Self::asked(env, setting)?;
        // An agent runs these verbs, too, and must not lead them there.
        if root.0.components().any(|part| part == Component::ParentDir) {
            let path = root.0.display();
            let why = format!("{from}: `{path}`: write the store's path without `..`");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let path = resolve(&root.0);
        let of_a_project = states(env).is_some_and(|all| {
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

    /// The path, and what says it.
    fn asked(env: &Env, setting: Option<&str>) -> io::Result<(Self, &'static str)> {
        let absolute = |path: PathBuf, from| {
            if path.is_absolute() {
                return Ok((Self(path), from));
            }
            let why =
                format!("{from}: `{}` is not an absolute path; write it whole", path.display());
            Err(io::Error::new(io::ErrorKind::InvalidInput, why))
        };
        if let Some(path) = env.path(STORE) {
            return absolute(path, STORE);
        }
        if let Some(path) = setting.filter(|path| !path.is_empty()) {
            let below_home = path.strip_prefix("~/").and_then(|rest| Some(env.home()?.join(rest)));
            return absolute(below_home.unwrap_or_else(|| path.into()), SETTING);
        }
        let data = env.path("XDG_DATA_HOME").filter(|path| path.is_absolute());
        let data = data.or_else(|| Some(env.home()?.join(".local/share"))).ok_or_else(|| {
            let why = "HOME is not set; set it, or BRAIN_GUARD_STORE, to say where the store lies";
            io::Error::new(io::ErrorKind::NotFound, why)
        })?;
        Ok((Self(data.join("brain-guard")), "XDG_DATA_HOME"))
    }

    /// That it is a folder which can be looked into, or is not there yet.
    ///
    /// # Errors
    /// What it is, or what the system says, with the way out.
    pub fn usable(&self) -> io::Result<()> {
        match fs::read_dir(&self.0) {
            Ok(_) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(Self::unusable(&self.0, &e)),
        }
    }

    /// What the system says of a folder of the store, with the way out.
    pub fn unusable(folder: &Path, why: &io::Error) -> io::Error {
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

    /// The folder of a session. Names that can't be a folder's are changed so that they can,
    /// and stay different from each other.
    pub fn folder(&self, agent: &str, session: &str) -> Folder {
        let (agent, session) = (folder_name(agent), folder_name(session));
        let path = self.sessions().join(&agent).join(&session);
        Folder { agent, session, path }
    }

    /// All sessions there are, sorted by agent and id.
    ///
    /// # Errors
    /// What the system says.
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

    /// Sessions of exactly this id, whoever ran them.
    ///
    /// # Errors
    /// What the system says.
    pub fn named(&self, id: &str) -> io::Result<Vec<Folder>> {
        let agents = names(&self.sessions())?;
        let folders = agents.iter().map(|agent| self.folder(agent, id));
        Ok(folders.filter(|folder| folder.path.is_dir()).collect())
    }

    /// Sessions whose id begins so; where some are called exactly so, only these.
    ///
    /// # Errors
    /// What the system says.
    pub fn find(&self, id: &str) -> io::Result<Vec<Folder>> {
        let mut found = self.all()?;
        found.retain(|folder| !id.is_empty() && folder.session.starts_with(id));
        if found.iter().any(|folder| folder.session == id) {
            found.retain(|folder| folder.session == id);
        }
        Ok(found)
    }
}

/// A name as a folder's: itself, where it can be one.
pub fn folder_name(name: &str) -> String {
    if safe_name(name) {
        return name.to_owned();
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let kept: String = name.chars().map(plain).take(80).collect();
    let whole = format!("{kept}-{}", &short_digest(name.as_bytes())[..8]);
    whole.trim_start_matches(['.', '-']).to_owned()
}

/// The folders in a folder that can be ours, sorted; none where there is no folder.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(Root::unusable(folder, &e)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        if let Some(name) = entry.file_name().to_str().filter(|name| safe_name(name))
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
    /// Who ran it.
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

    /// Its rows.
    pub fn blocks(&self) -> PathBuf {
        self.path.join("blocks.db")
    }

    /// Whether rows of it are kept.
    pub fn has_blocks(&self) -> bool {
        let blocks = self.blocks();
        blocks.is_file() || packs::of(&blocks).is_dir()
    }

    /// Held while it is written.
    pub fn lock(&self) -> PathBuf {
        self.path.join(".lock")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_goes_before_the_setting_and_both_before_the_home() {
        let at = |env: &Env, setting| Root::of(env, setting).map(|root| root.0);
        let home = ("HOME", "/h");
        let plain = Env::of([home]);
        assert_eq!(at(&plain, None).unwrap(), Path::new("/h/.local/share/brain-guard"));
        assert_eq!(at(&plain, Some("~/store")).unwrap(), Path::new("/h/store"));
        let data = Env::of([home, ("XDG_DATA_HOME", "/d")]);
        assert_eq!(at(&data, Some("")).unwrap(), Path::new("/d/brain-guard"));
        let own = Env::of([home, ("XDG_DATA_HOME", "/d"), (STORE, "/s")]);
        assert_eq!(at(&own, Some("/t")).unwrap(), Path::new("/s"));
        let relative = at(&Env::of([(STORE, "s")]), None).unwrap_err().to_string();
        assert!(relative.contains(STORE) && relative.contains("`s`"), "{relative}");
        assert!(at(&plain, Some("store")).unwrap_err().to_string().contains("surgery.store"));
        assert!(at(&Env::of([]), None).is_err());
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
            Root::of(&Env::of([("HOME", home), (STORE, path.as_str())]), None)
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
            assert!(safe_name(&folder.session), "{name:?}: {:?}", folder.session);
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
        assert_eq!(root.named("agent-1").unwrap()[0].agent, "Explore");
        assert_eq!(root.named("ab").unwrap(), []);
    }
}
