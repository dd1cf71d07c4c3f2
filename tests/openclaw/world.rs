//! A user with a session in OpenClaw's folder.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Client, DEADLINE};
use crate::session::{self, ID};

/// A user; everything lies in a folder that goes with it.
pub struct World {
    home: TempDir,
}

impl World {
    /// With the session in a file, as OpenClaw left it an hour ago (2026.7.1 and before).
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

    /// With the session in OpenClaw's database.
    pub fn of_a_database(client: &Client) -> Self {
        let world = Self::of_a_file();
        world.import(client);
        world
    }

    /// Has OpenClaw take the file into its database.
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

    /// The home of the user.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The session's file.
    pub fn file(&self) -> PathBuf {
        self.home().join(format!(".openclaw/agents/main/sessions/{ID}.jsonl"))
    }

    /// The agent's database.
    pub fn database(&self) -> PathBuf {
        self.home().join(".openclaw/agents/main/agent/openclaw-agent.sqlite")
    }

    /// The session in it, as the verbs take it.
    pub fn place(&self) -> String {
        format!("{}:{ID}", self.database().display())
    }

    /// The copies that were made of it.
    pub fn copies(&self) -> usize {
        let folder = fs::read_dir(self.database().parent().expect("folder")).expect("folder");
        let names = folder.flatten().map(|entry| entry.file_name());
        names.filter(|name| name.to_string_lossy().contains(".brain-guard-")).count()
    }

    /// Runs `brain-guard extract` with these words.
    pub fn extract(&self, words: &[&str]) -> Output {
        let mut program = Command::new(env!("CARGO_BIN_EXE_brain-guard"));
        program.env_clear().env("HOME", self.home()).env("PATH", "/usr/bin:/bin");
        program.current_dir(self.home()).arg("extract").args(words);
        base::process::output(&mut program, DEADLINE).expect("brain-guard")
    }

    /// As [`World::extract`], to end well.
    pub fn extracted(&self, words: &[&str]) -> String {
        let ran = self.extract(words);
        assert!(ran.status.success(), "extract {words:?}: {ran:?}");
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    /// As [`World::extract`], to be refused; what it says.
    pub fn refused(&self, words: &[&str]) -> String {
        let ran = self.extract(words);
        assert!(!ran.status.success(), "extract {words:?} was done: {ran:?}");
        String::from_utf8_lossy(&ran.stderr).into_owned()
    }

    /// What `extract plan` finds, without what it costs.
    pub fn planned(&self, place: &str) -> Value {
        let said = self.extracted(&["plan", place, "--json"]);
        serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}"))
    }
}
