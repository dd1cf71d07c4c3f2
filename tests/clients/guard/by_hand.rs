//! Without the module, the hooks read the usage from the transcript and the user clears. The hooks
//! deliver the file in pieces, and the rewake starts the fresh session's turn.

use serde_json::{Value, json};

use super::story::{
    all_went, alone, append, end, explain, logged, note, result, said, seal, sealed, status,
    wait_acknowledged, watched,
};
use super::{moves, percent, step, told};
use crate::support::mock::{Gate, Reply, Request};
use crate::support::world::{Builder, World};

/// Joins the pieces of a delivery in the order of their numbers.
fn put_together(request: &Request) -> String {
    let mut pieces: Vec<(String, String)> = Vec::new();
    let texts = request.system_texts();
    for text in texts.iter().flat_map(|t| t.split("<<<<< compaction file ").skip(1)) {
        let (head, rest) = text.split_once('\n').expect("a marker ends its line");
        let (file, _) = rest.split_once("\n>>>>> end of ").expect("an end marker");
        pieces.push((head.to_owned(), file.to_owned()));
    }
    pieces.sort();
    pieces.into_iter().map(|(_, file)| file).collect()
}

fn user_clears(world: Builder) {
    let agent = moves(vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| Reply::bash("echo two").tokens(percent(31.0))),
        step(|_| {
            Reply::bash("true").tokens(percent(31.1)).and_tool_id(
                "write",
                "Write",
                json!({"file_path": "new.txt", "content": "x"}),
            )
        }),
        step(|r| {
            let (text, error) = result(r, "write");
            assert!(error && text.contains("the context is 31 % full"), "{text}");
            append("next", "the parser fails on <CRLF>").tokens(percent(31.1))
        }),
        seal(),
        end(),
        step(|r| {
            assert!(
                r.last_user_text().contains("Continue with the first item under Forward State")
            );
            Reply::bash("echo goes-on").tokens(percent(6.0))
        }),
        step(|r| {
            all_went(r);
            Reply::text("going on").tokens(percent(6.5))
        }),
    ]);
    let world = world.guard_settings(watched()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(6);
    tui.wait_screen("what the user is asked for", |screen| screen.contains("Type /clear"));
    tui.wait_idle();
    let context = status(&world)["context"].take();
    assert_eq!(
        (&context["source"], &context["window"]),
        (&json!("transcript"), &json!(1_000_000)),
        "{context}"
    );
    tui.prompt("/clear");
    let first = world.mock.wait_main(7);
    assert_ne!(first.session, world.mock.main()[0].session, "a fresh session");
    let file = sealed(&world).pop().expect("a sealed file");
    assert!(file.contains("the parser fails on <CRLF>"));
    assert_eq!(said(&first, &file), 1, "{:?}", first.system_texts());
    world.mock.wait_main(8);
    wait_acknowledged(&world);
    tui.wait_idle();
    assert_eq!(world.mock.main().len(), 8);
}

#[test]
fn the_user_is_asked_to_clear_where_the_module_is_missing() {
    user_clears(World::build().without_mod());
}

#[test]
fn nothing_is_blocked_without_a_carrier() {
    let agent = moves(vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| Reply::bash("echo two").tokens(percent(31.0))),
        step(|_| {
            Reply::bash("echo three")
                .tokens(percent(31.1))
                .and_tool("Write", json!({"file_path": "new.txt", "content": "x"}))
                .and_tool("Read", json!({"file_path": "README.md"}))
        }),
        step(|r| {
            all_went(r);
            // The note comes with the first batch, or one response later if the transcript is late.
            assert_eq!(told(r, "Nothing is blocked, because no carrier"), 1);
            Reply::text("done").tokens(percent(31.2))
        }),
    ]);
    let world = World::build().without_mod().guard_settings(alone()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(4);
    tui.wait_idle();
    // The client wraps the line.
    let told = tui.screen().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("nothing is blocked") && told.contains("no carrier"), "{told}");
    let why = explain(&world);
    assert_eq!((&why["tier"], &why["stance"]), (&json!("narrow"), &json!("coach")), "{why}");
    assert_eq!(why["capped"], "no carrier can clear this session now");
    let carriers = why["carriers"].as_str().expect("a text");
    assert!(
        carriers.contains("module is not running") && carriers.contains("nobody has typed"),
        "{carriers}"
    );
    assert_eq!(why["last_denied"], Value::Null);
}

