//! The client's own plugin commands: query and change what it knows about the plugin.
//!
//! We never write the client's settings. We query it first: then a complete installation changes
//! nothing, and a plugin that the user disabled stays disabled.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::{COMMAND, word};
use base::atomic;
use base::process;

/// Our marketplace: the folder itself.
pub const MARKETPLACE: &str = "brain-guard";
/// The plugin as the client names it.
pub const PLUGIN: &str = "brain-guard@brain-guard";

/// What is said where there is no client.
pub const NOT_FOUND: &str = "no `claude` found (looked on PATH, in ~/.local/bin and ~/.claude/local, and where npm, nvm, Volta, Bun, pnpm and Homebrew put it)";

/// Folders in the user's home that installers of the client put it into.
const IN_HOME: [&str; 9] = [
    ".local/bin",
    ".npm-global/bin",
    ".npm-packages/bin",
    ".npm/bin",
    ".volta/bin",
    ".bun/bin",
    ".local/share/pnpm",
    "Library/pnpm",
    "node_modules/.bin",
];

/// Folders of the system that may be missing on a `PATH`.
const IN_SYSTEM: [&str; 3] =
    ["/usr/local/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin"];

/// Finds the client's program: on `PATH`, else where its installers put it.
pub fn find(on_path: &[PathBuf], home: &Path, config: &Path) -> Option<PathBuf> {
    let nvm = home.join(".nvm/versions/node");
    // The newest version of node last.
    let mut nodes: Vec<PathBuf> =
        fs::read_dir(nvm).into_iter().flatten().flatten().map(|node| node.path()).collect();
    nodes.sort();
    let folders = on_path
        .iter()
        .cloned()
        .chain(IN_HOME.iter().map(|folder| home.join(folder)))
        .chain([config.join("local")])
        .chain(npm_prefix(home).map(|prefix| prefix.join("bin")))
        .chain(nodes.into_iter().rev().map(|node| node.join("bin")))
        .chain(IN_SYSTEM.map(PathBuf::from));
    folders.map(|folder| folder.join("claude")).find(|path| process::is_program(path))
}

/// Where the user's npm installs programs, by its settings.
fn npm_prefix(home: &Path) -> Option<PathBuf> {
    let text = atomic::read_start(&home.join(".npmrc"), 64 * 1024).ok()??;
    let mut set = text.lines().rev().filter_map(|line| line.split_once('='));
    let (_, value) = set.find(|(key, _)| key.trim() == "prefix")?;
    let value = value.trim().trim_matches('"');
    let below = ["~/", "${HOME}/"].iter().find_map(|start| value.strip_prefix(start));
    Some(below.map_or_else(|| PathBuf::from(value), |below| home.join(below)))
}

/// What came of registering the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registration {
    /// The client loads it.
    Ready,
    /// The user has it switched off in the client.
    Disabled,
    /// There is no client.
    NoClient,
    /// The client did not take it.
    Failed(String),
}

impl Registration {
    /// The sentence that an installation ends with. `client` and `command` are what the user types.
    pub fn sentence(&self, client: &str, command: &str) -> String {
        match self {
            Self::Ready => format!(
                "ready: start `{client}` in a project; a strip above the prompt shows that it works"
            ),
            Self::Disabled => format!(
                "installed, but you have it disabled in Claude Code; to enable it: `{client} plugin enable {PLUGIN}`"
            ),
            Self::NoClient => format!(
                "installed, but not registered: {NOT_FOUND}; install Claude Code, then run `{command} install` again"
            ),
            Self::Failed(why) => format!(
                "installed, but registering it failed: {why}; when that is solved, run `{command} install` again"
            ),
        }
    }
}

