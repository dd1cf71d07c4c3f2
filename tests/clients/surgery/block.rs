//! The blocks that the model gets, in one form for transcript rows and for requests.

use serde_json::Value;

use crate::support::mock::Request;

#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A text in the user's role.
    User(String),
    /// A file named by the user, or a message typed during a turn, in the user's role. The client
    /// moves it before the user's text, at most to the last agent message or result.
    Beside(String),
    /// A text in the agent's role.
    Agent(String),
    /// A thinking block with its signature.
    Thinking(String, String),
    /// A tool call: id, name, input.
    Call(String, String, Value),
    /// A tool result: call id, text, whether it is an error.
    Result(String, String, bool),
    /// Any other block, unchanged.
    Other(Value),
}

/// The start of the client's reminders, which it writes anew for each session.
const REMINDERS: [&str; 3] = [
    "<system-reminder>\nAs you answer the user's questions",
    "<system-reminder>\nAttribution for git commits",
    "<system-reminder>\nThe user named this session",
];

/// Appends the parts of a row that the client sends: messages, files named by the user, messages
/// typed during a turn, and the record of local commands.
pub fn blocks_of_row(row: &Value, out: &mut Vec<Block>) {
    match row["type"].as_str() {
        Some(role @ ("user" | "assistant")) => content(role, &row["message"]["content"], out),
        Some("system") if row["subtype"] == "local_command" => {
            content("user", &row["content"], out);
        }
        Some("attachment") => {
            let texts = || row["rendered"].as_array().into_iter().flatten();
            let texts = texts().filter_map(|part| part["content"].as_str()).map(strip_frame);
            if let Some("file" | "queued_command") = row["attachment"]["type"].as_str() {
                out.extend(texts.map(Block::Beside));
            }
        }
        _ => {}
    }
}

/// The conversation in a request, without the client's reminders.
pub fn blocks_of_request(request: &Request) -> Vec<Block> {
    let mut out = Vec::new();
    for message in request.messages() {
        if let Some(role @ ("user" | "assistant")) = message["role"].as_str() {
            content(role, &message["content"], &mut out);
        }
    }
    out
}

fn content(role: &str, content: &Value, out: &mut Vec<Block>) {
    let words = |text: &str| match role {
        "user" => Block::User(strip_frame(text)),
        _ => Block::Agent(text.to_owned()),
    };
    if let Some(text) = content.as_str() {
        out.extend(is_no_reminder(text).then(|| words(text)));
    }
    for block in content.as_array().into_iter().flatten() {
        let field = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
        out.push(match block["type"].as_str() {
            Some("text") if !is_no_reminder(&field("text")) => continue,
            Some("text") => words(&field("text")),
            Some("thinking") => Block::Thinking(field("thinking"), field("signature")),
            Some("tool_use") => Block::Call(field("id"), field("name"), block["input"].clone()),
            Some("tool_result") => {
                let is_error = block["is_error"] == true;
                Block::Result(field("tool_use_id"), text_of(&block["content"]), is_error)
            }
            _ => Block::Other(block.clone()),
        });
    }
}

fn is_no_reminder(text: &str) -> bool {
    !REMINDERS.iter().any(|reminder| text.starts_with(reminder))
}

/// Removes the reminder tags, which the client adds for some roles only, and the line break that
/// it adds between the texts of one message.
fn strip_frame(text: &str) -> String {
    let text = text.trim_end();
    let inner = text.strip_prefix("<system-reminder>\n");
    let inner = inner.and_then(|text| text.strip_suffix("\n</system-reminder>")).unwrap_or(text);
    match inner.find("<task-notification>") {
        Some(at) if inner.starts_with("[SYSTEM NOTIFICATION") => inner[at..].to_owned(),
        _ => inner.to_owned(),
    }
}

/// The text of a result, which is a string or a list of text blocks.
fn text_of(content: &Value) -> String {
    let blocks = content.as_array().into_iter().flatten();
    let texts = blocks.filter_map(|block| block["text"].as_str());
    content.as_str().map_or_else(|| texts.collect::<Vec<_>>().join("\n"), str::to_owned)
}
