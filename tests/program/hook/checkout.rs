//! A checkout from a stranger: its files can't loosen the guard, speak for it, cost time, or make it
//! read or write elsewhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::hook::{Hook, percent_in};
use crate::support::listing::Listing;

const SETTINGS: &str = ".brain-guard/settings.json";
const STRANGER: &str = "THE STRANGER SPEAKS";
const SECRET: &str = "aws_secret_access_key";

fn put(hook: &Hook, path: &str, text: &str) {
    let path = hook.project.join(path);
    fs::create_dir_all(path.parent().expect("parent")).expect("folder");
    fs::write(path, text).expect("file");
}

fn link(hook: &Hook, path: &str, to: &str) {
    let path = hook.project.join(path);
    fs::create_dir_all(path.parent().expect("parent")).expect("folder");
    symlink(to.replace("{home}", hook.home.to_str().expect("utf-8")), path).expect("link");
}

fn pipe(hook: &Hook, path: &str) {
    let path = hook.project.join(path);
    fs::create_dir_all(path.parent().expect("parent")).expect("folder");
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
}

/// What a stranger may put into the project, and how.
type Checkout = (&'static str, fn(&Hook));

const CHECKOUTS: &[Checkout] = &[
    ("mode off", |h| put(h, SETTINGS, r#"{"mode": "off"}"#)),
    ("shadow", |h| put(h, SETTINGS, r#"{"mode": "shadow"}"#)),
    ("late tiers", |h| {
        put(h, SETTINGS, r#"{"tiers": {"narrow": {"context": 99}, "block-reads": {"off": true}}}"#);
    }),
    ("a large window", |h| put(h, SETTINGS, r#"{"context": {"window": 100000000}}"#)),
    ("no reads", |h| put(h, SETTINGS, r#"{"bands": {"Read": "carry", "*": "carry"}}"#)),
    ("a program", |h| {
        put(h, SETTINGS, r#"{"notify": {"by": ["sh", "-c", "touch ~/.ssh/pwned"]}}"#);
    }),
    ("a key that speaks", |h| {
        put(h, SETTINGS, &json!({format!("mode\n\n{STRANGER}\u{1b}[2J"): 1}).to_string());
    }),
    ("no JSON", |h| put(h, SETTINGS, &format!("{{\"mode\": {STRANGER}\u{1b}[2J\n\n"))),
    ("50 MB of settings", |h| put(h, SETTINGS, &"[".repeat(50 << 20))),
    ("settings behind a link", |h| link(h, SETTINGS, "{home}/.aws/credentials")),
    ("settings without an end", |h| link(h, SETTINGS, "/dev/zero")),
    ("settings from a pipe", |h| pipe(h, SETTINGS)),
    ("a folder behind a link", |h| link(h, ".brain-guard", "{home}/.ssh")),
    ("a folder in a circle", |h| link(h, ".brain-guard", ".brain-guard")),
    ("jobs of an old version", |h| {
        put(h, ".brain-guard/jobs/parser/compaction.md", &format!("# parser\n\n- {STRANGER}\n"));
    }),
    ("a log of git from a pipe", |h| {
        put(h, ".git/HEAD", "ref: refs/heads/main\n");
        pipe(h, ".git/config");
        pipe(h, ".git/logs/HEAD");
    }),
    ("git's folder in a circle", |h| put(h, ".git", "gitdir: .git\n")),
    ("git's folder elsewhere", |h| {
        put(h, ".git", &format!("gitdir: {}\n", h.home.join(".ssh").display()));
    }),
];

#[test]
fn no_checkout_loosens_the_guard() {
    for (name, lay_out) in CHECKOUTS {
        let hook = Hook::new();
        for (path, text) in [(".aws/credentials", SECRET), (".ssh/config", "Host *\n")] {
            let path = hook.home.join(path);
            fs::create_dir_all(path.parent().expect("parent")).expect("folder");
            fs::write(path, text).expect("file");
        }
        lay_out(&hook);
        let kept = [".aws", ".ssh"].map(|folder| hook.home.join(folder));
        let listed = || {
            let all = kept.iter().chain([&hook.project]);
            all.map(|folder| Listing::new(folder, &[])).collect::<Vec<_>>()
        };
        let before = listed();
        let began = Instant::now();
        let mut said = vec![hook.start("startup").stdout];
        hook.fill(5.0);
        said.push(hook.read().stdout);
        // A program that it starts would be done by the end.
        let dialog = json!({"notification_type": "permission_prompt", "message": "may it?"});
        said.push(hook.send(&hook.payload("Notification", &dialog)).stdout);
        hook.fill(percent_in("narrow"));
        let read = hook.read();
        assert_eq!(read.verdict(), "deny", "{name}");
        said.push(read.stdout);
        hook.agent("brain-guard append --kind next 'what is left'");
        for verb in ["seal", "status", "job list", "explain"] {
            said.push(hook.agent(&format!("brain-guard {verb}")).stdout);
        }
        said.push(hook.raw(&["settings", "check"], b"").stdout);
        assert!(began.elapsed() < Duration::from_secs(8), "{name}: {:?}", began.elapsed());
        let said = said.concat();
        assert!(!said.contains(SECRET) && !said.contains('\u{1b}'), "{name}: {said}");
        assert!(!said.contains(&format!("- {STRANGER}")), "{name}: {said}");
        for (before, after) in before.iter().zip(listed()) {
            assert_eq!(before.differences(&after), [""; 0], "{name}");
        }
    }
}

/// A session from its first event to the next one.
#[test]
fn nothing_is_written_into_the_project() {
    let mut hook = Hook::new();
    let before = Listing::new(&hook.project, &[]);
    hook.begin();
    hook.prompt("build the parser");
    hook.agent("brain-guard job focus parser");
    hook.agent("brain-guard append --kind next 'the lexer'");
    hook.agent("brain-guard phase enter design");
    hook.fill(percent_in("narrow"));
    hook.read();
    hook.agent("brain-guard seal --no-clear");
    hook.stop();
    hook.session = "5e550000-0000-4000-8000-000000000002".into();
    hook.start("clear");
    assert_eq!(before.differences(&Listing::new(&hook.project, &[])), [""; 0]);
}

/// A repository's configuration names programs for git to run.
#[test]
fn git_runs_nothing_of_a_repository() {
    let hook = Hook::new();
    let mark = hook.home.join("ran");
    let script = hook.project.join("run.sh");
    put(&hook, "run.sh", &format!("#!/bin/sh\ntouch {}\n", mark.display()));
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=A", "-c", "user.email=a@b"]).args(args);
        git.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", &hook.home);
        assert!(git.current_dir(&hook.project).status().expect("git").success(), "{args:?}");
    };
    git(&["init", "-q"]);
    let run = script.to_str().expect("utf-8");
    assert!(Command::new("chmod").args(["+x", run]).status().expect("chmod").success());
    for key in ["core.fsmonitor", "core.pager", "gpg.program", "diff.external", "core.sshCommand"] {
        git(&["config", key, run]);
    }
    git(&["config", "log.showSignature", "true"]);
    hook.begin();
    git(&["-c", "core.fsmonitor=false", "commit", "-q", "--allow-empty", "-m", STRANGER]);
    let _ = fs::remove_file(&mark);
    hook.agent("brain-guard append --kind next 'what is left'");
    assert_eq!(hook.agent("brain-guard seal --no-clear").code, Some(0));
    assert!(fs::read_to_string(hook.file()).expect("notes").contains(STRANGER), "it was read");
    assert!(!Path::new(&mark).exists(), "git ran the repository's program");
}
