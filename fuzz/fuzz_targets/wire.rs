//! A payload through the whole hook, in a session in the last tier. The answer is valid for the
//! client, and denies only when asked.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use base::clock::Time;
use base::env::Env;
use base::paths::Places;
use guard::hook::{self, Program, Role};
use guard::session::reach::{Reach, Way};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

const SESSION: &str = "5e550000-0000-4000-8000-000000000001";

/// No terminal, and no command that a person could type.
const NO_PROGRAM: Program = Program {
    find_terminals: |_, _| Reach { tmux: Way::Shut(String::new()), x11: Way::Shut(String::new()) },
    answer_command: |_, _, _| None,
    on_session_start: |_, _| None,
    run_verbs: |_, _, _| Vec::new(),
};

struct World {
    env: Env,
    now: Time,
    state: PathBuf,
    session: String,
}

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let root = std::env::temp_dir().join(format!("brain-guard-fuzz-wire-{}", std::process::id()));
    let (home, project) = (root.join("home"), root.join("project"));
    fs::create_dir_all(&home).expect("folder");
    fs::create_dir_all(&project).expect("folder");
    let text = |path: &PathBuf| path.to_str().expect("utf-8").to_owned();
    let pid = std::process::id().to_string();
    let env = Env::from_pairs([
        ("HOME", &text(&home)),
        ("CLAUDECODE", "1"),
        ("CLAUDE_PROJECT_DIR", &text(&project)),
        ("CLAUDE_PID", &pid),
        ("CLAUDE_CODE_SESSION_ID", SESSION),
        ("CLAUDE_CODE_SESSION_ATTENDED", "1"),
        ("BRAIN_GUARD_MOD", &format!("{}:{pid}", env!("CARGO_PKG_VERSION"))),
    ]);
    let now = "2026-11-21T03:00:00Z".parse().expect("a time");
    let transcript = home.join("t.jsonl");
    let row = json!({"type": "assistant", "isSidechain": false, "timestamp": "2026-11-21T02:16:25.315Z",
        "message": {"id": "m1", "model": "claude-opus-5-5", "role": "assistant", "content": [],
            "usage": {"input_tokens": 7, "cache_read_input_tokens": 600_000, "output_tokens": 100}}});
    fs::write(&transcript, format!("{row}\n")).expect("transcript");
    let session =
        json!({"job": "a-job", "started": "2026-11-21T02:00:00Z", "transcript": transcript});
    let places = Places::for_project(&env, &project).expect("places");
    places.ensure_state().expect("state");
    World { env, now, state: places.session(SESSION, "json"), session: session.to_string() }
});

fuzz_target!(|data: &[u8]| {
    // The hook skips bytes that are no text in fields it does not read.
    let asked: Value = serde_json::from_str(&String::from_utf8_lossy(data)).unwrap_or_default();
    // A turn's end may start a process: this program, with unsuitable arguments.
    if asked["hook_event_name"].as_str().is_some_and(|name| name.starts_with("Stop")) {
        return;
    }
    fs::write(&WORLD.state, &WORLD.session).expect("state");
    let reply = hook::run(Role::Main, data, &WORLD.env, WORLD.now, NO_PROGRAM);
    let Some(answer) = reply.json() else { return };
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let specific = &answer["hookSpecificOutput"];
    if specific["permissionDecision"] != Value::Null {
        assert_eq!(specific["hookEventName"], "PreToolUse");
        assert_eq!(asked["hook_event_name"], "PreToolUse");
    }
});
