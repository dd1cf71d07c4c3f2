//! The log on stderr, which is off by default.

use serde_json::{Value, json};

use super::{World, text};

fn lines(stderr: &str) -> Vec<Value> {
    let lines = stderr.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap_or_else(|e| panic!("{e}: {stderr}"))
}

#[test]
fn each_extraction_and_restore_logs_one_line() {
    let mut world = World::new();
    let path = world.session("s", 3600);
    world.hook.set("BRAIN_GUARD_LOG", "debug");
    let run = world.run(&["run", text(&path)]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let all = lines(&run.stderr);
    let of = |entry: &str| all.iter().find(|line| line["entry_id"] == entry).expect("a record");
    let first = of("s-r1");
    let key = "message.content.0.text";
    let bytes = first["sizes_bytes"][key].as_u64().expect("bytes");
    assert!(bytes > 3300 && bytes < 3400, "{first}");
    for (name, value) in [
        ("level", json!("debug")),
        ("module", json!("extraction")),
        ("keys_extracted", json!([key])),
        ("session", json!("pi/s")),
    ] {
        assert_eq!(first[name], value, "{name}: {first}");
    }
    super::aged(&path, 3600);
    let back = world.run(&["restore", text(&path), "s-r1", "--in-place"]);
    assert_eq!(back.code, Some(0), "{back:?}");
    let all = lines(&back.stderr);
    let [line] = all.as_slice() else { panic!("{all:?}") };
    for (name, value) in [
        ("level", json!("debug")),
        ("module", json!("extraction")),
        ("entry_id", json!("s-r1")),
        ("keys_restored", json!([key])),
        ("sizes_bytes", json!({key: bytes})),
        ("redacted", json!(false)),
        ("session", json!("pi/s")),
    ] {
        assert_eq!(line[name], value, "{name}: {line}");
    }
}

#[test]
fn the_log_is_off_by_default() {
    let world = World::new();
    let run = world.run(&["run", text(&world.session("a", 3600))]);
    assert!(run.code == Some(0) && run.stderr.is_empty(), "{run:?}");
}
