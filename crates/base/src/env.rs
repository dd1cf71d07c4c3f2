//! The environment, read in one place. Tests pass a map instead.
#![allow(clippy::disallowed_methods, reason = "this module owns the environment")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// Root of the project where the session started. The payload's `cwd` cannot replace it, because it
/// follows the agent's `cd` (client 2.1.329).
pub const PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";
/// Process id of the client; the same across `/clear` (h8).
pub const CLIENT_PID: &str = "CLAUDE_PID";
/// `1` for an interactive session, `0` for `-p` and in the background.
pub const ATTENDED: &str = "CLAUDE_CODE_SESSION_ATTENDED";
/// Session id in hooks and in the agent's shell; follows `/clear`.
pub const SESSION_ID: &str = "CLAUDE_CODE_SESSION_ID";
/// The file of pi's session, in its shell.
pub const PI_SESSION_FILE: &str = "PI_SESSION_FILE";
/// Folder the running plugin was loaded from.
pub const PLUGIN_ROOT: &str = "CLAUDE_PLUGIN_ROOT";
/// Constants of the program, as JSON, for tests that cannot wait as long as a user can.
pub const TEST_CONSTANTS: &str = "BRAIN_GUARD_TEST_CONSTANTS";
/// The state folder, where it is not at its usual place.
pub const STATE: &str = "BRAIN_GUARD_STATE";
/// Set in every process the client starts, the agent's shell included.
pub const CLAUDECODE: &str = "CLAUDECODE";
/// `<version>:<client pid>`, set by the plugin module when it starts; `:prompt` follows in a client
/// with a prompt box.
pub const MOD: &str = "BRAIN_GUARD_MOD";

/// A view of environment variables.
#[derive(Debug, Clone)]
pub enum Env {
    /// The process's own variables, read again each time.
    Process,
    /// The process's own variables, read once. The hook reads about twenty, and each system lookup
    /// searches the list from its start.
    Kept(Vec<(OsString, OsString)>),
    /// A fixed set, for tests.
    Map(BTreeMap<String, String>),
}

impl Env {
    /// A fixed environment from pairs.
    pub fn from_pairs<const N: usize>(pairs: [(&str, &str); N]) -> Self {
        Self::Map(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    /// The process's own variables, read once.
    pub fn snapshot() -> Self {
        Self::Kept(std::env::vars_os().collect())
    }

    /// The same environment with one variable changed.
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        match &mut self {
            Self::Process => return Self::snapshot().with_variable(name, value),
            Self::Kept(all) => {
                all.retain(|(known, _)| known != name);
                all.push((name.into(), value.into()));
            }
            Self::Map(map) => {
                map.insert(name.to_owned(), value.to_owned());
            }
        }
        self
    }

    /// A variable's raw value; an empty one counts as unset.
    pub fn os(&self, name: &str) -> Option<OsString> {
        let value = match self {
            Self::Process => std::env::var_os(name),
            Self::Kept(all) => all.iter().find(|(k, _)| k == name).map(|(_, v)| v.clone()),
            Self::Map(map) => map.get(name).map(OsString::from),
        };
        value.filter(|v| !v.is_empty())
    }

    /// A variable's value if it is UTF-8.
    pub fn get(&self, name: &str) -> Option<String> {
        self.os(name)?.into_string().ok()
    }

    /// A variable as a path.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.os(name).map(PathBuf::from)
    }

    /// The user's home folder, if absolute: a relative one would differ between processes.
    pub fn home(&self) -> Option<PathBuf> {
        self.path("HOME").filter(|home| home.is_absolute())
    }

    /// The client's process id.
    pub fn client_pid(&self) -> Option<u32> {
        self.get(CLIENT_PID)?.parse().ok()
    }

    /// Whether the client is interactive, so that a person may be at the terminal. A missing
    /// variable (older clients) counts as interactive.
    pub fn interactive(&self) -> bool {
        self.get(ATTENDED).as_deref() != Some("0")
    }

    /// The running program's own path, symlinks resolved by the kernel.
    pub fn program(&self) -> Option<PathBuf> {
        std::env::current_exe().ok()
    }

    /// The folder the process was started in.
    pub fn cwd(&self) -> Option<PathBuf> {
        std::env::current_dir().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_is_unset() {
        let env = Env::from_pairs([("A", ""), ("B", "1")]);
        assert_eq!((env.get("A"), env.get("B").as_deref()), (None, Some("1")));
    }

    #[test]
    fn one_variable_is_another_and_the_rest_stays() {
        for env in [
            Env::from_pairs([("A", "1"), ("B", "2")]),
            Env::snapshot().with_variable("A", "1").with_variable("B", "2"),
        ] {
            let other = env.clone().with_variable("A", "3");
            let got = |env: &Env| (env.get("A"), env.get("B"), env.os("PATH"));
            assert_eq!(got(&env).0.as_deref(), Some("1"));
            assert_eq!(got(&other), (Some("3".into()), Some("2".into()), env.os("PATH")));
        }
    }
}
