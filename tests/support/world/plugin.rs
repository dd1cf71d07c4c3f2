//! The plugin folders of a world: brain-guard as installed, and a spy that records hook events.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

/// The events that the spy records. `MessageDisplay` is left out: it fires many times a second.
const EVENTS: [&str; 13] = [
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "PermissionRequest",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
];

/// A second plugin that records every hook event and can deny one tool.
#[derive(Default)]
pub struct Spy {
    deny: Option<(String, String)>,
}

impl Spy {
    pub fn deny(tool: &str, reason: &str) -> Self {
        Self { deny: Some((tool.to_owned(), reason.to_owned())) }
    }

    pub(super) fn write(&self, folder: &Path) {
        let hook = |event: &str| {
            let call = json!({"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/spy.sh", "args": [event]});
            (event.to_owned(), json!([{"hooks": [call]}]))
        };
        let hooks: serde_json::Map<String, Value> =
            EVENTS.iter().map(|event| hook(event)).collect();
        write(
            &folder.join(".claude-plugin/plugin.json"),
            &json!({"name": "spy", "version": "1.0.0"}).to_string(),
        );
        write(&folder.join("hooks/hooks.json"), &json!({"hooks": hooks}).to_string());
        let script = folder.join("spy.sh");
        write(&script, include_str!("spy.sh"));
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("own script");
        if let Some((tool, reason)) = &self.deny {
            let answer = json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason,
            }});
            write(&folder.join("deny"), &format!("{tool}\n{answer}\n"));
        }
    }
}

/// Assembles brain-guard's plugin folder from the repository and the binary under test.
pub fn assemble(repository: &Path, binary: &Path, folder: &Path, with_mod: bool) {
    for part in ["hooks", "templates", "commands", "skills", ".claude-plugin"] {
        let source = repository.join(part);
        if source.is_dir() {
            copy_tree(&source, &folder.join(part)).expect("plugin folder is writable");
        }
    }
    let root_manifest = repository.join("plugin.json");
    if root_manifest.is_file() {
        fs::copy(root_manifest, folder.join("plugin.json")).expect("plugin folder is writable");
    }
    fs::create_dir_all(folder.join("bin")).expect("plugin folder is writable");
    fs::copy(binary, folder.join("bin/brain-guard")).expect("the binary under test was built");
    if !with_mod {
        let path = folder.join("hooks/hooks.json");
        let text = fs::read_to_string(&path).expect("hooks/hooks.json");
        let mut hooks: Value = serde_json::from_str(&text).expect("hooks/hooks.json is JSON");
        hooks.as_object_mut().expect("hooks/hooks.json is an object").remove("modules");
        write(&path, &hooks.to_string());
    }
}

/// Writes a file and creates the folders above it.
pub fn write(path: &Path, text: &str) {
    let folder = path.parent().expect("a file lies in a folder");
    fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Copies a folder recursively, without sockets and links.
pub fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)?.flatten() {
        let target = to.join(entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => copy_tree(&entry.path(), &target)?,
            Ok(kind) if kind.is_file() => match fs::copy(entry.path(), target) {
                // The file was just removed by its owner: skip it.
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            },
            _ => {}
        }
    }
    Ok(())
}
