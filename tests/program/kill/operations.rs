//! The operations to kill: every writing verb and hook, each from a state in which it has
//! everything to do.

use std::fs;
use std::path::PathBuf;

use base::clock;
use guard::files::state;
use serde_json::{Value, json};

use crate::kill::installing;
use crate::kill::play::play;
use crate::kill::sessions::{
    begun, clearing, messy, moved, named, next, ok, pending, report, sealed, submitting, worked,
};
use crate::support::hook::{Hook, percent_in};
use crate::support::trace::Run;

/// An operation, ready to run.
pub struct Operation {
    pub hook: Hook,
    pub run: Run,
    /// Whether a session must answer `status` and `PreToolUse` afterwards.
    pub session: bool,
}

/// A test for each operation.
macro_rules! killed {
    ($($name:ident: $operation:expr;)+) => {
        $(#[test]
        fn $name() {
            let faults = play(&$operation);
            assert!(faults.is_empty(), "{}", faults.join("\n"));
        })+
    };
}

mod kills {
    use super::*;

    killed! {
        append_the_first: super::first_append();
        append: verb(worked(), &["append", "--kind", "risk", "the cache is never invalidated"]);
        append_after_a_seal: super::append_after_seal();
        close: super::close();
        seal_that_asks: seal_of(messy());
        seal: super::answered_seal();
        seal_the_second: super::second_seal();
        pretooluse_of_a_seal: super::executed_seal();
        stop_behind_a_seal: super::stop_behind_seal();
        stop_that_seals_itself: super::stop_that_seals();
        module_the_turn_end: step(pending(), "turn-complete");
        module_cut_the_turn: super::gate();
        sessionstart_clear_module: start_clear(clearing());
        module_submitted: step(submitting(), "submitted");
        pretooluse_that_acknowledges: super::acknowledges();
        sessionstart_clear_by_hand: super::cleared_by_hand();
        pretooluse_at_a_tier: super::at_a_tier();
        override_for_a_time: operator(&["override", "30m"]);
        override_off: super::override_off();
        purge: super::purge();
        userpromptsubmit: super::prompt();
        precompact: super::compaction();
        sessionstart_startup: super::startup();
        job_focus_a_name_for_the_default: verb(worked(), &["job", "focus", "parser"]);
        job_focus_another: verb(named(), &["job", "focus", "docs"]);
        stop_behind_a_focus: super::stop_behind_focus();
        job_pause: verb(named(), &["job", "pause"]);
        job_resume: super::resume();
        job_complete: super::complete();
        job_restore: super::restore();
        phase_enter: verb(worked(), &["phase", "enter", "design", "--coach", "look twice"]);
        phase_exit: super::phase_exit();
        install_the_first: installing::first();
        install_another_release: installing::another();
        uninstall: installing::uninstalled();
    }
}

fn with(hook: Hook, args: &[&str], stdin: &str) -> Operation {
    let run = Run::of(&hook.command(args), stdin.as_bytes());
    Operation { hook, run, session: true }
}

fn verb(hook: Hook, args: &[&str]) -> Operation {
    let session = hook.session.clone();
    with(hook, &[args, &["--session", &session]].concat(), "")
}

fn event(hook: Hook, payload: &Value) -> Operation {
    with(hook, &["hook"], &payload.to_string())
}

fn step(hook: Hook, what: &str) -> Operation {
    let text = report(&hook, what).to_string();
    with(hook, &["mod", "step"], &text)
}

fn first_append() -> Operation {
    verb(begun(), &["append", "the parser still fails on CRLF"])
}

fn append_after_seal() -> Operation {
    let mut operation = seal_of(worked());
    ok(&operation.run.plainly());
    operation = verb(operation.hook, &["append", "one more thread"]);
    operation
}

fn close() -> Operation {
    let hook = worked();
    let text = fs::read_to_string(hook.file()).expect("file");
    let shape = notes::compaction::Shape::default();
    let document = notes::compaction::parse(&text, &shape);
    let id = document.entries().next().expect("an entry").id.to_string();
    verb(hook, &["close", &id])
}

fn seal_of(hook: Hook) -> Operation {
    verb(hook, &["seal", "--clear", "--summary", "the parser is done"])
}

/// The second seal, with the summary that the first one asked for.
fn answered_seal() -> Operation {
    let asked = seal_of(messy());
    assert_eq!(asked.run.plainly().code, Some(1));
    seal_of(asked.hook)
}

fn second_seal() -> Operation {
    let hook = sealed();
    ok(&hook.agent("brain-guard append 'one more thread'"));
    verb(hook, &["seal", "--clear"])
}

/// A seal that the hook executes.
fn executed_seal() -> Operation {
    let hook = worked();
    let command = "brain-guard seal --clear --summary 'the parser is done'";
    let payload = hook.call("Bash", &json!({"command": command}));
    event(hook, &payload)
}

