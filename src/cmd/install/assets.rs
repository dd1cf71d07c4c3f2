//! The plugin's files, embedded in the binary: an installed binary can install itself again without
//! a source tree.

use std::sync::LazyLock;

use guard::texts::Text;

/// One file of the plugin: its path in the plugin's folder, and its bytes.
pub type Asset = (String, &'static [u8]);

macro_rules! files {
    ($($path:literal),+ $(,)?) => {
        [$(($path, include_bytes!(concat!("../../../", $path)).as_slice())),+]
    };
}

/// Every file of the plugin except the binary.
pub static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let files = files![
        ".claude-plugin/icon.png",
        ".claude-plugin/marketplace.json",
        ".claude-plugin/plugin.json",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "commands/doctor.md",
        "commands/explain.md",
        "commands/extract.md",
        "commands/job.md",
        "commands/later.md",
        "commands/notes.md",
        "commands/now.md",
        "commands/override.md",
        "commands/report.md",
        "commands/resume.md",
        "commands/seal.md",
        "commands/setup.md",
        "commands/slim.md",
        "commands/status.md",
        "commands/undo.md",
        "commands/view.md",
        "hooks/brain-guard.tsx",
        "hooks/hooks.json",
        "skills/brain-guard/SKILL.md",
        "skills/extraction/SKILL.md",
        "templates/settings.schema.json",
    ];
    let texts = Text::ALL.iter().map(|text| (text.file(), text.built_in().as_bytes()));
    let texts = texts.map(|(name, bytes)| (format!("templates/{name}"), bytes));
    files.map(|(path, bytes)| (path.to_owned(), bytes)).into_iter().chain(texts).collect()
});

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    #[test]
    fn every_file_of_the_plugin_is_carried() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut found = Vec::new();
        for folder in [
            ".claude-plugin",
            "commands",
            "hooks",
            "skills/brain-guard",
            "skills/extraction",
            "templates",
        ] {
            for entry in fs::read_dir(root.join(folder)).into_iter().flatten() {
                let entry = entry.expect("entry");
                // The client writes its declarations next to a plugin that it loads from a source
                // tree.
                let name = entry.file_name().into_string().expect("utf-8");
                if entry.path().is_file() && name != "tsconfig.json" {
                    found.push(format!("{folder}/{name}"));
                }
            }
        }
        // The client's own check of a plugin's folder requires these.
        found.extend(["LICENSE-APACHE", "LICENSE-MIT", "README.md"].map(str::to_owned));
        found.sort();
        let mut carried: Vec<_> = ASSETS.iter().map(|(path, _)| path.clone()).collect();
        carried.sort();
        assert_eq!(carried, found, "list the new file in ASSETS");
    }

    #[test]
    fn manifest_mod_and_binary_have_one_version() {
        let text = |path: &str| {
            let bytes = ASSETS.iter().find(|(p, _)| p == path).expect("listed").1;
            std::str::from_utf8(bytes).expect("text")
        };
        let manifest: serde_json::Value =
            serde_json::from_str(text(".claude-plugin/plugin.json")).expect("JSON");
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
        let line = format!("const VERSION = '{}'\n", env!("CARGO_PKG_VERSION"));
        assert!(text("hooks/brain-guard.tsx").contains(&line));
    }

    #[test]
    fn the_oldest_client_knows_every_event() {
        let text = |path: &str| {
            let bytes = ASSETS.iter().find(|(p, _)| p == path).expect("listed").1;
            std::str::from_utf8(bytes).expect("text")
        };
        let hooks: serde_json::Value =
            serde_json::from_str(text("hooks/hooks.json")).expect("JSON");
        // Of client 2.1.286. It drops the whole file for one that it does not know.
        let known = [
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "PostToolBatch",
            "UserPromptSubmit",
            "UserPromptExpansion",
            "SessionStart",
            "SessionEnd",
            "Stop",
            "StopFailure",
            "PermissionRequest",
            "Notification",
            "PreCompact",
            "PostModelSwitch",
        ];
        for event in hooks["hooks"].as_object().expect("object").keys() {
            assert!(known.contains(&event.as_str()), "{event} is unknown there");
        }
    }
}
