//! `brain-guard demo` as a user runs it, on working and on broken plugins: it must not report
//! success when something is wrong.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_brain-guard");

struct Place {
    root: tempfile::TempDir,
    plugin: PathBuf,
}

impl Place {
    /// An installed plugin folder, with `program` linked as its binary.
    fn new(program: &str) -> Self {
        let root = tempfile::tempdir().expect("temp");
        let plugin = root.path().join("the plugin");
        for folder in ["the plugin/bin", "the plugin/hooks", "home", "tmp"] {
            fs::create_dir_all(root.path().join(folder)).expect("folder");
        }
        let hooks = Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks/hooks.json");
        fs::copy(hooks, plugin.join("hooks/hooks.json")).expect("copy");
        symlink(program, plugin.join("bin/brain-guard")).expect("link");
        Self { root, plugin }
    }

    /// A plugin whose binary is this shell script.
    fn scripted(script: &str) -> Self {
        let place = Self::new("script");
        let path = place.plugin.join("bin/script");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("write");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("chmod");
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Runs the demo, and checks that it leaves nothing behind. Returns its exit code and output.
    fn play(&self) -> (Option<i32>, String) {
        let output = Command::new(BINARY)
            .args(["demo", "--plugin"])
            .arg(&self.plugin)
            .env_clear()
            .env("HOME", self.at("home"))
            .env("TMPDIR", self.at("tmp"))
            .env("PATH", "/usr/bin:/bin")
            // The variables of a real session must not lead the demo into that session.
            .env("CLAUDE_CODE_SESSION_ID", "of-the-user")
            .env("CLAUDE_PROJECT_DIR", self.at("home"))
            .env("BRAIN_GUARD_MOD", "0.0.0:1")
            .output()
            .expect("the demo runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for folder in ["home", "tmp"] {
            let left: Vec<_> = fs::read_dir(self.at(folder)).expect("folder").flatten().collect();
            assert!(left.is_empty(), "left behind: {left:?}");
        }
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    }

    /// Plays it on a broken plugin; returns the line that names the step that failed.
    fn fails(&self) -> String {
        let (code, said) = self.play();
        assert_eq!(code, Some(1), "{said}");
        assert!(!said.contains("Every step"), "{said}");
        let line = said.lines().find(|line| line.starts_with("brain-guard: ")).expect("an error");
        assert!(line.contains("`brain-guard install`"), "{said}");
        line.to_owned()
    }
}

#[test]
fn every_line_is_what_the_hook_answered() {
    let (code, said) = Place::new(BINARY).play();
    assert_eq!(code, Some(0), "{said}");
    for part in [
        "context 12 % (116k of 967k): tier free",
        "  Read src/main.rs: allowed",
        "context 21 % (205k of 967k): tier coach",
        "context 26 % (255k of 967k): tier block-reads",
        "Read src/retry.rs: blocked, 'brain-guard blocked Read",
        "context 31 % (300k of 967k): tier narrow",
        "Bash cargo test: blocked, 'brain-guard blocked Bash",
        "end of the turn: refused, 'brain-guard: ",
        "brain-guard seal: 'sealed",
        "the fresh one starts with: '- give `retry.rs` a back-off",
        "context 4 % (39k of 967k): tier free",
        "Every step went as it should.",
    ] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    assert!(said.lines().count() < 20, "{said}");
}

#[test]
fn a_hook_that_does_nothing_or_prints_nonsense_fails_the_demo() {
    let failed = Place::new("/bin/true").fails();
    assert!(
        failed.contains("`Read src/main.rs: allowed`") && failed.contains("status"),
        "{failed}"
    );
    for script in ["echo nonsense", "echo '{}'", "exit 3"] {
        let failed = Place::scripted(script).fails();
        assert!(failed.contains("`session starts`"), "{script}: {failed}");
    }
}

#[test]
fn a_hook_that_hangs_is_ended_with_all_it_started() {
    let place = Place::scripted("echo $$ > \"${0%/bin/*}/pid\"; /bin/sleep 600");
    let failed = place.fails();
    assert!(failed.contains("`session starts`") && failed.contains("no answer within"), "{failed}");
    let pid = fs::read_to_string(place.plugin.join("pid")).expect("the hook was started");
    // A process group with members has its leader's pid.
    let is_alive = || {
        fs::read_dir("/proc").expect("proc").flatten().any(|entry| {
            let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let fields: Vec<&str> =
                stat.rsplit_once(')').map_or("", |(_, f)| f).split_whitespace().collect();
            fields.get(2) == Some(&pid.trim()) && fields.first() != Some(&"Z")
        })
    };
    // A killed member ends with a delay.
    let until = Instant::now() + Duration::from_secs(5);
    while is_alive() {
        assert!(Instant::now() < until, "group {pid} lives on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_missing_program_or_plugin_is_named() {
    assert!(Place::new("/no/program").fails().contains("could not run "));
    let place = Place::new(BINARY);
    fs::remove_file(place.plugin.join("hooks/hooks.json")).expect("remove");
    assert!(place.fails().contains("no plugin in "));
}

#[test]
fn an_unregistered_hook_is_noticed() {
    for event in
        ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch", "Stop"]
    {
        let place = Place::new(BINARY);
        let path = place.plugin.join("hooks/hooks.json");
        let text = fs::read_to_string(&path).expect("hooks");
        fs::write(&path, text.replace(&format!("\"{event}\":"), &format!("\"Not{event}\":")))
            .expect("write");
        let failed = place.fails();
        assert!(failed.contains(&format!("has no hook for {event}")), "{failed}");
    }
}
