//! One client session as the hook sees it: its own HOME, project and transcript, only the client's
//! variables, the real binary.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use base::env::Env;
use base::paths::Places;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The limit of claude-opus-5-5: its window less the client's buffer.
pub const LIMIT: u64 = 967_000;

/// The binary under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_brain-guard");

/// A session.
pub struct Hook {
    _dir: Option<TempDir>,
    pub home: PathBuf,
    pub project: PathBuf,
    pub transcript: PathBuf,
    pub session: String,
    env: BTreeMap<String, String>,
    /// The program's constants, as JSON.
    constants: Mutex<String>,
}

/// The output and exit code of the binary.
#[derive(Debug, PartialEq)]
pub struct Answer {
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
}

impl Answer {
    /// Whether it succeeded without output.
    pub fn silent(&self) -> bool {
        *self == Self { stdout: String::new(), stderr: String::new(), code: Some(0) }
    }

    /// The reply, or null for none. Only JSON may be on stdout.
    pub fn json(&self) -> Value {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        if self.stdout.is_empty() {
            return Value::Null;
        }
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// `pass`, `allow` or `deny`.
    pub fn verdict(&self) -> String {
        self.json()["hookSpecificOutput"]["permissionDecision"]
            .as_str()
            .unwrap_or("pass")
            .to_owned()
    }

    /// All that a denial tells the agent, or an empty text.
    pub fn reason(&self) -> String {
        let reply = self.json();
        let specific = &reply["hookSpecificOutput"];
        let reason = specific["permissionDecisionReason"].as_str().unwrap_or_default();
        let rest = specific["additionalContext"].as_str().filter(|_| !reason.is_empty());
        rest.map_or_else(|| reason.to_owned(), |rest| format!("{reason}\n{rest}"))
    }

    /// Whether a turn's end is refused.
    pub fn refuses_end(&self) -> bool {
        self.json()["hookSpecificOutput"]["hookEventName"] == "Stop"
    }

    /// The text added to the context, or an empty text.
    pub fn note(&self) -> String {
        self.json()["hookSpecificOutput"]["additionalContext"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// The line for the user, or an empty text.
    pub fn user(&self) -> String {
        self.json()["systemMessage"].as_str().unwrap_or_default().to_owned()
    }
}

impl Hook {
    /// An interactive client with the plugin's module, before its first event.
    pub fn new() -> Self {
        Self::of("5e550000-0000-4000-8000-000000000001")
    }

    /// As [`Self::new`], with this session id.
    pub fn of(session: &str) -> Self {
        let dir = tempfile::tempdir().expect("temporary folder");
        let root = fs::canonicalize(dir.path()).expect("real path");
        let (home, project) = (root.join("home"), root.join("project"));
        let transcripts = home.join(".claude/projects/-project");
        for dir in [&transcripts, &project] {
            fs::create_dir_all(dir).expect("folder");
        }
        let pid = std::process::id().to_string();
        let alive = format!("{}:{pid}", env!("CARGO_PKG_VERSION"));
        let env = [
            ("HOME", home.to_str().expect("utf-8")),
            ("PATH", "/usr/bin:/bin"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_PROJECT_DIR", project.to_str().expect("utf-8")),
            ("CLAUDE_PID", &pid),
            ("CLAUDE_CODE_SESSION_ID", session),
            ("CLAUDE_CODE_SESSION_ATTENDED", "1"),
            ("BRAIN_GUARD_MOD", &alive),
        ]
        .map(|(k, v)| (k.to_owned(), v.to_owned()));
        Self {
            transcript: transcripts.join(format!("{session}.jsonl")),
            session: session.to_owned(),
            env: env.into(),
            constants: Mutex::new(split(json!({})).1),
            home,
            project,
            _dir: Some(dir),
        }
    }

    /// Another session of the same user and project, in this client process.
    pub fn beside(&self, session: &str, client: u32) -> Self {
        let transcript = self.transcript.with_file_name(format!("{session}.jsonl"));
        let mut other = Self {
            _dir: None,
            home: self.home.clone(),
            project: self.project.clone(),
            transcript,
            session: session.to_owned(),
            env: self.env.clone(),
            constants: Mutex::new(self.constants()),
        };
        other.set("CLAUDE_CODE_SESSION_ID", session).set("CLAUDE_PID", &client.to_string());
        other.set("BRAIN_GUARD_MOD", &format!("{}:{client}", env!("CARGO_PKG_VERSION")));
        other
    }

    /// Sets a variable; an empty value removes it.
    pub fn set(&mut self, name: &str, value: &str) -> &mut Self {
        if value.is_empty() {
            self.env.remove(name);
        } else {
            self.env.insert(name.to_owned(), value.to_owned());
        }
        self
    }

    /// Writes the user's settings, and lets a session that has begun agree to them. Constants of
    /// the program among them go into a variable.
    pub fn settings(&self, settings: &Value) -> &Self {
        let (settings, constants) = split(settings.clone());
        *self.constants.lock().expect("not poisoned") = constants;
        self.write_settings(&settings.to_string());
        let state = self.places().session(&self.session, "json");
        if state.exists() {
            let mut agreed = self.state();
            agreed["settings"]["user"] = json!(settings.to_string());
            fs::write(state, agreed.to_string()).expect("state");
        }
        self
    }

    fn constants(&self) -> String {
        self.constants.lock().expect("not poisoned").clone()
    }

    /// Writes the user's settings file.
    pub fn write_settings(&self, text: &str) -> &Self {
        let path = self.places().user_settings;
        fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        fs::write(path, text).expect("settings");
        self
    }

    /// The environment in the library's type.
    pub fn env(&self) -> Env {
        Env::Map(self.env.clone())
    }

    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// The paths that the guard uses.
    pub fn places(&self) -> Places {
        let env = Env::from_pairs([("HOME", self.home.to_str().expect("utf-8"))]);
        Places::for_project(&env, &self.project).expect("places")
    }

    /// The session's state on disk.
    pub fn state(&self) -> Value {
        let bytes = fs::read(self.places().session(&self.session, "json")).expect("state");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    /// The job's compaction file.
    pub fn file(&self) -> PathBuf {
        self.places().compaction(self.state()["job"].as_str().expect("job"))
    }

    /// The lines of one kind in the journals of all sessions.
    pub fn journal(&self, kind: &str) -> Vec<Value> {
        let lines = super::journal::lines(&self.places().state).into_iter();
        lines.filter(|line| line["kind"] == kind).collect()
    }

    /// The boundaries that were opened.
    pub fn opened(&self) -> Vec<Value> {
        self.journal("boundary").into_iter().filter(|line| line["step"] == "pending").collect()
    }

    /// The binary with only this session's environment.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(args).env_clear().envs(&self.env).current_dir(&self.project);
        command.env(base::env::TEST_CONSTANTS, self.constants());
        command
    }

    /// Runs the binary with these arguments and this input.
    pub fn raw(&self, args: &[&str], stdin: &[u8]) -> Answer {
        finish(self.command(args), stdin)
    }

    /// Runs the hook on a payload.
    pub fn send(&self, payload: &Value) -> Answer {
        self.raw(&["hook"], payload.to_string().as_bytes())
    }

    /// A payload of this session with the fields of every event.
    pub fn payload(&self, event: &str, more: &Value) -> Value {
        let mut payload = json!({
            "session_id": self.session,
            "transcript_path": self.transcript,
            "cwd": self.project,
            "permission_mode": "default",
            "hook_event_name": event,
        });
        let (Value::Object(fields), Value::Object(more)) = (&mut payload, more) else {
            panic!("objects");
        };
        fields.extend(more.clone());
        payload
    }

    /// A `PreToolUse` payload.
    pub fn call(&self, tool: &str, input: &Value) -> Value {
        self.payload(
            "PreToolUse",
            &json!({"tool_name": tool, "tool_input": input, "tool_use_id": "toolu_1"}),
        )
    }

    /// Asks whether a tool may run.
    pub fn pre(&self, tool: &str, input: &Value) -> Answer {
        self.send(&self.call(tool, input))
    }

    /// Asks whether a file new to this session may be read.
    pub fn read(&self) -> Answer {
        self.pre("Read", &json!({"file_path": "/etc/hostname"}))
    }

    /// Asks whether a command may run.
    pub fn bash(&self, command: &str) -> Answer {
        self.pre("Bash", &json!({"command": command}))
    }

    /// Ends a batch of tool calls.
    pub fn batch(&self) -> Answer {
        self.send(&self.payload("PostToolBatch", &json!({"tool_calls": []})))
    }

    /// Ends a turn.
    pub fn stop(&self) -> Answer {
        self.send(&self.payload("Stop", &json!({"background_tasks": []})))
    }

    /// Starts a session from this source.
    pub fn start(&self, source: &str) -> Answer {
        self.send(&self.payload("SessionStart", &json!({"source": source})))
    }

    /// Types a prompt.
    pub fn prompt(&self, text: &str) -> Answer {
        self.send(&self.payload("UserPromptSubmit", &json!({"prompt": text})))
    }

    /// Runs an agent's verb like the client: asks, runs the returned command in a shell, reports
    /// the result.
    pub fn agent(&self, command: &str) -> Answer {
        let mut call = self.call("Bash", &json!({"command": command}));
        call["tool_use_id"] = "toolu_2".into();
        let asked = self.send(&call);
        assert_eq!(asked.verdict(), "allow", "{asked:?}");
        let reply = asked.json();
        let allowed =
            reply["hookSpecificOutput"]["updatedInput"]["command"].as_str().expect("command");
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(allowed).env_clear().envs(&self.env).current_dir(&self.project);
        let ran = finish(shell, b"");
        let mut told = json!({
            "tool_name": "Bash", "tool_use_id": "toolu_2", "tool_input": {"command": allowed},
        });
        let event = if ran.code == Some(0) {
            told["tool_response"] = json!({
                "stdout": ran.stdout, "stderr": ran.stderr, "interrupted": false, "isImage": false,
            });
            "PostToolUse"
        } else {
            told["error"] = json!(format!("Exit code 1\n{}{}", ran.stdout, ran.stderr));
            "PostToolUseFailure"
        };
        assert!(self.send(&self.payload(event, &told)).silent());
        // The shell prints the answer of a verb that failed, too.
        if ran.code == Some(0) { ran } else { Answer { stderr: ran.stdout.clone(), ..ran } }
    }

    /// Adds a response that leaves the context `percent` of [`LIMIT`] full.
    pub fn fill(&self, percent: f64) {
        self.respond((LIMIT as f64 * percent / 100.0).ceil() as u64, "claude-opus-5-5");
    }

    /// Adds a response of `model` that leaves `tokens` in the context.
    pub fn respond(&self, tokens: u64, model: &str) {
        let now = base::clock::now().to_rfc3339();
        let id = format!("msg_{tokens}");
        let rows = [
            json!({"type": "user", "isSidechain": false, "timestamp": now,
                "message": {"role": "user", "content": "go on"}}),
            json!({"type": "assistant", "isSidechain": false, "timestamp": now, "message": {
                "id": id, "model": model, "role": "assistant", "content": [],
                "usage": {"input_tokens": 7, "cache_creation_input_tokens": 0,
                    "cache_read_input_tokens": tokens - 107, "output_tokens": 100}}}),
        ];
        let mut text = fs::read_to_string(&self.transcript).unwrap_or_default();
        for row in rows {
            text += &row.to_string();
            text.push('\n');
        }
        fs::write(&self.transcript, text).expect("transcript");
    }

    /// A session that started empty and was read at 5 %.
    pub fn begun() -> Self {
        let hook = Self::new();
        hook.begin();
        hook
    }

    /// Starts the session, with a first reading of 5 %.
    pub fn begin(&self) {
        assert!(self.start("startup").silent());
        self.fill(5.0);
        assert!(self.read().silent());
    }

    /// A session that started empty and was then read once at `percent`.
    pub fn climbed(percent: f64) -> Self {
        let hook = Self::begun();
        hook.fill(percent);
        hook.read();
        hook
    }
}

/// The percentage of [`LIMIT`] just inside a default tier, so that tests follow when the default
/// moves.
pub fn percent_in(tier: &str) -> f64 {
    let ramp = guard::settings::Settings::default().ramp(LIMIT);
    let mut tiers = ramp.tiers().iter().skip_while(|t| t.name != tier);
    let percent = tiers.next().expect("a default tier").context + 1.0;
    let room = tiers.next().is_none_or(|next| percent < next.context);
    assert!(room, "the tier after {tier} begins at {percent} % or below");
    percent
}

/// Runs a command with this input to its end.
pub fn finish(mut command: Command, stdin: &[u8]) -> Answer {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut pipe = child.stdin.take().expect("stdin");
    let bytes = stdin.to_vec();
    // A program may end without reading all its input; the broken pipe is not an error.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&bytes)));
    let output = child.wait_with_output().expect("ended");
    writer.join().expect("written");
    Answer {
        stdout: String::from_utf8(output.stdout).expect("utf-8 on stdout"),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code(),
    }
}

/// Settings without the program's constants, and those as JSON. The notes of most tests say little.
pub fn split(mut settings: Value) -> (Value, String) {
    const CONSTANTS: [&str; 11] = [
        "agents_wait_seconds",
        "break_even_turns",
        "cache_seconds",
        "dedupe",
        "give_up_seconds",
        "keep_errors",
        "little_words",
        "min_saving",
        "retry_seconds",
        "step_seconds",
        "x11_idle_seconds",
    ];
    let mut constants = serde_json::Map::from_iter([("little_words".to_owned(), 0.into())]);
    for group in ["boundary", "extract"] {
        let Some(group) = settings.get_mut(group).and_then(Value::as_object_mut) else { continue };
        constants.extend(
            CONSTANTS.iter().filter_map(|key| Some(((*key).to_owned(), group.remove(*key)?))),
        );
    }
    (settings, Value::from(constants).to_string())
}

/// The repository's folder of fixtures.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// The default sections, with this share of the file for Prior Summary.
pub fn shape_with_summary(slice: f64) -> Value {
    let mut shape = notes::compaction::Shape::default();
    for section in &mut shape.sections {
        if section.role == notes::compaction::Role::Summary {
            section.slice = Some(slice);
        }
    }
    json!({"sections": shape.sections})
}
