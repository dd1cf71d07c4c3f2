//! Disks that are read-only or full, or hold something else in place of our files.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::faults::case::{self, Case};
use crate::faults::scene::{self, INSTEAD, Instead, way_out};
use crate::faults::tally::{Expect, Tally};
use crate::support::hook::{Hook, percent_in};

pub const CASES: &[Case] = &[
    ("disk: the state is read-only", read_only_state),
    ("disk: the project is read-only", read_only_project),
    ("disk: everything is read-only", read_only_all),
    ("disk: the state's disk is full", full_state),
    ("disk: every disk is full, and the file is sealed", full_and_sealed),
    ("disk: no more files can be opened", no_descriptors),
    ("disk: the session's state is something else", odd_state),
    ("disk: the state's folders are something else", odd_folders),
    ("disk: the log can't be written", odd_log),
    ("disk: the lock is something else", odd_lock),
    ("disk: the count of calls and the list of files are something else", odd_sidecars),
    ("disk: a state of 16 MB that is none", bloated_state),
    ("disk: snapshots of the mod that are torn, stale, or something else", odd_snapshots),
    ("disk: snapshots of the mod that tell nonsense", nonsense_snapshots),
    ("disk: the job's record and the seat are something else", odd_records),
];

const READ_ONLY: &str = r#"mount --bind "$AT" "$AT" && mount -o remount,ro,bind "$AT" "$AT""#;

/// Moves the folder to a disk of 300 KB and fills that.
const FULL: &str = r#"mkdir "$AT.copy" && cp -a "$AT/." "$AT.copy" && mount -t tmpfs -o size=300k none "$AT" &&
    cp -a "$AT.copy/." "$AT" && { head -c 400000 /dev/zero > "$AT/fill" || true; } 2> /dev/null"#;

/// Sends payloads in a namespace where `script` was run on the folder `at`; `false` if that is
/// impossible here.
fn send(
    t: &mut Tally,
    hook: &Hook,
    script: &str,
    at: &Path,
    payloads: &[(serde_json::Value, Expect)],
) -> bool {
    let within = |end: &str| {
        let mut command = scene::with_mounts(hook, &format!("{script} && {end}"));
        command.env("AT", at).current_dir("/");
        command
    };
    let again = || fs::remove_dir_all(format!("{}.copy", at.display())).is_ok();
    if !scene::possible(within("true")) {
        t.check(false, "no user namespace to be had, in which a disk can be mounted");
        return false;
    }
    for (payload, expect) in payloads {
        again();
        t.run(within("exec \"$PROGRAM\" hook"), payload.to_string().as_bytes(), *expect);
    }
    again();
    true
}

fn every_event(hook: &Hook, expect: Expect) -> Vec<(serde_json::Value, Expect)> {
    let payloads = [
        case::read(hook),
        case::bash(hook, "rm -rf target"),
        case::batch(hook),
        case::stop(hook),
        case::prompt(hook, "go on"),
        case::start(hook, "resume"),
        hook.payload("PreCompact", &json!({"trigger": "auto"})),
        hook.payload("SessionEnd", &json!({"reason": "clear"})),
    ];
    payloads.map(|payload| (payload, expect)).into()
}

fn read_only_state(t: &mut Tally) {
    for denied_before in [false, true] {
        let hook = t.filled(percent_in("narrow"));
        if denied_before {
            t.block(&hook, &case::read(&hook));
        }
        let state = hook.places().state;
        send(t, &hook, READ_ONLY, &state, &every_event(&hook, Expect::Allow));
    }
}

/// Nothing is written into the project.
fn read_only_project(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    let project = hook.project.clone();
    if !send(t, &hook, READ_ONLY, &project, &[(case::read(&hook), Expect::Block)]) {
        return;
    }
    way_out(t, &hook);
}

fn read_only_all(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    let root = hook.project.parent().expect("root").to_path_buf();
    send(t, &hook, READ_ONLY, &root, &every_event(&hook, Expect::Allow));
}

