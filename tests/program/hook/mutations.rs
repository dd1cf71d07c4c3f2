//! Payloads cut, bent and inflated: the answer is always JSON or nothing. Seeded, so that a failure
//! can be repeated.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brain_guard::cmd::PROGRAM;
use guard::hook::{Role, run};
use serde_json::{Value, json};

use crate::support::hook::{Hook, fixtures, percent_in};

const IN_PROCESS: u64 = 10_000;
const BY_BINARY: u64 = 320;

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// The recorded payloads, with this session and its transcript.
fn payloads(hook: &Hook) -> Vec<Value> {
    let entries = std::fs::read_dir(fixtures().join("payloads")).expect("folder");
    let mut paths: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    let mut payloads = Vec::new();
    for path in paths.iter().filter(|p| !p.to_string_lossy().ends_with(".env.json")) {
        let text = std::fs::read_to_string(path).expect("payload");
        let mut payload: Value = serde_json::from_str(&text).expect("JSON");
        payload["session_id"] = hook.session.as_str().into();
        payload["transcript_path"] = hook.transcript.to_str().expect("utf-8").into();
        payloads.push(payload);
    }
    for command in [
        "brain-guard append x",
        "cd . && brain-guard seal 2>&1",
        "brain-guard append <<'E'\n- a\nE",
    ] {
        payloads.push(hook.call("Bash", &json!({"command": command})));
    }
    let typed =
        json!({"command_name": "brain-guard:override", "command_args": "1s", "prompt": "x"});
    payloads.push(hook.payload("UserPromptExpansion", &typed));
    payloads
}

/// The `n`-th value of a tree in pre-order.
fn nth<'a>(value: &'a mut Value, n: &mut usize) -> Option<&'a mut Value> {
    if *n == 0 {
        return Some(value);
    }
    *n -= 1;
    match value {
        Value::Object(map) => map.values_mut().find_map(|v| nth(v, n)),
        Value::Array(list) => list.iter_mut().find_map(|v| nth(v, n)),
        _ => None,
    }
}

fn wrong(random: &mut Random) -> Value {
    match random.below(16) {
        0 => Value::Null,
        1 => json!(0),
        2 => json!(-1),
        3 => json!(u64::MAX),
        4 => json!(1e308),
        5 => json!(true),
        6 => json!(""),
        7 => json!("\0"),
        8 => json!([]),
        9 => json!({}),
        10 => json!("../../../../etc/passwd"),
        11 => json!("ü✓\u{202e}\u{feff}\n\r\t\"'`$("),
        12 => json!("{{file}} {{"),
        13 => (0..100).fold(json!("deep"), |inner, _| json!([inner])),
        14 => json!({"id": "x", "file_path": 7, "command": ["brain-guard", "override"]}),
        _ => json!("x".repeat(random.below(20_000))),
    }
}

/// A payload with one random change.
fn mutate(payload: &Value, random: &mut Random) -> Vec<u8> {
    let mut tree = payload.clone();
    if random.below(3) > 0 {
        for _ in 0..=random.below(3) {
            let mut n = random.below(40);
            let replacement = wrong(random);
            if let Some(value) = nth(&mut tree, &mut n) {
                *value = replacement;
            }
        }
        if tree.is_object() && random.below(200) == 0 {
            tree["prompt"] = json!("x".repeat(2_000_000));
        }
    }
    let mut bytes = tree.to_string().into_bytes();
    let at = random.below(bytes.len());
    match random.below(8) {
        0 => bytes.truncate(at),
        1 => bytes[at] = 0,
        2 => bytes[at] = 0xff,
        3 => bytes[at] ^= 1 << random.below(8),
        4 => drop(bytes.splice(at..at, [0xc3, 0x28, 0xf0, 0x9f])),
        5 => bytes.extend_from_within(at..),
        6 => drop(bytes.drain(at..bytes.len().min(at + 9))),
        _ => {}
    }
    bytes
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(2_000)]).into_owned()
}

#[test]
fn the_hook_answers_mutations_in_process() {
    let mut random = Random(1);
    for percent in [5.0, percent_in("narrow")] {
        let hook = Hook::climbed(percent);
        let (payloads, env, now) = (payloads(&hook), hook.env(), base::clock::now());
        for _ in 0..IN_PROCESS / 2 {
            let bytes = mutate(&payloads[random.below(payloads.len())], &mut random);
            let answered = catch_unwind(AssertUnwindSafe(|| {
                run(Role::Main, bytes.as_slice(), &env, now, PROGRAM).json()
            }));
            let reply = answered.unwrap_or_else(|_| panic!("panics on {}", shown(&bytes)));
            let sound = reply
                .is_none_or(|r| serde_json::from_str::<Value>(&r).is_ok_and(|v| v.is_object()));
            assert!(sound, "{}", shown(&bytes));
        }
    }
}

#[test]
fn the_binary_answers_mutations() {
    let mut random = Random(2);
    let hook = Hook::climbed(percent_in("narrow"));
    let payloads = payloads(&hook);
    for _ in 0..BY_BINARY {
        let bytes = mutate(&payloads[random.below(payloads.len())], &mut random);
        let answer = hook.raw(&["hook"], &bytes);
        let reply = answer.json();
        assert!(reply.is_null() || reply.is_object(), "{answer:?} on {}", shown(&bytes));
    }
    let panicked = hook.journal("fault").into_iter().filter(|l| l["what"] == "panic").count();
    assert_eq!(panicked, 0);
}
