//! The X11 carrier finds the client's window, or says why there is none.

use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use base::env::Env;
use carrier::x11;
use guard::files::state;

use crate::x11::harness::{IDLE, Screen};

#[test]
fn the_terminals_own_window_is_found_and_nothing_is_touched() {
    let screen = Screen::start();
    let reader = screen.terminal("plain");
    let begun = Instant::now();
    let place = screen.find(reader.client).unwrap();
    assert!(begun.elapsed() < Duration::from_millis(500), "{:?}", begun.elapsed());
    assert_eq!((place.display.as_str(), place.authority), (screen.name.as_str(), None));
    assert_eq!(screen.title(reader.id), IDLE);
    assert!(reader.bytes().is_empty());
}

#[test]
fn without_a_window_manager_it_is_refused() {
    let screen = Screen::bare();
    let reader = screen.terminal("plain");
    let why = screen.find(reader.client).unwrap_err().to_string();
    assert!(why.contains("no window manager lists"), "{why}");
}

#[test]
fn a_client_inside_tmux_is_refused() {
    let screen = Screen::start();
    let folder = tempfile::tempdir().unwrap();
    let around = format!("tmux -S {}/socket -f /dev/null new-session", folder.path().display());
    let reader = screen.terminal_with("inner", &around, "");
    let why = screen.find(reader.client).unwrap_err().to_string();
    screen.call("tmux", &["-S", &format!("{}/socket", folder.path().display()), "kill-server"]);
    assert!(why.contains("tmux: server") && why.contains("no window"), "{why}");
}

#[test]
fn a_client_inside_script_is_refused() {
    let screen = Screen::start();
    let around = r#"sh -c 'exec script -qc "$*" /dev/null' inner"#;
    let reader = screen.terminal_with("inner", around, "");
    let why = screen.find(reader.client).unwrap_err().to_string();
    assert!(why.contains("held by script"), "{why}");
}

#[test]
fn a_client_without_a_terminal_is_refused() {
    let screen = Screen::start();
    screen.terminal("plain");
    let mut child = std::process::Command::new("sleep")
        .arg("60")
        .stdin(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let found = screen.find(state::client(child.id()).unwrap());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(found.unwrap_err().to_string().contains("/dev/null"));
}

#[test]
fn a_display_that_never_answers_times_out() {
    let screen = Screen::start();
    let reader = screen.terminal("plain");
    let number = 40_000 + std::process::id() % 10_000;
    let path = format!("/tmp/.X11-unix/X{number}");
    let listener = UnixListener::bind(&path).unwrap();
    let begun = Instant::now();
    let env = Env::from_pairs([("DISPLAY", &format!(":{number}"))]);
    let why = x11::find(&env, reader.client).unwrap_err().to_string();
    let spent = begun.elapsed();
    drop(listener);
    std::fs::remove_file(path).unwrap();
    assert!(why.contains("not answer") || why.contains("can't be reached"), "{why}");
    assert!(spent < Duration::from_millis(1500), "{spent:?}");
    let nobody = Env::from_pairs([("DISPLAY", ":65000")]);
    let why = x11::find(&nobody, reader.client).unwrap_err().to_string();
    assert!(why.contains("can't be reached"), "{why}");
}
