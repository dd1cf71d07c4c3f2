//! `status --all`, and who is told when a session needs its user.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::support::hook::{Hook, percent_in};

/// A stand-in for a client; dropping it ends it.
struct Client(Child);

impl Client {
    fn start() -> Self {
        Self(Command::new("sleep").arg("120").stdin(Stdio::null()).spawn().expect("a client"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn listed(hook: &Hook) -> Vec<Value> {
    let all = hook.raw(&["status", "--all", "--json"], b"").json()["sessions"].take();
    serde_json::from_value(all).expect("a list")
}

/// What the user was told.
fn told(hook: &Hook) -> Vec<String> {
    let lines = hook.journal("notified").into_iter();
    lines.map(|line| line["text"].as_str().expect("a text").to_owned()).collect()
}

/// A session that nobody attends, with a client of its own.
fn alone() -> (Hook, Client) {
    let client = Client::start();
    let mut hook = Hook::new();
    let pid = client.0.id().to_string();
    hook.set("BRAIN_GUARD_MOD", &format!("{}:{pid}", env!("CARGO_PKG_VERSION")));
    hook.set("CLAUDE_PID", &pid);
    let by = ["sh", "-c", "echo \"$1|$2\" >>\"$HOME/told\"", "sh", "{title}", "{text}"];
    hook.settings(&json!({"boundary": {"attended_minutes": 0}, "notify": {"by": by}}));
    hook.begin();
    (hook, client)
}

/// As in a terminal beside the client.
fn away_from_the_client(hook: &mut Hook) {
    for name in ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID"] {
        hook.set(name, "");
    }
}

fn dialog(hook: &Hook) {
    let more = json!({"notification_type": "permission_prompt", "message": "Claude needs this"});
    assert!(hook.send(&hook.payload("Notification", &more)).silent());
}

#[test]
fn of_fifty_sessions_in_three_projects_the_one_that_stands_still_is_on_top() {
    let hook = Hook::new();
    let clients: Vec<Client> = (0..50).map(|_| Client::start()).collect();
    let mut still = String::new();
    for (n, client) in clients.iter().enumerate() {
        let mut other =
            hook.beside(&format!("5e55{n:04}-0000-4000-8000-000000000001"), client.0.id());
        other.project = hook.home.join(format!("project-{}", n % 3));
        let project = other.project.to_str().expect("utf-8").to_owned();
        fs::create_dir_all(&project).expect("folder");
        other.set("CLAUDE_PROJECT_DIR", &project);
        other.start("startup");
        other.prompt("Go");
        if n == 33 {
            still.clone_from(&other.session);
            let mut state = other.state();
            state["turn"] = json!(base::clock::now() - TimeDelta::minutes(20));
            fs::write(other.places().session(&still, "json"), state.to_string()).expect("state");
        } else {
            other.fill(40.0);
        }
    }
    let all = listed(&hook);
    assert_eq!(all.len(), 50);
    assert_eq!((&all[0]["session"], &all[0]["activity"]), (&json!(&still), &json!("stands-still")));
    assert!(all[1..].iter().all(|one| one["activity"] == "works"), "{all:#?}");
    assert_eq!(all[1]["context"]["percent"], 40.0);
    let text = hook.raw(&["status", "--all"], b"").stdout;
    let top = "50 sessions run, and 1 needs you\n\nproject-0  5e550033  stands still, 20 min: ";
    assert!(text.starts_with(top), "{text}");
    assert!(text.contains("\n  no response yet  free  notes 0/2,000 words  job "), "{text}");
    assert!(text.contains("\n  ▓▓▓▓░░░░░░ 40 % of 967k, "), "{text}");
    assert!(text.contains(" ago  narrow  notes 0/2,000 words  job "), "{text}");
    let text = hook.agent("brain-guard status --all").stdout;
    assert!(text.contains("51 sessions run"), "the agent may ask, too: {text}");
    let elsewhere = hook.raw(&["status", "--json", "--session", &still[..8]], b"").json();
    assert_eq!(elsewhere["session"], still.as_str(), "a session of another project");
}

#[test]
fn a_session_whose_client_is_gone_has_ended() {
    let (mut hook, client) = alone();
    hook.prompt("Go");
    hook.fill(percent_in("narrow"));
    assert_eq!(hook.bash("ls").verdict(), "deny");
    let told = hook.raw(&["explain"], b"").stdout;
    assert!(told.contains("Let the agent seal its notes"), "{told}");
    drop(client);
    away_from_the_client(&mut hook);
    let session = &hook.session;
    let status = hook.raw(&["status", "--session", session, "--json"], b"").json();
    assert_eq!(status["doing"], "ended");
    let refused = hook.raw(&["override", "30m", "--session", session], b"");
    assert!(refused.stderr.contains("ended with its client"), "{refused:?}");
    let told = hook.raw(&["explain", "--session", session], b"").stdout;
    let now = "Now: this session ended with its client, which is gone; its last figures: ";
    assert!(told.contains(now) && !told.contains("Let the agent"), "{told}");
}

#[test]
fn of_several_sessions_now_means_the_one_that_waits_for_its_restart() {
    let (mut hook, _client) = alone();
    let other = Client::start();
    let other = hook.beside("5e550002-0000-4000-8000-000000000001", other.0.id());
    other.start("startup");
    hook.prompt("Go");
    hook.fill(percent_in("narrow"));
    away_from_the_client(&mut hook);
    let refused = hook.raw(&["now"], b"");
    assert!(refused.stderr.contains("several live sessions"), "{refused:?}");
    assert!(refused.stderr.contains("--session ID:\n2 sessions run"), "{refused:?}");
    hook.agent("brain-guard append --kind next 'go on' && brain-guard seal");
    hook.stop();
    let status = hook.raw(&["status", "--session", &hook.session], b"").stdout;
    assert!(status.contains("brain-guard now"), "{status}");
    assert!(hook.raw(&["now"], b"").stdout.contains("this session is cleared now"));
    assert!(hook.raw(&["later"], b"").stdout.contains("this session does not restart and"));
    let status = hook.raw(&["status", "--session", &hook.session], b"").stdout;
    assert!(status.contains("This session does not restart: you paused brain-guard"), "{status}");
}

/// A session whose sealed notes wait for its restart, and its client.
fn sealed() -> (Hook, Client) {
    let (hook, client) = alone();
    hook.prompt("Go");
    hook.fill(percent_in("narrow"));
    hook.agent("brain-guard append --kind next 'go on' && brain-guard seal");
    hook.stop();
    (hook, client)
}

#[test]
fn while_the_mode_is_off_nothing_restarts_and_every_verb_says_so() {
    let (mut hook, _client) = sealed();
    hook.settings(&json!({"mode": "off"}));
    let off = "this session does not restart: brain-guard is off in the settings";
    let sealed = hook.raw(&["seal"], b"").stdout;
    assert!(sealed.contains("no boundary: brain-guard is off in the settings"), "{sealed}");
    away_from_the_client(&mut hook);
    let status = hook.raw(&["status"], b"").stdout.replace('\n', " ");
    assert!(status.contains("nothing is blocked, because brain-guard is off"), "{status}");
    assert!(
        status.contains("doing     turn over, 0 s: brain-guard is off in the settings"),
        "{status}"
    );
    let boundary = "boundary  This session does not restart: brain-guard is off in the settings. ";
    assert!(status.contains(boundary) && !status.contains("restarts it"), "{status}");
    for verb in ["now", "later"] {
        let said = hook.raw(&[verb], b"").stdout;
        assert_eq!(said, format!("session {}: {off}\n", hook.session));
    }
    let typed = json!({"command_name": "brain-guard:status", "command_args": ""});
    let answer = hook.send(&hook.payload("UserPromptExpansion", &typed)).json();
    assert!(answer["reason"].to_string().contains("brain-guard is off"), "{answer}");
}

#[test]
fn setting_the_mode_to_off_withdraws_a_waiting_boundary() {
    let (mut hook, _client) = sealed();
    hook.write_settings(r#"{"mode": "off"}"#);
    away_from_the_client(&mut hook);
    let said = hook.raw(&["settings", "apply"], b"").stdout;
    let kept = "does not restart, because brain-guard is off in the settings. Nothing is blocked";
    assert!(said.contains("mode on → off") && said.contains(kept), "{said}");
    assert!(hook.raw(&["settings", "set", "mode", "on"], b"").stdout.contains("in force at once"));
    let status = hook.raw(&["status"], b"").stdout;
    assert!(status.contains("only the notes can be edited"), "{status}");
    assert!(!status.contains("boundary"), "{status}");

    let (hook, _client) = sealed();
    hook.write_settings(r#"{"mode": "off"}"#);
    let said = hook.prompt("Wait").user();
    assert!(said.contains("mode on → off") && said.contains(kept), "{said}");
    assert!(hook.state()["token"].is_null());
}

#[test]
fn a_dialog_waits_for_you_until_something_else_happens() {
    let (hook, _client) = alone();
    hook.prompt("Go");
    assert_eq!(listed(&hook)[0]["activity"], "works");
    dialog(&hook);
    let waits = listed(&hook);
    assert_eq!(
        (&waits[0]["activity"], &waits[0]["why"]),
        (&json!("waits-for-you"), &json!("Claude needs this"))
    );
    let status = hook.raw(&["status"], b"").stdout;
    let doing = status.lines().find(|line| line.starts_with("doing     waits for you, "));
    assert!(doing.is_some_and(|line| line.ends_with(" s: Claude needs this")), "{status}");
    // Whoever answers late has not made the turn late.
    let mut state = hook.state();
    state["turn"] = json!(base::clock::now() - TimeDelta::minutes(20));
    fs::write(hook.places().session(&hook.session, "json"), state.to_string()).expect("state");
    hook.read();
    assert_eq!(listed(&hook)[0]["activity"], "works");
    hook.stop();
    assert_eq!(listed(&hook)[0]["activity"], "turn-over");
}

/// The client's event names no call; the transcript does, if only one has no result.
#[test]
fn a_dialog_says_what_it_is_about() {
    let call = |id: &str, name: &str, input: Value| {
        let block = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        json!({"type": "assistant", "message": {"role": "assistant", "content": [block]}})
    };
    let done = json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "x"}]}});
    let first = call("t1", "Bash", json!({"command": "ls"}));
    let second = call("t2", "Bash", json!({"command": "rm -r build", "description": "Clean"}));
    let asks = json!({"questions": [{"question": "Which database?"}]});
    let why = |rows: &[&Value]| {
        let (hook, _client) = alone();
        hook.prompt("Go");
        let rows: Vec<String> = rows.iter().map(ToString::to_string).collect();
        fs::write(&hook.transcript, rows.join("\n") + "\n").expect("transcript");
        dialog(&hook);
        listed(&hook)[0]["why"].as_str().expect("why").to_owned()
    };
    assert_eq!(why(&[&first, &done, &second]), "Claude needs this (Bash: rm -r build)");
    assert_eq!(why(&[&first, &second]), "Claude needs this", "it may be either");
    assert_eq!(why(&[&call("t3", "AskUserQuestion", asks)]), "it asks: Which database?");
    assert_eq!(why(&[&call("t3", "Mine", json!({}))]), "Claude needs this (Mine)");
    assert_eq!(why(&[&call("t3", "Agent", json!({}))]), "Claude needs this", "it is the agent's");
}

