//! The shell calls whose verbs a hook executes. Each call happens once: it is recorded under its
//! id before it acts, and whoever comes second, a hook or the shell, gets the recorded answers. The
//! record goes when the call is over.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::state::{self, Client};
use base::atomic;
use base::paths::{Places, is_safe_name};

/// How long the second one waits for the answers.
const PATIENCE: Duration = Duration::from_secs(3);

/// The answer of one verb.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The verb and its arguments.
    pub words: Vec<String>,
    /// What it printed.
    pub text: String,
    /// Whether it succeeded.
    pub succeeded: bool,
}

/// What is known about a call.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    /// The process that executes it.
    by: Option<Client>,
    /// The answers; `None` until it is done.
    answers: Option<Vec<Answer>>,
}

/// Whose a call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// This process executes it.
    Mine,
    /// It was executed, with these answers.
    Done(Vec<Answer>),
    /// Another process began it and is gone.
    Broken,
}

fn path(places: &Places, session: &str, call: &str) -> Option<PathBuf> {
    is_safe_name(call).then(|| places.session(session, &format!("call-{call}")))
}

/// Claims a call of the session for this process.
///
/// # Errors
/// What the system says. Then nothing is recorded, so nothing may be executed.
pub fn claim(places: &Places, session: &str, call: &str) -> io::Result<Claim> {
    let Some(path) = path(places, session, call) else { return Ok(Claim::Mine) };
    places.ensure_state()?;
    if atomic::claim(&path)? {
        let record = Record { by: state::client(std::process::id()), answers: None };
        write(&path, &record)?;
        return Ok(Claim::Mine);
    }
    Ok(wait(&path))
}

/// The answers to a call that was begun; `None` if it is over, or was never begun.
pub fn begun(places: &Places, session: &str, call: &str) -> Option<Claim> {
    let path = path(places, session, call).filter(|path| path.exists())?;
    Some(wait(&path))
}

fn wait(path: &std::path::Path) -> Claim {
    let step = Duration::from_millis(10);
    let mut waited = Duration::ZERO;
    loop {
        let record = atomic::read_record(path).ok().flatten();
        let record = record.and_then(|bytes| serde_json::from_slice::<Record>(&bytes).ok());
        let lives = |by: Client| state::client(by.pid) == Some(by);
        match record {
            Some(Record { answers: Some(answers), .. }) => return Claim::Done(answers),
            Some(Record { by, .. }) if waited >= PATIENCE || !by.is_some_and(lives) => {
                return Claim::Broken;
            }
            None if waited >= PATIENCE => return Claim::Broken,
            _ => {}
        }
        std::thread::sleep(step);
        waited += step;
    }
}

/// Records the answers to a call of this process.
///
/// # Errors
/// What the system says.
pub fn finish(places: &Places, session: &str, call: &str, answers: &[Answer]) -> io::Result<()> {
    let Some(path) = path(places, session, call) else { return Ok(()) };
    write(&path, &Record { by: None, answers: Some(answers.to_vec()) })
}

fn write(path: &std::path::Path, record: &Record) -> io::Result<()> {
    atomic::write_unsynced(path, &serde_json::to_vec(record).map_err(io::Error::from)?)
}

/// Forgets a call that is over.
pub fn forget(places: &Places, session: &str, call: &str) {
    if let Some(path) = path(places, session, call) {
        // A record that stays goes with the session's state.
        let _ = atomic::remove(&path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::env::Env;

    #[test]
    fn a_call_is_executed_once_and_answered_until_it_is_over() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, dir.path()).unwrap();
        assert_eq!(begun(&places, "s", "t"), None);
        assert_eq!(claim(&places, "s", "t").unwrap(), Claim::Mine);
        let answer = Answer { words: vec!["seal".into()], text: "sealed".into(), succeeded: true };
        finish(&places, "s", "t", std::slice::from_ref(&answer)).unwrap();
        assert_eq!(claim(&places, "s", "t").unwrap(), Claim::Done(vec![answer.clone()]));
        assert_eq!(begun(&places, "s", "t"), Some(Claim::Done(vec![answer])));
        forget(&places, "s", "t");
        assert_eq!(begun(&places, "s", "t"), None);
    }

    #[test]
    fn a_call_whose_process_is_gone_is_not_executed_again() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, dir.path()).unwrap();
        places.ensure_state().unwrap();
        let gone = Record { by: Some(Client { pid: 4_194_305, start: 1 }), answers: None };
        write(&path(&places, "s", "t").unwrap(), &gone).unwrap();
        assert_eq!(claim(&places, "s", "t").unwrap(), Claim::Broken);
    }
}
