//! Sealing a file without new notes starts no boundary. Agents often seal right after a denial,
//! and must not lose their context by it.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{append, asked, deliveries, moves, only_result, percent, step, unattended};
use crate::support::mock::Reply;
use crate::support::world::World;

#[test]
fn a_seal_without_new_notes_starts_no_boundary() {
    let agent = moves(vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| Reply::bash("brain-guard seal").tokens(percent(31.0))),
        step(|r| {
            let (text, error) = only_result(r);
            assert!(!error && text.contains("no new notes were written in this session"), "{text}");
            for section in
                ["Forward State", "Open Threads", "Assumptions & Risks", "Process Insight"]
            {
                assert!(text.contains(section), "{section} is named: {text}");
            }
            Reply::text("Sealed. I am done.").tokens(percent(31.1))
        }),
        step(|r| {
            assert!(
                r.last_user_text().contains("Stop hook additional context"),
                "{}",
                r.last_user_text()
            );
            append("directive", "write the lexer next").tokens(percent(31.2))
        }),
        step(|r| {
            assert!(!only_result(r).1, "{r}");
            Reply::bash("brain-guard seal").tokens(percent(31.3))
        }),
        step(|r| {
            let (text, error) = only_result(r);
            assert!(!error && text.contains("end your turn now"), "{text}");
            Reply::text("Sealed. I end my turn.").tokens(percent(31.4))
        }),
        step(|r| {
            assert_eq!(deliveries(r), 1);
            assert!(r.user_texts().iter().any(|t| t.contains("write the lexer next")), "{r}");
            Reply::text("going on").tokens(percent(6.0))
        }),
    ]);
    let world = World::build().guard_settings(unattended()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    let last = world.mock.wait_main(7);
    let all = world.mock.main();
    assert!(all[..6].iter().all(|r| r.session == all[0].session), "no clear after the bare seal");
    assert_ne!(last.session, all[0].session);
    tui.wait_idle();
    let status = asked(&world, "status");
    assert_eq!((&status["stance"], &status["boundary"]), (&json!("free"), &json!(null)));
}

/// Between two turns no event tells the module of it.
#[test]
fn a_seal_from_a_terminal_clears_an_idle_session() {
    let agent = moves(vec![
        step(|_| append("next", "write the lexer").tokens(percent(5.0))),
        step(|_| Reply::text("noted").tokens(percent(5.1))),
        step(|r| {
            assert_eq!(deliveries(r), 1);
            Reply::text("going on").tokens(percent(6.0))
        }),
    ]);
    let world = World::build().guard_settings(unattended()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Note it");
    let first = world.mock.wait_main(2);
    tui.wait_idle();
    let began = Instant::now();
    let sealed = world.guard(&["seal", "--clear"]);
    assert!(sealed.stdout.contains("this session is cleared, after a notice"), "{sealed:?}");
    assert_ne!(world.mock.wait_main(3).session, first.session);
    // The waiter would have tried tmux only after 80 s.
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
}