#[test]
fn a_file_of_several_pieces_arrives_whole() {
    // Words as long as paths: few enough words to block nothing, but three pieces in characters.
    let lines = |from: usize| -> String {
        let line = |n: usize| {
            let word = format!("crates/parser/src/grammar/rules/expression_{n:03}.rs");
            format!("- entry {n}: {word} é {word} <tag> {word}\n")
        };
        (from..from + 20).map(line).collect()
    };
    let long = move |from| {
        let command = format!("brain-guard append --kind next <<'EOF'\n{}EOF", lines(from));
        step(move |_| Reply::bash(&command).tokens(percent(31.1)))
    };
    let agent = moves(vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| Reply::bash("echo two").tokens(percent(31.0))),
        long(0),
        long(20),
        long(40),
        // One line longer than the client's limit for one hook's output.
        step(|_| append("next", &"a/very/long/path/".repeat(650)).tokens(percent(31.1))),
        note("the last one"),
        seal(),
        end(),
        step(|_| Reply::text("going on").tokens(percent(6.0))),
    ]);
    let world = World::build().without_mod().guard_settings(watched()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(9);
    tui.wait_screen("what the user is asked for", |screen| screen.contains("Type /clear"));
    tui.wait_idle();
    tui.prompt("/clear");
    let first = world.mock.wait_main(10);
    let file = sealed(&world).pop().expect("a sealed file");
    assert!(file.chars().count() > 15_000, "three pieces: {}", file.chars().count());
    assert_eq!(put_together(&first), file);
    wait_acknowledged(&world);
    assert_eq!(logged(&world).iter().filter(|e| e["step"] == "delivered").count(), 1);
}

#[test]
fn long_prompts_do_not_push_the_file_out() {
    let entries: Vec<_> = (0..118).map(|n| format!("- entry {n}: {}", "x".repeat(45))).collect();
    let entries = entries.join("\n");
    let command = format!("brain-guard append --kind next <<'EOF'\n{entries}\nEOF");
    let agent = moves(vec![
        step(|_| Reply::text("first-turn").tokens(percent(5.0))),
        step(|_| Reply::bash("echo two").tokens(percent(31.0))),
        step(move |_| Reply::bash(&command).tokens(percent(31.1))),
        seal(),
        end(),
        step(|_| Reply::text("going on").tokens(percent(6.0))),
    ]);
    let world = World::build().without_mod().guard_settings(watched()).agent(agent).start();
    let tui = world.tui(&[]);
    let paste = |mark: &str| {
        tui.type_text(&format!("{mark} {}", "many words ".repeat(150)));
        tui.wait_screen("the paste", |_| {
            tui.prompt_box().is_some_and(|b| b.contains("Pasted text"))
        });
        tui.keys("Enter");
    };
    paste("FIRST");
    tui.wait_screen("the first turn's end", |screen| screen.contains("first-turn"));
    tui.wait_idle();
    paste("SECOND");
    world.mock.wait_main(5);
    tui.wait_screen("what the user is asked for", |screen| screen.contains("Type /clear"));
    tui.wait_idle();
    tui.prompt("/clear");
    let first = world.mock.wait_main(6);
    let file = sealed(&world).pop().expect("a sealed file");
    assert!((6_500..7_500).contains(&file.chars().count()), "one piece: {}", file.chars().count());
    assert_eq!(said(&first, &file), 1);
    assert_eq!(
        (said(&first, "> FIRST many"), said(&first, "> SECOND many")),
        (1, 1),
        "both prompts"
    );
}

#[test]
fn a_clear_queued_during_a_turn_delivers_the_sealed_file() {
    let gate = Gate::default();
    let held = gate.clone();
    let agent = moves(vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| Reply::bash("echo two").tokens(percent(31.0))),
        note("the parser fails on <CRLF>"),
        seal(),
        end(),
        step(move |_| Reply::text("looked\n\nand done\n").hang(&held).tokens(percent(31.4))),
        step(|_| Reply::text("going on").tokens(percent(6.0))),
    ]);
    let world = World::build().without_mod().guard_settings(watched()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(5);
    tui.wait_screen("what the user is asked for", |screen| screen.contains("Type /clear"));
    tui.wait_idle();
    tui.prompt("look at this");
    world.mock.wait_main(6);
    tui.prompt("/clear");
    tui.wait_screen("the queue", |screen| screen.contains("ueued"));
    gate.open();
    let first = world.mock.wait_main(7);
    assert_ne!(first.session, world.mock.main()[0].session, "a fresh session");
    let file = sealed(&world).pop().expect("a sealed file");
    assert_eq!(said(&first, &file), 1, "{first}");
}
