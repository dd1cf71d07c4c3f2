//! What the user reads at 80 and 120 columns: each answer, denial, notice and state of the strip, in
//! `fixtures/screens-80.txt` and `-120.txt`. `UPDATE_GOLDEN=1` records them anew.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;
use testing::checked_in::difference;

use super::{append, moves, percent, step};
use crate::support::client::Terminal;
use crate::support::client::Tui;
use crate::support::mock::Reply;
use crate::support::world::World;

/// A screen's part, as it looks in every run: numbers become 0, and long paths and ids are masked.
fn masked(lines: &[&str]) -> String {
    let word = |word: &str| {
        let is_path = word.len() > 8 && word.contains('/') && !word.contains("/brain-guard:");
        let is_path = is_path || word.matches('-').count() == 4;
        if is_path {
            return "<path>".to_owned();
        }
        let mut zeros: Vec<char> =
            word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        zeros.dedup_by(|a, b| *a == '0' && *b == '0');
        zeros.into_iter().collect()
    };
    let line = |line: &&str| {
        let words: Vec<String> = line.trim_end().split(' ').map(word).collect();
        words.join(" ").replace(", now)", ", 0 s old)")
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn is_rule(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with("───")
}

fn is_strip(line: &str) -> bool {
    ["context ", "1: pause", "This session ", "No new notes"]
        .iter()
        .any(|start| line.starts_with(start))
}

/// The last message with `needle` in its first line.
fn block(screen: &str, needle: &str) -> String {
    let lines: Vec<&str> = screen.lines().collect();
    let from = lines.iter().rposition(|line| line.contains(needle));
    let from = from.unwrap_or_else(|| panic!("no {needle:?}: {screen}"));
    let goes_on =
        |line: &&&str| !is_rule(line) && !is_strip(line) && !line.contains(['⎿', '●', '◐', '✻']);
    let more = lines[from + 1..].iter().take_while(goes_on).count();
    masked(&lines[from..=from + more])
}

/// All that came after a prompt.
fn since(screen: &str, prompt: &str) -> String {
    let lines: Vec<&str> = screen.lines().collect();
    let from = lines.iter().rposition(|line| line.starts_with(prompt)).expect("the prompt");
    let until = lines.iter().rposition(|line| line.starts_with("● sealed")).expect("the end");
    masked(&lines[from..=until])
}

/// The last answer to a command.
fn answer(screen: &str) -> String {
    let lines: Vec<&str> = screen.lines().collect();
    let from =
        lines.iter().rposition(|line| line.contains("\u{a0}brain-guard: ")).unwrap_or(lines.len());
    // The client's menu of commands is below, too.
    let marks = ["───", "❯", "●", "✻", "  ❯ /"];
    let is_next = |line: &&&str| marks.iter().any(|mark| line.starts_with(mark)) || is_strip(line);
    let below = lines[from..].iter().take_while(|line| !is_next(line));
    masked(&below.copied().collect::<Vec<_>>()).trim_end().to_owned()
}

/// The strip: what stands above the prompt box.
fn strip(screen: &str) -> String {
    let lines: Vec<&str> = screen.lines().collect();
    let end = lines.iter().rposition(|line| line.starts_with('❯')).map_or(0, |at| at - 1);
    let from = lines[..end].iter().rposition(|line| is_strip(line)).unwrap_or(end);
    // The client's own hints stand below it.
    let ours = |line: &&&str| !line.contains('◐') && !line.contains("tmux");
    masked(&lines[from..end].iter().filter(ours).copied().collect::<Vec<_>>()).trim_end().to_owned()
}

/// The records of one session, each below its name.
struct Record<'a> {
    tui: &'a Tui,
    text: String,
}

impl Record<'_> {
    fn add(&mut self, name: &str, part: &str) {
        let _ = write!(self.text, "## {name}\n\n{part}\n\n");
    }

    fn strip(&mut self, name: &str, needle: &str) {
        let screen = self.tui.wait_screen(name, |screen| strip(screen).contains(needle));
        self.add(&format!("strip: {name}"), &strip(&screen));
    }

    /// Types one of our commands and records the answer.
    fn command(&mut self, command: &str, needle: &str) {
        let before = answer(&self.tui.screen());
        self.tui.prompt(&format!("/brain-guard:{command}"));
        let is_new = |text: &str| text != before && text.contains(needle);
        let screen = self.tui.wait_screen(command, |screen| is_new(&answer(screen)));
        self.add(&format!("/brain-guard:{command}"), &answer(&screen));
        self.tui.wait_idle();
    }

    fn turn(&mut self, prompt: &str, last: &str) -> String {
        self.tui.prompt(prompt);
        let screen = self.tui.wait_screen(prompt, |screen| screen.contains(last));
        self.tui.wait_idle();
        screen
    }
}

