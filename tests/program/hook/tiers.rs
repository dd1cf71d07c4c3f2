//! Where a session's tiers are, and what moves, lifts or caps them.

use std::fs;

use serde_json::json;

use crate::support::hook::{Hook, percent_in};

/// The tier of the next call: the one it reports, and whether a read is denied.
fn tier(hook: &Hook) -> (String, String) {
    let verdict = hook.read().verdict();
    let status = hook.raw(&["status", "--json"], b"").json();
    (status["tier"].as_str().expect("tier").to_owned(), verdict)
}

fn assert_tier(hook: &Hook, name: &str, verdict: &str) {
    assert_eq!(tier(hook), (name.to_owned(), verdict.to_owned()));
}

#[test]
fn a_tier_is_left_one_percent_below_it() {
    let hook = Hook::climbed(25.1);
    assert_tier(&hook, "block-reads", "deny");
    hook.fill(24.1);
    assert_tier(&hook, "block-reads", "deny");
    hook.fill(23.9);
    assert_tier(&hook, "coach", "pass");
    hook.fill(24.5);
    assert_tier(&hook, "coach", "pass");
    hook.fill(25.0);
    assert_tier(&hook, "block-reads", "deny");
}

#[test]
fn the_note_repeats_with_every_percent() {
    let hook = Hook::begun();
    for (percent, noted) in
        [(19.9, false), (20.0, true), (20.5, false), (21.0, true), (21.5, false)]
    {
        hook.fill(percent);
        assert_eq!(!hook.batch().note().is_empty(), noted, "{percent}");
    }
}

#[test]
fn the_note_repeats_after_twenty_five_calls() {
    let hook = Hook::climbed(percent_in("coach"));
    assert!(!hook.batch().note().is_empty());
    for _ in 0..24 {
        hook.read();
    }
    assert!(hook.batch().silent());
    hook.read();
    assert!(!hook.batch().note().is_empty());
}

#[test]
fn a_resumed_full_session_is_only_coached_at_first() {
    let hook = Hook::new();
    hook.fill(60.0);
    assert!(hook.start("resume").silent());
    assert_tier(&hook, "narrow", "pass");
    assert!(hook.batch().user().contains("already this full when it was first seen"));
    hook.fill(60.9);
    assert_tier(&hook, "narrow", "pass");
    hook.fill(61.1);
    assert_tier(&hook, "narrow", "deny");
}

#[test]
fn grace_ends_after_twenty_five_calls_too() {
    let hook = Hook::new();
    hook.fill(60.0);
    assert!(hook.start("resume").silent());
    let passed = (0..40).take_while(|_| hook.read().verdict() == "pass").count();
    assert_eq!(passed, 25);
}

/// A session that the hooks first see in its middle, because the plugin was just installed.
#[test]
fn a_session_met_full_is_only_coached_at_first() {
    let hook = Hook::new();
    hook.fill(40.0);
    assert_tier(&hook, "narrow", "pass");
    hook.fill(41.5);
    assert_tier(&hook, "narrow", "deny");
}

#[test]
fn a_large_starting_context_moves_the_tiers_up() {
    let hook = Hook::new();
    assert!(hook.start("startup").silent());
    hook.fill(18.0);
    hook.read();
    for (percent, name, verdict) in [
        (22.9, "free", "pass"),
        (23.1, "coach", "pass"),
        (28.1, "block-reads", "deny"),
        (33.1, "narrow", "deny"),
    ] {
        hook.fill(percent);
        assert_tier(&hook, name, verdict);
    }
}

/// The user's first prompt counts as work, not as the starting size.
#[test]
fn a_long_first_prompt_does_not_move_the_tiers() {
    let hook = Hook::new();
    assert!(hook.start("startup").silent());
    // 13 % of the limit at 3.5 bytes a token.
    hook.prompt(&"x".repeat(440_000));
    hook.fill(18.0);
    hook.read();
    hook.fill(percent_in("coach"));
    assert_tier(&hook, "coach", "pass");
}

