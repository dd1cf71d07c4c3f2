//! N: facts of the client's interface that change between versions. New, missing or malformed facts
//! are no opinion, and our answers stay within the client's limits.

use serde_json::{Value, json};

use crate::faults::case::{self, Case};
use crate::faults::tally::{Expect, Tally};
use crate::support::hook::{Hook, percent_in};

pub const CASES: &[Case] = &[
    ("N interface: events, fields and values of a later version", later),
    ("N interface: fields that are missing", fewer),
    ("N interface: fields of another type", types),
    ("N interface: ids that are none", ids),
    ("N interface: payloads of megabytes, and deep ones", large),
    ("N interface: what is no JSON", no_json),
    ("N interface: outputs of another shape are left alone", outputs),
    ("N interface: a cut output keeps its shape", cut),
    ("N interface: a client without a process id, a module or a mode", older),
    ("N interface: a switch of models in every shape", switches),
    ("N interface: arguments of a later version", arguments),
];

/// A session in `narrow`, where a valid call would be refused.
fn narrow(t: &mut Tally) -> Hook {
    let hook = t.filled(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
    hook
}

fn later(t: &mut Tally) {
    let hook = narrow(t);
    for event in ["MessageDisplay", "PreTurn", "", "pretooluse", "PreToolUse2", "FileChanged"] {
        let mut call = case::read(&hook);
        call["hook_event_name"] = event.into();
        t.silence(&hook, &call);
    }
    for source in ["handover", "", "Clear"] {
        t.silence(&hook, &case::start(&hook, source));
    }
    // A call with unknown extra fields is still a call.
    let mut call = case::read(&hook);
    (call["schema"], call["permission_mode"]) = (json!({"v": 9}), json!("of-a-later-version"));
    t.block(&hook, &call);
}

fn fewer(t: &mut Tally) {
    let hook = narrow(t);
    let whole = case::read(&hook);
    for field in ["session_id", "hook_event_name", "tool_name"] {
        let mut call = whole.clone();
        call.as_object_mut().expect("object").remove(field);
        t.silence(&hook, &call);
        call[field] = Value::Null;
        t.silence(&hook, &call);
    }
    for (event, field) in [
        ("SessionStart", "source"),
        ("UserPromptSubmit", "prompt"),
        ("UserPromptExpansion", "command_name"),
    ] {
        let payload = hook.payload(event, &json!({}));
        t.check(payload[field].is_null(), "the payload has it");
        t.silence(&hook, &payload);
    }
    // A call without these fields is still understood.
    for field in ["cwd", "permission_mode", "tool_use_id", "tool_input"] {
        let mut call = whole.clone();
        call.as_object_mut().expect("object").remove(field);
        t.block(&hook, &call);
    }
}

fn types(t: &mut Tally) {
    let hook = narrow(t);
    for field in [
        "session_id",
        "hook_event_name",
        "tool_name",
        "transcript_path",
        "cwd",
        "agent_id",
        "permission_mode",
    ] {
        for value in [json!(7), json!([]), json!({"id": "x"}), json!(true)] {
            let mut call = case::read(&hook);
            call[field] = value;
            t.silence(&hook, &call);
        }
    }
    for input in [
        json!(null),
        json!("ls"),
        json!([1]),
        json!({"file_path": 7}),
        json!({"file_path": "/a", "limit": -1}),
    ] {
        let inside = case::inside(hook.call("Read", &input));
        t.silence(&hook, &inside);
    }
    let hook = t.begun();
    for input in [
        json!(null),
        json!("ls"),
        json!([1]),
        json!({"command": ["ls"]}),
        json!({"file_path": {"a": 1}}),
    ] {
        for tool in ["Bash", "Read", "Edit", "Skill", "mcp__a__b"] {
            t.silence(&hook, &hook.call(tool, &input));
        }
    }
}

fn ids(t: &mut Tally) {
    let hook = narrow(t);
    let long = "s".repeat(5_000);
    for id in ["", ".", "..", "../../x", "a/b", "a\u{0}b", "a\nb", "\u{202e}x", long.as_str()] {
        let mut call = case::read(&hook);
        call["session_id"] = id.into();
        t.allow(&hook, &call);
        let mut call = case::read(&hook);
        call["tool_use_id"] = id.into();
        t.block(&hook, &call);
    }
    let escaped = hook.home.parent().expect("parent").join("x.json").exists();
    t.check(!escaped, "an id led out of the folder");
}

fn large(t: &mut Tally) {
    let hook = t.begun();
    let text = "x".repeat(4_000_000);
    let write = hook.call("Write", &json!({"file_path": "/tmp/x", "content": text}));
    t.silence(&hook, &write);
    let output = json!({"stdout": text, "stderr": "", "interrupted": false, "isImage": false});
    let used =
        json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "t", "tool_response": output});
    t.silence(&hook, &hook.payload("PostToolUse", &used));
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let bytes = case::read(&hook).to_string().replace("\"/etc/hostname\"", &deep);
    t.bytes(&hook, bytes.as_bytes(), Expect::Silence);
    let many = format!("{{{}\"x\":1}}", "\"k\":1,".repeat(200_000));
    t.bytes(&hook, many.as_bytes(), Expect::Silence);
}

