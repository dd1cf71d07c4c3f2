//! K: payloads from other systems, in other shapes, and large ones.

use serde_json::json;

use crate::faults::case::{self, Case};
use crate::faults::tally::{Expect, Tally};
use crate::support::hook::percent_in;

pub const CASES: &[Case] = &[
    ("K payload: CRLF, a byte order mark, a NUL, two of them", odd_payloads),
    ("K payload: large ones", large_payloads),
    ("K payload: fields of other types", odd_fields),
];

fn odd_payloads(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    let call = case::read(&hook);
    let pretty = serde_json::to_string_pretty(&call).expect("JSON");
    // Text that is still one payload is answered.
    for text in
        [pretty.replace('\n', "\r\n"), format!("\r\n{call}\r\n"), format!("{call}\n\n"), pretty]
    {
        t.bytes(&hook, text.as_bytes(), Expect::Block);
    }
    // Other text lets the call pass.
    for text in [
        format!("\u{feff}{call}"),
        format!("{call}\0"),
        format!("{call}{call}"),
        format!("[{call}]"),
    ] {
        t.bytes(&hook, text.as_bytes(), Expect::Silence);
    }
    let utf16: Vec<u8> = call.to_string().encode_utf16().flat_map(u16::to_le_bytes).collect();
    t.bytes(&hook, &utf16, Expect::Silence);
    let text = call.to_string();
    for end in (0..text.len()).step_by(23) {
        t.bytes(&hook, &text.as_bytes()[..end], Expect::Silence);
    }
}

fn large_payloads(t: &mut Tally) {
    for (percent, expect) in [(6.0, Expect::Silence), (percent_in("narrow"), Expect::Block)] {
        let hook = t.filled(percent);
        let input = json!({"file_path": "/tmp/x", "content": "y \"z\"\n".repeat(700_000)});
        t.send(&hook, &hook.call("Write", &input), expect);
        let command = format!("cat <<'EOF'\n{}EOF\n", "line\n".repeat(20_000));
        t.send(&hook, &case::bash(&hook, &command), expect);
    }
    // Larger than the hook reads, so it passes.
    let hook = t.filled(percent_in("narrow"));
    let input = json!({"file_path": "/tmp/x", "content": "y".repeat(65 << 20)});
    t.silence(&hook, &hook.call("Write", &input));
}

fn odd_fields(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    let odd = [json!(null), json!(7), json!("x"), json!([1]), json!({"a": {"b": 1}}), json!(true)];
    for field in [
        "cwd",
        "permission_mode",
        "tool_input",
        "tool_use_id",
        "transcript_path",
        "agent_id",
        "model",
    ] {
        for value in &odd {
            let mut call = case::bash(&hook, "ls");
            call[field] = value.clone();
            // An unknown shape is no opinion; otherwise the session is as full as before.
            t.send(&hook, &call, Expect::Either);
        }
    }
    for field in ["tool_name", "hook_event_name", "session_id"] {
        for value in odd.iter().filter(|value| !value.is_string()) {
            let mut call = case::bash(&hook, "ls");
            call[field] = value.clone();
            t.silence(&hook, &call);
        }
    }
    t.block(&hook, &case::bash(&hook, "ls"));
}
