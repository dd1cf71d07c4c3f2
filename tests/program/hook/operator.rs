//! What only the operator may change: the override, the settings, the state.

use std::path::Path;
use std::process::{Child, Command};

use serde_json::json;

use crate::support::hook::{Hook, percent_in};

/// A client beside this process, so that commands started here are not its descendants.
pub struct Client(Child);

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A session in such a client.
pub fn in_another_client() -> (Hook, Client) {
    let client = Client(Command::new("sleep").arg("600").spawn().expect("a client"));
    let pid = client.0.id().to_string();
    let mut hook = Hook::new();
    hook.set("CLAUDE_PID", &pid);
    hook.set("BRAIN_GUARD_MOD", &format!("{}:{pid}", env!("CARGO_PKG_VERSION")));
    hook.begin();
    (hook, client)
}

/// The same in `narrow`.
fn beside_its_client() -> (Hook, Client) {
    let (hook, client) = in_another_client();
    hook.fill(percent_in("narrow"));
    assert_eq!(hook.read().verdict(), "deny");
    (hook, client)
}

#[test]
fn the_agent_cannot_override_or_write_settings() {
    for percent in [5.0, percent_in("narrow")] {
        let hook = Hook::begun();
        hook.fill(percent);
        let settings = hook.places().user_settings;
        let state = hook.places().session(&hook.session, "json");
        std::os::unix::fs::symlink(&hook.places().state, hook.project.join("linked"))
            .expect("link");
        let session = format!("{}.json", hook.session);
        for path in [
            settings.clone(),
            hook.places().user_texts.join("deny-tier.md"),
            state.clone(),
            hook.places().state.join("outputs/../sessions").join(&session),
            hook.project.join("linked/sessions").join(&session),
            Path::new("/proc/self/root").join(state.strip_prefix("/").expect("absolute")),
            hook.places().log(),
            hook.places().job("parser").join("job.json"),
            hook.project.join(".brain-guard/settings.json"),
            ".brain-guard/settings.json".into(),
            hook.home.join(".local/share/brain-guard/current/hooks/hooks.json"),
            hook.home.join(".local/bin/brain-guard"),
            hook.transcript.clone(),
        ] {
            for (tool, key) in
                [("Write", "file_path"), ("Edit", "file_path"), ("NotebookEdit", "notebook_path")]
            {
                let mut call = hook.call(tool, &json!({key: path, "content": "{}"}));
                for subagent in [json!(null), json!("a1")] {
                    call["agent_id"] = subagent;
                    let reason = hook.send(&call).reason();
                    let says = reason.contains("only your user may change");
                    assert!(says, "{tool} {}: {reason}", path.display());
                }
            }
        }
        for path in ["settings.json", ".vscode/settings.json", "docs/.brain-guard.md"] {
            let answer = hook.pre("Write", &json!({"file_path": path, "content": "{}"}));
            assert!(!answer.reason().contains("only your user"), "{path}");
        }
        // The shell runs as the user. The verbs themselves refuse.
        for verb in ["override 30m", "purge --yes", "job accept x", "uninstall"] {
            let answer = hook.raw(&verb.split(' ').collect::<Vec<_>>(), b"");
            assert_eq!(answer.code, Some(1), "{verb}: {answer:?}");
        }
    }
}

#[test]
fn override_refuses_in_the_agents_shell() {
    let hook = Hook::climbed(percent_in("narrow"));
    let answer = hook.raw(&["override", "30m"], b"");
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert_eq!(hook.read().verdict(), "deny");
}

#[test]
fn without_the_clients_mark_the_parent_processes_decide() {
    let mut hook = Hook::climbed(percent_in("narrow"));
    hook.set("CLAUDECODE", "");
    for verb in [&["override", "30m"][..], &["uninstall"]] {
        let answer = hook.raw(verb, b"");
        assert_eq!(answer.code, Some(1), "{answer:?}");
        assert!(answer.stderr.contains("a terminal of your own"), "{answer:?}");
    }
    assert_eq!(hook.read().verdict(), "deny");
}