fn no_json(t: &mut Tally) {
    let hook = narrow(t);
    let text = case::read(&hook).to_string();
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (half, twice) = (&text.as_bytes()[..text.len() / 2], format!("{text}{text}"));
    for bytes in [&b""[..], b"\0", b"no", b"{", b"\xff\xfe", half, twice.as_bytes(), &utf16] {
        t.bytes(&hook, bytes, Expect::Silence);
    }
    t.bytes(&hook, format!("\r\n {text}\r\n").as_bytes(), Expect::Block);
}

fn used(hook: &Hook, output: &Value) -> Value {
    let more = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "toolu_7",
        "tool_response": output});
    hook.payload("PostToolUse", &more)
}

fn outputs(t: &mut Tally) {
    let hook = narrow(t);
    let text = "x".repeat(20_000);
    for output in [
        json!(null),
        json!(text),
        json!([{"type": "text", "text": text}]),
        json!({"content": text}),
        json!({"stdout": [text]}),
        json!({"stdout": text, "isImage": true}),
        json!({"stdout": text, "backgroundTaskId": "b1"}),
        json!({"stdout": "short", "stderr": "", "interrupted": false, "isImage": false}),
    ] {
        t.silence(&hook, &used(&hook, &output));
    }
}

fn cut(t: &mut Tally) {
    let hook = narrow(t);
    let output = json!({"stdout": "é".repeat(200_000), "stderr": "", "interrupted": false, "isImage": false,
        "noOutputExpected": false});
    let answer = t.allow(&hook, &used(&hook, &output)).json();
    let new = &answer["hookSpecificOutput"]["updatedToolOutput"];
    let names = |v: &Value| v.as_object().map(|o| o.keys().cloned().collect::<Vec<_>>());
    t.check(names(new) == names(&output), format!("{:?}", names(new)));
    t.check(new["stdout"].as_str().is_some_and(|s| s.chars().count() < 5_000), "not cut");
}

/// No carrier can clear such a session, so nothing may be blocked.
fn older(t: &mut Tally) {
    for (name, value) in [
        ("CLAUDE_PID", ""),
        ("CLAUDE_PID", "-1"),
        ("CLAUDE_PID", "0"),
        ("CLAUDE_PID", "x"),
        ("CLAUDE_PID", "99999999999"),
        ("BRAIN_GUARD_MOD", ""),
        ("BRAIN_GUARD_MOD", "0.0.0:1"),
        ("BRAIN_GUARD_MOD", "::"),
    ] {
        let mut hook = Hook::new();
        hook.set(name, value);
        t.begin(&hook);
        hook.fill(percent_in("narrow"));
        t.allow(&hook, &case::read(&hook));
        t.allow(&hook, &case::stop(&hook));
    }
    // A carrier exists without these.
    let mut hook = Hook::new();
    hook.set("CLAUDE_CODE_SESSION_ATTENDED", "").set("CLAUDECODE", "");
    t.begin(&hook);
    hook.fill(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
}

fn switches(t: &mut Tally) {
    let hook = t.begun();
    for more in [
        json!({}),
        json!({"new_model": null}),
        json!({"new_model": 7}),
        json!({"to_model": {"id": "claude-opus-5-5"}}),
        json!({"model": {"display_name": "Opus"}}),
        json!({"new_model": ""}),
    ] {
        t.silence(&hook, &hook.payload("PostModelSwitch", &more));
        t.silence(&hook, &case::read(&hook));
        t.silence(&hook, &case::stop(&hook));
    }
    // None of this changed the window.
    hook.respond(150_000, case::OPUS);
    t.silence(&hook, &case::read(&hook));
}

fn arguments(t: &mut Tally) {
    let hook = narrow(t);
    let text = case::read(&hook).to_string();
    for args in [
        &["hook", "--new"][..],
        &["hook", "--piece"],
        &["hook", "--piece", "x"],
        &["hook", "--piece", "99"],
    ] {
        // With a malformed piece number it is the main hook, which decides.
        let expect = if args.last() == Some(&"x") { Expect::Block } else { Expect::Silence };
        t.run(hook.command(args), text.as_bytes(), expect);
    }
}
