//! What a restore changes in a row, and what it answers (seed 001, "Restore Mechanism").

use chrono::SecondsFormat;
use serde::Serialize;
use serde_json::{Value, json};

use super::edit;
use crate::clock::Time;
use crate::transcript::span::{self, Span};

/// What an agent is told that asks for the same a second time.
const SUGGESTION: &str = "This entry was previously restored. If you need to keep this content long-term, consider setting _extractable: false on the entry.";

/// Names of the tool in the seed's rows, besides its own.
const OLD_NAMES: [&str; 2] = ["restore", "restore_remote"];

/// What a restore answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Always.
    pub restored: bool,
    /// The entry.
    pub entry_id: String,
    /// The keys that came back.
    pub keys_restored: Vec<String>,
    /// When it was restored before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_restored_at: Option<Time>,
    /// What to do instead, where it was restored before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

impl Answer {
    /// The answer for an entry of which these keys came back, and which was restored before at
    /// `previous`.
    pub fn new(entry: &str, keys: Vec<String>, previous: Option<Time>) -> Self {
        Self {
            restored: true,
            entry_id: entry.to_owned(),
            keys_restored: keys,
            previous_restored_at: previous,
            suggestion: previous.map(|_| SUGGESTION.to_owned()),
        }
    }
}

/// The row with values put back: `(key, raw JSON)`, and marked with when; `None` as time marks
/// nothing. `Err` names the key that is not there.
///
/// # Errors
/// A key that the row has not, or that lies within another one.
pub fn row(line: &[u8], values: &[(String, Vec<u8>)], at: Option<Time>) -> Result<Vec<u8>, String> {
    let mut places: Vec<(Span, &String, &Vec<u8>)> = Vec::with_capacity(values.len());
    for (key, json) in values {
        places.push((edit::locate(line, key).ok_or_else(|| key.clone())?, key, json));
    }
    places.sort_by_key(|(at, ..)| at.start);
    if let Some(both) = places.windows(2).find(|both| both[0].0.end > both[1].0.start) {
        return Err(both[1].1.clone());
    }
    let places: Vec<(Span, Vec<u8>)> =
        places.into_iter().map(|(at, _, json)| (at, json.clone())).collect();
    let restored = edit::replaced(line, &places);
    let Some(at) = at else { return Ok(restored) };
    let at = format!("\"{}\"", at.to_rfc3339_opts(SecondsFormat::Millis, true));
    edit::with_field(&restored, "_restored", Some(at.as_bytes()))
        .ok_or_else(|| "_restored".to_owned())
}

/// An entry as an agent may name it, by its placeholder: `[[extracted-ID]]` is `ID`.
pub fn bare(asked: &str) -> &str {
    let asked = asked.trim();
    let Some(rest) = asked.strip_prefix("[[extracted-") else { return asked };
    rest.split_once("]]").map_or(rest, |(id, _)| id)
}

