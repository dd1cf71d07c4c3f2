//! Reads the client's transcripts into one list of events per session, for the judge.

use serde_json::Value;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Session {
    /// The time of the first row, by which sessions are sorted.
    pub began: String,
    pub events: Vec<Event>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A response of the model.
    Response(Usage),
    /// A tool call.
    Call { id: String, tool: String, input: Value },
    /// The result of a call.
    Result { id: String, error: bool, text: String },
    /// A text of the model.
    Text(String),
    /// A message in the user's role.
    Prompt(String),
    /// A hook's text to the model.
    Note(String),
    /// An API failure, as the client recorded it.
    Failure(String),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// All input tokens, which is the context usage.
    pub input: u64,
    /// Input tokens read from the cache.
    pub cached: u64,
    pub output: u64,
}

/// Reads a transcript and skips torn or unknown rows.
pub fn session(text: &str) -> Session {
    let mut session = Session::default();
    let mut last = String::new();
    for row in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if session.began.is_empty() {
            row["timestamp"].as_str().unwrap_or_default().clone_into(&mut session.began);
        }
        if row["isSidechain"] == true || row["isMeta"] == true {
            continue;
        }
        match row["type"].as_str() {
            Some("assistant") => assistant(&row["message"], &mut last, &mut session.events),
            Some("user") => user(&row["message"]["content"], &mut session.events),
            Some("attachment") if row["attachment"]["type"] == "hook_additional_context" => {
                let content = &row["attachment"]["content"];
                session.events.extend(texts(content).into_iter().map(Event::Note));
            }
            _ => {}
        }
    }
    session
}

/// Each block of a response has its own row, with the id and usage of the response.
fn assistant(message: &Value, last: &mut String, events: &mut Vec<Event>) {
    let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
    if message["model"] == "<synthetic>" {
        events.extend(texts(&message["content"]).into_iter().map(Event::Failure));
        return;
    }
    let id = message["id"].as_str().unwrap_or_default();
    let usage = usage(&message["usage"]);
    if id == last {
        // Only the last row has the complete figures.
        let response = events.iter_mut().rev().find(|event| matches!(event, Event::Response(_)));
        if let Some(response) = response {
            *response = Event::Response(usage);
        }
    } else {
        id.clone_into(last);
        events.push(Event::Response(usage));
    }
    for block in blocks {
        let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
        match block["type"].as_str() {
            Some("text") => events.push(Event::Text(text("text"))),
            Some("tool_use") => events.push(Event::Call {
                id: text("id"),
                tool: text("name"),
                input: block["input"].clone(),
            }),
            _ => {}
        }
    }
}

fn usage(usage: &Value) -> Usage {
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    let cached = count("cache_read_input_tokens");
    let input = count("input_tokens") + count("cache_creation_input_tokens") + cached;
    Usage { input, cached, output: count("output_tokens") }
}

fn user(content: &Value, events: &mut Vec<Event>) {
    let blocks = content.as_array().map_or(&[][..], Vec::as_slice);
    for block in blocks.iter().filter(|block| block["type"] == "tool_result") {
        events.push(Event::Result {
            id: block["tool_use_id"].as_str().unwrap_or_default().to_owned(),
            error: block["is_error"] == true,
            text: texts(&block["content"]).join("\n"),
        });
    }
    if blocks.iter().all(|block| block["type"] != "tool_result") {
        events.extend(texts(content).into_iter().map(Event::Prompt));
    }
}

fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => {
            let text = |item: &Value| item.as_str().or(item["text"].as_str()).map(str::to_owned);
            items.iter().filter_map(text).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_become_events_and_a_response_counts_once() {
        let usage = json!({"input_tokens": 3, "cache_creation_input_tokens": 10,
            "cache_read_input_tokens": 100, "output_tokens": 5});
        let row = |block: Value| {
            json!({"type": "assistant", "timestamp": "t1", "message": {
            "id": "m1", "model": "x", "content": [block], "usage": usage}})
        };
        let rows = [
            json!({"type": "user", "timestamp": "t0", "message": {"content": "do it"}}),
            row(json!({"type": "text", "text": "so"})),
            row(
                json!({"type": "tool_use", "id": "c1", "name": "Read", "input": {"file_path": "a"}}),
            ),
            json!({"type": "user", "message": {"content": [
                {"type": "tool_result", "tool_use_id": "c1", "is_error": true, "content": "no"}]}}),
            json!({"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["note"]}}),
            json!({"type": "assistant", "isSidechain": true, "message": {"id": "m2", "content": []}}),
            json!({"type": "assistant", "message": {"model": "<synthetic>", "content": [{"type": "text", "text": "down"}]}}),
        ];
        let rows: Vec<String> = rows.iter().map(Value::to_string).collect();
        let session = session(&format!("{}\n{{torn", rows.join("\n")));
        let expected = [
            Event::Prompt("do it".into()),
            Event::Response(Usage { input: 113, cached: 100, output: 5 }),
            Event::Text("so".into()),
            Event::Call { id: "c1".into(), tool: "Read".into(), input: json!({"file_path": "a"}) },
            Event::Result { id: "c1".into(), error: true, text: "no".into() },
            Event::Note("note".into()),
            Event::Failure("down".into()),
        ];
        assert_eq!((session.began.as_str(), session.events.as_slice()), ("t0", &expected[..]));
    }
}
