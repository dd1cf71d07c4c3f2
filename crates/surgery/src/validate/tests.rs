//! Files broken by hand, each refused for its own reason, and files that pass.

mod broken;

use serde_json::Value;

use self::broken::BROKEN;
use super::{Finding, Level, Validator};
use crate::export::tests::world::{
    Client, NEW, OLD, OTHER, export, plan, session, thinking, whole,
};
use crate::ids;
use crate::plan::{Piece, Place};

/// A valid output: an index, then two rounds with thinking, parallel calls and attachments.
fn sound() -> String {
    let source = session(OLD, 3);
    let mut pieces = vec![Piece::Index(vec![Place { session: 0, seq: 1 }])];
    pieces.extend(whole(0, &[2, 3]));
    export(&[&source], &plan(&[&source], pieces)).unwrap().0
}

fn strict(text: &[u8], name: &str) -> Vec<Finding> {
    let mut validator = Validator::strict(name);
    let given = [2, 3].map(|number| ids::digest(thinking(number).as_bytes()));
    validator.given(given.into_iter());
    (1..).zip(text.split_inclusive(|b| *b == b'\n')).for_each(|(n, line)| validator.line(n, line));
    validator.finish()
}

/// The lines of a file, to be broken.
struct File(Vec<String>);

impl File {
    /// The first line that holds `part`.
    fn at(&self, part: &str) -> usize {
        self.0.iter().position(|line| line.contains(part)).unwrap_or_else(|| panic!("no {part}"))
    }

    /// Replaces `from` in the first line that holds `part`.
    fn edit(&mut self, part: &str, from: &str, to: &str) {
        let at = self.at(part);
        assert!(self.0[at].contains(from), "no {from} in {}", self.0[at]);
        self.0[at] = self.0[at].replacen(from, to, 1);
    }

    /// Sets a field of the first line that holds `part`; `null` removes it.
    fn set(&mut self, part: &str, name: &str, value: Value) {
        let at = self.at(part);
        let mut row: Value = serde_json::from_str(&self.0[at]).unwrap();
        let fields = row.as_object_mut().unwrap();
        if value.is_null() {
            assert!(fields.remove(name).is_some(), "no {name}");
        } else {
            fields.insert(name.to_owned(), value);
        }
        self.0[at] = row.to_string();
    }

    fn field(&self, part: &str, name: &str) -> String {
        let row: Value = serde_json::from_str(&self.0[self.at(part)]).unwrap();
        row[name].as_str().unwrap().to_owned()
    }

    /// Makes each row follow the one before it, at its time or later: then only the order is wrong.
    fn chain(&mut self) {
        let (mut last, mut time) = (None::<String>, String::new());
        for line in &mut self.0 {
            let row: Value = serde_json::from_str(line).unwrap();
            let Some(id) = row["uuid"].as_str() else { continue };
            let (parent, at) = (&row["parentUuid"], row["timestamp"].as_str().unwrap());
            let new = last.map_or("null".to_owned(), |last| format!("\"{last}\""));
            *line = line.replacen(
                &format!("\"parentUuid\":{parent}"),
                &format!("\"parentUuid\":{new}"),
                1,
            );
            if *at < *time {
                *line = line.replacen(
                    &format!("\"timestamp\":\"{at}\""),
                    &format!("\"timestamp\":\"{time}\""),
                    1,
                );
            }
            time = time.max(at.to_owned());
            last = Some(id.to_owned());
        }
    }

    fn append(&mut self, fields: &str) {
        let last = self.field("turn_duration\",\"durationMs\":5,\"uuid\"", "uuid");
        let parent = self.0.iter().rev().find_map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            row["uuid"].as_str().map(str::to_owned)
        });
        let parent = parent.unwrap_or(last);
        self.0.push(format!(
            r#"{{"parentUuid":"{parent}",{fields},"uuid":"77777777-7777-4777-8777-777777777777","timestamp":"2030-01-01T00:00:00.000Z","sessionId":"{NEW}"}}"#
        ));
    }
}

#[test]
fn each_broken_file_is_refused_for_its_own_reason() {
    let sound = sound();
    assert_eq!(strict(sound.as_bytes(), NEW), []);
    let mut wrong = Vec::new();
    for (name, rules, edit) in BROKEN {
        let mut file = File(sound.lines().map(str::to_owned).collect());
        edit(&mut file);
        let text: String = file.0.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        let found = strict(text.as_bytes(), NEW);
        let mut names: Vec<_> = found.iter().map(|f| f.rule).collect();
        names.sort_unstable();
        names.dedup();
        if names != *rules || found.iter().any(|f| f.level != Level::Error || f.what.is_empty()) {
            wrong.push(format!("{name}: {found:?}"));
        }
    }
    assert!(BROKEN.len() >= 30);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_broken_as_bytes_is_refused_too() {
    let sound = sound();
    let rules =
        |text: &[u8], name: &str| -> Vec<_> { strict(text, name).iter().map(|f| f.rule).collect() };
    assert_eq!(rules(sound.trim_end().as_bytes(), NEW), ["line"]);
    assert_eq!(rules(sound.as_bytes(), OTHER), ["session-name"]);
    let mut bytes = sound.clone().into_bytes();
    let at = sound.find("question 1").unwrap();
    bytes[at] = 0xff;
    assert_eq!(rules(&bytes, NEW), ["json"]);
}

#[test]
fn every_place_where_a_file_may_be_cut_is_seen() {
    let sound = sound();
    for at in (0..sound.len()).step_by(97) {
        if sound.as_bytes()[..at].last() != Some(&b'\n') {
            assert!(!strict(&sound.as_bytes()[..at], NEW).is_empty(), "{at}");
        }
    }
}

/// Rows as the client writes them are no errors: a running session, a compaction, a rewind to the
/// start, a branch, times that go back a little.
#[test]
fn what_clients_write_is_no_error() {
    let mut client = Client::new(OLD);
    client.round(1);
    client.compaction(&[]);
    client.round(2);
    client.call("msg_9", "toolu_open");
    client.text.push_str("{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"33333333-3333-4333-8333-333333333333\"}\n");
    client.text.push_str("{\"type\":\"last-prompt\",\"leafUuid\":\"00000000-0000-0000-0000-000000000000\",\"explicit\":true}\n");
    let mut validator = Validator::new(Some(OLD));
    (1..)
        .zip(client.text.split_inclusive('\n'))
        .for_each(|(n, line)| validator.line(n, line.as_bytes()));
    let (found, seen) = validator.report();
    assert!(found.iter().all(|f| f.level == Level::Warning), "{found:?}");
    let rules: Vec<_> = found.iter().map(|f| f.rule).collect();
    assert_eq!(rules, ["root", "call-open", "reference"]);
    assert_eq!((seen.messages, seen.calls, seen.thinking), (5, 5, 2));
}