/// Of calls that run beside one another, one ends while another one's dialog stands.
#[test]
fn a_dialog_stands_until_its_own_call_has_ended() {
    let call = |id: &str, command: &str| {
        let block =
            json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
        json!({"type": "assistant", "message": {"role": "assistant", "content": [block]}})
    };
    let (hook, _client) = alone();
    hook.prompt("Go");
    let rows = [call("t1", "tail log"), call("t2", "rm -r build")].map(|row| row.to_string());
    fs::write(&hook.transcript, rows.join("\n") + "\n").expect("transcript");
    dialog(&hook);
    assert_eq!(listed(&hook)[0]["why"], "Claude needs this");
    let end = |id: &str| {
        let call =
            json!({"tool_name": "Bash", "tool_input": {}, "tool_use_id": id, "tool_response": {}});
        hook.send(&hook.payload("PostToolUse", &call));
    };
    end("t1");
    let waits = &listed(&hook)[0];
    assert_eq!(waits["activity"], "waits-for-you");
    assert_eq!(waits["why"], "Claude needs this (Bash: rm -r build)");
    // The client has written its result by now.
    let done = json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "x"}]}});
    fs::write(&hook.transcript, format!("{}\n{}\n{done}\n", rows[0], rows[1])).expect("transcript");
    end("t2");
    assert_eq!(listed(&hook)[0]["activity"], "works");
}

