//! Parallel tool calls: twenty hooks of one response at once.

use serde_json::{Value, json};

use crate::faults::case::{self, Case};
use crate::faults::scene;
use crate::faults::tally::{Expect, Tally};
use crate::support::hook::{Hook, percent_in};

pub const CASES: &[Case] = &[
    ("parallel: twenty calls of a free session", free),
    ("parallel: twenty calls at a tier that coaches, one note", coached),
    ("parallel: twenty calls at the top, each refused", refused),
    ("parallel: twenty calls are the first that is seen of a full session", first_sight),
    ("parallel: twenty starts of one session", starts),
    ("parallel: every event of a session at once", all_events),
    ("parallel: twenty appends lose none", appends),
    ("parallel: twenty snapshots of the mod", snapshots),
];

fn calls(hook: &Hook, tool: &str) -> Vec<Value> {
    let call = |n: usize| {
        let mut call =
            hook.call(tool, &json!({"file_path": format!("/etc/file{n}"), "command": "ls"}));
        call["tool_use_id"] = format!("toolu_{n}").into();
        call
    };
    (0..20).map(call).collect()
}

fn no_faults(t: &mut Tally, hook: &Hook) {
    let faults = hook.journal("fault");
    t.check(faults.is_empty(), format!("{faults:?}"));
    t.check(hook.state()["job"].is_string(), "state damaged");
}

fn free(t: &mut Tally) {
    let hook = t.filled(6.0);
    t.at_once(&hook, &calls(&hook, "Read"), Expect::Silence);
    t.at_once(&hook, &calls(&hook, "Bash"), Expect::Silence);
    no_faults(t, &hook);
}

fn coached(t: &mut Tally) {
    let hook = t.filled(percent_in("coach"));
    let mut payloads = calls(&hook, "Read");
    payloads.extend([case::batch(&hook), case::batch(&hook)]);
    let answers = t.at_once(&hook, &payloads, Expect::Allow);
    let notes = answers.iter().filter(|a| !a.stdout.is_empty()).count();
    t.check(notes == 1, format!("{notes} notes"));
    no_faults(t, &hook);
}

fn refused(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    t.at_once(&hook, &calls(&hook, "Read"), Expect::Block);
    scene::way_out(t, &hook);
    no_faults(t, &hook);
}

fn first_sight(t: &mut Tally) {
    let hook = Hook::new();
    hook.fill(percent_in("narrow"));
    t.at_once(&hook, &calls(&hook, "Read"), Expect::Allow);
    no_faults(t, &hook);
}

fn starts(t: &mut Tally) {
    let hook = Hook::new();
    t.at_once(&hook, &vec![case::start(&hook, "startup"); 20], Expect::Silence);
    hook.fill(5.0);
    t.silence(&hook, &case::read(&hook));
    hook.fill(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
    no_faults(t, &hook);
}

fn all_events(t: &mut Tally) {
    let hook = t.filled(6.0);
    let used = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "toolu_1",
        "tool_response": {"stdout": "x", "stderr": "", "interrupted": false, "isImage": false}});
    let mut payloads = calls(&hook, "Edit");
    for _ in 0..4 {
        payloads.extend([
            hook.payload("PostToolUse", &used),
            case::batch(&hook),
            case::stop(&hook),
            case::prompt(&hook, "and then"),
            case::start(&hook, "resume"),
            hook.payload("SessionEnd", &json!({"reason": "other"})),
        ]);
    }
    t.at_once(&hook, &payloads, Expect::Allow);
    t.silence(&hook, &case::read(&hook));
    no_faults(t, &hook);
}

fn appends(t: &mut Tally) {
    let hook = t.begun();
    hook.agent("brain-guard append --kind next 'the first'");
    std::thread::scope(|scope| {
        for n in 0..20 {
            let hook = &hook;
            scope.spawn(move || {
                hook.agent(&format!("brain-guard append --kind next 'thread number {n} of many'"))
            });
        }
    });
    let text = std::fs::read_to_string(hook.file()).expect("file");
    let lost: Vec<usize> =
        (0..20).filter(|n| !text.contains(&format!("thread number {n} of many"))).collect();
    t.check(lost.is_empty(), format!("lost: {lost:?}"));
    t.silence(&hook, &case::read(&hook));
}

fn snapshots(t: &mut Tally) {
    let hook = t.begun();
    let folder = hook.places().snapshots();
    for n in 0..20 {
        let text = json!({"tokens": 310_000, "window": 1_000_000}).to_string();
        std::fs::write(folder.join(format!("toolu_{n}.json")), text).expect("snapshot");
    }
    t.at_once(&hook, &calls(&hook, "Read"), Expect::Block);
    let left = std::fs::read_dir(folder).expect("folder").count();
    t.check(left == 0, format!("{left} snapshots left"));
    no_faults(t, &hook);
}