#[test]
fn a_prompt_forged_in_the_agents_shell_gives_no_override() {
    let hook = Hook::climbed(percent_in("narrow"));
    let told =
        json!({"command_name": "brain-guard:override", "command_args": "30m", "prompt": "x"});
    let payload = hook.payload("UserPromptExpansion", &told).to_string();
    let mut shell = Command::new("/bin/sh");
    // The second command keeps the shell alive as the hook's parent.
    shell.args(["-c", "\"$0\" hook; true", crate::support::hook::PROGRAM]).env_clear();
    shell.envs(hook.variables()).current_dir(&hook.project);
    let answer = crate::support::hook::finish(shell, payload.as_bytes()).json();
    assert!(answer["reason"].as_str().expect("reason").contains("no agent started"), "{answer}");
    assert_eq!(hook.read().verdict(), "deny");
}

fn from_a_terminal(hook: &mut Hook, how: &[&str]) {
    hook.set("CLAUDECODE", "");
    let answer = hook.raw(&[&["override"], how].concat(), b"");
    hook.set("CLAUDECODE", "1");
    assert_eq!(answer.code, Some(0), "{answer:?}");
}

#[test]
fn an_override_lasts_until_its_time_or_off() {
    let (mut hook, _client) = beside_its_client();
    from_a_terminal(&mut hook, &["30m"]);
    assert!(hook.read().silent() && hook.bash("ls").silent() && hook.stop().silent());
    from_a_terminal(&mut hook, &["--off"]);
    assert_eq!(hook.read().verdict(), "deny");
    from_a_terminal(&mut hook, &["--until-clear"]);
    assert!(hook.read().silent());
    assert!(hook.start("clear").code == Some(0));
}

#[test]
fn whoever_asks_for_a_seal_ends_the_override() {
    let (mut hook, _client) = beside_its_client();
    from_a_terminal(&mut hook, &["--until-clear"]);
    hook.prompt("/brain-guard:seal");
    let sealed = hook.agent("brain-guard append --kind next 'go on' && brain-guard seal --clear");
    assert!(sealed.stdout.contains("end your turn now"), "{sealed:?}");
}

#[test]
fn an_override_for_calls_counts_them() {
    let (mut hook, _client) = beside_its_client();
    from_a_terminal(&mut hook, &["--calls", "3"]);
    let verdicts: Vec<String> = (0..5).map(|_| hook.read().verdict()).collect();
    assert_eq!(verdicts, ["pass", "pass", "pass", "deny", "deny"]);
}

#[test]
fn an_override_typed_at_the_prompt_begins_no_turn() {
    let hook = Hook::climbed(percent_in("narrow"));
    let typed = |args: &str| {
        let told =
            json!({"command_name": "brain-guard:override", "command_args": args, "prompt": "x"});
        hook.send(&hook.payload("UserPromptExpansion", &told)).json()
    };
    let reply = typed("30m");
    assert_eq!(reply["decision"], "block");
    assert!(reply["reason"].as_str().expect("reason").contains("nothing is blocked"));
    assert!(hook.read().silent());
    assert!(typed("ever")["reason"].as_str().expect("reason").contains("say for how long"));
    assert!(typed("")["reason"].as_str().expect("reason").contains("say for how long"));
    assert!(hook.read().silent(), "a mistyped one changes nothing");
    typed("--off");
    assert_eq!(hook.read().verdict(), "deny");
    let status = json!({"command_name": "brain-guard:status", "command_args": "", "prompt": "x"});
    let reply = hook.send(&hook.payload("UserPromptExpansion", &status)).json();
    assert!(
        reply["reason"].as_str().expect("reason").contains("tier      narrow, blocked: read"),
        "{reply}"
    );
}

