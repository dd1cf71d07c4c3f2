//! Where an installation is, and its command's link.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::{COMMAND, client, place, shell, word};
use crate::cmd::{import, selector};
use base::env::Env;
use base::paths::{config_folder, state_root};
use base::shown::shell_quote;
use guard::hook::facts::read_settings;
use guard::settings::Settings;
use guard::settings::file::Fault;

/// The folder of the user's commands, in their home.
pub const LINKS: &str = ".local/bin";

const NO_HOME: &str = "HOME is not set; set it to your home folder";

/// The program that runs, as the system names it.
///
/// # Errors
/// The system does not name it.
pub fn program(env: &Env) -> Result<PathBuf> {
    env.program().context("brain-guard cannot find its own program file")
}

/// The user's settings, without any project's, and what is wrong with their file.
///
/// # Errors
/// HOME is not set.
pub fn settings(env: &Env) -> Result<(Settings, Vec<Fault>)> {
    Ok(read_settings(&selector::places(env, Path::new("/"))?, env))
}

/// Where an installation is.
#[derive(Debug, Clone)]
pub struct Installation {
    /// brain-guard's folder: where the running program is installed, else
    /// `$XDG_DATA_HOME/brain-guard`.
    pub data: PathBuf,
    /// Where the user's commands are linked (`~/.local/bin`).
    pub links: PathBuf,
    /// The folders on the user's `PATH`.
    pub path_folders: Vec<PathBuf>,
    /// Where completions and man pages are linked.
    pub shells: shell::UserFolders,
    /// The client's program, if it was found.
    pub client: Option<PathBuf>,
    /// The client's config folder (`$CLAUDE_CONFIG_DIR`, else `~/.claude`), which holds our settings
    /// and the chords.
    pub config: PathBuf,
    /// The folder with the state of all projects.
    pub state: PathBuf,
    /// The store of sessions and extracted content.
    pub store: PathBuf,
}

impl Installation {
    /// The paths of an installation.
    ///
    /// # Errors
    /// HOME is not set.
    pub fn find(env: &Env) -> Result<Self> {
        let home = env.home().context(NO_HOME)?;
        let folder = |name: &str, default: &str| {
            env.path(name).filter(|path| path.is_absolute()).unwrap_or_else(|| home.join(default))
        };
        // An installed program knows where it is, whatever the variable says now.
        let data = env.program().as_deref().and_then(place::folder_of).map_or_else(
            || folder("XDG_DATA_HOME", ".local/share").join(COMMAND),
            Path::to_path_buf,
        );
        let user_data = data.parent().unwrap_or(&data).to_path_buf();
        let links = home.join(LINKS);
        let config = config_folder(env).context(NO_HOME)?;
        let path = env.os("PATH").unwrap_or_default();
        let path_folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        Ok(Self {
            store: import::root(env).map_or(data.clone(), |root| root.path().to_path_buf()),
            data,
            links,
            shells: shell::folders(&user_data, &folder("XDG_CONFIG_HOME", ".config")),
            client: client::find(&path_folders, &home, &config),
            path_folders,
            config,
            state: state_root(env).context(NO_HOME)?,
        })
    }

    /// Refuses to change another user's installation as root, as with `sudo` before its command.
    ///
    /// # Errors
    /// Somebody else owns the folder.
    pub fn check_owner(&self) -> Result<()> {
        let Ok(meta) = fs::metadata(&self.data) else { return Ok(()) };
        let is_ours = meta.uid() == 0 || !rustix::process::geteuid().is_root();
        ensure!(
            is_ours,
            "{} is the installation of another user (id {}); run this as that user, without sudo",
            self.data.display(),
            meta.uid()
        );
        Ok(())
    }

    /// The folder that is registered with the client.
    pub fn current(&self) -> PathBuf {
        self.data.join(place::CURRENT)
    }

    /// The link to the command.
    pub fn link(&self) -> PathBuf {
        self.links.join(COMMAND)
    }

    /// The program for the user to type: the link, unless something else is in its place.
    pub fn command(&self) -> PathBuf {
        if self.has_link() { self.link() } else { self.current().join(place::BINARY) }
    }

