//! The plugin's files, embedded in the binary: an installed binary can install itself again without
//! a source tree.

/// One file of the plugin: its path in the plugin's folder, and its bytes.
pub type Asset = (&'static str, &'static [u8]);

macro_rules! assets {
    ($($path:literal),+ $(,)?) => {
        &[$(($path, include_bytes!(concat!("../../../", $path)).as_slice())),+]
    };
}

/// Every file of the plugin except the binary.
pub const ASSETS: &[Asset] = assets![
    ".claude-plugin/icon.png",
    ".claude-plugin/marketplace.json",
    ".claude-plugin/plugin.json",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "commands/doctor.md",
    "commands/edit.md",
    "commands/explain.md",
    "commands/extract.md",
    "commands/job.md",
    "commands/later.md",
    "commands/now.md",
    "commands/override.md",
    "commands/report.md",
    "commands/resume.md",
    "commands/seal.md",
    "commands/setup.md",
    "commands/slim.md",
    "commands/status.md",
    "commands/undo.md",
    "docs/architecture.md",
    "docs/benchmarks.md",
    "docs/carrier-screen.sh",
    "docs/carriers.md",
    "docs/commands.md",
    "docs/customising.md",
    "docs/extraction.md",
    "docs/files.md",
    "docs/getting-started.md",
    "docs/jobs.md",
    "docs/live.md",
    "docs/ramps.svg",
    "docs/security.md",
    "docs/session.svg",
    "docs/settings.md",
    "docs/surgery.md",
    "docs/tools.md",
    "hooks/brain-guard.tsx",
    "hooks/hooks.json",
    "hooks/model-switch.json",
    "skills/brain-guard/SKILL.md",
    "skills/extraction/SKILL.md",
    "templates/capped-output.md",
    "templates/compaction.md",
    "templates/continue.md",
    "templates/deny-again.md",
    "templates/deny-completed.md",
    "templates/deny-focused.md",
    "templates/deny-main-loop.md",
    "templates/deny-near-miss.md",
    "templates/deny-operator.md",
    "templates/deny-question.md",
    "templates/deny-sealed.md",
    "templates/deny-tier.md",
    "templates/form.md",
    "templates/go-on-completed.md",
    "templates/go-on-focused.md",
    "templates/go-on.md",
    "templates/holds.md",
    "templates/kickoff-focus.md",
    "templates/kickoff-transition.md",
    "templates/kickoff.md",
    "templates/next-completed.md",
    "templates/next-focused.md",
    "templates/next-new.md",
    "templates/next-notes.md",
    "templates/next-open.md",
    "templates/not-held.md",
    "templates/note-again.md",
    "templates/note-blocking.md",
    "templates/note-capped.md",
    "templates/note-coach.md",
    "templates/note-narrow.md",
    "templates/notes-from-repository.md",
    "templates/notes-missing.md",
    "templates/notes-own.md",
    "templates/offer.md",
    "templates/paste-line.md",
    "templates/piece.md",
    "templates/reground-carried.md",
    "templates/reground-cleared.md",
    "templates/reground-compacted.md",
    "templates/reground-completed.md",
    "templates/reground-focused.md",
    "templates/reground-phase.md",
    "templates/reread.md",
    "templates/settings.schema.json",
    "templates/slimmed.md",
    "templates/stop-unsealed.md",
    "templates/surgery-index.md",
    "templates/surgery-merge.md",
    "templates/user-capped.md",
    "templates/user-notice.md",
    "templates/user-offer.md",
    "templates/user-stance.md",
    "templates/user-type-clear.md",
    "templates/user-unknown.md",
    "templates/user-unsealed.md",
    "templates/wake.md",
];

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
            "docs",
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
        let carried: Vec<_> = ASSETS.iter().map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(carried, found, "list the new file in ASSETS, in order");
    }

    #[test]
    fn manifest_mod_and_binary_have_one_version() {
        let text = |path| {
            let bytes = ASSETS.iter().find(|(p, _)| *p == path).expect("listed").1;
            std::str::from_utf8(bytes).expect("text")
        };
        let manifest: serde_json::Value =
            serde_json::from_str(text(".claude-plugin/plugin.json")).expect("JSON");
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
        let line = format!("const VERSION = '{}'\n", env!("CARGO_PKG_VERSION"));
        assert!(text("hooks/brain-guard.tsx").contains(&line));
    }

    #[test]
    fn no_hooks_file_holds_an_event_that_an_older_client_refuses_it_for() {
        let text = |path| {
            let bytes = ASSETS.iter().find(|(p, _)| *p == path).expect("listed").1;
            std::str::from_utf8(bytes).expect("text")
        };
        let hooks: serde_json::Value =
            serde_json::from_str(text("hooks/hooks.json")).expect("JSON");
        // The events of 2.1.250. It drops the whole file for one that it does not know.
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
            "PreCompact",
        ];
        for event in hooks["hooks"].as_object().expect("object").keys() {
            assert!(known.contains(&event.as_str()), "{event} belongs in a file of its own");
        }
    }
}
