//! The repository's tasks. `cargo xtask` lists them.
#![allow(clippy::disallowed_methods, reason = "this program's work is to start others")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it speaks to a terminal")]

mod install;

use std::env;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

struct Task {
    name: &'static str,
    purpose: &'static str,
    /// The program and its first arguments, from the repository's root.
    command: &'static [&'static str],
}

const fn task(name: &'static str, purpose: &'static str, command: &'static [&'static str]) -> Task {
    Task { name, purpose, command }
}

/// Every task but `install`, which is code.
const TASKS: [Task; 11] = [
    task("test", "formatting, lints and the tests of the program", &["./test"]),
    task("test-all", "the rest, with real clients", &["./test", "--all"]),
    task("test-long", "what takes a night", &["./test", "--long"]),
    task("test-live", "a session with a real model, on your account", &["./test", "--live"]),
    task("bench", "what the hook costs; also bench surgery, bench extract", &["./bench"]),
    task("fuzz", "the fuzz targets", &["tests/fuzz"]),
    task("artifacts", "the programs of a release, in target/artifacts", &["scripts/artifacts"]),
    task("plugin", "the plugin's folder, from these programs", &["scripts/plugin"]),
    task("link-macos", "links the program for macOS", &["scripts/link-macos"]),
    task("bump", "sets the version everywhere", &["scripts/bump"]),
    task("notes", "a version's part of the changelog", &["scripts/notes"]),
];

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(PathBuf::from);
    let root = root.unwrap_or_default();
    let mut arguments = env::args_os().skip(1);
    let Some(name) = arguments.next() else {
        print!("{}", list());
        return ExitCode::SUCCESS;
    };
    let mut command = if name == "install" {
        match install::command(&root) {
            Ok(command) => command,
            Err(why) => return failed(&why),
        }
    } else if let Some(task) = TASKS.iter().find(|task| name == task.name) {
        let mut command = Command::new(task.command[0]);
        command.args(&task.command[1..]);
        command
    } else {
        return failed(&format!("there is no task {}\n\n{}", name.display(), list()));
    };
    match command.args(arguments).current_dir(&root).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => {
            ExitCode::from(status.code().and_then(|code| code.try_into().ok()).unwrap_or(1))
        }
        Err(why) => failed(&format!("could not start {}: {why}", command.get_program().display())),
    }
}

fn failed(why: &str) -> ExitCode {
    eprintln!("xtask: {why}");
    ExitCode::from(2)
}

fn list() -> String {
    let mut text = String::from("usage: cargo xtask TASK [ARGUMENT …]\n\n");
    let install = task("install", "builds the program once, and installs it", &[]);
    for Task { name, purpose, .. } in [&install].into_iter().chain(&TASKS) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {name:<12} {purpose}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_starts_a_file_that_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("root");
        for task in &TASKS {
            assert!(root.join(task.command[0]).is_file(), "{}", task.name);
        }
    }
}