fn recorded(columns: u32) -> String {
    let read = || Reply::tool("Read", json!({"file_path": "new.txt"}));
    let write = || Reply::tool("Write", json!({"file_path": "new.txt", "content": "x"}));
    let agent = moves(vec![
        step(|_| Reply::bash("true").tokens(percent(5.0))),
        step(|_| Reply::text("first answer").tokens(percent(5.0))),
        step(|_| Reply::bash("true").tokens(percent(21.0))),
        step(|_| Reply::text("second answer").tokens(percent(21.0))),
        step(|_| Reply::bash("true").tokens(percent(26.0))),
        step(move |_| read().tokens(percent(26.0))),
        step(|_| Reply::text("third answer").tokens(percent(26.0))),
        step(|_| Reply::bash("true").tokens(percent(31.0))),
        step(move |_| write().tokens(percent(31.0))),
        step(|_| Reply::bash("ls").tokens(percent(31.0))),
        step(|_| Reply::text("one end").tokens(percent(31.0))),
        step(|_| Reply::text("another end").tokens(percent(31.0))),
        step(|_| Reply::text("third end").tokens(percent(31.0))),
        step(|_| append("next", "write the lexer next").tokens(percent(31.0))),
        step(|_| Reply::bash("brain-guard seal").tokens(percent(31.0))),
        step(|_| Reply::text("sealed").tokens(percent(31.0))),
    ]);
    let world = World::build().guard_settings(json!({})).agent(agent).start();
    let pane = world.tmux(&world.program(&[]));
    let width = columns.to_string();
    pane.run(&["resize-window", "-t", "{}", "-x", &width, "-y", "60"]).expect("tmux answers");
    let tui = world.tui_in(Terminal::Tmux(pane));
    let mut record = Record { tui: &tui, text: format!("# {columns} columns\n\n") };
    record.turn("Build the parser", "first answer");
    record.strip("below the tiers", "nothing blocked");
    record.command("explain", "nothing is blocked.");
    record.command("status", "carrier");
    record.command("now", "no sealed notes wait");
    record.command("resume", "no notes of an earlier session");
    record.command("job", "no job yet");
    record.command("report", "its journal is empty");
    record.command("slim", "nothing to shorten");
    record.command("extract", "nothing can be extracted");
    record.command("undo", "nothing to undo");
    record.command("setup", "nothing changed");
    record.command("doctor", "carrier  ");
    record.command("view", "opens above");
    let screen = record.turn("Go on", "second answer");
    record.add("coach", &block(&screen, "brain-guard: the context"));
    let screen = record.turn("Read it", "third answer");
    record.add("first denial", &block(&screen, "Reason:"));
    record.strip("block-reads", "reading new files");
    record.command("override 30m", "override until");
    record.strip("paused", "(paused");
    record.command("override --off", "is off");
    let screen = record.turn("Write it", "third end");
    record.add("a denial at narrow", &block(&screen, "Reason:"));
    record.add("the second refused end", &block(&screen, "Stop hook says"));
    record.strip("not sealed", "No new notes");
    record.command("explain", "Let the agent seal");
    let screen = record.turn("/brain-guard:seal", "● sealed");
    record.add("/brain-guard:seal", &since(&screen, "❯ /brain-guard:seal"));
    record.strip("the notice", "restarts from its notes");
    record.command("later 30m", "does not restart and");
    record.command("override --off", "is off");
    record.strip("the notice again", "restarts from its notes");
    record.tui.prompt("/compact");
    let screen = record.tui.wait_screen("the line", |s| s.contains("SessionStart:compact says"));
    record.add("a withdrawn boundary", &block(&screen, "SessionStart:compact says"));
    record.text
}

fn compare(columns: u32) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/screens-{columns}.txt"));
    let update = "UPDATE_GOLDEN=1 cargo test --test clients screens";
    let wrong = difference(&path, &recorded(columns), update);
    assert!(wrong.is_none(), "the screens changed; read them:\n{}", wrong.unwrap_or_default());
}

#[test]
fn screens_of_80_columns() {
    compare(80);
}

#[test]
fn screens_of_120_columns() {
    compare(120);
}
