//! C: a subagent's hooks carry the parent's session and transcript. A full parent must not block
//! its subagents, and they must not change the parent's state.

use std::fs;

use serde_json::{Value, json};

use crate::faults::case::{self, Case};
use crate::faults::tally::{Expect, Tally};
use crate::support::hook::{Hook, percent_in};

pub const CASES: &[Case] = &[
    ("C subagents: a full parent stops no child", children_pass),
    ("C subagents: nor any other event of theirs", other_events),
    ("C subagents: twenty at once", at_once),
    ("C subagents: in a worktree and in folders that are gone", elsewhere),
    ("C subagents: their verbs", verbs),
    ("C subagents: they leave the parent's state alone", state_untouched),
    ("C subagents: their calls don't use up the parent's grace", grace),
    ("C subagents: their transcripts don't count", transcripts),
    ("C subagents: the first event of a session comes from one", first),
    ("C subagents: only agent_id marks one", marked),
    ("C subagents: the end of one is no person's prompt", ends),
    ("C subagents: a full parent starts no more", no_dispatch),
];

/// Calls of every kind.
fn calls(hook: &Hook) -> Vec<Value> {
    let file =
        json!({"file_path": "/etc/hostname", "content": "x", "old_string": "a", "new_string": "b"});
    let mut calls: Vec<Value> =
        ["Read", "Edit", "Write"].map(|tool| hook.call(tool, &file)).to_vec();
    calls.push(case::bash(hook, "cargo test"));
    let other = json!({"prompt": "p", "skill": "s", "url": "u", "pattern": "x", "query": "q"});
    calls.extend(
        ["Agent", "Task", "Skill", "WebFetch", "Grep", "mcp__x__y", "ToolSearch", "NewTool"]
            .map(|tool| hook.call(tool, &other)),
    );
    calls
}

fn children_pass(t: &mut Tally) {
    for percent in [percent_in("coach"), percent_in("block-reads"), percent_in("narrow"), 99.0] {
        let hook = t.filled(percent);
        t.send(
            &hook,
            &case::bash(&hook, "ls"),
            if percent >= percent_in("narrow") { Expect::Block } else { Expect::Allow },
        );
        for call in calls(&hook) {
            t.silence(&hook, &case::inside(call));
        }
    }
}

fn other_events(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
    let output =
        json!({"stdout": "x".repeat(20_000), "stderr": "", "interrupted": false, "isImage": false});
    let done = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "toolu_2",
        "tool_response": output});
    let failed = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "toolu_2",
        "error": "Exit code 3"});
    for (event, more) in [
        ("PostToolUse", done),
        ("PostToolUseFailure", failed),
        ("PostToolBatch", json!({"tool_calls": []})),
        ("SubagentStart", json!({})),
        ("SubagentStop", json!({"stop_hook_active": false, "background_tasks": []})),
        ("Stop", json!({"background_tasks": []})),
        ("StopFailure", json!({})),
        ("UserPromptSubmit", json!({"prompt": "do it"})),
    ] {
        t.silence(&hook, &case::inside(hook.payload(event, &more)));
    }
}

fn at_once(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
    let payloads = vec![case::inside(case::read(&hook)); 20];
    t.at_once(&hook, &payloads, Expect::Silence);
}

fn elsewhere(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    let worktree = hook.project.join(".claude/worktrees/one");
    fs::create_dir_all(&worktree).expect("folder");
    for cwd in [worktree.to_str().expect("utf-8"), "/nonexistent/folder", "", "relative"] {
        for call in calls(&hook) {
            let mut call = case::inside(call);
            call["cwd"] = cwd.into();
            t.silence(&hook, &call);
        }
    }
}

fn verbs(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    let asked = |command: &str| case::inside(case::bash(&hook, command));
    t.allow(&hook, &asked("brain-guard append --kind thread 'a finding'"));
    t.allow(&hook, &asked("brain-guard status"));
    t.block(&hook, &asked("brain-guard seal"));
}

fn state_untouched(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
    let before = hook.state();
    for call in calls(&hook) {
        t.silence(&hook, &case::inside(call));
    }
    let mut batch = case::inside(case::batch(&hook));
    batch["permission_mode"] = "plan".into();
    t.silence(&hook, &batch);
    t.check(hook.state() == before, "the state changed");
    t.block(&hook, &case::read(&hook));
}

fn grace(t: &mut Tally) {
    let hook = Hook::new();
    hook.fill(60.0);
    t.silence(&hook, &case::start(&hook, "resume"));
    t.allow(&hook, &case::read(&hook));
    for _ in 0..30 {
        t.silence(&hook, &case::inside(case::read(&hook)));
    }
    t.allow(&hook, &case::read(&hook));
}

fn transcripts(t: &mut Tally) {
    let hook = t.begun();
    let dir = hook.transcript.with_extension("").join("subagents");
    fs::create_dir_all(&dir).expect("folder");
    let mut row = case::response("child", 900_000);
    row["isSidechain"] = true.into();
    fs::write(dir.join("agent-a57d1be77952c40a2.jsonl"), format!("{row}\n")).expect("transcript");
    t.silence(&hook, &case::read(&hook));
    t.silence(&hook, &case::inside(case::read(&hook)));
    t.silence(&hook, &case::stop(&hook));
}

fn first(t: &mut Tally) {
    let hook = Hook::new();
    hook.fill(60.0);
    t.silence(&hook, &case::inside(case::read(&hook)));
    t.silence(&hook, &case::inside(case::stop(&hook)));
    t.allow(&hook, &case::read(&hook));
}

/// `--agent` gives the main conversation a type, too.
fn marked(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    for (field, value) in [("agent_type", json!("reviewer")), ("agent_id", json!(null))] {
        let mut call = case::read(&hook);
        call[field] = value;
        t.block(&hook, &call);
    }
}

fn ends(t: &mut Tally) {
    let mut hook = t.filled(percent_in("narrow"));
    hook.set("BRAIN_GUARD_MOD", "");
    let told = "<task-notification>\n<task-id>a57d</task-id>\n<status>completed</status>";
    t.silence(&hook, &case::prompt(&hook, told));
    // Nobody can type /clear and no carrier works: no way out, so no block.
    t.allow(&hook, &case::read(&hook));
    t.allow(&hook, &case::stop(&hook));
}

fn no_dispatch(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    for tool in ["Agent", "Task", "SendMessage"] {
        t.block(&hook, &hook.call(tool, &json!({"prompt": "p"})));
    }
    // A running subagent can be stopped or read.
    for tool in ["TaskStop", "TaskOutput"] {
        t.allow(&hook, &hook.call(tool, &json!({"task_id": "x"})));
    }
}
