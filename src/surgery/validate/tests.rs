//! Files that were broken by hand, each refused for its own reason, and what is let pass.

use serde_json::Value;

use super::{Finding, Level, Validator};
use crate::surgery::export::tests::world::{
    Client, NEW, OLD, OTHER, export, plan, session, thinking, whole,
};
use crate::surgery::ids;
use crate::surgery::plan::{Piece, Place};

/// A sound output: an index, then two rounds with thinking, parallel calls and attachments.
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

/// The lines of a file, for breaking them.
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

    /// Another value for a field of the first line that holds `part`; `null` removes it.
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

    /// Hangs each row on the one before it, in its time: only the order is wrong then.
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

type Edit = fn(&mut File);

/// What is done to a sound file, and the rules that say so.
const BROKEN: &[(&str, &[&str], Edit)] = &[
    ("a line that is cut off", &["chain", "json"], |f| {
        let at = f.at("let me look 2");
        let half = f.0[at].len() / 2;
        f.0[at].truncate(half);
    }),
    ("two objects in a line", &["json"], |f| {
        let last = f.0.pop().unwrap();
        let line = f.0.last().unwrap().clone();
        f.0.push(format!("{last}{last}"));
        assert_ne!(line, last);
    }),
    ("an empty line", &["json"], |f| f.0.insert(3, String::new())),
    ("a list", &["json"], |f| f.0.push("[1]".to_owned())),
    ("no file at all", &["nothing"], |f| f.0.clear()),
    ("a row hangs on one that is not there", &["chain"], |f| {
        let parent = f.field("let me look 2", "parentUuid");
        f.edit("let me look 2", &parent, "33333333-3333-4333-8333-333333333333");
    }),
    ("a row hangs on itself", &["chain"], |f| {
        let (parent, own) =
            (f.field("let me look 2", "parentUuid"), f.field("let me look 2", "uuid"));
        f.edit("let me look 2", &parent, &own);
    }),
    ("a row is missing", &["chain"], |f| {
        let at = f.at("hook_success");
        f.0.remove(at);
    }),
    ("two rows changed places", &["branch", "chain", "time-order"], |f| {
        let at = f.at("hook_success");
        f.0.swap(at, at - 1);
    }),
    ("a second beginning", &["root"], |f| {
        let parent = f.field("question 3", "parentUuid");
        f.edit("question 3", &format!("\"{parent}\""), "null");
    }),
    ("a branch", &["branch"], |f| {
        let (parent, older) = (f.field("question 3", "parentUuid"), f.field("answer 2", "uuid"));
        f.edit("question 3", &parent, &older);
    }),
    ("a row without an id", &["chain", "uuid"], |f| f.set("let me look 3", "uuid", Value::Null)),
    ("an id twice", &["uuid-twice"], |f| {
        let first = f.field("question 2", "uuid");
        let at = f.0.iter().rposition(|line| line.contains("\"uuid\"")).unwrap();
        let row: Value = serde_json::from_str(&f.0[at]).unwrap();
        f.0[at] = f.0[at].replacen(row["uuid"].as_str().unwrap(), &first, 1);
    }),
    ("a bookmark on a row that is not there", &["leaf"], |f| {
        f.0.push(format!(r#"{{"type":"last-prompt","leafUuid":"{OLD}","sessionId":"{NEW}"}}"#));
    }),
    ("a compaction behind a row that is not there", &["boundary"], |f| {
        f.append(&format!(
            r#""type":"system","subtype":"compact_boundary","logicalParentUuid":"{OLD}""#
        ));
    }),
    ("a compaction that kept what is not there", &["boundary"], |f| {
        let kept = format!(r#"{{"preservedMessages":{{"uuids":["{OLD}"]}}}}"#);
        f.append(&format!(r#""type":"system","subtype":"x","compactMetadata":{kept}"#));
    }),
    ("a result of a row that is not there", &["reference"], |f| {
        f.set("gave toolu_2_1", "sourceToolAssistantUUID", OLD.into());
    }),
    ("half a word on where a row comes from", &["fork"], |f| {
        let value = serde_json::json!({"sessionId": OLD});
        f.set("let me look 2", "forkedFrom", value);
    }),
    ("a call without its result", &["call-open", "result-type"], |f| {
        let to = r#"{"type":"text","text":"x","#;
        f.edit("gave toolu_2_2", r#"{"tool_use_id":"toolu_2_2","type":"tool_result","#, to);
    }),
    ("a result without its call", &["result-alone"], |f| {
        f.edit("ls toolu_2_1", r#"{"type":"tool_use","#, r#"{"type":"text","text":"x","#);
    }),
    ("a result twice", &["result-twice"], |f| {
        let again = r#"[{"type":"tool_result","tool_use_id":"toolu_2_1","content":"x"},{"#;
        f.edit("gave toolu_2_1", "[{", again);
    }),
    ("a result behind the next message", &["result-late"], |f| {
        let (at, behind) = (f.at("gave toolu_2_1"), f.at("answer 2"));
        let line = f.0.remove(at);
        f.0.insert(behind, line);
        f.chain();
    }),
    ("a result behind the user's next words", &["result-late"], |f| {
        let (from, to) = (f.at("answer 3"), f.at("question 3"));
        let line = f.0.remove(from);
        f.0.insert(to + 1, line);
        let to = f.at("gave toolu_2_2");
        f.0.remove(f.at("answer 2"));
        let line = f.0.remove(to);
        let to = f.at("question 3");
        f.0.insert(to + 1, line);
        f.chain();
    }),
    ("two calls of one id", &["call-twice"], |f| {
        f.edit("ls toolu_2_2", "\"toolu_2_2\"", "\"toolu_2_1\"");
        f.edit("gave toolu_2_2", "\"toolu_2_2\"", "\"toolu_2_1\"");
    }),
    ("markup where the client shows a result", &["result-type"], |f| {
        f.set("gave toolu_2_1", "toolUseResult", "<error>x</error>".into());
    }),
    ("a number where the client shows a result", &["result-type"], |f| {
        f.set("question 2", "toolUseResult", 1.into());
    }),
    ("thinking without its signature", &["thinking", "thinking-changed"], |f| {
        f.edit("thought 2", r#","signature":"c2ln2""#, "");
    }),
    ("a signature without its thinking", &["thinking", "thinking-changed"], |f| {
        f.edit("thought 2", r#""thinking":"thought 2","#, "");
    }),
    ("other words in thinking", &["thinking-changed"], |f| {
        f.edit("thought 2", "thought 2", "thought 4");
    }),
    ("words taken out of thinking", &["thinking-changed"], |f| {
        f.edit("thought 2", "thought 2", "");
    }),
    ("a message that ends with thinking", &["thinking-last"], |f| {
        for gone in
            ["let me look 2", "ls toolu_2_1", "ls toolu_2_2", "gave toolu_2_1", "gave toolu_2_2"]
        {
            let at = f.at(gone);
            f.0.remove(at);
        }
        f.chain();
    }),
    ("a row of another session", &["session"], |f| {
        f.set("let me look 2", "sessionId", OTHER.into());
    }),
    ("a row of no session", &["session"], |f| f.set("let me look 2", "sessionId", Value::Null)),
    ("no time", &["timestamp"], |f| f.set("let me look 2", "timestamp", Value::Null)),
    ("a time that is none", &["timestamp"], |f| f.set("let me look 2", "timestamp", "noon".into())),
    ("a time that runs back", &["time-order"], |f| {
        f.set("let me look 2", "timestamp", "2001-01-01T00:00:00.000Z".into());
    }),
    ("a message in two parts", &["message-split"], |f| {
        f.edit("answer 3", "\"msg_3b\"", "\"msg_2b\"");
    }),
    ("a message that holds nothing", &["empty"], |f| {
        f.edit("answer 2", r#"[{"type":"text","text":"answer 2"}]"#, "[]");
    }),
    ("an empty text", &["empty"], |f| f.edit("answer 2", "answer 2", "")),
    ("another's role", &["role"], |f| {
        f.edit("answer 2", r#""role":"assistant""#, r#""role":"user""#);
    }),
    ("a result in the agent's message", &["role"], |f| {
        f.edit("answer 2", r#"{"type":"text","#, r#"{"type":"tool_result","tool_use_id":"x","#);
    }),
    ("a row without its message", &["message"], |f| f.set("answer 2", "message", Value::Null)),
    ("a message that is a number", &["message"], |f| {
        f.edit("answer 2", r#"[{"type":"text","text":"answer 2"}]"#, "5");
    }),
    ("a block of no type", &["message"], |f| f.edit("answer 2", r#"{"type":"text","#, "{")),
    ("the agent speaks first", &["first"], |f| {
        f.0.drain(..f.at("thought 2"));
        f.chain();
    }),
];

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

/// Rows as the client writes them are no errors: a running session, a compaction, a branch,
/// times that run back a little.
#[test]
fn what_clients_write_is_no_error() {
    let mut client = Client::new(OLD);
    client.round(1);
    client.compaction(&[]);
    client.round(2);
    client.call("msg_9", "toolu_open");
    client.text.push_str("{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"33333333-3333-4333-8333-333333333333\"}\n");
    let mut validator = Validator::new(Some(OLD));
    (1..)
        .zip(client.text.split_inclusive('\n'))
        .for_each(|(n, line)| validator.line(n, line.as_bytes()));
    let (found, seen) = validator.report();
    assert!(found.iter().all(|f| f.level == Level::Warning), "{found:?}");
    let rules: Vec<_> = found.iter().map(|f| f.rule).collect();
    assert_eq!(rules, ["root", "call-open", "reference"]);
    assert_eq!((seen.dialect, seen.messages, seen.calls, seen.thinking), ("claude", 5, 5, 2));
}

const PI: [&str; 5] = [
    r#"{"type":"session","version":3,"id":"new","timestamp":"2026-02-20T10:00:00.000Z","cwd":"/w"}"#,
    r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-02-20T10:00:01.000Z","message":{"role":"user","content":"first"}}"#,
    r#"{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-02-20T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"exec","arguments":{}}]}}"#,
    r#"{"type":"message","id":"a3","parentId":"a2","timestamp":"2026-02-20T10:00:03.000Z","message":{"role":"toolResult","toolCallId":"c1","content":[{"type":"text","text":"gave"}]}}"#,
    r#"{"type":"label","id":"a4","parentId":"a3","timestamp":"2026-02-20T10:00:04.000Z","targetId":"a1","label":"x"}"#,
];

#[test]
fn pis_files_are_refused_for_their_own_reasons() {
    let check = |lines: &[String]| {
        let mut validator = Validator::strict("new");
        (1..).zip(lines).for_each(|(n, line)| validator.line(n, format!("{line}\n").as_bytes()));
        validator.finish()
    };
    let sound: Vec<String> = PI.iter().map(|line| (*line).to_owned()).collect();
    assert_eq!(check(&sound), []);
    for (line, from, to, rule) in [
        (0, r#""version":3"#, r#""version":2"#, "header"),
        (0, r#""id":"new","#, "", "header"),
        (0, r#""id":"new""#, r#""id":"old""#, "session-name"),
        (1, r#""type":"message""#, r#""type":"session""#, "header"),
        (2, r#""parentId":"a1""#, r#""parentId":"zz""#, "chain"),
        (3, r#""id":"a3""#, r#""id":"a1""#, "uuid-twice"),
        (3, r#""toolCallId":"c1""#, r#""toolCallId":"c2""#, "result-alone"),
        (3, "toolResult", "tool", "role"),
        (3, r#"[{"type":"text","text":"gave"}]"#, r#""gave""#, "message"),
        (4, r#""targetId":"a1""#, r#""targetId":"zz""#, "leaf"),
        (4, "10:00:04", "09:00:04", "time-order"),
    ] {
        let mut lines = sound.clone();
        assert!(lines[line].contains(from));
        lines[line] = lines[line].replacen(from, to, 1);
        let found = check(&lines);
        assert!(found.iter().any(|f| f.rule == rule), "{rule}: {found:?}");
    }
}
