//! Finds environment variables that the project's client settings files set.

use std::path::{Path, PathBuf};

use crate::settings::layers::{ClientFile, User, Variables};
use base::atomic;
use base::env::{self, Env};
use base::paths::{Places, config_folder, project_root};
use base::process;

/// Reads at most this many bytes of a file. A longer file counts as setting any variable.
const MOST: u64 = 256 * 1024;

/// Variables that decide where the guard's files are. Only the user may set them.
const PLACES: [&str; 5] = [
    "BRAIN_GUARD_STATE",
    "BRAIN_GUARD_STORE",
    "XDG_STATE_HOME",
    "XDG_DATA_HOME",
    "CLAUDE_CONFIG_DIR",
];

/// The settings variables, with their origin. Reads the project's files only if there are any
/// variables.
pub fn variables(places: &Places, env: &Env) -> Variables {
    let all = Variables::from(env);
    if all.is_empty() {
        return all;
    }
    let config = places.client_config().map(Path::to_path_buf);
    all.traced(&files(&places.project), || user(config, launch(env)))
}

/// Restores the user's own folders where the project's settings replaced them.
pub fn restore_user_folders(mut env: Env) -> Env {
    let set = |name: &&str| env.os(name).is_some();
    let moved: Vec<&str> = PLACES.into_iter().filter(set).collect();
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
    let user = user(config_folder(&launched), launch);
    for name in moved {
        let values = user.values(name);
        if !env.get(name).is_some_and(|value| values.contains(&value)) {
            env = env.with_variable(name, values.first().map_or("", String::as_str));
        }
    }
    env
}

fn file(path: &Path) -> Option<ClientFile> {
    let shown = path.display().to_string();
    match atomic::read_start(path, MOST) {
        Ok(None) => None,
        Ok(Some(text)) => Some(ClientFile::from_text(shown, Some(&text))),
        Err(_) => Some(ClientFile::from_text(shown, None)),
    }
}

/// The project's client settings files.
fn files(project: &Path) -> Vec<ClientFile> {
    let folder = project.join(".claude");
    let names = ["settings.local.json", "settings.json"];
    names.iter().filter_map(|name| file(&folder.join(name))).collect()
}

fn user(config: Option<PathBuf>, launch: Vec<(String, String)>) -> User {
    let path = config.unwrap_or_default().join("settings.json");
    let none = || ClientFile::from_text(path.display().to_string(), None);
    User { settings: file(&path).unwrap_or_else(none), launch }
}

/// The environment the client was started in. Empty if it cannot be read.
fn launch(env: &Env) -> Vec<(String, String)> {
    env.client_pid().map(process::environment).unwrap_or_default()
}
