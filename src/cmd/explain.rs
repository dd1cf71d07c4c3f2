//! `explain`: why a call was blocked, or why nothing is, and the way out.

mod account;

use std::fmt;

use serde::Serialize;

use self::account::Account;
use super::selector::{self, Found};
use super::status::{Status, at_boundary};
use super::{Context, Exit, Failure, Run, show};
use crate::cli::{ExplainArgs, SessionSelector};
use base::clock::Time;
use base::env::Env;
use base::paths::Places;
use guard::files::journal::{Journal, find_call};
use guard::files::state;
use guard::hook::facts::Facts;
use guard::journal::{Line, What};
use guard::policy::stance::Cap;

impl Run for ExplainArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        let selector = self.session.selector();
        let found = find(env, &selector)?;
        let facts = selector::facts(env, now, &found)?;
        let lines = Journal::of_session(&facts.places, facts.id).lines();
        if let Some(call) = asked_call(&selector, &lines) {
            show(&one_call(&facts, &lines, call)?, self.json)?;
        } else if let Some(count) = self.last {
            let last = &lines[lines.len().saturating_sub(count)..];
            show(&Explained::of(&facts, last), self.json)?;
        } else {
            show(&SessionExplanation::of(&facts, &lines, self.why), self.json)?;
        }
        Ok(Exit::Done)
    }
}

/// The session to explain. The id of a call is enough to find it.
fn find(env: &Env, selector: &SessionSelector) -> anyhow::Result<Found> {
    if let (None, Some(call)) = (&selector.session, &selector.call) {
        let project = selector::project(env, selector)?;
        if let Some(places) = Places::for_project(env, &project) {
            let all = state::all(&places)?;
            let has_call =
                |id: &String| find_call(&Journal::of_session(&places, id).lines(), call).is_some();
            if let Some(session) = all.into_iter().find(has_call) {
                return Ok(Found { project, session });
            }
        }
    }
    selector::find_or_last(env, selector)
}

/// The call to explain. The hook passes each verb the id of the call that runs it, so for `explain`
/// that id means itself and is ignored.
fn asked_call<'a>(selector: &'a SessionSelector, lines: &[Line]) -> Option<&'a str> {
    let id = selector.call.as_deref()?;
    let filled_in = selector.session.is_some() && selector.project.is_some();
    let own = find_call(lines, id).is_none_or(|line| matches!(line.what, What::Allow(_)));
    (!(filled_in && own)).then_some(id)
}

/// A call by its id.
fn one_call(facts: &Facts, lines: &[Line], id: &str) -> Result<Explained, Failure> {
    let line = find_call(lines, id).ok_or_else(|| {
        let what = format!("no call {id} in the journal of session {}", facts.id);
        let hint = "a call that passes below every tier, in a subagent, or while the guard is off has no line; another session's is found with --session";
        Failure::not_found(what).hint(hint)
    })?;
    Ok(Explained::of(facts, std::slice::from_ref(line)))
}

/// Explanations of journal lines.
#[derive(Debug, Serialize)]
struct Explained {
    session: String,
    accounts: Vec<Account>,
}

impl Explained {
    fn of(facts: &Facts, lines: &[Line]) -> Self {
        let accounts = lines.iter().map(|line| Account::of(facts, line)).collect();
        Self { session: facts.id.to_owned(), accounts }
    }
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.accounts.is_empty() {
            return f.write_str(
                "nothing was decided, said or done in this session: below every tier nothing is written",
            );
        }
        let texts: Vec<String> = self.accounts.iter().map(ToString::to_string).collect();
        f.write_str(&texts.join("\n\n"))
    }
}

/// The session's status, its last denial, and the ways out.
#[derive(Debug, Serialize)]
struct SessionExplanation {
    #[serde(flatten)]
    status: Status,
    last_denied: Option<LastDenied>,
    /// When a call was last denied, by the session's state.
    #[serde(skip)]
    denied: Option<Time>,
    account: Option<Account>,
    base_percent: f64,
    carriers: String,
    #[serde(skip)]
    no_carrier: bool,
    /// What the session's boundary waits for, or why it failed.
    #[serde(skip)]
    waiting_for: Option<String>,
    #[serde(skip)]
    is_blocking: bool,
    /// Whether to show the status and how the last block was decided.
    #[serde(skip)]
    is_verbose: bool,
}