#[test]
fn a_small_window_has_its_own_tiers() {
    let hook = Hook::new();
    assert!(hook.start("startup").silent());
    for (percent, name, verdict) in [
        (5, "free", "pass"),
        (49, "free", "pass"),
        (51, "coach", "pass"),
        (61, "block-reads", "deny"),
        (71, "narrow", "deny"),
    ] {
        hook.respond(167_000 * percent / 100 + 1, "claude-sonnet-4-5");
        assert_tier(&hook, name, verdict);
    }
}

/// An unknown model gets the small window until more than that is used.
#[test]
fn an_unknown_model_gets_the_small_window_first() {
    let hook = Hook::new();
    assert!(hook.start("startup").silent());
    for (tokens, name, window) in
        [(8_000, "free", 200_000), (105_000, "block-reads", 200_000), (205_000, "coach", 1_000_000)]
    {
        hook.respond(tokens, "some-model-of-2030");
        assert_eq!(tier(&hook).0, name, "{tokens}");
        let context = hook.raw(&["status", "--json"], b"").json()["context"].clone();
        assert_eq!(
            (&context["window"], &context["window_certain"]),
            (&window.into(), &false.into())
        );
    }
}

#[test]
fn an_event_can_name_the_long_variant() {
    let hook = Hook::new();
    let start = json!({"source": "startup", "model": "claude-sonnet-4-5[1m]"});
    assert!(hook.send(&hook.payload("SessionStart", &start)).silent());
    hook.respond(50_000, "claude-sonnet-4-5");
    hook.read();
    hook.respond(967_000 * 22 / 100, "claude-sonnet-4-5");
    assert_tier(&hook, "coach", "pass");
    let switch = json!({"new_model": "claude-sonnet-4-5"});
    assert!(hook.send(&hook.payload("PostModelSwitch", &switch)).silent());
    hook.respond(150_000, "claude-sonnet-4-5");
    assert_tier(&hook, "narrow", "deny");
}

#[test]
fn the_clients_own_threshold_is_the_limit() {
    for (name, value, limit) in [
        ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "600000", 567_000),
        ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "500k", 467_000),
        ("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "60", 588_000),
        ("DISABLE_AUTO_COMPACT", "1", 1_000_000),
        ("DISABLE_COMPACT", "1", 1_000_000),
    ] {
        let mut hook = Hook::begun();
        hook.set(name, value);
        let context = hook.raw(&["status", "--json"], b"").json()["context"].clone();
        assert_eq!(context["limit"], limit, "{name}={value}");
        let source = context["limit_source"].as_str().expect("source");
        assert!(source.contains(name) || source.contains("by a variable"), "{source}");
    }
    let mut hook = Hook::begun();
    hook.set("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "600000");
    hook.respond(567_000 * 26 / 100, "claude-opus-5-5");
    assert_tier(&hook, "block-reads", "deny");
}

#[test]
fn shadow_mode_and_plan_mode_block_nothing_and_say_why() {
    let hook = Hook::begun();
    hook.settings(&json!({"mode": "shadow"})).fill(percent_in("narrow"));
    assert_tier(&hook, "narrow", "pass");
    assert!(hook.stop().silent());
    let batch = hook.batch();
    assert!(batch.note().contains("Nothing is blocked, because shadow mode is on"), "{batch:?}");
    assert!(batch.user().contains("shadow mode"));

    let hook = Hook::begun();
    hook.fill(percent_in("narrow"));
    let mut planned = hook.call("Read", &json!({"file_path": "/etc/hostname"}));
    planned["permission_mode"] = "plan".into();
    assert!(hook.send(&planned).silent());
    assert_eq!(hook.read().verdict(), "deny", "and blocks again when the plan is left");
}

