//! Git Commit Messages, with real git and the real binary. Commits from the session's own shell go
//! into the job's list and file; others do not.

mod file;
mod made;
mod whose;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use guard::files::{commits, jobs};
use guard::git;
use serde_json::{Value, json};

use crate::support::hook::{Answer, Hook, finish};

/// A session in a repository with one commit by a person.
fn world() -> Hook {
    let hook = Hook::begun();
    configure(&hook);
    person(
        &hook,
        &hook.project,
        "git init -q && echo .brain-guard > .gitignore && git add . && git commit -qm first",
    );
    hook
}

fn configure(hook: &Hook) {
    let config = "[user]\nname = A\nemail = a@b\n[init]\ndefaultBranch = main\n[advice]\ndetachedHead = false\n";
    fs::write(hook.home.join(".gitconfig"), config).expect("config");
}

fn shell(hook: &Hook, dir: &Path, command: &str) -> Answer {
    let mut shell = Command::new("/bin/bash");
    shell.arg("-ec").arg(command).env_clear().current_dir(dir);
    shell.env("HOME", &hook.home).env("PATH", "/usr/bin:/bin").env("GIT_CONFIG_NOSYSTEM", "1");
    shell.env("GIT_EDITOR", "true");
    finish(shell, b"")
}

/// Runs a command as another person, half a minute ago.
fn person(hook: &Hook, dir: &Path, command: &str) {
    let ago = "export GIT_COMMITTER_DATE=\"@$(($(date +%s) - 30)) +0000\"\n";
    let ran = shell(hook, dir, &format!("{ago}{command}"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// The event that the client sends after a call.
fn told(ran: &Answer, command: &str, took: f64) -> (&'static str, Value) {
    let input = json!({"command": command});
    if ran.code == Some(0) {
        let response = json!({"stdout": format!("{}{}", ran.stdout, ran.stderr), "stderr": "",
            "interrupted": false, "isImage": false});
        let more = json!({"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": input,
            "tool_response": response, "duration_ms": took});
        return ("PostToolUse", more);
    }
    let error = format!("Exit code {}\n{}{}", ran.code.unwrap_or(-1), ran.stdout, ran.stderr);
    (
        "PostToolUseFailure",
        json!({"tool_name": "Bash", "tool_use_id": "toolu_1",
        "tool_input": input, "error": error, "is_interrupt": false, "duration_ms": took}),
    )
}

/// Runs the agent's shell call in a folder and sends its event.
fn call_in(hook: &Hook, dir: &Path, command: &str) {
    let began = Instant::now();
    let ran = shell(hook, dir, command);
    let (event, mut more) = told(&ran, command, began.elapsed().as_millis() as f64);
    more["cwd"] = json!(dir);
    assert!(hook.send(&hook.payload(event, &more)).silent());
    assert_eq!(hook.log("fault"), Vec::<Value>::new(), "{command}: {ran:?}");
}

fn call(hook: &Hook, command: &str) {
    call_in(hook, &hook.project, command);
}

fn job(hook: &Hook) -> String {
    hook.state()["job"].as_str().expect("job").to_owned()
}

/// The list's subjects, newest first.
fn subjects(hook: &Hook) -> Vec<String> {
    let list = commits::list(&hook.places(), &job(hook)).unwrap_or_default();
    git::commits(&list).into_iter().map(|c| c.subject).collect()
}

/// The commits section of the file.
fn section(hook: &Hook) -> String {
    let text = jobs::read(&hook.places(), &job(hook)).expect("read").expect("a file");
    text.split_once("## Git Commit Messages\n").expect("section").1.to_owned()
}

const COMMIT: &str = "c() { echo \"$1\" >> \"$1\"; git add .; git commit -m \"$@\"; }\n";

fn commit(names: &str) -> String {
    let each: Vec<_> = names.split(' ').map(|n| format!("c {n}")).collect();
    format!("{COMMIT}{}", each.join("\n"))
}
