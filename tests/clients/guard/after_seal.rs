//! Calls between a seal and the end of its turn.

use std::path::Path;

use notes::compaction::{Shape, parse};
use serde_json::json;

use super::{
    append, asked, climb_and_seal, deliveries, moves, only_result, percent, sealed_path, step,
    unattended,
};
use crate::support::mock::Reply;
use crate::support::world::World;

/// The first answer of the fresh session, which must have the file.
fn carried(needle: &'static str) -> super::Move {
    step(move |r| {
        assert_eq!(deliveries(r), 1);
        assert!(
            r.user_texts().iter().any(|t| t.contains(needle)),
            "{needle:?}: {:?}",
            r.user_texts()
        );
        Reply::text("going on").tokens(percent(6.0))
    })
}

#[test]
fn an_append_after_the_seal_is_sealed_again_automatically() {
    let mut agent = climb_and_seal();
    agent.push(step(|r| {
        assert!(sealed_path(r).ends_with("v0001.md"));
        append("thread", "found later: the lexer drops CRLF").tokens(percent(31.2))
    }));
    agent.push(step(|r| {
        assert!(!only_result(r).1, "{r}");
        let (text, _) = only_result(r);
        let file = text.rsplit_once('(').and_then(|(_, path)| path.trim_end().strip_suffix(')'));
        let text =
            std::fs::read_to_string(file.expect("the append names the file")).expect("the file");
        let shape = Shape::default();
        let document = parse(&text, &shape);
        let id = document
            .entries()
            .find(|e| e.text.contains("write the lexer next"))
            .expect("the entry")
            .id;
        Reply::bash(&format!("brain-guard close {id}")).tokens(percent(31.3))
    }));
    agent.push(step(|r| {
        assert!(!only_result(r).1, "{r}");
        Reply::text("That is all.").tokens(percent(31.4))
    }));
    agent.push(carried("found later: the lexer drops CRLF"));
    let world = World::build().guard_settings(unattended()).agent(moves(agent)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    let last = world.mock.wait_main(7);
    assert_ne!(last.session, world.mock.main()[5].session);
    assert!(
        last.user_texts().iter().any(|t| t.contains("(version 3, also in ")),
        "the latest version crosses"
    );
}

#[test]
fn an_edit_after_the_seal_is_not_delivered_until_sealed() {
    let mut agent = climb_and_seal();
    agent.push(step(|r| {
        let sealed = sealed_path(r);
        let file = Path::new(&sealed).parent().and_then(Path::parent).expect("a job's folder").join("compaction.md");
        let edit = json!({"file_path": file, "old_string": "write the lexer next", "new_string": "write the tests next"});
        Reply::tool("Edit", edit).tokens(percent(31.2))
    }));
    agent.push(step(|r| {
        assert!(!only_result(r).1, "{r}");
        Reply::text("That is all.").tokens(percent(31.3))
    }));
    agent.push(step(|r| {
        let told = r.last_user_text();
        assert!(
            told.contains("Stop hook additional context") && told.contains("not sealed"),
            "{told}"
        );
        Reply::bash("brain-guard explain").tokens(percent(31.4))
    }));
    agent.push(step(|r| {
        let (text, _) = only_result(r);
        assert!(text.contains("the compaction file was edited after its seal"), "{text}");
        Reply::bash("brain-guard seal").tokens(percent(31.5))
    }));
    agent.push(step(|_| Reply::text("Sealed.").tokens(percent(31.6))));
    agent.push(carried("write the tests next"));
    let world = World::build().guard_settings(unattended()).agent(moves(agent)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    let last = world.mock.wait_main(9);
    let all = world.mock.main();
    assert!(all[..8].iter().all(|r| r.session == all[0].session), "not cleared with a broken seal");
    assert_ne!(last.session, all[0].session);
}

#[test]
fn a_foreign_call_after_the_seal_ends_the_turn() {
    let mut agent = climb_and_seal();
    agent.push(step(|_| {
        let input = json!({"description": "d", "prompt": "p", "subagent_type": "general-purpose"});
        Reply::tool("Agent", input).tokens(percent(31.2))
    }));
    agent.push(carried("write the lexer next"));
    let attended = json!({"boundary": {"attended_notice_seconds": 5, "min_interval_seconds": 0}});
    let world = World::build().guard_settings(attended).agent(moves(agent)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    tui.wait_screen("why it ended", |s| {
        s.contains("this turn was ended, because the notes are sealed")
    });
    let last = world.mock.wait_main(5);
    assert_ne!(last.session, world.mock.main()[3].session);
    tui.wait_idle();
    assert_eq!(asked(&world, "status")["boundary"], json!(null));
}

#[test]
fn a_shell_call_after_the_seal_ends_the_turn() {
    let mut agent = climb_and_seal();
    agent.truncate(2);
    agent.push(step(|_| Reply::bash("brain-guard seal").tokens(percent(31.1))));
    agent.push(step(|r| {
        assert!(only_result(r).0.contains("end your turn now"));
        Reply::bash("touch made").tokens(percent(31.2))
    }));
    agent.push(carried("write the lexer next"));
    let world = World::build().guard_settings(unattended()).agent(moves(agent)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    let last = world.mock.wait_main(5);
    assert_ne!(last.session, world.mock.main()[3].session);
    assert!(!world.project().join("made").exists(), "the call did not run");
}