/// The row whose tool calls asked for restores, redacted: a call keeps its place, id and name,
/// and of what it was given only the entry. `means` says which entry a call asked for that names
/// it so, or none whose call is to stay. `None` where it holds no such call, or such as are
/// redacted already.
pub fn redacted(line: &[u8], means: &dyn Fn(&str) -> Option<String>) -> Option<Vec<u8>> {
    // Most rows hold none: they are not read for it.
    memchr::memmem::find(line, b"restore").filter(|_| edit::sound(line))?;
    let mut calls = Vec::new();
    if kind(line) == Some("tool_call") {
        calls.extend(asked(line, "arguments", means, true));
    }
    let content = edit::locate(line, "message.content").or_else(|| edit::locate(line, "content"));
    let mut blocks = Vec::new();
    if let Some(content) = content {
        span::items(content.of(line), &mut blocks);
        for block in blocks {
            let block = block.shifted(content.start);
            let given = match kind(block.of(line)) {
                Some("toolCall") => "arguments",
                Some("tool_use") => "input",
                _ => continue,
            };
            let found = asked(block.of(line), given, means, false);
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

/// Where the call has what it was given, and the entry, if it asked for a restore of one. A flat
/// call may be one of the seed's tool `restore`, which has no other action.
fn asked(
    call: &[u8],
    given: &str,
    means: &dyn Fn(&str) -> Option<String>,
    flat: bool,
) -> Option<(Span, String)> {
    let name = span::plain(span::find(call, "name")?)?;
    // As OpenClaw and Claude Code call it where a tool server gives it.
    let own = ["purge_control", "brain-guard__purge_control"].contains(&name)
        || (name.starts_with("mcp__") && name.ends_with("__purge_control"));
    let old = flat && OLD_NAMES.contains(&name);
    let at = edit::locate(call, given).filter(|_| own || old)?;
    let given: Value = serde_json::from_slice(at.of(call)).ok()?;
    let text = |name: &str| given.get(name).and_then(Value::as_str);
    let restores = text("action") == Some("restore") || (old && given.get("action").is_none());
    let entry = text("entry_id").or_else(|| text("entry")).filter(|_| restores)?;
    Some((at, means(bare(entry))?))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn time() -> Time {
        DateTime::from_timestamp_millis(1_771_608_600_250).unwrap()
    }

    fn text(row: Vec<u8>) -> String {
        String::from_utf8(row).unwrap()
    }

    fn values(of: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
        of.iter().map(|(key, json)| ((*key).to_owned(), json.as_bytes().to_vec())).collect()
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

    #[test]
    fn restores_extracted_content_back() {
        let line = br#"{"id":"a","message":{"content":[{"type":"text","text":"[[extracted-a]]"}],"details":{"x":"[[extracted-a]]"}}}"#;
        let both = [
            ("message.details.x", r#""\u00e9\/""#),
            ("message.content.0.text", r#""\ud83d [[extracted-b]]""#),
        ];
        let back = text(row(line, &values(&both), None).unwrap());
        assert_eq!(
            back,
            r#"{"id":"a","message":{"content":[{"type":"text","text":"\ud83d [[extracted-b]]"}],"details":{"x":"\u00e9\/"}}}"#
        );
        assert_eq!(row(line, &[], None).unwrap(), line);
    }

    #[test]
    fn sets_restored_timestamp() {
        let line = b"{\"id\":\"a\",\"output\":\"[[extracted-a]]\"}\r\n";
        let back = row(line, &values(&[("output", "\"x\"")]), Some(time())).unwrap();
        assert_eq!(
            text(back.clone()),
            "{\"id\":\"a\",\"output\":\"x\",\"_restored\":\"2026-02-20T17:30:00.250Z\"}\r\n"
        );
        let later = time() + chrono::TimeDelta::milliseconds(750);
        let again = row(&back, &values(&[("output", "\"x\"")]), Some(later)).unwrap();
        assert_eq!(
            text(again),
            "{\"id\":\"a\",\"output\":\"x\",\"_restored\":\"2026-02-20T17:30:01.000Z\"}\r\n"
        );
    }

    #[test]
    fn error_for_a_key_that_is_not_there() {
        let line = br#"{"a":{"b":"[[extracted-a]]"},"c":1,"c":2}"#;
        for (keys, wrong) in [
            (&["a.c"][..], "a.c"),
            (&["a.b", "c"], "c"),
            (&["a.b", "a"], "a.b"),
            (&["a.b", "a.b"], "a.b"),
        ] {
            let keys: Vec<_> = keys.iter().map(|key| (*key, "1")).collect();
            assert_eq!(row(line, &values(&keys), Some(time())).unwrap_err(), wrong);
        }
        assert!(row(b"not json", &[], Some(time())).is_err());
    }

    #[test]
    fn a_second_restore_comes_with_the_seeds_suggestion() {
        let first = Answer::new("msg-456", vec!["content".into()], None);
        assert_eq!(
            serde_json::to_string(&first).unwrap(),
            r#"{"restored":true,"entry_id":"msg-456","keys_restored":["content"]}"#
        );
        let at = "2026-02-20T17:30:00Z".parse().unwrap();
        let second = Answer::new("msg-456", vec!["content".into()], Some(at));
        assert_eq!(
            serde_json::to_string(&second).unwrap(),
            r#"{"restored":true,"entry_id":"msg-456","keys_restored":["content"],"previous_restored_at":"2026-02-20T17:30:00Z","suggestion":"This entry was previously restored. If you need to keep this content long-term, consider setting _extractable: false on the entry."}"#
        );
    }

    fn asks(line: &str, entry: &str) -> Option<String> {
        let means = |asked: &str| (asked == entry).then(|| entry.to_owned());
        redacted(line.as_bytes(), &means).map(text)
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
                "{\"uuid\":\"u\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"mcp__plugin_brain-guard_brain-guard__purge_control\",\"input\":{\"entry_id\":\"msg-456\", \"action\":\"restore\"}}]}}\n".to_owned(),
                format!("{{\"uuid\":\"u\",\"message\":{{\"content\":[{{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"mcp__plugin_brain-guard_brain-guard__purge_control\",\"input\":{left}}}]}},\"_redacted\":true}}\n"),
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
        let left = redacted(row(&asked.map(call)).as_bytes(), &means).unwrap();
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
