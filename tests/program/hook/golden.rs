//! The reply to every recorded payload, first event at 5 %, 26 % and 31 %; `UPDATE_GOLDEN=1`
//! rewrites them. A recording with the client's environment (`*.env.json`) is a separate case.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Map, Value};
use testing::checked_in::difference;

use crate::support::hook::{Hook, PROGRAM, fixtures};

const NOTHING: &str = "nothing";

fn names(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(fixtures().join(folder)).expect("folder");
    let name = |e: fs::DirEntry| e.file_name().into_string().expect("utf-8");
    entries.flatten().filter_map(|e| Some(name(e).strip_suffix(".json")?.to_owned())).collect()
}

fn read(folder: &str, name: &str) -> String {
    let path = fixtures().join(folder).join(format!("{name}.json"));
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The reply to a recording at this context usage, with placeholders for what differs between runs.
fn reply(name: &str, percent: f64) -> Value {
    let recorded = name.strip_suffix(".env");
    let text = read("payloads", recorded.unwrap_or(name));
    let payload: Value = serde_json::from_str(&text).expect("JSON");
    let mut hook = Hook::of(payload["session_id"].as_str().expect("session id"));
    let (home, project) = (hook.home.display().to_string(), hook.project.display().to_string());
    let placed =
        |text: &str| text.replace("/home/dev/project", &project).replace("/home/dev", &home);
    let mut payload: Value = serde_json::from_str(&placed(&text)).expect("JSON");
    payload["transcript_path"] = Value::from(hook.transcript.to_str().expect("utf-8"));
    hook.begin();
    if recorded.is_some() {
        let env: Map<String, Value> =
            serde_json::from_str(&placed(&read("payloads", name))).expect("JSON");
        hook.set("BRAIN_GUARD_MOD", "");
        for (key, value) in env {
            hook.set(&key, value.as_str().expect("text"));
        }
    }
    hook.fill(percent);
    let answer = hook.send(&payload);
    let reply = answer.json();
    if reply.is_null() {
        return NOTHING.into();
    }
    let job = hook.state()["job"].as_str().expect("job").to_owned();
    let state = hook.places().state.display().to_string();
    let mut text = reply.to_string();
    for (found, placeholder) in [
        (PROGRAM, "{program}"),
        (&*state, "{state}"),
        (&*project, "{project}"),
        (&*home, "{home}"),
        (&*job, "{job}"),
    ] {
        text = text.replace(found, placeholder);
    }
    serde_json::from_str(&ageless(&text)).expect("JSON")
}

/// Removes a figure's age: `…, transcript, 1 s old)`.
fn ageless(text: &str) -> String {
    let mut parts = text.split(", transcript, ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.split_once(')').map_or("", |(_, rest)| rest);
        out += ", transcript, {age})";
        out += rest;
    }
    out
}

#[test]
fn every_recorded_payload_has_its_reply() {
    let mut wrong = String::new();
    for name in names("payloads") {
        let mut replies = Map::new();
        for percent in [5, 26, 31] {
            replies.insert(format!("at {percent} %"), reply(&name, f64::from(percent)));
        }
        let got = serde_json::to_string_pretty(&replies).expect("JSON") + "\n";
        let path = fixtures().join("golden").join(format!("{name}.json"));
        wrong.extend(difference(
            &path,
            &got,
            "UPDATE_GOLDEN=1 cargo test --test program hook::golden",
        ));
    }
    assert!(wrong.is_empty(), "other replies than in fixtures/golden:\n{wrong}");
    assert_eq!(names("golden"), names("payloads"), "a golden without a payload");
}

/// A summary of the goldens, so that an update cannot add a block unnoticed.
#[test]
fn the_goldens_block_only_the_listed_calls() {
    let mut blocked = Vec::new();
    for name in names("golden") {
        let replies: Map<String, Value> =
            serde_json::from_str(&read("golden", &name)).expect("JSON");
        for (at, reply) in &replies {
            let denied = reply["hookSpecificOutput"]["permissionDecision"] == "deny";
            let refused = reply["hookSpecificOutput"]["hookEventName"] == "Stop";
            if denied || refused || reply["decision"] == "block" {
                blocked.push(format!("{name} {at}"));
            }
        }
    }
    let expected = [
        "PreToolUse-Agent at 31 %",
        "PreToolUse-Bash at 31 %",
        "PreToolUse-Read at 26 %",
        "PreToolUse-Read at 31 %",
        "PreToolUse-Skill at 31 %",
        "PreToolUse-Write at 31 %",
        "Stop at 31 %",
        "Stop-active at 31 %",
    ];
    assert_eq!(blocked, expected);
}
