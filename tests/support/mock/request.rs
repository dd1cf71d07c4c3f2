//! A request as the scripted agent and the tests read it.

use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::http::Message;
use crate::support::evidence::short;

/// The conversation that a request belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Main,
    Subagent,
    /// A call by the client itself: a title (no tools) or a compaction summary (the tools of the
    /// main conversation).
    Side,
}

/// The start of the client's prompt for a compaction summary.
const SUMMARY: &str = "CRITICAL: Respond with TEXT ONLY";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    pub id: String,
    pub text: String,
    pub is_error: bool,
}

/// One call of `/v1/messages`.
#[derive(Debug)]
pub struct Request {
    pub kind: Kind,
    /// Number among the requests of its kind, from 1. A retry counts again.
    pub n: usize,
    /// The arrival time since the mock's start.
    pub at: Duration,
    pub session: Option<String>,
    pub agent: Option<String>,
    pub headers: Vec<(String, String)>,
    pub body: Value,
    /// A hash of what is before each message, and of the whole.
    before: Vec<u64>,
}

impl Request {
    pub(super) fn new(message: Message, body: Value, at: Duration) -> Self {
        let agent = message.header("x-claude-code-agent-id").map(str::to_owned);
        let session = message.header("x-claude-code-session-id").map(str::to_owned);
        let before = before(&body);
        let headers = message.headers;
        let mut request =
            Self { kind: Kind::Main, n: 0, at, session, agent, headers, body, before };
        if request.agent.is_some() {
            request.kind = Kind::Subagent;
        } else if request.body["tools"].as_array().is_none_or(Vec::is_empty)
            || request.prompt().starts_with(SUMMARY)
        {
            request.kind = Kind::Side;
        }
        request
    }

    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// How many thinking blocks it has, and how many of them a newer model refuses: a block counts
    /// only after exactly what was before it in the request that it answered.
    pub fn thinking<'a>(&self, asked: impl Iterator<Item = &'a Arc<Request>>) -> (usize, usize) {
        let made: HashMap<String, Option<&u64>> =
            asked.map(|request| (format!("sig{}", request.key()), request.before.last())).collect();
        let (mut all, mut refused) = (0, 0);
        for (message, before) in self.messages().iter().zip(&self.before) {
            let blocks = message["content"].as_array().into_iter().flatten();
            for block in blocks.filter(|block| block["type"] == "thinking") {
                let signature = block["signature"].as_str().unwrap_or_default();
                all += 1;
                refused += usize::from(made.get(signature) != Some(&Some(before)));
            }
        }
        (all, refused)
    }

    /// Makes the ids in its answer unique.
    pub(super) fn key(&self) -> String {
        format!("{:?}{:04}", self.kind, self.n).to_ascii_lowercase()
    }

    fn by_role(&self, role: &str) -> impl DoubleEndedIterator<Item = &Value> {
        self.messages().iter().filter(move |message| message["role"] == role)
    }

    /// The content of the last user message. The last message overall may have the role `system`.
    fn last_user(&self) -> &Value {
        self.by_role("user").next_back().map_or(&Value::Null, |message| &message["content"])
    }

    pub fn last_user_text(&self) -> String {
        texts(self.last_user()).join("\n")
    }

    /// The last text block of the last user message. Earlier blocks are the client's reminders.
    pub fn prompt(&self) -> &str {
        texts(self.last_user()).last().copied().unwrap_or_default()
    }

    pub fn user_texts(&self) -> Vec<&str> {
        self.by_role("user").flat_map(|message| texts(&message["content"])).collect()
    }

    /// The texts of all messages of role `system`, where the output of hooks arrives.
    pub fn system_texts(&self) -> Vec<&str> {
        self.by_role("system").flat_map(|message| texts(&message["content"])).collect()
    }

    /// The parts of compaction files: the rest of the opening marker, and the text.
    pub fn notes(&self) -> Vec<(String, String)> {
        let mut parts = Vec::new();
        for text in self.user_texts().into_iter().chain(self.system_texts()) {
            for found in text.split("<<<<< compaction file ").skip(1) {
                let Some((head, rest)) = found.split_once('\n') else { continue };
                let id = head.split(',').next().unwrap_or_default();
                let end = rest.match_indices("\n>>>>> end of ").find(|(at, _)| {
                    rest[*at + 1..].lines().next().is_some_and(|line| line.ends_with(id))
                });
                let file = end.map_or(rest, |(at, _)| &rest[..at]);
                parts.push((head.to_owned(), file.to_owned()));
            }
        }
        parts.sort();
        parts
    }

    pub fn tool_results(&self) -> Vec<ToolResult> {
        let blocks = self.last_user().as_array().map_or(&[][..], Vec::as_slice);
        let results = blocks.iter().filter(|block| block["type"] == "tool_result");
        results
            .map(|block| ToolResult {
                id: block["tool_use_id"].as_str().unwrap_or_default().to_owned(),
                text: texts(&block["content"]).join("\n"),
                is_error: block["is_error"] == true,
            })
            .collect()
    }

    /// Whether the body contains `needle`: system prompt, messages or tools.
    pub fn contains(&self, needle: &str) -> bool {
        holds(&self.body, needle)
    }

    /// Whether a message contains `needle`.
    pub fn said(&self, needle: &str) -> bool {
        holds(&self.body["messages"], needle)
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let session = self.session.as_deref().map_or("?", |id| id.get(..8).unwrap_or(id));
        let at = self.at.as_secs_f64();
        write!(f, "{:?} {} at {at:.2} s, session {session}", self.kind, self.n)?;
        write!(f, ", {} messages: {}", self.messages().len(), short(&self.last_user_text(), 160))?;
        for result in self.tool_results() {
            let mark = if result.is_error { "error" } else { "result" };
            write!(f, "\n    {mark} {}: {}", result.id, short(&result.text, 200))?;
        }
        Ok(())
    }
}

/// What the API compares: system prompt, tools and messages, without marks of the prompt cache.
fn before(body: &Value) -> Vec<u64> {
    let mut hasher = DefaultHasher::new();
    let system = body["system"].as_array().into_iter().flatten();
    // It says what the client was started as.
    let is_billing =
        |part: &&Value| part["text"].as_str().is_some_and(|t| t.starts_with("x-anthropic-billing"));
    let system: Vec<&Value> = system.filter(|part| !is_billing(part)).collect();
    plain(&json!([system, body["tools"]])).to_string().hash(&mut hasher);
    let mut all = vec![hasher.finish()];
    for message in body["messages"].as_array().into_iter().flatten() {
        plain(message).to_string().hash(&mut hasher);
        all.push(hasher.finish());
    }
    all
}

fn texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => Vec::new(),
    }
}

fn holds(value: &Value, needle: &str) -> bool {
    match value {
        Value::String(text) => text.contains(needle),
        Value::Array(items) => items.iter().any(|item| holds(item, needle)),
        Value::Object(fields) => fields.values().any(|field| holds(field, needle)),
        _ => false,
    }
}

/// A value without marks of the prompt cache; texts in one form.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(name, _)| *name != "cache_control");
            let field = |(name, value): (&String, &Value)| match value {
                Value::String(text) if name == "content" => {
                    (name.clone(), json!([{"type": "text", "text": text}]))
                }
                _ => (name.clone(), plain(value)),
            };
            Value::Object(fields.map(field).collect())
        }
        Value::Array(items) => items.iter().map(plain).collect(),
        other => other.clone(),
    }
}
