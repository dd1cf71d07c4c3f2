//! The client in a terminal: types, reads the screen, waits until the client is idle.

use std::time::Duration;

use super::Terminal;
use crate::support::evidence::Evidence;
use crate::support::process::{self, DEADLINE};
use crate::support::world::World;

/// Interval between two reads of the screen.
const GLANCE: Duration = Duration::from_millis(25);

/// The client takes longer texts for a paste.
const TYPED_MAX: usize = 300;

pub struct Tui {
    terminal: Terminal,
    evidence: Evidence,
}

impl Tui {
    /// Waits until the client in this terminal shows its prompt box.
    #[track_caller]
    pub(crate) fn in_terminal(world: &World, terminal: Terminal) -> Self {
        let screen = terminal.clone();
        world.evidence.add("screen", move || visible(&screen.screen()));
        let tui = Self { terminal, evidence: world.evidence.clone() };
        tui.wait_idle();
        tui
    }

    pub fn terminal(&self) -> &Terminal {
        &self.terminal
    }

    pub fn screen(&self) -> String {
        self.terminal.screen()
    }

    /// The process id of the terminal's program; in tmux this is the client.
    pub fn pid(&self) -> u32 {
        self.terminal.pid().unwrap_or_else(|| self.evidence.fail("the pane is gone"))
    }

    pub fn ended(&self) -> bool {
        self.terminal.ended()
    }

    /// Types `/exit` and waits until the client ends.
    #[track_caller]
    pub fn quit(self) {
        self.prompt("/exit");
        let ended = process::poll(DEADLINE, GLANCE, || self.ended().then_some(()));
        ended.unwrap_or_else(|| {
            self.evidence.fail(&format!("the client still runs after {DEADLINE:?}"))
        });
    }

    pub fn type_text(&self, text: &str) {
        self.terminal.type_text(text);
    }

    /// Presses keys given by tmux names: `Enter`, `Escape`, `C-x C-s`.
    pub fn keys(&self, names: &str) {
        self.terminal.keys(names);
    }

    /// Presses keys until the dialog is closed and the prompt box is back. A dialog ignores keys in
    /// its first 0.3 seconds.
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

    /// The text in the prompt box, without its mark; `None` without a box (in a dialog).
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

    /// Waits until `wanted` accepts the screen, and returns the screen.
    #[track_caller]
    pub fn wait_screen(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let seen =
            process::poll(DEADLINE, GLANCE, || Some(self.screen()).filter(|screen| wanted(screen)));
        seen.unwrap_or_else(|| self.evidence.fail(&format!("no {what} within {DEADLINE:?}")))
    }

    /// Waits until no turn runs and the prompt box takes keys, twice in a row: the client redraws
    /// between two turns. In tmux the title is no proof: it shows `✳` during a turn too.
    ///
    /// A turn shows only some milliseconds after Enter. Wait for its effect first: a request or a
    /// hook.
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

fn prompt_box(screen: &str) -> Option<String> {
    let lines: Vec<&str> = screen.lines().collect();
    let rule = |line: &&str| line.starts_with("────");
    let end = lines.iter().rposition(rule)?;
    let start = lines[..end].iter().rposition(rule)?;
    let inside = lines[start + 1..end].join("\n");
    Some(inside.strip_prefix('❯')?.trim().to_owned())
}

/// Whether there is a prompt box and no offer to interrupt below it. The client shows that offer
/// until the last Stop hook is done.
fn idle(screen: &str) -> bool {
    let below = screen.lines().rev().take_while(|line| !line.starts_with("────"));
    prompt_box(screen).is_some() && !below.into_iter().any(|line| line.contains("esc to interrupt"))
}

/// Removes white space, because the box breaks long lines.
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
    fn the_prompt_box_is_between_the_last_two_rules() {
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
