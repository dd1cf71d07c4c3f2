//! A turn's end in the top tier: refused twice, then handed over.

use std::fs;

use crate::support::hook::{Hook, percent_in};

fn blocked(hook: &Hook) -> bool {
    let reply = hook.stop();
    if !reply.refuses_end() {
        return false;
    }
    let told = reply.note();
    assert!(told.contains("not sealed yet") && told.contains("brain-guard seal"), "{told}");
    true
}

fn sealed(hook: &Hook) -> Option<String> {
    let job = hook.state()["job"].as_str().expect("job").to_owned();
    fs::read_to_string(hook.places().job(&job).join("sealed/v0001.md")).ok()
}

#[test]
fn below_the_top_tier_a_turn_just_ends() {
    for percent in [5.0, percent_in("coach"), percent_in("block-reads")] {
        assert!(!blocked(&Hook::climbed(percent)), "{percent}");
    }
}

/// No call came in between that would have told the tier.
#[test]
fn a_last_answer_may_reach_the_tier_by_itself() {
    let hook = Hook::begun();
    hook.fill(5.0);
    hook.agent("brain-guard append --kind next 'the parser'");
    assert!(hook.agent("brain-guard seal").stdout.contains("no tier is reached"));
    hook.fill(percent_in("narrow"));
    assert_eq!([blocked(&hook), blocked(&hook)], [true, true]);
    assert!(!hook.stop().refuses_end(), "nobody is there, so the guard seals");
    assert_eq!(hook.opened().len(), 1);
}

#[test]
fn an_attended_third_stop_waits_for_the_person() {
    let hook = Hook::climbed(percent_in("narrow"));
    assert!(hook.prompt("do the thing").silent());
    assert_eq!([blocked(&hook), blocked(&hook)], [true, true]);
    let told = hook.stop();
    assert!(!told.refuses_end(), "{told:?}");
    assert!(told.user().contains("waiting for you") && told.user().contains("10 min"), "{told:?}");
    // Nothing was written, so nothing is promised that a clear would lose.
    assert!(told.user().contains("the blocks are lifted and the agent goes on"), "{told:?}");
    let waiting = token(&hook);
    assert!(hook.stop().silent(), "it waits on, and says so once");
    assert_eq!(sealed(&hook), None);
    assert!(hook.prompt("go on").silent());
    let ended = fs::read_to_string(waiting).expect("token");
    assert!(ended.contains("a prompt came"), "{ended}");
    assert!(blocked(&hook), "a person's prompt begins the count anew");
}

/// A session that waits for a person who spoke so long ago; its turn ended without a seal.
fn waiting_since(seconds: i64, note: Option<&str>) -> Hook {
    let hook = Hook::climbed(percent_in("narrow"));
    hook.settings(&serde_json::json!({"boundary": {"attended_minutes": 1}}));
    if let Some(note) = note {
        hook.agent(&format!("brain-guard append --kind thread '{note}'"));
    }
    let spoke = base::clock::now() - chrono::TimeDelta::seconds(seconds);
    let spoke = serde_json::json!(spoke.to_rfc3339());
    change(&hook.places().session(&hook.session, "json"), "last_human", spoke);
    assert_eq!([blocked(&hook), blocked(&hook)], [true, true]);
    let told = hook.stop().user();
    assert!(told.contains("waiting for you"), "{told}");
    assert_eq!(told.contains("the notes are sealed as they are"), note.is_some(), "{told}");
    hook
}