fn stopped(hook: Hook) -> Operation {
    let payload = hook.payload("Stop", &json!({"background_tasks": []}));
    event(hook, &payload)
}

fn stop_behind_seal() -> Operation {
    stopped(sealed())
}

fn stop_that_seals() -> Operation {
    let hook = worked();
    for _ in 0..2 {
        assert!(hook.stop().refuses_end());
    }
    stopped(hook)
}

fn gate() -> Operation {
    let hook = pending();
    let asked =
        json!({"session_id": hook.session, "tool_name": "Bash", "tool_input": {"command": "ls"}});
    with(hook, &["mod", "gate"], &asked.to_string())
}

fn start_clear(hook: Hook) -> Operation {
    let hook = next(hook);
    let payload = hook.payload("SessionStart", &json!({"source": "clear"}));
    event(hook, &payload)
}

fn acknowledges() -> Operation {
    let hook = submitting();
    assert_eq!(moved(&hook, "submitted"), "none");
    let payload = hook.call("Read", &json!({"file_path": "/etc/hostname"}));
    event(hook, &payload)
}

fn cleared_by_hand() -> Operation {
    let mut hook = worked();
    hook.set("BRAIN_GUARD_MOD", "");
    hook.prompt("Make the importer fit for the new ledger.");
    ok(&hook.raw(&["seal", "--clear", "--session", &hook.session], b""));
    ok(&hook.stop());
    start_clear(hook)
}

fn at_a_tier() -> Operation {
    let hook = begun();
    hook.fill(percent_in("narrow"));
    let payload = hook.call("Read", &json!({"file_path": "/etc/hostname"}));
    event(hook, &payload)
}

fn operator(args: &[&str]) -> Operation {
    let mut hook = worked();
    // From the operator's own terminal: no ancestor is a client with a session.
    hook.set("CLAUDECODE", "");
    let seat = hook.places().session(&format!("client-{}", std::process::id()), "seat");
    fs::remove_file(seat).expect("a seat");
    verb(hook, args)
}

fn override_off() -> Operation {
    let given = operator(&["override", "--calls", "20"]);
    ok(&given.run.plainly());
    verb(given.hook, &["override", "--off"])
}

/// Purges an ended session; the open one stays.
fn purge() -> Operation {
    let Operation { hook, .. } = operator(&[]);
    let places = hook.places();
    state::update(&places, "ended", |s| {
        (s.job, s.ended) = ("done".into(), Some(clock::now()));
    })
    .expect("written");
    state::count_call(&places, "ended").expect("written");
    for path in
        ["outputs/ended/toolu_1.txt", "outputs/ended/toolu_2.txt", "jobs/done/prompts.jsonl"]
    {
        let path = places.state.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, "{}\n").expect("written");
    }
    with(hook, &["purge", "--yes"], "")
}

fn prompt() -> Operation {
    let hook = worked();
    let payload = hook.payload("UserPromptSubmit", &json!({"prompt": "and the docs, please"}));
    event(hook, &payload)
}

fn compaction() -> Operation {
    let hook = worked();
    let payload = hook.payload("PreCompact", &json!({"trigger": "auto"}));
    event(hook, &payload)
}

fn startup() -> Operation {
    let hook = Hook::new();
    let payload = hook.payload("SessionStart", &json!({"source": "startup"}));
    event(hook, &payload)
}

fn stop_behind_focus() -> Operation {
    let hook = named();
    ok(&hook.raw(&["job", "focus", "docs", "--session", &hook.session], b""));
    stopped(hook)
}

fn resume() -> Operation {
    let hook = named();
    ok(&hook.agent("brain-guard job pause"));
    hook.stop();
    verb(hook, &["job", "resume", "parser"])
}

fn complete() -> Operation {
    let hook = named();
    ok(&hook.agent("brain-guard seal --no-clear --summary 'the parser is done'"));
    verb(hook, &["job", "complete"])
}

fn restore() -> Operation {
    let hook = named();
    ok(&hook.agent("brain-guard seal --no-clear --summary 'the parser is done'"));
    ok(&hook.agent("brain-guard append 'one more thread'"));
    verb(hook, &["job", "restore", "parser", "--version", "1"])
}

fn phase_exit() -> Operation {
    let hook = worked();
    ok(&hook.agent("brain-guard phase enter design"));
    let slice = "## Forward State\n- review the schema\n\n## Open Threads\n- none: nothing was left open\n\n\
        ## Assumptions & Risks\n- the feed is sorted\n\n## Process Insight\n- plan smaller\n";
    let session = hook.session.clone();
    with(hook, &["phase", "exit", "--session", &session], slice)
}

/// The folder with only the session's home and project.
pub fn root(hook: &Hook) -> PathBuf {
    hook.home.parent().expect("a root").to_owned()
}
