//! The user's own program as a carrier. It gets the plan as JSON on stdin, and the same token,
//! deadline and proof apply as for every other carrier.
#![allow(clippy::disallowed_methods, reason = "carriers start and watch processes")]

use std::io;
use std::process::Command;
use std::time::Duration;

use serde::Serialize;

use super::terminal::{Refusal, Stroke};
use base::process;
use guard::boundary::{Client, Delivery};

/// The exit code for: not now, ask again (`EX_TEMPFAIL` of sysexits.h).
const NOT_NOW: i32 = 75;

/// What the program is to do, and what it needs for it.
#[derive(Debug, Clone, Serialize)]
pub struct Plan<'a> {
    /// Version of this format.
    pub version: u32,
    /// `clear` or `paste`.
    pub action: &'a str,
    /// The boundary's token.
    pub token: &'a str,
    /// The job whose boundary this is.
    pub job: &'a str,
    /// The session the client is in.
    pub session: &'a str,
    /// The client's process; the program should prove that it talks to this one.
    pub client: Option<Client>,
    /// Root of the project.
    pub project: &'a str,
    /// What is delivered: `sealed`, `reload`, `template` or `transition`.
    pub delivery: Delivery,
    /// The file with that text: the sealed version, or a copy of the other text.
    pub sealed: &'a str,
    /// Seconds after which the program is killed.
    pub deadline_seconds: u64,
    /// The chord that clears at an idle prompt, if one is bound.
    pub chord: Option<Chord>,
    /// What to type if no chord is bound, or before the paste.
    pub line: &'a str,
    /// What to paste after the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<&'a str>,
}

/// A chord as the client writes it and as a terminal sends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chord {
    /// `ctrl+] ctrl+]`
    pub keys: String,
    /// The bytes.
    pub bytes: String,
}

impl Chord {
    /// The chord that consists of these strokes.
    pub fn from_strokes(strokes: &[Stroke]) -> Self {
        let keys: Vec<_> = strokes.iter().map(ToString::to_string).collect();
        let byte = |s: &Stroke| if s.ctrl { char::from(s.key as u8 & 0x1f) } else { s.key };
        Self { keys: keys.join(" "), bytes: strokes.iter().map(byte).collect() }
    }
}

/// Runs the program with the plan on its stdin. Success means only that it acted; the new session
/// is the proof.
///
/// # Errors
/// Exit 75 asks to try again later. Any other failure, or a timeout, rules the program out.
pub fn run(argv: &[String], plan: &Plan) -> Result<(), Refusal> {
    let Some((program, arguments)) = argv.split_first() else {
        return Err(Refusal::never("boundary.command is empty"));
    };
    let never = |why: String| Err(Refusal::Never(format!("{program}{why}")));
    let json = serde_json::to_vec(plan).unwrap_or_default();
    let deadline = Duration::from_secs(plan.deadline_seconds);
    let mut command = Command::new(program);
    match process::output_with_input(command.args(arguments), &json, deadline) {
        Ok(ended) if ended.status.success() => Ok(()),
        Ok(ended) if ended.status.code() == Some(NOT_NOW) => {
            Err(Refusal::later(format!("{program} asks to try again later (exit {NOT_NOW})")))
        }
        Ok(ended) => never(format!(" ended with {}", ended.status)),
        Err(e) if e.kind() == io::ErrorKind::TimedOut => {
            never(format!(" did not end within {} s", plan.deadline_seconds))
        }
        Err(e) => never(format!(": {e}")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn plan() -> Plan<'static> {
        Plan {
            version: 1,
            action: "clear",
            token: "t",
            job: "j",
            session: "s",
            client: None,
            project: "/p",
            delivery: Delivery::Sealed,
            sealed: "/p/v1.md",
            deadline_seconds: 1,
            chord: Some(Chord::from_strokes(&[Stroke::ctrl(']'), Stroke::ctrl('f')])),
            line: "/clear",
            text: None,
        }
    }

    fn sh(script: &str) -> Vec<String> {
        ["sh", "-c", script].map(str::to_owned).to_vec()
    }

    #[test]
    fn the_plan_arrives_and_the_exit_code_decides() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plan.json");
        assert_eq!(run(&sh(&format!("cat >{}", path.display())), &plan()), Ok(()));
        let got: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!((&got["action"], &got["line"]), (&"clear".into(), &"/clear".into()));
        assert_eq!(got["chord"]["bytes"], "\u{1d}\u{6}");
        assert!(matches!(run(&sh("exit 75"), &plan()), Err(Refusal::Later(_))));
        assert!(matches!(run(&sh("exit 1"), &plan()), Err(Refusal::Never(_))));
        assert!(matches!(run(&["/no/such".to_owned()], &plan()), Err(Refusal::Never(_))));
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let began = Instant::now();
        let refused = run(&sh("exec sleep 60"), &plan());
        assert!(refused.is_err_and(|e| e.to_string().contains("did not end within 1 s")));
        assert!(began.elapsed() < Duration::from_secs(10));
        let text = "long ".repeat(100_000);
        let refused = run(&sh("exec sleep 60"), &Plan { text: Some(&text), ..plan() });
        assert!(refused.is_err_and(|e| e.to_string().contains("did not end within 1 s")));
    }
}
