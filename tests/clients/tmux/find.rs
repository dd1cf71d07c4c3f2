//! The tmux carrier finds only its own client's pane.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use base::env::Env;
use carrier::terminal::{Readable as _, Refusal, Terminal as _};
use carrier::tmux::{self, Pane};
use guard::boundary::Client;
use guard::files::state;
use guard::session::reach::TmuxPane;

use crate::tmux::server::{Server, signal, wait};

fn found(server: &Server, path: &str, client: Client) -> Result<TmuxPane, Refusal> {
    let tmux = format!("{},1,0", server.socket());
    tmux::find(&Env::from_pairs([("TMUX", &tmux), ("TMUX_PANE", "%0"), ("PATH", path)]), client)
}

fn path() -> String {
    std::env::var("PATH").expect("a PATH")
}

#[test]
fn the_pane_of_the_client_or_its_parent_is_found() {
    // The client may be a child of the shell: both read from the pane's terminal.
    let server = Server::start("set -m; cat; true");
    let shell = server.client();
    assert_eq!(found(&server, &path(), shell), Ok(server.place()));
    let children = format!("/proc/{0}/task/{0}/children", shell.pid);
    let child = wait("child", || fs::read_to_string(&children).ok()?.trim().parse().ok());
    let cat = state::client(child).expect("it runs");
    assert_eq!(found(&server, &path(), cat), Ok(server.place()));
}

#[test]
fn a_foreign_pane_is_refused_with_a_reason() {
    let server = Server::recording();
    let client = server.client();
    let me = state::client(std::process::id()).expect("this runs");
    let stale = Client { start: client.start + 1, ..client };
    let why = |path: &str, client| found(&server, path, client).expect_err("refused").to_string();
    assert_eq!(why(&path(), me), "the client does not run in the tmux pane %0");
    assert_eq!(why(&path(), stale), "the client has ended");
    assert!(why("/nowhere", client).contains("not on the client's PATH"));
    let none =
        tmux::find(&Env::from_pairs([("PATH", &path())]), client).expect_err("refused").to_string();
    assert!(none.contains("not in a tmux pane"), "{none}");
    let tmux = format!("{},1,0", server.socket());
    let env = Env::from_pairs([("TMUX", &tmux), ("TMUX_PANE", "%7"), ("PATH", &path())]);
    assert_eq!(tmux::find(&env, client), Err(Refusal::never("the tmux pane %7 is gone")));
    server.run(&["kill-server"]);
    let gone = why(&path(), me);
    assert!(gone.contains("server is gone"), "{gone}");
}

#[test]
fn a_program_between_pane_and_client_is_refused() {
    let server = Server::start("script -qc 'echo \"in: $$\"; exec cat' /dev/null");
    server.wait_screen("%0", "in: ");
    let screen = server.run(&["capture-pane", "-p", "-t", "%0"]);
    let pid =
        screen.split_once("in: ").and_then(|(_, rest)| rest.lines().next()?.trim().parse().ok());
    let inner = state::client(pid.expect("its id")).expect("it runs");
    let why = "another program stands between the tmux pane %0 and the client";
    assert_eq!(found(&server, &path(), inner), Err(Refusal::never(why)));
}

#[test]
fn a_tmux_that_hangs_is_given_up() {
    let server = Server::recording();
    let client = server.client();
    let folder = tempfile::tempdir().expect("a folder");
    let stub = folder.path().join("tmux");
    fs::write(&stub, "#!/bin/sh\nsleep 20\n").expect("written");
    fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).expect("set");
    let path = format!("{}:{}", folder.path().display(), path());
    let begun = Instant::now();
    let found = found(&server, &path, client);
    assert_eq!(found, Err(Refusal::later("tmux does not answer")));
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

#[test]
fn a_lost_client_or_pane_is_refused_for_good() {
    let server = Server::recording();
    let mut pane = server.pane();
    assert_eq!(pane.prove(), Ok(()));
    signal(server.client().pid, "KILL");
    wait("dead pane", || (server.tell("#{pane_dead}") == "1").then_some(()));
    assert_eq!(pane.prove(), Err(Refusal::never("the client has ended")));
    assert!(pane.type_text("x").is_err());
    // A new program in the same pane is a different client.
    server.run(&["respawn-pane", "-t", "%0", "cat"]);
    assert!(matches!(pane.prove(), Err(Refusal::Never(_))));
    server.run(&["kill-server"]);
    assert!(matches!(pane.prove(), Err(Refusal::Never(_))));
    assert!(matches!(pane.idle(), Err(Refusal::Never(_))));
    assert!(matches!(
        Pane::open(server.place(), state::client(std::process::id()).expect("me")),
        Err(Refusal::Never(_))
    ));
}
