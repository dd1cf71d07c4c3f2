//! Transcripts of any length with the row mix of client 2.1.329: prompts with client rows around
//! them, responses with request, thinking, text and calls, and results from a line to a picture.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::MB;

/// Bytes of distinct rows; longer transcripts repeat them.
const BODY: usize = 8 * MB as usize;

/// Bytes at the end that all transcripts share, so that reads from the end differ only by file
/// length.
const TAIL: usize = 768 * 1024;

/// The context size in the last response.
pub const USED: u64 = 48_350;

const SESSION: &str = "00000000-0000-4000-8000-000000000000";
const AT: &str = "2026-11-21T02:16:25.315Z";

/// The transcript's path; all these paths have the same length.
pub fn path(folder: &Path, megabytes: u64) -> PathBuf {
    folder.join(format!("{megabytes:04}.jsonl"))
}

/// Writes a transcript for each length in MB: the body up to the last row that fits, then the tail.
///
/// # Errors
/// Any I/O error.
pub fn write(folder: &Path, sizes: &[u64]) -> io::Result<()> {
    let (body, tail) = (rows(0, BODY), rows(1_000_000, TAIL));
    let cut = tail.len() - TAIL;
    let tail = &tail[cut + memchr::memchr(b'\n', &tail[cut..]).map_or(0, |newline| newline + 1)..];
    let read = json!([{"type": "tool_use", "id": "toolu_last", "name": "Read", "input": {"file_path": "/etc/hostname"}}]);
    let last = format!("{}\n", assistant(2_000_000, &read, USED - 100));
    for mb in sizes {
        let mut out = BufWriter::new(File::create(path(folder, *mb))?);
        let mut left = (mb * MB) as usize - tail.len() - last.len();
        for row in body.split_inclusive(|byte| *byte == b'\n').cycle() {
            if row.len() > left {
                break;
            }
            out.write_all(row)?;
            left -= row.len();
        }
        out.write_all(tail)?;
        out.write_all(last.as_bytes())?;
        out.flush()?;
        // Pending disk writes would distort the measurement.
        out.get_ref().sync_all()?;
    }
    Ok(())
}

/// Rows of complete turns, this many bytes or slightly more.
fn rows(from: usize, bytes: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for turn in from.. {
        for row in self::turn(turn) {
            serde_json::to_writer(&mut out, &row).expect("a row");
            out.push(b'\n');
        }
        if out.len() >= bytes {
            break;
        }
    }
    out
}

/// One prompt with its six to fourteen responses.
fn turn(n: usize) -> Vec<Value> {
    let mut rows = vec![
        json!({"type": "mode", "mode": "normal", "sessionId": SESSION}),
        json!({"type": "permission-mode", "permissionMode": "bypassPermissions", "sessionId": SESSION}),
        json!({"type": "file-history-snapshot", "messageId": uuid(n), "isSnapshotUpdate": false,
            "snapshot": {"messageId": uuid(n), "trackedFileBackups": {}, "timestamp": AT}}),
        common(
            n,
            json!({"type": "user", "message": {"role": "user", "content": "p".repeat(40 + n % 400)}}),
        ),
        common(
            n,
            json!({"type": "attachment", "attachment": {"type": "date"}, "rendered": "d".repeat(300)}),
        ),
    ];
    if n.is_multiple_of(8) {
        let prompt = json!({"type": "prompt_snapshot", "text": "s".repeat(16_000)});
        rows.push(common(n, json!({"type": "attachment", "attachment": prompt})));
        rows.push(
            json!({"type": "api-request-shape", "shape": "t".repeat(20_700), "sessionId": SESSION}),
        );
    }
    for response in 0..6 + n % 9 {
        rows.extend(self::response(n * 16 + response));
    }
    rows.extend([
        common(
            n,
            json!({"type": "system", "subtype": "stop_hook_summary", "hookInfos": "h".repeat(330)}),
        ),
        common(n, json!({"type": "system", "subtype": "turn_duration", "durationMs": 81_234})),
        json!({"type": "last-prompt", "lastPrompt": "p".repeat(60), "sessionId": SESSION}),
        json!({"type": "cost-state", "state": "c".repeat(480), "sessionId": SESSION}),
    ]);
    rows
}

/// One response: its request, the model's text, its calls and their results.
fn response(n: usize) -> Vec<Value> {
    let thinking =
        json!([{"type": "thinking", "thinking": "", "signature": "g".repeat(400 + n % 900)}]);
    let text = json!([{"type": "text", "text": "x".repeat(80 + n % 700)}]);
    let mut rows = vec![
        json!({"type": "api-request-blob", "blob": "b".repeat(900 + n % 3_000), "sessionId": SESSION}),
        json!({"type": "api-request", "request": "r".repeat(900), "sessionId": SESSION}),
        assistant(n, &thinking, 20_000),
        assistant(n, &text, 20_000),
    ];
    for call in 0..=n % 3 {
        let (id, input) =
            (format!("toolu_{n}_{call}"), json!({"command": "y".repeat(40 + n % 900)}));
        let content = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": input}]);
        rows.push(assistant(n, &content, 20_000));
    }
    for call in 0..=n % 3 {
        let length = [120, 900, 2_400, 7_000, 30_000][(n * 7 + call) % 5];
        let content = if (n + call).is_multiple_of(97) {
            json!([{"type": "image", "source": {"type": "base64", "data": "A".repeat(200_000)}}])
        } else {
            json!("line of output\n".repeat(length / 15))
        };
        rows.push(common(n, json!({
            "type": "user",
            "message": {"role": "user", "content": [
                {"tool_use_id": format!("toolu_{n}_{call}"), "type": "tool_result", "content": content, "is_error": false}]},
            "toolUseResult": {"stdout": "z".repeat(length), "stderr": "", "interrupted": false, "isImage": false},
            "permissionDecision": {"decision": "accept", "source": "config", "reasonType": "mode"},
        })));
    }
    rows
}

fn uuid(n: usize) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

fn assistant(n: usize, content: &Value, tokens: u64) -> Value {
    common(
        n,
        json!({
            "type": "assistant",
            "message": {"id": format!("msg_{n}"), "type": "message", "role": "assistant", "model": "claude-opus-5-5",
                "content": content, "stop_reason": "tool_use", "stop_sequence": null,
                "usage": {"input_tokens": 7, "cache_creation_input_tokens": 0, "cache_read_input_tokens": tokens - 7,
                    "output_tokens": 100, "service_tier": "standard", "speed": "standard"}},
            "requestId": format!("req_{n:020}"), "requestedModel": "claude-opus-5-5", "effort": "medium",
        }),
    )
}

/// The fields that most rows share.
fn common(n: usize, mut row: Value) -> Value {
    let more = json!({
        "parentUuid": uuid(n), "isSidechain": false, "uuid": uuid(n + 1), "timestamp": AT, "userType": "external",
        "entrypoint": "cli", "cwd": "/home/dev/project", "sessionId": SESSION, "version": "2.1.329", "gitBranch": "HEAD",
    });
    if let (Value::Object(row), Value::Object(more)) = (&mut row, more) {
        row.extend(more);
    }
    row
}
