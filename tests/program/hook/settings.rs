//! When settings take effect, and what a checkout may set.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::hook::{Answer, Hook, percent_in};

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("parent")).expect("folder");
    fs::write(path, text).expect("written");
}

/// A session of a user with these settings.
fn with(settings: &Value) -> Hook {
    let hook = Hook::new();
    hook.settings(settings);
    hook.begin();
    hook
}

/// Whether a call is denied where the context is this full.
fn denied_at(hook: &Hook, percent: f64) -> bool {
    hook.fill(percent);
    hook.read().verdict() == "deny"
}

fn narrow(percent: u32) -> Value {
    json!({"tiers": {"coach": {"off": true}, "block-reads": {"off": true}, "narrow": {"context": percent}}})
}

#[test]
fn a_milder_setting_waits_for_a_person_and_a_stricter_one_does_not() {
    let hook = with(&narrow(30));
    hook.write_settings(&narrow(65).to_string());
    let said = hook.read().user();
    assert_eq!(
        said,
        "brain-guard: settings that wait for your next prompt, or for `brain-guard settings apply`: narrow 30 → 65 %"
    );
    assert!(hook.read().silent(), "it is told once");
    assert!(denied_at(&hook, 31.0));
    // Kickoffs, notifications of tasks and what the module submits are no person.
    for text in ["<task-notification>\ndone\n</task-notification>", "/brain-guard:resume"] {
        hook.prompt(text);
        assert!(denied_at(&hook, 31.0), "{text}");
    }
    assert_eq!(hook.prompt("go on").user(), "brain-guard: settings changed: narrow 30 → 65 %");
    assert!(!denied_at(&hook, 40.0));
    hook.write_settings(&narrow(35).to_string());
    assert_eq!(hook.read().user(), "brain-guard: settings changed: narrow 65 → 35 %");
    assert_eq!(hook.read().verdict(), "deny");
    assert!(hook.read().user().is_empty());
}

#[test]
fn an_edit_of_the_agent_has_no_effect_over_three_boundaries() {
    let mut hook = with(&json!({"boundary": {"min_interval_seconds": 0}}));
    let milder = json!({"mode": "off", "file": {"words": 90_000}, "bands": {"Bash": "control"}});
    hook.write_settings(&milder.to_string());
    for number in 2..=4 {
        hook.fill(percent_in("narrow"));
        assert_eq!(hook.bash("ls").verdict(), "deny", "before session {number}");
        let sealed =
            hook.agent("brain-guard append --kind next 'go on' && brain-guard seal --no-clear");
        assert!(sealed.stdout.contains("of 2000 words"), "{sealed:?}");
        hook.session = format!("5e550000-0000-4000-8000-00000000000{number}");
        let session = hook.session.clone();
        hook.set("CLAUDE_CODE_SESSION_ID", &session);
        hook.transcript = hook.transcript.with_file_name(format!("{session}.jsonl"));
        hook.start("clear");
        hook.fill(5.0);
        hook.read();
    }
    hook.fill(percent_in("narrow"));
    assert_eq!(hook.bash("ls").verdict(), "deny");
    let told = hook.prompt("what happened?").user();
    for change in ["mode on → off", "file.words 2000 → 90000", "bands.Bash none → control"] {
        assert!(told.contains(change), "{told}");
    }
    assert_eq!(hook.bash("ls").verdict(), "pass");
}

#[test]
fn a_faulty_file_never_takes_effect() {
    let hook = with(&narrow(65));
    hook.write_settings("{\n \"tiers\": {\"narrow\": {\"contxt\": 90}},\n \"mode\": \"off\"\n}");
    let said = hook.read().user();
    let path = hook.places().user_settings;
    let wanted = format!(
        "brain-guard settings: {}:2:30: tiers.narrow.contxt: unknown key `contxt`, expected one of",
        path.display()
    );
    assert!(said.starts_with(&wanted), "{said}");
    assert!(hook.read().silent());
    assert!(!denied_at(&hook, 60.0) && denied_at(&hook, 66.0));
    // A session that begins with it has the defaults.
    let other =
        hook.beside("5e550000-0000-4000-8000-000000000009", std::os::unix::process::parent_id());
    assert!(other.start("startup").user().contains("contxt"));
    other.fill(5.0);
    other.read();
    assert!(denied_at(&other, percent_in("narrow")));
}

#[test]
fn a_project_can_be_left_out() {
    let hook = Hook::new();
    let folder = hook.project.parent().expect("parent").display().to_string();
    hook.settings(&json!({"projects": {format!("{folder}/*"): {"mode": "off"}}}));
    hook.start("startup");
    assert!(!hook.places().session(&hook.session, "json").exists());
    assert!(!denied_at(&hook, 90.0));
    hook.settings(&json!({"projects": {format!("{folder}/other"): {"mode": "off"}}}));
    hook.begin();
    assert!(denied_at(&hook, 90.0));
}

