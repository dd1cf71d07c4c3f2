//! The plugin's skills: listed to the model, and readable even when all else is blocked.

use serde_json::json;

use super::story::{result, watched};
use super::{moves, percent, step};
use crate::support::mock::Reply;
use crate::support::world::World;

const SKILL: &str = "brain-guard:brain-guard";

fn listed_and_read(version: &str) {
    let agent = moves(vec![
        step(|r| {
            assert!(r.contains(&format!("{SKILL}: How to write and seal")), "listed");
            Reply::bash("echo one").tokens(percent(5.0))
        }),
        // Without the module, the known context usage can be one response old. The client also
        // writes that response with a delay.
        step(|_| Reply::bash("sleep 1; echo two").tokens(percent(31.0))),
        step(|_| {
            Reply::tool("ToolSearch", json!({"query": "select:Monitor"}))
                .tokens(percent(31.1))
                .and_tool_id("skill", "Skill", json!({"skill": SKILL}))
                .and_tool_id("other", "Skill", json!({"skill": "simplify"}))
        }),
        step(|r| {
            let (text, error) = result(r, "skill");
            assert!(!error, "{text}");
            assert!(r.said("They work at every tier"));
            let (text, error) = result(r, "other");
            assert!(error && text.contains("blocked Skill"), "{text}");
            Reply::bash("brain-guard append --kind directive 'next: the lexer'")
                .tokens(percent(31.2))
        }),
        step(|_| Reply::bash("brain-guard seal --no-clear").tokens(percent(31.3))),
        step(|_| Reply::text("read it").tokens(percent(31.3))),
    ]);
    let world = World::build().client(version).guard_settings(watched()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    tui.wait_screen("the turn's end", |s| s.contains("read it"));
}

/// The model sees the skill about placeholders in the list and opens it.
#[test]
fn the_skill_of_extraction_is_listed_and_read() {
    const EXTRACTION: &str = "brain-guard:extraction";
    let agent = moves(vec![
        step(|r| {
            assert!(
                r.contains(&format!("{EXTRACTION}: What [[extracted-ID]] stands for")),
                "listed"
            );
            Reply::tool("ToolSearch", json!({"query": "select:Skill"}))
                .tokens(percent(5.0))
                .and_tool_id("skill", "Skill", json!({"skill": EXTRACTION}))
        }),
        step(|r| {
            let (text, error) = result(r, "skill");
            assert!(!error, "{text}");
            assert!(r.said("set_extractable") && r.said("purge_control"));
            assert!(r.said("Restore what can't be had again"));
            Reply::text("read it").tokens(percent(5.1))
        }),
    ]);
    let world = World::build().agent(agent).start();
    let output = world.print(&[], "What is [[extracted-a1]]?").finish();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(world.mock.main().len(), 2);
}

#[test]
fn the_skill_is_read_at_narrow() {
    listed_and_read(crate::support::client::PINNED);
}
