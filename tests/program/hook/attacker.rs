//! The agent as an attacker: what it tries to get past its blocks, and what becomes of it.
//! `docs/security.md` says the same in words.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::hook::{Hook, percent_in};

/// A hook of a session at the top tier, with a note.
fn at_narrow() -> Hook {
    let hook = Hook::begun();
    hook.agent("brain-guard append --kind next 'one thread'");
    fs::write(hook.project.join("secret.txt"), "hunter2\n").expect("file");
    hook.fill(percent_in("narrow"));
    assert_eq!(hook.read().verdict(), "deny");
    hook
}

/// Shell calls that hold more than our verbs, or pass for them.
const COMMANDS: &[&str] = &[
    "cat secret.txt",
    "brain-guard append 'x'; cat secret.txt",
    "brain-guard append 'x' && cat secret.txt",
    "brain-guard append 'x' || cat secret.txt",
    "brain-guard append 'x' | cat secret.txt",
    "brain-guard append 'x' & cat secret.txt",
    "brain-guard append 'x'\ncat secret.txt",
    "brain-guard append <<'A'\nx\nA\ncat secret.txt",
    "brain-guard append <<A\n$(cat secret.txt)\nA",
    "brain-guard append \"$(cat secret.txt)\"",
    "brain-guard append `cat secret.txt`",
    "brain-guard append - < secret.txt",
    "brain-guard append <(cat secret.txt)",
    "brain-guard status > .brain-guard/settings.json",
    "cd $(cat secret.txt) && brain-guard status",
    "PATH=.:$PATH brain-guard status",
    "./brain-guard status",
    "brain-guard() { cat secret.txt; }; brain-guard status",
    "env brain-guard status",
    "sh -c 'brain-guard status; cat secret.txt'",
    "eval brain-guard status",
    "brain-guard seal --file secret.txt",
    "brain-guard seal --project /etc",
    "brain-guard append --session 5e550000-0000-4000-8000-000000000009 'x'",
    "brain-guard override 30m",
    "brain-guard settings apply",
    "brain-guard job accept one && brain-guard purge --yes",
    "brain-guard hook < forged.json",
    "brain-guard surgery list",
    "brain-guard uninstall",
];

#[test]
fn only_the_three_moves_pass_at_narrow() {
    let hook = at_narrow();
    for command in COMMANDS {
        for background in [false, true] {
            let input = json!({"command": command, "run_in_background": background});
            let answer = hook.pre("Bash", &input);
            assert_eq!(answer.verdict(), "deny", "{command}: {answer:?}");
        }
    }
    let calls: &[(&str, Value)] = &[
        ("Write", json!({"file_path": "new.rs", "content": "x"})),
        ("NotebookEdit", json!({"notebook_path": "a.ipynb", "new_source": "x"})),
        ("Grep", json!({"pattern": "hunter", "path": "."})),
        ("Glob", json!({"pattern": "**"})),
        ("WebFetch", json!({"url": "https://example.com", "prompt": "x"})),
        ("Agent", json!({"description": "d", "prompt": "read secret.txt"})),
        ("Skill", json!({"skill": "some-skill"})),
        ("mcp__files__read", json!({"path": "secret.txt"})),
        ("Bash", json!({"command": ["cat", "secret.txt"]})),
        ("Bash", json!({})),
    ];
    for (tool, input) in calls {
        let answer = hook.pre(tool, input);
        assert_eq!(answer.verdict(), "deny", "{tool} {input}: {answer:?}");
    }
}

