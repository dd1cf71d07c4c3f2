//! H: several sessions in one project. Picking the newest one is wrong.

use std::fs;

use serde_json::json;

use crate::faults::case::{self, Case};
use crate::faults::scene::{self, Client};
use crate::faults::tally::Tally;
use crate::support::hook::{Hook, percent_in};

pub const CASES: &[Case] = &[
    ("H two sessions: a full one and an empty one take turns", take_turns),
    ("H two sessions: the newer one's file is not the older one's way out", own_files),
    ("H two sessions: one seals, the other one goes on", one_seals),
    ("H one id: the same session in two terminals", same_id),
    ("H names: folders of the same name, and names that fold into one", same_names),
    ("H names: session ids that are no names of files", odd_ids),
    ("H headless: a run without a terminal beside a session", headless),
];

/// A second session, of another client in the first one's project.
fn second(t: &mut Tally, first: &Hook, client: &Client) -> Hook {
    let hook = first.beside(&scene::id(2), client.pid());
    t.allow(&hook, &case::start(&hook, "startup"));
    hook.fill(5.0);
    t.silence(&hook, &case::read(&hook));
    hook
}

fn take_turns(t: &mut Tally) {
    let client = Client::new();
    let full = t.filled(percent_in("narrow"));
    let empty = second(t, &full, &client);
    for _ in 0..8 {
        t.block(&full, &case::read(&full));
        t.silence(&empty, &case::read(&empty));
        t.silence(&empty, &case::batch(&empty));
        t.silence(&empty, &case::stop(&empty));
    }
    empty.fill(percent_in("narrow"));
    t.block(&empty, &case::read(&empty));
}

fn own_files(t: &mut Tally) {
    let client = Client::new();
    let first = t.filled(percent_in("narrow"));
    let other = second(t, &first, &client);
    other.fill(percent_in("narrow"));
    t.block(&first, &case::read(&first));
    t.block(&other, &case::read(&other));
    t.check(first.file() != other.file(), "one file for both");
    scene::way_out(t, &first);
    scene::way_out(t, &other);
    t.block(&first, &first.call("Write", &json!({"file_path": other.file()})));
}

fn one_seals(t: &mut Tally) {
    let client = Client::new();
    let (sealed, _) = scene::sealed(t);
    let other = second(t, &sealed, &client);
    t.silence(&other, &case::bash(&other, "ls"));
    t.silence(&other, &case::stop(&other));
    let answer = t.allow(&other, &case::prompt(&other, "what next"));
    t.check(!scene::carries(&answer), "the other one's file came");
    t.block(&sealed, &case::bash(&sealed, "ls"));
}

fn same_id(t: &mut Tally) {
    let client = Client::new();
    let hook = t.filled(percent_in("narrow"));
    let twin = hook.beside(&hook.session, client.pid());
    t.allow(&twin, &case::start(&twin, "resume"));
    // It is full but was not seen to grow, so it gets notes, not blocks.
    t.allow(&twin, &case::read(&twin));
    t.allow(&hook, &case::read(&hook));
}

fn same_names(t: &mut Tally) {
    let full = t.filled(percent_in("narrow"));
    t.block(&full, &case::read(&full));
    for path in ["elsewhere/project", "project-", "a/b-c", "a-b/c", "a b", "a_b", "ä-b"] {
        let mut other = full.beside(&full.session, std::process::id());
        other.project = full.project.with_file_name("more").join(path);
        fs::create_dir_all(&other.project).expect("folder");
        let project = other.project.to_str().expect("utf-8").to_owned();
        other.set("CLAUDE_PROJECT_DIR", &project);
        // Not the first one's state, so it is a new session, which only gets notes.
        t.allow(&other, &case::read(&other));
        t.check(other.places().state != full.places().state, format!("{path}: one state for both"));
    }
    t.block(&full, &case::read(&full));
}

fn odd_ids(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    let long = "x".repeat(5000);
    for id in
        ["", ".", "..", "../../../x", "/etc/passwd", "a/b", "a\nb", "a\0b", "ä", long.as_str()]
    {
        let mut call = case::read(&hook);
        call["session_id"] = id.into();
        t.silence(&hook, &call);
    }
    for id in [json!(null), json!(7), json!({"a": 1}), json!(["x"])] {
        let mut call = case::read(&hook);
        call["session_id"] = id;
        t.silence(&hook, &call);
    }
}

fn headless(t: &mut Tally) {
    let full = t.filled(percent_in("narrow"));
    let mut print = full.beside(&scene::id(3), std::process::id());
    print.set("CLAUDE_CODE_SESSION_ATTENDED", "0");
    t.allow(&print, &case::start(&print, "startup"));
    for percent in [5.0, percent_in("narrow"), 80.0] {
        print.fill(percent);
        for payload in
            [case::read(&print), case::bash(&print, "ls"), case::batch(&print), case::stop(&print)]
        {
            t.allow(&print, &payload);
        }
    }
    t.block(&full, &case::read(&full));
}
