//! A paste through the clipboard arrives complete, and the user's selections come back.

use std::fmt::Write as _;

use carrier::terminal::{PromptBox, Refusal, Terminal};

use crate::x11::harness::{Reader, Screen, wait};

const KINDS: [&str; 2] = ["primary", "clipboard"];

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
        let has = |bytes: &[u8], word: &str| bytes.split(|b| *b == 0).any(|w| w == word.as_bytes());
        has(&read("cmdline"), "hold") && has(&read("environ"), &variable)
    };
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    all.filter(|entry| entry.file_name().to_str().is_some_and(ours)).count()
}

fn with_a_box(screen: &Screen) -> Reader {
    let rule = "─".repeat(90);
    let draw =
        format!("printf '\\033[2J\\033[20;1H{rule}\\033[21;1H❯ half a draft\\033[22;1H{rule}'");
    screen.terminal_with("box", "", &draw)
}

#[test]
fn a_long_text_arrives_whole_and_the_users_selections_come_back() {
    let screen = Screen::start();
    let reader = with_a_box(&screen);
    for which in KINDS {
        select(&screen, which, &format!("the user had this: ü ({which})"));
    }
    let mut window = screen.carrier(&reader);
    let wanted = framed(&text());
    assert_eq!(window.prompt_box(), Ok(PromptBox::Holds("half a draft".into())));
    assert_eq!(window.paste(&text()), Ok(()));
    assert!(reader.wait_bytes(wanted.len()) == wanted, "{} bytes", reader.bytes().len());
    assert_eq!(window.prompt_box(), Ok(PromptBox::Holds("half a draft".into())));
    drop(window);
    for which in KINDS {
        let back = format!("the user had this: ü ({which})");
        wait("the user's selection again", || (selected(&screen, which) == back).then_some(()));
    }
    for which in KINDS {
        select(&screen, which, "something newer");
    }
    wait("end of our processes", || (servers(&screen) == 0).then_some(()));
}

#[test]
fn reading_the_box_leaves_the_clipboard_and_pointer_alone() {
    let screen = Screen::start();
    let reader = with_a_box(&screen);
    let before = screen.pointer();
    let mut window = screen.carrier(&reader);
    for _ in 0..3 {
        assert_eq!(window.prompt_box(), Ok(PromptBox::Holds("half a draft".into())));
        assert_eq!(screen.pointer(), before);
    }
    // A selection that the user makes meanwhile stays.
    select(&screen, "primary", "selected meanwhile");
    drop(window);
    assert_eq!(selected(&screen, "primary"), "selected meanwhile");
    assert_eq!((selected(&screen, "clipboard"), servers(&screen)), (String::new(), 0));
    assert!(reader.bytes().is_empty());
}

#[test]
fn the_clipboard_comes_back_in_a_terminal_that_copies_selections() {
    let screen = Screen::start();
    screen.resource("XTerm*selectToClipboard: true");
    let reader = with_a_box(&screen);
    select(&screen, "clipboard", "copied by the user");
    let mut window = screen.carrier(&reader);
    let wanted = framed(&text());
    for round in 1..=2 {
        assert_eq!(window.prompt_box(), Ok(PromptBox::Holds("half a draft".into())));
        assert_eq!(window.paste(&text()), Ok(()));
        assert!(reader.wait_bytes(wanted.len() * round).ends_with(&wanted));
    }
    drop(window);
    wait("the user's again", || {
        (selected(&screen, "clipboard") == "copied by the user").then_some(())
    });
    select(&screen, "clipboard", "something newer");
}

#[test]
fn a_selection_that_cannot_be_restored_is_not_taken() {
    let screen = Screen::start();
    let reader = with_a_box(&screen);
    screen.call("sh", &["-c", "printf x | xclip -selection primary -t image/png >/dev/null"]);
    let mut window = screen.carrier(&reader);
    for refused in [window.paste("text").err(), window.prompt_box().err()] {
        let Some(Refusal::Later(why)) = refused else { panic!("{refused:?}") };
        assert!(why.contains("can't be given back"), "{why}");
    }
    drop(window);
    let targets = screen.call("xclip", &["-o", "-selection", "primary", "-t", "TARGETS"]);
    assert!(targets.contains("image/png"), "{targets}");
    assert!(reader.bytes().is_empty());
}

#[test]
fn a_clipboard_that_changes_in_the_middle_refuses() {
    let screen = Screen::start();
    let reader = screen.terminal("plain");
    screen.run(
        "sh",
        &["-c", "while :; do printf other | xclip -selection primary; sleep 0.02; done"],
    );
    let mut window = screen.carrier(&reader);
    let refused = wait("refusal", || window.paste(&text()).err());
    assert!(matches!(&refused, Refusal::Later(why) if why.contains("clipboard")), "{refused:?}");
}
