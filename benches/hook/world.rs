//! A session to measure in: HOME, project, a transcript of a given size, state as
//! the hook itself has written it, and the client's own payloads.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::measure::Case;

/// Recorded payloads, by what they are called in the figures.
const PAYLOADS: [(&str, &str); 5] = [
    ("PreToolUse Read", "PreToolUse-Read"),
    ("PreToolUse Bash in a subagent", "PreToolUse-Bash-in-subagent"),
    ("PostToolUse Bash", "PostToolUse-Bash"),
    ("Stop", "Stop"),
    ("SessionStart resume", "SessionStart-resume"),
];

/// Each payload has a session of its own: what one event leaves behind is no cost
/// of another's.
fn session(payload: &str) -> String {
    format!("bench-{payload}")
}

/// Sessions that share a project and a transcript.
pub struct World {
    _dir: TempDir,
    binary: PathBuf,
    env: Vec<(String, String)>,
    transcript: PathBuf,
    project: PathBuf,
    megabytes: usize,
}

impl World {
    /// Sessions whose transcript is this long, seen by the hook before.
    pub fn new(binary: &Path, megabytes: usize) -> Self {
        let dir = tempfile::tempdir().expect("temporary folder");
        let (home, project) = (dir.path().join("home"), dir.path().join("project"));
        fs::create_dir_all(&home).expect("folder");
        fs::create_dir_all(&project).expect("folder");
        let transcript = home.join("transcript.jsonl");
        write_transcript(&transcript, megabytes * 1024 * 1024).expect("transcript");
        let pid = std::process::id().to_string();
        let env = [
            ("HOME", home.to_str().expect("utf-8")),
            ("PATH", "/usr/bin:/bin"),
            ("CLAUDE_PROJECT_DIR", project.to_str().expect("utf-8")),
            ("CLAUDE_PID", &pid),
            ("CLAUDE_CODE_SESSION_ATTENDED", "1"),
            ("BRAIN_GUARD_MOD", &format!("{}:{pid}", env!("CARGO_PKG_VERSION"))),
        ]
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .to_vec();
        let binary = fs::canonicalize(binary).expect("binary");
        let world = Self { _dir: dir, binary, env, transcript, project, megabytes };
        for (_, file) in &PAYLOADS {
            world.begin(&session(file));
        }
        world
    }

    /// Every payload, to be measured in this session.
    pub fn cases(&self) -> Vec<Case> {
        let case = |(name, file): &(&str, &str)| Case {
            name: format!("{name}, {} MB", self.megabytes),
            program: self.binary.clone(),
            args: vec!["hook".into()],
            env: self.env.clone(),
            stdin: self.payload(file, &session(file)).to_string().into_bytes(),
        };
        PAYLOADS.iter().map(case).collect()
    }

    fn payload(&self, file: &str, session: &str) -> Value {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/payloads/{file}.json"));
        let text = fs::read_to_string(path).expect("payload");
        let mut payload: Value = serde_json::from_str(&text).expect("JSON");
        payload["session_id"] = session.into();
        payload["transcript_path"] = self.transcript.to_str().expect("utf-8").into();
        payload["cwd"] = self.project.to_str().expect("utf-8").into();
        payload
    }

    /// A hook that measures nothing is fast, too: its reading must be there.
    fn begin(&self, session: &str) {
        for file in ["SessionStart-startup", "PreToolUse-Read"] {
            self.run(&["hook"], &self.payload(file, session));
        }
        let status = self.run(&["status", "--json", "--session", session], &Value::Null);
        let status: Value = serde_json::from_slice(&status).expect("status");
        assert_eq!(status["context"]["used"], json!(48_350), "{status}");
    }

    fn run(&self, args: &[&str], payload: &Value) -> Vec<u8> {
        let mut child = Command::new(&self.binary)
            .args(args)
            .env_clear()
            .envs(self.env.iter().map(|(k, v)| (k, v)))
            .current_dir(&self.project)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let mut pipe = child.stdin.take().expect("stdin");
        // A verb ends without having read anything.
        let _ = pipe.write_all(payload.to_string().as_bytes());
        drop(pipe);
        child.wait_with_output().expect("ended").stdout
    }
}

/// Rows in the proportions of a working session: per response some text, a few
/// calls, their results of very different lengths, now and then a picture, and the
/// client's own rows in between.
fn write_transcript(path: &Path, bytes: usize) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let (mut written, mut n) = (0, 0_usize);
    while written < bytes {
        for row in response(n) {
            let line = format!("{row}\n");
            written += line.len();
            out.write_all(line.as_bytes())?;
        }
        n += 1;
    }
    let last = assistant(
        n,
        &json!([{"type": "tool_use", "id": "toolu_last", "name": "Read", "input": {}}]),
        48_250,
    );
    writeln!(out, "{last}")?;
    out.flush()
}

fn response(n: usize) -> Vec<Value> {
    let mut rows =
        vec![assistant(n, &json!([{"type": "text", "text": "x".repeat(80 + n % 700)}]), 20_000)];
    for call in 0..=n % 3 {
        let id = format!("toolu_{n}_{call}");
        let input = json!({"command": "y".repeat(40 + n % 900)});
        rows.push(assistant(
            n,
            &json!([{"type": "tool_use", "id": id, "name": "Bash", "input": input}]),
            20_000,
        ));
    }
    for call in 0..=n % 3 {
        let length = [120, 900, 2_400, 7_000, 30_000][(n * 7 + call) % 5];
        let content = if (n + call).is_multiple_of(97) {
            json!([{"type": "image", "source": {"type": "base64", "data": "A".repeat(200_000)}}])
        } else {
            json!("line of output\n".repeat(length / 15))
        };
        rows.push(json!({
            "type": "user", "isSidechain": false, "timestamp": "2026-11-21T02:16:25.315Z",
            "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": format!("toolu_{n}_{call}"), "content": content}]},
            "toolUseResult": {"stdout": "z".repeat(length)},
        }));
    }
    if n.is_multiple_of(9) {
        rows.push(json!({"type": "file-history-snapshot", "snapshot": {"files": "f".repeat(600)}}));
        rows.push(json!({"type": "system", "subtype": "turn_duration", "content": ""}));
    }
    rows
}

fn assistant(n: usize, content: &Value, tokens: u64) -> Value {
    json!({
        "type": "assistant", "isSidechain": false, "timestamp": "2026-11-21T02:16:25.315Z",
        "message": {"id": format!("msg_{n}"), "role": "assistant", "model": "claude-opus-5-5", "content": content,
            "usage": {"input_tokens": 7, "cache_creation_input_tokens": 0, "cache_read_input_tokens": tokens - 7,
                "output_tokens": 100}},
    })
}
