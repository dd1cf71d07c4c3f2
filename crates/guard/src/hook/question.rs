//! Closes a question to the user once nobody is there to answer.

use std::time::Duration;

use super::facts::Facts;
use super::facts::sealed;
use super::messages::Messages;
use super::reply::{Agent, Reply};
use crate::files::state;
use base::clock;

/// How often an open question is checked.
const GLANCE: Duration = Duration::from_secs(1);

/// What to do with an open question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// A person may still answer.
    Open,
    /// Nobody can answer. Close it with this text.
    Unanswerable(String),
    /// The guard does not restrict the session now.
    Unrestricted,
}

/// Decides what to do with the question that the client shows.
pub fn check_question(facts: &Facts) -> Question {
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

/// `PermissionRequest` of a question: closes its dialog once nobody is there to answer. If a person
/// answers first, the client ignores this hook (2.1.329). The plugin module does this where it is
/// loaded.
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
        match check_question(&now) {
            Question::Open => std::thread::sleep(GLANCE),
            Question::Unanswerable(text) => {
                return Reply { agent: Some(Agent::Close(text)), ..Reply::default() };
            }
            Question::Unrestricted => return Reply::default(),
        }
    }
}
