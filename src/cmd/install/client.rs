//! The client's own plugin commands: query and change what it knows about the plugin.
//!
//! We never write the client's settings. We query it first: then a complete installation changes
//! nothing, and a plugin that the user disabled stays disabled.

use std::{
    io,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::COMMAND;
use base::process;

/// Our marketplace: the folder itself.
pub const MARKETPLACE: &str = "brain-guard";
/// The plugin as the client names it.
pub const PLUGIN: &str = "brain-guard@brain-guard";

/// The client answers in under a second; after this time it counts as stuck.
const DEADLINE: Duration = Duration::from_secs(60);

/// The result of registering the plugin.
#[derive(Debug, PartialEq, Eq)]
pub enum Registration {
    /// The client already had this version from this folder.
    Unchanged {
        /// Whether the user has it switched on.
        enabled: bool,
    },
    /// The plugin was registered now.
    Made {
        /// The other folder that the client had our marketplace from.
        elsewhere: Option<PathBuf>,
    },
}

/// The client's program.
#[derive(Debug)]
pub struct Client<'a> {
    program: &'a Path,
}

impl<'a> Client<'a> {
    /// The client that `program` is.
    pub fn new(program: &'a Path) -> Self {
        Self { program }
    }

    /// Makes the client know the plugin in `folder`, and checks that it does.
    ///
    /// # Errors
    /// A client that cannot be run, refuses, or does not list the plugin afterwards.
    pub fn register(&self, folder: &Path) -> Result<Registration> {
        let known = self.marketplace()?;
        let is_known = known.as_deref() == Some(folder);
        let before = self.plugin()?;
        let has_version =
            |plugin: &Plugin| plugin.version.as_deref() == Some(env!("CARGO_PKG_VERSION"));
        if is_known && before.as_ref().is_some_and(has_version) {
            let enabled = before.is_some_and(|plugin| plugin.enabled);
            return Ok(Registration::Unchanged { enabled });
        }

        if !is_known {
            let folder = folder.to_str().with_context(|| {
                format!(
                    "{} is not valid UTF-8, so the client cannot use this path",
                    folder.display()
                )
            })?;
            self.plugin_command(&["marketplace", "add", folder])?;
        }
        match before {
            None => self.plugin_command(&["install", PLUGIN])?,
            Some(plugin) if !has_version(&plugin) => self.plugin_command(&["update", PLUGIN])?,
            Some(_) => String::new(),
        };
        if self.plugin()?.is_none() {
            bail!(
                "{} installed the plugin but does not list it; check `claude plugin list`",
                self.program.display()
            );
        }
        Ok(Registration::Made { elsewhere: known.filter(|_| !is_known) })
    }

    /// Makes the client forget the plugin, and the marketplace if that is `folder`. If the
    /// marketplace is another folder, returns it and changes nothing.
    ///
    /// # Errors
    /// A client that cannot be run or refuses.
    pub fn forget(&self, folder: &Path) -> Result<Option<PathBuf>> {
        match self.marketplace()? {
            Some(known) if known != folder => return Ok(Some(known)),
            known => {
                if self.plugin()?.is_some() {
                    self.plugin_command(&["uninstall", PLUGIN])?;
                }
                if known.is_some() {
                    self.plugin_command(&["marketplace", "remove", MARKETPLACE])?;
                }
            }
        }
        Ok(None)
    }

    /// The folder that the client reads our marketplace from.
    ///
    /// # Errors
    /// A client that cannot be run, refuses, or answers something else.
    pub fn marketplace(&self) -> Result<Option<PathBuf>> {
        let list = self.list(&["marketplace", "list", "--json"])?;
        let ours = list.iter().find(|entry| entry["name"] == MARKETPLACE);
        // A marketplace that is not a folder has no path of its own.
        let path = ours.map(|entry| {
            let path = ["path", "installLocation"].into_iter().find_map(|key| entry[key].as_str());
            path.unwrap_or_default()
        });
        Ok(path.map(PathBuf::from))
    }

    /// The client's entry for the installed plugin.
    ///
    /// # Errors
    /// As [`Self::marketplace`].
    pub fn plugin(&self) -> Result<Option<Plugin>> {
        Ok(self.copies()?.into_iter().find(Plugin::is_installed))
    }

    /// The client's entries for the plugin, from any marketplace.
    ///
    /// # Errors
    /// As [`Self::marketplace`].
    pub fn copies(&self) -> Result<Vec<Plugin>> {
        let list = self.list(&["list", "--json"])?;
        let ours = list.iter().filter_map(|entry| {
            let id = entry["id"].as_str().filter(|id| id.split('@').next() == Some(COMMAND))?;
            Some(Plugin {
                id: id.to_owned(),
                version: entry["version"].as_str().map(str::to_owned),
                enabled: entry["enabled"] == true,
                // The client reads a plugin of a folder marketplace in place.
                folder: ["readFromFolder", "installPath"]
                    .into_iter()
                    .find_map(|key| entry[key].as_str())
                    .map(PathBuf::from),
            })
        });
        Ok(ours.collect())
    }

    fn list(&self, arguments: &[&str]) -> Result<Vec<Value>> {
        let text = self.plugin_command(arguments)?;
        serde_json::from_str(&text).with_context(|| {
            format!("`claude plugin {}` did not answer with a list", arguments.join(" "))
        })
    }

    /// Runs `claude plugin …` and returns its output.
    fn plugin_command(&self, arguments: &[&str]) -> Result<String> {
        let shown = format!("claude plugin {}", arguments.join(" "));
        let output = self
            .output(arguments)
            .with_context(|| format!("could not run `{shown}` ({})", self.program.display()))?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            bail!("`{shown}` failed: {}", why.trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn output(&self, arguments: &[&str]) -> io::Result<Output> {
        let mut command = Command::new(self.program);
        process::output(command.arg("plugin").args(arguments), DEADLINE)
    }

    /// The client's version, as it prints it.
    ///
    /// # Errors
    /// A client that cannot be run or fails.
    pub fn version(&self) -> Result<String> {
        let output = process::output(Command::new(self.program).arg("--version"), DEADLINE)?;
        if !output.status.success() {
            bail!("`claude --version` ended with {}", output.status);
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

/// A copy of our plugin as the client lists it.
#[derive(Debug)]
pub struct Plugin {
    /// The plugin's name, `@`, and its marketplace.
    pub id: String,
    /// Its version.
    pub version: Option<String>,
    /// Whether the user has it switched on.
    pub enabled: bool,
    /// The folder that the client reads it from.
    pub folder: Option<PathBuf>,
}

impl Plugin {
    /// Whether it comes from the marketplace that `install` makes.
    pub fn is_installed(&self) -> bool {
        self.id == PLUGIN
    }
}
