//! D: deadlocks and loops. A guard that blocks the only exit, asks forever, or waits for nothing.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::faults::case::{self, Case};
use crate::faults::scene::{self, way_out};
use crate::faults::tally::{Expect, Tally};
use crate::support::hook::percent_in;

pub const CASES: &[Case] = &[
    ("D exit: the three moves are free at every tier", moves_are_free),
    ("D exit: they are free on a full file, too", moves_on_a_full_file),
    ("D exit: the file by a link and by ..", other_names_of_the_file),
    ("D exit: with no carrier nothing is blocked", no_carrier),
    ("D exit: a boundary that failed lifts the blocks", failed_boundary),
    ("D read before edit: the file can be read whole, another again in part", read_before_edit),
    ("D stop: a turn's end is refused twice, then never again", stops),
    ("D stop: a hook of another plugin that blocks, too", stops_of_others),
    ("D flood: a hundred batches, one note and one line for the user", flood),
    ("D flood: forty denials add no line for the user", denials),
    ("D input: it is never closed behind a whole payload", input_held_open),
    ("D input: half a payload, and silence", half_a_payload),
    ("D output: nobody reads the answer", output_closed),
    ("D lock: another process holds the session's for good", lock_held),
];

fn moves_are_free(t: &mut Tally) {
    for percent in
        [5.0, percent_in("coach"), percent_in("block-reads"), percent_in("narrow"), 60.0, 99.0]
    {
        let hook = t.filled(percent);
        t.send(
            &hook,
            &case::read(&hook),
            if percent >= percent_in("block-reads") { Expect::Block } else { Expect::Allow },
        );
        way_out(t, &hook);
    }
}

fn moves_on_a_full_file(t: &mut Tally) {
    let hook = t.begun();
    hook.agent("brain-guard append --kind next 'first'");
    let words = "word ".repeat(4000);
    let text = fs::read_to_string(hook.file()).expect("file");
    fs::write(hook.file(), text.replace("first", &words)).expect("written");
    t.block(&hook, &case::bash(&hook, "ls"));
    way_out(t, &hook);
}

fn other_names_of_the_file(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
    let file = hook.file();
    let folder = file.parent().expect("folder");
    let link = hook.project.join("notes.md");
    std::os::unix::fs::symlink(&file, &link).expect("link");
    let dotted = folder.join("../").join(folder.file_name().expect("name")).join("./compaction.md");
    for path in [link, dotted] {
        t.allow(&hook, &hook.call("Edit", &json!({"file_path": path})));
    }
    t.block(&hook, &hook.call("Edit", &json!({"file_path": folder.join("other.md")})));
}

fn no_carrier(t: &mut Tally) {
    let mut hook = t.begun();
    hook.set("BRAIN_GUARD_MOD", "");
    hook.fill(40.0);
    for payload in [case::read(&hook), case::bash(&hook, "make"), case::stop(&hook)] {
        t.allow(&hook, &payload);
    }
    t.note(&hook, &case::batch(&hook));
}

fn failed_boundary(t: &mut Tally) {
    let (hook, token) = scene::sealed(t);
    t.block(&hook, &case::bash(&hook, "ls"));
    scene::change(&hook.places().token(&token), |token| {
        token["step"] = "failed".into();
        token["why"] = "the plugin's module did not act".into();
    });
    for _ in 0..3 {
        t.allow(&hook, &case::bash(&hook, "ls"));
        t.allow(&hook, &case::read(&hook));
    }
}

fn read_before_edit(t: &mut Tally) {
    let hook = t.begun();
    let known = json!({"tool_name": "Read", "tool_input": {"file_path": "/etc/passwd"},
        "tool_use_id": "toolu_1", "tool_response": {"type": "text"}});
    t.silence(&hook, &hook.payload("PostToolUse", &known));
    hook.fill(percent_in("block-reads"));
    t.block(&hook, &case::read(&hook));
    let again = t.allow(&hook, &hook.call("Read", &json!({"file_path": "/etc/passwd"})));
    t.check(again.stdout.contains("\"limit\":200"), "not in part");
    t.silence(&hook, &hook.call("Edit", &json!({"file_path": "/etc/passwd"})));
    let own = t.allow(&hook, &hook.call("Read", &json!({"file_path": hook.file()})));
    t.check(!own.stdout.contains("limit"), "the compaction file in part only");
}

