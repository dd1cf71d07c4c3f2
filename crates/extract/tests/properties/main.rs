//! Holds for every row: extracting and restoring gives the same bytes, and only the ledger decides
//! what is a placeholder.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod entry;
mod plan;

use proptest::prelude::*;
use serde_json::Value;

use extract::{edit, placeholder, redact, restore, text};
use sessions::span::Span;
use store::blocks::Root;
use store::extracted::{Extract, Extracted, Ledger, Record};

/// A string's JSON as different programs write it: long enough to be extracted or not, valid or
/// with half a surrogate pair. Some look like placeholders.
fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just(r"\u00e9"),
        Just(r"\/"),
        Just(r"\\"),
        Just(r#"\""#),
        Just(r"\ud83e\udd80"),
        Just(r"\ud83e"),
        Just("日本語"),
        Just("🦀"),
        Just("[[extracted-e]]"),
        Just("» {}[],: \\n"),
        Just("plain words, and more of them "),
    ];
    (prop::collection::vec(piece, 1..6), prop_oneof![Just(1_usize), 1..120_usize])
        .prop_map(|(pieces, times)| format!("\"{}\"", pieces.concat().repeat(times)))
}

/// JSON with blanks and duplicate names; its strings are those of [`string`].
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => string(),
        1 => Just("null".to_owned()),
        1 => Just("-1.50e3".to_owned()),
        1 => Just("true".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(" ,"))),
            fields(inner).prop_map(|fields| format!("{{ {}}}", fields.join(", "))),
        ]
    })
}

fn fields(value: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<String>> {
    let name = prop_oneof![
        Just("a"),
        Just("b"),
        Just("content"),
        Just(r"\u0061"),
        Just("0"),
        Just("a.b"),
        Just("_x")
    ];
    prop::collection::vec(
        (name, value).prop_map(|(name, value)| format!("\"{name}\":{value}")),
        0..4,
    )
}

fn line() -> impl Strategy<Value = String> {
    let end = prop_oneof![Just(""), Just("\n"), Just("\r\n"), Just("  \n")];
    (fields(json()), end).prop_map(|(fields, end)| {
        format!(
            "{{\"id\":\"e\"{}{}}}{end}",
            if fields.is_empty() { "" } else { "," },
            fields.join(",")
        )
    })
}

/// The keys of all values that can be found by one.
fn keys(line: &str) -> Vec<(String, Span)> {
    fn walk(value: &Value, key: &str, found: &mut Vec<String>) {
        let children: Vec<(String, &Value)> = match value {
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), value)).collect()
            }
            Value::Array(items) => {
                items.iter().enumerate().map(|(n, item)| (n.to_string(), item)).collect()
            }
            _ => Vec::new(),
        };
        for (name, value) in children {
            let key = if key.is_empty() { name } else { format!("{key}.{name}") };
            walk(value, &key, found);
            found.push(key);
        }
    }
    // The parser rejects half a surrogate pair.
    let readable = line.replace(r"\ud83e\udd80", r"\u0041\u0041").replace(r"\ud83e", r"\u0041");
    let mut found = Vec::new();
    walk(&serde_json::from_str(&readable).unwrap(), "", &mut found);
    // A name with a dot looks like a path.
    found.sort();
    found.dedup();
    found
        .into_iter()
        .filter_map(|key| edit::locate(line.as_bytes(), &key).map(|at| (key, at)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn extract_then_restore_is_the_same_bytes(line in line(), which in any::<u64>()) {
        let dir = tempfile::tempdir().unwrap();
        let extracted = Extracted::for_session(&Root::new(dir.path().into()), "main", "s");
        let (mut places, mut records, mut last) = (Vec::new(), Vec::new(), 0);
        let mut all = keys(&line);
        all.sort_by_key(|(_, at)| at.start);
        for (n, (key, at)) in all.iter().enumerate() {
            let json = at.slice(line.as_bytes());
            if json.first() != Some(&b'"') {
                continue;
            }
            let about = placeholder::About { entry: "e", tool: None, json };
            if which >> (n % 64) & 1 == 0 || at.start < last {
                continue;
            }
            let Some(put) = placeholder::json(&about, false) else { continue };
            last = at.end;
            records.push(Record::from(Extract {
                entry: "e".into(),
                key: key.as_str().into(),
                object: extracted.put(json).unwrap(),
                bytes: json.len() as u64,
                placeholder: Some(Record::digest(&put)),
                tool: None,
                trigger: "tool_result".into(),
                at: base::clock::now(),
                file: std::path::Path::new("/s").into(),
                row: None,
            }));
            places.push((*at, put));
        }
        let lean = edit::replaced(line.as_bytes(), &places);
        prop_assert!(edit::sound(&lean), "{}", String::from_utf8_lossy(&lean));
        let ledger = Ledger::of(records);
        let mut values = Vec::new();
        for (key, at) in keys(std::str::from_utf8(&lean).unwrap()) {
            let json = at.slice(&lean);
            let Some(known) = ledger.placeholder("e", &key, json) else {
                // The ledger does not know it, whatever it looks like.
                continue;
            };
            prop_assert!(text::from_json(json).contains("[[extracted-e]]"));
            values.push((key, extracted.get(&known.object).unwrap()));
        }
        prop_assert_eq!(values.len(), places.len(), "no text that looks like one is taken for one");
        let back = restore::row(&lean, &values, None).unwrap();
        prop_assert_eq!(std::str::from_utf8(&back).unwrap(), &line);
        // A restore adds nothing but a mark.
        let marked = restore::row(&lean, &values, Some(base::clock::now())).unwrap();
        prop_assert!(edit::sound(&marked));
        prop_assert_eq!(edit::with_field(&marked, "_restored", None).unwrap(), line.as_bytes());
    }

    #[test]
    fn a_field_is_set_and_nothing_else_changes(line in line(), name in "[ab_]|\\PC{1,3}") {
        let set = edit::with_field(line.as_bytes(), &name, Some(b"[1]")).unwrap();
        prop_assert!(edit::sound(&set));
        prop_assert_eq!(edit::with_field(&set, &name, Some(b"[1]")).unwrap(), &set[..]);
        let without = edit::with_field(line.as_bytes(), &name, None).unwrap();
        prop_assert!(edit::sound(&without));
        prop_assert_eq!(edit::with_field(&set, &name, None).unwrap(), &without[..]);
    }

    #[test]
    fn nothing_is_too_broken_to_be_looked_at(bytes in prop::collection::vec(prop_oneof![Just(b'{'), Just(b'}'), Just(b'['), Just(b'"'), Just(b':'), Just(b','), Just(b'a'), Just(b'\\'), Just(b'0'), any::<u8>()], 0..60)) {
        let _ = edit::locate(&bytes, "a.0.a");
        let _ = edit::with_field(&bytes, "a", Some(b"1"));
        let _ = edit::with_field(&bytes, "a", None);
        let _ = redact::row(&bytes, &|asked| Some(asked.to_owned()));
        let _ = restore::row(&bytes, &[("a".into(), b"1".to_vec())], None);
    }
}
