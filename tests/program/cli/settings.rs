//! `settings check`: its report on each file, and its exit code.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::hook::operator::in_another_client;
use crate::support::hook::{Answer, Hook, PROGRAM, finish};

fn check(hook: &Hook, args: &[&str]) -> (Option<i32>, Value) {
    let answer = hook.raw(&[&["settings", "check", "--json"], args].concat(), b"");
    let json = serde_json::from_str(&answer.stdout).unwrap_or_else(|e| panic!("{e}: {answer:?}"));
    (answer.code, json)
}

fn tiers(window: &Value) -> Vec<(&str, f64)> {
    let tiers = window["tiers"].as_array().expect("tiers");
    tiers
        .iter()
        .map(|t| (t["name"].as_str().expect("name"), t["context"].as_f64().expect("place")))
        .collect()
}

#[test]
fn without_settings_the_defaults_apply_in_both_windows() {
    let mut hook = Hook::new();
    hook.set("CLAUDE_CODE_SESSION_ID", "");
    let (code, report) = check(&hook, &[]);
    assert_eq!((code, &report["set"], &report["problems"]), (Some(0), &json!([]), &json!([])));
    let windows = report["windows"].as_array().expect("windows");
    assert_eq!(windows[0]["limit"], 967_000);
    assert_eq!(tiers(&windows[0]), [("coach", 20.0), ("block-reads", 25.0), ("narrow", 30.0)]);
    assert_eq!(tiers(&windows[1]), [("coach", 50.0), ("block-reads", 60.0), ("narrow", 70.0)]);
    assert_eq!(windows[0]["tiers"][1]["tokens"], 241_750);
    assert_eq!(windows[0]["words"]["seal_target"], 800);
    assert_eq!(
        report["sections"][1]["kinds"],
        json!(["deviation", "gotcha", "thread", "uncovered"])
    );
    let text = hook.raw(&["settings", "check"], b"").stdout;
    for part in ["nothing: the defaults hold", "(not there)", "193,400 tokens", "1,700", "none"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn settings_check_lists_what_is_set_and_what_is_wrong() {
    let hook = Hook::begun();
    hook.settings(&json!({"profile": "relaxed", "file": {"words": 3000}}));
    let project = hook.places().project_settings();
    fs::create_dir_all(project.parent().expect("parent")).expect("folder");
    fs::write(&project, "{\n \"coach\": {\"reread_lines\": 50}\n}").expect("settings");
    let (code, report) = check(&hook, &["--window", "1000000"]);
    assert_eq!(code, Some(0));
    let set = report["set"].as_array().expect("list").iter();
    let set: Vec<_> =
        set.map(|key| format!("{} {} {}", key["layer"], key["key"], key["value"])).collect();
    let wanted = [
        r#""user" "file.words" 3000"#,
        r#""user" "profile" "relaxed""#,
        r#""project" "coach.reread_lines" 50"#,
    ];
    assert_eq!(set, wanted);
    assert_eq!(
        tiers(&report["windows"][0]),
        [("coach", 40.0), ("block-reads", 50.0), ("narrow", 60.0)]
    );
    assert_eq!(report["windows"][0]["words"]["full"], 3000);

    hook.write_settings("{\n \"profile\": \"relexed\"\n}");
    fs::write(&project, "{\n \"mode\": \"off\"\n}").expect("settings");
    let (code, report) = check(&hook, &[]);
    let problems = report["problems"].as_array().expect("list");
    let said: Vec<_> = problems.iter().map(|p| (p["at"][0].clone(), p["key"].clone())).collect();
    assert_eq!(
        (code, said),
        (Some(1), vec![(json!(2), json!("profile")), (json!(2), json!("mode"))])
    );
    let text = hook.raw(&["settings", "check"], b"").stdout;
    assert!(text.contains("-> did you mean `relaxed`? if not, remove the key"), "{text}");
    assert!(text.contains("a project's settings can only tighten"), "{text}");
    assert!(text.contains(&format!("{}:2:", hook.places().user_settings.display())), "{text}");
    // The session keeps what it had.
    assert_eq!(report["windows"][0]["words"]["full"], 3000);
}

#[test]
fn settings_check_accepts_a_single_file() {
    let hook = Hook::new();
    hook.settings(&json!({"file": {"words": 1}}));
    let file = hook.project.join("new.json");
    fs::write(&file, r#"{"mode": "off"}"#).expect("file");
    let (code, report) = check(&hook, &["new.json"]);
    assert_eq!((code, report["set"][0]["key"].clone()), (Some(0), json!("mode")));
    fs::write(&file, r#"{"mod": "off"}"#).expect("file");
    let (code, report) = check(&hook, &["new.json"]);
    assert_eq!((code, report["problems"][0]["at"].clone()), (Some(1), json!([1, 6])));
    assert_eq!(report["problems"][0]["way_out"], "did you mean `mode`? if not, remove the key");
    // A project's file may only set what projects are allowed to.
    let project = hook.project.join("sub/.brain-guard/settings.json");
    fs::create_dir_all(project.parent().expect("parent")).expect("folder");
    fs::write(&project, r#"{"mode": "off"}"#).expect("file");
    assert_eq!(check(&hook, &[project.to_str().expect("utf-8")]).0, Some(1));
    let missing = hook.raw(&["settings", "check", "none.json"], b"");
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.contains("none.json does not exist"), "{missing:?}");
}

#[test]
fn settings_show_prints_what_is_in_force_in_the_session() {
    let hook = Hook::begun();
    hook.write_settings(r#"{"file": {"words": 9000}}"#);
    let waiting = hook.raw(&["settings", "show"], b"");
    assert!(waiting.stdout.contains("\"words\": 2000"), "{waiting:?}");
    assert!(waiting.stderr.contains("`brain-guard settings check` says what waits"), "{waiting:?}");
    hook.prompt("go on");
    assert_eq!(hook.raw(&["settings", "show"], b"").json()["file"]["words"], 9000);
}

/// A hook whose user is at a terminal of their own.
fn at_a_terminal() -> Hook {
    let mut hook = Hook::new();
    hook.set("CLAUDECODE", "");
    hook
}

#[test]
fn set_writes_a_value_says_what_it_changes_and_refuses_a_wrong_one() {
    let hook = at_a_terminal();
    let file = hook.home.join(".claude/brain-guard/settings.json");
    let done = hook.raw(&["settings", "set", "tiers.narrow.context", "80"], b"");
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("narrow") && done.stdout.contains("80 %"), "{done:?}");
    assert!(done.stdout.contains("from your next prompt on"), "{done:?}");
    let text = fs::read_to_string(&file).expect("settings");
    for (key, value, way_out) in [
        ("tiers.narow.context", "65", ""),
        ("tiers.narrow", "65", "did you mean tiers.narrow.context"),
        ("profil", "relaxed", "did you mean `profile`? nothing was written"),
        ("profile", "lazy", "relaxed"),
        ("tiers.narrow.context", "much", ""),
    ] {
        let wrong = hook.raw(&["settings", "set", key, value], b"");
        assert_eq!(wrong.code, Some(2), "{key}: {wrong:?}");
        assert!(wrong.stderr.contains(way_out), "{wrong:?}");
        assert_eq!(fs::read_to_string(&file).expect("settings"), text);
    }
    let missing = hook.raw(&["settings", "set", "notify.by", r#"["nowhere", "{text}"]"#], b"");
    assert!(missing.stdout.contains("nowhere can't be run"), "{missing:?}");
    let there = hook.raw(&["settings", "set", "notify.by", r#"["sh", "{text}"]"#], b"");
    assert!(there.code == Some(0) && !there.stdout.contains("can't"), "{there:?}");
    let back = hook.raw(&["settings", "set", "tiers.narrow.context", "default"], b"");
    assert!(back.stdout.contains("in force at once:"), "{back:?}");
    fs::write(&file, "{ faulty").expect("settings");
    let faulty = hook.raw(&["settings", "set", "profile", "relaxed"], b"");
    assert!(faulty.code == Some(1) && faulty.stderr.contains("settings.json:1:"), "{faulty:?}");
}

/// What the session here has agreed to bounds what it has now.
#[test]
fn set_says_what_the_session_here_has_now_and_what_waits() {
    let (mut hook, _client) = in_another_client();
    hook.set("CLAUDECODE", "");
    let set =
        |value: &str| hook.raw(&["settings", "set", "tiers.narrow.context", value], b"").stdout;
    let stricter = set("28");
    assert!(stricter.contains("in force at once:\n  narrow 30 → 28 %"), "{stricter}");
    let milder = set("60");
    assert!(milder.contains("in force at once:\n  narrow 28 → 30 %"), "{milder}");
    assert!(milder.contains("from your next prompt on") && milder.contains("30 → 60"), "{milder}");
    assert!(set("default").contains("nothing changes in the session here"));
}

#[test]
fn an_agent_cannot_set_or_edit() {
    let hook = Hook::begun();
    for args in [&["settings", "set", "mode", "off"][..], &["settings", "edit"]] {
        let refused = hook.raw(args, b"");
        assert!(refused.code == Some(1) && refused.stderr.contains("only the user"), "{refused:?}");
    }
}

/// Edits at a terminal, with an editor that is a line of shell, and types answers.
fn edit(hook: &Hook, editor: &str, answers: &str) -> Answer {
    let script = hook.home.join("editor");
    fs::write(&script, editor).expect("editor");
    let mut command = Command::new("script");
    command
        .args(["-qec", &format!("{PROGRAM} settings edit"), "/dev/null"])
        .env_clear()
        .envs(hook.variables())
        .env("EDITOR", format!("sh {}", script.display()));
    finish(command, answers.as_bytes())
}

#[test]
fn edit_saves_only_what_is_sound_and_keeps_the_draft() {
    let hook = at_a_terminal();
    let file = hook.home.join(".claude/brain-guard/settings.json");
    let done = edit(&hook, "echo '{\"profile\": \"relaxed\"}' > \"$1\"", "");
    assert!(done.code == Some(0) && done.stdout.contains("narrow"), "{done:?}");
    let text = fs::read_to_string(&file).expect("settings");
    let same = edit(&hook, ":", "");
    assert!(same.code == Some(0) && same.stdout.contains("nothing changed"), "{same:?}");
    let faulty = edit(&hook, "echo '{\"profil\": 1}' > \"$1\"", "n\n");
    assert!(faulty.code == Some(1) && faulty.stdout.contains("draft.json:1:"), "{faulty:?}");
    assert_eq!(fs::read_to_string(&file).expect("settings"), text);
    let mended = edit(&hook, "sed -i 's/profil\\b/profile/; s/1/\"auto\"/' \"$1\"", "y\n");
    assert!(mended.stdout.contains("draft of an earlier edit"), "{mended:?}");
    assert!(mended.code == Some(0), "{mended:?}");
    assert!(fs::read_to_string(&file).expect("settings").contains("auto"));
    let failed = edit(&hook, "exit 3", "");
    assert!(failed.code == Some(1) && failed.stdout.contains("nothing was written"), "{failed:?}");
}