fn stops(t: &mut Tally) {
    for attended in [false, true] {
        let hook = t.filled(percent_in("narrow"));
        t.block(&hook, &case::read(&hook));
        if attended {
            t.silence(&hook, &case::prompt(&hook, "go on"));
        }
        t.block(&hook, &case::stop(&hook));
        t.block(&hook, &case::stop(&hook));
        if attended {
            for _ in 0..6 {
                t.allow(&hook, &case::stop(&hook));
            }
        } else {
            // Nothing was written, so there is no boundary: the agent is told once to continue.
            t.block(&hook, &case::stop(&hook));
            t.allow(&hook, &case::bash(&hook, "ls"));
            t.allow(&hook, &case::stop(&hook));
        }
    }
}

fn stops_of_others(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
    let again = hook.payload("Stop", &json!({"stop_hook_active": true}));
    let ends: Vec<bool> = (0..30)
        .map(|_| t.send(&hook, &again, Expect::Either).stdout.contains("\"block\""))
        .collect();
    let longest = ends.split(|blocked| !blocked).map(<[bool]>::len).max();
    t.check(longest <= Some(3), format!("refused {longest:?} times in a row"));
}

fn flood(t: &mut Tally) {
    let hook = t.filled(percent_in("coach"));
    let answers: Vec<_> = (0..100).map(|_| t.allow(&hook, &case::batch(&hook))).collect();
    let notes = answers.iter().filter(|a| a.stdout.contains("additionalContext")).count();
    let lines = answers.iter().filter(|a| a.stdout.contains("systemMessage")).count();
    t.check((notes, lines) == (1, 1), format!("{notes} notes, {lines} lines for the user"));
}

fn denials(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    let answers: Vec<_> = (0..40).map(|_| t.block(&hook, &case::read(&hook))).collect();
    let lines = answers.iter().filter(|a| a.stdout.contains("systemMessage")).count();
    t.check(lines == 0, format!("{lines} lines for the user"));
    let longest = answers.iter().map(|a| a.reason().chars().count()).max();
    t.check(longest < Some(3_000), format!("a reason of {longest:?} characters"));
}

fn input_held_open(t: &mut Tally) {
    for (percent, expect) in [(5.0, Expect::Silence), (percent_in("narrow"), Expect::Block)] {
        let hook = t.filled(percent);
        let pipe = hook.project.join("input");
        let held = scene::held_pipe(&pipe, case::read(&hook).to_string().as_bytes());
        let mut command = scene::through_sh(&hook, "exec \"$PROGRAM\" hook < \"$INPUT\"");
        command.env("INPUT", &pipe);
        let began = Instant::now();
        t.run(command, b"", expect);
        t.check(began.elapsed() < Duration::from_secs(4), format!("after {:?}", began.elapsed()));
        drop(held);
    }
}

fn half_a_payload(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    let mut child = hook
        .command(&["hook"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut pipe = child.stdin.take().expect("stdin");
    pipe.write_all(b"{\"session_id\":\"x\"").expect("written");
    // It sleeps until the client ends it; its process state shows that it uses no CPU.
    let stat = format!("/proc/{}/stat", child.id());
    let sleeps = || fs::read_to_string(&stat).is_ok_and(|text| text.contains(") S "));
    t.check(scene::in_time(sleeps), "it doesn't sleep");
    drop(pipe);
    let ended = child.wait().expect("ended");
    t.check(ended.success(), format!("{ended}"));
}

fn output_closed(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    let mut command = hook.command(&["hook"]);
    let (reader, writer) = std::io::pipe().expect("pipe");
    drop(reader);
    command.stdin(Stdio::piped()).stdout(Stdio::from(writer));
    let mut child = command.spawn().expect("started");
    let payload = case::read(&hook).to_string();
    child.stdin.take().expect("stdin").write_all(payload.as_bytes()).expect("written");
    let ended = child.wait().expect("ended");
    t.check(ended.success(), format!("{ended}"));
}

fn lock_held(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    let lock = fs::File::create(hook.places().session(&hook.session, "lock")).expect("lock");
    lock.lock().expect("held");
    let began = Instant::now();
    t.allow(&hook, &case::read(&hook));
    t.check(began.elapsed() < Duration::from_secs(4), format!("after {:?}", began.elapsed()));
    drop(lock);
    t.block(&hook, &case::read(&hook));
}
