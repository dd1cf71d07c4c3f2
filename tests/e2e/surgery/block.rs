//! What the model is told, block by block: of a transcript's row and of a request, in one form.

use serde_json::Value;

use crate::mock::Request;

/// A block of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Words in the user's role.
    User(String),
    /// A file that the user named, or a message typed while a turn ran: words in the user's role. The client
    /// puts them before what the user says, up to the agent's last message or the last result.
    Beside(String),
    /// Words in the agent's role.
    Agent(String),
    /// A thinking block with its signature.
    Thinking(String, String),
    /// A tool call: id, name, input.
    Call(String, String, Value),
    /// A call's result: the call's id, its text, whether it is an error.
    Result(String, String, bool),
    /// Anything else, as it is.
    Other(Value),
}

/// How the client's own reminders begin, which it makes anew for each session.
const REMINDERS: [&str; 3] = [
    "<system-reminder>\nAs you answer the user's questions",
    "<system-reminder>\nAttribution for git commits",
    "<system-reminder>\nThe user named this session",
];

/// Appends what of a row is sent: messages, files that the user named, messages typed while a turn ran, and the
/// record of local commands.
pub fn blocks_of_row(row: &Value, out: &mut Vec<Block>) {
    match row["type"].as_str() {
        Some(role @ ("user" | "assistant")) => content(role, &row["message"]["content"], out),
        Some("system") if row["subtype"] == "local_command" => {
            content("user", &row["content"], out);
        }
        Some("attachment") => {
            let texts = || row["rendered"].as_array().into_iter().flatten();
            let texts = texts().filter_map(|part| part["content"].as_str()).map(bare);
            if let Some("file" | "queued_command") = row["attachment"]["type"].as_str() {
                out.extend(texts.map(Block::Beside));
            }
        }
        _ => {}
    }
}

/// The conversation in a request, without the reminders that the client makes anew.
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
        "user" => Block::User(bare(text)),
        _ => Block::Agent(text.to_owned()),
    };
    if let Some(text) = content.as_str() {
        out.extend(told(text).then(|| words(text)));
    }
    for block in content.as_array().into_iter().flatten() {
        let field = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
        out.push(match block["type"].as_str() {
            Some("text") if !told(&field("text")) => continue,
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

fn told(text: &str) -> bool {
    !REMINDERS.iter().any(|reminder| text.starts_with(reminder))
}

/// Without the frame that the client puts around it or not, depending on the role, and without the line break
/// that it adds between the texts of one message.
fn bare(text: &str) -> String {
    let text = text.trim_end();
    let inner = text.strip_prefix("<system-reminder>\n");
    let inner = inner.and_then(|text| text.strip_suffix("\n</system-reminder>")).unwrap_or(text);
    match inner.find("<task-notification>") {
        Some(at) if inner.starts_with("[SYSTEM NOTIFICATION") => inner[at..].to_owned(),
        _ => inner.to_owned(),
    }
}

/// The text of a result: a string, or blocks of text.
fn text_of(content: &Value) -> String {
    let blocks = content.as_array().into_iter().flatten();
    let texts = blocks.filter_map(|block| block["text"].as_str());
    content.as_str().map_or_else(|| texts.collect::<Vec<_>>().join("\n"), str::to_owned)
}
