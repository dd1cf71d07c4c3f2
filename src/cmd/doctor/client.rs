//! The client's own settings: what in them ends our hooks, switches the plugin off, or
//! moves its compaction.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Finding, World};
use crate::cmd::install::client::PLUGIN;
use crate::store::atomic;

/// Where an administrator's settings lie (seen in client 2.1.329, Linux).
const MANAGED: &str = "/etc/claude-code";

/// Variables that move the client's compaction, which its settings may set as well.
const COMPACTION: [&str; 4] = [
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE",
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
    "DISABLE_AUTO_COMPACT",
    "DISABLE_COMPACT",
];

/// Variables that decide what runs as a hook, by their beginnings.
const PROGRAMS: [&str; 3] = ["PATH", "LD_", "DYLD_"];

/// Variables of ours, by their beginnings.
const OURS: [&str; 2] = ["BRAIN_GUARD_", "CLAUDE_PLUGIN_OPTION_"];

/// Whose word a settings file is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// The user's.
    Own,
    /// The project's: it comes with a checkout, or an agent wrote it.
    Project,
    /// An administrator's: it outranks the others, and the user can't change it.
    Managed,
}

struct Set {
    path: PathBuf,
    whose: Whose,
    /// The file's content, or why it is none.
    content: Result<Value, String>,
}

/// The client's settings files, and what they do to us.
pub fn look(world: &World) -> Vec<Finding> {
    let project = world.places.project.join(".claude");
    look_in(&world.config, &project, Path::new(MANAGED))
}

fn look_in(config: &Path, project: &Path, managed: &Path) -> Vec<Finding> {
    let mut paths = vec![
        (config.join("settings.json"), Whose::Own),
        (project.join("settings.json"), Whose::Project),
        (project.join("settings.local.json"), Whose::Project),
        (config.join("remote-settings.json"), Whose::Managed),
        (managed.join("managed-settings.json"), Whose::Managed),
    ];
    let more = fs::read_dir(managed.join("managed-settings.d")).into_iter().flatten().flatten();
    let mut more: Vec<_> = more.map(|entry| (entry.path(), Whose::Managed)).collect();
    more.sort_by(|a, b| a.0.cmp(&b.0));
    paths.extend(more);
    let sets: Vec<Set> = paths.into_iter().filter_map(|(path, whose)| read(path, whose)).collect();
    let mut found: Vec<Finding> = sets.iter().flat_map(|set| one(set, &sets)).collect();
    found.extend(global(config));
    if found.is_empty() {
        found.push(Finding::ok("switches", "nothing in the client's settings is in the way"));
    }
    found
}

fn read(path: PathBuf, whose: Whose) -> Option<Set> {
    let content = match atomic::read_text(&path) {
        Ok(text) => serde_json::from_str(&text?).map_err(|e| e.to_string()),
        Err(e) => Err(e.to_string()),
    };
    Some(Set { path, whose, content })
}

