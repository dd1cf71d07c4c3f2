//! Ways to break an installation, the finding for each, and the repair.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use base::clock;
use guard::files::state::Client;
use serde_json::json;

use super::lab::Lab;

/// A way to break an installation.
pub struct Breakage {
    pub check: &'static str,
    pub level: &'static str,
    pub word: &'static str,
    /// Whether `--fix` repairs it; otherwise `undo` does.
    pub fixed: bool,
    pub act: fn(&mut Lab),
    pub undo: fn(&mut Lab),
}

const fn fixed(
    check: &'static str,
    level: &'static str,
    word: &'static str,
    act: fn(&mut Lab),
) -> Breakage {
    Breakage { check, level, word, fixed: true, act, undo: |_| () }
}

const fn undone(
    check: &'static str,
    level: &'static str,
    word: &'static str,
    act: fn(&mut Lab),
    undo: fn(&mut Lab),
) -> Breakage {
    Breakage { check, level, word, fixed: false, act, undo }
}

/// A client that is gone: no process can have this number.
const GONE: Client = Client { pid: 4_194_305, start: 1 };

fn token(lab: &Lab) {
    let now = clock::now();
    let token = json!({
        "id": "t1", "job": "lexer", "parent": "s", "child": null, "step": "clearing", "why": null,
        "carrier": "mod", "version": 1, "sealed": "/x", "client": GONE, "created": now, "since": now,
        "notice_until": null, "cut": false, "unanswered": 0, "retry_at": null,
    });
    let path = lab.state("boundary/t1.json");
    fs::write(&path, token.to_string()).expect("token");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("mode");
}

pub const BREAKAGES: [Breakage; 19] = [
    fixed("files", "problem", "missing or changed", |lab| {
        fs::write(lab.plugin("hooks/hooks.json"), "{}").expect("broken");
    }),
    fixed("files", "problem", "missing or changed", |lab| {
        fs::remove_file(lab.plugin("templates/kickoff.md")).expect("broken");
    }),
    fixed("files", "problem", "missing or changed", |lab| {
        // A new file, because the running one cannot be written.
        fs::remove_file(lab.plugin("bin/brain-guard")).expect("broken");
        fs::write(lab.plugin("bin/brain-guard"), "#!/bin/sh\necho 0").expect("broken");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(lab.plugin("bin/brain-guard"), mode).expect("mode");
    }),
    fixed("binary", "problem", "can't be run", |lab| {
        let mode = fs::Permissions::from_mode(0o644);
        fs::set_permissions(lab.plugin("bin/brain-guard"), mode).expect("broken");
    }),
    fixed("plugin", "problem", "leads nowhere", |lab| {
        let current = lab.plugin("");
        let current = Path::new(current.to_str().expect("utf-8").trim_end_matches('/'));
        fs::remove_file(current).expect("broken");
        symlink("0.0.0-00000000", current).expect("broken");
    }),
    fixed("command", "note", "is not there", |lab| {
        fs::remove_file(lab.at(".local/bin/brain-guard")).expect("broken");
    }),
    fixed("registered", "problem", "does not know the plugin", |lab| {
        fs::remove_file(lab.at("client/plugin")).expect("broken");
    }),
    undone(
        "registered",
        "problem",
        "switched off",
        |lab| lab.put("client/enabled", "false"),
        |lab| lab.put("client/enabled", "true"),
    ),
    undone(
        "registered",
        "note",
        "brain-guard@brain-guard and brain-guard@acme are enabled",
        |lab| {
            let version = env!("CARGO_PKG_VERSION");
            let copy = json!({"id": "brain-guard@acme", "version": version, "enabled": true});
            lab.put("client/others", &copy.to_string());
        },
        |lab| fs::remove_file(lab.at("client/others")).expect("undone"),
    ),
    undone(
        "registered",
        "problem",
        "as version 0.0.9",
        |lab| lab.put("client/plugin", "0.0.9"),
        |lab| lab.put("client/plugin", env!("CARGO_PKG_VERSION")),
    ),
    undone(
        "client",
        "problem",
        "2.1.200",
        |lab| lab.put("client/version", "2.1.200 (Claude Code)"),
        |lab| lab.put("client/version", "2.1.332 (Claude Code)"),
    ),
    undone(
        "client",
        "note",
        "newer than 2.1.332",
        |lab| lab.put("client/version", "2.2.0 (Claude Code)"),
        |lab| lab.put("client/version", "2.1.332 (Claude Code)"),
    ),
    undone(
        "hooks",
        "problem",
        "no hook of it has run",
        |lab| {
            let path =
                lab.hook.transcript.with_file_name("5e550000-0000-4000-8000-0000000000ff.jsonl");
            fs::write(path, "{}\n").expect("transcript");
        },
        |lab| {
            let path =
                lab.hook.transcript.with_file_name("5e550000-0000-4000-8000-0000000000ff.jsonl");
            fs::remove_file(path).expect("undone");
        },
    ),
    undone(
        "hooks",
        "note",
        "mode is off",
        |lab| {
            lab.hook.settings(&json!({"mode": "off"}));
        },
        |lab| {
            lab.hook.settings(&json!({}));
        },
    ),
    undone(
        "module",
        "problem",
        "version 0.0.9",
        |lab| {
            lab.hook.set("BRAIN_GUARD_MOD", "0.0.9:1");
        },
        |lab| {
            let alive = format!("{}:{}", env!("CARGO_PKG_VERSION"), std::process::id());
            lab.hook.set("BRAIN_GUARD_MOD", &alive);
        },
    ),
    undone(
        "switches",
        "problem",
        "switches the plugin off",
        |lab| {
            let path = lab.hook.project.join(".claude/settings.json");
            fs::create_dir_all(path.parent().expect("parent")).expect("folder");
            let text = r#"{"enabledPlugins": {"brain-guard@brain-guard": false}}"#;
            fs::write(path, text).expect("broken");
        },
        |lab| fs::remove_file(lab.hook.project.join(".claude/settings.json")).expect("undone"),
    ),
    undone(
        "settings",
        "problem",
        "profil",
        |lab| {
            lab.hook.settings(&json!({"profil": 1}));
        },
        |lab| {
            lab.hook.settings(&json!({}));
        },
    ),
    fixed("private", "problem", "others may get at the state", |lab| {
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(lab.hook.places().states, mode).expect("broken");
    }),
    fixed("boundaries", "problem", "job lexer (clearing", |lab| token(lab)),
];
