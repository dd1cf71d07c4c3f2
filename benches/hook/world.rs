//! A HOME, a project, transcripts, state from real hook runs, and the client's payloads.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::{Value, json};

use super::transcript;
use crate::harness::{Bench, Case};

/// Recorded payloads, with their names in the figures.
const PAYLOADS: [(&str, &str); 6] = [
    (READ, "PreToolUse-Read"),
    ("PreToolUse Bash", "PreToolUse-Bash"),
    ("PreToolUse Bash in a subagent", "PreToolUse-Bash-in-subagent"),
    (RESULT, "PostToolUse-Bash"),
    ("Stop", "Stop"),
    ("SessionStart resume", "SessionStart-resume"),
];

/// The most frequent call.
const READ: &str = "PreToolUse Read";

/// The largest input: a shell call's result of this size.
pub const RESULT: &str = "PostToolUse Bash, 200 KB";
const RESULT_BYTES: usize = 200 * 1024;

/// Sessions in one project: one for each payload and size, with and without module.
pub struct World {
    folder: PathBuf,
    program: PathBuf,
    env: Vec<(String, String)>,
    /// The tokens in the context of every transcript.
    used: u64,
}

impl World {
    /// Makes the world with transcripts of these MB.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn new(bench: &Bench, sizes: &[u64]) -> io::Result<Self> {
        let folder = bench.work.clone();
        for name in ["home", "project", "bin", "sessions"] {
            fs::create_dir_all(folder.join(name))?;
        }
        let used = transcript::write(&folder.join("sessions"), sizes)?;
        let program = folder.join("bin/brain-guard");
        fs::copy(&bench.binary, &program)?;
        Ok(Self { env: environment(&folder), program, folder, used })
    }

    /// Every payload at this size, with and without the client's module.
    pub fn cases(&self, megabytes: u64) -> Vec<Case> {
        let both = (0..PAYLOADS.len()).flat_map(|index| [(index, false), (index, true)]);
        both.map(|(index, module)| self.case(index, megabytes, module)).collect()
    }

    fn case(&self, index: usize, megabytes: u64, module: bool) -> Case {
        let (name, file) = PAYLOADS[index];
        // Each case has its own session, so that none pays for another's leftovers.
        let session =
            format!("00000000-0000-4000-8000-0{index:03}{megabytes:04}{:04}", u32::from(module));
        let payload = self.payload(file, &session, megabytes);
        let mut case = Case {
            name: format!("{name}{}", if module { ", mod" } else { "" }),
            megabytes,
            program: self.program.clone(),
            args: vec!["hook".into()],
            env: self.env.clone(),
            stdin: payload.to_string().into_bytes(),
            counted: name == READ || (name == RESULT && !module),
            ..Case::default()
        };
        case.env.push(("CLAUDE_CODE_SESSION_ID".into(), session.clone()));
        if module {
            let value = format!("{}:{}", env!("CARGO_PKG_VERSION"), std::process::id());
            case.env.push(("BRAIN_GUARD_MOD".into(), value));
        }
        self.begin(&case, &session);
        let measured = file.starts_with("PreToolUse") && payload["agent_id"].is_null();
        let call = payload["tool_use_id"].as_str().filter(|_| module && measured);
        let reading = call.map(|call| self.snapshots().join(format!("{call}.json")));
        if let Some(path) = reading.clone() {
            let text = json!({
                "session_id": session, "tokens": self.used, "window": 1_000_000,
                "output": null, "model": "claude-opus-5-5",
            });
            case.before =
                Some(Rc::new(move || fs::write(&path, text.to_string()).expect("reading")));
        }
        // Creates what the first call of this kind leaves behind.
        case.output().expect("a hook never fails");
        assert!(reading.is_none_or(|path| !path.exists()), "{}: reading not taken", case.title());
        case
    }

    fn payload(&self, file: &str, session: &str, megabytes: u64) -> Value {
        let path = format!("{}/fixtures/payloads/{file}.json", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(path).expect("payload");
        let mut payload: Value = serde_json::from_str(&text).expect("JSON");
        let transcript = transcript::path(&self.folder.join("sessions"), megabytes);
        payload["session_id"] = session.into();
        payload["transcript_path"] = transcript.to_str().expect("utf-8").into();
        payload["cwd"] = self.folder.join("project").to_str().expect("utf-8").into();
        if file == "PostToolUse-Bash" {
            let line = "a line of output, as \"tools\" print them\n";
            payload["tool_response"]["stdout"] = line.repeat(RESULT_BYTES / line.len()).into();
        }
        payload
    }

    /// Starts the session, and checks for a reading, because a hook that measures nothing is fast.
    fn begin(&self, case: &Case, session: &str) {
        for file in ["SessionStart-startup", "PreToolUse-Read"] {
            let stdin = self.payload(file, session, case.megabytes).to_string().into_bytes();
            Case { stdin, ..case.clone() }.output().expect("a hook never fails");
        }
        let args = ["status", "--json", "--session", session].map(str::to_owned).to_vec();
        let status = Case { args, ..case.clone() }.output().expect("status");
        let status: Value = serde_json::from_slice(&status).expect("status");
        assert_eq!(status["context"]["used"], json!(self.used), "{status}");
    }

    /// The folder where the module leaves its readings.
    fn snapshots(&self) -> PathBuf {
        let state = fs::read_dir(self.folder.join("home/.local/state/brain-guard/projects"))
            .expect("state");
        let mut found = state.flatten().map(|entry| entry.path().join("snapshots"));
        found.find(|path| path.is_dir()).expect("folder of the snapshots")
    }
}

/// The client's recorded hook variables, for a session at a terminal.
fn environment(folder: &Path) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/payloads/PreToolUse-Bash-in-subagent.env.json");
    let text = fs::read_to_string(path).expect("environment");
    let mut env: BTreeMap<String, String> = serde_json::from_str(&text).expect("JSON");
    env.remove("CLAUDE_CODE_SESSION_ID");
    let path = |name: &str| folder.join(name).to_str().expect("utf-8").to_owned();
    env.extend([
        ("HOME".into(), path("home")),
        ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
        ("PWD".into(), path("project")),
        ("CLAUDE_PROJECT_DIR".into(), path("project")),
        ("CLAUDE_PID".into(), std::process::id().to_string()),
        ("CLAUDE_CODE_SESSION_ATTENDED".into(), "1".into()),
        ("CLAUDE_CODE_ENTRYPOINT".into(), "cli".into()),
    ]);
    env.into_iter().collect()
}
