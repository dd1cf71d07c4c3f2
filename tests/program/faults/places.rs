//! K: places. Odd paths, unusable homes, links, worktrees.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use serde_json::{Value, json};

use crate::faults::case::{self, Case};
use crate::faults::scene::{self, way_out};
use crate::faults::tally::{Expect, Tally};
use crate::support::hook::{Hook, percent_in};

pub const CASES: &[Case] = &[
    ("K paths: spaces, quotes, dollars and line breaks", odd_paths),
    ("K paths: no UTF-8", not_utf8),
    ("K paths: too long", too_long),
    ("K home: none, empty, relative, a file", odd_homes),
    ("K project: through a link", linked_project),
    ("K project: gone, a file, or not said", odd_projects),
    ("K worktree: transcript and cwd move", worktree),
    ("K cwd: elsewhere, gone, or none", odd_cwds),
    ("K system: no /proc", no_proc),
];

/// A session in a project at this path, below a root with the same path.
fn session(path: &str) -> Hook {
    let mut hook = Hook::new();
    hook.project = hook.project.join(path);
    fs::create_dir_all(&hook.project).expect("folder");
    let project = hook.project.to_str().expect("utf-8").to_owned();
    hook.set("CLAUDE_PROJECT_DIR", &project);
    hook
}

/// From the first event to a sealed file.
fn full_session(t: &mut Tally, hook: &Hook) {
    t.silence(hook, &case::start(hook, "startup"));
    hook.fill(5.0);
    t.silence(hook, &case::read(hook));
    hook.fill(percent_in("narrow"));
    t.block(hook, &case::read(hook));
    way_out(t, hook);
    hook.agent(&format!("brain-guard append --kind next '{}'", scene::NOTE));
    let text = fs::read_to_string(hook.file()).unwrap_or_default();
    t.check(text.contains(scene::NOTE), format!("{} was not written", hook.file().display()));
    hook.agent("brain-guard seal");
    t.allow(hook, &case::stop(hook));
    let next = scene::after_clear(hook, 2);
    let began = t.note(&next, &case::start(&next, "clear"));
    t.check(scene::carries(&began), "what was sealed did not come");
}

fn odd_paths(t: &mut Tally) {
    for path in [
        "a b",
        "it's",
        "a\"b",
        "$HOME `id`",
        "a\nb",
        "ä/日本",
        "-x",
        "a;b&c|d",
        "%s*?[x]",
        "a\\b",
        "~",
    ] {
        let hook = session(path);
        full_session(t, &hook);
    }
}

/// Shell commands are text: if our verbs cannot name the project, nothing may be blocked.
fn not_utf8(t: &mut Tally) {
    let hook = Hook::new();
    let project = hook.project.join(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&project).expect("folder");
    let send = |t: &mut Tally, payload: &Value, expect| {
        let mut command = hook.command(&["hook"]);
        command.env("CLAUDE_PROJECT_DIR", &project).current_dir(&project);
        t.run(command, payload.to_string().as_bytes(), expect)
    };
    send(t, &case::start(&hook, "startup"), Expect::Allow);
    hook.fill(5.0);
    send(t, &case::read(&hook), Expect::Silence);
    hook.fill(percent_in("narrow"));
    send(t, &case::bash(&hook, "ls"), Expect::Allow);
    send(t, &case::read(&hook), Expect::Allow);
    send(t, &case::stop(&hook), Expect::Allow);
    // In a home with such a name everything works.
    let home = hook.home.join(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&home).expect("folder");
    let expected = [
        (case::start(&hook, "startup"), Expect::Allow),
        (case::read(&hook), Expect::Block),
        (case::batch(&hook), Expect::Allow),
    ];
    for (payload, expect) in expected {
        let mut command = hook.command(&["hook"]);
        command.env("HOME", &home);
        t.run(command, payload.to_string().as_bytes(), expect);
    }
}

fn too_long(t: &mut Tally) {
    let mut hook = t.filled(percent_in("narrow"));
    let long = format!("/{}", "x".repeat(300)).repeat(40);
    t.block(&hook, &hook.call("Edit", &json!({"file_path": long})));
    let mut call = case::read(&hook);
    call["transcript_path"] = long.as_str().into();
    t.allow(&hook, &call);
    call["cwd"] = long.as_str().into();
    t.allow(&hook, &call);
    hook.set("CLAUDE_PROJECT_DIR", &long);
    t.allow(&hook, &case::read(&hook));
    hook.set("HOME", &long);
    t.allow(&hook, &case::read(&hook));
}

