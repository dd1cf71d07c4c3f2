//! `brain-guard install` and `uninstall` on the real binary, with a fake client.

use std::fs;

use base::clock;
use guard::boundary::Step;
use guard::files::{boundary, state};
use serde_json::json;

use crate::cli::doctor::lab::Lab;
use crate::cli::watching::{World, came};
use crate::support::hook::{Answer, percent_in};

/// An installation whose only session has ended, seen from the user's terminal.
fn ended() -> Lab {
    let mut lab = Lab::installed();
    lab.hook.agent("brain-guard append --kind thread 'a thread'");
    lab.hook.settings(&serde_json::json!({"profile": "relaxed"}));
    state::update(&lab.hook.places(), &lab.hook.session, |s| s.ended = Some(clock::now()))
        .expect("written");
    lab.leave_client();
    lab
}

fn uninstall(lab: &Lab, args: &[&str]) -> Answer {
    lab.hook.raw(&[&["uninstall"], args].concat(), b"")
}

/// Our folders that are there.
fn folders(lab: &Lab) -> Vec<&'static str> {
    let all = [
        ".claude/brain-guard",
        ".claude/plugins/cache/brain-guard",
        ".local/bin/brain-guard",
        ".local/share/brain-guard",
        ".local/state/brain-guard",
    ];
    all.into_iter().filter(|path| lab.at(path).exists()).collect()
}

#[test]
fn uninstall_lists_what_stays() {
    let lab = ended();
    lab.put(".claude/plugins/cache/brain-guard/brain-guard/0.0.1/plugin.json", "{}");
    let done = uninstall(&lab, &[]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    assert_eq!(folders(&lab), [".claude/brain-guard", ".local/state/brain-guard"]);
    for path in [lab.at(".local/state/brain-guard"), lab.at(".claude/brain-guard")] {
        assert!(done.stdout.contains(&format!("{} (", path.display())), "{done:?}");
    }
}

#[test]
fn install_says_that_broken_settings_have_no_effect() {
    let lab = ended();
    lab.put(".claude/brain-guard/settings.json", "{\n  \"profil\": 1\n}");
    let done = lab.hook.raw(&["install", "--no-demo"], b"");
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    let said = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("settings.json:2:"), "{said}");
    assert!(said.contains("the file has no effect: did you mean `profile`?"), "{said}");
}

#[test]
fn purge_without_a_terminal_needs_yes() {
    let lab = ended();
    let before = folders(&lab);
    let refused = uninstall(&lab, &["--purge"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("Nothing was removed") && refused.stderr.contains("--yes"));
    assert!(refused.stdout.contains(&lab.at(".claude/brain-guard").display().to_string()));
    assert_eq!(folders(&lab), before);
    assert_eq!(uninstall(&lab, &["--yes"]).code, Some(0));
    assert!(lab.at(".claude/brain-guard").exists(), "--yes alone purges nothing");
}

#[test]
fn purge_leaves_nothing() {
    let lab = ended();
    let done = uninstall(&lab, &["--purge", "--yes"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    assert!(folders(&lab).is_empty(), "{:?}", folders(&lab));
    assert!(!done.stdout.lines().any(|l| l.starts_with("kept")), "{done:?}");
}

#[test]
fn purge_leaves_foreign_files_in_a_store_elsewhere() {
    let mut lab = ended();
    lab.put("things/sessions/theirs", "theirs");
    let things = lab.at("things").display().to_string();
    lab.hook.set("BRAIN_GUARD_STORE", &things);
    let done = uninstall(&lab, &["--purge", "--yes"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    assert!(lab.at("things/sessions/theirs").exists() && folders(&lab).is_empty());
    assert!(done.stdout.contains(&format!("{things}/sessions (")), "{done:?}");
}

#[test]
fn purge_keeps_the_data_of_open_sessions_and_says_so() {
    let lab = ended();
    state::update(&lab.hook.places(), &lab.hook.session, |s| {
        (s.ended, s.client) = (None, state::client(std::process::id()));
    })
    .expect("written");
    let done = uninstall(&lab, &["--purge", "--yes"]);
    assert!(done.code == Some(1) && done.stderr.contains("open sessions stays"), "{done:?}");
    assert!(done.stdout.contains("(stays: its session is open)"), "{done:?}");
    assert_eq!(folders(&lab), [".claude/brain-guard", ".local/state/brain-guard"]);
    assert!(lab.hook.state()["started"].is_string());
}

#[test]
fn purge_names_the_sessions_whose_placeholders_need_the_content() {
    let mut world = World::new();
    world.hook.set("CLAUDECODE", "");
    let path = world.session("mine", 3600);
    assert_eq!(came(&world.once(&path), &path), "extracted");
    let asked = world.hook.raw(&["uninstall", "--purge"], b"");
    assert!(asked.stdout.contains("brain-guard extract restore mine all"), "{asked:?}");
    assert!(world.objects() > 0);
    let done = world.hook.raw(&["uninstall", "--purge", "--yes"], b"");
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(!world.hook.home.join(".local/share/brain-guard").exists());
    assert!(fs::metadata(&path).is_ok(), "the session itself is the client's");
}

#[test]
fn install_says_how_to_change_the_tiers_and_to_import_sessions() {
    let lab = ended();
    let done = lab.hook.raw(&["install", "--no-demo"], b"");
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    for part in [
        "tiers    40 / 50 / 60 % of ",
        "`brain-guard install --no-keybindings`",
        "`brain-guard settings set profile relaxed`",
        "`brain-guard settings set surgery.import session-end`",
    ] {
        assert!(done.stdout.contains(part), "{part}: {done:?}");
    }
    assert!(done.stdout.lines().last().is_some_and(|last| last.starts_with("ready: start ")));
    lab.hook.settings(&json!({ "mode": "off" }));
    let off = lab.hook.raw(&["install", "--no-demo"], b"").stdout;
    let last = off.lines().last().unwrap_or_default();
    assert!(last.contains("it does not work yet: mode is off in your settings"), "{off}");
}

/// Its hooks are gone, so nothing would deliver the notes.
#[test]
fn a_session_that_was_to_be_cleared_goes_on() {
    let mut lab = Lab::installed();
    lab.hook.fill(percent_in("narrow"));
    lab.hook.agent("brain-guard append --kind next 'write the lexer'");
    let sealed = lab.hook.agent("brain-guard seal");
    assert_eq!(sealed.code, Some(0), "{sealed:?}");
    let token = boundary::all(&lab.hook.places()).pop().expect("a token");
    assert!(token.live());
    lab.leave_client();
    let done = uninstall(&lab, &[]);
    assert!(done.stdout.contains(" is not cleared; its notes are "), "{done:?}");
    let token = boundary::load(&lab.hook.places(), &token.id).expect("readable").expect("a token");
    assert_eq!(token.step, Step::Withdrawn);
}
