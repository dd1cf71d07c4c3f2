//! `doctor`: faults are named with their way out, and decide the exit code.

use serde_json::{Value, json};

use crate::harness::{Answer, Hook};

fn found(answer: &Answer) -> Vec<Value> {
    serde_json::from_str(&answer.stdout).unwrap_or_else(|e| panic!("{e}: {answer:?}"))
}

/// What one check says of itself.
fn check(hook: &Hook, name: &str) -> Value {
    let mut all = found(&hook.raw(&["doctor", "--json"], b""));
    let at = all.iter().position(|f| f["check"] == name);
    all.swap_remove(at.unwrap_or_else(|| panic!("no {name} in {all:?}")))
}

#[test]
fn nothing_installed_is_a_problem_with_a_way_out() {
    let hook = Hook::begun();
    let answer = hook.raw(&["doctor", "--json"], b"");
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(1), ""));
    for finding in found(&answer) {
        let keys: Vec<&str> =
            finding.as_object().expect("object").keys().map(String::as_str).collect();
        assert_eq!(keys, ["check", "level", "seen", "way_out"]);
        assert_eq!(finding["level"] == "ok", finding["way_out"].is_null(), "{finding}");
    }
    let plugin = check(&hook, "plugin");
    assert_eq!(plugin["level"], "problem");
    assert_eq!(plugin["way_out"], "run `brain-guard install`");
    let text = hook.raw(&["doctor"], b"").stdout;
    assert!(text.contains("problem  plugin       nothing is installed at"), "{text}");
    assert!(text.lines().all(|line| line.contains("  ")), "one line a check: {text}");
}

#[test]
fn what_is_wrong_around_is_named() {
    let mut hook = Hook::begun();
    let level = |hook: &Hook, name: &str| check(hook, name)["level"].clone();
    for name in ["state", "settings", "environment", "compaction", "terminal"] {
        assert_eq!(level(&hook, name), "ok", "{}", check(&hook, name));
    }
    let keys = check(&hook, "keys");
    assert_eq!(keys["level"], "note");
    let file = hook.home.join(".claude/keybindings.json");
    std::fs::write(&file, "{\n  \"bindings\": [,]\n}").expect("file");
    let keys = check(&hook, "keys");
    assert_eq!(keys["level"], "problem");
    assert!(keys["seen"].as_str().expect("text").contains("line 2"), "{keys}");
    let bound =
        json!({"ctrl+x ctrl+l": "command:clear", "ctrl+] ctrl+f": "command:brain-guard:resume"});
    let text = json!({"bindings": [{"context": "Chat", "bindings": bound}]});
    std::fs::write(&file, text.to_string()).expect("file");
    let keys = check(&hook, "keys");
    assert_eq!(keys["level"], "ok");
    assert!(keys["seen"].as_str().expect("text").contains("ctrl+x ctrl+l clears"), "{keys}");

    hook.settings(&json!({"profil": 1, "boundary": {"carrier": "x11"}}));
    assert!(check(&hook, "settings")["seen"].as_str().expect("text").contains("profil"));
    assert_eq!(level(&hook, "terminal"), "problem");
    hook.set("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "20");
    assert!(check(&hook, "compaction")["seen"].as_str().expect("text").contains("200,000 tokens"));
    hook.set("CLAUDE_CODE_SIMPLE", "1");
    assert_eq!(level(&hook, "environment"), "problem");
    std::fs::write(hook.home.join(".claude/settings.json"), r#"{"disableAllHooks": true}"#)
        .expect("settings");
    let all = found(&hook.raw(&["doctor", "--json"], b""));
    assert!(
        all.iter().any(|f| f["seen"].as_str().expect("text").contains("disableAllHooks")),
        "{all:?}"
    );
}
