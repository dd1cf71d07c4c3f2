//! `brain-guard demo` as a user runs it, on working and on broken plugins: it must not report
//! success when something is wrong.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_brain-guard");

/// The time limit of every run.
const BOUND: Duration = Duration::from_secs(30);

/// Stages of the demo.
const STAGES: usize = 18;

struct Place {
    root: tempfile::TempDir,
    plugin: PathBuf,
}

impl Place {
    /// An installed plugin folder, with `program` linked as its binary.
    fn new(program: Option<&Path>) -> Self {
        let root = tempfile::tempdir().expect("temp");
        let (plugin, source) =
            (root.path().join("the plugin"), Path::new(env!("CARGO_MANIFEST_DIR")));
        for folder in ["bin", "hooks", "home", "tmp"] {
            let at = if folder == "bin" || folder == "hooks" {
                plugin.join(folder)
            } else {
                root.path().join(folder)
            };
            fs::create_dir_all(at).expect("folder");
        }
        for file in ["hooks.json", "brain-guard.tsx"] {
            fs::copy(source.join("hooks").join(file), plugin.join("hooks").join(file))
                .expect("copy");
        }
        if let Some(program) = program {
            symlink(program, plugin.join("bin/brain-guard")).expect("link");
        }
        Self { root, plugin }
    }

    /// A plugin whose binary is this shell script.
    fn scripted(script: &str) -> Self {
        let place = Self::new(None);
        let path = place.plugin.join("bin/brain-guard");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("write");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("chmod");
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Runs the demo and checks the time limit, plain text, and that nothing is left behind.
    fn play(&self) -> (Output, String) {
        let begun = Instant::now();
        let output = Command::new(BINARY)
            .args(["demo", "--plugin"])
            .arg(&self.plugin)
            .env_clear()
            .env("HOME", self.at("home"))
            .env("TMPDIR", self.at("tmp"))
            .env("PATH", self.at("no-programs"))
            .env("TERM", "xterm-256color")
            // The variables of a real session must not lead the demo into that session.
            .env("CLAUDE_CODE_SESSION_ID", "of-the-user")
            .env("CLAUDE_PROJECT_DIR", self.at("home"))
            .env("BRAIN_GUARD_MOD", "0.0.0:1")
            .output()
            .expect("the demo runs");
        assert!(begun.elapsed() < BOUND, "took {:?}", begun.elapsed());
        let said = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(!said.contains('\x1b'), "escape codes in a pipe: {said}");
        for folder in ["home", "tmp"] {
            let left: Vec<_> = fs::read_dir(self.at(folder))
                .expect("folder")
                .flatten()
                .map(|e| e.path())
                .collect();
            assert!(left.is_empty(), "left behind: {left:?}");
        }
        (output, said)
    }
}

fn failed(said: &str) -> usize {
    said.matches(": FAILED: ").count()
}

#[test]
fn the_real_plugin_plays_every_stage() {
    let place = Place::new(Some(Path::new(BINARY)));
    let (output, said) = place.play();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!((failed(&said), said.matches("ok  ").count()), (0, STAGES), "{said}");
    for part in [
        " free ",
        " coach ",
        " block-reads ",
        " narrow ",
        "Read store.rs: denied",
        "<<<<< compaction file",
    ] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
}

#[test]
fn a_read_only_home_does_not_matter() {
    let place = Place::new(Some(Path::new(BINARY)));
    fs::set_permissions(place.at("home"), fs::Permissions::from_mode(0o555)).expect("chmod");
    let (output, said) = place.play();
    assert_eq!(output.status.code(), Some(0), "{said}");
}

#[test]
fn a_program_that_does_nothing_fails_the_demo() {
    let (output, said) = Place::new(Some(Path::new("/bin/true"))).play();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(failed(&said), STAGES, "{said}");
    assert!(said.contains("20 %: one note, nothing blocked: FAILED: expected"), "{said}");
}

#[test]
fn a_hanging_program_is_ended_and_reported() {
    let (output, said) = Place::scripted("PATH=/usr/bin:/bin\nexec sleep 600").play();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(failed(&said), STAGES, "{said}");
    assert!(said.contains("did not end within"), "{said}");
}

#[test]
fn what_a_hanging_program_started_is_ended_too() {
    let place = Place::scripted("PATH=/usr/bin:/bin\necho $$ >> \"${0%/bin/*}/pids\"\nsleep 600");
    let pids = place.plugin.join("pids");
    let (output, said) = place.play();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let text = fs::read_to_string(pids).expect("the program was started");
    for pid in text.lines() {
        // A process group with members has its leader's pid.
        let alive = || {
            fs::read_dir("/proc").expect("proc").flatten().any(|entry| {
                let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
                let fields: Vec<&str> =
                    stat.rsplit_once(')').map_or("", |(_, f)| f).split_whitespace().collect();
                fields.get(2) == Some(&pid) && fields.first() != Some(&"Z")
            })
        };
        // A killed member ends with a delay.
        let until = Instant::now() + Duration::from_secs(5);
        while alive() {
            assert!(Instant::now() < until, "group {pid} lives on");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_program_that_prints_nonsense_fails_the_demo() {
    for script in ["echo nonsense", "echo '{}'", "exit 3", "yes"] {
        let (output, said) = Place::scripted(&format!("PATH=/usr/bin:/bin\n{script}")).play();
        assert_eq!(output.status.code(), Some(1), "{script}: {said}");
        assert!(failed(&said) > STAGES / 2, "{script}: {said}");
    }
}

#[test]
fn a_missing_program_or_plugin_is_reported_with_the_way_out() {
    let (output, said) = Place::new(None).play();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(failed(&said), STAGES, "{said}");
    assert!(said.contains("could not start") && said.contains("brain-guard install"), "{said}");
    let place = Place::new(Some(Path::new(BINARY)));
    fs::remove_file(place.plugin.join("hooks/hooks.json")).expect("remove");
    let (output, said) = place.play();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no plugin in") && said.contains("brain-guard install"), "{said}");
}

#[test]
fn an_unregistered_hook_is_noticed() {
    for event in
        ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch", "Stop"]
    {
        let place = Place::new(Some(Path::new(BINARY)));
        let path = place.plugin.join("hooks/hooks.json");
        let text = fs::read_to_string(&path).expect("hooks");
        fs::write(&path, text.replace(&format!("\"{event}\":"), &format!("\"Not{event}\":")))
            .expect("write");
        let (output, said) = place.play();
        assert_eq!(output.status.code(), Some(1), "without {event}: {said}");
    }
}