fn full_state(t: &mut Tally) {
    for denied_before in [false, true] {
        let hook = t.filled(percent_in("narrow"));
        if denied_before {
            t.block(&hook, &case::read(&hook));
        }
        let state = hook.places().state;
        send(t, &hook, FULL, &state, &every_event(&hook, Expect::Allow));
    }
}

fn full_and_sealed(t: &mut Tally) {
    let (hook, _) = scene::sealed(t);
    t.block(&hook, &case::bash(&hook, "ls"));
    let state = hook.places().state;
    send(t, &hook, FULL, &state, &every_event(&hook, Expect::Allow));
}

fn no_descriptors(t: &mut Tally) {
    // Three are open at the start; the loader needs one more at a time.
    for limit in [4, 5, 6] {
        let hook = t.filled(percent_in("narrow"));
        let command =
            scene::through_sh(&hook, &format!("ulimit -n {limit}; exec \"$PROGRAM\" hook"));
        // With enough descriptors it is refused as usual.
        t.run(command, case::read(&hook).to_string().as_bytes(), Expect::Either);
    }
}

/// An unusable state is replaced or cannot be kept; either way nothing is blocked.
fn odd_state(t: &mut Tally) {
    for what in INSTEAD {
        let hook = t.filled(percent_in("narrow"));
        let _held = scene::put(&scene::state(&hook), what);
        for payload in
            [case::read(&hook), case::bash(&hook, "ls"), case::batch(&hook), case::stop(&hook)]
        {
            t.allow(&hook, &payload);
        }
    }
}

fn odd_folders(t: &mut Tally) {
    for folder in ["", "sessions", "boundary", "snapshots", "outputs"] {
        for what in
            [Instead::Nothing, Instead::Pipe, Instead::Loop, Instead::Dangling, Instead::Empty]
        {
            let hook = t.filled(percent_in("narrow"));
            let path = hook.places().state.join(folder);
            let path = if folder.is_empty() { hook.places().state } else { path };
            let _held = scene::put(&path, what);
            let kept = ["boundary", "snapshots", "outputs"].contains(&folder);
            let expect = if kept { Expect::Block } else { Expect::Allow };
            t.send(&hook, &case::read(&hook), expect);
            for payload in
                [case::batch(&hook), case::start(&hook, "clear"), case::prompt(&hook, "x")]
            {
                t.allow(&hook, &payload);
            }
        }
    }
}

fn odd_log(t: &mut Tally) {
    for what in INSTEAD {
        let hook = t.filled(percent_in("narrow"));
        let _held = scene::put(&hook.places().log(), what);
        t.block(&hook, &case::read(&hook));
        way_out(t, &hook);
        let mut torn = case::read(&hook).to_string();
        torn.truncate(50);
        t.bytes(&hook, torn.as_bytes(), Expect::Silence);
    }
}

fn odd_lock(t: &mut Tally) {
    for what in [Instead::Folder, Instead::Pipe, Instead::Loop, Instead::Huge] {
        let hook = t.filled(percent_in("narrow"));
        let _held = scene::put(&hook.places().session(&hook.session, "lock"), what);
        let expect = if matches!(what, Instead::Huge) { Expect::Block } else { Expect::Allow };
        for payload in [case::read(&hook), case::bash(&hook, "ls")] {
            t.send(&hook, &payload, expect);
        }
    }
}

fn odd_sidecars(t: &mut Tally) {
    for what in INSTEAD {
        let hook = t.begun();
        for name in ["calls", "files"] {
            let path = hook.places().session(&hook.session, name);
            let _held = scene::put(&path, what);
            hook.fill(6.0);
            t.silence(&hook, &case::read(&hook));
            let used = json!({"tool_name": "Read", "tool_input": {"file_path": "/etc/hosts"},
                "tool_response": {"type": "text"}});
            t.silence(&hook, &hook.payload("PostToolUse", &used));
            hook.fill(percent_in("block-reads"));
            t.block(&hook, &case::read(&hook));
            t.silence(&hook, &case::bash(&hook, "ls"));
            hook.fill(5.0);
        }
    }
}

