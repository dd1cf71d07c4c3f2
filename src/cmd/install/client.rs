//! The client's own plugin commands: what it knows of us, and telling it.
//!
//! Its settings are never written by us. It is asked first, so that an
//! installation which is in place costs it nothing, and a plugin that the user
//! disabled stays disabled.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Our marketplace: the folder itself.
pub const MARKETPLACE: &str = "brain-guard";
/// The plugin as the client names it.
pub const PLUGIN: &str = "brain-guard@brain-guard";

/// The client answers these in under a second; past this it counts as stuck.
const DEADLINE: Duration = Duration::from_secs(60);

/// What registering came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Registration {
    /// The client had the plugin from this folder, in this version.
    Unchanged {
        /// Whether the user has it switched on.
        enabled: bool,
    },
    /// The client was told.
    Made {
        /// The other folder it had our marketplace from.
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

    /// Has the client know the plugin in `folder`, and checks that it does.
    ///
    /// # Errors
    /// A client that can't be run, refuses, or does not list the plugin afterwards.
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
                format!("{} is not valid UTF-8: the client can't be told of it", folder.display())
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
                "{} took the plugin but does not list it: look at `claude plugin list`",
                self.program.display()
            );
        }
        Ok(Registration::Made { elsewhere: known.filter(|_| !is_known) })
    }

    /// Has the client forget the plugin, and the marketplace if it is the one in `folder`.
    /// Gives the other folder the marketplace is read from, where it stays.
    ///
    /// # Errors
    /// A client that can't be run or refuses.
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

    /// The folder that the client has our marketplace from.
    fn marketplace(&self) -> Result<Option<PathBuf>> {
        let list = self.list(&["marketplace", "list", "--json"])?;
        let ours = list.iter().find(|entry| entry["name"] == MARKETPLACE);
        let path = ours.map(|entry| entry["path"].as_str().unwrap_or_default());
        Ok(path.map(PathBuf::from))
    }

    /// What the client says of our plugin.
    fn plugin(&self) -> Result<Option<Plugin>> {
        let list = self.list(&["list", "--json"])?;
        Ok(list.iter().find(|entry| entry["id"] == PLUGIN).map(|entry| Plugin {
            version: entry["version"].as_str().map(str::to_owned),
            enabled: entry["enabled"] == true,
        }))
    }

    fn list(&self, arguments: &[&str]) -> Result<Vec<Value>> {
        let text = self.plugin_command(arguments)?;
        serde_json::from_str(&text).with_context(|| {
            format!("`claude plugin {}` did not answer with a list", arguments.join(" "))
        })
    }

    /// Runs `claude plugin …` and gives what it printed.
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

    fn output(&self, arguments: &[&str]) -> Result<Output> {
        let child = Command::new(self.program)
            .arg("plugin")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let (sender, receiver) = mpsc::channel();
        // The receiver may have given up: then nobody wants the output.
        thread::spawn(move || drop(sender.send(child.wait_with_output())));
        if let Ok(output) = receiver.recv_timeout(DEADLINE) {
            return Ok(output?);
        }
        if let Some(pid) = pid {
            // It may have ended by itself in this moment.
            let _ = kill_process(pid, Signal::KILL);
        }
        bail!("no answer within {} s", DEADLINE.as_secs())
    }
}

struct Plugin {
    version: Option<String>,
    enabled: bool,
}
