//! A paste arrives complete, or is refused, and leaves the clipboard alone.

use std::fmt::Write as _;
use std::time::Duration;

use carrier::terminal::{Refusal, Stroke, Terminal};

use crate::x11::harness::{Screen, wait};

/// 12,000 characters, many of them longer than one byte.
fn text() -> String {
    let mut text = String::new();
    for k in 0.. {
        let _ = writeln!(text, "{k} Grüße, ✓ naïve façade — 漢字 {}", "word ".repeat(k % 17));
        if text.chars().count() >= 12_000 {
            return text.chars().take(12_000).collect();
        }
    }
    unreachable!("the loop has no end")
}

fn framed(text: &str) -> Vec<u8> {
    format!("\x1b[200~{}\x1b[201~", text.replace('\n', "\r")).into_bytes()
}

fn select(screen: &Screen, which: &str, text: &str) {
    screen.call(
        "sh",
        &["-c", &format!("printf '%s' '{text}' | xclip -selection {which} >/dev/null")],
    );
    wait("selection", || (selected(screen, which) == text).then_some(()));
}

fn selected(screen: &Screen, which: &str) -> String {
    screen.call("sh", &["-c", &format!("xclip -o -selection {which} 2>/dev/null || true")])
}

/// The number of brain-guard's processes on this display.
fn servers(screen: &Screen) -> usize {
    let variable = format!("DISPLAY={}", screen.name);
    let ours = |pid: &str| {
        let read = |what: &str| std::fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
        let is =
            |bytes: &[u8], end: &str| bytes.split(|b| *b == 0).any(|w| w.ends_with(end.as_bytes()));
        is(&read("cmdline"), "/brain-guard") && is(&read("environ"), &variable)
    };
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    all.filter(|entry| entry.file_name().to_str().is_some_and(ours)).count()
}

#[test]
fn a_line_and_a_long_text_arrive_whole_and_the_clipboard_stays() {
    let screen = Screen::start();
    let reader = screen.terminal("plain");
    select(&screen, "primary", "marked by the user");
    select(&screen, "clipboard", "copied by the user");
    let mut window = screen.carrier(&reader);
    let wanted = [framed("a line: "), framed(&text())].concat();
    assert_eq!(window.paste("a line: "), Ok(()));
    assert_eq!(window.paste(&text()), Ok(()));
    assert!(reader.wait_bytes(wanted.len()) == wanted, "{} bytes", reader.bytes().len());
    assert_eq!(selected(&screen, "clipboard"), "copied by the user");
    wait("end of our processes", || (servers(&screen) == 0).then_some(()));
}

#[test]
fn a_paste_needs_a_display_that_nobody_touched_and_a_free_clipboard() {
    let screen = Screen::start();
    let reader = screen.terminal("plain");
    let mut window = screen.carrier(&reader);
    screen.input(2, 66);
    screen.input(3, 66);
    assert_eq!(window.may_paste(Duration::from_secs(60)), Ok(false), "a key was pressed");
    assert_eq!(window.may_paste(Duration::ZERO), Ok(true), "but before the box was emptied");
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(window.chord(&[Stroke::ctrl(']')], &mut || true), Ok(true));
    assert_eq!(window.may_paste(Duration::from_secs(1)), Ok(true), "our own key does not count");
    select(&screen, "clipboard", "copied by the user");
    assert_eq!(window.may_paste(Duration::ZERO), Ok(false), "a terminal may paste the clipboard");
}

#[test]
fn a_selection_that_changes_in_the_middle_refuses() {
    let screen = Screen::start();
    let reader = screen.terminal("plain");
    screen.run(
        "sh",
        &["-c", "while :; do printf other | xclip -selection primary; sleep 0.02; done"],
    );
    let mut window = screen.carrier(&reader);
    // A paste that a selection overtakes in its last moment is refused for another reason.
    let seen =
        |refusal: &Refusal| matches!(refusal, Refusal::Later(why) if why.contains("selected"));
    wait("refusal", || window.paste(&text()).err().filter(seen));
}
