//! Which job a session gets at its start: its own again, never one in use, and the offer of an
//! unfinished one.

use std::fs;
use std::process::{Child, Command, Stdio};

use guard::files::{jobs, state};
use notes::job::Holder;
use serde_json::{Value, json};

use crate::support::hook::Hook;

/// Another running client, in a session of this project.
struct Other(Child);

impl Other {
    fn holding(hook: &Hook, job: &str) -> Self {
        let child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("started");
        let client = state::client(child.id()).expect("alive");
        state::take_seat(&hook.places(), client, "other").expect("seated");
        let me = Holder { session: "other".into(), client: Some(client) };
        assert_eq!(jobs::take_job(&hook.places(), job, &me).expect("held"), Ok(()));
        Self(child)
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A session that wrote into its default job, and the job's name.
fn worked() -> (Hook, String) {
    let hook = Hook::begun();
    hook.agent("brain-guard append --kind thread 'the parser fails on CRLF'");
    let job = hook.state()["job"].as_str().expect("job").to_owned();
    (hook, job)
}

fn move_to(hook: &mut Hook, number: u32) {
    hook.session = format!("5e550000-0000-4000-8000-{number:012}");
    hook.transcript = hook.transcript.with_file_name(format!("{}.jsonl", hook.session));
}

#[test]
fn a_resumed_session_takes_its_job_again() {
    let (hook, job) = worked();
    let line = hook.start("resume").note();
    assert!(line.contains(&format!("works on the job {job}")) && !line.contains('\n'), "{line}");
    let holder = jobs::holder(&hook.places(), &job).expect("held");
    assert_eq!(holder.session, hook.session);
}

#[test]
fn a_job_of_another_live_session_is_not_taken() {
    let (hook, job) = worked();
    let path = hook.places().job(&job).join("job.json");
    let _ = fs::remove_file(path);
    let other = Other::holding(&hook, &job);
    let line = hook.start("resume").note();
    assert!(line.contains("worked on by the session other"), "{line}");
    let own = hook.state()["job"].clone();
    assert_ne!(own, Value::String(job.clone()));
    drop(other);
    assert_eq!(jobs::holder(&hook.places(), &job), None, "the dead hold nothing");
}

#[test]
fn a_job_completed_meanwhile_is_not_taken() {
    let hook = Hook::begun();
    assert!(hook.start("resume").silent(), "there is no file to speak of");
    let (hook, job) = worked();
    let path = hook.places().job(&job).join("job.json");
    fs::write(path, json!({"state": "completed"}).to_string()).expect("record");
    let line = hook.start("resume").note();
    assert!(
        line.contains(&format!("no longer works on the job {job}, which is complete")),
        "{line}"
    );
    assert_ne!(hook.state()["job"], Value::String(job));
}

#[test]
fn only_a_fork_in_the_same_client_takes_the_job() {
    let (mut hook, job) = worked();
    move_to(&mut hook, 2);
    let line = hook.start("fork").note();
    assert!(line.contains(&format!("works on the job {job}")), "{line}");
    assert_eq!(hook.state()["job"], Value::String(job.clone()));
    assert_eq!(jobs::holder(&hook.places(), &job).expect("held").session, hook.session);
    let child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("started");
    let child = Other(child);
    hook.set("CLAUDE_PID", &child.0.id().to_string());
    move_to(&mut hook, 3);
    assert!(hook.start("fork").silent(), "a job of its own, with no file");
    assert_ne!(hook.state()["job"], Value::String(job));
}

/// Replaces the session's client by a new one.
fn started_anew(hook: &mut Hook, number: u32) -> (String, String) {
    let child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("started");
    let child = Other(child);
    hook.set("CLAUDE_PID", &child.0.id().to_string());
    move_to(hook, number);
    let answer = hook.start("startup");
    (answer.note(), answer.user())
}

fn written(hook: &Hook, job: &str, hours_ago: u64) {
    let file = fs::File::options().write(true).open(hook.places().compaction(job)).expect("file");
    let at = std::time::SystemTime::now() - std::time::Duration::from_secs(hours_ago * 3_600);
    file.set_modified(at).expect("dated");
}

#[test]
fn a_free_unfinished_job_is_offered_in_one_line() {
    let (mut hook, job) = worked();
    let record = hook.places().job(&job).join("job.json");
    let put = |value: Value| fs::write(&record, value.to_string()).expect("record");
    put(json!({"auto": true}));
    let (agent, user) = started_anew(&mut hook, 2);
    assert!(agent.contains(&format!("brain-guard job focus {job}")), "{agent}");
    assert!(user.contains(&format!("/brain-guard:resume continues the job {job}")), "{user}");
    assert!(!agent.contains('\n') && !user.contains('\n'), "{agent}\n{user}");
    written(&hook, &job, 25);
    let none = (String::new(), String::new());
    assert_eq!(started_anew(&mut hook, 3), none, "a default job is old after a day");
    put(json!({"created": "2026-01-01T00:00:00Z", "phase": {"name": "review"}}));
    let (agent, _) = started_anew(&mut hook, 4);
    assert!(agent.contains("(phase review), last written 1 day ago"), "{agent}");
    written(&hook, &job, 31 * 24);
    assert_eq!(started_anew(&mut hook, 5), none, "a named one after a month");
    written(&hook, &job, 1);
    put(json!({"state": "completed"}));
    assert_eq!(started_anew(&mut hook, 6), none, "a completed one is finished");
    put(json!({}));
    let other = Other::holding(&hook, &job);
    assert_eq!(started_anew(&mut hook, 7), none, "somebody works on it");
    drop(other);
    assert!(!started_anew(&mut hook, 8).0.is_empty());
    let empty = "# a\n\n## Forward State\n\n## Git Commit Messages\n- abc\n";
    fs::write(hook.places().compaction(&job), empty).expect("file");
    assert_eq!(started_anew(&mut hook, 9), none, "nothing was written");
}
