//! The client in a terminal: typing, reading the screen, waiting for it to be idle.

use std::time::Duration;

use super::Terminal;
use crate::evidence::Evidence;
use crate::process::{self, DEADLINE};
use crate::world::World;

/// How often the screen is looked at.
const GLANCE: Duration = Duration::from_millis(25);

/// Longer texts are taken for a paste by the client.
const TYPED_MAX: usize = 300;

/// An interactive session.
pub struct Tui {
    terminal: Terminal,
    evidence: Evidence,
}

impl Tui {
    /// A session in a terminal where the client was started; waits until its prompt box is there.
    #[track_caller]
    pub(crate) fn in_terminal(world: &World, terminal: Terminal) -> Self {
        let screen = terminal.clone();
        world.evidence.add("screen", move || visible(&screen.screen()));
        let tui = Self { terminal, evidence: world.evidence.clone() };
        tui.wait_idle();
        tui
    }

    /// Where it runs.
    pub fn terminal(&self) -> &Terminal {
        &self.terminal
    }

    /// The visible lines.
    pub fn screen(&self) -> String {
        self.terminal.screen()
    }

    /// The process id of the terminal's program: in tmux the client's.
    pub fn pid(&self) -> u32 {
        self.terminal.pid().unwrap_or_else(|| self.evidence.fail("the pane is gone"))
    }

    /// Whether the client has ended.
    pub fn ended(&self) -> bool {
        self.terminal.ended()
    }

    /// Leaves by `/exit` and waits for the client's end.
    #[track_caller]
    pub fn quit(self) {
        self.prompt("/exit");
        let ended = process::poll(DEADLINE, GLANCE, || self.ended().then_some(()));
        ended.unwrap_or_else(|| {
            self.evidence.fail(&format!("the client still runs after {DEADLINE:?}"))
        });
    }

    /// Types text into whatever has the focus.
    pub fn type_text(&self, text: &str) {
        self.terminal.type_text(text);
    }

    /// Presses keys by tmux's names for them: `Enter`, `Escape`, `C-x C-s`.
    pub fn keys(&self, names: &str) {
        self.terminal.keys(names);
    }

    /// Answers the dialog on the screen. It ignores keys in its first 0.3 seconds, so they are pressed until
    /// the prompt box is back.
    #[track_caller]
    pub fn answer(&self, keys: &str) {
        let gone = process::poll(DEADLINE, Duration::from_millis(100), || {
            let gone = self.prompt_box().is_some();
            if !gone {
                self.keys(keys);
            }
            gone.then_some(())
        });
        gone.unwrap_or_else(|| {
            self.evidence.fail(&format!("the dialog is still there after {DEADLINE:?}"))
        });
    }

    /// What stands in the prompt box, without its mark; none while there is no box (a dialog).
    pub fn prompt_box(&self) -> Option<String> {
        prompt_box(&self.screen())
    }

    /// Types one line and submits it once the box shows it.
    #[track_caller]
    pub fn prompt(&self, text: &str) {
        assert!(
            text.len() <= TYPED_MAX && !text.contains('\n'),
            "the client would take this for a paste"
        );
        self.terminal.type_text(text);
        let wanted = squeeze(text);
        self.wait_screen(&format!("{text:?} in the box"), |screen| {
            prompt_box(screen).is_some_and(|shown| squeeze(&shown).ends_with(&wanted))
        });
        self.terminal.keys("Enter");
    }

    /// Waits until the screen is as `wanted`, and gives it back.
    #[track_caller]
    pub fn wait_screen(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let seen =
            process::poll(DEADLINE, GLANCE, || Some(self.screen()).filter(|screen| wanted(screen)));
        seen.unwrap_or_else(|| self.evidence.fail(&format!("no {what} within {DEADLINE:?}")))
    }

    /// Waits until no turn runs and the prompt box takes keys, seen twice in a row since the screen is drawn
    /// anew between two turns. Inside tmux the title says nothing: it shows `✳` during a turn as well.
    ///
    /// A prompt shows as a turn only some milliseconds after its Enter: wait for what it causes (a request, a
    /// hook) before waiting for idleness.
    #[track_caller]
    pub fn wait_idle(&self) {
        let mut calm = 0;
        let seen = process::poll(DEADLINE, Duration::from_millis(50), || {
            calm = if idle(&self.screen()) { calm + 1 } else { 0 };
            (calm == 2).then_some(())
        });
        seen.unwrap_or_else(|| {
            self.evidence.fail(&format!("the client is not idle after {DEADLINE:?}"))
        });
    }
}

impl Drop for Tui {
    fn drop(&mut self) {
        let last = visible(&self.screen());
        self.evidence.add("screen", move || last.clone());
        self.terminal.kill();
    }
}

/// The text between the last two rules of the screen.
fn prompt_box(screen: &str) -> Option<String> {
    let lines: Vec<&str> = screen.lines().collect();
    let rule = |line: &&str| line.starts_with("────");
    let end = lines.iter().rposition(rule)?;
    let start = lines[..end].iter().rposition(rule)?;
    let inside = lines[start + 1..end].join("\n");
    Some(inside.strip_prefix('❯')?.trim().to_owned())
}

/// A prompt box, and below it no offer to interrupt; that stands there until the last Stop hook is done.
fn idle(screen: &str) -> bool {
    let below = screen.lines().rev().take_while(|line| !line.starts_with("────"));
    prompt_box(screen).is_some() && !below.into_iter().any(|line| line.contains("esc to interrupt"))
}

/// Without white space: the box breaks long lines.
fn squeeze(text: &str) -> String {
    text.split_whitespace().collect()
}

fn visible(screen: &str) -> String {
    let lines = screen.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "────────────────";

    #[test]
    fn the_box_is_what_stands_between_the_last_two_rules() {
        assert_eq!(
            prompt_box(&format!("● hi\n{RULE}\n❯ a draft\n  of two lines\n{RULE}\n  foot"))
                .as_deref(),
            Some("a draft\n  of two lines")
        );
        assert_eq!(prompt_box(&format!("{RULE}\n Create file\n ❯ 1. Yes\n   2. No\n")), None);
        assert_eq!(prompt_box("❯ not a box\n"), None);
    }

    #[test]
    fn a_running_turn_is_not_idle() {
        let screen = |foot: &str| format!("● esc to interrupt\n{RULE}\n❯ \n{RULE}\n  {foot}\n\n");
        assert!(idle(&screen("⏵⏵ bypass permissions on (shift+tab to cycle)")));
        assert!(!idle(&screen("⏵⏵ bypass permissions on (shift+tab to cycle) · esc to interrupt")));
    }
}