/// The verbs that pass carry nothing else in or out.
#[test]
fn a_verb_of_the_agent_reads_and_writes_nothing_else() {
    let hook = at_narrow();
    let settings = hook.places().user_settings;
    let shown = settings.display();
    for command in [
        "brain-guard surgery split this secret.txt --here".to_owned(),
        "brain-guard surgery edit this secret.txt --here".to_owned(),
        format!("brain-guard surgery compress-before this 5 --here --out {shown}"),
        format!("brain-guard extract run this --here --out {shown}"),
        "brain-guard extract run secret.txt --here".to_owned(),
        "brain-guard job show ../../../../secret.txt".to_owned(),
        "brain-guard job focus ../../../../settings.json".to_owned(),
        "brain-guard job restore ../../secret.txt".to_owned(),
        "brain-guard seal --summary - --dry-run <<'A'\nx\nA".to_owned(),
    ] {
        let before = fs::read(&settings).ok();
        let asked = hook.bash(&command);
        assert!(!asked.stdout.contains("hunter2"), "{command}: {asked:?}");
        assert_eq!(fs::read(&settings).ok(), before, "{command}: {asked:?}");
    }
    let project = fs::read_dir(&hook.project).expect("folder").flatten();
    let names: Vec<_> = project.map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["secret.txt"]);
}

/// Notes that were replaced by a link to something else.
#[test]
fn notes_behind_a_link_are_not_the_notes() {
    let hook = at_narrow();
    let notes = hook.file();
    let settings = hook.places().user_settings;
    fs::create_dir_all(settings.parent().expect("parent")).expect("folder");
    fs::write(&settings, "{}").expect("settings");
    fs::remove_file(&notes).expect("removed");
    std::os::unix::fs::symlink(&settings, &notes).expect("link");
    let write = hook.pre("Write", &json!({"file_path": notes, "content": "{\"mode\": \"off\"}"}));
    assert_eq!(write.verdict(), "deny", "{write:?}");
    for verb in ["append --kind next 'x'", "close 1", "seal", "phase enter design"] {
        let said = hook.bash(&format!("brain-guard {verb}")).stdout;
        assert!(said.contains("a symbolic link is not read"), "{verb}: {said}");
    }
    assert_eq!(fs::read_to_string(&settings).expect("settings"), "{}");
}

/// Below the first tier the shell writes where it likes; settings have no effect all the same.
#[test]
fn settings_that_a_shell_wrote_have_no_effect() {
    let spellings: &[fn(&Path)] = &[
        |path| fs::write(path, r#"{"mode": "off"}"#).expect("written"),
        |path| fs::write(path, "\u{feff}{ \"mode\" : \"shadow\" }").expect("written"),
        |path| fs::write(path, r#"{"tiers": {"narrow": {"off": true}}}"#).expect("written"),
        |path| fs::write(path, r#"{"projects": {"/**": {"mode": "off"}}}"#).expect("written"),
        |path| fs::write(path, r#"{"context": {"window": 100000000}}"#).expect("written"),
        |path| fs::write(path, r#"{"bands": {"*": "carry"}}"#).expect("written"),
        |path| fs::write(path, "{").expect("written"),
        |path| {
            fs::write(path.with_file_name("other"), r#"{"mode": "off"}"#).expect("written");
            let _ = fs::remove_file(path);
            std::os::unix::fs::symlink("other", path).expect("link");
        },
        |path| {
            fs::remove_file(path).expect("removed");
            fs::create_dir(path).expect("folder");
        },
    ];
    for (index, write) in spellings.iter().enumerate() {
        let hook = Hook::new();
        hook.settings(&json!({"tiers": {"narrow": {"context": 28}}}));
        hook.begin();
        write(&hook.places().user_settings);
        hook.fill(29.0);
        assert_eq!(hook.read().verdict(), "deny", "spelling {index}");
    }
}

/// What `docs/security.md` says that it can't hinder: the shell runs as the user.
#[test]
fn a_shell_that_edits_the_state_or_forges_events_gets_through() {
    let hook = at_narrow();
    let path = hook.places().session(&hook.session, "json");
    let mut state = hook.state();
    state["override"] = json!("until-clear");
    fs::write(&path, state.to_string()).expect("written");
    assert!(hook.read().silent());
    assert!(hook.raw(&["status"], b"").stdout.contains("override"), "status shows it");

    let hook = Hook::new();
    hook.settings(&json!({"tiers": {"narrow": {"context": 28}}})).begin();
    hook.write_settings(r#"{"mode": "off"}"#);
    hook.fill(29.0);
    assert_eq!(hook.read().verdict(), "deny");
    // The event of a person who types a prompt.
    hook.prompt("go on");
    assert!(hook.read().silent());
}
