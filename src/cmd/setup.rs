//! Makes the plans of `install` and `uninstall` from the environment.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::import;
use super::install::keys::Wish;
use super::install::shell::UserFolders;
use super::install::{InstallPlan, install as place};
use super::purge::folders_in_projects;
use super::uninstall::data::Data;
use super::uninstall::{UninstallPlan, list_kept, uninstall as remove};
use super::{Context, Exit, Run};
use super::{operator, selector};
use crate::cli::{DemoArgs, InstallArgs, UninstallArgs};
use base::env::Env;
use base::paths::{config_folder, state_root};
use base::switch::Switch;
use guard::hook::facts::read_settings;
use guard::settings::{Profile, Settings};
use sessions::settings::ImportWhen;

fn data(env: &Env) -> anyhow::Result<PathBuf> {
    Ok(user_folders(env)?.data.join("brain-guard"))
}

fn user_folders(env: &Env) -> anyhow::Result<UserFolders> {
    let folder = |name: &str, default: &str| {
        let set = env.path(name).filter(|p| p.is_absolute());
        set.or_else(|| Some(env.home()?.join(default)))
            .context("HOME is not set; set it to your home folder")
    };
    Ok(UserFolders {
        data: folder("XDG_DATA_HOME", ".local/share")?,
        config: folder("XDG_CONFIG_HOME", ".config")?,
    })
}

/// The client's program on `PATH`.
fn client(env: &Env) -> Option<PathBuf> {
    let path = env.os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join("claude")).find(|p| p.is_file())
}

/// The folder of the user's commands.
///
/// # Errors
/// HOME is not set.
pub fn links(env: &Env) -> anyhow::Result<PathBuf> {
    Ok(env.home().context("HOME is not set; set it to your home folder")?.join(".local/bin"))
}

/// Whether a folder is on the `PATH`.
pub fn on_path(env: &Env, folder: &Path) -> bool {
    env.os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|dir| dir == folder))
}

/// The user's settings, without any project's.
///
/// # Errors
/// HOME is not set.
pub fn settings(env: &Env) -> anyhow::Result<Settings> {
    let places = selector::places(env, Path::new("/"))?;
    Ok(read_settings(&places, env).0)
}

fn tiers(settings: &Settings) -> String {
    let at = |limit| {
        let ramp = settings.ramp(limit);
        let at: Vec<String> = ramp.tiers().iter().map(|t| format!("{:.0}", t.context)).collect();
        at.join(" / ")
    };
    let profile = match settings.profile {
        Profile::Auto => "auto",
        Profile::Relaxed => "relaxed",
    };
    format!(
        "profile {profile}: {} % of contexts of 500k tokens and more, {} % of smaller ones",
        at(967_000),
        at(167_000)
    )
}

fn install_plan(env: &Env, settings: &Settings, keys: Wish) -> anyhow::Result<InstallPlan> {
    Ok(InstallPlan {
        binary: env.program().context("brain-guard cannot find its own program file")?,
        data: data(env)?,
        on_path: on_path(env, &links(env)?),
        links: links(env)?,
        shells: user_folders(env)?,
        client: client(env),
        config: config_folder(env).context("HOME is not set; set it to your home folder")?,
        keys,
        imports: settings.surgery.import == ImportWhen::SessionEnd,
        tiers: tiers(settings),
    })
}

/// Completes an installation with this program, and says what that changed. The chords stay as they
/// are, because the user may have refused them.
///
/// # Errors
/// An error of a step; earlier steps stay done.
pub fn complete_installation(env: &Env) -> anyhow::Result<String> {
    let mut said = Vec::new();
    place(&install_plan(env, &settings(env)?, Wish::Kept)?, &mut said)?;
    let said = String::from_utf8_lossy(&said);
    let steps = ["plugin", "command", "client"];
    let told = |line: &&str| steps.iter().any(|step| line.starts_with(step));
    let done: Vec<String> = said
        .lines()
        .filter(told)
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    Ok(format!("installed again: {}", done.join("; ")))
}

impl Run for InstallArgs {
    /// Also plays the demo with the installed plugin.
    fn run(&self, Context { env, .. }: Context) -> anyhow::Result<Exit> {
        let settings = settings(env)?;
        let keys = match settings.boundary.chords {
            Switch::Off => Wish::Off,
            Switch::On if self.no_keybindings => Wish::Refused,
            Switch::On => Wish::Bound,
        };
        let plan = install_plan(env, &settings, keys)?;
        place(&plan, &mut io::stdout().lock())?;
        if self.no_demo {
            return Ok(Exit::Done);
        }
        super::out("\ndemo: a whole session through the installed hooks, no model, no network");
        super::demo::run(env, &plan.current())
    }
}

/// The paths of an installation, for `uninstall` and `doctor`.
///
/// # Errors
/// HOME is not set.
pub fn uninstall_plan(env: &Env) -> anyhow::Result<UninstallPlan> {
    let state = state_root(env).context("HOME is not set; set it to your home folder")?;
    Ok(UninstallPlan {
        data: data(env)?,
        links: links(env)?,
        shells: user_folders(env)?,
        client: client(env),
        config: config_folder(env).context("HOME is not set; set it to your home folder")?,
        state,
        store: import::root(env).map_or(data(env)?, |root| root.path().to_path_buf()),
        projects: Vec::new(),
    })
}

impl Run for UninstallArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        operator::refuse_agent(env, "uninstall")?;
        let plan = UninstallPlan { projects: folders_in_projects(env)?, ..uninstall_plan(env)? };
        let data = self.purge.then(|| Data::find(env, &plan, now)).transpose()?;
        if let Some(data) = &data {
            data.list(now);
            if !self.yes && !data.confirmed()? {
                return Ok(Exit::Refused);
            }
        }
        remove(&plan, &mut io::stdout().lock())?;
        let is_gone = data.is_none_or(|data| data.remove());
        list_kept(&plan, &mut io::stdout().lock())?;
        Ok(if is_gone { Exit::Done } else { Exit::Refused })
    }
}

/// The installed plugin's folder.
///
/// # Errors
/// HOME is not set.
pub fn installed(env: &Env) -> anyhow::Result<PathBuf> {
    Ok(data(env)?.join(super::install::place::CURRENT))
}

impl Run for DemoArgs {
    fn run(&self, Context { env, .. }: Context) -> anyhow::Result<Exit> {
        let folder = self.plugin.clone().map_or_else(|| installed(env), Ok)?;
        super::demo::run(env, &folder)
    }
}