/// The last call that was denied, or that shadow mode would have denied, and what the agent was or
/// would have been told.
#[derive(Debug, Serialize)]
struct LastDenied {
    at: Time,
    tool: String,
    reason: String,
    in_shadow: bool,
}

impl LastDenied {
    fn of(line: &Line) -> Option<Self> {
        let (call, in_shadow) = match &line.what {
            What::Deny(call) => (call, false),
            What::WouldDeny(call) => (call, true),
            _ => return None,
        };
        let (tool, reason) = (call.tool.clone(), line.to_agent.clone());
        Some(Self { at: line.at, tool, reason, in_shadow })
    }
}

impl SessionExplanation {
    fn of(facts: &Facts, lines: &[Line], is_verbose: bool) -> Self {
        let view = facts.view();
        let status = Status::of(facts, &view);
        let token = facts.token().filter(|_| !status.has_ended());
        let is_ending = token.as_ref().is_some_and(|token| token.awaits_carrier(facts.id));
        let waiting_for = token.and_then(|token| at_boundary(facts, &token));
        let limit = view.context.map(|c| c.reading.limit);
        Self {
            last_denied: lines.iter().rev().find_map(LastDenied::of),
            denied: facts.session.denied,
            account: lines
                .iter()
                .rfind(|line| matches!(line.what, What::Deny(_) | What::WouldDeny(_)))
                .map(|line| Account::of(facts, line)),
            base_percent: limit.map_or(0.0, |limit| facts.session.base_percent(limit)),
            carriers: facts.carrier().explain(),
            no_carrier: view.stance.cap == Some(Cap::NoCarrier) && !status.has_ended(),
            is_blocking: !view.blocked().is_empty() && !is_ending && !status.has_ended(),
            waiting_for,
            is_verbose,
            status,
        }
    }
}

impl fmt::Display for SessionExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        lines.push(match &self.last_denied {
            Some(denied) => {
                let at = denied.at.with_timezone(&chrono::Local).format("%H:%M");
                let reason = denied.reason.lines().next().unwrap_or_default();
                if denied.in_shadow {
                    format!(
                        "{at}  Shadow mode let {} pass, which would have been blocked.",
                        denied.tool
                    )
                } else {
                    format!("{at}  {reason}")
                }
            }
            None => match self.denied {
                Some(at) => {
                    let at = at.with_timezone(&chrono::Local).format("%H:%M");
                    format!("{at}  A call was blocked; its entry is no longer in the journal.")
                }
                None => "Nothing was blocked in this session.".to_owned(),
            },
        });
        lines.push(format!("Now: {}.", self.status.now()));
        if self.no_carrier {
            lines.push(self.carriers.trim_end().to_owned());
        }
        // The whole status says it, too.
        lines.extend(self.waiting_for.clone().filter(|_| !self.is_verbose));
        lines.extend(self.status.waiting_notes().map(str::to_owned).filter(|_| !self.is_verbose));
        if self.is_blocking {
            lines.push("Let the agent seal its notes, or pause brain-guard: /brain-guard:override 30m (in a terminal: brain-guard override 30m).".to_owned());
        }
        if self.is_verbose {
            lines.push(format!("\n{}", self.status).trim_end().to_owned());
            let account = self.account.as_ref();
            lines.extend(account.map(|account| format!("last blocked: {}", account.brief())));
        } else if self.last_denied.is_some() {
            lines.push("How that was decided: brain-guard explain --why".to_owned());
        }
        f.write_str(&lines.join("\n"))
    }
}

/// The answer to the slash command.
pub fn at_the_prompt(facts: &Facts) -> String {
    let lines = Journal::of_session(&facts.places, facts.id).lines();
    SessionExplanation::of(facts, &lines, false).to_string()
}
