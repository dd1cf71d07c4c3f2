//! In the tier `narrow`: other actions disguised as the allowed moves, and ways around them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::support::hook::{Hook, percent_in};

/// Commands that contain one of our verbs, and more.
const SHELL: &[&str] = &[
    "brain-guard status && ls",
    "ls && brain-guard status",
    "brain-guard status; ls",
    "brain-guard status\nls",
    "brain-guard status\rls",
    "brain-guard status || ls",
    "brain-guard status | cat /etc/passwd",
    "brain-guard status & ls",
    "brain-guard append \"$(cat src/main.rs)\"",
    "brain-guard append `ls`",
    "brain-guard append --kind risk - <(ls)",
    "brain-guard append <<E\n$(ls)\nE\n",
    "brain-guard append <<'E'\nx\nE\nls\n",
    "brain-guard status > src/main.rs",
    "brain-guard append < /etc/passwd",
    "brain-guard append $HOME",
    "brain-guard append *",
    "brain-guard status # x\nls",
    "cd /etc; brain-guard status",
    "cd /nowhere && brain-guard status",
    "brain-guard\u{a0}status; ls",
    "brain-guard status\0; ls",
    "LD_PRELOAD=./x.so brain-guard status",
    "PATH=.:$PATH brain-guard status",
    "./brain-guard status",
    "/tmp/brain-guard status",
    "env brain-guard status",
    "brain-guard seal --file /etc/passwd",
    "brain-guard append --session other x",
    "brain-guard status --project=/",
    "brain-guard demo",
    "brain-guard override 30m",
    "time brain-guard status",
    "ls | xargs brain-guard append",
];

/// Paths in the job's folder and beside it that are not the compaction file.
const PATHS: &[&str] = &[
    "compaction.md/../../../../main.rs",
    "../other/compaction.md",
    "COMPACTION.MD",
    "comp\u{430}ction.md",
    "sealed/v0001.md",
    "job.json",
    "compaction.md\0/x",
];

/// A session in `narrow` that has a job.
fn narrow() -> Hook {
    let hook = Hook::begun();
    assert_eq!(hook.agent("brain-guard append --kind next 'one'").code, Some(0));
    hook.fill(percent_in("narrow"));
    hook.read();
    hook
}

#[test]
fn only_whole_commands_of_ours_pass() {
    let hook = narrow();
    for command in SHELL {
        assert_eq!(hook.bash(command).verdict(), "deny", "{command:?}");
    }
    assert!(!hook.bash("cd /etc && brain-guard status").reason().contains("blocked"));
}

#[test]
fn only_the_compaction_file_can_be_edited() {
    let hook = narrow();
    let folder = hook.file().parent().expect("folder").to_owned();
    let beside = hook.project.join("compaction.md");
    for path in PATHS.iter().map(|path| folder.join(path)).chain([beside]) {
        let input = json!({"file_path": path, "old_string": "a", "new_string": "b"});
        assert_eq!(hook.pre("Edit", &input).verdict(), "deny", "{}", path.display());
    }
    for (tool, input) in [
        ("EnterPlanMode", json!({})),
        ("EnterWorktree", json!({"name": "w"})),
        ("Agent", json!({"description": "d", "prompt": "read it all"})),
        ("Workflow", json!({"script": "x"})),
        ("CronCreate", json!({"cron": "* * * * *", "prompt": "read it all"})),
        ("Skill", json!({"skill": "brain-guard:status"})),
        ("mcp__filesystem__read_file", json!({"path": "x"})),
        ("NotARealTool", json!({"file_path": "x"})),
        ("bash", json!({"command": "brain-guard status"})),
        ("MultiEdit", json!({"file_path": "src/main.rs", "edits": []})),
    ] {
        assert_eq!(hook.pre(tool, &input).verdict(), "deny", "{tool}");
    }
}

#[test]
fn a_link_in_the_files_place_opens_no_other_file() {
    for to in ["src/main.rs", "/etc/hostname"] {
        let hook = narrow();
        fs::create_dir_all(hook.project.join("src")).expect("folder");
        fs::write(hook.project.join("src/main.rs"), "fn main() {}\n").expect("file");
        fs::remove_file(hook.file()).expect("removed");
        symlink(hook.project.join(to), hook.file()).expect("link");
        for tool in ["Edit", "Write", "Read"] {
            let input = json!({"file_path": hook.file(), "old_string": "a", "new_string": "b"});
            let verdict = hook.pre(tool, &input).verdict();
            assert_ne!(verdict, "allow", "{tool} {to}");
        }
        // No note can be written, so nothing is blocked, and the user is told.
        assert_ne!(hook.read().verdict(), "deny");
    }
}

/// The hook runs the verb itself, so the shell looks up no program.
#[test]
fn a_repositorys_own_program_is_not_run() {
    let mut hook = narrow();
    let (mark, theirs) = (hook.project.join("ran"), hook.project.join("brain-guard"));
    fs::write(&theirs, format!("#!/bin/sh\ntouch {}\n", mark.display())).expect("script");
    fs::set_permissions(&theirs, fs::Permissions::from_mode(0o755)).expect("mode");
    let path = format!("{}:/usr/bin:/bin", hook.project.display());
    hook.set("PATH", &path);
    let said = hook.agent("brain-guard status");
    assert!(said.stdout.contains("narrow") && !mark.exists(), "{said:?}");
}
