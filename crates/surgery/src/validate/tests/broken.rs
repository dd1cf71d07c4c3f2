//! Files broken by hand.

use super::*;

pub type Edit = fn(&mut File);

/// Edits to a valid file, and the rules that they break.
pub const BROKEN: &[(&str, &[&str], Edit)] = &[
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
    ("a call that names no tool", &["message"], |f| {
        f.edit("ls toolu_2_1", r#""name":"Bash","#, "");
    }),
    ("a call whose input is a text", &["message"], |f| {
        f.edit("ls toolu_2_1", r#"{"command":"ls toolu_2_1"}"#, r#""ls toolu_2_1""#);
    }),
    ("the agent speaks first", &["first"], |f| {
        f.0.drain(..f.at("thought 2"));
        f.chain();
    }),
];
