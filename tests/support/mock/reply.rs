//! The answers of the scripted agent, and their wire format.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::evidence::lock;

/// Holds answers back until the test opens it.
#[derive(Clone, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    pub fn open(&self) {
        *lock(&self.0.0) = true;
        self.0.1.notify_all();
    }

    /// Waits up to `at_most` and returns whether the gate is open.
    pub fn wait(&self, at_most: Duration) -> bool {
        let closed = lock(&self.0.0);
        let waited = self.0.1.wait_timeout_while(closed, at_most, |open| !*open);
        *waited.unwrap_or_else(std::sync::PoisonError::into_inner).0
    }
}

enum Block {
    Text(String),
    Thinking(String),
    Tool { id: Option<String>, name: String, input: Value },
}

/// One answer of the agent: content blocks with their usage, or an HTTP error.
pub struct Reply {
    blocks: Vec<Block>,
    context: u64,
    output: u64,
    pub(super) error: Option<u16>,
    pub(super) delay: Duration,
    pub(super) gate: Option<Gate>,
    /// The number of blocks after which the connection breaks.
    pub(super) breaks: Option<usize>,
}

impl Reply {
    fn empty() -> Self {
        Self {
            blocks: Vec::new(),
            context: 20_000,
            output: 50,
            error: None,
            delay: Duration::ZERO,
            gate: None,
            breaks: None,
        }
    }

    /// A plain text; it ends the turn.
    pub fn text(text: impl Into<String>) -> Self {
        Self::empty().and_text(text)
    }

    /// A thinking block as the start of a message.
    pub fn thinking(text: impl Into<String>) -> Self {
        Self::empty().and_thinking(text)
    }

    pub fn tool(name: &str, input: Value) -> Self {
        Self::empty().and_tool(name, input)
    }

    pub fn bash(command: &str) -> Self {
        Self::tool("Bash", json!({"command": command, "description": "step"}))
    }

    /// A question to the user with two answers.
    pub fn question(question: &str, answers: [&str; 2]) -> Self {
        Self::tool("AskUserQuestion", Self::question_input(question, answers))
    }

    pub fn question_input(question: &str, answers: [&str; 2]) -> Value {
        let options = answers.map(|label| json!({"label": label, "description": "a choice"}));
        json!({"questions": [{
            "question": question, "header": "Choice", "multiSelect": false, "options": options,
        }]})
    }

    /// An HTTP error with the API's error object: 400, 401, 429, 500 or 529.
    pub fn error(status: u16) -> Self {
        Self { error: Some(status), ..Self::empty() }
    }

