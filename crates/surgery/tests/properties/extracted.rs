//! Extraction into a new session: the output is valid, what was taken is exactly what was there,
//! and nothing else changed.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;

use super::world::{IDS, Read, made, made_by, read};
use extract::edit;
use extract::entry::{Entries, Entry};
use extract::plan::{Item, NoGain, plan};
use sessions::dialect::{Claude, Dialect, Scratch};
use sessions::operation::Fidelity;
use sessions::rows::Rows;
use sessions::settings::{ExtractSettings, Fixed};
use surgery::ids;
use surgery::plan::{Performed, Plan, in_whole};
use surgery::values::{Lean, Taken, is_copy, row};
use testing::RECORDED;
use testing::at;
use testing::claude::sessions;

/// The entries of a session.
fn entries(read: &Read) -> Vec<Entry> {
    let mut entries = Entries::default();
    let rows = read.rows.values().flat_map(Rows::iter);
    for (number, line) in (0..).zip(rows) {
        entries.row(number, line);
    }
    entries.finish()
}

/// What is extracted, by row id.
fn items(read: &Read, settings: &ExtractSettings) -> BTreeMap<String, Vec<Item>> {
    let entries = entries(read);
    let plan = plan(&entries, settings, at("2027-01-01"), &|_, _| false, &NoGain::new());
    let mut items: BTreeMap<String, Vec<Item>> = BTreeMap::new();
    for item in plan.items.into_iter().filter(|item| item.sent && !is_copy(&item.key)) {
        let entry = entries.iter().find(|entry| entry.row == item.row).unwrap();
        items.entry(entry.id.clone()).or_default().push(item);
    }
    items
}

/// A plan that changes nothing but values.
fn whole(read: &Read) -> Plan {
    let operation =
        Performed::Extract { keep_recent: 0, min_value_length: 0, trigger_types: Vec::new() };
    in_whole(read.session.clone(), operation, Fidelity::default())
}

fn id(line: &[u8]) -> Option<String> {
    Claude.row(line, &mut Scratch::default()).id.map(str::to_owned)
}

/// The blocks of all messages, with thinking apart.
fn blocks(text: &str) -> (Vec<Value>, Vec<Value>) {
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let blocks = rows.flat_map(|row| match row["message"]["content"].clone() {
        Value::Array(blocks) => blocks,
        Value::Null => Vec::new(),
        text => vec![text],
    });
    blocks.partition(|block| block["type"] == "thinking")
}

