//! The clipboard: ours arrives whole, the user's comes back.

use std::fmt::Write as _;

use brain_guard::carrier::terminal::{PromptBox, Refusal, Terminal};

use crate::harness::{Screen, wait};

/// 12,000 characters, of which many take more than one byte.
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

#[test]
fn a_long_text_arrives_whole_and_the_users_selection_comes_back() {
    let screen = Screen::start();
    let reader = screen.terminal("plain");
    screen
        .run("sh", &["-c", "printf 'the user had this: ü' | exec xclip -quiet -selection primary"]);
    let primary = || screen.call("sh", &["-c", "xclip -o -selection primary || true"]);
    wait("the user's selection", || (primary() == "the user had this: ü").then_some(()));
    let mut window = screen.carrier(&reader);
    let wanted = framed(&text());
    assert_eq!(window.paste(&text()), Ok(()));
    assert!(reader.wait_bytes(wanted.len()) == wanted, "{} bytes", reader.bytes().len());
    drop(window);
    wait("the user's selection again", || (primary() == "the user had this: ü").then_some(()));
    screen.call("sh", &["-c", "printf next | xclip -selection primary >/dev/null"]);
}

#[test]
fn the_screen_is_read_back_and_nothing_is_left() {
    let screen = Screen::start();
    let rule = "─".repeat(90);
    let draw =
        format!("printf '\\033[2J\\033[20;1H{rule}\\033[21;1H❯ half a draft\\033[22;1H{rule}'");
    let reader = screen.terminal_with("box", "", &draw);
    let before = screen.call("xdotool", &["getmouselocation", "--shell"]);
    let mut window = screen.carrier(&reader);
    assert_eq!(window.prompt_box(), Ok(PromptBox::Holds("half a draft".into())));
    assert_eq!(screen.call("xdotool", &["getmouselocation", "--shell"]), before);
    drop(window);
    let left = screen.call("sh", &["-c", "xclip -o -selection primary 2>&1 || true"]);
    assert!(left.contains("not available"), "{left}");
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
