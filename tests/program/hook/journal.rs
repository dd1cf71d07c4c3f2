//! A session's journal: what the guard decided, said and did.

use std::fs;

use guard::files::journal::Journal;
use guard::journal::{Call, Line, What};
use guard::policy::decide::Denial;
use serde_json::json;

use crate::support::hook::{Hook, LIMIT, percent_in};

fn journal(hook: &Hook) -> Journal {
    Journal::of_session(&hook.places(), &hook.session)
}

fn lines(hook: &Hook) -> Vec<Line> {
    journal(hook).lines()
}

fn last(hook: &Hook) -> (Line, Call) {
    let line = lines(hook).pop().expect("a line");
    let call = line.what.call().expect("a call").clone();
    (line, call)
}

#[test]
fn below_the_tiers_nothing_is_journaled() {
    let hook = Hook::begun();
    assert!(hook.read().silent());
    assert!(hook.bash("ls").silent());
    assert!(hook.batch().silent());
    assert!(hook.stop().silent());
    assert!(!journal(&hook).path.exists());
}

#[test]
fn a_denial_is_journaled() {
    let hook = Hook::climbed(percent_in("narrow"));
    let said = hook.read().reason();
    let (line, call) = last(&hook);
    assert_eq!((&*line.what.kind(), call.why), ("deny", Some(Denial::Tier)));
    assert_eq!(
        (call.tool.as_str(), call.band.as_str(), line.tier.as_str()),
        ("Read", "read", "narrow")
    );
    assert_eq!(line.to_agent, said, "what the agent got, to the letter");
    assert_eq!(line.context.expect("a reading").limit, LIMIT);
    assert!(line.cap.is_none() && !call.subagent);
    let [passes] = &call.passes[..] else { panic!("{:?}", call.passes) };
    assert!(
        passes.starts_with("the same call below the tier block-reads (25.0 % of the context"),
        "{passes}"
    );
    hook.fill(percent_in("block-reads"));
    assert_eq!(hook.read().verdict(), "deny");
    let (_, call) = last(&hook);
    assert_eq!(call.passes[1], "Read of a file that this session has read or edited");
}

#[test]
fn the_journal_says_where_a_command_left_the_accepted_form() {
    let hook = Hook::climbed(percent_in("narrow"));
    for (command, why) in [
        ("brain-guard status | head", Some("`|` outside single quotes at column 20")),
        ("brain-guard seal && ls", Some("`ls` is not brain-guard")),
        ("ls -l", None),
        ("brain-guard append \"$x\"", Some("`$` outside single quotes at column 21")),
    ] {
        assert_eq!(hook.bash(command).verdict(), "deny");
        assert_eq!(last(&hook).1.not_own.as_deref(), why, "{command}");
    }
    assert_eq!(hook.bash("brain-guard append x && brain-guard status").verdict(), "allow");
    let (line, call) = last(&hook);
    assert_eq!((&*line.what.kind(), call.not_own), ("allow", None));
}

#[test]
fn passed_and_partial_reads_are_journaled() {
    let hook = Hook::climbed(percent_in("coach"));
    assert!(hook.bash("ls").silent());
    let (line, call) = last(&hook);
    assert_eq!((&*line.what.kind(), line.tier.as_str()), ("pass", "coach"));
    assert!(call.passes.is_empty() && line.to_agent.is_empty());
    let note = hook.batch().note();
    let line = lines(&hook).pop().expect("a line");
    assert_eq!((line.what, line.to_agent), (What::Note { event: "PostToolBatch".into() }, note));

    let input = json!({"file_path": "/etc/hostname"});
    let read = json!({
        "tool_name": "Read", "tool_use_id": "t", "tool_input": input, "tool_response": {"file": 1},
    });
    hook.send(&hook.payload("PostToolUse", &read));
    hook.fill(percent_in("block-reads"));
    assert_eq!(hook.pre("Read", &input).verdict(), "allow");
    assert_eq!(last(&hook).0.what.kind(), "partial");
}

#[test]
fn a_subagents_call_is_journaled_only_if_decided() {
    let hook = Hook::climbed(percent_in("narrow"));
    let before = lines(&hook).len();
    let inside = |command: &str| {
        let mut call = hook.call("Bash", &json!({"command": command}));
        call["agent_id"] = "a1".into();
        hook.send(&call)
    };
    assert!(inside("ls").silent());
    assert_eq!(lines(&hook).len(), before);
    assert_eq!(inside("brain-guard seal").verdict(), "deny");
    let (_, call) = last(&hook);
    assert_eq!((call.subagent, call.why), (true, Some(Denial::MainLoopOnly)));
}

#[test]
fn shadow_mode_decides_and_denies_nothing() {
    let hook = Hook::begun();
    hook.settings(&json!({"mode": "shadow"})).fill(percent_in("narrow"));
    assert!(hook.read().silent());
    let (line, call) = last(&hook);
    assert_eq!((&*line.what.kind(), call.why), ("would-deny", Some(Denial::Tier)));
    assert!(line.cap.is_some_and(|cap| cap.contains("shadow")) && !call.passes.is_empty());
    let settings = json!({"file_path": hook.places().user_settings, "content": "{}"});
    assert!(hook.pre("Write", &settings).silent());
    assert_eq!(last(&hook).1.why, Some(Denial::Operator));
    assert_eq!(hook.bash("brain-guard append x").verdict(), "allow", "our own verbs work");
    let would = hook.journal("would-deny");
    assert_eq!(
        (would.len(), &would[0]["tool"], &would[1]["why"]),
        (2, &json!("Read"), &json!("operator"))
    );
    assert!(hook.journal("deny").is_empty());
    assert!(hook.stop().silent());
    let stopped = lines(&hook).pop().expect("a line");
    assert_eq!(stopped.what, What::WouldStop);

    // A call that passes for another reason is not counted as blocked.
    let mut hook = Hook::begun();
    hook.settings(&json!({"mode": "shadow"})).fill(percent_in("narrow"));
    hook.set("BRAIN_GUARD_MOD", "");
    assert!(hook.read().silent());
    assert_eq!(last(&hook).0.what.kind(), "pass");
    assert!(hook.journal("would-deny").is_empty());
}

