//! What settings in a checkout may do: ours, and the client's, which reach hooks as variables.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::hook::{Hook, percent_in};

const OFF: &str = "CLAUDE_PLUGIN_OPTION_MODE";

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("parent")).expect("folder");
    fs::write(path, text).expect("written");
}

/// A waiting process that plays a client started with a variable.
struct Client(Child);

impl Client {
    fn with(name: &str, value: &str) -> Self {
        let child = Command::new("sleep").arg("60").env(name, value).spawn().expect("sleep");
        // Its environment is readable once it runs the program.
        let path = format!("/proc/{}/environ", child.id());
        let wanted = format!("{name}={value}\0");
        while !fs::read_to_string(&path).unwrap_or_default().contains(&wanted) {
            std::thread::yield_now();
        }
        Self(child)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.0.kill().expect("killed");
        self.0.wait().expect("waited");
    }
}

/// Whether a call passes that the guard would block.
fn is_off(hook: &Hook) -> bool {
    hook.fill(percent_in("narrow"));
    hook.read().verdict() != "deny"
}

#[test]
fn thousands_of_keys_are_reported_in_ten_lines() {
    let mut flat = String::from("{");
    let mut tools = String::from("{\"bands\":{");
    for n in 0..2_000 {
        writeln!(flat, "\"k{n}\":1,").expect("text");
        writeln!(tools, "\"tool{n}\":\"read\",").expect("text");
    }
    flat += "\"mode\":\"off\"}";
    tools += "\"Read\":\"read\"}}";
    for (text, told) in [(flat, "and 1,991 more"), (tools, "were not checked")] {
        let mut hook = Hook::new();
        write(&hook.places().project_settings(), &text);
        let from = Instant::now();
        let said = hook.start("startup").user();
        assert!(from.elapsed() < Duration::from_secs(1), "{:?}", from.elapsed());
        assert!(said.contains(told) && said.len() < 8_000, "{said}");
        hook.fill(5.0);
        hook.read();
        // Another variable makes the layers merge again.
        hook.set("BRAIN_GUARD_SET_FILE__WORDS", "1900");
        for _ in 0..2 {
            let from = Instant::now();
            assert!(!is_off(&hook));
            assert!(from.elapsed() < Duration::from_secs(1), "{:?}", from.elapsed());
        }
    }
}

#[test]
fn a_projects_off_switch_is_ignored_and_reported_once() {
    for name in ["settings.json", "settings.local.json"] {
        let mut hook = Hook::new();
        hook.set(OFF, "off");
        let path = hook.project.join(".claude").join(name);
        write(&path, &json!({"env": {OFF: "off"}}).to_string());
        let said = hook.start("startup").user();
        let path = path.display();
        assert!(said.contains(&format!("`{OFF}=off` in {path} is ignored")), "{said}");
        assert!(said.contains(". To apply it, set it in "), "{said}");
        hook.fill(5.0);
        assert!(hook.read().silent());
        hook.fill(percent_in("narrow"));
        let denied = hook.read();
        assert_eq!((denied.verdict().as_str(), denied.user().contains(OFF)), ("deny", false));
        let check = hook.raw(&["settings", "check"], b"");
        assert!(check.stdout.contains("is ignored"), "{check:?}");
    }
}

#[test]
fn the_users_off_switch_works() {
    let mut hook = Hook::begun();
    hook.set(OFF, "off");
    write(&hook.project.join(".claude/settings.json"), r#"{"env": {"OTHER": "1"}}"#);
    assert!(is_off(&hook), "nothing of the project's names it");

    let local = hook.project.join(".claude/settings.local.json");
    write(&local, &json!({"env": {OFF: "off"}}).to_string());
    assert!(!is_off(&hook));
    let own = hook.home.join(".claude/settings.json");
    for text in [
        json!({"env": {OFF: "off"}}),
        json!({"pluginConfigs": {"brain-guard@brain-guard": {"options": {"mode": "off"}}}}),
    ] {
        write(&own, &text.to_string());
        assert!(is_off(&hook), "{text}");
        fs::remove_file(&own).expect("removed");
        assert!(!is_off(&hook), "{text}");
    }
    for (name, off) in [("OTHER", false), (OFF, true)] {
        let client = Client::with(name, "off");
        let pid = client.0.id();
        hook.set("CLAUDE_PID", &pid.to_string());
        hook.set("BRAIN_GUARD_MOD", &format!("{}:{pid}", env!("CARGO_PKG_VERSION")));
        assert_eq!(is_off(&hook), off, "the client was started with {name}");
    }
}

#[test]
fn unreadable_project_files_block_no_call() {
    let mut hook = Hook::begun();
    hook.set(OFF, "off");
    fs::create_dir(hook.project.join(".claude")).expect("folder");
    let path = hook.project.join(".claude/settings.json");
    let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo");
    assert!(made.success());
    assert!(!is_off(&hook), "a pipe may set anything");
    fs::remove_file(&path).expect("removed");
    write(&path, &format!("{}{}", " ".repeat(300_000), json!({"env": {OFF: "off"}})));
    assert!(!is_off(&hook), "more than is looked at may set anything");
}

/// Clients up to 2.1.250 let a project move the state folder.
#[test]
fn a_project_cannot_move_the_state() {
    let mut hook = Hook::new();
    let elsewhere = hook.project.join("state");
    let client = Client::with("HOME", hook.home.to_str().expect("utf-8"));
    hook.set("CLAUDE_PID", &client.0.id().to_string());
    hook.set("XDG_STATE_HOME", elsewhere.to_str().expect("utf-8"));
    write(
        &hook.project.join(".claude/settings.json"),
        &json!({"env": {"XDG_STATE_HOME": elsewhere}}).to_string(),
    );
    hook.start("startup");
    assert!(!elsewhere.exists() && hook.places().state.is_dir());
    fs::remove_file(hook.project.join(".claude/settings.json")).expect("removed");
    hook.start("startup");
    assert!(elsewhere.exists(), "the user may put it anywhere");
}