#[test]
fn who_is_away_is_told_once_of_each_need() {
    let (hook, _client) = alone();
    hook.prompt("Go");
    dialog(&hook);
    let ask =
        || hook.raw(&["mod", "waits"], json!({"session_id": hook.session}).to_string().as_bytes());
    for _ in 0..3 {
        assert_eq!(ask().code, Some(0));
    }
    assert_eq!(told(&hook), ["waits for you: Claude needs this"]);
    hook.read();
    dialog(&hook);
    hook.read();
    hook.stop();
    ask();
    assert_eq!(told(&hook).len(), 3, "{:?}", told(&hook));
    assert!(told(&hook)[2].starts_with("turn over"), "{:?}", told(&hook));
    hook.prompt("Go on");
    hook.stop();
    assert_eq!(told(&hook).len(), 4);
    // A turn that an event in the background began.
    hook.prompt("<task-notification>\n<task-id>x");
    hook.stop();
    ask();
    assert_eq!(told(&hook).len(), 4);
    let path = hook.home.join("told");
    let began = std::time::Instant::now();
    let lines = loop {
        let lines = fs::read_to_string(&path).unwrap_or_default();
        if lines.lines().count() == 4 || began.elapsed() > Duration::from_secs(10) {
            break lines;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let title = format!("brain-guard: project ({})", &hook.session[..8]);
    let first = format!("{title}|waits for you: Claude needs this");
    assert_eq!(lines.lines().next(), Some(&*first));
    assert_eq!(lines.lines().count(), 4, "{lines}");
}

#[test]
fn who_is_there_is_not_told() {
    let (hook, _client) = alone();
    hook.settings(&json!({"notify": {"by": ["true"]}}));
    hook.prompt("Go");
    dialog(&hook);
    hook.stop();
    assert_eq!(told(&hook), [] as [&str; 0]);
}

#[test]
fn who_answers_a_dialog_is_there() {
    for tool in ["Write", "AskUserQuestion"] {
        answers(tool);
    }
}

fn answers(tool: &str) {
    let (hook, _client) = alone();
    hook.settings(&json!({"notify": {"by": ["true"]}}));
    // Nobody's prompt.
    hook.prompt("<task-notification>\n<task-id>x");
    dialog(&hook);
    assert_eq!(told(&hook).len(), 1);
    let used =
        json!({"tool_name": tool, "tool_input": {}, "tool_use_id": "toolu_w", "tool_response": {}});
    hook.send(&hook.payload("PostToolUse", &used));
    hook.stop();
    assert_eq!(told(&hook).len(), 1, "{:?}", told(&hook));
}

#[test]
fn a_seal_tells_that_the_session_restarts() {
    let (hook, _client) = alone();
    hook.prompt("Go");
    hook.fill(percent_in("narrow"));
    hook.read();
    let again = "brain-guard append --kind next 'and the lints'";
    let next = "brain-guard append --kind next 'run the tests'";
    for command in [next, "brain-guard seal", again, "brain-guard seal"] {
        let answer = hook.agent(command);
        assert_eq!(answer.code, Some(0), "{answer:?}");
    }
    assert_eq!(told(&hook), ["sealed its notes, and restarts from them"]);
}
