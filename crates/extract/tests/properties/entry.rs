//! Holds for the values of every session.

use proptest::prelude::*;
use serde_json::Value as Json;

use extract::edit;
use extract::entry::{Entries, Entry, Trigger, Value};
use testing::{claude, pi};

/// The entries of a file.
pub(super) fn read(bytes: &[u8]) -> Vec<Entry> {
    let mut entries = Entries::default();
    for (n, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
        entries.row(n as u64, line);
    }
    entries.finish()
}

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
    fn values_of_pi_sessions_lie_where_they_say(made in pi::sessions()) {
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
        let whole = pi::session(seed, 2).bytes;
        read(&whole[..cut.index(whole.len())]);
    }

    /// Also over bytes that were changed at random.
    #[test]
    fn a_row_is_as_sound_as_it_is_said(seed: u64, hits in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![Just(b'\t'), Just(b'\\'), Just(b'"'), Just(b'0'), Just(b'x'), any::<u8>()]), 0..4)) {
        let mut bytes = pi::session(seed, 3).bytes;
        for (at, byte) in hits {
            let at = at.index(bytes.len());
            if bytes[at] != b'\n' {
                bytes[at] = byte;
            }
        }
        let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
        for entry in read(&bytes) {
            let line = lines[entry.row as usize];
            if entry.values.is_empty() {
                continue;
            }
            prop_assert_eq!(edit::sound(line), !entry.broken, "{}", String::from_utf8_lossy(line));
            for value in &entry.values {
                let there = edit::locate(line, &value.key);
                prop_assert!(entry.broken || there == Some(value.span), "{}", value.key);
            }
        }
    }
}

/// A few seeds give everything that the properties need to meet.
#[test]
fn made_up_sessions_hold_everything_there_is() {
    let all: Vec<Entry> = (0..60).flat_map(|seed| read(&pi::session(seed, 8).bytes)).collect();
    for trigger in Trigger::ALL {
        let long = |value: &Value| value.trigger == trigger && value.chars >= 500;
        assert!(all.iter().flat_map(|entry| &entry.values).any(long), "{trigger:?}");
    }
    let values = || all.iter().flat_map(|entry| &entry.values);
    assert!(values().any(|value| value.whole) && values().any(|value| value.copy));
    assert!(all.iter().any(|entry| !entry.in_context) && all.iter().any(|entry| entry.error));
    assert!(all.iter().any(|entry| entry.restored.is_some()));
    let made = pi::session(7, 5);
    assert_eq!(made.bytes, pi::session(7, 5).bytes);
    assert_ne!(made.bytes, pi::session(8, 5).bytes);
    assert!(read(&made.bytes).len() > 5 && !made.id.is_empty());
}
