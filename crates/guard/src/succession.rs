//! Takes the running session into a successor that surgery makes of it: between turns, in the same
//! client and pane. A token moves forward, so that no hook or carrier can repeat a step. Two
//! things put it back, before anything has changed for the user: a turn that comes first, and a
//! client that refuses. The original is never written, so going back is another succession.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use crate::boundary::Client;
use base::clock::Time;
use sessions::cost::Cost;
use sessions::operation::Order;

/// The step a succession has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// The user has not said yes.
    Proposed,
    /// It is performed when the turn has ended.
    Agreed,
    /// The program makes the successor.
    Operating,
    /// The client was told to go on in the successor.
    Resuming,
    /// The client is in the successor.
    Done,
    /// Nothing has changed for the user, or they are back in the original; `why` has the reason.
    Failed,
}

impl Step {
    /// Its name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Agreed => "agreed",
            Self::Operating => "operating",
            Self::Resuming => "resuming",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// What leads to the session to go on in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// This operation makes it.
    Make(Box<Order>),
    /// It is there already: an undo or redo.
    Enter(String),
}

/// Who asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The user, at the prompt.
    User,
    /// The agent, by a verb.
    Agent,
}

/// One succession.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Succession {
    /// The session it leaves.
    pub from: String,
    /// What leads to the next one.
    pub work: Work,
    /// What it does, for the user: `rounds 1-46 become lines of the index table`.
    pub effect: String,
    /// What it costs and saves, if known.
    pub cost: Option<Cost>,
    /// Who asked for it.
    pub by: By,
    /// The step it has reached.
    pub step: Step,
    /// Why it failed, or was put back.
    pub why: Option<String>,
    /// The session to go on in, once it exists.
    pub to: Option<String>,
    /// Whether the agent has work left and is asked to go on.
    pub goes_on: bool,
    /// The client's process.
    pub client: Option<Client>,
    /// When it reached the step.
    pub since: Time,
}

/// How long a step may take that the program or the client performs. Then the succession counts as
/// failed, and the session is free again.
const LONGEST: TimeDelta = TimeDelta::seconds(120);

/// How long a proposal waits for the user.
const OFFERED: TimeDelta = TimeDelta::hours(1);

/// How long it waits for background agents.
const AGENTS: TimeDelta = TimeDelta::minutes(10);

/// Milliseconds between two looks while it waits.
const LOOK: u64 = 2_000;

impl Succession {
    /// Moves forward to `step`. Returns `false` without a change for any other direction.
    pub fn advance(&mut self, step: Step, now: Time) -> bool {
        let forward = step > self.step && self.step < Step::Done;
        if forward {
            (self.step, self.since) = (step, now);
        }
        forward
    }

    /// Ends it without success.
    pub fn fail(&mut self, why: impl Into<String>, now: Time) {
        if self.advance(Step::Failed, now) {
            self.why = Some(why.into());
        }
    }

    /// Whether it still waits or runs. `is_alive` says whether its client does.
    pub fn is_open(&self, now: Time, is_alive: bool) -> bool {
        let at_most = match self.step {
            Step::Proposed | Step::Agreed => OFFERED,
            Step::Operating | Step::Resuming => LONGEST,
            Step::Done | Step::Failed => return false,
        };
        is_alive && now - self.since < at_most
    }

    /// Whether the client goes on in this session by it.
    pub fn leads_to(&self, session: &str) -> bool {
        self.step == Step::Resuming && self.to.as_deref() == Some(session)
    }
}

/// What the module reports.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Report {
    /// A main-loop turn ended.
    TurnComplete {
        /// A person stopped the turn.
        #[serde(default)]
        is_aborted: bool,
    },
    /// The user agreed while no turn ran.
    Agreed,
    /// A wait is over.
    Waited,
    /// The successor is made.
    Operated {
        /// Its id.
        successor: String,
    },
    /// A turn began meanwhile, so the successor lacks it.
    Overtaken {
        /// The successor's id, if it was made.
        #[serde(default)]
        successor: Option<String>,
    },
    /// The client is in another session.
    Resumed,
    /// An action failed.
    Failed {
        /// The action.
        #[serde(default)]
        what: String,
        /// Why.
        #[serde(default)]
        why: String,
    },
    /// Another report.
    #[serde(other)]
    Other,
}

