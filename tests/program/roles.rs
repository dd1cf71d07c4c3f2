//! Where the processes are that tests start: the example `roles`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The program, built on first use: cargo builds no examples for a single test program.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--workspace", "--profile", "test", "--example", "roles"]);
        let built = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status().expect("cargo");
        assert!(built.success(), "{cargo:?}");
        let tests = std::env::current_exe().expect("this program");
        tests.parent().and_then(Path::parent).expect("folder").join("examples/roles")
    })
}

/// This role's process.
pub fn command(role: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(role);
    command
}
