//! `settings check`: its report on each file, and its exit code.

use std::fs;

use serde_json::{Value, json};

use crate::support::hook::Hook;

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
    assert_eq!(hook.raw(&["settings", "show"], b"").json()["file"]["words"], 2000);
    hook.prompt("go on");
    assert_eq!(hook.raw(&["settings", "show"], b"").json()["file"]["words"], 9000);
}
