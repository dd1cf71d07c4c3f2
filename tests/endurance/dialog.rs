//! A dialog that opens about the turn's end: read for a while, then answered by the user.

use std::time::{Duration, Instant};

use crate::judge;
use crate::play::{Plan, Scene};
use crate::scenario::Scenario;
use crate::stage::Stage;
use crate::tally::{Fault, Outcome};

/// How long the user reads.
const READING: Duration = Duration::from_millis(900);

/// What became of it.
pub struct Dialog {
    /// The tool that asks; none in other scenarios.
    tool: Option<&'static str>,
    opened: Option<Instant>,
    answered: bool,
    faulted: bool,
    by_agent: bool,
}

impl Dialog {
    /// The dialog of a scenario.
    pub fn of(plan: &Plan) -> Self {
        let tool = match plan.scenario {
            Scenario::Dialog | Scenario::AgentDialog => Some("Write"),
            Scenario::Question => Some("AskUserQuestion"),
            _ => None,
        };
        let by_agent = plan.scenario == Scenario::AgentDialog;
        Self { tool, opened: None, answered: false, faulted: false, by_agent }
    }

    /// Whether none is open, and none will open.
    pub fn is_over(&self, stage: &mut Stage, scene: &Scene) -> bool {
        if self.tool.is_none() || self.faulted {
            return true;
        }
        if shown(&stage.tui.screen()) {
            return false;
        }
        // The background agent always asks; for a prompt it depends on when it was sent.
        if self.by_agent { self.answered } else { judge::turn_is_over(stage, scene) }
    }

    /// Whether the user got to answer it.
    pub fn answered(&self) -> bool {
        self.answered
    }

    /// Looks at the screen; answers once the dialog was read.
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
                // The screen may have changed before the tool's hook was written down.
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

/// Whether a dialog of either tool stands on the screen.
fn shown(screen: &str) -> bool {
    ["Do you want to create", "Which of these?"]
        .iter()
        .any(|words| screen.contains(words) && screen.contains("❯ 1."))
}
