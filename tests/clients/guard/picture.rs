//! The picture of a session in the README: three screens of the real client, from a block to the
//! fresh session. `UPDATE_PICTURE=1 cargo test --test clients picture` draws it anew.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::json;

use super::{append, moves, percent, step};
use crate::support::client::Terminal;
use crate::support::mock::Reply;
use crate::support::world::World;

/// Columns and pixels of a character, and pixels of a line.
const COLUMNS: usize = 100;
const CHARACTER: f64 = 7.8;
const LINE: usize = 18;

/// The lines of a screen that show something: without the client's head and empty lines.
fn lines(screen: &str, from: &str) -> Vec<String> {
    let mut lines: Vec<String> =
        screen.lines().map(str::to_owned).skip_while(|line| !line.contains(from)).collect();
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    // A hint of the client's about its terminal.
    lines.retain(|line| !line.contains("tmux focus-events"));
    lines.dedup_by(|a, b| a.trim().is_empty() && b.trim().is_empty());
    lines
}

/// Screens below each other, each with a caption.
fn svg(screens: &[(&str, Vec<String>)]) -> String {
    let (mut body, mut y) = (String::new(), 0);
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let width = (COLUMNS as f64 * CHARACTER) as usize + 40;
    for (caption, lines) in screens {
        let _ = writeln!(body, "<text class=\"c\" x=\"4\" y=\"{}\">{caption}</text>", y + 20);
        let height = lines.len() * LINE + 20;
        let _ = writeln!(
            body,
            "<rect y=\"{}\" width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#1b1d23\"/>",
            y + 30
        );
        for (n, line) in lines.iter().enumerate() {
            let at = y + 52 + n * LINE;
            let class = if line.contains("brain-guard:") || line.starts_with("Notes sealed") {
                " class=\"g\""
            } else {
                ""
            };
            let _ = writeln!(body, "<text{class} x=\"20\" y=\"{at}\">{}</text>", escaped(line));
        }
        y += height + 50;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" viewBox=\"0 0 {width} {y}\" \
         font-size=\"13\">\n\
         <style>text {{ font-family: ui-monospace, monospace; fill: #d8dce4; white-space: pre }} \
         .c {{ font-family: system-ui, sans-serif; font-size: 15px; fill: #57606a }} \
         .g {{ fill: #f3cf9d }}</style>\n{body}</svg>\n"
    )
}

#[test]
fn a_session_is_blocked_sealed_and_continued_on_the_screen() {
    let read = || Reply::tool("Read", json!({"file_path": "src/lexer.rs"}));
    let agent = moves(vec![
        step(|_| Reply::bash("ls src").tokens(percent(12.0))),
        step(move |_| read().tokens(percent(31.0))),
        step(|_| {
            append("next", "add the back-off to retry.rs, then run cargo test")
                .tokens(percent(31.1))
        }),
        step(|_| Reply::bash("brain-guard seal").tokens(percent(31.2))),
        step(|_| Reply::text("The notes are sealed; I end my turn.").tokens(percent(31.3))),
        step(|_| {
            Reply::text("The notes say: add the back-off to retry.rs first. I begin with it.")
                .tokens(percent(4.0))
        }),
    ]);
    let boundary = json!({"attended_notice_seconds": 8, "min_interval_seconds": 0});
    let world = World::build()
        .guard_settings(json!({"boundary": boundary}))
        .file("src/lexer.rs", "pub fn next() {}\n")
        .agent(agent)
        .start();
    let pane = world.tmux(&world.program(&[]));
    let (width, height) = (COLUMNS.to_string(), "32");
    pane.run(&["resize-window", "-t", "{}", "-x", &width, "-y", height]).expect("tmux answers");
    let tui = world.tui_in(Terminal::Tmux(pane));
    tui.prompt("Make the retries robust");
    tui.wait_screen("the notice", |s| s.contains("restarts from its notes in"));
    let (project, state) = (world.project(), world.state());
    let shown = || {
        let screen = tui.screen().replace(&*project.to_string_lossy(), "/home/me/app");
        screen.replace(&*state.to_string_lossy(), "/home/me/.local/state")
    };
    let sealed = shown();
    tui.wait_screen("the fresh session", |s| s.contains("I begin with it."));
    tui.wait_idle();
    let fresh = shown();
    if std::env::var_os("UPDATE_PICTURE").is_some() {
        let picture = svg(&[
            (
                "The context is 31 % full: reading is blocked, the agent seals its notes",
                lines(&sealed, "Make the retries"),
            ),
            (
                "The session is cleared, and a fresh one continues from the notes",
                lines(&fresh, "brain-guard"),
            ),
        ]);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/session.svg");
        fs::write(path, picture).expect("written");
    }
}
