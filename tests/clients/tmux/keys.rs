//! Keys and texts arrive complete in the right pane, or not at all.

use std::time::{Duration, Instant};

use carrier::terminal::{Readable as _, Refusal, Stroke, Terminal as _};

use crate::tmux::server::{Server, wait};

const CHORD: [Stroke; 2] = [Stroke::ctrl(']'), Stroke::ctrl(']')];

/// Asserts that the pane got only these bytes, so earlier actions typed nothing.
fn only_this_arrives(server: &Server, bytes: &[u8]) {
    assert_eq!(server.wait_got(bytes.len()), bytes);
}

fn later(refused: Result<bool, Refusal>) -> String {
    match refused {
        Err(Refusal::Later(why)) => why,
        other => panic!("not put off: {other:?}"),
    }
}

#[test]
fn a_chord_arrives_whole_and_in_one_pane() {
    let server = Server::recording();
    let other = server.split();
    let mut pane = server.pane();
    assert_eq!(pane.chord(&CHORD, &mut || true), Ok(true));
    assert_eq!(server.wait_got(2), [0x1d, 0x1d]);
    assert_eq!(pane.chord(&CHORD, &mut || false), Ok(false));
    assert_eq!(
        pane.chord(&[Stroke::ctrl('x'), Stroke { ctrl: false, key: ';' }], &mut || true),
        Ok(true)
    );
    only_this_arrives(&server, b"\x1d\x1d\x18;");
    assert_eq!(server.got(&other), b"");
    assert!(!server.run(&["show-options", "-s"]).contains("brain-guard"));
}

#[test]
fn text_is_typed_literally() {
    let server = Server::recording();
    let mut pane = server.pane();
    let text = "/clear it's #{pane_id} $HOME `x` \"y\" %s \\; -- 'z';";
    let long = format!("{text}{}", "-long ".repeat(40));
    pane.type_text(text).expect("typed");
    pane.type_text(&long).expect("typed");
    pane.type_text("-l").expect("typed");
    only_this_arrives(&server, format!("{text}{long}-l").as_bytes());
    for odd in ["a\nb", "é", "\u{1b}"] {
        assert!(matches!(pane.type_text(odd), Err(Refusal::Never(_))), "{odd:?}");
    }
}

#[test]
fn a_pane_that_takes_no_keys_gets_none() {
    let server = Server::recording();
    let other = server.split();
    let mut pane = server.pane();
    for (set, why, unset) in [
        (&["copy-mode", "-t", "%0"][..], "copy mode", &["copy-mode", "-q", "-t", "%0"][..]),
        (&["clock-mode", "-t", "%0"], "copy mode", &["copy-mode", "-q", "-t", "%0"]),
        (
            &["set", "-w", "synchronize-panes", "on"],
            "synchronize",
            &["set", "-wu", "synchronize-panes"],
        ),
        (&["select-pane", "-d", "-t", "%0"], "takes no input", &["select-pane", "-e", "-t", "%0"]),
    ] {
        server.run(set);
        let said = pane.prove().expect_err("refused").to_string();
        assert!(said.contains(why), "{said}");
        assert!(later(pane.chord(&CHORD, &mut || panic!("not asked"))).contains(why));
        assert!(pane.type_text("x").is_err());
        server.run(unset);
        assert_eq!(pane.prove(), Ok(()), "{unset:?}");
    }
    pane.type_text("y").expect("typed");
    only_this_arrives(&server, b"y");
    assert_eq!(server.got(&other), b"");
}

#[test]
fn a_change_between_proof_and_keys_stops_the_keys() {
    let server = Server::recording();
    let mut pane = server.pane();
    let changed = |set: &[&str]| {
        server.run(set);
        true
    };
    for set in [&["copy-mode", "-t", "%0"][..], &["set", "-w", "synchronize-panes", "on"]] {
        let why = later(pane.chord(&CHORD, &mut || changed(set)));
        assert!(why.contains("changed"), "{why}");
        server.run(&["copy-mode", "-q", "-t", "%0"]);
        server.run(&["set", "-wu", "synchronize-panes"]);
    }
    pane.type_text("y").expect("typed");
    only_this_arrives(&server, b"y");
    // The pane runs a new program by then.
    let why = pane.chord(&CHORD, &mut || changed(&["respawn-pane", "-k", "-t", "%0", "cat"]));
    assert!(why.is_err(), "{why:?}");
    // When the pane is gone, the keys go to no other pane.
    let server = Server::recording();
    let other = server.split();
    let mut pane = server.pane();
    let gone = pane.chord(&CHORD, &mut || {
        server.run(&["kill-pane", "-t", "%0"]);
        true
    });
    assert!(gone.is_err(), "{gone:?}");
    server.run(&["send-keys", "-t", &other, "z"]);
    wait("the key", || (!server.got(&other).is_empty()).then_some(()));
    assert_eq!(server.got(&other), b"z");
}

#[test]
fn a_stuck_server_types_no_late_keys() {
    let server = Server::recording();
    let mut pane = server.pane();
    let begun = Instant::now();
    let why = later(pane.chord(&CHORD, &mut || {
        server.signal("STOP");
        true
    }));
    assert_eq!(why, "tmux does not answer");
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    assert!(matches!(pane.prove(), Err(Refusal::Later(_))));
    server.signal("CONT");
    wait("an answer", || pane.prove().ok());
    pane.type_text("y").expect("typed");
    only_this_arrives(&server, b"y");
    assert!(!server.run(&["show-options", "-s"]).contains("brain-guard"));
}

#[test]
fn another_foreground_program_refuses_for_now() {
    let server = Server::start("set -m; sh -c 'echo ready; cat'; true");
    server.wait_screen("%0", "ready");
    let mut pane = server.pane();
    let why = later(pane.chord(&CHORD, &mut || panic!("not asked")));
    assert!(why.contains("another program"), "{why}");
}

#[test]
fn a_notice_shows_on_attached_terminals() {
    let server = Server::recording();
    let mut pane = server.pane();
    pane.notice("nobody is there", 1);
    let watcher = Server::start(&format!("unset TMUX; exec tmux -S {} attach", server.socket()));
    watcher.wait_screen("%0", "ready");
    pane.notice("50% of #{pane_id} in 60 s;", 20);
    watcher.wait_screen("%0", "50% of #{pane_id} in 60 s;");
    assert_eq!(server.got("%0"), b"");
}