    pub fn and_text(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Block::Text(text.into()));
        self
    }

    pub fn and_thinking(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Block::Thinking(text.into()));
        self
    }

    /// Adds a tool call; its id is unique within the mock.
    pub fn and_tool(mut self, name: &str, input: Value) -> Self {
        self.blocks.push(Block::Tool { id: None, name: name.to_owned(), input });
        self
    }

    /// Adds a tool call with a known id.
    pub fn and_tool_id(mut self, id: &str, name: &str, input: Value) -> Self {
        self.blocks.push(Block::Tool { id: Some(id.to_owned()), name: name.to_owned(), input });
        self
    }

    /// Sets the reported input tokens, split as with a warm cache: few fresh, up to 1,000 written,
    /// the rest read.
    pub fn tokens(mut self, context: u64) -> Self {
        self.context = context;
        self
    }

    /// Sets the reported output tokens.
    pub fn output(mut self, output: u64) -> Self {
        self.output = output;
        self
    }

    /// Delays the answer.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Streams half of the first block, then waits until the gate opens or the client gives up. The
    /// client shows whole lines only.
    pub fn hang(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Breaks the connection after this many complete blocks of a streamed answer.
    pub fn breaks_after(mut self, blocks: usize) -> Self {
        self.breaks = Some(blocks);
        self
    }

    fn usage(&self, output: u64) -> Value {
        let fresh = self.context.min(7);
        let written = (self.context - fresh).min(1_000);
        json!({
            "input_tokens": fresh,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": self.context - fresh - written,
            "output_tokens": output,
        })
    }

    fn stop_reason(&self) -> &'static str {
        if self.blocks.iter().any(|block| matches!(block, Block::Tool { .. })) {
            "tool_use"
        } else {
            "end_turn"
        }
    }

    /// The complete content blocks, as in an answer without streaming. `key` makes the ids unique.
    fn content(&self, key: &str) -> Vec<Value> {
        let block = |(index, block): (usize, &Block)| match block {
            Block::Text(text) => json!({"type": "text", "text": text}),
            Block::Thinking(text) => {
                json!({"type": "thinking", "thinking": text, "signature": format!("sig{key}")})
            }
            Block::Tool { id, name, input } => {
                let id = id.clone().unwrap_or_else(|| format!("toolu_{key}_{index}"));
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
        };
        self.blocks.iter().enumerate().map(block).collect()
    }

    /// The message of an answer without streaming.
    pub(super) fn message(&self, key: &str, model: &Value) -> Value {
        json!({
            "id": format!("msg_{key}"), "type": "message", "role": "assistant", "model": model,
            "content": self.content(key), "stop_reason": self.stop_reason(), "stop_sequence": null,
            "usage": self.usage(self.output),
        })
    }

    pub(super) fn events(&self, key: &str, model: &Value) -> Vec<Value> {
        let start = json!({
            "id": format!("msg_{key}"), "type": "message", "role": "assistant", "model": model,
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": self.usage(1),
        });
        let mut events = vec![json!({"type": "message_start", "message": start})];
        for (index, block) in self.content(key).into_iter().enumerate() {
            let (start, deltas) = stream_block(block);
            events.push(
                json!({"type": "content_block_start", "index": index, "content_block": start}),
            );
            events.extend(deltas.map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ));
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
        let delta = json!({"stop_reason": self.stop_reason(), "stop_sequence": null});
        events.push(
            json!({"type": "message_delta", "delta": delta, "usage": self.usage(self.output)}),
        );
        events.push(json!({"type": "message_stop"}));
        events
    }
}

pub(super) fn error_body(status: u16) -> Value {
    let (kind, message) = match status {
        400 => ("invalid_request_error", "invalid request"),
        401 => ("authentication_error", "invalid x-api-key"),
        429 => ("rate_limit_error", "rate limited"),
        529 => ("overloaded_error", "Overloaded"),
        _ => ("api_error", "Internal server error"),
    };
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_mock"})
}

/// The API's refusal of a thinking block after a change.
pub(super) fn bound_body() -> Value {
    let mut body = error_body(400);
    body["error"]["message"] = json!(
        "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a \
         different conversation."
    );
    body
}

/// Splits a complete block into the empty start block and its deltas.
fn stream_block(mut block: Value) -> (Value, impl Iterator<Item = Value>) {
    let deltas = match block["type"].as_str() {
        Some("tool_use") => {
            let input = std::mem::replace(&mut block["input"], json!({}));
            vec![json!({"type": "input_json_delta", "partial_json": input.to_string()})]
        }
        Some("thinking") => {
            let text = std::mem::replace(&mut block["thinking"], json!(""));
            let signature = std::mem::replace(&mut block["signature"], json!(""));
            vec![
                json!({"type": "thinking_delta", "thinking": text}),
                json!({"type": "signature_delta", "signature": signature}),
            ]
        }
        _ => {
            let text = std::mem::replace(&mut block["text"], json!(""));
            let text = text.as_str().unwrap_or_default();
            let half = text.chars().count().div_ceil(2);
            let head: String = text.chars().take(half).collect();
            let tail: String = text.chars().skip(half).collect();
            vec![
                json!({"type": "text_delta", "text": head}),
                json!({"type": "text_delta", "text": tail}),
            ]
        }
    };
    (block, deltas.into_iter())
}