/// Extracts, compares everything with the original session, and returns the result.
fn holds(read: &Read, settings: &ExtractSettings) -> Result<(String, usize), TestCaseError> {
    let (items, plan) = (items(read, settings), whole(read));
    let fresh = ids::Source::new(IDS[0], &read.session.id);
    let mut taken: BTreeMap<String, Vec<(Taken, Vec<u8>)>> = BTreeMap::new();
    let mut lean = |line: &[u8]| {
        let of = id(line).and_then(|id| Some((items.get(&id)?, id)));
        let Some((items, id)) = of else { return Some(line.to_vec()) };
        let Some(Lean { line: left, taken: values, .. }) = row(line, items, &id) else {
            return Some(line.to_vec());
        };
        let values = values.into_iter().map(|value| {
            let json = value.at.slice(line).to_vec();
            (value, json)
        });
        taken.insert(fresh.uuid(&id).as_str().to_owned(), values.collect());
        left
    };
    let (_, text) = made_by(IDS[0], &plan, &[read], &mut lean)?;
    let (_, before) = made(IDS[0], &plan, &[read])?;
    let mut back = String::new();
    let mut count = 0;
    for line in text.split_inclusive('\n') {
        let mut line = line.as_bytes().to_vec();
        let values = id(&line).and_then(|id| taken.get(&id));
        for (value, json) in
            values.into_iter().flatten().filter(|(value, _)| !value.placeholder.is_empty())
        {
            let at = edit::locate(&line, &value.key);
            let at = at.ok_or_else(|| TestCaseError::fail(format!("no {}", value.key)))?;
            prop_assert_eq!(at.slice(&line), &value.placeholder[..], "{}", value.key);
            line = edit::replaced(&line, &[(at, json.clone())]);
            count += 1;
        }
        back.push_str(std::str::from_utf8(&line).unwrap());
    }
    let ((thoughts, now), (all, then)) = (blocks(&back), blocks(&before));
    prop_assert_eq!(now, then, "restored, it is as it was");
    prop_assert!(thoughts.iter().all(|thought| all.contains(thought)), "thinking is as it was");
    let wanted = settings.trigger_types.contains(&"thinking".to_owned());
    prop_assert!(wanted || thoughts.len() == all.len());
    let whole = taken.values().flatten().filter(|(value, _)| value.placeholder.is_empty());
    for (_, json) in whole {
        let thought: Value = serde_json::from_slice(json).unwrap();
        prop_assert!(!thoughts.contains(&thought), "it went whole");
    }
    // A second extraction would only take placeholders.
    let again = super::world::read(IDS[0], text.as_bytes());
    for (id, items) in self::items(&again, settings) {
        let known = taken.get(&id).into_iter().flatten();
        let known: Vec<&str> = known.map(|(value, _)| value.key.as_str()).collect();
        let mut lines = again.rows.values().flat_map(Rows::iter);
        let line = lines.find(|line| self::id(line).as_ref() == Some(&id)).unwrap();
        let left: Vec<Item> =
            items.into_iter().filter(|item| !known.contains(&&*item.key)).collect();
        let lean = row(line, &left, &id);
        prop_assert!(lean.is_none(), "{id}: {:?}", lean.map(|lean| lean.taken));
    }
    Ok((text, count))
}

fn settings() -> impl Strategy<Value = ExtractSettings> {
    let types = vec!["thinking", "tool_result", "tool_call", "user", "assistant"];
    let types = prop::sample::subsequence(types, 1..=5);
    (types, 0..6u32, 1..900u32, 0..3u32).prop_map(
        |(types, keep_recent, min_value_length, protect_turns)| ExtractSettings {
            keep_recent,
            min_value_length,
            protect_turns,
            trigger_types: types.into_iter().map(str::to_owned).collect(),
            ..ExtractSettings::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn what_is_taken_is_what_was_there(made in sessions(), settings in settings()) {
        holds(&read(&made.id, &made.bytes), &settings)?;
    }
}

/// A recording with long results: its own are shorter than their placeholders.
fn grown(bytes: &[u8]) -> Vec<u8> {
    let long = format!("\"content\":\"{}", "line by line ".repeat(30));
    let grow = |line: &str| {
        let is_result = line.contains("\"type\":\"tool_result\"");
        if is_result { line.replace("\"content\":\"", &long) } else { line.to_owned() }
    };
    let text = String::from_utf8_lossy(bytes);
    text.split_inclusive('\n').map(grow).collect::<String>().into_bytes()
}

#[test]
fn every_recording_is_a_sound_session_without_its_values() {
    let mut values = 0;
    // Values of pi are extracted in place; rows of a subagent are not in a main session.
    let claude = RECORDED.iter().filter(|(name, _)| !["pi", "subagent"].contains(name));
    for (name, bytes) in claude {
        let read = read(&format!("{name}-session"), &grown(bytes));
        for keep_recent in [0, 3] {
            let settings = ExtractSettings {
                keep_recent,
                fixed: Fixed { keep_errors: false, ..Fixed::default() },
                min_value_length: 1,
                protect_turns: 0,
                trigger_types: vec!["*".into()],
                ..ExtractSettings::default()
            };
            match holds(&read, &settings) {
                Ok((_, count)) => values += count,
                Err(why) => panic!("{name}, {settings:?}: {why}"),
            }
        }
    }
    // Notices that are recognized only by their beginning stay.
    assert!(values >= 8, "{values} values were extracted");
}
