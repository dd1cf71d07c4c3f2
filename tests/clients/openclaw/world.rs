//! A HOME with a session in OpenClaw's folder.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::openclaw::client::{Client, DEADLINE};
use crate::openclaw::session::{self, ID};

/// A user's HOME; dropping it removes the folder.
pub struct World {
    home: TempDir,
}

impl World {
    /// Starts with the session in a file, as OpenClaw up to 2026.7.1 left it an hour ago.
    pub fn of_a_file() -> Self {
        let world = Self { home: tempfile::tempdir().expect("home") };
        fs::create_dir_all(world.file().parent().expect("folder")).expect("folder");
        fs::write(world.file(), session::lines(&session::rows())).expect("session");
        let hour = SystemTime::now() - Duration::from_secs(3600);
        let file = File::options().append(true).open(world.file()).expect("session");
        file.set_modified(hour).expect("time");
        let all = json!({"agent:main:main": {
            "sessionId": ID, "updatedAt": 1_771_581_661_000_u64, "chatType": "direct",
            "sessionFile": world.file(),
        }});
        fs::write(world.file().with_file_name("sessions.json"), all.to_string()).expect("list");
        world
    }

    /// Starts with the session in OpenClaw's database.
    pub fn of_a_database(client: &Client) -> Self {
        let world = Self::of_a_file();
        world.import(client);
        world
    }

    /// Lets OpenClaw import the file into its database.
    pub fn import(&self, client: &Client) {
        let said = client.doctor(self.home(), "import");
        let totals = &said["totals"];
        let events = session::rows().len();
        assert_eq!(
            (&totals["issues"], &totals["importedTranscriptEvents"]),
            (&json!(0), &json!(events)),
            "{said}"
        );
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn file(&self) -> PathBuf {
        self.home().join(format!(".openclaw/agents/main/sessions/{ID}.jsonl"))
    }

    pub fn database(&self) -> PathBuf {
        self.home().join(".openclaw/agents/main/agent/openclaw-agent.sqlite")
    }

    /// The session in the database, as an argument for the verbs.
    pub fn place(&self) -> String {
        format!("{}:{ID}", self.database().display())
    }

    /// Runs `brain-guard extract` with these arguments.
    pub fn extract(&self, words: &[&str]) -> Output {
        let mut program = Command::new(env!("CARGO_BIN_EXE_brain-guard"));
        program.env_clear().env("HOME", self.home()).env("PATH", "/usr/bin:/bin");
        program.current_dir(self.home()).arg("extract").args(words);
        base::process::output(&mut program, DEADLINE).expect("brain-guard")
    }

    /// As [`World::extract`]; asserts success and returns the output.
    pub fn extracted(&self, words: &[&str]) -> String {
        let ran = self.extract(words);
        assert!(ran.status.success(), "extract {words:?}: {ran:?}");
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    /// As [`World::extract`]; asserts a refusal and returns the error.
    pub fn refused(&self, words: &[&str]) -> String {
        let ran = self.extract(words);
        assert!(!ran.status.success(), "extract {words:?} was done: {ran:?}");
        String::from_utf8_lossy(&ran.stderr).into_owned()
    }

    /// The JSON output of `extract plan`.
    pub fn planned(&self, place: &str) -> Value {
        let said = self.extracted(&["plan", place, "--json"]);
        serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}"))
    }
}