fn odd_homes(t: &mut Tally) {
    // Homes that cannot be created outside of the case's own folder.
    for home in ["", ".", "relative/home", "/dev/null", "/proc"] {
        let mut hook = t.filled(percent_in("narrow"));
        hook.set("HOME", home);
        for payload in [
            case::start(&hook, "startup"),
            case::read(&hook),
            case::batch(&hook),
            case::stop(&hook),
            case::prompt(&hook, "go on"),
        ] {
            t.allow(&hook, &payload);
        }
        t.bytes(&hook, b"{", Expect::Silence);
    }
}

fn linked_project(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
    let link = hook.project.with_file_name("link");
    std::os::unix::fs::symlink(&hook.project, &link).expect("link");
    let mut linked = hook.beside(&hook.session, std::process::id());
    linked.set("CLAUDE_PROJECT_DIR", link.to_str().expect("utf-8"));
    // Both names lead to the same state and file.
    t.block(&linked, &case::read(&linked));
    way_out(t, &linked);
}

fn odd_projects(t: &mut Tally) {
    // Projects that cannot be written outside of the case's own folder.
    for project in ["relative", "/dev/null", "/proc/self"] {
        let mut hook = t.filled(5.0);
        hook.set("CLAUDE_PROJECT_DIR", project);
        hook.fill(percent_in("narrow"));
        for payload in [case::read(&hook), case::bash(&hook, "ls"), case::batch(&hook)] {
            t.allow(&hook, &payload);
        }
    }
}

fn worktree(t: &mut Tally) {
    let mut hook = t.filled(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
    let tree = hook.project.join(".claude/worktrees/wt1");
    fs::create_dir_all(&tree).expect("folder");
    fs::write(tree.join(".git"), "gitdir: ../../../.git/worktrees/wt1\n").expect("link");
    let folder = hook.home.join(".claude/projects/-project--claude-worktrees-wt1");
    fs::create_dir_all(&folder).expect("folder");
    let moved = folder.join(format!("{}.jsonl", hook.session));
    fs::rename(&hook.transcript, &moved).expect("moved");
    hook.transcript = moved;
    let mut call = case::read(&hook);
    call["cwd"] = tree.to_str().expect("utf-8").into();
    t.block(&hook, &call);
    let mut own = hook.call("Edit", &json!({"file_path": hook.file()}));
    own["cwd"] = call["cwd"].clone();
    t.allow(&hook, &own);
    let mut append = case::bash(&hook, "brain-guard append 'x'");
    append["cwd"] = call["cwd"].clone();
    t.allow(&hook, &append);
    let text = fs::read_to_string(hook.file()).unwrap_or_default();
    t.check(text.contains("- x"), "not for this project");
}

fn odd_cwds(t: &mut Tally) {
    for (percent, expect) in [(6.0, Expect::Silence), (percent_in("narrow"), Expect::Block)] {
        let hook = t.filled(percent);
        for cwd in [
            json!("/"),
            json!(""),
            json!("/nowhere"),
            json!("relative/.."),
            json!(null),
            json!("a\nb"),
        ] {
            let mut call = case::read(&hook);
            call["cwd"] = cwd;
            t.send(&hook, &call, expect);
        }
        // The process's working folder is removed.
        let gone = hook.project.join("gone");
        fs::create_dir(&gone).expect("folder");
        let mut command = scene::through_sh(&hook, "rmdir \"$PWD\"; exec \"$PROGRAM\" hook");
        command.current_dir(&gone);
        t.run(command, case::read(&hook).to_string().as_bytes(), expect);
    }
}

fn no_proc(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    let command =
        |end: &str| scene::with_mounts(&hook, &format!("mount -t tmpfs none /proc && {end}"));
    if !scene::possible(command("true")) {
        return t.check(false, "no user namespace to be had, in which /proc can be hidden");
    }
    let run = "exec \"$PROGRAM\" hook";
    // Without its own path it cannot name its verbs, so it must not block.
    for payload in
        [case::read(&hook), case::batch(&hook), case::stop(&hook), case::start(&hook, "clear")]
    {
        t.run(command(run), payload.to_string().as_bytes(), Expect::Allow);
    }
}
