//! The client's own settings: the entries that make the client run us.

use serde_json::Value;

use super::{PROGRAM, programs, switches};
use crate::policy::shell::SimpleCommand;

/// Client switches that also turn us off, and the prefixes of our variables.
pub const SWITCHES: [&str; 4] =
    ["disableAllHooks", "disableAllPlugins", VARIABLES[0], VARIABLES[1]];

const VARIABLES: [&str; 2] = ["BRAIN_GUARD_", "CLAUDE_PLUGIN_OPTION_"];

/// Names of the client's settings files and plugin registries.
const FILES: [&str; 6] = [
    "settings.json",
    "settings.local.json",
    "managed-settings.json",
    "installed_plugins.json",
    "known_marketplaces.json",
    ".claude.json",
];

/// Tables with entries that make the client run us.
const TABLES: [&str; 5] =
    ["enabledPlugins", "pluginConfigs", "extraKnownMarketplaces", "plugins", "env"];

/// Whether a file can stop the client from running us. `config` is the client's folder.
pub fn is_client_settings(path: &str, config: &str) -> bool {
    let Some((folder, file)) = path.rsplit_once('/') else { return false };
    let client = folder.ends_with("/.claude") || folder.ends_with("/claude-code");
    FILES.contains(&file)
        && (client
            || folder == config
            || folder.strip_prefix(config) == Some("/plugins")
            || file == ".claude.json")
}

/// Whether a change of the client's settings changes an entry about us. Text that is not valid
/// JSON is compared by its lines.
pub fn changes_our_entries(before: &str, after: &str) -> bool {
    let parsed = |text: &str| match text.trim() {
        "" => Ok(Value::Null),
        text => serde_json::from_str::<Value>(text),
    };
    if let (Ok(before), Ok(after)) = (parsed(before), parsed(after)) {
        return about_us(&before) != about_us(&after);
    }
    let lines = |text: &str| {
        let ours = |l: &&str| names_switch(l);
        let plain = |l: &str| l.trim().trim_end_matches(',').to_owned();
        text.lines().filter(ours).map(plain).collect::<Vec<_>>()
    };
    lines(before) != lines(after)
}

/// The entries about us, for comparison.
fn about_us(settings: &Value) -> Vec<(String, Value)> {
    let off = |key| (settings[key] == true).then(|| (String::from(key), Value::Bool(true)));
    let mut found: Vec<_> = SWITCHES[..2].iter().copied().filter_map(off).collect();
    for table in TABLES {
        let entries = settings[table].as_object().into_iter().flatten();
        let variable = |key: &str| VARIABLES.iter().any(|v| key.starts_with(v));
        let ours = entries.filter(|(k, _)| k.contains(PROGRAM) || variable(k));
        found.extend(ours.map(|(k, v)| (format!("{table}.{k}"), v.clone())));
    }
    found
}

/// Whether a text names us or a switch that turns us off. A permission for one of our verbs does
/// not count.
pub fn names_switch(text: &str) -> bool {
    let permission = |at: usize| text[..at].ends_with("Bash(");
    SWITCHES.iter().any(|switch| text.contains(switch))
        || text.match_indices(PROGRAM).any(|(at, _)| !permission(at))
}

/// Whether a shell command changes one of the client's settings files and names a switch.
pub fn in_shell(script: &str, acting: &[&SimpleCommand]) -> bool {
    let arguments = |c: &&SimpleCommand| {
        c.words.iter().skip(1).chain(&c.writes).chain(&c.input).any(|w| names_switch(w))
            || c.words.first().is_some_and(|w| programs::assigns(w) && names_switch(w))
    };
    if !names_switch(script) || !acting.iter().any(arguments) {
        return false;
    }
    acting.iter().any(|c| {
        let code = c.words.first().is_some_and(|w| programs::is_interpreter(programs::name(w)));
        let named = |w: &&String| FILES.iter().any(|f| w.contains(f)) && w.contains("claude");
        let hit = |w: &String| named(&w) && (!code || switches::writes(w));
        // A file named relative to the folder that the command changed to.
        let here = |w: &String| FILES.contains(&w.as_str()) && script.contains(".claude");
        c.words.iter().chain(&c.writes).any(|w| hit(w) || here(w))
            || (code && c.input.iter().any(hit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_files() {
        for path in [
            "/home/u/.claude/settings.json",
            "/p/.claude/settings.local.json",
            "/c/plugins/installed_plugins.json",
            "/c/settings.json",
        ] {
            assert!(is_client_settings(path, "/c"), "{path}");
        }
        for path in ["/p/settings.json", "/p/.vscode/settings.json", "/c/x/settings.json"] {
            assert!(!is_client_settings(path, "/c"), "{path}");
        }
    }

    #[test]
    fn what_is_said_of_us() {
        let on = r#"{"enabledPlugins": {"brain-guard@brain-guard": true}, "theme": "dark"}"#;
        for after in [
            r#"{"enabledPlugins": {"brain-guard@brain-guard": false}}"#,
            r#"{"enabledPlugins": {}}"#,
            "{}",
            "",
            r#"{"enabledPlugins": {"brain-guard@brain-guard": true}, "disableAllHooks": true}"#,
            r#"{"enabledPlugins": {"brain-guard@brain-guard": true}, "env": {"BRAIN_GUARD_X": "1"}}"#,
            r#"{"enabledPlugins": {"#,
        ] {
            assert!(changes_our_entries(on, after), "{after}");
        }
        for after in [
            on,
            r#"{"enabledPlugins": {"brain-guard@brain-guard": true, "b": true}, "env": {"A": "1"}}"#,
            r#"{"enabledPlugins": {"brain-guard@brain-guard": true},
                "permissions": {"allow": ["Bash(brain-guard append:*)"]}, "disableAllHooks": false}"#,
        ] {
            assert!(!changes_our_entries(on, after), "{after}");
        }
    }
}
