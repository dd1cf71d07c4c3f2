//! A question that the client shows: it waits for its person, and for nobody else.

use std::time::Duration;

use super::facts::Facts;
use super::facts::sealed;
use super::messages::Messages;
use super::reply::{Agent, Reply};
use crate::files::state;
use base::clock;

/// How often an open question is looked at again.
const GLANCE: Duration = Duration::from_secs(1);

/// What a question that is open waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Its person, who may still answer.
    Open,
    /// Nobody: it is to be closed with this text.
    Unanswerable(String),
    /// The guard waits for nothing here.
    Unrestricted,
}

/// Looks at a question that the client shows now.
pub fn look(facts: &Facts) -> Question {
    let view = facts.view();
    if !view.is_at_top() && !sealed(facts, &view.readings) {
        return Question::Unrestricted;
    }
    if facts.attended() {
        return Question::Open;
    }
    let say = Messages::new(facts, &view.ramp, &view.readings, &view.stance);
    Question::Unanswerable(say.deny_question())
}

/// `PermissionRequest` of a question: closes its dialog once nobody is there to answer. Whoever
/// answers first is heard: the client then ignores what this hook says (2.1.329). The module
/// does the same where it is loaded.
pub fn wait(facts: &Facts) -> Reply {
    if facts.seen.mod_alive {
        return Reply::default();
    }
    let (prompts, client) = (facts.session.prompts, facts.session.client);
    loop {
        let project = &facts.places.project;
        let Some(now) = Facts::for_session(facts.env, clock::now(), project, facts.id) else {
            return Reply::default();
        };
        let there = client.is_none_or(|c| state::client(c.pid) == Some(c));
        if !there || now.session.prompts != prompts || now.session.turn.is_none() {
            return Reply::default();
        }
        match look(&now) {
            Question::Open => std::thread::sleep(GLANCE),
            Question::Unanswerable(text) => {
                return Reply { agent: Some(Agent::Close(text)), ..Reply::default() };
            }
            Question::Unrestricted => return Reply::default(),
        }
    }
}
