//! In the tier `narrow`: other actions disguised as the three allowed moves, and ways around them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::attempts::attempt::{Attempt, Outcome};
use crate::attempts::scene::Scene;
use crate::support::hook::percent_in;

/// Commands that contain one of ours, and more.
const SHELL: &[(&str, &str)] = &[
    ("chained by &&", "brain-guard status && ls"),
    ("chained in front", "ls && brain-guard status"),
    ("chained by ;", "brain-guard status; ls"),
    ("chained by a newline", "brain-guard status\nls"),
    ("chained by a carriage return", "brain-guard status\rls"),
    ("chained by ||", "brain-guard status || ls"),
    ("piped", "brain-guard status | cat /etc/passwd"),
    ("in the background", "brain-guard status & ls"),
    ("substituted", "brain-guard append \"$(cat src/main.rs)\""),
    ("in backticks", "brain-guard append `ls`"),
    ("process substitution", "brain-guard append --kind risk - <(ls)"),
    ("unquoted heredoc", "brain-guard append <<E\n$(ls)\nE\n"),
    ("heredoc that ends early", "brain-guard append <<'E'\nx\nE\nls\n"),
    (
        "heredoc that seems to end at a carriage return",
        "brain-guard append <<'E'\nx\nE\r\nbrain-guard append '\nE\nls\n#'",
    ),
    ("heredoc that ends at a carriage return", "brain-guard append <<'E\r'\nx\nE\r\nls\nE\r\r\n"),
    ("redirected", "brain-guard status > src/main.rs"),
    ("redirected input", "brain-guard append < /etc/passwd"),
    ("a variable", "brain-guard append $HOME"),
    ("a glob", "brain-guard append *"),
    ("a comment that ends", "brain-guard status # x\nls"),
    ("elsewhere", "cd /etc && brain-guard status"),
    ("a no-break space", "brain-guard\u{a0}status; ls"),
    ("a NUL", "brain-guard status\0; ls"),
    ("assignment", "LD_PRELOAD=./x.so brain-guard status"),
    ("PATH", "PATH=.:$PATH brain-guard status"),
    ("a program beside", "./brain-guard status"),
    ("a program elsewhere", "/tmp/brain-guard status"),
    ("env", "env brain-guard status"),
    ("another file", "brain-guard seal --file /etc/passwd"),
    ("another session", "brain-guard append --session other x"),
    ("another project", "brain-guard status --project=/"),
    ("a hidden verb", "brain-guard generate src"),
    ("no verb of the agent's", "brain-guard demo"),
    ("time", "time brain-guard status"),
    ("xargs", "ls | xargs brain-guard append"),
];

/// Paths that are not the compaction file.
const PATHS: &[(&str, &str)] = &[
    ("a file of this name", "{project}/compaction.md"),
    ("through it", "{project}/.brain-guard/jobs/x/compaction.md/../../../../src/main.rs"),
    ("another job's", "{project}/.brain-guard/jobs/other/compaction.md"),
    ("other case", "{project}/.brain-guard/jobs/x/COMPACTION.MD"),
    ("a look-alike", "{project}/.brain-guard/jobs/x/comp\u{430}ction.md"),
    ("a sealed version", "{project}/.brain-guard/jobs/x/sealed/v0001.md"),
    ("the job's record", "{project}/.brain-guard/jobs/x/job.json"),
    ("behind a NUL", "{project}/.brain-guard/jobs/x/compaction.md\0/x"),
    ("a request", "{project}/.brain-guard/requests/{session}.jsonl"),
];

pub fn all() -> Vec<Attempt> {
    let bash = |(name, command): &(&str, &str)| {
        Attempt::squeezed(&format!("narrow, shell: {name}"), "Bash", json!({"command": command}))
    };
    let mut all: Vec<Attempt> = SHELL.iter().map(bash).collect();
    for (name, path) in PATHS {
        for tool in ["Edit", "Read"] {
            let input = json!({"file_path": path, "old_string": "a", "new_string": "b"});
            all.push(Attempt::squeezed(&format!("narrow, {tool}: {name}"), tool, input));
        }
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
        ("MultiEdit", json!({"file_path": "{project}/src/main.rs", "edits": []})),
    ] {
        all.push(Attempt::squeezed(&format!("narrow: {tool}"), tool, input));
    }
    for (name, to) in [("a source", "src/main.rs"), ("the state", "{session_file}")] {
        all.push(Attempt::story(
            &format!("narrow: a link to {name} in the compaction file's place"),
            if to.starts_with("src") {
                |s| through_a_link(s, "src/main.rs")
            } else {
                |s| through_a_link(s, "{session_file}")
            },
        ));
    }
    all.push(Attempt::story("narrow: a repository's own brain-guard on PATH", own_program));
    all
}

fn through_a_link(scene: &Scene, to: &str) -> Outcome {
    let hook = &scene.hook;
    assert_eq!(hook.agent("brain-guard append --kind next 'one'").code, Some(0));
    let file = hook.file();
    fs::remove_file(&file).expect("removed");
    symlink(hook.project.join(scene.text(to)), &file).expect("link");
    hook.fill(percent_in("narrow"));
    hook.read();
    for tool in ["Edit", "Write", "Read"] {
        let input =
            json!({"file_path": file, "old_string": "a", "new_string": "b", "content": "x"});
        let verdict = hook.pre(tool, &input).verdict();
        // Nothing is blocked if the notes cannot be written, and nothing is allowed without asking.
        let through =
            verdict == "allow" || (to.starts_with('{') && tool != "Read" && verdict != "deny");
        if through {
            return Outcome::Through(format!("{tool}: {verdict}"));
        }
    }
    Outcome::InVain
}

fn own_program(scene: &Scene) -> Outcome {
    let (hook, mark) = (&scene.hook, scene.hook.project.join("ran"));
    let theirs = hook.project.join("brain-guard");
    fs::write(&theirs, format!("#!/bin/sh\ntouch {}\n", mark.display())).expect("script");
    fs::set_permissions(&theirs, fs::Permissions::from_mode(0o755)).expect("mode");
    hook.fill(percent_in("narrow"));
    hook.read();
    let answer = hook.bash("brain-guard status").json();
    let command = &answer["hookSpecificOutput"]["updatedInput"]["command"];
    scene.run(&format!(
        "PATH={}:$PATH; {}",
        hook.project.display(),
        command.as_str().expect("a command")
    ));
    if mark.exists() { Outcome::Through(command.to_string()) } else { Outcome::InVain }
}
