//! Redacts the call that asked for a restore: it keeps its place, id and name, and of its arguments
//! only the entry.

use serde_json::{Value, json};

use super::edit;
use sessions::span::{self, Span};

/// Other names of the tool in flat rows.
const OLD_NAMES: [&str; 2] = ["restore", "restore_remote"];

/// The id of an entry that an agent named by its placeholder: `[[extracted-ID]]` is `ID`.
pub fn bare(asked: &str) -> &str {
    let asked = asked.trim();
    let Some(rest) = asked.strip_prefix("[[extracted-") else { return asked };
    rest.split_once("]]").map_or(rest, |(id, _)| id)
}

/// The row with its restore calls redacted: a call keeps its place, id and name, and of its
/// arguments only the entry. `means` returns the entry for the name in a call; `None` leaves the
/// call as it is. Returns `None` if the row has no such call, or they are redacted already.
pub fn row(line: &[u8], means: &dyn Fn(&str) -> Option<String>) -> Option<Vec<u8>> {
    // Most rows hold none and need no parsing.
    memchr::memmem::find(line, b"restore").filter(|_| edit::sound(line))?;
    let mut calls = Vec::new();
    if kind(line) == Some("tool_call") {
        calls.extend(asked(line, "arguments", means, true));
    }
    let content = edit::locate(line, "message.content").or_else(|| edit::locate(line, "content"));
    let mut blocks = Vec::new();
    if let Some(content) = content {
        span::items(content.slice(line), &mut blocks);
        for block in blocks {
            let block = block.shifted(content.start);
            let given = match kind(block.slice(line)) {
                Some("toolCall") => "arguments",
                Some("tool_use") => "input",
                _ => continue,
            };
            let found = asked(block.slice(line), given, means, false);
            calls.extend(found.map(|(at, entry)| (at.shifted(block.start), entry)));
        }
    }
    if calls.is_empty() {
        return None;
    }
    let mut places: Vec<(Span, Vec<u8>)> = Vec::with_capacity(calls.len());
    for (at, entry) in calls {
        let left = json!({ "action": "restore", "entry": entry });
        places.push((at, serde_json::to_vec(&left).ok()?));
    }
    let row = edit::with_field(&edit::replaced(line, &places), "_redacted", Some(b"true"))?;
    (row != line).then_some(row)
}

fn kind(object: &[u8]) -> Option<&str> {
    span::plain(span::find(object, "type")?)
}

/// Whether a tool is ours. `OpenClaw` and Claude Code prefix the name if a tool server provides it.
pub fn is_purge_control(tool: &str) -> bool {
    ["purge_control", "brain-guard__purge_control"].contains(&tool)
        || (tool.starts_with("mcp__") && tool.ends_with("__purge_control"))
}

