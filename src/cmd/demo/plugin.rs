//! The plugin's folder as the client reads it: which commands handle an event.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde::Deserialize;
use std::collections::BTreeMap;

use base::atomic;

const ROOT: &str = "${CLAUDE_PLUGIN_ROOT}";

/// The client's own timeout for a hook without one, in seconds.
const DEFAULT_TIMEOUT: u64 = 60;

#[derive(Debug)]
pub struct Plugin {
    pub root: PathBuf,
    /// The module's version, from its source.
    pub module: String,
    hooks: BTreeMap<String, Vec<Group>>,
}

/// One command that handles an event, ready to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    pub program: PathBuf,
    pub args: Vec<String>,
    /// Timeout in seconds.
    pub timeout: u64,
    /// The client does not wait for it; it may start a turn.
    pub rewakes: bool,
}

#[derive(Debug, Deserialize)]
struct File {
    #[serde(default)]
    modules: Vec<String>,
    hooks: BTreeMap<String, Vec<Group>>,
}

#[derive(Debug, Deserialize)]
struct Group {
    #[serde(default)]
    matcher: String,
    hooks: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    timeout: Option<u64>,
    #[serde(default, rename = "asyncRewake")]
    rewakes: bool,
}

impl Plugin {
    /// Reads a plugin's folder.
    ///
    /// # Errors
    /// A folder without a plugin, or a plugin without its module.
    pub fn read(root: &Path) -> anyhow::Result<Self> {
        let path = root.join("hooks/hooks.json");
        let text = atomic::read_text(&path)
            .with_context(|| format!("could not read {}", path.display()))?
            .with_context(|| {
                format!(
                    "no plugin in {}: {} is missing; run `brain-guard install`",
                    root.display(),
                    path.display()
                )
            })?;
        let file: File = serde_json::from_str(&text)
            .with_context(|| format!("could not read {}", path.display()))?;
        let Some(module) = file.modules.first() else {
            bail!("{} names no module; run `brain-guard install`", path.display());
        };
        let module = root.join("hooks").join(module);
        let source = atomic::read_text(&module)
            .with_context(|| format!("could not read {}", module.display()))?
            .with_context(|| {
                format!("{} is missing; run `brain-guard install`", module.display())
            })?;
        let version = version(&source).with_context(|| {
            format!("{} says no version; run `brain-guard install`", module.display())
        })?;
        Ok(Self { root: root.to_path_buf(), module: version, hooks: file.hooks })
    }

    /// The program that the module calls.
    pub fn program(&self) -> PathBuf {
        self.root.join("bin/brain-guard")
    }

    /// The commands that handle `event`. Matchers test `subject`: the tool, or why a session starts
    /// or ends.
    pub fn hooks(&self, event: &str, subject: &str) -> Vec<Hook> {
        let groups = self.hooks.get(event).map_or(&[][..], Vec::as_slice);
        let expand = |text: &str| text.replace(ROOT, &self.root.to_string_lossy());
        groups
            .iter()
            .filter(|group| matches(&group.matcher, subject))
            .flat_map(|group| &group.hooks)
            .map(|entry| Hook {
                program: PathBuf::from(expand(&entry.command)),
                args: entry.args.iter().map(|a| expand(a)).collect(),
                timeout: entry.timeout.unwrap_or(DEFAULT_TIMEOUT),
                rewakes: entry.rewakes,
            })
            .collect()
    }
}

fn matches(matcher: &str, subject: &str) -> bool {
    matches!(matcher, "" | "*") || matcher.split('|').any(|name| name == subject)
}

/// The value of `const VERSION = '…'`.
fn version(source: &str) -> Option<String> {
    let (_, behind) = source.split_once("const VERSION = '")?;
    Some(behind.split_once('\'')?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_folder_is_read_as_the_client_does() {
        let plugin = Plugin::read(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert_eq!(plugin.module, env!("CARGO_PKG_VERSION"));
        let startup = plugin.hooks("SessionStart", "startup");
        assert_eq!(startup.len(), 1);
        assert_eq!(
            (startup[0].program.as_path(), startup[0].timeout),
            (plugin.program().as_path(), 5)
        );
        assert_eq!(startup[0].args, ["hook"]);
        let clear = plugin.hooks("SessionStart", "clear");
        assert_eq!(clear.iter().map(|h| h.args.len()).collect::<Vec<_>>(), [1, 3, 3, 2]);
        assert_eq!(clear.iter().filter(|h| h.rewakes).count(), 1);
        assert!(plugin.hooks("NoSuchEvent", "").is_empty());
    }

    #[test]
    fn a_folder_without_a_plugin_names_what_is_missing() {
        let dir = tempfile::tempdir().unwrap();
        let said = Plugin::read(dir.path()).unwrap_err().to_string();
        assert!(said.contains("hooks.json is missing; run `brain-guard install`"), "{said}");
    }
}
