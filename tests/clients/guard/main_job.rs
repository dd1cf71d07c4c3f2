//! The main scenario: a long session fills its context, is restricted, writes notes, seals and is
//! cleared, and the next session continues. Only the first prompt is typed.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{asked, heard, moves, percent, report, result, step, told, unattended};
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

const NOTE: &str = "a plugin your user installed, watches how full this session is";

#[test]
fn a_session_seals_and_continues_by_itself() {
    let path = Arc::new(Mutex::new(String::new()));
    let (seen, known) = (Arc::clone(&path), Arc::clone(&path));
    let agent = moves(vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|r| {
            assert_eq!(heard(r), 0, "silent below the first tier");
            Reply::tool("Read", json!({"file_path": "README.md"})).tokens(percent(19.0))
        }),
        step(|r| {
            assert_eq!(heard(r), 0, "silent below the first tier");
            let mut reply = Reply::bash("echo p0").tokens(percent(21.0));
            for n in 1..20 {
                reply = reply.and_tool("Bash", json!({"command": format!("echo p{n}")}));
            }
            reply
        }),
        step(|r| {
            assert_eq!(told(r, NOTE), 1, "one note for twenty parallel calls");
            Reply::bash("true").tokens(percent(26.0))
                .and_tool_id("read-new", "Read", json!({"file_path": "other.txt"}))
                .and_tool_id("read-known", "Read", json!({"file_path": "README.md"}))
                .and_tool_id("edit", "Edit", json!({"file_path": "README.md", "old_string": "# a project", "new_string": "# the project"}))
                .and_tool_id("big", "Bash", json!({"command": "seq 1 5000"}))
                .and_tool_id("huge", "Bash", json!({"command": "seq 1 20000"}))
                .and_tool_id("big-fail", "Bash", json!({"command": "seq 1 20000; exit 3"}))
        }),
        step(move |r| {
            let (text, error) = result(r, "read-new");
            assert!(
                error
                    && text.contains("blocked Read")
                    && text.contains("reading new files is blocked"),
                "{text}"
            );
            assert!(!result(r, "read-known").1, "a known file may be read again");
            assert!(!result(r, "edit").1, "an edit works at block-reads");
            let (text, _) = result(r, "big");
            assert!(
                text.chars().count() < 4_400 && text.contains("characters left out"),
                "{} {text}",
                text.len()
            );
            let (text, _) = result(r, "huge");
            assert!(
                text.chars().count() < 4_400 && text.contains("Full output saved to"),
                "{} {text}",
                text.len()
            );
            let (text, error) = result(r, "big-fail");
            assert!(error && text.chars().count() < 10_100, "{}", text.len());
            Reply::bash("ls")
                .tokens(percent(31.0))
                .and_tool_id("write", "Write", json!({"file_path": "new.txt", "content": "x"}))
                .and_tool_id("shell", "Bash", json!({"command": "ls"}))
                .and_tool_id(
                    "agent",
                    "Agent",
                    json!({"description": "d", "prompt": "p", "subagent_type": "general-purpose"}),
                )
        }),
        step(move |r| {
            for id in ["write", "shell", "agent"] {
                let (text, error) = result(r, id);
                assert!(
                    error && text.contains("brain-guard blocked") && text.contains("31 % full"),
                    "{id}: {text}"
                );
            }
            let told = r.system_texts();
            let path = |text: &&str| {
                Some(text.split("bring /").nth(1)?.split(" up to date").next()?.to_owned())
            };
            let file = format!("/{}", told.iter().rev().find_map(path).expect("the path"));
            seen.lock().expect("no panic").push_str(&file);
            Reply::bash("brain-guard append --kind next <<'EOF'\n- the parser fails on $HOME `x` <CRLF>\nEOF")
                .tokens(percent(31.2))
                .and_tool_id("file", "Edit", json!({"file_path": file, "old_string": "## Forward State", "new_string": "## Forward State\n\n- write the lexer next"}))
        }),
        step(|r| {
            assert!(r.tool_results().iter().all(|t| !t.is_error), "{:?}", r.tool_results());
            Reply::bash("brain-guard seal").tokens(percent(31.4))
        }),
        step(|r| {
            let all = r.tool_results();
            assert!(all[0].text.contains("end your turn now"), "{}", all[0].text);
            Reply::text("Sealed. I end my turn.").tokens(percent(31.5))
        }),
        step(move |r| {
            let file =
                std::fs::read_to_string(&*known.lock().expect("no panic")).expect("the file");
            let file = notes::compaction::for_reader(&file);
            let texts = r.user_texts();
            let with_file = texts.iter().filter(|t| t.contains(&file)).count();
            assert_eq!(with_file, 1, "the sealed file, byte for byte, once: {texts:?}");
            assert!(
                file.contains("the parser fails on $HOME `x` <CRLF>")
                    && file.contains("write the lexer next")
            );
            Reply::tool("Read", json!({"file_path": "other.txt"})).tokens(percent(6.0))
        }),
        step(|r| {
            assert!(!r.tool_results()[0].is_error, "the stance is free again");
            Reply::text("going on").tokens(percent(6.5))
        }),
    ]);
    let world = World::build()
        .guard_settings(unattended())
        .file("other.txt", "other\n")
        .agent(agent)
        .start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    let last = world.mock.wait_main(10);
    let first = world.mock.main()[0].session.clone();
    assert_ne!(last.session, first, "a fresh session");
    tui.wait_idle();
    let status = asked(&world, "status");
    assert_eq!(status["stance"], "free");
    assert_eq!(status["boundary"], json!(null), "acknowledged: {status}");
    accounted(&world);
    report::shows_what_happened(
        &world,
        [first.as_deref(), last.session.as_deref()].map(|id| id.expect("an id")),
    );
}