/// The client answers in about a second; after this time it counts as stuck.
const DEADLINE: Duration = Duration::from_secs(20);

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

    /// Makes the client know the plugin in `folder`, and checks that it does. Returns what came of
    /// it, and the same in words.
    ///
    /// # Errors
    /// A client that cannot be run, refuses, or does not list the plugin afterwards.
    pub fn register(&self, folder: &Path) -> Result<(Registration, String)> {
        let known = self.marketplace()?;
        let before = self.plugin()?;
        let has_version =
            |plugin: &Plugin| plugin.version.as_deref() == Some(env!("CARGO_PKG_VERSION"));
        let is_known = known.as_deref() == Some(folder);
        let is_current = before.as_ref().is_some_and(has_version);
        if !is_known {
            let why = "is not valid UTF-8, so the client cannot use this path";
            let path = folder.to_str().with_context(|| format!("{} {why}", folder.display()))?;
            self.plugin_command(&["marketplace", "add", path])?;
        }
        if !is_current {
            let verb = if before.is_some() { "update" } else { "install" };
            self.plugin_command(&[verb, PLUGIN])?;
        }
        let is_changed = !is_known || !is_current;
        let after = if is_changed { self.plugin()? } else { before };
        let Some(plugin) = after else {
            let program = self.program.display();
            bail!(
                "{program} installed the plugin but does not list it; check `claude plugin list`"
            );
        };
        let now = if is_changed { ", from the next session or /reload-plugins on" } else { "" };
        let known = known.filter(|_| !is_known);
        let before = known.map(|known| format!(", until now from {}", known.display()));
        let enable = format!("; it is disabled: `claude plugin enable {PLUGIN}`");
        let registration = match plugin.error.clone() {
            Some(why) => Registration::Failed(format!("Claude Code does not load it: {why}")),
            None if plugin.enabled => Registration::Ready,
            None => Registration::Disabled,
        };
        let words = format!(
            "reads it from {} ({}){now}{}{}",
            folder.display(),
            word(is_changed),
            before.unwrap_or_default(),
            if plugin.enabled { "" } else { &enable },
        );
        Ok((registration, words))
    }

    /// Makes the client forget the plugin, and the marketplace if that is `folder`. If the
    /// marketplace is another folder, returns it and changes nothing.
    ///
    /// # Errors
    /// A client that cannot be run or refuses.
    pub fn forget(&self, folder: &Path) -> Result<Option<PathBuf>> {
        let known = self.marketplace()?;
        if known.as_deref().is_some_and(|known| known != folder) {
            return Ok(known);
        }
        if self.plugin()?.is_some() {
            self.plugin_command(&["uninstall", PLUGIN])?;
        }
        if known.is_some() {
            self.plugin_command(&["marketplace", "remove", MARKETPLACE])?;
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
        Ok(ours.map(|entry| path_of(entry, ["path", "installLocation"]).unwrap_or_default()))
    }

    fn plugin(&self) -> Result<Option<Plugin>> {
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
                error: entry["errors"][0].as_str().map(str::to_owned),
                // The client reads a plugin of a folder marketplace in place.
                folder: path_of(entry, ["readFromFolder", "installPath"]),
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

    fn plugin_command(&self, arguments: &[&str]) -> Result<String> {
        self.answer(&[&["plugin"], arguments].concat())
    }

    /// The client's version, as it prints it.
    ///
    /// # Errors
    /// A client that cannot be run or fails.
    pub fn version(&self) -> Result<String> {
        Ok(self.answer(&["--version"])?.trim().to_owned())
    }

    /// Runs `claude …` and returns its output.
    fn answer(&self, arguments: &[&str]) -> Result<String> {
        let shown = format!("claude {}", arguments.join(" "));
        // A client of npm's is a script for the node beside it.
        let beside = self.program.parent().unwrap_or(self.program).to_path_buf();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([beside].into_iter().chain(std::env::split_paths(&path)))?;
        let mut command = Command::new(self.program);
        let output = process::output(command.args(arguments).env("PATH", path), DEADLINE)
            .with_context(|| format!("could not run `{shown}` ({})", self.program.display()))?;
        let why = String::from_utf8_lossy(&output.stderr);
        let why = if why.trim().is_empty() { String::new() } else { format!(": {}", why.trim()) };
        ensure!(output.status.success(), "`{shown}` failed: {}{why}", output.status);
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

fn path_of(entry: &Value, keys: [&str; 2]) -> Option<PathBuf> {
    keys.into_iter().find_map(|key| entry[key].as_str()).map(PathBuf::from)
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
    /// Why the client does not load it.
    pub error: Option<String>,
    /// The folder that the client reads it from.
    pub folder: Option<PathBuf>,
}

/// Why the client ignores the user's settings, and with them that the plugin is on.
pub fn unusable_settings(config: &Path) -> Option<String> {
    let path = config.join("settings.json");
    let shown = path.display();
    let text = fs::read_to_string(&path).ok()?;
    match serde_json::from_str::<Value>(&text) {
        Err(why) => Some(format!("{shown} is not JSON ({why}), so Claude Code ignores it")),
        Ok(all)
            if !all.is_object() || all.get("enabledPlugins").is_some_and(|of| !of.is_object()) =>
        {
            Some(format!("{shown} is not as Claude Code writes it, so it switches no plugin on"))
        }
        Ok(_) => None,
    }
}

impl Plugin {
    /// Whether it comes from the marketplace that `install` makes.
    pub fn is_installed(&self) -> bool {
        self.id == PLUGIN
    }
}
