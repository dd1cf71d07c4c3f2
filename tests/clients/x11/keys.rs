//! Keys arrive in the right window, or not at all.

use std::time::{Duration, Instant};

use carrier::terminal::{Refusal, Stroke, Terminal};

use crate::x11::harness::{IDLE, Reader, Screen, press, wait};

const CHORD: [Stroke; 2] = [Stroke::ctrl(']'), Stroke::ctrl(']')];
const BYTES: [u8; 2] = [0x1d, 0x1d];

const PRESS: u8 = 2;
const RELEASE: u8 = 3;
const CAPS_LOCK: u8 = 66;
const NUM_LOCK: u8 = 77;

fn chord(screen: &Screen, reader: &Reader) -> Result<bool, Refusal> {
    press(&mut screen.carrier(reader), &CHORD, &mut || true)
}

#[track_caller]
fn later(refused: Result<impl std::fmt::Debug, Refusal>, word: &str) {
    match refused {
        Err(Refusal::Later(why)) => assert!(why.contains(word), "{why}"),
        other => panic!("{other:?} instead of a refusal for {word:?}"),
    }
}

#[test]
fn the_chord_arrives_byte_for_byte() {
    let screen = Screen::start();
    let reader = screen.terminal("plain");
    let mut asked = 0;
    let mut window = screen.carrier(&reader);
    let pressed = press(&mut window, &CHORD, &mut || {
        asked += 1;
        true
    });
    assert_eq!((pressed, asked), (Ok(true), 1));
    assert_eq!(reader.wait_bytes(2), BYTES);
    assert_eq!(screen.title(reader.id), IDLE);
    assert_eq!(window.idle(), Ok(true));
    let called_off = press(&mut window, &CHORD, &mut || false);
    assert_eq!(called_off, Ok(false));
    assert_eq!(reader.wait_bytes(3), [0x1d; 3]);
}

#[test]
fn a_window_that_steals_the_focus_between_two_keys_gets_none() {
    let screen = Screen::start();
    let decoy = screen.terminal("decoy");
    let reader = screen.terminal("plain");
    let refused = press(&mut screen.carrier(&reader), &CHORD, &mut || {
        screen.activate(decoy.id);
        true
    });
    later(refused, "focus");
    assert_eq!(reader.wait_bytes(1), [0x1d]);
    assert!(decoy.bytes().is_empty());
}

#[test]
fn another_window_in_front_is_left_only_when_its_user_is_away() {
    let screen = Screen::start();
    let reader = screen.terminal("plain");
    let decoy = screen.terminal("decoy");
    wait("refusal to somebody who types", || {
        screen.input(PRESS, CAPS_LOCK);
        screen.input(RELEASE, CAPS_LOCK);
        let refused = screen.carrier(&reader).chord(&CHORD, &mut || true).expect_err("it is used");
        matches!(refused, Refusal::Later(why) if why.starts_with("somebody uses")).then_some(())
    });
    later(chord(&screen, &reader), "another window has the focus");
    assert!(reader.bytes().is_empty());
    let mut window = screen.carrier_after(&reader, Duration::from_millis(300));
    wait("quiet", || window.chord(&CHORD, &mut || true).ok());
    // The carrier's keys do not count as the user's.
    screen.activate(decoy.id);
    assert_eq!(press(&mut window, &CHORD, &mut || true), Ok(true));
    assert_eq!(reader.wait_bytes(4), [0x1d; 4]);
    assert_eq!(screen.active(), reader.id);
    drop(window);
    wait("window before", || (screen.active() == decoy.id).then_some(()));
    assert!(decoy.bytes().is_empty());
}

#[test]
fn a_second_terminal_is_never_written_to() {
    let screen = Screen::start();
    let first = screen.terminal("first");
    let second = screen.terminal("second");
    assert_eq!(chord(&screen, &second), Ok(true));
    assert_eq!(second.wait_bytes(2), BYTES);
    screen.activate(first.id);
    assert_eq!(chord(&screen, &first), Ok(true));
    assert_eq!(first.wait_bytes(2), BYTES);
    assert_eq!(second.bytes(), BYTES);
}

