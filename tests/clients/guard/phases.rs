//! Phases in the real client: the text on entering one, the text of a refused exit, and an exit
//! without a heredoc, which must not wait for one.

use serde_json::json;

use super::{append, moves, only_result, percent, step};
use crate::support::mock::Reply;
use crate::support::world::World;

#[test]
fn a_phase_is_entered_refused_its_exit_and_left() {
    let agent = moves(vec![
        step(|_| {
            Reply::bash("brain-guard phase enter design --coach 'read the tests first'")
                .tokens(percent(3.0))
        }),
        step(|r| {
            let (text, error) = only_result(r);
            assert!(!error && text.contains("\nread the tests first\n"), "{text}");
            Reply::bash("brain-guard phase exit").tokens(percent(3.1))
        }),
        step(|r| {
            let (text, error) = only_result(r);
            assert!(error && text.contains("Forward State: no entry"), "{text}");
            let form = text.split_once("brain-guard phase exit <<'EOF'\n").expect("a form").1;
            assert!(form.contains("\n- steering: \n"), "{text}");
            append("thread", "none: nothing is open").tokens(percent(3.2))
        }),
        step(|_| {
            let slice = "brain-guard phase exit --kind steering 'it kept me from a rewrite' <<'EOF'\n\
                         ## Forward State\n- build the lexer\n## Assumptions & Risks\n- the tests are right\n\
                         ## Process Insight\n- the tests told more than the code\nEOF";
            Reply::bash(slice).tokens(percent(3.3))
        }),
        step(|r| {
            let (text, error) = only_result(r);
            assert!(
                !error && text.starts_with("left the phase \"design\": 4 entries added"),
                "{text}"
            );
            Reply::bash("brain-guard steering").tokens(percent(3.4))
        }),
        step(|r| {
            let (text, error) = only_result(r);
            assert!(!error && text.starts_with("design (a phase)\n  - it kept me"), "{text}");
            Reply::text("done").tokens(percent(3.5))
        }),
    ]);
    let world = World::build().guard_settings(json!({})).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Design the lexer");
    world.mock.wait_main(6);
    tui.wait_idle();
}
