//! Holds for the values of every session.

use proptest::prelude::*;
use serde_json::Value as Json;

use super::*;
use crate::generate;
use sessions::generate as claude;

/// Every value is at its key, is as long as it says, and is inside no other value.
fn holds(bytes: &[u8]) -> Result<(), TestCaseError> {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    for entry in read(bytes) {
        let line = lines[entry.row as usize];
        let row: Json = serde_json::from_slice(line).unwrap();
        let mut end = 0;
        for value in &entry.values {
            let at = row.pointer(&format!("/{}", value.key.replace('.', "/"))).unwrap();
            let json: Json = serde_json::from_slice(value.span.slice(line)).unwrap();
            prop_assert_eq!(at, &json, "{}", &value.key);
            prop_assert!(end <= value.span.start, "{}", &value.key);
            end = value.span.end;
            if let Some(text) = json.as_str() {
                prop_assert_eq!(text.chars().count(), value.chars as usize);
                prop_assert!(!value.whole);
            } else {
                prop_assert!(value.whole && json["type"] == "thinking");
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn values_of_pi_sessions_lie_where_they_say(made in generate::sessions()) {
        holds(&made.bytes)?;
    }

    #[test]
    fn values_of_claude_sessions_lie_where_they_say(made in claude::sessions()) {
        holds(&made.bytes)?;
    }

    #[test]
    fn any_bytes_are_read(bytes: Vec<u8>, seed: u64, cut: prop::sample::Index) {
        read(&bytes);
        read(&claude::damaged(seed, 3));
        let whole = generate::session(seed, 2).bytes;
        read(&whole[..cut.index(whole.len())]);
    }
}

/// A few seeds give everything that the properties need to meet.
#[test]
fn made_up_sessions_hold_everything_there_is() {
    let all: Vec<Entry> =
        (0..60).flat_map(|seed| read(&generate::session(seed, 8).bytes)).collect();
    for trigger in Trigger::ALL {
        let long = |value: &Value| value.trigger == trigger && value.chars >= 500;
        assert!(all.iter().flat_map(|entry| &entry.values).any(long), "{trigger:?}");
    }
    let values = || all.iter().flat_map(|entry| &entry.values);
    assert!(values().any(|value| value.whole) && values().any(|value| value.copy));
    assert!(all.iter().any(|entry| !entry.in_context) && all.iter().any(|entry| entry.error));
    assert!(all.iter().any(|entry| entry.restored.is_some()));
    let made = generate::session(7, 5);
    assert_eq!(made.bytes, generate::session(7, 5).bytes);
    assert_ne!(made.bytes, generate::session(8, 5).bytes);
    assert!(read(&made.bytes).len() > 5 && !made.id.is_empty());
}
