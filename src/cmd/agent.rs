//! Executes the agent's verbs in the hook's process.

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use super::Exit;
use super::output::captured;
use base::env::{self, Env};
use base::process;
use guard::hook::facts::Facts;
use guard::policy::command::{Answer, OwnCall, OwnCommand};
use guard::policy::verbs::AGENT_VERBS;

/// No verb begins later than this after the hook was started. The client gives up on a hook after
/// five seconds, and then runs the command itself.
const LATEST: Duration = Duration::from_secs(2);

/// Executes the verbs of a call, in order, and returns their answers.
pub fn execute(facts: &Facts, call: &str, own: &OwnCommand) -> Vec<Answer> {
    let env = facts.env.clone();
    let env = env.with_variable(env::SESSION_ID, facts.id);
    let env = env.with_variable(env::PROJECT_DIR, &facts.places.project.to_string_lossy());
    let mut answers: Vec<Answer> = Vec::new();
    for one in &own.calls {
        if one.after_success && answers.last().is_some_and(|answer| !answer.succeeded) {
            continue;
        }
        answers.push(if process::age().is_some_and(|age| age > LATEST) {
            let text = "brain-guard: the machine is too busy; nothing was done, so run it again";
            Answer { text: text.to_owned(), succeeded: false }
        } else {
            run(&env, facts, call, one)
        });
    }
    answers
}

fn run(env: &Env, facts: &Facts, call: &str, one: &OwnCall) -> Answer {
    let mut arguments: Vec<OsString> = vec!["brain-guard".into(), one.verb().into()];
    if AGENT_VERBS.contains(&one.verb()) {
        let project = facts.places.project.to_string_lossy();
        for (flag, value) in [("--session", facts.id), ("--call", call), ("--project", &project)] {
            arguments.extend([flag.into(), value.into()]);
        }
    }
    arguments.extend(one.words.iter().skip(1).map(OsString::from));
    let input = one.input.clone().unwrap_or_default();
    let (result, text) = captured(input, || super::perform(arguments, env));
    remember_unwritten(facts, one.verb(), &result);
    let succeeded = result.is_ok_and(|exit| exit == Exit::Done);
    Answer { text, succeeded }
}

/// Remembers that a verb could not write, until one succeeds. Nothing announces some causes, such as
/// a quota.
fn remember_unwritten(facts: &Facts, verb: &str, result: &anyhow::Result<Exit>) {
    let failed = |e: &anyhow::Error| {
        let system = e.chain().filter_map(|e| e.downcast_ref::<io::Error>()).last();
        system.is_some_and(|e| e.raw_os_error().is_some()).then(|| format!("{e:#}"))
    };
    let unwritten = match result {
        Err(e) => failed(e),
        Ok(Exit::Done) if !matches!(verb, "status" | "explain" | "steering") => None,
        Ok(_) => return,
    };
    if unwritten.is_some() || facts.session.notes.unwritten.is_some() {
        let unwritten = unwritten.map(|why| (facts.now, why.chars().take(300).collect()));
        facts.update_of(facts.id, |session| session.notes.unwritten = unwritten);
    }
}