#[test]
fn shadow_mode_opens_no_boundary_and_ignores_projects() {
    let hook = Hook::begun();
    hook.settings(&json!({"mode": "shadow"})).fill(percent_in("narrow"));
    hook.read();
    let answer = hook.agent("brain-guard append --kind next 'x' && brain-guard seal");
    assert!(answer.stdout.contains("shadow mode is on"), "{answer:?}");
    assert!(hook.state()["token"].is_null());
    assert!(lines(&hook).iter().any(|l| matches!(&l.what, What::Sealed(s) if s.version == 1)));
    assert!(!lines(&hook).iter().any(|l| matches!(l.what, What::Boundary(_))));

    let hook = Hook::begun();
    let settings = hook.project.join(".brain-guard/settings.json");
    fs::create_dir_all(settings.parent().expect("parent")).expect("folder");
    fs::write(settings, r#"{"mode": "shadow"}"#).expect("settings");
    hook.fill(percent_in("narrow"));
    assert_eq!(hook.read().verdict(), "deny");
}

#[test]
fn the_journal_is_protected_and_not_needed() {
    let hook = Hook::climbed(percent_in("coach"));
    let path = journal(&hook).path;
    let path_text = path.to_string_lossy().into_owned();
    let denied = hook.pre("Write", &json!({"file_path": path_text, "content": ""}));
    assert_eq!(denied.verdict(), "deny");
    fs::remove_file(&path).expect("journal");
    fs::create_dir(&path).expect("folder");
    hook.fill(percent_in("narrow"));
    assert_eq!(hook.read().verdict(), "deny", "the decision stands without its account");
    let told = hook.raw(&["explain"], b"").stdout;
    assert!(told.contains("its entry is no longer in the journal"), "{told}");
}

#[test]
fn a_cut_output_is_one_line() {
    let hook = Hook::climbed(percent_in("block-reads"));
    let response = json!({"stdout": "x\n".repeat(9_000), "stderr": "", "interrupted": false});
    let ran = json!({
        "tool_name": "Bash", "tool_use_id": "t9", "tool_input": {"command": "make"},
        "tool_response": response,
    });
    assert!(!hook.send(&hook.payload("PostToolUse", &ran)).silent());
    let line = lines(&hook).pop().expect("a line");
    let What::Cut(cut) = line.what else { panic!("no cut: {line:?}") };
    assert_eq!((cut.id.as_str(), cut.before), ("t9", 18_000));
    let line_and_breaks = line.to_agent.chars().count() as u64 + 2;
    assert!(cut.after <= 4_000 + line_and_breaks, "{cut:?}");
    assert!(line.to_agent.contains("characters left out"));
}

/// Over a whole climb the guard adds at most 0.3 % of the limit to the context.
#[test]
fn the_guards_texts_stay_below_three_thousandths() {
    let hook = Hook::begun();
    for tenth in 190..=310 {
        hook.fill(f64::from(tenth) / 10.0);
        if tenth < 300 {
            assert!(hook.bash("ls").silent());
        }
        if tenth == 260 || tenth == 280 {
            assert_eq!(hook.read().verdict(), "deny");
        }
        hook.batch();
    }
    for tool in ["Read", "Grep", "Agent"] {
        assert_eq!(hook.pre(tool, &json!({"file_path": "/etc/hostname"})).verdict(), "deny");
    }
    assert!(hook.stop().refuses_end());
    hook.agent("brain-guard append --kind next 'go on with the lexer'");
    hook.agent("brain-guard seal");
    assert!(hook.read().reason().contains("sealed"));
    let added = hook.raw(&["status", "--json"], b"").json()["added"].clone();
    assert!(added["notes"]["count"].as_u64() >= Some(5), "{added}");
    assert!(added["denials"]["count"].as_u64() >= Some(6), "{added}");
    let percent = added["percent"].as_f64().expect("a share");
    assert!(percent > 0.01, "{added}");
    assert!(
        percent <= 0.3,
        "the texts take more than 0.3 % of the limit, shorten templates/: {added}"
    );
}

/// What is in the conversation already is not repeated in full.
#[test]
fn the_second_denial_and_note_of_a_tier_are_short() {
    let hook = Hook::begun();
    hook.fill(percent_in("coach"));
    let first = hook.batch().note();
    let percent = percent_in("coach") + 1.1;
    hook.fill(percent);
    let second = hook.batch().note();
    assert!(first.contains("kinds: ") && !second.contains("kinds: "), "{second}");
    assert!(
        second.contains(&format!("{percent:.0} % full (")) && second.contains("nothing is blocked"),
        "{second}"
    );
    hook.fill(percent_in("narrow"));
    let (first, second) = (hook.read().reason(), hook.bash("ls").reason());
    assert!(first.contains("kinds: ") && second.len() < first.len() * 3 / 4, "{second}");
    for part in ["blocked Bash", "31 % full (300k of 967k)", "Still allowed: ", "brain-guard seal"]
    {
        assert!(second.contains(part), "{part}: {second}");
    }
    hook.start("compact");
    hook.fill(percent_in("narrow"));
    assert!(hook.read().silent(), "coached only at first");
    hook.fill(35.0);
    assert!(hook.read().reason().contains("kinds: "), "told anew after a compaction");
}
