//! A dialog that opens around the turn's end. The user reads it for a while and then answers.

use std::time::{Duration, Instant};

use crate::soak::judge;
use crate::soak::play::{Plan, Scene};
use crate::soak::scenario::Scenario;
use crate::soak::stage::Stage;
use crate::soak::tally::{Fault, Outcome};

const READING: Duration = Duration::from_millis(900);

/// The state of the dialog.
pub struct Dialog {
    /// The tool that asks; `None` in other scenarios.
    tool: Option<&'static str>,
    opened: Option<Instant>,
    answered: bool,
    faulted: bool,
    by_agent: bool,
}

impl Dialog {
    pub fn of(plan: &Plan) -> Self {
        let tool = match plan.scenario {
            Scenario::Dialog | Scenario::AgentDialog => Some("Write"),
            Scenario::Question => Some("AskUserQuestion"),
            _ => None,
        };
        let by_agent = plan.scenario == Scenario::AgentDialog;
        Self { tool, opened: None, answered: false, faulted: false, by_agent }
    }

    /// Whether no dialog is open and none will open.
    pub fn is_over(&self, stage: &mut Stage, scene: &Scene) -> bool {
        if self.tool.is_none() || self.faulted {
            return true;
        }
        if shown(&stage.tui.screen()) {
            return false;
        }
        // The background agent always asks. A prompt may be too late for a dialog.
        if self.by_agent { self.answered } else { judge::turn_is_over(stage, scene) }
    }

    /// Whether the user has answered.
    pub fn answered(&self) -> bool {
        self.answered
    }

    /// Checks the screen, and answers the dialog after the reading time.
    pub fn look(&mut self, stage: &mut Stage, scene: &mut Scene, outcome: &mut Outcome) {
        let Some(tool) = self.tool.filter(|_| !self.answered && !self.faulted) else { return };
        let new = &stage.spy.look()[scene.hooks..];
        let ran =
            new.iter().any(|seen| seen.is("PostToolUse", "") && seen.event["tool_name"] == tool);
        if ran {
            self.faulted = true;
            let kind = if tool == "Write" {
                "permission approved unread"
            } else {
                "question answered unread"
            };
            outcome.fault(Fault::Misfire(kind), format!("{tool} ran before the user answered"));
            return;
        }
        let open = shown(&stage.tui.screen());
        match self.opened {
            None if open => self.opened = Some(Instant::now()),
            Some(_) if !open => {
                // The screen may change before the spy records the tool's hook.
                let gone = self.opened.is_some_and(|at| at.elapsed() > READING + READING);
                if gone {
                    self.faulted = true;
                    let kind = Fault::Misfire("dialog dismissed unread");
                    outcome.fault(kind, format!("the dialog of {tool} went away by itself"));
                }
            }
            Some(at) if at.elapsed() > READING => {
                stage.tui.answer("Enter");
                self.answered = true;
                scene.released = Some(judge::now());
            }
            _ => {}
        }
    }
}

/// Whether the screen shows a dialog of either tool.
fn shown(screen: &str) -> bool {
    ["Do you want to create", "Which of these?"]
        .iter()
        .any(|words| screen.contains(words) && screen.contains("❯ 1."))
}