/// The journals of both sessions record the actions. The text that the guard added to a context is
/// at most 0.3 % of the limit.
fn accounted(world: &World) {
    let main = world.mock.main();
    let id = |request: &Request| request.session.clone().expect("a session");
    let sessions = [id(&main[0]), id(&main[main.len() - 1])];
    let accounts = sessions.each_ref().map(|id| {
        let output = world.guard(&["explain", "--last", "1000", "--json", "--session", id]);
        let told: Value = serde_json::from_str(&output.stdout).expect("JSON");
        told["accounts"].as_array().cloned().unwrap_or_default()
    });
    let has = |index: usize, wanted: &dyn Fn(&Value) -> bool| accounts[index].iter().any(wanted);
    let step = |name: &'static str| move |line: &Value| line["step"] == name;
    for denied in ["Read", "Write", "Bash", "Agent"] {
        let of = |line: &Value| line["kind"] == "deny" && line["tool"] == denied;
        assert!(has(0, &of), "{denied}: {accounts:?}");
    }
    assert!(has(0, &|line| line["kind"] == "partial"), "{accounts:?}");
    assert!(has(0, &|line| line["kind"] == "cut" && line["id"] == "big"), "{accounts:?}");
    assert!(has(0, &|line| line["kind"] == "sealed" && line["version"] == 1), "{accounts:?}");
    assert!(has(0, &step("pending")) && has(0, &step("clearing")), "{accounts:?}");
    for name in ["cleared", "delivered", "acknowledged"] {
        assert!(has(1, &step(name)), "{name}: {accounts:?}");
    }
    assert!(
        has(1, &|line| line["kind"] == "delivered" && line["bytes"].as_u64() > Some(100)),
        "{accounts:?}"
    );
    for id in &sessions {
        let output = world.guard(&["status", "--json", "--session", id]);
        let status: Value = serde_json::from_str(&output.stdout).expect("JSON");
        let added = &status["added"];
        let percent = added["percent"].as_f64().expect("a share");
        assert!(added["tokens"].as_u64() > Some(0) && percent <= 0.3, "{added}");
    }
}
