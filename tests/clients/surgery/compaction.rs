//! The client compacts in the middle of a session. The messages that it keeps belong to the round
//! of the compaction.

use super::judge::{Promise, line};
use super::played::{NEXT, guard, holds, make, resume};
use super::source::{COMPACTION, Source};
use crate::guard::{moves, step};
use crate::support::mock::Reply;
use crate::support::world::World;

const ZETA: &str = "zeta: before all";
const ETA: &str = "eta: before the compaction";
const THETA: &str = "theta: after the compaction";

#[test]
fn a_compaction_round_has_its_summary_and_kept_messages() {
    let agent = moves(vec![
        step(|_| Reply::bash("echo zeta").and_thinking("early").tokens(21_000)),
        step(|_| Reply::text("zeta is done").tokens(22_000)),
        step(|_| Reply::thinking("late").and_text("eta is done").tokens(23_000)),
        step(|_| Reply::text("theta is done").tokens(4_000)),
    ]);
    let world = World::build().bare().agent(agent).start();
    let tui = world.tui(&[]);
    for (prompt, upto, answer) in [(ZETA, 2, "zeta is done"), (ETA, 3, "eta is done")] {
        tui.prompt(prompt);
        world.mock.wait_main(upto);
        tui.wait_screen(answer, |screen| screen.contains(answer));
        tui.wait_idle();
    }
    tui.prompt("/compact");
    tui.wait_screen("the compaction", |screen| screen.contains("Compacted"));
    tui.wait_idle();
    tui.prompt(THETA);
    let live = world.mock.wait_main(4);
    tui.wait_screen("the last answer", |screen| screen.contains("theta is done"));
    tui.quit();
    let path = world.transcripts().pop().expect("a transcript");
    let source = Source::read(&path, &[ZETA, ETA, COMPACTION, THETA]);
    let id = source.id.as_str();

    // The client's own requests, in the running session and after resuming.
    let mut so_far = source.clone();
    so_far.cut(4, 1);
    assert_eq!(Promise::default().rounds(&so_far, &[3, 4]).kept_by(&live), Ok(()));
    let copy = path.with_file_name("00000000-0000-4000-8000-000000000001.jsonl");
    std::fs::copy(&path, &copy).expect("a copy");
    let resumed = resume(&world, "00000000-0000-4000-8000-000000000001");
    let own = Promise::default().rounds(&source, &[3, 4]).says(NEXT);
    assert_eq!(own.kept_by(&resumed), Ok(()));
    std::fs::remove_file(copy).expect("the copy");

    let lines = [
        line("001", source.round(1), "user→assistant", Some("Bash·step"), "zeta is done"),
        line("002", source.round(2), "user→assistant", None, "eta is done"),
    ];
    let made = make(&world, &["surgery", "compress-before", id, "round:3"]).remove(0);
    holds(&world, &made, Promise::default().index(&lines).rounds(&source, &[3, 4]));
    // A summary belongs to no engagement.
    guard(&world, &["tag", id, "3-4", "going-on"]);
    let made = make(&world, &["surgery", "extract-engagement", id, "going-on"]).remove(0);
    holds(&world, &made, Promise::default().rounds(&source, &[4]));
}