#[test]
fn headless_is_coached_and_off_is_silent() {
    let mut hook = Hook::begun();
    hook.set("CLAUDE_CODE_SESSION_ATTENDED", "0").fill(percent_in("narrow"));
    assert_tier(&hook, "narrow", "pass");
    assert!(hook.stop().silent());
    assert!(hook.batch().note().contains("this is a headless run"));
    hook.settings(&json!({"headless": "off"})).fill(percent_in("narrow") + 2.0);
    assert!(hook.batch().silent());
    // `boundary` needs an open client input, which this test does not have.
    hook.settings(&json!({"headless": "boundary"}));
    assert!(hook.read().silent());
}

#[test]
fn without_a_way_out_nothing_is_blocked() {
    let mut hook = Hook::begun();
    hook.set("BRAIN_GUARD_MOD", "").fill(percent_in("narrow"));
    assert_tier(&hook, "narrow", "pass");
    assert!(hook.batch().user().contains("no carrier can clear this session now"));
    assert!(hook.prompt("here I am").silent());
    assert_eq!(hook.read().verdict(), "deny", "someone is there to type /clear");
    let alive = format!("0.0.0:{}", std::process::id());
    let mut other = Hook::begun();
    other.set("BRAIN_GUARD_MOD", &alive).fill(percent_in("narrow"));
    assert!(other.read().silent(), "a module of another version is none");
}

