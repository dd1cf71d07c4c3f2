//! The client and the program are killed at instants all over a switch. The user is then in the
//! original or in the successor, both whole, and can shorten the session again.

use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::is_long;
use super::live::{TABLE, id, state};
use super::played::NEXT;
use super::saved::{Place, Saved, agree};
use crate::support::process;
use crate::support::world::World;

/// Kills the client, the hooks and the program at the same time, and then what they had started.
fn kill(world: &World) {
    for process in world.processes() {
        // Without its terminal, the client could still react.
        if !process.command.starts_with("tmux") {
            let pid = Pid::from_raw(process.pid as i32).expect("a process");
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
    process::kill_with_home(&world.home());
}

/// Waits until a succession no longer counts as open: until its client is gone.
fn wait_closed(world: &World, succession: &Value) {
    let pid = succession["client"]["pid"].as_u64().expect("the client's process");
    let process = PathBuf::from(format!("/proc/{pid}"));
    world.wait("end of the succession's client", || (!process.exists()).then_some(()));
}

/// Continues the killed session: without a terminal, and `fully` also in one, in which it is then
/// shortened.
fn go_on(saved: &Saved, fully: bool) -> Place {
    let world = &saved.world;
    let before = world.mock.main().len();
    let output = world.print(&["--continue"], NEXT).finish();
    assert!(output.status.success(), "claude --continue: {output:?}");
    let main = world.mock.main();
    assert_eq!(main.len(), before + 1, "one request");
    let place = saved.place(&main[before]);
    if fully {
        let tui = match place {
            Place::Original => world.tui(&["--continue"]),
            Place::Successor => world.tui(&["--resume", &saved.original]),
        };
        saved.shorten(&tui, &saved.original);
        tui.prompt(NEXT);
        let request = world.mock.wait_main(before + 2);
        assert!(request.session.as_ref() != Some(&saved.original) && request.said(TABLE));
        tui.wait_idle();
        tui.quit();
    }
    place
}

#[test]
fn a_killed_switch_leaves_both_sessions_whole() {
    let saved = Saved::play(World::build());
    let kills = if is_long() { 100 } else { 6 };
    let mut found: Vec<(f64, Place, Value)> = Vec::new();
    for n in 0..kills {
        let instant = saved.instant(n);
        saved.world.evidence.add("instant", move || format!("{n}: {instant:?} after yes"));
        let tui = saved.propose();
        let began = agree(&tui);
        std::thread::sleep(instant.saturating_sub(began.elapsed()));
        kill(&saved.world);
        let at = began.elapsed().as_secs_f64();
        drop(tui);
        saved.assert_original();
        for path in saved.successors() {
            let output = saved.world.guard(&["validate", "--strict", &id(&path)]);
            assert!(output.status.success(), "{output:?}");
        }
        let succession = state(&saved.world, &saved.original, "succession").expect("a succession");
        wait_closed(&saved.world, &succession);
        let place = go_on(&saved, n % 10 == 0);
        saved.assert_original();
        found.push((at, place, succession["step"].clone()));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (at, place, step) in &found {
        println!("killed after {at:.3} s at {step}: {place:?}");
    }
    if is_long() {
        for place in [Place::Original, Place::Successor] {
            assert!(found.iter().any(|(_, at, _)| *at == place), "none in {place:?}");
        }
    }
}