/// The module's next action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "lowercase")]
pub enum Action {
    /// Nothing more.
    None,
    /// Wait and show `status`.
    Wait {
        /// Milliseconds.
        ms: u64,
        /// The text for the status strip.
        status: String,
    },
    /// Ask the program to make the successor.
    Operate {
        /// The text for the status strip.
        status: String,
    },
    /// Go on in this session.
    Resume {
        /// The session.
        to: String,
    },
    /// Start the next turn with the text.
    Submit {
        /// The text; the caller fills it in.
        text: String,
    },
}

/// The facts that a report is judged by.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The session that the client is in.
    pub session: &'a str,
    /// Background agents that still run.
    pub agents: u32,
    /// The current time.
    pub now: Time,
}

/// Takes a report, moves the succession forward, and returns the next action.
pub fn next(token: &mut Succession, report: &Report, at: &Situation) -> Action {
    let is_from = token.from == at.session;
    match report {
        Report::TurnComplete { is_aborted: true } => Action::None,
        Report::TurnComplete { .. } | Report::Agreed | Report::Waited
            if is_from && token.step == Step::Agreed =>
        {
            begin(token, at)
        }
        Report::Operated { successor } if is_from && token.step == Step::Operating => {
            token.to = Some(successor.clone());
            resume(token, at.now)
        }
        Report::Overtaken { .. } if is_from && token.step < Step::Done => {
            // The end of the turn that came between reports again.
            (token.step, token.since, token.to) = (Step::Agreed, at.now, None);
            Action::None
        }
        Report::Resumed | Report::Failed { .. } if token.leads_to(at.session) => arrived(token, at),
        Report::Resumed => {
            token.fail("the client stayed in its session", at.now);
            Action::None
        }
        Report::Failed { what, why } if what == "resume" => {
            // The client refuses after Escape, until the user sends something.
            let why = why.rsplit("$.command.run: ").next().unwrap_or(why);
            let why = format!("Claude Code refused to change sessions ({why})");
            match token.work {
                // A yes makes the successor anew: the conversation may have gone on by then.
                Work::Make(_) => {
                    token.step = Step::Proposed;
                    (token.since, token.to, token.why) = (at.now, None, Some(why));
                }
                Work::Enter(_) => token.fail(why, at.now),
            }
            Action::None
        }
        Report::Failed { what, why } => {
            token.fail(format!("{what} failed: {why}"), at.now);
            Action::None
        }
        Report::TurnComplete { .. }
        | Report::Agreed
        | Report::Waited
        | Report::Operated { .. }
        | Report::Overtaken { .. }
        | Report::Other => Action::None,
    }
}

/// Begins, unless agents still run: what they report belongs to the session that started them.
fn begin(token: &mut Succession, at: &Situation) -> Action {
    if at.agents > 0 && at.now - token.since < AGENTS {
        let agents = if at.agents == 1 { "agent" } else { "agents" };
        let status =
            format!("Waiting for {} background {agents}, then {}", at.agents, token.effect);
        return Action::Wait { ms: LOOK, status };
    }
    match &token.work {
        Work::Make(_) => {
            token.advance(Step::Operating, at.now);
            let status = format!("Making the session in which {}", token.effect);
            Action::Operate { status }
        }
        Work::Enter(to) => {
            token.to = Some(to.clone());
            resume(token, at.now)
        }
    }
}

fn resume(token: &mut Succession, now: Time) -> Action {
    token.advance(Step::Resuming, now);
    let to = token.to.clone().unwrap_or_default();
    Action::Resume { to }
}

fn arrived(token: &mut Succession, at: &Situation) -> Action {
    token.advance(Step::Done, at.now);
    if token.goes_on { Action::Submit { text: String::new() } } else { Action::None }
}

/// A succession for tests.
#[cfg(test)]
pub(crate) mod testing {
    use super::{By, Step, Succession, Time, Work};
    use sessions::operation::{Fates, Operation};

    pub(crate) fn token(step: Step) -> Succession {
        let at: Time = "2026-01-01T00:00:00Z".parse().expect("a time");
        Succession {
            from: "old".into(),
            work: Work::Make(Box::new(Operation::Edit(Fates::new()).into())),
            effect: "rounds 1-46 become lines of the index table".into(),
            cost: None,
            by: By::User,
            step,
            why: None,
            to: None,
            goes_on: false,
            client: None,
            since: at,
        }
    }
}

#[cfg(test)]
mod tests;
