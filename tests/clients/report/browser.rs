//! A page in headless Chromium, controlled over its debugging pipe: the page after its scripts ran,
//! the drawn positions, and the network requests.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The time limit for an answer; the start on a busy machine is the slowest.
const DEADLINE: Duration = Duration::from_secs(90);

/// Names of the program.
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// An open page.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: Option<String>,
    number: u64,
    /// The page's requests, without itself and its data.
    pub requests: Vec<String>,
    /// Exceptions, console messages and policy violations.
    pub complaints: Vec<String>,
    /// Dropped last, because the browser writes into it.
    home: TempDir,
}

fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = PROGRAMS.iter().flat_map(|name| folders.iter().map(move |f| f.join(name)));
    let mut found = found.filter(|file| file.is_file());
    found.next().expect("no Chromium on PATH: ./test installs it (apt-get install chromium)")
}

impl Browser {
    /// Opens a file.
    pub fn open(page: &Path) -> Self {
        let home = tempfile::tempdir().expect("temporary folder");
        // The browser's ends of the pipe are the descriptors 3 and 4.
        let script = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>"$HOME/stderr""#;
        let mut child = Command::new("sh")
            .args(["-c", script])
            .arg(program())
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-sync"])
            .args(["--disable-component-update", "--disable-extensions", "--no-proxy-server"])
            .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", home.path().join("profile").display()))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh");
        let to = child.stdin.take().expect("stdin");
        let mut out = BufReader::new(child.stdout.take().expect("stdout"));
        let (send, from) = channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            while out.read_until(0, &mut bytes).is_ok_and(|n| n > 0) {
                bytes.pop();
                if serde_json::from_slice(&bytes).is_ok_and(|value| send.send(value).is_err()) {
                    break;
                }
                bytes.clear();
            }
        });
        let (requests, complaints) = (Vec::new(), Vec::new());
        let mut browser =
            Self { child, to, from, session: None, number: 0, requests, complaints, home };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", &attach);
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        let url = format!("file://{}", page.display());
        browser.call("Page.navigate", &json!({"url": url}));
        let ready = "document.readyState === 'complete' && location.protocol === 'file:'";
        let begun = Instant::now();
        while browser.evaluate(ready) != true {
            assert!(begun.elapsed() < DEADLINE, "{url} is not loaded");
            thread::sleep(Duration::from_millis(20));
        }
        browser.requests.retain(|asked| *asked != url);
        browser
    }

    /// Calls a method of the debugging protocol.
    pub fn call(&mut self, method: &str, params: &Value) -> Value {
        self.number += 1;
        let mut message = json!({"id": self.number, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let written = self.to.write_all(&bytes).and_then(|()| self.to.flush());
        written.unwrap_or_else(|e| panic!("{method}: {e}; {}", self.words()));
        let begun = Instant::now();
        loop {
            let left = DEADLINE.saturating_sub(begun.elapsed());
            let answer = self.from.recv_timeout(left);
            let answer = answer.unwrap_or_else(|e| panic!("{method}: {e}; {}", self.words()));
            if answer["id"] == self.number {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.note(&answer);
        }
    }

    fn note(&mut self, event: &Value) {
        let params = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "Network.requestWillBeSent" => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                self.requests.push(url.to_owned());
            }
            "Runtime.exceptionThrown" | "Log.entryAdded" | "Runtime.consoleAPICalled" => {
                self.complaints.push(params.to_string());
            }
            _ => {}
        }
    }

    /// The browser's stderr, if it does not answer.
    fn words(&self) -> String {
        let path = self.home.path().join("stderr");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.chars().take(600).collect()
    }

    pub fn evaluate(&mut self, expression: &str) -> Value {
        let ask = json!({"expression": expression, "returnByValue": true});
        let answer = self.call("Runtime.evaluate", &ask);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Sets the window size, in pixels.
    pub fn resize(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Sets the preferred color scheme: `light` or `dark`.
    pub fn prefer(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Moves the pointer.
    pub fn point(&mut self, x: f64, y: f64) {
        let moved = json!({"type": "mouseMoved", "x": x, "y": y});
        self.call("Input.dispatchMouseEvent", &moved);
    }

    /// The points of a plot, as drawn.
    pub fn dots(&mut self, plot: &str) -> Vec<Dot> {
        let script = format!(
            "(() => {{ const plot = document.getElementById('{plot}'), frame = plot.getBoundingClientRect(); \
             return [...plot.querySelectorAll('.dot')].map(dot => {{ const b = dot.getBoundingClientRect(); return {{ \
             session: dot.dataset.session, at: dot.dataset.at, value: +dot.dataset.value, limit: +dot.dataset.limit, percent: +dot.dataset.percent, \
             x: (b.x + b.width / 2 - frame.x) / frame.width, y: b.y + b.height / 2 - frame.y, \
             height: frame.height, max: +plot.dataset.max }}; }}); }})()"
        );
        let dots = self.evaluate(&script);
        let number = |dot: &Value, name: &str| dot[name].as_f64().expect("a number");
        let text = |dot: &Value, name: &str| dot[name].as_str().expect("text").to_owned();
        let dot = |dot: &Value| Dot {
            session: text(dot, "session"),
            at: text(dot, "at"),
            value: number(dot, "value") as u64,
            percent: number(dot, "percent"),
            x: number(dot, "x"),
            y: number(dot, "y"),
            height: number(dot, "height"),
            max: number(dot, "max"),
        };
        dots.as_array().expect("a list").iter().map(dot).collect()
    }
}

/// A point of a plot: its data and its drawn position.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    pub session: String,
    pub at: String,
    pub value: u64,
    pub percent: f64,
    /// The center, as a fraction of the plot's width.
    pub x: f64,
    /// The center, in pixels from the plot's top.
    pub y: f64,
    pub height: f64,
    pub max: f64,
}

impl Dot {
    /// The percentage at this height, by the plot's scale.
    pub fn drawn(&self) -> f64 {
        (1.0 - self.y / self.height) * self.max
    }
}

/// The time and tokens of each response in a transcript, once each, read without the guard's code.
pub fn responses(transcript: &Path) -> Vec<(String, u64)> {
    let text = std::fs::read_to_string(transcript).expect("transcript");
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    for row in text.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let (message, usage) = (&row["message"], &row["message"]["usage"]);
        let tokens: u64 = [
            "input_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
            "output_tokens",
        ]
        .iter()
        .filter_map(|part| usage[part].as_u64())
        .sum();
        let own = row["type"] == "assistant" && row["isSidechain"] != true;
        let at = row["timestamp"].as_str().unwrap_or_default();
        if own
            && tokens > 0
            && message["model"] != "<synthetic>"
            && seen.insert(message["id"].to_string())
        {
            found.push((at.to_owned(), tokens));
        }
    }
    found.reverse();
    found
}

impl Drop for Browser {
    fn drop(&mut self) {
        let close = b"{\"id\":0,\"method\":\"Browser.close\"}\0";
        let asked = self.to.write_all(close).and_then(|()| self.to.flush());
        let begun = Instant::now();
        while asked.is_ok() && begun.elapsed() < Duration::from_secs(10) {
            if self.child.try_wait().is_ok_and(|ended| ended.is_some()) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
