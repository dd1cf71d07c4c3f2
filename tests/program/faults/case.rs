//! What a case is, and the payloads for cases.

use std::fs;
use std::io::Write as _;

use serde_json::{Value, json};

use crate::faults::tally::Tally;
use crate::support::hook::Hook;

/// One trap: its letter and description, and the function that sets it.
pub type Case = (&'static str, fn(&mut Tally));

/// The model with a 1M window.
pub const OPUS: &str = "claude-opus-5-5";

/// The model with a 200k window.
pub const SONNET: &str = "claude-sonnet-4-5-20250929";

/// Asks whether a new file may be read: refused from block-reads up.
pub fn read(hook: &Hook) -> Value {
    hook.call("Read", &json!({"file_path": "/etc/hostname"}))
}

/// Asks whether a command may run: refused in narrow.
pub fn bash(hook: &Hook, command: &str) -> Value {
    hook.call("Bash", &json!({"command": command}))
}

/// The end of a batch of calls, where notes are given.
pub fn batch(hook: &Hook) -> Value {
    hook.payload("PostToolBatch", &json!({"tool_calls": []}))
}

/// The end of a turn.
pub fn stop(hook: &Hook) -> Value {
    hook.payload("Stop", &json!({"background_tasks": [], "stop_hook_active": false}))
}

/// A session's start from this source.
pub fn start(hook: &Hook, source: &str) -> Value {
    hook.payload("SessionStart", &json!({"source": source}))
}

/// A prompt.
pub fn prompt(hook: &Hook, text: &str) -> Value {
    hook.payload("UserPromptSubmit", &json!({"prompt": text}))
}

/// Marks a payload as coming from a subagent.
pub fn inside(mut payload: Value) -> Value {
    payload["agent_id"] = "a57d1be77952c40a2".into();
    payload["agent_type"] = "general-purpose".into();
    payload
}

/// Adds a line with its newline to the transcript, like the client.
pub fn row(hook: &Hook, row: &Value) {
    raw_row(hook, format!("{row}\n").as_bytes());
}

/// Adds bytes to the transcript.
pub fn raw_row(hook: &Hook, bytes: &[u8]) {
    let opened = fs::File::options().append(true).create(true).open(&hook.transcript);
    opened.and_then(|mut file| file.write_all(bytes)).expect("transcript");
}

/// A response of the main loop that leaves `tokens` in the context.
pub fn response(id: &str, tokens: u64) -> Value {
    let now = base::clock::now().to_rfc3339();
    json!({"type": "assistant", "isSidechain": false, "timestamp": now, "message": {
        "id": id, "model": OPUS, "role": "assistant", "content": [{"type": "text", "text": "ok"}],
        "usage": {"input_tokens": 7, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": tokens.saturating_sub(107), "output_tokens": 100}}})
}

/// A tool result or prompt of this many bytes.
pub fn result(bytes: usize) -> Value {
    json!({"type": "user", "isSidechain": false, "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x".repeat(bytes)}]}})
}

/// Leaves the module's reading of the next call for the hook.
pub fn snapshot(hook: &Hook, reading: &Value) {
    let dir = hook.places().snapshots();
    fs::create_dir_all(&dir).expect("folder");
    fs::write(dir.join("toolu_1.json"), reading.to_string()).expect("snapshot");
}

/// The client's compaction row.
pub fn boundary(metadata: &Value) -> Value {
    let now = base::clock::now().to_rfc3339();
    json!({"type": "system", "subtype": "compact_boundary", "isSidechain": false, "timestamp": now,
        "parentUuid": null, "content": "Conversation compacted", "compactMetadata": metadata})
}