fn one(set: &Set, all: &[Set]) -> Vec<Finding> {
    let shown = set.path.display();
    let by = |way: String| match set.whose {
        Whose::Own | Whose::Project => way,
        Whose::Managed => format!("ask the administrator to: {way}"),
    };
    let content = match &set.content {
        Ok(content) => content,
        Err(why) => {
            let seen = format!("{shown} can't be read ({why}), so the client goes without it");
            return vec![Finding::note("switches", seen, by(format!("mend {shown}")))];
        }
    };
    let mut found = Vec::new();
    if content["disableAllHooks"] == true {
        let seen = format!("disableAllHooks in {shown} ends every hook of this plugin");
        let way = by(format!("take disableAllHooks out of {shown}"));
        found.push(Finding::problem("switches", seen, way));
    }
    let managed = set.whose == Whose::Managed;
    if managed && content["allowManagedHooksOnly"] == true && !enabled_by_managed(all) {
        let seen = format!("allowManagedHooksOnly in {shown} lets no hook of this plugin run");
        let way = by(format!("enable {PLUGIN} in the managed enabledPlugins"));
        found.push(Finding::problem("switches", seen, way));
    }
    let plugins = content["enabledPlugins"].as_object().into_iter().flatten();
    for (plugin, _) in plugins.filter(|(plugin, on)| is_ours(plugin) && **on == false) {
        let seen = format!("enabledPlugins in {shown} switches the plugin off");
        let way = by(format!("take \"{plugin}\": false out of {shown}"));
        found.push(Finding::problem("switches", seen, way));
    }
    if set.whose == Whose::Project {
        found.extend(variables(content, &shown.to_string()));
    }
    if let Some(names) = content["strictKnownMarketplaces"].as_array().filter(|_| managed) {
        let seen = format!(
            "strictKnownMarketplaces in {shown} names the only {} sources of plugins; a folder is one if it is listed",
            names.len()
        );
        found.push(Finding::note("switches", seen, by("list this plugin's folder".to_owned())));
    }
    found.extend(compaction(content, &shown.to_string(), &by));
    found
}

/// Whether an entry of `enabledPlugins` is this plugin's, from whatever source.
fn is_ours(plugin: &str) -> bool {
    plugin.split('@').next() == PLUGIN.split('@').next()
}

/// What a project puts into the environment of hooks. The client does so before any hook
/// runs, so nothing of ours can refuse it.
fn variables(content: &Value, shown: &str) -> Vec<Finding> {
    let begins = |name: &str, all: &[&str]| all.iter().any(|begin| name.starts_with(begin));
    let names = content["env"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let finding = |name: &str| {
        let way = format!("take env.{name} out of {shown}, or set it in your own settings");
        if begins(name, &PROGRAMS) {
            let seen = format!("env.{name} in {shown} decides what runs as this plugin's hooks");
            return Some(Finding::problem("switches", seen, way));
        }
        let seen = format!("env.{name} in {shown} comes with the project: it may only tighten");
        begins(name, &OURS).then(|| Finding::note("switches", seen, way))
    };
    names.filter_map(finding).collect()
}

fn enabled_by_managed(all: &[Set]) -> bool {
    let managed = all.iter().filter(|set| set.whose == Whose::Managed);
    managed.filter_map(|set| set.content.as_ref().ok()).any(|c| c["enabledPlugins"][PLUGIN] == true)
}

fn compaction(content: &Value, shown: &str, by: &dyn Fn(String) -> String) -> Vec<Finding> {
    let mut found = Vec::new();
    if content["autoCompactEnabled"] == false {
        found.push(off(shown));
    }
    for name in COMPACTION.into_iter().filter(|name| !content["env"][*name].is_null()) {
        let seen = format!(
            "env.{name} in {shown} moves the client's compaction: {}",
            content["env"][name]
        );
        found.push(Finding::note(
            "compaction",
            seen,
            by(format!("take env.{name} out of {shown}")),
        ));
    }
    found
}

fn off(shown: &str) -> Finding {
    let seen = format!(
        "autoCompactEnabled in {shown} is off: nothing catches a session that outruns its last tier, and the tiers still count to the threshold"
    );
    let way = "switch auto-compact on in /config, or set DISABLE_AUTO_COMPACT=1, which moves the tiers to the window";
    Finding::note("compaction", seen, way)
}

/// What `/config` of older clients writes: beside the config folder, in it where the
/// variable names one.
fn global(config: &Path) -> Option<Finding> {
    let home = config.parent()?;
    let path = [config.join(".claude.json"), home.join(".claude.json")];
    let path = path.into_iter().find(|path| path.is_file())?;
    let content: Value = serde_json::from_str(&atomic::read_text(&path).ok()??).ok()?;
    (content["autoCompactEnabled"] == false).then(|| off(&path.display().to_string()))
}

#[cfg(test)]
mod tests;
