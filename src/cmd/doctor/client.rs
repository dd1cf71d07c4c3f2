//! Checks the client's own settings for entries that stop our hooks or disable the plugin.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Finding, World};
use crate::cmd::install::client::PLUGIN;
use base::atomic;
use guard::hook::limits::{self, MANAGED};
use guard::policy::limit::Layer;

/// Beginnings of variables that decide which program runs as a hook.
const PROGRAMS: [&str; 3] = ["PATH", "LD_", "DYLD_"];

/// Beginnings of our own variables.
const OURS: [&str; 2] = ["BRAIN_GUARD_", "CLAUDE_PLUGIN_OPTION_"];

struct Set {
    path: PathBuf,
    layer: Layer,
    /// The file's content, or why it cannot be read.
    content: Result<Value, String>,
}

/// Checks the client's settings files.
pub fn look(world: &World) -> Vec<Finding> {
    look_in(&world.config, &world.places.project, Path::new(MANAGED))
}

fn look_in(config: &Path, project: &Path, managed: &Path) -> Vec<Finding> {
    let files = limits::files(config, project, managed).into_iter();
    let sets: Vec<Set> = files.filter_map(|(layer, path)| read(path, layer)).collect();
    let mut found: Vec<Finding> = sets.iter().flat_map(|set| check_file(set, &sets)).collect();
    if found.is_empty() {
        found.push(Finding::ok("switches", "nothing in the client's settings is in the way"));
    }
    found
}

fn read(path: PathBuf, layer: Layer) -> Option<Set> {
    let content = match atomic::read_text(&path) {
        Ok(text) => serde_json::from_str(&text?).map_err(|e| e.to_string()),
        Err(e) => Err(e.to_string()),
    };
    Some(Set { path, layer, content })
}

fn check_file(set: &Set, all: &[Set]) -> Vec<Finding> {
    let shown = set.path.display();
    let by = |way: String| match set.layer {
        Layer::Managed => format!("ask the administrator to: {way}"),
        _ => way,
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
    let managed = set.layer == Layer::Managed;
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
    if matches!(set.layer, Layer::Project | Layer::Local) {
        found.extend(variables(content, &shown.to_string()));
    }
    if let Some(names) = content["strictKnownMarketplaces"].as_array().filter(|_| managed) {
        let seen = format!(
            "strictKnownMarketplaces in {shown} names the only {} sources of plugins; a folder is one if it is listed",
            names.len()
        );
        found.push(Finding::note("switches", seen, by("list this plugin's folder".to_owned())));
    }
    found
}

/// Whether an entry of `enabledPlugins` is this plugin, from any source.
fn is_ours(plugin: &str) -> bool {
    plugin.split('@').next() == PLUGIN.split('@').next()
}

/// Variables that a project adds to the environment of hooks. The client sets them before any hook
/// runs, so the guard cannot refuse them.
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
    let managed = all.iter().filter(|set| set.layer == Layer::Managed);
    managed.filter_map(|set| set.content.as_ref().ok()).any(|c| c["enabledPlugins"][PLUGIN] == true)
}

#[cfg(test)]
mod tests;
