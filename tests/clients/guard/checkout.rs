//! Nothing of the guard is in the checkout after a climb with a job, a phase and a boundary, and
//! nothing there has to be writable.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{append, deliveries, moves, only_result, percent, step, unattended};
use crate::support::client::Terminal;
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

const STATUS: &str = "GIT_OPTIONAL_LOCKS=0 git status --ignored --porcelain; echo \"and no more\"";

/// The next move at this usage, after one that succeeded.
fn then(request: &Request, command: &str, at: f64) -> Reply {
    let (text, error) = only_result(request);
    assert!(!error, "{text}");
    Reply::bash(command).tokens(percent(at))
}

/// Crosses a boundary; the agent asks git what is new in its checkout. `prepare` is a shell script
/// that runs before the client, in a mount namespace of its own.
#[track_caller]
fn crosses(world: impl Fn(&World), prepare: &str) -> World {
    let agent = moves(vec![
        step(|_| Reply::bash("brain-guard job focus lexer").tokens(percent(5.0))),
        step(|r| then(r, "brain-guard phase enter design", 5.1)),
        step(|_| append("next", "write the lexer").tokens(percent(31.0))),
        step(|r| {
            assert!(!only_result(r).1, "{r}");
            Reply::tool("Read", json!({"file_path": "README.md"})).tokens(percent(31.1))
        }),
        step(|r| {
            assert!(only_result(r).1, "not denied: {r}");
            Reply::bash("brain-guard seal").tokens(percent(31.2))
        }),
        step(|r| {
            assert!(!only_result(r).1, "{r}");
            Reply::text("I end my turn.").tokens(percent(31.3))
        }),
        step(|r| {
            assert_eq!(deliveries(r), 1, "{r}");
            Reply::bash(STATUS).tokens(percent(6.0))
        }),
        step(|r| {
            let (text, error) = only_result(r);
            assert!(!error && text.trim() == "and no more", "{text}");
            Reply::text("going on").tokens(percent(6.1))
        }),
    ]);
    let made = World::build().guard_settings(unattended()).agent(agent).start();
    world(&made);
    let plain = ["env", "-u", "TMUX", "-u", "TMUX_PANE", "unshare", "-rm", "/bin/sh", "-c"];
    let script = format!("{prepare}\ncd \"$PWD\" && exec \"$0\" \"$@\"");
    let program = plain.into_iter().chain([script.as_str()]).map(str::to_owned);
    let program: Vec<String> = program.chain(made.program(&[])).collect();
    let tui = made.tui_in(Terminal::Tmux(made.tmux(&program)));
    tui.prompt("Build the lexer");
    made.mock.wait_main(8);
    tui.wait_idle();
    tui.quit();
    made
}

#[track_caller]
fn git(folder: &Path, arguments: &[&str]) {
    let ended = Command::new("git").args(arguments).current_dir(folder).status().expect("git");
    assert!(ended.success(), "git {arguments:?}");
}

#[test]
fn a_checkout_stays_clean() {
    crosses(|_| {}, "");
}

#[test]
fn a_worktree_can_be_removed() {
    let whole = |world: &World| world.project().with_file_name("whole");
    let world = crosses(
        |world| {
            std::fs::rename(world.project(), whole(world)).expect("moved");
            git(&whole(world), &["worktree", "add", "-q", "../project", "-b", "side"]);
        },
        "",
    );
    git(&whole(&world), &["worktree", "remove", "../project"]);
    assert!(!world.project().exists());
}

#[test]
fn a_checkout_may_be_read_only() {
    crosses(
        |_| {},
        r#"mount --bind "$PWD" "$PWD" && mount -o remount,ro,bind "$PWD" && cd / && cd - >/dev/null
! touch new 2>/dev/null || exit 1"#,
    );
}

#[test]
fn the_disk_of_a_checkout_may_be_full() {
    crosses(
        |_| {},
        r#"cp -a "$PWD/." "$PWD.copy" && mount -t tmpfs -o size=300k none "$PWD" &&
cp -a "$PWD.copy/." "$PWD" && cd / && cd - >/dev/null
dd if=/dev/zero of=.git/rest bs=4k 2>/dev/null; ! echo more > .git/more || exit 1"#,
    );
}