/// The module's snapshot of this very call beats the transcript, and is removed after reading.
#[test]
fn the_modules_reading_wins() {
    let hook = Hook::begun();
    let snapshot = hook.places().snapshots().join("toolu_1.json");
    let write = |text: &str| fs::write(&snapshot, text).expect("snapshot");
    write(r#"{"session_id":"x","tokens":290100,"window":1000000,"output":1000}"#);
    let reason = hook.read().reason();
    assert!(reason.contains("30 % full (291k of 967k)"), "{reason}");
    assert!(!snapshot.exists());
    hook.fill(5.0);
    for torn in ["", "{\"tokens\":9", "[]", "{}", "null"] {
        write(torn);
        assert!(hook.read().silent(), "{torn}");
    }
}

/// The transcript lags by one response, so newer content is estimated, and marked as such.
#[test]
fn newer_rows_are_estimated() {
    let hook = Hook::climbed(24.0);
    let row = json!({"type": "user", "message": {"content": "x".repeat(100_000)}});
    let text = fs::read_to_string(&hook.transcript).expect("transcript");
    fs::write(&hook.transcript, format!("{text}{row}\n")).expect("transcript");
    assert_eq!(hook.read().verdict(), "deny");
    let explained = hook.raw(&["explain", "--why"], b"").stdout;
    assert!(explained.contains("tokens, estimated, "), "{explained}");
}

#[test]
fn rows_of_subagents_and_of_the_client_itself_do_not_count() {
    let hook = Hook::climbed(5.0);
    let usage = json!({"input_tokens": 900_000, "output_tokens": 1});
    let side = json!({"type": "assistant", "isSidechain": true,
        "message": {"id": "s", "model": "claude-opus-5-5", "usage": usage}});
    let own = json!({"type": "assistant", "message": {"id": "o", "model": "<synthetic>", "usage": usage}});
    let text = fs::read_to_string(&hook.transcript).expect("transcript");
    fs::write(&hook.transcript, format!("{text}{side}\n{own}\n{{\"torn")).expect("transcript");
    assert!(hook.read().silent());
}

#[test]
fn the_clients_compaction_lowers_the_reading() {
    let hook = Hook::climbed(percent_in("narrow"));
    let compaction = json!({"type": "system", "subtype": "compact_boundary",
        "compactMetadata": {"trigger": "auto", "preTokens": 300_000, "postTokens": 9_000}});
    let text = fs::read_to_string(&hook.transcript).expect("transcript");
    fs::write(&hook.transcript, format!("{text}{compaction}\n")).expect("transcript");
    let before = hook.payload("PreCompact", &json!({"trigger": "auto"}));
    assert!(hook.send(&before).silent());
    let after = hook.start("compact").note();
    assert!(after.contains("compacted this conversation"), "{after}");
    assert_tier(&hook, "free", "pass");
}

/// The client's settings are read at a session's start and with each prompt.
#[test]
fn the_clients_settings_move_the_limit() {
    let hook = Hook::begun();
    let limit = |hook: &Hook| {
        let status = hook.raw(&["status", "--json"], b"").json();
        (status["context"]["limit"].clone(), status["context"]["limit_source"].clone())
    };
    assert_eq!(limit(&hook).0, 967_000);
    fs::create_dir_all(hook.home.join(".claude")).expect("folder");
    let user = hook.home.join(".claude/settings.json");
    let models = json!({"claude-opus-5-5": {"autoCompactWindow": 300_000}});
    fs::write(&user, json!({"modelSettings": models}).to_string()).expect("settings");
    hook.prompt("go on");
    let by_user = "autoCompactWindow in your client settings";
    assert_eq!(limit(&hook), (json!(267_000), json!(by_user)));
    hook.respond(267_000 * 71 / 100, "claude-opus-5-5");
    assert_tier(&hook, "narrow", "deny");
    let project = hook.project.join(".claude");
    fs::create_dir_all(&project).expect("folder");
    fs::write(project.join("settings.local.json"), r#"{"autoCompactEnabled": false}"#)
        .expect("settings");
    hook.prompt("go on");
    assert_eq!(limit(&hook).0, 1_000_000);
}

/// A limit that the client reports wins over ours.
#[test]
fn the_clients_reported_limit_wins() {
    let hook = Hook::begun();
    let call = hook.call("Read", &json!({"file_path": "/etc/hostname"}));
    let id = call["tool_use_id"].as_str().expect("id").to_owned();
    let snapshot = json!({
        "tokens": 40_000, "window": 1_000_000, "model": "claude-opus-5-5",
        "limit": {"threshold": 117_000, "window": 150_000},
    });
    let folder = hook.places().snapshots();
    fs::create_dir_all(&folder).expect("folder");
    fs::write(folder.join(format!("{id}.json")), snapshot.to_string()).expect("snapshot");
    hook.send(&call);
    let context = hook.raw(&["status", "--json"], b"").json()["context"].clone();
    assert_eq!(
        (&context["limit"], &context["limit_source"]),
        (&json!(117_000), &json!("the client reports it"))
    );
}

#[test]
fn missing_token_counts_are_reported_once() {
    let hook = Hook::new();
    hook.start("startup");
    let told: Vec<bool> = (0..7).map(|_| hook.batch().user().contains("is unknown")).collect();
    assert_eq!(told, [false, false, false, false, true, false, false]);
}

#[test]
fn a_note_says_what_the_users_own_tier_blocks() {
    let hook = Hook::begun();
    hook.settings(&json!({"tiers": {"narrow": {"blocks": ["write"]}}}));
    hook.fill(percent_in("coach"));
    let note = hook.batch().note();
    assert!(note.contains("From 30 % on, ") && !note.contains("only the notes"), "{note}");
    hook.fill(percent_in("block-reads"));
    let note = hook.batch().note();
    assert!(note.contains("from 30 % on, ") && !note.contains("only the notes"), "{note}");
    hook.fill(percent_in("narrow"));
    let note = hook.batch().note();
    assert!(
        note.contains("changing files are blocked now") && !note.contains("only the notes"),
        "{note}"
    );
}

/// The seal's own response may be the one that reaches the next tier.
#[test]
fn a_sealed_agent_is_not_told_to_seal() {
    let hook = Hook::begun();
    hook.fill(percent_in("coach"));
    hook.agent("brain-guard append --kind next 'the parser'");
    let sealed = hook.agent("brain-guard seal --clear");
    assert!(sealed.stdout.contains("end your turn now"), "{sealed:?}");
    hook.fill(percent_in("narrow"));
    let batch = hook.batch();
    assert!(!batch.stdout.contains("additionalContext"), "{batch:?}");
    assert!(hook.read().reason().contains("your notes are sealed"));
}
