//! `doctor` names each fault with its way out, sets the exit code, and repairs what is safe with
//! `--fix`. Each breakage has its own finding.

mod breakages;
pub mod lab;

use std::fs;

use base::clock;
use guard::files::state;
use serde_json::{Value, json};

use crate::support::hook::{Answer, Hook};
use breakages::BREAKAGES;
use lab::{Fault, Lab};

fn found(answer: &Answer) -> Vec<Value> {
    let report: Value =
        serde_json::from_str(&answer.stdout).unwrap_or_else(|e| panic!("{e}: {answer:?}"));
    report["found"].as_array().expect("findings").clone()
}

/// The finding of one check.
pub fn check(hook: &Hook, name: &str) -> Value {
    let mut all = found(&hook.raw(&["doctor", "--json"], b""));
    let at = all.iter().position(|f| f["check"] == name);
    all.swap_remove(at.unwrap_or_else(|| panic!("no {name} in {all:?}")))
}

#[test]
fn every_doctor_problem_has_a_way_out() {
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
    // The first installation is up to the user.
    hook.raw(&["doctor", "--fix"], b"");
    assert!(!hook.home.join(".local/share/brain-guard").exists());
}

#[test]
fn doctor_checks_the_surroundings() {
    let hook = Hook::begun();
    let level = |hook: &Hook, name: &str| check(hook, name)["level"].clone();
    for name in ["state", "private", "boundaries", "settings", "carrier", "store"] {
        assert_eq!(level(&hook, name), "ok", "{}", check(&hook, name));
    }
    let keys = check(&hook, "keys");
    assert_eq!(keys["level"], "note");
    let file = hook.home.join(".claude/keybindings.json");
    fs::write(&file, "{\n  \"bindings\": [,]\n}").expect("file");
    let keys = check(&hook, "keys");
    assert_eq!(keys["level"], "problem");
    assert!(keys["seen"].as_str().expect("text").contains("line 2"), "{keys}");
    let bound =
        json!({"ctrl+x ctrl+l": "command:clear", "ctrl+] ctrl+f": "command:brain-guard:resume"});
    let text = json!({"bindings": [{"context": "Chat", "bindings": bound}]});
    fs::write(&file, text.to_string()).expect("file");
    let keys = check(&hook, "keys");
    assert_eq!(keys["level"], "ok");
    assert!(keys["seen"].as_str().expect("text").contains("ctrl+x ctrl+l clears"), "{keys}");

    hook.settings(&json!({"boundary": {"carrier": "x11"}}));
    assert_eq!(level(&hook, "carrier"), "problem");
    hook.write_settings(r#"{"profil": 1}"#);
    assert!(check(&hook, "settings")["seen"].as_str().expect("text").contains("profil"));
    fs::write(hook.home.join(".claude/settings.json"), r#"{"disableAllHooks": true}"#)
        .expect("settings");
    assert!(check(&hook, "switches")["seen"].as_str().expect("text").contains("disableAllHooks"));
    let status = hook.raw(&["status"], b"").stdout;
    let status = status.replace('\n', " ");
    let off = "ends every hook of this plugin, so brain-guard stops when this session reloads";
    assert!(status.contains(off), "{status}");
}

#[test]
fn doctor_says_when_openclaw_leaves_the_plugin_out() {
    let hook = Hook::begun();
    let has = |hook: &Hook| {
        let all = found(&hook.raw(&["doctor", "--json"], b""));
        all.into_iter().find(|finding| finding["check"] == "openclaw")
    };
    assert_eq!(has(&hook), None, "no OpenClaw");
    let folder = hook.home.join(".openclaw");
    fs::create_dir_all(&folder).expect("a folder");
    let log = folder.join("openclaw.log");
    let config = |engine: Value| {
        let config = json!({
            "logging": {"file": log},
            "plugins": {"entries": {"brain-guard": {"enabled": true}}, "slots": {"contextEngine": engine}},
        });
        fs::write(folder.join("openclaw.json"), config.to_string()).expect("config");
    };
    config(Value::Null);
    let other = check(&hook, "openclaw");
    assert!(other["level"] == "note" && other["seen"].to_string().contains("is legacy"), "{other}");
    config("brain-guard".into());
    assert_eq!(check(&hook, "openclaw")["level"], "ok");
    let left_out = |engine: &str, why: &str| {
        let message = format!(
            "[context-engine] Context engine \"{engine}\" degraded to \"legacy\" for this logical turn: {why}. The \"legacy\" engine will handle only this turn."
        );
        json!({"message": message, "time": "2026-11-30T01:24:30.177+00:00"}).to_string()
    };
    let lines = [left_out("brain-guard", "too old"), left_out("brain-guard", "not declared")];
    let lines = [&lines[..], &[left_out("another", "broken"), "torn {".to_owned()]].concat();
    fs::write(&log, lines.join("\n")).expect("log");
    let seen = check(&hook, "openclaw")["seen"].to_string();
    assert!(seen.contains("its model got everything: not declared (2026-11-30T"), "{seen}");
}

#[test]
fn the_carrier_is_tried_without_touching_anything() {
    let mut hook = Hook::begun();
    let before = hook.state();
    let seen = |hook: &Hook| check(hook, "carrier")["seen"].as_str().expect("text").to_owned();
    let with_module = format!("mod would clear session {}", hook.session);
    assert!(seen(&hook).starts_with(&with_module), "{}", seen(&hook));
    hook.set("BRAIN_GUARD_MOD", "");
    let none = check(&hook, "carrier");
    assert_eq!(none["level"], "note", "{none}");
    for part in ["so nothing is blocked", "mod can't: ", "tmux can't: ", "manual can't: "] {
        assert!(none["seen"].as_str().expect("text").contains(part), "{part}: {none}");
    }
    assert_eq!(hook.state(), before);
}

#[test]
fn each_breakage_has_its_own_finding_and_repair() {
    let mut lab = Lab::installed();
    lab.hook.agent("brain-guard job focus lexer && brain-guard append --kind thread 'a thread'");
    let whole = lab.faults();
    assert!(whole.iter().all(|(_, level, _)| level == "note"), "{whole:?}");
    let sealed = lab.hook.places().compaction("lexer");
    let memory = fs::read_to_string(&sealed).expect("the job's file");
    for breakage in &BREAKAGES {
        (breakage.act)(&mut lab);
        let is_it = |(check, level, seen): &Fault| {
            check == breakage.check && level == breakage.level && seen.contains(breakage.word)
        };
        let faults = lab.faults();
        assert!(faults.iter().any(is_it), "{} {}: {faults:#?}", breakage.check, breakage.word);
        if breakage.fixed {
            let (done, left) = lab.fix();
            assert!(done.iter().all(|d| d["fixed"] == true) && !done.is_empty(), "{done:?}");
            assert_eq!(left, whole, "{} {}", breakage.check, breakage.word);
            continue;
        }
        (breakage.undo)(&mut lab);
        assert_eq!(lab.faults(), whole, "{} {}", breakage.check, breakage.word);
    }
    assert_eq!(lab.fix().0, Vec::<Value>::new(), "nothing is left to do");
    assert_eq!(fs::read_to_string(&sealed).expect("still there"), memory);
}

#[test]
fn a_failed_fix_is_reported_and_stays_a_problem() {
    let lab = Lab::installed();
    // A rename cannot repair this: the module's folder is a file.
    fs::remove_dir_all(lab.plugin("hooks")).expect("broken");
    fs::write(lab.plugin("hooks"), "").expect("broken");
    let answer = lab.hook.raw(&["doctor", "--fix"], b"");
    assert_eq!(answer.code, Some(1));
    assert!(answer.stdout.contains("failed   files"), "{}", answer.stdout);
    assert!(answer.stdout.contains("problem  files"), "{}", answer.stdout);
}

#[test]
fn doctor_names_all_copies_and_says_how_to_keep_one() {
    let mut lab = Lab::installed();
    let entry = |version: &str| {
        let folder = "/home/ada/.claude/plugins/cache/acme/brain-guard/1";
        json!({"id": "brain-guard@acme", "version": version, "enabled": true, "installPath": folder})
    };
    let own = env!("CARGO_PKG_VERSION");
    lab.put("client/others", &entry(own).to_string());
    let current = lab.plugin("").display().to_string();
    lab.hook.set("CLAUDE_PLUGIN_ROOT", current.trim_end_matches('/'));
    lab.hook.start("resume");
    let registered = |lab: &Lab| {
        let all = found(&lab.hook.raw(&["doctor", "--json"], b""));
        let of_it = all.into_iter().filter(|f| f["check"] == "registered");
        of_it.map(|f| format!("{f:#}")).collect::<Vec<_>>()
    };
    let found = registered(&lab);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[1].contains(&format!("the client has brain-guard@acme, version {own}")));
    for part in [
        "brain-guard@brain-guard and brain-guard@acme are enabled",
        "brain-guard@brain-guard ran",
        "keep one: `brain-guard uninstall` or `claude plugin uninstall brain-guard@acme`",
    ] {
        assert!(found[2].contains(part), "{part}: {}", found[2]);
    }
    lab.put("client/others", &entry("0.0.9").to_string());
    let found = registered(&lab);
    assert!(found[1].contains("`claude plugin update brain-guard@acme`, then /reload-plugins"));

    // Only the copy from the marketplace.
    state::update(&lab.hook.places(), &lab.hook.session, |s| s.ended = Some(clock::now()))
        .expect("written");
    lab.leave_client();
    let removed = lab.hook.raw(&["uninstall"], b"");
    assert_eq!(removed.code, Some(0), "{removed:?}");
    lab.put("client/others", &entry(own).to_string());
    let is_whole = |lab: &Lab| {
        lab.faults().iter().all(|(check, ..)| check != "registered" && check != "plugin")
    };
    assert!(is_whole(&lab), "{:?}", lab.faults());

    // A marketplace of our name in another folder.
    fs::remove_file(lab.at("client/others")).expect("there");
    for (file, text) in [("market", "/src/brain-guard"), ("plugin", own), ("enabled", "true")] {
        lab.put(&format!("client/{file}"), text);
    }
    assert!(is_whole(&lab), "{:?}", lab.faults());
    lab.put("client/others", &entry(own).to_string());
    let found = registered(&lab);
    assert!(found[2].contains("`claude plugin uninstall brain-guard@brain-guard` or"), "{found:?}");
}
