//! A session in OpenClaw's format with all cases that extraction must distinguish, and the
//! comparison of two versions of it.

use serde_json::{Value, json};

pub const ID: &str = "3f2c1a44-7a1e-4a55-9e8f-0b1f6a2d9c01";

pub fn rows() -> Vec<Value> {
    let mut all = Rows::default();
    all.user("list the files, and read the two that matter");
    all.assistant(&[
        json!({"type": "thinking", "thinking": long("I should look around first", 40)}),
        call("c1", "exec", &json!({"command": "ls -R"})),
    ]);
    let listed = long("-rw-r--r-- 1 u u 4096 Feb 21 10:30 naïve \u{1f9e0} file", 120);
    all.result("c1", "exec", &[text(&listed)], &json!({"aggregated": listed, "exitCode": 0}));
    all.assistant(&[
        json!({"type": "thinking", "thinking": long("Both at once", 60), "thinkingSignature": "c2lnbmVk"}),
        text("I read both."),
        call("c2", "read", &json!({"path": "a.rs"})),
        call("c3", "read", &json!({"path": "b.png"})),
    ]);
    let quoted = format!("{}[[extracted-a0000003]] as somebody wrote it", long("fn a() {}", 90));
    all.result("c2", "read", &[text(&quoted)], &Value::Null);
    let image =
        json!({"type": "image", "data": "iVBORw0KGgo=".repeat(90), "mimeType": "image/png"});
    let halves = [text(&long("left \"half\"\t", 80)), image, text(&long("right \\ half", 80))];
    all.result("c3", "read", &halves, &Value::Null);
    all.assistant(&[text("Here they are.")]);
    // A branch that was abandoned.
    let fork = all.last.clone();
    all.user("and the tests?");
    all.assistant(&[text(&long("None that I have seen", 50))]);
    all.last = fork;
    all.push(&json!({"type": "custom", "customType": "note", "data": {"text": long("kept", 200)}}));
    for round in 0..3 {
        all.user(&format!("go on with {round}"));
        let id = format!("d{round}");
        all.assistant(&[call(&id, "exec", &json!({"command": "make"}))]);
        all.result(&id, "exec", &[text(&long("cc -O2 -c part.c", 60 + round))], &Value::Null);
        all.assistant(&[text("Done.")]);
        if round == 0 {
            let kept = all.last.clone();
            all.push(&json!({
                "type": "compaction", "summary": "Files were listed and read.",
                "firstKeptEntryId": kept, "tokensBefore": 50_000,
            }));
        }
    }
    all.rows
}

pub fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| row.to_string() + "\n").collect()
}

fn long(words: &str, times: usize) -> String {
    (0..times).flat_map(|n| [words.to_owned(), format!(" {n}\n")]).collect()
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

fn call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments})
}

struct Rows {
    rows: Vec<Value>,
    last: Value,
}

impl Default for Rows {
    fn default() -> Self {
        let time = "2026-02-20T10:00:00.000Z";
        let first = json!({"type": "session", "version": 3, "id": ID, "timestamp": time, "cwd": "/home/dev/project"});
        let mut rows = Self { rows: vec![first], last: Value::Null };
        rows.push(&json!({"type": "model_change", "provider": "anthropic", "modelId": "claude-sonnet-4-5"}));
        rows
    }
}

impl Rows {
    fn push(&mut self, row: &Value) {
        let n = self.rows.len();
        let mut whole = json!({"id": format!("a{n:07}"), "parentId": self.last});
        whole["timestamp"] = format!("2026-02-20T10:{:02}:{:02}.000Z", n / 60, n % 60).into();
        for (name, value) in row.as_object().expect("row") {
            whole[name] = value.clone();
        }
        self.last = whole["id"].clone();
        self.rows.push(whole);
    }

    fn message(&mut self, mut message: Value) {
        message["timestamp"] = (1_771_581_600_000_u64 + self.rows.len() as u64 * 1000).into();
        self.push(&json!({"type": "message", "message": message}));
    }

    fn user(&mut self, words: &str) {
        self.message(json!({"role": "user", "content": [text(words)]}));
    }

    fn assistant(&mut self, content: &[Value]) {
        let calls = content.iter().any(|block| block["type"] == "toolCall");
        let cost = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0});
        self.message(json!({
            "role": "assistant", "content": content, "api": "anthropic-messages",
            "provider": "anthropic", "model": "claude-sonnet-4-5",
            "usage": {
                "input": 10, "output": 20, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 30,
                "cost": cost,
            },
            "stopReason": if calls { "toolUse" } else { "stop" },
        }));
    }

    fn result(&mut self, id: &str, tool: &str, content: &[Value], details: &Value) {
        let mut message = json!({
            "role": "toolResult", "toolCallId": id, "toolName": tool, "content": content,
            "isError": false,
        });
        if !details.is_null() {
            message["details"] = details.clone();
        }
        self.message(message);
    }
}

/// Counts the placeholders; the error is any other difference.
pub fn placeholders(before: &Value, after: &Value) -> Result<usize, String> {
    let is = |text: &Value| text.as_str().is_some_and(|text| text.starts_with("[[extracted-a"));
    match (before, after) {
        _ if before == after => Ok(0),
        (Value::String(long), Value::String(short)) if is(after) && short.len() < long.len() => {
            Ok(1)
        }
        (Value::Object(block), Value::Object(_))
            if block.contains_key("thinkingSignature") && is(&after["text"]) =>
        {
            Ok(1)
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).map(|(a, b)| placeholders(a, b)).sum()
        }
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            a.iter().map(|(name, a)| placeholders(a, &b[name])).sum()
        }
        _ => {
            let cut = |value: &Value| value.to_string().chars().take(300).collect::<String>();
            Err(format!("{}\nbecame\n{}", cut(before), cut(after)))
        }
    }
}
