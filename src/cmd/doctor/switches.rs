//! Checks the client's own settings for entries that stop our hooks or disable the plugin.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::Finding;
use crate::cmd::install::client::PLUGIN;
use base::atomic;
use guard::hook::limits::{self, MANAGED};
use guard::policy::limit::Layer;

/// Beginnings of variables that decide which program runs as a hook.
const PROGRAMS: [&str; 3] = ["PATH", "LD_", "DYLD_"];

/// What is in the way in the settings of this client folder and project.
pub fn look(config: &Path, project: &Path) -> Vec<Finding> {
    look_in(config, project, Path::new(MANAGED))
}

/// What in the client's settings switches our hooks off: the last file that says something decides.
pub fn switched_off(config: &Path, project: &Path) -> Option<String> {
    let (sets, _) = read(config, project, Path::new(MANAGED));
    let mut copies = BTreeMap::new();
    for (_, shown, content) in &sets {
        let plugins = content["enabledPlugins"].as_object().into_iter().flatten();
        copies.extend(plugins.filter(|(id, _)| is_ours(id)).map(|(id, on)| (id, (on, shown))));
    }
    let hooks = sets.iter().rev().find(|(.., content)| content["disableAllHooks"].is_boolean());
    if let Some((_, shown, _)) = hooks.filter(|(.., content)| content["disableAllHooks"] == true) {
        return Some(format!("disableAllHooks in {shown} ends every hook of this plugin"));
    }
    let is_off = copies.values().all(|(on, _)| **on == false);
    let (_, shown) = copies.into_values().next_back().filter(|_| is_off)?;
    Some(format!("enabledPlugins in {shown} switches the plugin off"))
}

/// Whether this is the id of a copy of the plugin.
fn is_ours(id: &str) -> bool {
    id.split('@').next() == PLUGIN.split('@').next()
}

/// The client's settings that can be read, the strongest last, and findings about the others.
fn read(
    config: &Path,
    project: &Path,
    managed: &Path,
) -> (Vec<(Layer, String, Value)>, Vec<Finding>) {
    let (mut sets, mut found) = (Vec::new(), Vec::new());
    // In the home folder, the user's file is the project's, too.
    let mut read = BTreeSet::new();
    for (layer, path) in limits::files(config, project, managed) {
        if !read.insert(path.clone()) {
            continue;
        }
        let shown = path.display().to_string();
        let text = atomic::read_text(&path).map_err(|e| e.to_string());
        let parsed = text.and_then(|text| {
            text.map(|text| serde_json::from_str(&text).map_err(|e| e.to_string())).transpose()
        });
        match parsed {
            Ok(content) => sets.extend(content.map(|content: Value| (layer, shown, content))),
            Err(why) => {
                let seen = format!("{shown} can't be read ({why}), so Claude Code ignores it");
                found.push(Finding::note(seen, by(layer, &format!("fix {shown}"))));
            }
        }
    }
    (sets, found)
}

fn look_in(config: &Path, project: &Path, managed: &Path) -> Vec<Finding> {
    let (sets, mut found) = read(config, project, managed);
    let enabled_by_managed = sets.iter().any(|(layer, _, content)| {
        *layer == Layer::Managed && content["enabledPlugins"][PLUGIN] == true
    });
    for (layer, shown, content) in &sets {
        check_file(*layer, shown, content, enabled_by_managed, &mut found);
    }
    if found.is_empty() {
        found.push(Finding::ok("nothing in the client's settings is in the way"));
    }
    found
}

/// Who has to do it.
fn by(layer: Layer, way: &str) -> String {
    if layer == Layer::Managed {
        format!("ask the administrator to: {way}")
    } else {
        way.to_owned()
    }
}

fn check_file(
    layer: Layer,
    shown: &str,
    content: &Value,
    enabled_by_managed: bool,
    found: &mut Vec<Finding>,
) {
    if content["disableAllHooks"] == true {
        let seen = format!("disableAllHooks in {shown} ends every hook of this plugin");
        let way = by(layer, &format!("take disableAllHooks out of {shown}"));
        found.push(Finding::problem(seen, way));
    }
    let managed_only = content["allowManagedHooksOnly"] == true && layer == Layer::Managed;
    if managed_only && !enabled_by_managed {
        let seen = format!("allowManagedHooksOnly in {shown} lets no hook of this plugin run");
        let way = by(layer, &format!("enable {PLUGIN} in the managed enabledPlugins"));
        found.push(Finding::problem(seen, way));
    }
    let plugins = content["enabledPlugins"].as_object().into_iter().flatten();
    for (plugin, _) in plugins.filter(|(id, on)| is_ours(id) && **on == false) {
        let seen = format!("enabledPlugins in {shown} switches the plugin off");
        let way = by(layer, &format!("set \"{plugin}\" to true in {shown}"));
        found.push(Finding::problem(seen, way));
    }
    if !matches!(layer, Layer::Project | Layer::Local) {
        return;
    }
    // The client sets a project's variables before any hook runs, so the guard cannot refuse them.
    let begins = |name: &str, all: &[&str]| all.iter().any(|begin| name.starts_with(begin));
    for (name, _) in content["env"].as_object().into_iter().flatten() {
        let way = format!("take env.{name} out of {shown}, or set it in your own settings");
        if begins(name, &PROGRAMS) {
            let seen = format!("env.{name} in {shown} decides what runs as this plugin's hooks");
            found.push(Finding::problem(seen, way));
        }
    }
}

#[cfg(test)]
mod tests;
