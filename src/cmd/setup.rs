//! Where an installation is, from the environment.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::install::{Installation, shell};
use super::{import, selector};
use base::env::Env;
use base::paths::{config_folder, state_root};
use guard::hook::facts::read_settings;
use guard::settings::Settings;

/// The folder of the user's commands, in their home.
pub const LINKS: &str = ".local/bin";

const NO_HOME: &str = "HOME is not set; set it to your home folder";

/// The program that runs, as the system names it.
///
/// # Errors
/// The system does not name it.
pub fn program(env: &Env) -> anyhow::Result<PathBuf> {
    env.program().context("brain-guard cannot find its own program file")
}

/// Whether a folder is on the `PATH`.
fn on_path(env: &Env, folder: &Path) -> bool {
    folders_on_path(env).any(|dir| dir == folder)
}

fn folders_on_path(env: &Env) -> impl Iterator<Item = PathBuf> {
    let path = env.os("PATH").unwrap_or_default();
    std::env::split_paths(&path).collect::<Vec<_>>().into_iter()
}

/// The user's settings, without any project's.
///
/// # Errors
/// HOME is not set.
pub fn settings(env: &Env) -> anyhow::Result<Settings> {
    let places = selector::places(env, Path::new("/"))?;
    Ok(read_settings(&places, env).0)
}

/// The paths of an installation.
///
/// # Errors
/// HOME is not set.
pub fn installation(env: &Env) -> anyhow::Result<Installation> {
    let home = env.home().context(NO_HOME)?;
    let folder = |name: &str, default: &str| {
        env.path(name).filter(|path| path.is_absolute()).unwrap_or_else(|| home.join(default))
    };
    let user_data = folder("XDG_DATA_HOME", ".local/share");
    let (data, links) = (user_data.join("brain-guard"), home.join(LINKS));
    Ok(Installation {
        store: import::root(env).map_or(data.clone(), |root| root.path().to_path_buf()),
        data,
        on_path: on_path(env, &links),
        links,
        shells: shell::folders(&user_data, &folder("XDG_CONFIG_HOME", ".config")),
        client: folders_on_path(env).map(|dir| dir.join("claude")).find(|path| path.is_file()),
        config: config_folder(env).context(NO_HOME)?,
        state: state_root(env).context(NO_HOME)?,
    })
}