    /// Whether the command's link is ours.
    fn has_link(&self) -> bool {
        fs::read_link(self.link()).is_ok_and(|target| self.is_ours(&target))
    }

    /// How a user types a program: its name, or its path where its folder is not on the `PATH`.
    pub fn typed(&self, program: &Path) -> String {
        let name = program.file_name().filter(|_| self.first_on_path(program).is_ok());
        shell_quote(&name.map_or(program, Path::new).to_string_lossy())
    }

    /// Whether a shell starts this program by its name. The error is the one that it starts instead.
    fn first_on_path(&self, program: &Path) -> Result<(), Option<PathBuf>> {
        let name = program.file_name().unwrap_or_default();
        let mut named = self.path_folders.iter().map(|folder| folder.join(name));
        match named.find(|found| found == program || found.is_file()) {
            Some(first) if first == program => Ok(()),
            other => Err(other),
        }
    }

    /// Whether the command's link leads to the installed program, or into a copy of the plugin from a
    /// marketplace.
    pub fn is_ours(&self, target: &Path) -> bool {
        target == self.current().join(place::BINARY)
            || cached_plugin(target).is_some_and(|plugin| plugin.ends_with(COMMAND))
    }

    /// Links the command to `target`, unless something else is in its place, and says so. Without
    /// the link, everything works but the command's name.
    ///
    /// # Errors
    /// The output can't be written.
    pub fn link_command(&self, target: &Path, out: &mut dyn Write) -> Result<()> {
        let link = self.link();
        // An installation in another data folder made it.
        let earlier = Path::new(COMMAND).join(place::CURRENT).join(place::BINARY);
        let replaces = |found: &Path| self.is_ours(found) || found.ends_with(&earlier);
        let obstacle = match place::link(&link, target, replaces) {
            Ok(Some(is_new)) => return self.say_linked(is_new, out),
            Ok(None) => "is not ours and stays; move it away".to_owned(),
            Err(why) => {
                format!("could not be made ({why}); let its folder be one that you can write in")
            }
        };
        let (link, target) = (link.display(), target.display());
        writeln!(out, "command  {link} {obstacle} and run this again, or call {target}")?;
        Ok(())
    }

    fn say_linked(&self, is_new: bool, out: &mut dyn Write) -> Result<()> {
        let link = self.link();
        writeln!(out, "command  {} ({})", link.display(), word(is_new))?;
        if !self.path_folders.contains(&self.links) {
            let folder = self.links.display();
            let quoted = shell_quote(&self.links.to_string_lossy());
            writeln!(
                out,
                "         {folder} is not on your PATH; to add it, here and in ~/.profile: `export PATH={quoted}:\"$PATH\"`"
            )?;
        }
        if let Err(Some(other)) = self.first_on_path(&link) {
            let other = other.display();
            writeln!(
                out,
                "         {COMMAND} starts {other}, which comes first on your PATH: move it away"
            )?;
        }
        Ok(())
    }

    /// Removes the command's link, unless something else is in its place, and says so.
    ///
    /// # Errors
    /// A file system error.
    pub fn unlink_command(&self, out: &mut dyn Write) -> Result<()> {
        let link = self.link();
        let done = if self.has_link() {
            fs::remove_file(&link)
                .with_context(|| format!("could not remove {}", link.display()))?;
            "removed"
        } else if link.is_symlink() || link.exists() {
            "is not ours and stays"
        } else {
            "was not there"
        };
        Ok(writeln!(out, "command  {} {done}", link.display())?)
    }
}

/// The folder of all versions of the plugin that a program belongs to, if the client has it in its
/// cache of plugins from marketplaces: `…/plugins/cache/MARKETPLACE/PLUGIN/VERSION/bin/NAME`.
pub fn cached_plugin(program: &Path) -> Option<&Path> {
    let plugin = program.parent().filter(|bin| bin.ends_with("bin"))?.parent()?.parent()?;
    let cache = plugin.parent()?.parent()?;
    (cache.is_absolute() && cache.ends_with("plugins/cache")).then_some(plugin)
}
