//! The client's own settings: what in them has the client run us.

use serde_json::Value;

use super::words::Simple;
use super::{PROGRAM, programs, switches};

/// The client's switch for all hooks.
pub const HOOKS_OFF: &str = "disableAllHooks";

/// Names of the client's settings files and of its register of plugins.
const FILES: [&str; 6] = [
    "settings.json",
    "settings.local.json",
    "managed-settings.json",
    "installed_plugins.json",
    "known_marketplaces.json",
    ".claude.json",
];

/// Tables whose entries for us make the client run us.
const TABLES: [&str; 5] =
    ["enabledPlugins", "pluginConfigs", "extraKnownMarketplaces", "plugins", "env"];

/// Whether a path is of a file in which the client may be told to run us no more.
/// `config`: the client's folder.
pub fn is_client_settings(path: &str, config: &str) -> bool {
    let Some((folder, file)) = path.rsplit_once('/') else { return false };
    let client = folder.ends_with("/.claude") || folder.ends_with("/claude-code");
    FILES.contains(&file)
        && (client
            || folder == config
            || folder.strip_prefix(config) == Some("/plugins")
            || file == ".claude.json")
}

/// Whether a change of the client's settings changes what it says of us. What can't be
/// read as JSON says what its lines say.
pub fn switched(before: &str, after: &str) -> bool {
    let parsed = |text: &str| match text.trim() {
        "" => Ok(Value::Null),
        text => serde_json::from_str::<Value>(text),
    };
    if let (Ok(before), Ok(after)) = (parsed(before), parsed(after)) {
        return about_us(&before) != about_us(&after);
    }
    let lines = |text: &str| {
        let ours = |l: &&str| [PROGRAM, HOOKS_OFF, "BRAIN_GUARD_"].iter().any(|m| l.contains(m));
        let plain = |l: &str| l.trim().trim_end_matches(',').to_owned();
        text.lines().filter(ours).map(plain).collect::<Vec<_>>()
    };
    lines(before) != lines(after)
}

/// What the settings say of us, to be compared.
fn about_us(settings: &Value) -> Vec<(String, Value)> {
    let off = |key| (settings[key] == true).then(|| (String::from(key), Value::Bool(true)));
    let mut found: Vec<_> = [HOOKS_OFF, "disableAllPlugins"].into_iter().filter_map(off).collect();
    for table in TABLES {
        let entries = settings[table].as_object().into_iter().flatten();
        let ours = entries.filter(|(k, _)| k.contains(PROGRAM) || k.starts_with("BRAIN_GUARD_"));
        found.extend(ours.map(|(k, v)| (format!("{table}.{k}"), v.clone())));
    }
    found
}

/// Whether a shell command names a settings file of the client's and a switch in it.
pub fn in_shell(script: &str, acting: &[&Simple]) -> bool {
    let table = TABLES[..3].iter().any(|t| script.contains(t)) && script.contains(PROGRAM);
    if !(script.contains(HOOKS_OFF) || table || script.contains("BRAIN_GUARD_")) {
        return false;
    }
    acting.iter().any(|c| {
        let code = c.words.first().is_some_and(|w| programs::is_interpreter(programs::name(w)));
        let named = |w: &&String| FILES.iter().any(|f| w.contains(f)) && w.contains("claude");
        let hit = |w: &String| named(&w) && (!code || switches::writes(w));
        // A file that is named relative to where the command went.
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
            assert!(switched(on, after), "{after}");
        }
        for after in [
            on,
            r#"{"enabledPlugins": {"brain-guard@brain-guard": true, "b": true}, "env": {"A": "1"}}"#,
            r#"{"enabledPlugins": {"brain-guard@brain-guard": true},
                "permissions": {"allow": ["Bash(brain-guard append:*)"]}, "disableAllHooks": false}"#,
        ] {
            assert!(!switched(on, after), "{after}");
        }
    }
}
