//! An environment for measurements: HOME, project, transcripts of given sizes, the program, state
//! from real hook runs, and the client's payloads.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::case::Case;
use crate::rows;

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
pub const READ: &str = "PreToolUse Read";

/// The largest input: a shell call's result of this size.
pub const RESULT: &str = "PostToolUse Bash, 200 KB";
const RESULT_BYTES: usize = 200 * 1024;

/// Sessions in one project: one for each payload and size, with and without module.
pub struct World {
    dir: PathBuf,
    transcripts: PathBuf,
    binary: PathBuf,
    env: Vec<(String, String)>,
    project: PathBuf,
}

impl World {
    /// Makes the world in `work`, with transcripts of these sizes (MB) in `aside` if given. The
    /// caller removes the folders.
    ///
    /// # Errors
    /// Too little space, or the system's error.
    pub fn new(
        work: &Path,
        binary: &Path,
        sizes: &[u64],
        aside: Option<&Path>,
    ) -> std::io::Result<Self> {
        let dir = work.to_path_buf();
        let folder = |name: &str| -> std::io::Result<PathBuf> {
            let path = dir.join(name);
            fs::create_dir_all(&path)?;
            Ok(path)
        };
        let (home, project, bin) = (folder("home")?, folder("project")?, folder("bin")?);
        folder("input")?;
        // The hook gets the same path, wherever the files are.
        let transcripts = dir.join("sessions");
        match aside {
            None => fs::create_dir_all(&transcripts)?,
            Some(aside) => std::os::unix::fs::symlink(fs::canonicalize(aside)?, &transcripts)?,
        }
        rows::write_all(&transcripts, sizes)?;
        let copy = bin.join("brain-guard");
        fs::copy(binary, &copy)?;
        Ok(Self { binary: copy, env: environment(&home, &project), transcripts, project, dir })
    }

    /// The folder of the world.
    pub fn folder(&self) -> &Path {
        &self.dir
    }

    /// The launcher of a plugin's folder that holds the program for this machine.
    ///
    /// # Errors
    /// The system's.
    pub fn launcher(&self) -> std::io::Result<PathBuf> {
        let folder = self.dir.join("plugin");
        fs::create_dir_all(&folder)?;
        let program = format!("brain-guard-{}-unknown-linux-musl", std::env::consts::ARCH);
        fs::hard_link(&self.binary, folder.join(program))?;
        let launcher = folder.join("brain-guard");
        fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/bin/brain-guard"), &launcher)?;
        Ok(launcher)
    }

    /// The measured copy of the program.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// Every payload at this size, with and without the client's module.
    pub fn cases(&self, megabytes: u64) -> Vec<Case> {
        let mut cases = Vec::new();
        for (index, (name, file)) in PAYLOADS.iter().enumerate() {
            for module in [false, true] {
                cases.push(self.case(name, file, index, megabytes, module));
            }
        }
        cases
    }

    fn case(&self, name: &str, file: &str, index: usize, megabytes: u64, module: bool) -> Case {
        // Each case has its own session, so that none pays for another's leftovers.
        let session =
            format!("00000000-0000-4000-8000-0{index:03}{megabytes:04}{:04}", u32::from(module));
        let payload = self.payload(file, &session, megabytes);
        let mut case = Case {
            name: name.into(),
            megabytes,
            module,
            program: self.binary.clone(),
            args: vec!["hook".into()],
            env: self.env.clone(),
            stdin: payload.to_string().into_bytes(),
            input: self.dir.join(format!("input/{session}.json")),
            lay: None,
        };
        fs::write(&case.input, &case.stdin).expect("input");
        case.env.push(("CLAUDE_CODE_SESSION_ID".into(), session.clone()));
        if module {
            let pid = std::process::id();
            case.env
                .push(("BRAIN_GUARD_MOD".into(), format!("{}:{pid}", env!("CARGO_PKG_VERSION"))));
        }
        self.begin(&case, &session);
        let measured = file.starts_with("PreToolUse") && payload["agent_id"].is_null();
        if let Some(call) = payload["tool_use_id"].as_str().filter(|_| module && measured) {
            let reading = json!({
                "session_id": session, "tokens": rows::USED, "window": 1_000_000, "output": null,
                "model": "claude-opus-5-5",
            });
            let snapshots = self.snapshots();
            case.lay =
                Some((snapshots.join(format!("{call}.json")), reading.to_string().into_bytes()));
        }
        // Creates what the first call of this kind leaves behind.
        case.time();
        if let Some((path, _)) = &case.lay {
            assert!(!path.exists(), "{}: the reading was not taken", case.title());
        }
        case
    }

