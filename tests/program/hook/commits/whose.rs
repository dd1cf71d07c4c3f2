//! Other sessions and people in the same repository.

use std::fs;
use std::process::{Child, Command};

use serde_json::{Value, json};

use super::{call, commit, person, shell, subjects, told, world};

#[test]
fn a_persons_commit_between_two_calls_does_not_count() {
    let hook = world();
    call(&hook, &commit("one"));
    person(&hook, &hook.project, &commit("theirs"));
    call(&hook, "ls");
    call(&hook, "git log --oneline");
    person(&hook, &hook.project, "git commit -q --amend -m 'theirs, better'");
    call(&hook, "git commit -q --allow-empty -m two");
    assert_eq!(subjects(&hook), ["two", "one"]);
}

/// A client process that ends with the test.
struct Client(Child);

impl Client {
    fn start() -> Self {
        Self(Command::new("sleep").arg("600").spawn().expect("started"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Two sessions in one working tree: each gets the commits that its output reports. Unreported ones
/// belong to neither.
#[test]
fn parallel_sessions_keep_their_commits_apart() {
    let one = world();
    let client = Client::start();
    let two = one.beside("5e550000-0000-4000-8000-000000000002", client.0.id());
    two.start("startup");
    for session in [&one, &two] {
        session.prompt("go on");
        session.bash("ls");
    }
    // The second session commits while a longer call of the first runs, and continues.
    let took = 5_000.0;
    call(&two, &commit("two-shown"));
    let quiet = shell(&two, &two.project, "git commit -q --allow-empty -m 'two, quiet'");
    let (event, more) = told(&shell(&one, &one.project, "ls"), "cargo test", took);
    one.send(&one.payload(event, &more));
    assert_eq!(subjects(&one), Vec::<String>::new());
    let (event, more) = told(&quiet, "git commit -q --allow-empty -m 'two, quiet'", took);
    two.send(&two.payload(event, &more));
    assert_eq!(subjects(&two), ["two, quiet", "two-shown"]);
    call(&one, &commit("one-shown"));
    call(&two, "ls");
    assert_eq!((subjects(&one), subjects(&two).len()), (vec!["one-shown".to_owned()], 2));
    // A quiet script while the other session works: its commit cannot be attributed.
    // It pauses because Git knows only whole seconds: the commit must not lie before the call.
    let script = "sleep 1; git commit -q --allow-empty -m \"$1\"\n";
    fs::write(one.home.join("ship"), script).expect("script");
    call(&one, "sh ~/ship quiet");
    assert_eq!(subjects(&one).len() + subjects(&two).len(), 3);
    two.stop();
    call(&one, "sh ~/ship alone");
    assert_eq!(subjects(&one), ["alone", "one-shown"]);
    assert_eq!(one.log("fault"), Vec::<Value>::new());
}

/// A subagent's short calls must not use up the reflog lines of a long call that still runs.
#[test]
fn a_long_call_keeps_its_commits_despite_short_calls() {
    let hook = world();
    // For the short call, this commit is too long ago.
    let command =
        "GIT_COMMITTER_DATE=\"@$(($(date +%s) - 20)) +0000\" git commit -q --allow-empty -m early";
    let ran = shell(&hook, &hook.project, command);
    // The session must be older than its call.
    let path = hook.places().session(&hook.session, "json");
    let mut state = hook.state();
    state["started"] = json!("2026-01-01T00:00:00Z");
    fs::write(&path, state.to_string()).expect("state");
    call(&hook, "ls");
    assert_eq!(subjects(&hook), Vec::<String>::new());
    let (event, more) = told(&ran, "git commit -q --allow-empty -m early && cargo test", 25_000.0);
    assert!(hook.send(&hook.payload(event, &more)).silent());
    assert_eq!(subjects(&hook), ["early"]);
}

#[test]
fn a_subagents_commits_are_the_sessions() {
    let hook = world();
    let ran = shell(&hook, &hook.project, &commit("from-agent"));
    let (event, mut more) = told(&ran, "git commit", 100.0);
    more["agent_id"] = json!("a1");
    assert!(hook.send(&hook.payload(event, &more)).silent());
    assert_eq!(subjects(&hook), ["from-agent"]);
}

#[test]
fn a_commit_in_the_background_is_found_at_the_turns_end() {
    let hook = world();
    let command = "sleep 1; git commit -q --allow-empty -m later";
    let more = json!({"tool_name": "Bash", "tool_use_id": "toolu_1",
        "tool_input": {"command": command, "run_in_background": true}, "duration_ms": 5,
        "tool_response": {"stdout": "", "stderr": "", "interrupted": false, "isImage": false, "backgroundTaskId": "b1"}});
    assert!(hook.send(&hook.payload("PostToolUse", &more)).silent());
    shell(&hook, &hook.project, "git commit -q --allow-empty -m later");
    let tasks = json!({"background_tasks": [{"id": "b1", "type": "shell", "status": "running", "command": command}]});
    assert!(hook.send(&hook.payload("Stop", &tasks)).silent());
    assert_eq!(subjects(&hook), ["later"]);
    assert!(hook.stop().silent());
    person(&hook, &hook.project, "unset GIT_COMMITTER_DATE; git commit -q --allow-empty -m theirs");
    assert!(hook.stop().silent());
    assert_eq!(subjects(&hook), ["later"], "it has ended");
}
