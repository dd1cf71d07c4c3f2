//! `notes`: printed, and edited by a person while the agent writes.

use std::fs;
use std::process::Command;

use crate::hook::operator::{Client, in_another_client};
use crate::support::hook::{Answer, Hook, PROGRAM, finish};

/// A session of another client that has written a note.
fn session() -> (Client, Hook) {
    let (hook, client) = in_another_client();
    let first = hook.raw(&["append", "--kind", "risk", "the cache"], b"");
    assert_eq!(first.code, Some(0), "{first:?}");
    (client, hook)
}

/// Edits the notes as a person does, with an editor that is a line of shell. `$AGENT` runs a verb as
/// the agent.
fn edit(hook: &Hook, editor: &str) -> Answer {
    let script = hook.home.join("editor");
    let own: Vec<String> =
        hook.variables().iter().map(|(name, value)| format!("{name}='{value}'")).collect();
    let agent = format!("AGENT=\"env {} {PROGRAM}\"", own.join(" ").replace('\'', ""));
    fs::write(&script, format!("{agent}\n{editor}\n")).expect("editor");
    let mut command = Command::new(PROGRAM);
    command
        .args(["notes", "--edit"])
        .current_dir(&hook.project)
        .env_clear()
        .envs(hook.variables())
        .env("EDITOR", format!("sh {}", script.display()));
    for name in ["CLAUDECODE", "CLAUDE_PID", "CLAUDE_CODE_SESSION_ID", "BRAIN_GUARD_MOD"] {
        command.env(name, "");
    }
    finish(command, b"")
}

fn printed(hook: &Hook) -> String {
    let answer = hook.raw(&["notes"], b"");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    answer.stdout
}

#[test]
fn notes_says_where_they_are_and_what_they_hold() {
    let (_client, hook) = session();
    let text = printed(&hook);
    assert!(text.starts_with("notes of ") && text.contains("the cache"), "{text}");
    let json = hook.raw(&["notes", "--json"], b"").json();
    let path = json["path"].as_str().expect("a path");
    assert_eq!(json["text"].as_str(), Some(&*fs::read_to_string(path).expect("the notes")));
    let refused = hook.raw(&["notes", "--edit"], b"");
    assert!(refused.code == Some(1) && refused.stderr.contains("only the user"), "{refused:?}");
}

/// In each round, the agent adds an entry to the same section while the editor is open, and
/// sometimes seals.
#[test]
fn a_person_and_the_agent_lose_nothing_of_each_other() {
    let (_client, hook) = session();
    for n in 0..50 {
        let seal = if n % 7 == 6 { "$AGENT seal --no-clear >/dev/null || exit 9" } else { "" };
        let editor = format!(
            "sed -i 's/^\\(- the cache.*\\)$/\\1\\n- person-{n}/' \"$1\"\n$AGENT append --kind risk agent-{n} >/dev/null\n{seal}"
        );
        let done = edit(&hook, &editor);
        assert_eq!(done.code, Some(0), "{n}: {done:?}");
    }
    let text = printed(&hook);
    for n in 0..50 {
        for who in ["person", "agent"] {
            assert!(text.contains(&format!("{who}-{n}")), "{who}-{n}: {text}");
        }
    }
}

#[test]
fn a_line_that_both_changed_is_not_overwritten() {
    let (_client, hook) = session();
    let editor = "sed -i 's/the cache/the cache of mine/' \"$1\"\nsed -i 's/the cache/the cache of theirs/' $(find ~ -name compaction.md)";
    let both = edit(&hook, editor);
    assert!(both.code == Some(1) && both.stdout.contains("the draft has both"), "{both:?}");
    let text = printed(&hook);
    assert!(text.contains("of theirs") && !text.contains("of mine"), "{text}");
    let again = edit(&hook, ":");
    assert!(again.code == Some(1) && again.stderr.contains("draft.md"), "{again:?}");
}

#[test]
fn an_edit_beside_a_seal_is_in_what_the_fresh_session_gets() {
    let (_client, hook) = session();
    let seal = "$AGENT append --kind next 'go on' >/dev/null || exit 8\n$AGENT seal --clear >/dev/null || $AGENT seal --clear >/dev/null || exit 9";
    let editor = format!("sed -i 's/the cache/the cache, says a person/' \"$1\"\n{seal}");
    let done = edit(&hook, &editor);
    assert_eq!(done.code, Some(0), "{done:?}");
    let status = hook.raw(&["status", "--json"], b"").json();
    let sealed = status["boundary"]["sealed"].as_str().unwrap_or_else(|| panic!("{status}"));
    let text = fs::read_to_string(sealed).expect("the sealed version");
    assert!(text.contains("says a person"), "{text}");
}

#[test]
fn a_draft_that_is_emptied_or_removed_changes_nothing() {
    let (_client, hook) = session();
    let before = printed(&hook);
    for editor in [": > \"$1\"", "rm \"$1\""] {
        let done = edit(&hook, editor);
        assert!(done.code == Some(1) && done.stdout.contains("nothing was written"), "{done:?}");
        assert_eq!(printed(&hook), before);
    }
}
