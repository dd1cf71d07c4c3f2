//! Twenty calls of one response at once: one note, one mention of a skipped tier, every call
//! counted.

use serde_json::{Value, json};

use crate::support::hook::{Answer, Hook, percent_in};

fn at_once(hook: &Hook, payloads: &[Value]) -> Vec<Answer> {
    std::thread::scope(|scope| {
        let started: Vec<_> = payloads.iter().map(|p| scope.spawn(move || hook.send(p))).collect();
        started.into_iter().map(|s| s.join().expect("ran")).collect()
    })
}

fn reads(hook: &Hook) -> Vec<Value> {
    let read = |n: usize| {
        let mut call = hook.call("Read", &json!({"file_path": format!("/etc/file{n}")}));
        call["tool_use_id"] = format!("toolu_{n}").into();
        call
    };
    (0..20).map(read).collect()
}

#[test]
fn twenty_calls_get_one_note() {
    let hook = Hook::begun();
    hook.fill(percent_in("coach"));
    let mut payloads = reads(&hook);
    payloads.push(hook.payload("PostToolBatch", &json!({"tool_calls": []})));
    let answers = at_once(&hook, &payloads);
    let noted: Vec<&Answer> = answers.iter().filter(|a| !a.silent()).collect();
    assert_eq!(noted.len(), 1, "{noted:?}");
    assert!(noted[0].note().contains("Nothing is blocked"), "{noted:?}");
    assert_eq!(noted[0].user().matches("nothing is blocked").count(), 1);
    assert!(hook.batch().silent(), "told a second time");
    assert_eq!(hook.journal("fault"), Vec::<Value>::new());
}

#[test]
fn a_skipped_tier_is_mentioned_in_one_of_twenty_denials() {
    let hook = Hook::begun();
    hook.fill(percent_in("narrow"));
    let answers = at_once(&hook, &reads(&hook));
    assert!(answers.iter().all(|a| a.verdict() == "deny"));
    let told = |a: &&Answer| a.reason().contains("rose past coach and block-reads at once");
    assert_eq!(answers.iter().filter(told).count(), 1);
    assert!(answers.iter().all(|a| a.user().is_empty()), "the client shows each denial");
    assert_eq!(hook.journal("deny").len(), 20);
    let calls = std::fs::metadata(hook.places().session(&hook.session, "calls")).expect("count");
    assert_eq!(calls.len(), 20);
    assert_eq!(hook.journal("fault"), Vec::<Value>::new());
}
