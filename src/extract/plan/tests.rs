//! Plans of whole sessions.

use chrono::DateTime;
use proptest::prelude::*;

use super::*;
use crate::extract::entry::tests::read;
use crate::extract::generate;

fn now() -> Time {
    DateTime::from_timestamp(1_771_600_000, 0).unwrap()
}

fn none(_: &Entry, _: &str) -> bool {
    false
}

fn flat(id: &str, kind: &str, key: &str, more: &str) -> String {
    let text = "x".repeat(900);
    format!(r#"{{"type":"{kind}","__id":"{id}","{key}":"{text}"{more}}}"#) + "\n"
}

/// The seed's life of an entry: extracted, restored, protected, extracted again.
#[test]
fn a_long_thought_before_three_prompts() {
    let life = |more: &str| {
        let rows: String = [
            flat("msg-1", "thinking", "thinking", more),
            flat("u1", "user", "content", ""),
            flat("u2", "user", "content", ""),
            flat("u3", "user", "content", ""),
        ]
        .concat();
        let entries = read(rows.as_bytes());
        plan(&entries, &ExtractSettings::default(), now(), &none)
    };
    let first = life("");
    assert_eq!((first.entries, first.messages, first.first_row), (4, 4, Some(0)));
    let keys: Vec<_> = first.items.iter().map(|i| (i.entry.as_str(), i.key.as_str())).collect();
    assert_eq!(keys, [("msg-1", "thinking")]);
    assert_eq!(first.stay, BTreeMap::from([(Stays::Type, 3)]));
    let ago = |minutes| {
        let at = now() - chrono::Duration::minutes(minutes);
        format!(r#","_restored":"{}""#, at.to_rfc3339())
    };
    assert_eq!(life(&ago(1)).stay.get(&Stays::Restored), Some(&1));
    assert_eq!(life(&ago(11)).items.len(), 1);
}

#[test]
fn bytes_that_the_model_is_sent_are_counted_apart() {
    let text = "x".repeat(900);
    let result = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"message":{{"role":"toolResult","toolName":"exec","content":[{{"type":"text","text":"{text}"}}],"details":{{"aggregated":"{text}"}}}}}}"#
        ) + "\n"
    };
    let rows = [
        result("a", "null"),
        result("b", "\"a\""),
        r#"{"type":"compaction","id":"k","parentId":"b","firstKeptEntryId":"b","summary":"s"}"#
            .to_owned(),
    ];
    let settings =
        ExtractSettings { keep_recent: 0, protect_turns: 0, ..ExtractSettings::default() };
    let plan = plan(&read(rows.concat().as_bytes()), &settings, now(), &none);
    let told: Vec<_> = plan.items.iter().map(|i| (i.row, i.key.as_str(), i.sent)).collect();
    assert_eq!(
        told,
        [
            (0, "message.content.0.text", false),
            (0, "message.details.aggregated", false),
            (1, "message.content.0.text", true),
            (1, "message.details.aggregated", false),
        ]
    );
    assert_eq!(plan.bytes(), (4 * 902, 902));
    assert!(plan.items.iter().all(|item| item.tool.as_deref() == Some("exec")));
}

/// Only the ledger says what a placeholder is: also of one that stands for a whole block.
#[test]
fn a_placeholder_is_no_value() {
    let text = "[[extracted-a]]".repeat(60);
    let row = format!(
        r#"{{"type":"message","id":"a","_extractable":true,"message":{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}]}}}}"#
    );
    let entries = read([row.as_str(), &flat("b", "assistant", "text", "")].join("\n").as_bytes());
    for (key, there) in [
        ("message.content.0", true),
        ("message.content.0.text", true),
        ("message.content.1", false),
    ] {
        let ledger = |entry: &Entry, at: &str| entry.id == "a" && at == key;
        let plan = plan(&entries, &ExtractSettings::default(), now(), &ledger);
        assert_eq!(plan.items.is_empty(), there, "{key}");
        assert_eq!(plan.stay.contains_key(&Stays::Placeholder), there, "{key}");
    }
}

proptest! {
    /// Every value is extracted or stays, in the order of the rows; nothing that has to stay is
    /// extracted, and no more is where more is kept.
    #[test]
    fn every_value_is_accounted_for(made in generate::sessions(), keep in 0..6u32) {
        let entries = read(&made.bytes);
        let settings = |keep_recent| ExtractSettings {
            keep_recent,
            min_value_length: 100,
            trigger_types: vec!["*".into()],
            ..ExtractSettings::default()
        };
        let done = plan(&entries, &settings(keep), now(), &none);
        let values: usize = entries.iter().map(|entry| entry.values.len()).sum();
        prop_assert_eq!(done.items.len() + done.stay.values().sum::<u64>() as usize, values);
        let order = |item: &Item| (item.row, item.span.start);
        prop_assert!(done.items.windows(2).all(|two| order(&two[0]) < order(&two[1])));
        let (all, sent) = done.bytes();
        prop_assert!(sent <= all);
        let more = plan(&entries, &settings(keep + 1), now(), &none);
        prop_assert!(more.items.iter().all(|item| done.items.contains(item)));
        let users = entries.iter().find(|entry| entry.role == Role::User);
        for item in &done.items {
            let entry = &entries[entries.iter().position(|e| e.row == item.row).unwrap()];
            prop_assert!(entry.extractable != Some(crate::extract::entry::Extractable::Never));
            let free = entry.extractable == Some(crate::extract::entry::Extractable::Always);
            let first = users.is_some_and(|user| user.row == item.row);
            prop_assert!(free || !(first || entry.error && item.trigger == Trigger::ToolResult));
        }
        let nothing = plan(&entries, &settings(0), now(), &|_: &Entry, _: &str| true);
        prop_assert!(nothing.items.is_empty() && nothing.first_row.is_none());
    }
}