    fn payload(&self, file: &str, session: &str, megabytes: u64) -> Value {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/payloads/{file}.json"));
        let text = fs::read_to_string(path).expect("payload");
        let mut payload: Value = serde_json::from_str(&text).expect("JSON");
        let transcript = rows::path(&self.transcripts, megabytes);
        payload["session_id"] = session.into();
        payload["transcript_path"] = transcript.to_str().expect("utf-8").into();
        payload["cwd"] = self.project.to_str().expect("utf-8").into();
        if file == "PostToolUse-Bash" {
            let line = "a line of output, as \"tools\" print them\n";
            payload["tool_response"]["stdout"] = line.repeat(RESULT_BYTES / line.len()).into();
        }
        payload
    }

    /// Checks for a reading, because a hook that measures nothing is also fast.
    fn begin(&self, case: &Case, session: &str) {
        for file in ["SessionStart-startup", "PreToolUse-Read"] {
            self.run(case, &["hook"], &self.payload(file, session, case.megabytes));
        }
        let status = self.run(case, &["status", "--json", "--session", session], &Value::Null);
        let status: Value = serde_json::from_slice(&status).expect("status");
        assert_eq!(status["context"]["used"], json!(rows::USED), "{status}");
    }

    /// The module's snapshot folder, as the program reports it.
    fn snapshots(&self) -> PathBuf {
        let state = self.dir.join("home/.local/state/brain-guard");
        let mut found =
            fs::read_dir(state).expect("state").flatten().map(|e| e.path().join("snapshots"));
        found.find(|path| path.is_dir()).expect("folder of the snapshots")
    }

    fn run(&self, case: &Case, args: &[&str], payload: &Value) -> Vec<u8> {
        use std::io::Write as _;
        let mut child = Command::new(&self.binary)
            .args(args)
            .env_clear()
            .envs(case.env.iter().map(|(k, v)| (k, v)))
            .current_dir(&self.project)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let mut pipe = child.stdin.take().expect("stdin");
        // A verb may end without reading anything.
        let _ = pipe.write_all(payload.to_string().as_bytes());
        drop(pipe);
        child.wait_with_output().expect("ended").stdout
    }
}

/// The client's recorded hook variables, for a session at a terminal.
fn environment(home: &Path, project: &Path) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/payloads/PreToolUse-Bash-in-subagent.env.json");
    let text = fs::read_to_string(path).expect("environment");
    let recorded: std::collections::BTreeMap<String, String> =
        serde_json::from_str(&text).expect("JSON");
    let ours = [
        ("HOME", home.to_str().expect("utf-8").to_owned()),
        ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ("PWD", project.to_str().expect("utf-8").to_owned()),
        ("CLAUDE_PROJECT_DIR", project.to_str().expect("utf-8").to_owned()),
        ("CLAUDE_PID", std::process::id().to_string()),
        ("CLAUDE_CODE_SESSION_ATTENDED", "1".to_owned()),
        ("CLAUDE_CODE_ENTRYPOINT", "cli".to_owned()),
    ];
    let mut env: Vec<(String, String)> = recorded
        .into_iter()
        .filter(|(key, _)| key != "CLAUDE_CODE_SESSION_ID" && ours.iter().all(|(k, _)| k != key))
        .collect();
    env.extend(ours.map(|(key, value)| (key.to_owned(), value)));
    env
}
