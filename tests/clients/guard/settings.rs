//! An agent that edits the user's settings, and rules against our verbs, in the real client.

use serde_json::json;

use super::{Move, append, moves, only_result, percent, step, unattended};
use crate::support::mock::Reply;
use crate::support::world::World;

/// Climbs to `narrow`, finds that a call is still denied, and seals.
fn climb(note: &'static str, first: Reply) -> Vec<Move> {
    let mut first = Some(first);
    vec![
        step(move |_| first.take().expect("asked once").tokens(percent(5.0))),
        step(|_| Reply::bash("true").tokens(percent(31.0))),
        step(|_| Reply::bash("echo probe").tokens(percent(31.1))),
        step(move |r| {
            let (text, error) = only_result(r);
            assert!(error && text.contains("brain-guard"), "not denied: {text}");
            append("next", note).tokens(percent(31.2))
        }),
        step(|r| {
            assert!(!only_result(r).1, "{r}");
            Reply::bash("brain-guard seal").tokens(percent(31.3))
        }),
        step(|r| {
            assert!(!only_result(r).1, "{r}");
            Reply::text("I end my turn.").tokens(percent(31.4))
        }),
    ]
}

#[test]
fn milder_settings_of_the_agent_wait_for_a_person_over_three_boundaries() {
    let milder = json!({"mode": "off", "tiers": {"narrow": {"context": 90}}});
    let edit = format!("printf %s '{milder}' > ~/.claude/brain-guard/settings.json");
    let mut agent = climb("write the lexer", Reply::bash(&edit));
    agent.extend(climb("write the parser", Reply::bash("true")));
    agent.extend(climb("write the tests", Reply::bash("true")));
    agent.push(step(|_| Reply::text("going on").tokens(percent(5.0))));
    agent.push(step(|_| Reply::bash("true").tokens(percent(31.0))));
    agent.push(step(|_| Reply::bash("echo probe").tokens(percent(31.1))));
    agent.push(step(|r| {
        let (text, error) = only_result(r);
        assert!(!error && text.contains("probe"), "{text}");
        Reply::text("It passed.").tokens(percent(31.2))
    }));
    let world = World::build().guard_settings(unattended()).agent(moves(agent)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    world.mock.wait_main(19);
    tui.wait_idle();
    tui.prompt("What happened?");
    world.mock.wait_main(22);
    let screen = tui.wait_screen("what changed", |s| s.contains("mode on → off"));
    assert!(screen.contains("narrow 30 → 90 %"), "{screen}");
    let sessions: std::collections::BTreeSet<_> =
        world.mock.main().iter().map(|request| request.session.clone()).collect();
    assert_eq!(sessions.len(), 4);
}

/// Reads at the top tier, where a rule of the user keeps the agent from its verbs.
#[track_caller]
fn lifts_the_blocks(list: &str, rule: &str) {
    let agent = vec![
        step(|_| Reply::tool("Read", json!({"file_path": "README.md"})).tokens(percent(5.0))),
        step(|_| Reply::tool("Read", json!({"file_path": "README.md"})).tokens(percent(31.0))),
        step(|_| Reply::tool("Read", json!({"file_path": "README.md"})).tokens(percent(31.1))),
        step(|r| {
            let (text, error) = only_result(r);
            assert!(!error, "{text}");
            Reply::text("It passed.").tokens(percent(31.2))
        }),
    ];
    let rules = json!({"defaultMode": "bypassPermissions", list: [rule]});
    let world = World::build().client_setting("permissions", rules);
    let world = world.guard_settings(unattended()).agent(moves(agent)).start();
    let tui = world.tui(&[]);
    tui.wait_screen("the rule", |s| s.contains("a rule keeps the agent from its notes"));
    tui.prompt("Build the lexer");
    world.mock.wait_main(4);
    tui.wait_idle();
}

/// The printing command would be refused, with the answer in the refusal.
#[test]
fn a_rule_against_the_printing_command_lifts_the_blocks() {
    lifts_the_blocks("deny", "Bash(cat:*)");
}

#[test]
fn a_rule_against_the_verbs_lifts_the_blocks() {
    lifts_the_blocks("deny", "Bash(brain-guard:*)");
}

#[test]
fn a_rule_against_the_shell_lifts_the_blocks() {
    lifts_the_blocks("deny", "Bash");
}

#[test]
fn a_rule_that_asks_lifts_the_blocks() {
    lifts_the_blocks("ask", "Bash(brain-guard *)");
}