#[test]
fn a_project_only_tightens() {
    let hook = Hook::new();
    let path = hook.places().project_settings();
    write(
        &path,
        &json!({"file": {"words": 900}, "tiers": {"narrow": {"context": 90}}}).to_string(),
    );
    hook.begin();
    assert!(denied_at(&hook, percent_in("narrow")));
    assert_eq!(hook.raw(&["status", "--json"], b"").json()["file"]["limit"], 900);
    let check = hook.raw(&["settings", "check"], b"").stdout;
    assert!(
        check.contains("no effect, because a project can only tighten: narrow 30 → 90 %"),
        "{check}"
    );
    for (text, why) in [
        (json!({"mode": "off"}), "unknown key `mode`, expected one of"),
        (json!({"bands": {"Bash": "control"}}), "must be `read`, which is blocked first"),
        (json!({"tiers": {"narrow": {"off": true}}}), "unknown key `off`"),
        (
            json!({"tiers": {"mine": {"context": 20, "file": 60}}}),
            "a project has no tiers of its own",
        ),
        (json!({"tiers": {"coach": {"context": 1}}}), "must be 10 or more"),
        (json!({"phases": {"names": {"x": {"coach": "obey"}}}}), "unknown key `coach`"),
    ] {
        write(&path, &text.to_string());
        let said = hook.read().user();
        assert!(said.contains(why), "{text}: {said}");
        assert!(denied_at(&hook, percent_in("narrow")), "{text}");
    }
}

#[test]
fn thousands_of_keys_are_read_in_no_time() {
    let mut tools = String::from("{\"bands\":{");
    for n in 0..2_000 {
        writeln!(tools, "\"tool{n}\":\"read\",").expect("text");
    }
    tools += "\"Edit\":\"read\"}}";
    let hook = Hook::new();
    write(&hook.places().project_settings(), &tools);
    hook.begin();
    hook.fill(percent_in("block-reads"));
    let from = Instant::now();
    assert_eq!(hook.pre("Edit", &json!({"file_path": "x"})).verdict(), "deny");
    assert!(from.elapsed() < Duration::from_secs(1), "{:?}", from.elapsed());
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

fn applied(hook: &Hook, args: &[&str]) -> Answer {
    hook.raw(&[&["settings", "apply"], args].concat(), b"")
}

#[test]
fn the_user_applies_settings_and_the_agent_does_not() {
    let mut hook = with(&narrow(30));
    hook.write_settings(&narrow(65).to_string());
    let refused = applied(&hook, &[]);
    assert!(refused.code == Some(1) && refused.stderr.contains("only the user"), "{refused:?}");
    // A client that is no parent of this test.
    let client = Client::with("HOME", hook.home.to_str().expect("utf-8"));
    let mut own = Hook::of("5e550000-0000-4000-8000-000000000002");
    own.set("CLAUDE_PID", &client.0.id().to_string());
    own.settings(&narrow(30)).begin();
    own.write_settings(&narrow(65).to_string());
    own.set("CLAUDECODE", "").set("CLAUDE_PID", "").set("CLAUDE_CODE_SESSION_ID", "");
    let all = applied(&own, &["--all"]);
    assert!(all.stdout.contains("narrow 30 → 65 %") && all.stdout.contains("1 session"), "{all:?}");
    assert!(applied(&own, &["--all"]).stdout.contains("nothing changed"));
    hook.set("CLAUDECODE", "1");
}

#[test]
fn a_boundary_that_waits_outlives_the_hourly_limit_and_not_shadow_mode() {
    let hook = with(&json!({}));
    hook.fill(percent_in("narrow"));
    hook.agent("brain-guard append --kind next 'go on' && brain-guard seal");
    hook.settings(&json!({"boundary": {"max_per_hour": 0}}));
    assert_eq!(hook.bash("ls").verdict(), "deny", "the turn is to end");
    hook.settings(&json!({"mode": "shadow"}));
    let told = hook.stop().user();
    assert!(told.contains("does not restart, because shadow mode is on"), "{told}");
}

#[test]
fn nothing_is_blocked_while_the_hourly_limit_lets_nothing_clear() {
    let hook = with(&json!({"boundary": {"max_per_hour": 0}}));
    hook.fill(percent_in("narrow"));
    assert_eq!(hook.bash("ls").verdict(), "pass");
    let sealed = hook.agent("brain-guard append --kind next 'go on' && brain-guard seal");
    assert!(sealed.stdout.contains("this job had 0 boundaries in the last hour"), "{sealed:?}");
    assert_eq!(hook.bash("ls").verdict(), "pass");
    hook.write_settings(r#"{"boundary": {"max_per_hour": 60}}"#);
    assert!(hook.prompt("go on").user().contains("boundary.max_per_hour 0 → 60"));
    assert_eq!(hook.bash("ls").verdict(), "deny");
}