/// Where the call's arguments are, and the entry, if the call asked to restore one. A flat call may
/// name the tool `restore`, which does nothing else.
fn asked(
    call: &[u8],
    given: &str,
    means: &dyn Fn(&str) -> Option<String>,
    flat: bool,
) -> Option<(Span, String)> {
    let name = span::plain(span::find(call, "name")?)?;
    let own = is_purge_control(name);
    let old = flat && OLD_NAMES.contains(&name);
    let at = edit::locate(call, given).filter(|_| own || old)?;
    let given: Value = serde_json::from_slice(at.slice(call)).ok()?;
    let text = |name: &str| given.get(name).and_then(Value::as_str);
    let restores = text("action") == Some("restore") || (old && given.get("action").is_none());
    let entry = text("entry_id").or_else(|| text("entry")).filter(|_| restores)?;
    Some((at, means(bare(entry))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(row: Vec<u8>) -> String {
        String::from_utf8(row).unwrap()
    }

    #[test]
    fn an_entry_may_be_named_by_its_placeholder() {
        for named in [
            "a-1",
            " a-1 ",
            "[[extracted-a-1]]",
            "[[extracted-a-1]] 0f3a 2 KB of exec",
            "[[extracted-a-1",
        ] {
            assert_eq!(bare(named), "a-1", "{named}");
        }
        assert_eq!(bare("x]]"), "x]]");
    }

    fn asks(line: &str, entry: &str) -> Option<String> {
        let means = |asked: &str| (asked == entry).then(|| entry.to_owned());
        row(line.as_bytes(), &means).map(text)
    }

    #[test]
    fn redacts_the_restore_call_of_every_dialect() {
        let left = r#"{"action":"restore","entry":"msg-456"}"#;
        for (line, expected) in [
            (
                r#"{"type":"tool_call","name":"restore","arguments":{"entry_id":"msg-456","keys":["content","output"]}}"#.to_owned(),
                format!(r#"{{"type":"tool_call","name":"restore","arguments":{left},"_redacted":true}}"#),
            ),
            (
                r#"{"type":"tool_call","name":"purge_control","arguments":{"action":"restore","entry":"msg-456","why":"x"}}"#.to_owned(),
                format!(r#"{{"type":"tool_call","name":"purge_control","arguments":{left},"_redacted":true}}"#),
            ),
            (
                r#"{"type":"message","id":"b","message":{"role":"assistant","content":[{"type":"text","text":"msg-456"},{"type":"toolCall","id":"c1","name":"purge_control","arguments":{"action":"restore","entry_id":"msg-456","keys":["content"]}},{"type":"toolCall","id":"c2","name":"exec","arguments":{"action":"restore","entry":"msg-456"}}]}}"#.to_owned(),
                format!(r#"{{"type":"message","id":"b","message":{{"role":"assistant","content":[{{"type":"text","text":"msg-456"}},{{"type":"toolCall","id":"c1","name":"purge_control","arguments":{left}}},{{"type":"toolCall","id":"c2","name":"exec","arguments":{{"action":"restore","entry":"msg-456"}}}}]}},"_redacted":true}}"#),
            ),
            (
                r#"{"message":{"content":[{"type":"toolCall","name":"brain-guard__purge_control","arguments":{"entry_id":"msg-456","action":"restore"}}]}}"#.to_owned(),
                format!(r#"{{"message":{{"content":[{{"type":"toolCall","name":"brain-guard__purge_control","arguments":{left}}}]}},"_redacted":true}}"#),
            ),
            (
                "{\"uuid\":\"u\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"mcp__brain-guard__purge_control\",\"input\":{\"entry_id\":\"msg-456\", \"action\":\"restore\"}}]}}\n".to_owned(),
                format!("{{\"uuid\":\"u\",\"message\":{{\"content\":[{{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"mcp__brain-guard__purge_control\",\"input\":{left}}}]}},\"_redacted\":true}}\n"),
            ),
        ] {
            let row = asks(&line, "msg-456").unwrap();
            assert_eq!(row, expected);
            assert_eq!(asks(&row, "msg-456"), None, "once is enough");
        }
    }

    #[test]
    fn several_calls_of_a_row_say_each_its_own_entry() {
        let call =
            |id: &str| format!(r#"{{"type":"toolCall","name":"purge_control","arguments":{id}}}"#);
        let row =
            |calls: &[String]| format!(r#"{{"message":{{"content":[{}]}}}}"#, calls.join(","));
        let asked = [
            r#"{"action":"restore","entry_id":"[[extracted-ab12]]","keys":["content"]}"#,
            r#"{"action":"restore","entry_id":"cd"}"#,
            r#"{"action":"restore","entry_id":"ef"}"#,
        ];
        let means = |asked: &str| match asked {
            "ab12" => Some("ab12".to_owned()),
            "cd" => Some("cd34".to_owned()),
            _ => None,
        };
        let left = super::row(row(&asked.map(call)).as_bytes(), &means).unwrap();
        let expected = row(&[
            call(r#"{"action":"restore","entry":"ab12"}"#),
            call(r#"{"action":"restore","entry":"cd34"}"#),
            call(asked[2]),
        ]);
        assert_eq!(text(left), expected.replace("]}}", "]},\"_redacted\":true}"));
    }

    #[test]
    fn other_calls_stay_as_they_are() {
        for line in [
            r#"{"type":"tool_call","name":"purge_control","arguments":{"action":"restore","entry":"msg-4567"}}"#,
            r#"{"type":"tool_call","name":"purge_control","arguments":{"action":"set_extractable","entry":"msg-456"}}"#,
            r#"{"type":"tool_call","name":"exec","arguments":{"action":"restore","entry":"msg-456"}}"#,
            r#"{"type":"tool_result","name":"purge_control","arguments":{"action":"restore","entry":"msg-456"}}"#,
            r#"{"message":{"content":[{"type":"toolCall","name":"restore","arguments":{"entry_id":"msg-456"}}]}}"#,
            r#"{"message":{"content":[{"type":"toolCall","name":"x__purge_control","arguments":{"action":"restore","entry_id":"msg-456"}}]}}"#,
            r#"{"message":{"content":"purge_control restore msg-456"}}"#,
            r#"{"type":"tool_call","name":"purge_control","arguments":{"action":"restore","entry":"msg-456"},}"#,
            "msg-456",
        ] {
            assert_eq!(asks(line, "msg-456"), None, "{line}");
        }
    }
}
