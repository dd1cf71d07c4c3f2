//! A handwritten client of `brain-guard mcp`: one line of JSON each way.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::hook::{Answer, Hook};

pub const DEADLINE: Duration = Duration::from_secs(60);
/// A server and both ends of its pipes. All its output must be protocol messages.
pub struct Server {
    child: Child,
    pub stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Answers that arrived before their turn.
    early: BTreeMap<u64, Value>,
    asked: u64,
}

impl Server {
    /// A server without any message so far.
    pub fn silent(hook: &Hook) -> Self {
        let mut command = hook.command(&["mcp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, early: BTreeMap::new(), asked: 0 }
    }

    /// An initialized server.
    pub fn ready(hook: &Hook) -> Self {
        let mut server = Self::silent(hook);
        let hello = server.hello();
        assert_eq!(hello["result"]["serverInfo"]["name"], "brain-guard", "{hello}");
        server.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    pub fn hello(&mut self) -> Value {
        self.ask(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": { "name": "by hand", "version": "1" },
            }),
        )
    }

    pub fn raw(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().expect("still open");
        stdin.write_all(line).and_then(|()| stdin.write_all(b"\n")).expect("the server reads");
        stdin.flush().expect("the server reads");
    }

    pub fn say(&mut self, message: &Value) {
        self.raw(message.to_string().as_bytes());
    }

    /// Sends a request; returns its id.
    pub fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.asked += 1;
        let id = self.asked;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The next line, which must be JSON.
    pub fn next(&mut self, left: Duration) -> Value {
        let line = self.lines.recv_timeout(left).expect("an answer in time");
        let value: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"));
        assert_eq!(value["jsonrpc"], "2.0", "{line}");
        value
    }

    /// Waits for the answer to a request, in any order.
    pub fn end(&mut self, id: u64) -> Value {
        let end = Instant::now() + DEADLINE;
        loop {
            if let Some(found) = self.early.remove(&id) {
                return found;
            }
            let answer = self.next(end.saturating_duration_since(Instant::now()));
            let answered = answer["id"].as_u64().unwrap_or_else(|| panic!("no id: {answer}"));
            self.early.insert(answered, answer);
        }
    }

    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        self.end(id)
    }

    /// A tool's texts, and whether it failed.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> (Vec<String>, bool) {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        said(&answer)
    }

    /// The texts of a call that must succeed.
    pub fn done(&mut self, tool: &str, arguments: &Value) -> Vec<String> {
        let (texts, is_error) = self.call(tool, arguments);
        assert!(!is_error, "{tool} {arguments}: {texts:?}");
        texts
    }

    /// The text of a call that must fail.
    pub fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let (texts, is_error) = self.call(tool, arguments);
        assert!(is_error && texts.len() == 1, "{tool} {arguments}: {texts:?}");
        texts.concat()
    }

    /// Closes stdin and waits for the process.
    pub fn close(mut self) -> Answer {
        self.stdin = None;
        let end = Instant::now() + DEADLINE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("own child") {
                break status;
            }
            assert!(Instant::now() < end, "it still runs");
            thread::sleep(Duration::from_millis(5));
        };
        let mut stderr = String::new();
        if let Some(pipe) = self.child.stderr.as_mut() {
            pipe.read_to_string(&mut stderr).expect("text");
        }
        let stdout = self.lines.iter().collect();
        Answer { stdout, stderr, code: status.code() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The texts of an answer, and whether it is an error.
pub fn said(answer: &Value) -> (Vec<String>, bool) {
    let result = &answer["result"];
    let content = result["content"].as_array().unwrap_or_else(|| panic!("no result: {answer}"));
    let text = |block: &Value| block["text"].as_str().expect("text").to_owned();
    (content.iter().map(text).collect(), result["isError"] == true)
}