#[test]
fn a_project_may_not_switch_the_guard_off() {
    let hook = Hook::climbed(percent_in("narrow"));
    let dir = hook.project.join(".brain-guard");
    std::fs::create_dir_all(&dir).expect("folder");
    std::fs::write(dir.join("settings.json"), r#"{"mode": "off"}"#).expect("settings");
    assert_eq!(hook.read().verdict(), "deny");
    hook.settings(&json!({"mode": "off"}));
    assert!(hook.read().silent());
}

#[test]
fn a_command_that_is_answered_begins_no_turn() {
    let hook = Hook::climbed(percent_in("narrow"));
    assert_eq!(hook.stop().code, Some(0));
    for command in ["status", "override --off", "resume"] {
        assert!(hook.prompt(&format!("/brain-guard:{command}")).silent());
        assert_eq!(hook.state()["turn"], json!(null), "{command}");
    }
    let reply = resume(&hook).json();
    assert_eq!(reply["decision"], "block");
    assert!(reply["reason"].as_str().expect("reason").contains("wait for this one"), "{reply}");
}

fn resume(hook: &Hook) -> crate::support::hook::Answer {
    let told = json!({"command_name": "brain-guard:resume", "command_args": "", "prompt": "x"});
    hook.send(&hook.payload("UserPromptExpansion", &told))
}

#[test]
fn resume_starts_the_cleared_session_without_a_prompt() {
    let mut hook = Hook::climbed(percent_in("narrow"));
    assert_eq!(hook.agent("brain-guard append --kind next 'the parser'").code, Some(0));
    assert_eq!(hook.agent("brain-guard seal").code, Some(0));
    hook.session = "5e550000-0000-4000-8000-000000000002".into();
    let delivered = hook.start("clear").note();
    assert_eq!(delivered.matches("<<<<< compaction file").count(), 1, "{delivered}");
    let before = hook.state();
    assert!(resume(&hook).silent());
    assert!(hook.prompt("/brain-guard:resume").silent(), "the notes are there already");
    let after = hook.state();
    assert!(after["turn"].is_string() && after["last_human"] == before["last_human"], "{after}");
    assert!(!hook.file().with_file_name("prompts.jsonl").exists());
}

/// The client ends a slow hook; the next call continues where it stopped.
#[test]
fn a_clear_continues_after_an_interrupted_hook() {
    let mut hook = Hook::climbed(percent_in("narrow"));
    hook.prompt("Make the importer fit for the new ledger.");
    assert_eq!(hook.agent("brain-guard append --kind next 'ask about the schema'").code, Some(0));
    assert_eq!(hook.agent("brain-guard seal --clear").code, Some(0));
    hook.set("BRAIN_GUARD_MOD", "");
    assert_eq!(hook.stop().code, Some(0));
    let parent = hook.session.clone();
    hook.session = "5e550000-0000-4000-8000-000000000002".into();
    let session = hook.session.clone();
    hook.set("CLAUDE_CODE_SESSION_ID", &session);
    let delivered = hook.start("clear").note();
    assert!(delivered.contains("ask about the schema"), "{delivered}");

    let token = hook.state()["token"].as_str().expect("a token").to_owned();
    let places = hook.places();
    let mut before: serde_json::Value =
        serde_json::from_slice(&std::fs::read(places.session(&parent, "json")).expect("state"))
            .expect("JSON");
    assert_eq!(before["token"], serde_json::Value::Null);
    // The files as they are when only the new session's state was written.
    before["token"] = token.clone().into();
    std::fs::write(places.session(&parent, "json"), before.to_string()).expect("state");
    let path = places.token(&token);
    std::fs::remove_file(path.with_extension("piece-1")).expect("a claim");
    let text = std::fs::read_to_string(&path).expect("token");
    let text = text.replace("\"step\":\"delivered\"", "\"step\":\"cleared\"");
    std::fs::write(&path, text).expect("token");

    assert_eq!(hook.start("clear").note(), delivered);
    let record = std::fs::read(hook.file().with_file_name("job.json")).expect("record");
    let record: serde_json::Value = serde_json::from_slice(&record).expect("JSON");
    assert_eq!(record["lineage"].as_array().map(Vec::len), Some(1), "{record}");
}
