//! The moving picture of a session in the README: the real client's screen, from a block to the
//! fresh session. `UPDATE_PICTURE=1 cargo test --test clients picture` draws it anew.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{append, moves, percent, step};
use crate::support::client::Terminal;
use crate::support::mock::Reply;
use crate::support::world::World;

/// Columns and lines of the terminal.
const COLUMNS: usize = 100;
const LINES: usize = 32;

/// Pixels of a character, and of a line.
const CHARACTER: f64 = 7.8;
const LINE: usize = 18;

/// How long a screen is shown, whatever its time in the client; the last one longer.
const SHOWN: std::ops::RangeInclusive<f64> = 0.8..=2.5;
const LAST: f64 = 6.0;

/// A screen, and its seconds.
struct Frame {
    screen: String,
    seconds: f64,
}

/// The screens as frames of one SVG. Where nothing moves, the last one is shown.
fn svg(frames: &[Frame]) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let (width, height) = ((COLUMNS as f64 * CHARACTER) as usize + 40, LINES * LINE + 30);
    let whole: f64 = frames.iter().map(|frame| frame.seconds).sum();
    let (mut body, mut style, mut at) = (String::new(), String::new(), 0.0);
    for (n, Frame { screen, seconds }) in frames.iter().enumerate() {
        let (from, to) = (100.0 * at / whole, 100.0 * (at + seconds) / whole);
        at += seconds;
        let _ = writeln!(
            style,
            "@keyframes f{n} {{ 0% {{ opacity: 0 }} {from:.2}% {{ opacity: 1 }} {to:.2}% {{ opacity: 0 }} }} \
             #f{n} {{ animation: f{n} {whole:.1}s step-end infinite }}"
        );
        let hidden = if n + 1 < frames.len() { " opacity=\"0\"" } else { "" };
        let _ = writeln!(body, "<g id=\"f{n}\"{hidden}>");
        for (n, line) in screen.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let is_ours = line.contains("brain-guard") || line.contains("restarts from its notes");
            let class = if is_ours { " class=\"g\"" } else { "" };
            let y = 28 + n * LINE;
            let _ = writeln!(body, "<text{class} x=\"20\" y=\"{y}\">{}</text>", escaped(line));
        }
        let _ = writeln!(body, "</g>");
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" \
         viewBox=\"0 0 {width} {height}\" font-size=\"13\">\n\
         <style>text {{ font-family: ui-monospace, monospace; fill: #d8dce4; white-space: pre }} \
         .g {{ fill: #f3cf9d }}\n{style}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#1b1d23\"/>\n{body}</svg>\n"
    )
}

#[test]
fn a_session_is_blocked_sealed_and_continued_on_the_screen() {
    let read = || Reply::tool("Read", json!({"file_path": "src/lexer.rs"}));
    let slow = |reply: Reply| {
        thread::sleep(Duration::from_secs(1));
        reply
    };
    let agent = moves(vec![
        step(move |_| slow(Reply::bash("ls src")).tokens(percent(12.0))),
        step(move |_| slow(read()).tokens(percent(31.0))),
        step(move |_| {
            slow(append("next", "add the back-off to retry.rs, then run cargo test"))
                .tokens(percent(31.1))
        }),
        step(move |_| slow(Reply::bash("brain-guard seal")).tokens(percent(31.2))),
        step(move |_| {
            slow(Reply::text("The notes are sealed; I end my turn.")).tokens(percent(31.3))
        }),
        step(move |_| {
            slow(Reply::text("The notes say: add the back-off to retry.rs first. I begin with it."))
                .tokens(percent(4.0))
        }),
    ]);
    let boundary = json!({"attended_notice_seconds": 5, "min_interval_seconds": 0});
    let world = World::build()
        .guard_settings(json!({"boundary": boundary}))
        .file("src/lexer.rs", "pub fn next() {}\n")
        .agent(agent)
        .start();
    let pane = world.tmux(&world.program(&[]));
    let (width, height) = (COLUMNS.to_string(), LINES.to_string());
    pane.run(&["resize-window", "-t", "{}", "-x", &width, "-y", &height]).expect("tmux answers");
    let tui = world.tui_in(Terminal::Tmux(pane));
    tui.prompt("Make the retries robust");
    let (project, state) = (world.project(), world.state());
    let mut screens: Vec<(Instant, String)> = Vec::new();
    world.wait("the fresh session's first answer", || {
        let screen = tui.screen().replace(&*project.to_string_lossy(), "/home/me/app");
        let screen = screen.replace(&*state.to_string_lossy(), "/home/me/.local/state");
        // A hint of the client's about its terminal.
        let screen: String = screen
            .lines()
            .filter(|line| !line.contains("tmux focus-events"))
            .flat_map(|line| [line, "\n"])
            .collect();
        let is_last = screen.contains("I begin with it.");
        if screens.last().is_none_or(|(_, last)| *last != screen) {
            screens.push((Instant::now(), screen));
        }
        is_last.then_some(())
    });
    let all = |text: &str| screens.iter().any(|(_, screen)| screen.contains(text));
    assert!(all("brain-guard blocked Read"), "the block is on the screen");
    assert!(all("restarts from its notes in"), "the notice is on the screen");
    if std::env::var_os("UPDATE_PICTURE").is_some() {
        let ends = screens.iter().skip(1).map(|(at, _)| *at).chain([Instant::now()]);
        let shown = |((at, screen), end): (&(Instant, String), Instant)| Frame {
            screen: screen.clone(),
            seconds: (end - *at).as_secs_f64(),
        };
        let mut frames: Vec<Frame> = screens.iter().zip(ends).map(shown).collect();
        // The client's spinner moves several times a second.
        frames.dedup_by(|next, kept| {
            let is_short = kept.seconds < *SHOWN.start();
            if is_short {
                kept.screen = std::mem::take(&mut next.screen);
                kept.seconds += next.seconds;
            }
            is_short
        });
        for frame in &mut frames {
            frame.seconds = frame.seconds.clamp(*SHOWN.start(), *SHOWN.end());
        }
        if let Some(last) = frames.last_mut() {
            last.seconds = LAST;
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/session.svg");
        fs::write(path, svg(&frames)).expect("written");
    }
}
