//! Two copies of the plugin in one client: one acts in a session, the other stays silent, and takes
//! the session over once the first is gone.

use std::fs;
use std::path::PathBuf;

use base::clock;
use guard::files::state;
use serde_json::{Value, json};

use crate::harness::{Hook, percent_in};

const ROOT: &str = "CLAUDE_PLUGIN_ROOT";

/// Makes a copy's folder below the user's home.
fn folder(hook: &Hook, path: &str) -> PathBuf {
    let folder = hook.home.join(path);
    fs::create_dir_all(&folder).expect("folder");
    folder
}

/// The same session in the same client, as the hooks of the copy in this folder see it.
fn copy(hook: &Hook, path: &str) -> Hook {
    let mut copy = hook.beside(&hook.session, std::process::id());
    copy.set(ROOT, folder(hook, path).to_str().expect("utf-8"));
    copy
}

const INSTALLED: &str = ".local/share/brain-guard/current";
const CACHED: &str = ".claude/plugins/cache/acme/brain-guard/0.1.0";

/// A session of the installed copy, and the copy from a marketplace beside it.
fn both() -> (Hook, Hook) {
    let mut hook = Hook::new();
    let root = folder(&hook, INSTALLED);
    hook.set(ROOT, root.to_str().expect("utf-8"));
    hook.begin();
    let other = copy(&hook, CACHED);
    (hook, other)
}

fn acting(hook: &Hook) -> String {
    hook.state()["copy"]["root"].as_str().expect("a copy").to_owned()
}

/// The answer to the module of this copy.
fn module(hook: &Hook, verb: &str) -> Value {
    let asked = json!({"session_id": hook.session}).to_string();
    hook.raw(&["mod", verb], asked.as_bytes()).json()
}

/// Makes the acting copy's last answer older than any event of this test.
fn long_ago(hook: &Hook) {
    state::update(&hook.places(), &hook.session, |s| {
        let copy = s.copy.as_mut().expect("a copy");
        copy.answered = clock::now() - chrono::TimeDelta::minutes(1);
    })
    .expect("written");
}

#[test]
fn one_copy_acts_and_the_other_is_silent_at_every_event() {
    let (first, second) = both();
    first.fill(percent_in("narrow"));
    for source in ["startup", "resume", "compact", "clear"] {
        assert!(second.start(source).silent(), "{source}");
    }
    for answer in [second.prompt("go on"), second.read(), second.batch(), second.stop()] {
        assert!(answer.silent(), "{answer:?}");
    }
    for role in [&["hook", "--rewake"][..], &["hook", "--piece", "2"]] {
        let stop = second.payload("Stop", &json!({"background_tasks": []}));
        assert!(second.raw(role, stop.to_string().as_bytes()).silent(), "{role:?}");
    }
    let typed = json!({"command_name": "brain-guard:status", "command_args": ""});
    assert!(second.send(&second.payload("UserPromptExpansion", &typed)).silent());
    assert_eq!(module(&second, "strip"), json!({"action": "none", "acts": false}));

    assert_eq!(acting(&first), first.home.join(INSTALLED).to_str().expect("utf-8"));
    assert_eq!(first.read().verdict(), "deny");
    assert_eq!(module(&first, "strip")["acts"], true);
    let claims = fs::read_dir(first.places().state.join("claims")).expect("claims");
    assert_eq!(claims.count(), 1, "the silent copy claimed no job");
}

#[test]
fn copies_that_start_together_claim_the_session_once() {
    let mut hook = Hook::new();
    let root = folder(&hook, INSTALLED);
    hook.set(ROOT, root.to_str().expect("utf-8"));
    let copies: Vec<Hook> = (0..6).map(|n| copy(&hook, &format!("copies/{n}"))).collect();
    std::thread::scope(|scope| {
        for copy in &copies {
            scope.spawn(|| assert!(copy.start("startup").silent()));
        }
    });
    hook.fill(5.0);
    assert!(copies.iter().all(|copy| copy.read().silent()));
    hook.fill(percent_in("narrow"));
    let denials = copies.iter().filter(|copy| copy.read().verdict() == "deny").count();
    assert_eq!(denials, 1);
    let claims = fs::read_dir(hook.places().state.join("claims")).expect("claims");
    assert_eq!(claims.count(), 1);
}

