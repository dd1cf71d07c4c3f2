//! Undoes variables of the project's client settings that would move the guard's files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use base::atomic;
use base::env::{self, Env};
use base::paths::{config_folder, project_root};
use base::process;

/// Reads at most this many bytes of a file. A longer file counts as setting any variable.
const MOST: u64 = 256 * 1024;

/// Variables that only the user may set: where the guard's files are, and its constants.
const USERS: [&str; 6] = [
    env::STATE,
    "BRAIN_GUARD_STORE",
    "XDG_STATE_HOME",
    "XDG_DATA_HOME",
    "CLAUDE_CONFIG_DIR",
    env::TEST_CONSTANTS,
];

/// Restores the user's own values where the project's settings replaced them.
pub fn restore_user_variables(mut env: Env) -> Env {
    let set = |name: &&str| env.os(name).is_some();
    let moved: Vec<&str> = USERS.into_iter().filter(set).collect();
    if moved.is_empty() {
        return env;
    }
    let project = env.path(env::PROJECT_DIR).or_else(|| Some(project_root(&env, &env.cwd()?)));
    let files = project.map(|project| files(&project)).unwrap_or_default();
    let by_project = |name: &&str| files.iter().any(|file| file.may_set(name));
    let moved: Vec<&str> = moved.into_iter().filter(by_project).collect();
    let Some(launch) = (!moved.is_empty()).then(|| launch(&env)).filter(|all| !all.is_empty())
    else {
        return env;
    };
    let launched = launch
        .iter()
        .fold(Env::from_pairs([]), |env, (name, value)| env.with_variable(name, value));
    let config = config_folder(&launched).unwrap_or_default();
    let own = ClientFile::read(&config.join("settings.json")).unwrap_or_default();
    for name in moved {
        let launched = launch.iter().filter(|(known, _)| known == name);
        let mut values: Vec<String> = own.value(name).into_iter().collect();
        values.extend(launched.map(|(_, value)| value.clone()));
        if !env.get(name).is_some_and(|value| values.contains(&value)) {
            env = env.with_variable(name, values.first().map_or("", String::as_str));
        }
    }
    env
}

/// The environment variables that one of the client's settings files sets. `None` if the file is
/// unreadable, so that it may set anything.
#[derive(Debug, Default)]
struct ClientFile(Option<BTreeMap<String, Value>>);

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    env: BTreeMap<String, Value>,
}

impl ClientFile {
    /// Reads a file; `None` without one.
    fn read(path: &Path) -> Option<Self> {
        let text = atomic::read_start(path, MOST).transpose()?.ok();
        let parse = |text: String| {
            serde_json::from_str::<Content>(text.trim_start_matches('\u{feff}')).ok()
        };
        Some(Self(text.and_then(parse).map(|content| content.env)))
    }

    fn may_set(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|env| env.contains_key(name))
    }

    /// The value as the client writes it into the environment.
    fn value(&self, name: &str) -> Option<String> {
        let value = self.0.as_ref()?.get(name)?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }
}

/// The project's client settings files.
fn files(project: &Path) -> Vec<ClientFile> {
    let folder: PathBuf = project.join(".claude");
    let names = ["settings.local.json", "settings.json"];
    names.iter().filter_map(|name| ClientFile::read(&folder.join(name))).collect()
}

/// The environment the client was started in. Empty if it cannot be read.
fn launch(env: &Env) -> Vec<(String, String)> {
    env.client_pid().map(process::environment).unwrap_or_default()
}