#[test]
fn without_a_person_the_guard_seals_and_opens_a_boundary() {
    let hook = waiting_since(56, Some("the parser fails on CRLF"));
    std::thread::scope(|scope| {
        // A refused end of the same turn may have left one, too.
        let woken = [(); 2].map(|()| scope.spawn(|| rewake(&hook)));
        let opened = || !hook.opened().is_empty();
        let began = std::time::Instant::now();
        while !opened() && began.elapsed().as_secs() < 30 {
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        assert!(sealed(&hook).expect("sealed").contains("the parser fails on CRLF"));
        std::thread::sleep(std::time::Duration::from_millis(500));
        assert_eq!(hook.opened().len(), 1);
        // The session ends, so nobody is woken in it.
        let now = serde_json::json!(base::clock::now().to_rfc3339());
        change(&hook.places().session(&hook.session, "json"), "ended", now);
        assert!(woken.into_iter().all(|woken| woken.join().expect("no panic").silent()));
    });
}

/// A hook that is still waiting for the end of the turn before has that turn's settings.
#[test]
fn a_hook_of_an_earlier_turn_does_not_seal_for_an_attended_one() {
    let hook = Hook::begun();
    hook.settings(&serde_json::json!({"boundary": {"attended_minutes": 0}}));
    hook.prompt("begin");
    std::thread::scope(|scope| {
        let earlier = scope.spawn(|| rewake(&hook));
        std::thread::sleep(std::time::Duration::from_millis(500));
        hook.settings(&serde_json::json!({"boundary": {"attended_minutes": 10}}));
        hook.prompt("I am here");
        hook.fill(percent_in("narrow"));
        hook.read();
        hook.agent("brain-guard append --kind thread 'the parser fails on CRLF'");
        assert_eq!([blocked(&hook), blocked(&hook)], [true, true]);
        assert!(hook.stop().user().contains("waiting for you"));
        assert!(earlier.join().expect("no panic").silent());
    });
    assert_eq!(sealed(&hook), None);
}

#[test]
fn without_a_person_or_notes_the_agent_continues() {
    let hook = waiting_since(56, None);
    let woken = rewake(&hook);
    assert_eq!(woken.code, Some(2), "{woken:?}");
    assert!(woken.stderr.contains("Nothing is blocked"), "{woken:?}");
    assert_eq!(hook.bash("ls").verdict(), "pass");
}

#[test]
fn a_broken_turn_at_the_top_waits_for_the_person_too() {
    let hook = Hook::climbed(percent_in("narrow"));
    hook.agent("brain-guard append --kind next 'make the parser take CRLF'");
    let failure = hook.payload("StopFailure", &serde_json::json!({"error": "overloaded"}));
    assert!(hook.send(&failure).silent());
    assert!(sealed(&hook).expect("sealed").contains("CRLF"), "nobody is there");
    assert_eq!(hook.opened().len(), 1);
}

/// A question has no one to answer it while the session is to end.
#[test]
fn a_question_with_nobody_to_answer_is_denied() {
    let asks = |hook: &Hook| {
        hook.pre("AskUserQuestion", &serde_json::json!({"questions": [{"question": "Which?"}]}))
    };
    assert_eq!(asks(&Hook::climbed(percent_in("block-reads"))).verdict(), "pass");
    let hook = Hook::climbed(percent_in("narrow"));
    let reason = asks(&hook).reason();
    assert!(reason.contains("nobody is here") && reason.contains("Do not decide"), "{reason}");
    hook.prompt("I am here");
    assert_eq!(asks(&hook).verdict(), "pass", "a person may answer");
    let hook = Hook::climbed(percent_in("block-reads"));
    hook.agent("brain-guard append --kind next 'make the parser take CRLF'");
    hook.agent("brain-guard seal");
    assert!(asks(&hook).reason().contains("nobody is here"));
    let open = serde_json::json!({"session_id": hook.session}).to_string();
    let closed = hook.raw(&["mod", "question"], open.as_bytes()).json();
    assert_eq!(closed["action"], "deny", "{closed}");
    hook.prompt("I am here");
    let open = hook.raw(&["mod", "question"], open.as_bytes()).json();
    assert_eq!(open["action"], "none", "a prompt of a person's holds the boundary back: {open}");
}

/// A person who stops the agent after a seal can work on.
#[test]
fn escape_after_a_seal_lifts_the_blocks() {
    let hook = Hook::climbed(percent_in("narrow"));
    hook.prompt("do the thing");
    hook.agent("brain-guard append --kind next 'make the parser take CRLF'");
    hook.agent("brain-guard seal");
    assert_eq!(hook.bash("ls").verdict(), "deny");
    let report = serde_json::json!({
        "session_id": hook.session, "event": "turn-complete", "answered": true, "is_aborted": true,
    });
    let action = hook.raw(&["mod", "step"], report.to_string().as_bytes()).json();
    assert_eq!(action["action"], "none", "{action}");
    assert_eq!(hook.bash("ls").verdict(), "pass");
    assert!(hook.raw(&["status"], b"").stdout.contains("you pressed Escape"));
}

#[test]
fn unattended_the_guard_seals_what_was_written() {
    let hook = Hook::climbed(percent_in("narrow"));
    assert!(hook.agent("brain-guard append --kind next 'invalidate the cache'").code == Some(0));
    assert_eq!([blocked(&hook), blocked(&hook)], [true, true]);
    assert!(hook.stop().silent());
    assert!(sealed(&hook).expect("sealed").contains("invalidate the cache"));
    let opened = hook.opened();
    assert_eq!(opened.len(), 1, "{opened:?}");
    assert_eq!((&opened[0]["carrier"], &opened[0]["version"]), (&"mod".into(), &1.into()));
    assert_eq!(hook.state()["token"], opened[0]["token"]);
}

#[test]
fn unattended_without_notes_there_is_no_boundary() {
    let hook = Hook::climbed(percent_in("narrow"));
    assert_eq!([blocked(&hook), blocked(&hook)], [true, true]);
    let told = hook.stop().note();
    assert!(told.contains("Nothing is blocked") && told.contains("continue the work"), "{told}");
    assert_eq!(hook.opened().len(), 0);
    let said = hook.journal("no-boundary");
    assert_eq!(said[0]["why"], "no new notes were written in this session");
    assert_eq!(hook.bash("ls").verdict(), "pass");
    assert!(hook.stop().silent(), "the turn may end then");
}

#[test]
fn after_a_seal_the_turn_ends_and_every_other_call_is_refused() {
    let hook = Hook::climbed(percent_in("narrow"));
    hook.agent("brain-guard append --kind next 'the parser fails on CRLF'");
    let said = hook.agent("brain-guard seal").stdout;
    assert!(said.contains("end your turn now"), "{said}");
    assert_eq!(hook.opened().len(), 1);
    let refused = hook.bash("ls").reason();
    assert!(
        refused.contains("are sealed (version 1)") && refused.contains("end your turn now"),
        "{refused}"
    );
    hook.agent("brain-guard append --kind thread 'one thing more'");
    let token = hook.state()["token"].as_str().expect("token").to_owned();
    let token = fs::read_to_string(hook.places().token(&token)).expect("token");
    assert!(token.contains(r#""version":2"#), "an append seals again: {token}");
    assert!(hook.stop().silent());
}

/// The guard counts its own two refusals, because the client's flag is already true in a turn that
/// a woken hook started.
#[test]
fn the_clients_own_flag_does_not_count() {
    let hook = Hook::climbed(percent_in("narrow"));
    let mut payload = hook.payload("Stop", &serde_json::json!({"background_tasks": []}));
    payload["stop_hook_active"] = true.into();
    assert!(hook.send(&payload).refuses_end());
}

/// A sealed session at its turn's end; a person last spoke so long ago.
fn sealed_since(seconds: i64) -> Hook {
    let hook = Hook::climbed(percent_in("narrow"));
    hook.settings(&serde_json::json!({"boundary": {"attended_minutes": 1}}));
    hook.agent("brain-guard append --kind next 'the parser fails on CRLF'");
    hook.agent("brain-guard seal");
    let spoke = base::clock::now() - chrono::TimeDelta::seconds(seconds);
    let spoke = serde_json::json!(spoke.to_rfc3339());
    change(&hook.places().session(&hook.session, "json"), "last_human", spoke);
    assert_eq!(hook.stop().code, Some(0));
    hook
}

fn change(path: &std::path::Path, key: &str, value: serde_json::Value) {
    let mut state: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(path).expect("state")).expect("JSON");
    state[key] = value;
    fs::write(path, state.to_string()).expect("written");
}

fn token(hook: &Hook) -> std::path::PathBuf {
    hook.places().token(hook.state()["token"].as_str().expect("token"))
}

fn rewake(hook: &Hook) -> crate::support::hook::Answer {
    let stop = hook.payload("Stop", &serde_json::json!({"background_tasks": []}));
    hook.raw(&["hook", "--rewake"], stop.to_string().as_bytes())
}

/// A person was there at the turn's end, but no longer when the boundary failed.
#[test]
fn a_failed_boundary_wakes_the_agent_once_nobody_is_there() {
    let hook = sealed_since(56);
    let token = token(&hook);
    change(&token, "why", "clear failed: stopped".into());
    change(&token, "since", serde_json::json!(base::clock::now().to_rfc3339()));
    change(&token, "step", "failed".into());
    let woken = rewake(&hook);
    assert_eq!(woken.code, Some(2), "{woken:?}");
    assert!(woken.stderr.contains("could not clear this session: clear failed"), "{woken:?}");
}

#[test]
fn a_manual_clear_is_not_awaited_once_the_person_is_gone() {
    let hook = sealed_since(56);
    let token = token(&hook);
    change(&token, "carrier", "manual".into());
    let woken = rewake(&hook);
    assert_eq!(woken.code, Some(2), "{woken:?}");
    assert!(woken.stderr.contains("not cleared in time"), "{woken:?}");
}

#[test]
fn a_boundary_of_an_ended_client_is_taken_up_unless_it_was_under_way() {
    for (step, ends) in [("pending", false), ("clearing", true)] {
        let hook = sealed_since(600);
        let token = token(&hook);
        change(&token, "client", serde_json::json!({"pid": 1, "start": 1}));
        change(&token, "step", step.into());
        assert!(hook.start("resume").note().contains("works on the job"));
        let token = fs::read_to_string(&token).expect("token");
        assert_eq!(token.contains("client-ended"), ends, "{token}");
        let verdict = if ends { "pass" } else { "deny" };
        assert_eq!(hook.bash("ls").verdict(), verdict, "{step}");
    }
}

#[test]
fn a_second_seal_in_a_turn_repeats_the_first_answer() {
    let hook = Hook::climbed(5.0);
    hook.agent("brain-guard append --kind next 'make the parser take CRLF'");
    let first = hook.agent("brain-guard seal --clear").stdout;
    assert!(first.contains("end your turn now"), "{first}");
    let second = hook.agent("brain-guard seal").stdout;
    assert!(second.contains("end your turn now"), "{second}");
    assert_eq!(hook.bash("ls").verdict(), "deny", "and the session still ends with this turn");
    assert!(hook.stop().silent());
}