#[test]
fn a_held_key_or_button_refuses() {
    let screen = Screen::start();
    let reader = screen.terminal("plain");
    for (event, detail, word) in [
        (PRESS, 50, "Shift"),
        (PRESS, 37, "Control"),
        (PRESS, 64, "Alt"),
        (PRESS, 133, "Super"),
        (PRESS + 2, 1, "button"),
    ] {
        screen.input(event, detail);
        later(chord(&screen, &reader), word);
        screen.input(event + 1, detail);
    }
    assert!(reader.bytes().is_empty());
    // The window manager may delay the button's release until it has handled the click.
    wait("free pointer", || chord(&screen, &reader).ok());
    assert_eq!(reader.wait_bytes(2), BYTES);
}

#[test]
fn a_grabbed_keyboard_refuses() {
    use x11rb::connection::Connection as _;
    use x11rb::protocol::xproto::{ConnectionExt as _, GrabMode};
    use x11rb::wrapper::ConnectionExt as _;
    let screen = Screen::start();
    let reader = screen.terminal("plain");
    let (conn, mode) = (&screen.conn, GrabMode::ASYNC);
    let root = conn.setup().roots[0].root;
    conn.grab_keyboard(false, root, 0u32, mode, mode).unwrap().reply().unwrap();
    later(chord(&screen, &reader), "holds the keyboard");
    conn.ungrab_keyboard(0u32).unwrap();
    conn.sync().unwrap();
    assert_eq!(chord(&screen, &reader), Ok(true));
    assert_eq!(reader.wait_bytes(2), BYTES);
}

#[test]
fn lock_keys_do_not_change_the_chord() {
    let screen = Screen::start();
    let reader = screen.terminal("plain");
    for key in [CAPS_LOCK, NUM_LOCK] {
        screen.input(PRESS, key);
        screen.input(RELEASE, key);
    }
    assert_eq!(chord(&screen, &reader), Ok(true));
    assert_eq!(reader.wait_bytes(2), BYTES);
}

#[test]
fn other_layouts_have_the_same_chord() {
    let screen = Screen::start();
    let reader = screen.terminal("plain");
    let mut sent = Vec::new();
    for layout in ["de", "fr", "us,ru"] {
        screen.call("setxkbmap", &[layout]);
        assert_eq!(chord(&screen, &reader), Ok(true), "{layout}");
        sent.extend(BYTES);
        assert_eq!(reader.wait_bytes(sent.len()), sent, "{layout}");
    }
}

#[test]
fn a_running_turn_is_not_idle_and_a_hidden_title_is_no_proof() {
    let screen = Screen::start();
    let busy = screen.terminal_with("busy", "", "printf '\\033]2;\u{25d0} Claude Code\\007'");
    later(screen.carrier(&busy).idle(), "a turn runs");
    let hidden = screen.terminal_with("hidden", "", "");
    assert_eq!(screen.carrier(&hidden).idle(), Ok(true));
}

#[test]
fn a_display_that_stops_answering_times_out() {
    let screen = Screen::start();
    let reader = screen.terminal("plain");
    let mut window = screen.carrier(&reader);
    let mut begun = Instant::now();
    let refused = press(&mut window, &CHORD, &mut || {
        begun = Instant::now();
        screen.stand_still(true);
        true
    });
    let spent = begun.elapsed();
    drop(window);
    let ended = begun.elapsed();
    screen.stand_still(false);
    later(refused, "does not answer");
    assert!(
        spent < Duration::from_secs(2) && ended < Duration::from_secs(8),
        "{spent:?} {ended:?}"
    );
    assert_eq!(reader.wait_bytes(1), [0x1d]);
    assert_eq!(chord(&screen, &reader), Ok(true));
    assert_eq!(reader.wait_bytes(3), [0x1d; 3]);
}

#[test]
fn the_second_layout_of_two_has_the_same_chord() {
    let screen = Screen::start();
    let reader = screen.terminal("plain");
    screen.call("setxkbmap", &["-layout", "us,ru", "-option", "grp:caps_toggle"]);
    screen.input(PRESS, CAPS_LOCK);
    screen.input(RELEASE, CAPS_LOCK);
    assert_eq!(chord(&screen, &reader), Ok(true));
    assert_eq!(reader.wait_bytes(2), BYTES);
}
