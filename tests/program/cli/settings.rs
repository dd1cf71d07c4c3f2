//! `settings check`: its report on each layer, and its exit code.

use std::fs;

use serde_json::{Value, json};

use crate::support::hook::Hook;

fn check(hook: &Hook, args: &[&str]) -> (Option<i32>, Value) {
    let answer = hook.raw(&[&["settings", "check", "--json"], args].concat(), b"");
    let json = serde_json::from_str(&answer.stdout).unwrap_or_else(|e| panic!("{e}: {answer:?}"));
    (answer.code, json)
}

fn tiers(model: &Value) -> Vec<(&str, f64)> {
    let tiers = model["tiers"].as_array().expect("tiers");
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
    let models = report["models"].as_array().expect("models");
    assert_eq!(models[0]["limit"], 967_000);
    assert_eq!(tiers(&models[0]), [("coach", 20.0), ("block-reads", 25.0), ("narrow", 30.0)]);
    assert_eq!(tiers(&models[1]), [("coach", 50.0), ("block-reads", 60.0), ("narrow", 70.0)]);
    assert_eq!(models[0]["tiers"][1]["tokens"], 241_750);
    assert_eq!(models[0]["words"]["seal_target"], 800);
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
fn settings_check_lists_sources_and_problems() {
    let mut hook = Hook::begun();
    let user = hook.places().user_settings;
    fs::create_dir_all(user.parent().expect("parent")).expect("folder");
    fs::write(
        &user,
        "{\n \"profile\": \"relaxed\",\n \"colour\": 1,\n \"when\": [\n  {\"model\": \"*opus*\", \"words\": 3000}]\n}",
    )
    .expect("settings");
    let project = hook.places().project_settings();
    fs::create_dir_all(project.parent().expect("parent")).expect("folder");
    fs::write(&project, "{\n \"mode\": \"off\",\n \"coach\": {\"reread_lines\": 50}\n}")
        .expect("settings");
    hook.set("BRAIN_GUARD_SET_TIERS__BLOCK_READS__CONTEXT", "45");
    hook.set("CLAUDE_PLUGIN_OPTION_THETA_WORDS", "1000");
    let (code, report) = check(&hook, &[]);
    assert_eq!(code, Some(1));
    let set: Vec<_> = report["set"]
        .as_array()
        .expect("list")
        .iter()
        .map(|key| {
            let source = key["source"].as_str().expect("source");
            let source = source.rsplit('/').next().expect("name");
            format!(
                "{} = {} by {source}:{}",
                key["key"].as_str().expect("key"),
                key["value"],
                key["line"]
            )
        })
        .collect();
    assert_eq!(
        set,
        [
            "file.words = 1000 by plugin option theta_words:null",
            "profile = \"relaxed\" by settings.json:2",
            "when = [{\"model\":\"*opus*\",\"words\":3000}] by settings.json:4",
            "coach.reread_lines = 50 by settings.json:3",
            "tiers.block-reads.context = 45 by BRAIN_GUARD_SET_TIERS__BLOCK_READS__CONTEXT:null",
        ]
    );
    let problems = report["problems"].as_array().expect("list");
    let said: Vec<_> = problems.iter().map(|p| (p["line"].clone(), p["key"].clone())).collect();
    assert_eq!(said, [(json!(3), json!("colour")), (json!(2), json!("mode"))]);
    assert!(problems.iter().all(|p| !p["way_out"].as_str().expect("text").is_empty()));
    // The session's own model and window.
    let model = &report["models"][0];
    assert_eq!((&model["model"], &model["window"]), (&json!("claude-opus-5-5"), &json!(1_000_000)));
    assert_eq!((&model["when"], &model["words"]["full"]), (&json!([0]), &json!(3000)));
    assert_eq!(tiers(model), [("coach", 40.0), ("block-reads", 45.0), ("narrow", 60.0)]);
    let (_, asked) = check(&hook, &["--model", "claude-haiku-5-5", "--window", "200000"]);
    assert_eq!(
        (&asked["models"][0]["when"], &asked["models"][0]["limit"]),
        (&json!([]), &json!(167_000))
    );
    let text = hook.raw(&["settings", "check"], b"").stdout;
    assert!(text.contains("-> remove the key"), "{text}");
    assert!(text.contains(&format!("{}:2", user.display())), "{text}");
}

#[test]
fn settings_check_accepts_a_single_file() {
    let mut hook = Hook::new();
    hook.settings(&json!({"file": {"words": 1}}));
    hook.set("BRAIN_GUARD_SET_MODE", "never");
    let file = hook.project.join("new.json");
    fs::write(&file, r#"{"mode": "off"}"#).expect("file");
    let (code, report) = check(&hook, &["new.json"]);
    assert_eq!((code, report["set"][0]["key"].clone()), (Some(0), json!("mode")));
    fs::write(&file, r#"{"mod": "off"}"#).expect("file");
    let (code, report) = check(&hook, &["new.json"]);
    assert_eq!((code, report["problems"][0]["line"].clone()), (Some(1), json!(1)));
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
