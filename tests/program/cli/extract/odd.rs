//! Rows left alone, values extracted early, and savings too small to act on.

use std::fs::File;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::world::{ID, World, long};

/// Results as flat rows, `t0` to `t9`, some with another end.
fn rows(instead: &[(usize, &str)]) -> World {
    let first = json!({ "type": "user", "__id": "u0", "content": "go" });
    let mut rows: Vec<String> = (0..10)
        .map(|n| {
            let output = long(&format!("output {n}"), 1_600);
            json!({ "type": "tool_result", "__id": format!("t{n}"), "output": output }).to_string()
        })
        .collect();
    for (n, more) in instead {
        rows[*n].pop();
        rows[*n].push_str(more);
    }
    let world = World::of(&format!("{first}\n{}\n", rows.join("\n")));
    world.hook.settings(&json!({ "extract": { "protect_turns": 0 } }));
    world
}

fn watched(world: &World) -> Value {
    let file = world.file().display().to_string();
    world.json(&["watch", &file, "--once"])
}

/// A raw tab, a duplicate name, a meaningless `_extractable`, text after the row's end. Such rows
/// stay unchanged, are listed by line, and hold nothing else back.
#[test]
fn odd_rows_stay_and_the_rest_is_extracted() {
    let world = rows(&[
        (1, ",\"note\":\"a\tb\"}"),
        (2, r#","output":"short"}"#),
        (3, r#","_extractable":"false"}"#),
        (4, "} x"),
    ]);
    let before = world.text();
    let plan = world.json(&["plan", ID]);
    assert_eq!(plan["left"], json!({ "broken": [3, 6], "twice": [4], "unclear": [5] }), "{plan:#}");
    let shown = world.done(&["plan", ID]);
    for line in [
        "skipped: not valid JSON, lines 3, 6",
        "skipped: a name stands twice where it has values, line 4",
        "skipped: `_extractable` is neither true, false nor a number of messages, line 5",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let told = world.done(&["run", ID]);
    assert!(told.contains("extracted 3 values") && told.contains("lines 3, 6"), "{told}");
    let (text, gone) = (world.text(), [1, 6, 7]);
    for (n, (old, new)) in before.lines().zip(text.lines()).enumerate() {
        assert_eq!(old != new, gone.contains(&n), "row {n}");
    }
    assert_eq!(world.extracts(&[]), 0, "and a second time there is nothing to do");
    assert_eq!(world.text(), text);
    world.done(&["restore", ID, "all", "--in-place", "--unmarked"]);
    assert_eq!(world.text(), before);
    // `set-extractable` can clarify an unclear flag, but cannot write to invalid JSON.
    world.done(&["set-extractable", ID, "t1", "false"]);
    world.done(&["set-extractable", ID, "t3", "none"]);
    assert_eq!(world.text(), before.replace(r#","_extractable":"false""#, ""));
}

/// A value that a later message repeats is extracted even if recent, unless `dedupe` is off.
#[test]
fn a_repeated_value_is_extracted_early() {
    let world = rows(&[]);
    let (of, twin) = (world.row("t9")["output"].clone(), "t7");
    world.set(twin, "output", of);
    let told = world.json(&["plan", ID]);
    let because = |entry: &str| {
        let items = told["items"].as_array().expect("items");
        items.iter().find(|item| item["entry_id"] == entry).map(|item| item["because"].clone())
    };
    assert_eq!(because(twin), Some("again".into()));
    assert_eq!(because("t6"), Some("old".into()));
    assert_eq!(because("t9"), None);
    let shown = world.done(&["plan", ID]);
    assert!(
        shown.contains("1 value that recent messages hold, because a later message repeats them"),
        "{shown}"
    );
    assert_eq!(world.extracts(&[]), 8);
    world.hook.settings(&json!({ "extract": { "protect_turns": 0, "dedupe": false } }));
    world.done(&["restore", ID, "all", "--in-place", "--unmarked"]);
    assert_eq!(world.extracts(&[]), 7);
}

/// `watch` waits until the saving is worth it; `run` does not.
#[test]
fn watching_waits_until_it_is_worth_it() {
    let world = rows(&[]);
    let before = world.text();
    world.hook.settings(&json!({ "extract": { "protect_turns": 0, "min_saving": 20_000 } }));
    let seen = watched(&world)["seen"][0].clone();
    assert_eq!((&seen["came"], &seen["values"]), (&"little".into(), &7.into()), "{seen:#}");
    let shown = world.done(&["plan", ID]);
    assert!(shown.contains("too little to write the file anew"), "{shown}");
    assert_eq!(world.text(), before);
    let settings = |min: u64| json!({ "extract": { "protect_turns": 0, "min_saving": min } });
    let bytes = seen["bytes"].as_u64().expect("a number");
    world.hook.settings(&settings(bytes));
    assert_eq!(watched(&world)["seen"][0]["came"], "extracted");
    world.write(&before);
    world.hook.settings(&settings(20_000));
    assert_eq!(world.extracts(&[]), 7);
}

/// If no row has a time, the file's time counts.
#[test]
fn a_session_without_times_is_as_old_as_its_file() {
    let world = rows(&[]);
    world.hook.settings(&json!({ "extract": { "protect_turns": 0, "min_saving": 0 } }));
    assert_eq!(world.json(&["plan", ID])["verdict"], "cold");
    let file = File::options().append(true).open(world.file()).expect("opened");
    file.set_modified(SystemTime::now()).expect("set");
    let verdict = world.json(&["plan", ID])["verdict"].clone();
    assert!(verdict["pays"].is_u64() || verdict.get("waits").is_some(), "{verdict}");
}

/// A long session has thousands of values, so only the first are listed.
#[test]
fn a_restore_of_many_lists_the_first_and_counts_the_rest() {
    let text: String = (0..30)
        .map(|n| {
            let output = long(&format!("output {n}"), 1_600);
            let row = json!({ "type": "tool_result", "__id": format!("t{n}"), "output": output });
            format!("{row}\n")
        })
        .collect::<Vec<_>>()
        .concat();
    let world = World::of(&text);
    world.hook.settings(&json!({ "extract": { "protect_turns": 0, "keep_recent": 2 } }));
    assert_eq!(world.extracts(&[]), 28);
    let told = world.done(&["restore", ID, "all", "--in-place", "--unmarked"]);
    assert_eq!(told.lines().filter(|line| line.starts_with("restored output of t")).count(), 20);
    assert!(told.contains("and 8 values of 8 entries more; --json has all"), "{told}");
    assert_eq!(world.text(), text);
}
