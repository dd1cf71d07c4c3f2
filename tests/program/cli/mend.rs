//! `mend` without a client: what it writes, and what it refuses.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::cli::verbs::register_client;
use crate::support::hook::Hook;

const ID: &str = "11111111-1111-4111-8111-111111111111";

fn prompt(number: u32, parent: &str) -> String {
    format!(
        r#"{{"parentUuid":{parent},"type":"user","message":{{"role":"user","content":"go {number}"}},"uuid":"{ID}{number}","timestamp":"2026-03-19T10:0{number}:00.000Z","sessionId":"{ID}","cwd":"/w"}}"#
    ) + "\n"
}

fn written(hook: &Hook, text: &str) -> PathBuf {
    let file = hook.places().project.join(format!("{ID}.jsonl"));
    fs::write(&file, text).expect("file");
    file
}

#[test]
fn the_old_session_stays_and_the_new_one_is_whole() {
    let hook = Hook::new();
    let text = [prompt(1, "null"), prompt(2, "\"gone\""), "{\"type\":\"us".to_owned()].concat();
    let file = written(&hook, &text);
    let path = file.to_str().expect("utf-8");
    let found = hook.raw(&["validate", path], b"").stdout;
    assert!(found.contains("`brain-guard mend` makes a session without"), "{found}");
    let dry = hook.raw(&["mend", path, "--dry-run"], b"");
    assert_eq!(dry.code, Some(0), "{dry:?}");
    let expected = [
        "mend 11111111\n",
        "  line 2: it follows a row that is not in the file; now it follows line 1\n",
        "  line 3: a row that was cut off (11 B), left out\n",
        "  before   the client sends round 2 of 2\n",
        "  after    the client sends rounds 1-2 of 2\n",
    ];
    assert!(expected.iter().all(|part| dry.stdout.contains(part)), "{}", dry.stdout);
    let made = hook.raw(&["mend", path, "--json"], b"");
    let made: Value = serde_json::from_str(&made.stdout).expect("JSON");
    assert_eq!((&made["errors"], &made["after"]["sent"]), (&0.into(), &"1-2".into()));
    assert_eq!(fs::read_to_string(&file).expect("the old session"), text);
    let new = made["path"].as_str().expect("a path");
    let again = hook.raw(&["mend", new], b"").stdout;
    assert!(again.starts_with("nothing to mend"), "{again}");
    let sound = hook.raw(&["validate", new], b"");
    assert_eq!(sound.code, Some(0), "{sound:?}");
}

#[test]
fn other_files_are_refused() {
    let hook = Hook::new();
    let file = written(&hook, "{\"type\":\"session\",\"version\":3,\"id\":\"x\"}\n");
    let answer = hook.raw(&["mend", file.to_str().expect("utf-8")], b"");
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(answer.stderr.contains("is not a session of Claude Code"), "{answer:?}");
    let answer = hook.raw(&["mend", "gone.jsonl"], b"");
    assert!(answer.stderr.contains("there is no file gone.jsonl"), "{answer:?}");
}

/// The client's own register says which sessions are open.
#[test]
fn a_session_that_is_open_in_a_client_is_refused() {
    let hook = Hook::new();
    fs::write(&hook.transcript, [prompt(1, "null"), prompt(2, "\"gone\"")].concat()).expect("rows");
    let path = hook.transcript.to_str().expect("utf-8");
    let own = std::process::id();
    let start = base::process::start_time(own).expect("this process runs");
    register_client(&hook.transcript, start);
    let open = hook.raw(&["mend", path], b"");
    assert_eq!(open.code, Some(1), "{open:?}");
    assert!(open.stderr.contains(&format!("the process {own} has the session")), "{open:?}");
    assert_eq!(hook.raw(&["mend", path, "--dry-run"], b"").code, Some(0));
    register_client(&hook.transcript, start + 1);
    assert_eq!(hook.raw(&["mend", path], b"").code, Some(0), "another process of that number");
}

#[test]
fn bytes_that_are_not_utf_8_are_replaced() {
    let hook = Hook::new();
    let mut text = [prompt(1, "null"), prompt(2, "null")].concat().into_bytes();
    let at = text.windows(4).position(|part| part == b"go 2").expect("the second prompt");
    text[at] = 0xff;
    let file = hook.places().project.join(format!("{ID}.jsonl"));
    fs::write(&file, text).expect("file");
    let made = hook.raw(&["mend", file.to_str().expect("utf-8"), "--json"], b"").json();
    assert_eq!(made["findings"][0]["what"], "bytes that are not UTF-8, now U+FFFD", "{made}");
    let new = fs::read_to_string(made["path"].as_str().expect("a path")).expect("UTF-8");
    assert!(new.contains("\u{fffd}o 2"), "{new}");
}

#[test]
fn a_session_that_the_api_refuses_says_so_at_its_start_and_in_its_rounds() {
    let hook = Hook::new();
    let error =
        "API Error: 400 `thinking` blocks in the latest assistant message cannot be modified";
    let answer = serde_json::json!({
        "parentUuid": format!("{ID}1"), "type": "assistant", "uuid": format!("{ID}2"), "sessionId": ID,
        "timestamp": "2026-03-19T10:01:00.000Z", "isApiErrorMessage": true,
        "message": {"role": "assistant", "model": "<synthetic>",
            "content": [{"type": "text", "text": error}]},
    });
    fs::write(&hook.transcript, format!("{}{answer}\n", prompt(1, "null"))).expect("transcript");
    let said = hook.start("resume").user();
    let expected = "this session ended in an API error: the API refuses its thinking. End it, and run `brain-guard mend ";
    assert!(said.contains(expected), "{said}");
    let listed = hook.raw(&["rounds", hook.transcript.to_str().expect("utf-8")], b"").stdout;
    assert!(
        listed.contains("it ends in an API error: the API refuses its thinking. `brain-guard mend"),
        "{listed}"
    );
    let path = hook.transcript.to_str().expect("utf-8");
    let found = hook.raw(&["validate", path], b"");
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(found.stdout.contains("refused: the session ends in an API error"), "{found:?}");
    let made = hook.raw(&["mend", path, "--json"], b"").json();
    let made = made["path"].as_str().expect("a path");
    assert!(!hook.raw(&["rounds", made], b"").stdout.contains("API error"), "it is mended");
    assert_eq!(hook.raw(&["validate", made], b"").code, Some(0));
    // An answer that came after it is no error.
    let later = answer.to_string().replace("isApiErrorMessage", "x");
    let later = later
        .replace(&format!("{ID}2"), &format!("{ID}3"))
        .replace(&format!("{ID}1"), &format!("{ID}2"));
    let text = fs::read_to_string(&hook.transcript).expect("transcript") + &later + "\n";
    fs::write(&hook.transcript, text).expect("transcript");
    assert!(hook.start("resume").silent());
}
