//! Shared parts of the scenarios: checks of requests, states and files, and the moves of every
//! boundary.

use serde_json::{Value, json};

use super::{Move, percent, step};
use crate::support::journal;
use crate::support::mock::{Reply, Request};
use crate::support::world::{World, jobs};

/// Settings of an unattended session whose steps time out after a second.
pub fn alone() -> Value {
    json!({"boundary": {"attended_minutes": 0, "min_interval_seconds": 0, "step_seconds": 1}})
}

/// Settings of an attended session without a notice.
pub fn watched() -> Value {
    json!({"boundary": {"attended_notice_seconds": 0, "min_interval_seconds": 0, "step_seconds": 1}})
}

/// Extends the step timeout, for a busy machine.
pub fn patient(mut settings: Value) -> Value {
    settings["boundary"]["step_seconds"] = json!(20);
    settings
}

/// The text of the result of this call, and whether it is an error.
#[track_caller]
pub fn result(request: &Request, id: &str) -> (String, bool) {
    let all = request.tool_results();
    let found = all.iter().find(|r| r.id == id);
    let found = found.unwrap_or_else(|| panic!("no result {id} among {all:?}"));
    (found.text.clone(), found.is_error)
}

#[track_caller]
pub fn all_went(request: &Request) {
    assert!(request.tool_results().iter().all(|t| !t.is_error), "{:?}", request.tool_results());
}

/// Counts a text in the whole conversation. For models without `system` messages, the client puts
/// the hooks' output into tool results.
pub fn said(request: &Request, text: &str) -> usize {
    let told = request.system_texts().into_iter().chain(request.user_texts());
    let results = request.tool_results();
    let results = results.iter().map(|r| r.text.as_str());
    told.chain(results).map(|t| t.matches(text).count()).sum()
}

/// `status --json` of the only live session, as the user calls it in a terminal.
#[track_caller]
pub fn status(world: &World) -> Value {
    ask(world, &["status", "--json"])
}

/// `explain --json` of the only live session.
#[track_caller]
pub fn explain(world: &World) -> Value {
    ask(world, &["explain", "--json"])
}

#[track_caller]
fn ask(world: &World, arguments: &[&str]) -> Value {
    let output = world.guard(arguments);
    serde_json::from_str(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// The sealed versions of all jobs, by path.
pub fn sealed(world: &World) -> Vec<String> {
    let folders = jobs(&world.state()).into_iter().map(|job| job.join("sealed"));
    let mut found: Vec<_> = folders
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flat_map(|files| files.flatten().map(|file| file.path()))
        .filter(|path| path.to_string_lossy().ends_with(".md"))
        .filter(|path| path.file_stem().is_some_and(|stem| !stem.to_string_lossy().contains('.')))
        .collect();
    found.sort();
    let read = |path| std::fs::read_to_string(path).expect("own file");
    found.iter().map(|path| notes::compaction::for_reader(&read(path))).collect()
}

/// The lines of the journals, oldest first.
pub fn logged(world: &World) -> Vec<Value> {
    world.parts().iter().flat_map(|part| journal::lines(part)).collect()
}

/// Waits until the boundary is over and the new session has answered.
#[track_caller]
pub fn wait_acknowledged(world: &World) {
    world.wait("acknowledgement", || {
        logged(world).iter().any(|line| line["step"] == "acknowledged").then_some(())
    });
    // The line is written before the boundary's state is removed.
    world.wait("the boundary's end", || status(world)["boundary"].is_null().then_some(()));
}

/// Appends a note at 31 % context usage, after a denied call.
pub fn note(text: &'static str) -> Move {
    step(move |_| append("next", text).tokens(percent(31.1)))
}

/// Calls `brain-guard append` with one entry.
pub fn append(kind: &str, text: &str) -> Reply {
    Reply::bash(&format!("brain-guard append --kind {kind} <<'EOF'\n- {text}\nEOF"))
}

/// Seals, after checking that nothing failed before.
pub fn seal() -> Move {
    step(|r| {
        all_went(r);
        Reply::bash("brain-guard seal").tokens(percent(31.2))
    })
}

/// Ends the turn, after checking that the seal asked for it.
pub fn end() -> Move {
    step(|r| {
        let text = &r.tool_results()[0].text;
        assert!(text.contains("end your turn now"), "{text}");
        Reply::text("Sealed. I end my turn.").tokens(percent(31.3))
    })
}

/// Binds the chords as `install` does, dated back so that every client has read them.
pub fn with_chords(world: &World) {
    let bindings = json!({"bindings": [{"context": "Chat", "bindings": {
        "ctrl+] ctrl+]": "command:clear", "ctrl+] ctrl+f": "command:brain-guard:resume",
    }}]});
    let path = world.home().join(".claude/keybindings.json");
    std::fs::write(&path, bindings.to_string()).expect("own file");
    world.wait("the chords to count as loaded", || {
        let changed = path.metadata().and_then(|m| m.modified()).expect("own file");
        changed.elapsed().is_ok_and(|age| age.as_secs() >= 5).then_some(())
    });
}