/// A state this large counts as damaged and is replaced.
fn bloated_state(t: &mut Tally) {
    for (bytes, expect) in [(1 << 20, Expect::Block), (16 << 20, Expect::Allow)] {
        let hook = t.filled(percent_in("narrow"));
        let mut text = fs::read(scene::state(&hook)).expect("state");
        text.resize(bytes, b' ');
        fs::write(scene::state(&hook), &text).expect("written");
        t.send(&hook, &case::read(&hook), expect);
    }
}

fn snapshot(hook: &Hook) -> std::path::PathBuf {
    hook.places().snapshots().join("toolu_1.json")
}

/// The transcript decides then: 6 % passes, 31 % does not.
fn odd_snapshots(t: &mut Tally) {
    for (percent, expect) in [(6.0, Expect::Silence), (percent_in("narrow"), Expect::Block)] {
        let hook = t.filled(percent);
        for what in INSTEAD {
            let _held = scene::put(&snapshot(&hook), what);
            t.send(&hook, &case::read(&hook), expect);
        }
        for torn in [
            "",
            "{",
            "{\"tokens\":3100",
            "null",
            "[]",
            "7",
            "{\"tokens\":null}",
            "{\"tokens\":\"x\"}",
        ] {
            scene::clear_away(&snapshot(&hook));
            fs::write(snapshot(&hook), torn).expect("written");
            t.send(&hook, &case::read(&hook), expect);
        }
        // A snapshot of another call is ignored.
        let other = snapshot(&hook).with_file_name("toolu_0.json");
        fs::write(other, "{\"tokens\":900000,\"window\":1000000}").expect("written");
        t.send(&hook, &case::read(&hook), expect);
        for id in ["", "..", "../sessions/x", "a/b"] {
            let mut call = case::read(&hook);
            call["tool_use_id"] = id.into();
            t.send(&hook, &call, expect);
        }
    }
}

fn nonsense_snapshots(t: &mut Tally) {
    for text in [
        r#"{"tokens":18446744073709551615,"window":1000000}"#,
        r#"{"tokens":18446744073709551615,"output":18446744073709551615}"#,
        r#"{"tokens":18446744073709551616}"#,
        r#"{"tokens":-1}"#,
        r#"{"tokens":1e9}"#,
        r#"{"tokens":58000,"window":-5}"#,
        r#"{"tokens":58000,"output":null,"window":null,"model":null}"#,
        r#"{"tokens":58000,"window":1000000,"model":"of a later time"}"#,
        r#"{"tokens":0,"window":0}"#,
    ] {
        let hook = t.filled(6.0);
        fs::write(snapshot(&hook), text).expect("written");
        t.silence(&hook, &case::read(&hook));
        t.silence(&hook, &case::bash(&hook, "ls"));
    }
}

fn odd_records(t: &mut Tally) {
    for what in INSTEAD {
        let hook = t.filled(percent_in("narrow"));
        t.block(&hook, &case::read(&hook));
        let job = hook.state()["job"].as_str().expect("job").to_owned();
        let places = hook.places();
        let seat = places.session(&format!("client-{}", std::process::id()), "seat");
        let _record = scene::put(&places.job(&job).join("job.json"), what);
        let _seat = scene::put(&seat, what);
        // A record too large to read is replaced.
        if what.is_usable() || matches!(what, Instead::Huge) {
            t.block(&hook, &case::bash(&hook, "ls"));
            way_out(t, &hook);
        } else {
            t.allow(&hook, &case::bash(&hook, "ls"));
        }
        let next = scene::after_clear(&hook, 2);
        for payload in
            [case::start(&next, "clear"), case::read(&next), case::start(&next, "startup")]
        {
            t.allow(&next, &payload);
        }
    }
}
