//! `job`: what the verbs change, tell the agent, and refuse.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::hook::{Answer, Hook};

fn job(hook: &Hook, args: &[&str]) -> Answer {
    hook.raw(&[&["job"], args].concat(), b"")
}

fn list(hook: &Hook) -> Vec<Value> {
    let answer = job(hook, &["list", "--json"]);
    answer.json()["jobs"].as_array().unwrap_or_else(|| panic!("{answer:?}")).clone()
}

fn state_of(hook: &Hook, name: &str) -> Value {
    let all = list(hook);
    all.into_iter().find(|job| job["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

fn file(hook: &Hook, name: &str) -> PathBuf {
    hook.places().compaction(name)
}

fn text(hook: &Hook, name: &str) -> String {
    fs::read_to_string(file(hook, name)).expect("file")
}

/// A second client in the same project, with its own process.
struct Other {
    client: Child,
    session: &'static str,
}

impl Other {
    fn begin(hook: &Hook) -> Self {
        let client = Command::new("/bin/sleep")
            .arg("600")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("a process");
        let other = Self { client, session: "5e550000-0000-4000-8000-00000000000b" };
        let start = serde_json::json!({
            "session_id": other.session, "transcript_path": "/none", "cwd": hook.project,
            "hook_event_name": "SessionStart", "source": "startup",
        });
        let answer = other.run(hook, &["hook"], start.to_string().as_bytes());
        assert_eq!(answer.code, Some(0), "{answer:?}");
        other
    }

    fn run(&self, hook: &Hook, args: &[&str], stdin: &[u8]) -> Answer {
        let mut command = hook.command(args);
        let pid = self.client.id().to_string();
        command.env("CLAUDE_PID", pid).env("CLAUDE_CODE_SESSION_ID", self.session);
        crate::support::hook::finish(command, stdin)
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.client.kill();
        let _ = self.client.wait();
    }
}

#[test]
fn a_session_has_no_job_until_its_first_note() {
    let hook = Hook::begun();
    assert!(list(&hook).is_empty());
    assert!(job(&hook, &["list"]).stdout.starts_with("no job yet"));
    for verb in [&["pause"][..], &["complete"], &["show"]] {
        let answer = job(&hook, verb);
        assert_eq!(answer.code, Some(1), "{verb:?} {answer:?}");
    }
    hook.raw(&["append", "one"], b"");
    let all = list(&hook);
    assert_eq!(all.len(), 1);
    assert_eq!(
        (&all[0]["default"], &all[0]["own"], &all[0]["state"]),
        (&true.into(), &true.into(), &"active".into())
    );
    assert_eq!(all[0]["holder"]["session"], hook.session.as_str());
    let line = job(&hook, &["list"]).stdout;
    assert!(line.starts_with("* ") && line.contains("this session, default"), "{line}");
}

/// Naming a default job clears nothing and keeps the notes.
#[test]
fn a_default_job_gets_a_name_and_keeps_its_notes() {
    let hook = Hook::begun();
    hook.prompt("build the parser");
    hook.agent("brain-guard append --kind thread 'the lexer drops a token'");
    let old = hook.file();
    hook.agent("brain-guard seal --no-clear");
    let answer = hook.agent("brain-guard job focus parser");
    assert!(answer.stdout.contains("notes are the job parser's now"), "{answer:?}");
    assert_eq!(hook.state()["job"], "parser");
    assert_eq!(hook.opened().len(), 0, "nothing is cleared for it");
    let new = text(&hook, "parser");
    assert!(new.starts_with("---\njob: parser\n") && new.contains("\n# parser\n"), "{new}");
    assert!(new.contains("the lexer drops a token"), "{new}");
    assert_eq!(fs::read_to_string(&old).expect("the path the agent knows"), new);
    let again = hook.raw(&["seal", "--dry-run"], b"");
    assert!(again.stdout.starts_with("already sealed as version 1"), "{again:?}");
    let all = list(&hook);
    assert_eq!((all.len(), &all[0]["default"]), (1, &false.into()), "{all:?}");
    // The old name still means the same job.
    let name = old.parent().expect("folder").file_name().expect("name").to_str().expect("utf-8");
    assert!(job(&hook, &["focus", name]).stdout.contains("parser is this session's job already"));
}

#[test]
fn a_pause_and_a_resume_in_one_session_clear_nothing() {
    let hook = Hook::begun();
    hook.prompt("build the parser");
    hook.agent("brain-guard job focus parser");
    hook.agent("brain-guard append 'one'");
    let before = text(&hook, "parser");
    let answer = hook.agent("brain-guard job pause");
    assert!(answer.stdout.contains("paused parser"), "{answer:?}");
    assert_eq!(state_of(&hook, "parser")["state"], "paused");
    assert_eq!(text(&hook, "parser"), before);
    assert!(!file(&hook, "parser").parent().expect("folder").join("sealed").exists());
    assert_ne!(hook.state()["job"], "parser");
    hook.agent("brain-guard append 'two'");
    assert_eq!(text(&hook, "parser"), before, "what is paused is not written to");
    let answer = hook.agent("brain-guard job resume");
    assert!(answer.stdout.contains("took up the job parser"), "{answer:?}");
    assert!(answer.stdout.contains("go on with it"), "{answer:?}");
    assert_eq!(hook.state()["job"], "parser");
    assert_eq!(hook.opened().len() + hook.journal("no-boundary").len(), 0);
    assert_eq!(hook.agent("brain-guard job resume parser").code, Some(0), "nothing to do");
}

#[test]
fn a_note_in_the_same_command_as_a_pause_begins_the_next_job() {
    let hook = Hook::begun();
    hook.prompt("build the parser");
    hook.agent("brain-guard job focus parser");
    hook.agent("brain-guard append 'one'");
    let before = text(&hook, "parser");
    hook.agent("brain-guard job pause && brain-guard append 'two' && brain-guard append 'three'");
    assert_eq!(text(&hook, "parser"), before);
    let all = list(&hook);
    assert_eq!(all.len(), 2, "{all:?}");
    let own = all.iter().find(|job| job["own"] == true).expect("its own");
    assert_eq!(hook.state()["job"], own["name"]);
    let notes = fs::read_to_string(own["path"].as_str().expect("path")).expect("file");
    assert!(notes.contains("two") && notes.contains("three"), "{notes}");
}

#[test]
fn focus_of_another_job_asks_for_a_fresh_session() {
    let hook = Hook::begun();
    hook.prompt("build the parser");
    hook.agent("brain-guard job focus parser");
    hook.agent("brain-guard append 'one'");
    let answer = hook.agent("brain-guard job focus docs");
    assert!(answer.stdout.contains("began the job docs"), "{answer:?}");
    assert!(answer.stdout.contains("end your turn now"), "{answer:?}");
    assert_eq!(hook.opened()[0]["delivery"], "template");
    assert_eq!(state_of(&hook, "parser")["state"], "paused", "a named job that is left");
    assert_eq!(state_of(&hook, "parser")["holder"], Value::Null);
    let answer = hook.agent("brain-guard job focus parser");
    assert!(answer.stdout.contains("a fresh session starts from its file"), "{answer:?}");
    assert_eq!(hook.opened()[1]["delivery"], "reload");
    let answer = hook.agent("brain-guard job complete");
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(answer.stderr.contains("about to be cleared for the job parser"), "{answer:?}");
}

#[test]
fn without_a_clear_the_agent_is_told_to_read_the_file() {
    let mut hook = Hook::begun();
    hook.prompt("build the parser");
    hook.agent("brain-guard job focus parser");
    hook.agent("brain-guard append 'one' && brain-guard job focus docs --no-clear");
    assert_eq!(hook.state()["job"], "docs");
    let answer = hook.agent("brain-guard job focus parser --no-clear");
    assert!(answer.stdout.contains("read its file and go on"), "{answer:?}");
    hook.set("CLAUDE_CODE_SESSION_ATTENDED", "0");
    let answer = job(&hook, &["focus", "docs"]);
    assert!(answer.stdout.contains("no fresh session: this is a headless run"), "{answer:?}");
    assert!(answer.stdout.contains("read its file and go on with it"), "{answer:?}");
    assert_eq!(hook.opened().len(), 0);
}

#[test]
fn a_job_completes_only_sealed_with_a_summary() {
    let hook = Hook::begun();
    hook.prompt("build the parser");
    hook.agent("brain-guard job focus parser");
    hook.agent("brain-guard append --kind thread 'one'");
    let refused = hook.agent("brain-guard job complete");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let form = "brain-guard seal --no-clear --summary '";
    assert!(refused.stderr.contains("Prior Summary") && refused.stderr.contains(form));
    hook.agent("brain-guard seal --no-clear");
    let refused = hook.agent("brain-guard job complete");
    assert!(refused.stderr.contains("did not write the job's Prior Summary"), "{refused:?}");
    hook.agent("brain-guard seal --no-clear --summary 'the parser is done'");
    hook.agent("brain-guard append 'two'");
    let refused = hook.agent("brain-guard job complete");
    assert!(refused.stderr.contains("not sealed, or changed after the seal"), "{refused:?}");
    let done = hook.agent("brain-guard seal --no-clear && brain-guard job complete");
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("starts with only its Prior Summary"), "{done:?}");
    assert_eq!(state_of(&hook, "parser")["state"], "completed");
    assert_eq!(hook.opened()[0]["delivery"], "transition");
    assert_ne!(hook.state()["job"], "parser");

    // A completed job opens again only by name.
    let reopened = job(&hook, &["focus", "parser", "--no-clear"]);
    assert!(reopened.stdout.contains("opened the completed job parser again"), "{reopened:?}");
    assert_eq!(state_of(&hook, "parser")["state"], "active");
}

#[test]
fn a_completed_job_is_not_written_to() {
    let hook = Hook::begun();
    hook.raw(&["append", "one"], b"");
    let name = hook.state()["job"].as_str().expect("job").to_owned();
    let record = hook.places().job(&name).join("job.json");
    let closed = fs::read_to_string(&record).expect("record").replace("active", "completed");
    fs::write(&record, closed).expect("closed");
    let before = text(&hook, &name);
    for args in [&["append", "two"][..], &["close", "abcdef"], &["seal"]] {
        let answer = hook.raw(args, b"");
        assert_eq!(answer.code, Some(1), "{args:?} {answer:?}");
        assert!(answer.stderr.contains("is completed; `brain-guard job focus"), "{answer:?}");
    }
    assert_eq!(text(&hook, &name), before);
}

#[test]
fn a_job_held_by_a_live_session_is_refused() {
    let hook = Hook::begun();
    hook.prompt("build the parser");
    hook.agent("brain-guard job focus parser");
    let mut other = Other::begin(&hook);
    let refused = other.run(&hook, &["job", "focus", "parser"], b"");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let process = format!("(process {})", std::process::id());
    assert!(refused.stderr.contains(&hook.session) && refused.stderr.contains(&process));
    let refused = other.run(&hook, &["job", "restore", "parser", "--version", "1"], b"");
    assert!(refused.stderr.contains("works on the job parser"), "{refused:?}");
    let own = hook.places().state.join(format!("sessions/{}.json", other.session));
    let own: Value = serde_json::from_slice(&fs::read(&own).expect("state")).expect("JSON");
    let own = own["job"].as_str().expect("job");
    let taken = job(&hook, &["focus", own]);
    assert_eq!(taken.code, Some(1), "{taken:?}");
    assert!(taken.stderr.contains("another session's default job"), "{taken:?}");

    // A client that is gone holds no job.
    assert_eq!(other.run(&hook, &["append", "theirs"], b"").code, Some(0));
    assert!(job(&hook, &["focus", own]).stderr.contains("works on the job"));
    other.client.kill().expect("killed");
    other.client.wait().expect("gone");
    assert_eq!(job(&hook, &["focus", own]).code, Some(0));
    assert_eq!(state_of(&hook, own)["holder"]["session"], hook.session.as_str());
}

#[test]
fn job_names_are_folder_names_and_unique_in_any_case() {
    let hook = Hook::begun();
    for bad in ["a/b", ".hidden", "trailing.", "ü", "a b", "", "..", &"x".repeat(101)] {
        let answer = job(&hook, &["focus", bad]);
        assert_eq!(answer.code, Some(2), "{bad:?} {answer:?}");
        assert!(answer.stderr.contains("can't be a job's name"), "{answer:?}");
    }
    assert_eq!(job(&hook, &["focus", "-x"]).code, Some(2));
    assert_eq!(job(&hook, &["focus", "Parser-2.x"]).code, Some(0));
    let answer = job(&hook, &["focus", "parser-2.X"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(answer.stderr.contains("`brain-guard job focus Parser-2.x`"), "{answer:?}");
    let answer = job(&hook, &["resume", "nowhere"]);
    assert!(answer.stderr.contains("jobs: Parser-2.x;"), "{answer:?}");
    assert_eq!(list(&hook).len(), 1, "what was refused left nothing");
}

#[test]
fn every_sealed_version_can_be_read_and_put_back() {
    let hook = Hook::begun();
    hook.prompt("build the parser");
    hook.agent("brain-guard append 'the first note' && brain-guard seal --no-clear");
    hook.agent("brain-guard job focus parser");
    hook.agent("brain-guard append 'the second note' && brain-guard seal --no-clear");
    hook.agent("brain-guard append 'never sealed'");
    let folder = file(&hook, "parser").parent().expect("folder").to_owned();
    let first = fs::read_to_string(folder.join("sealed/v0001.md")).expect("sealed");
    let shown = job(&hook, &["show", "parser", "--version", "1"]);
    assert_eq!(shown.stdout, first);
    let show = job(&hook, &["show"]).stdout;
    for said in ["job       parser\n", "state     active\n", "sealed    1, 20", "sealed    2, 20"] {
        assert!(show.contains(said), "{said}: {show}");
    }
    let refused = job(&hook, &["restore", "--version", "7"]);
    assert!(refused.stderr.contains("it has: 1, 2"), "{refused:?}");

    let live = text(&hook, "parser");
    let restored = job(&hook, &["restore", "parser", "--version", "1"]);
    assert_eq!(restored.code, Some(0), "{restored:?}");
    let kept = restored.stdout.trim().rsplit(": ").next().expect("a path").to_owned();
    assert_eq!(fs::read_to_string(kept).expect("kept"), live);
    let now = text(&hook, "parser");
    assert!(now.contains("the first note") && !now.contains("the second note"), "{now}");
    assert!(now.starts_with("---\njob: parser\n"), "sealed under its old name: {now}");
    assert_eq!(fs::read_to_string(folder.join("sealed/v0001.md")).expect("sealed"), first);
    let again = job(&hook, &["restore", "parser", "--version", "1"]);
    assert!(again.stdout.contains("is version 1"), "{again:?}");
    hook.agent("brain-guard append 'the third note' && brain-guard seal --no-clear");
    assert!(folder.join("sealed/v0003.md").exists(), "no version is given twice");
}
