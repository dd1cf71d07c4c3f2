//! `cargo xtask install`: builds the program once, and installs it.
#![allow(clippy::disallowed_methods, reason = "this program's work is to start others")]
#![allow(clippy::print_stderr, reason = "it speaks to a terminal")]

mod install;

use std::env;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let mut arguments = env::args_os().skip(1);
    if arguments.next().is_none_or(|task| task != "install") {
        return failed("usage: cargo xtask install [ARGUMENT of `brain-guard install` …]");
    }
    let mut command = match install::command(root) {
        Ok(command) => command,
        Err(why) => return failed(&why),
    };
    match command.args(arguments).current_dir(root).status() {
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