#[test]
fn a_session_is_taken_over_once_the_folder_of_its_copy_is_gone() {
    let (first, second) = both();
    second.fill(percent_in("narrow"));
    assert!(second.read().silent());
    fs::remove_dir_all(first.home.join(INSTALLED)).expect("removed");
    assert_eq!(second.read().verdict(), "deny");
    assert_eq!(acting(&second), second.home.join(CACHED).to_str().expect("utf-8"));
    assert!(first.read().silent());
}

#[test]
fn a_session_is_taken_over_after_a_prompt_that_its_copy_did_not_handle() {
    let (first, second) = both();
    first.fill(percent_in("narrow"));
    long_ago(&first);
    // A pause alone says nothing: the second copy saw no prompt either.
    assert!(second.read().silent());
    assert!(second.prompt("/brain-guard:status").silent());
    assert!(second.read().silent(), "no turn starts with this prompt");
    first.prompt("go on");
    assert!(second.prompt("go on").silent());
    assert!(second.read().silent(), "the first copy handled this prompt");

    long_ago(&first);
    assert!(second.prompt("and on").silent());
    assert_eq!(second.read().verdict(), "deny");
    assert!(first.read().silent());
}

#[test]
fn a_resumed_session_belongs_to_the_copy_that_its_new_client_has() {
    let (first, mut second) = both();
    second.set("CLAUDE_PID", "1");
    second.start("resume");
    assert_eq!(acting(&first), second.home.join(CACHED).to_str().expect("utf-8"));
    let mut first = first;
    first.set("CLAUDE_PID", "1");
    first.fill(percent_in("narrow"));
    assert!(first.start("resume").silent() && first.read().silent());
}

#[test]
fn an_updated_copy_goes_on_in_its_session() {
    let mut hook = Hook::new();
    let old = folder(&hook, CACHED);
    hook.set(ROOT, old.to_str().expect("utf-8"));
    hook.begin();
    hook.fill(percent_in("narrow"));
    let new = copy(&hook, &CACHED.replace("0.1.0", "0.2.0"));
    assert_eq!(new.read().verdict(), "deny");
    assert!(acting(&new).ends_with("0.2.0"));
    fs::remove_dir_all(old).expect("removed");
    assert_eq!(new.read().verdict(), "deny");
    assert_eq!(hook.read().verdict(), "deny", "the client still fires the old hooks");
}

#[test]
fn the_next_session_of_a_client_belongs_to_the_same_copy() {
    let (first, second) = both();
    let cleared = |of: &Hook| {
        let mut next = of.beside("5e550000-0000-4000-8000-000000000002", std::process::id());
        next.set(ROOT, of.variables()[ROOT].clone().as_str());
        next
    };
    let (first, second) = (cleared(&first), cleared(&second));
    assert!(second.start("clear").silent());
    assert!(!first.places().session(&first.session, "json").exists());
    assert!(!first.start("clear").silent());
    assert_eq!(acting(&first), first.variables()[ROOT]);
    first.fill(percent_in("narrow"));
    assert!(second.read().silent());
}

#[test]
fn a_session_without_a_copy_belongs_to_the_first_one_that_is_asked() {
    let (first, second) = both();
    first.fill(percent_in("narrow"));
    state::update(&first.places(), &first.session, |s| s.copy = None).expect("written");
    assert_eq!(second.read().verdict(), "deny");
    assert!(first.read().silent());
    let mut by_hand = second;
    by_hand.set(ROOT, "");
    assert_eq!(by_hand.read().verdict(), "deny", "no client, so no other copy");
}
