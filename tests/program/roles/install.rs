//! `install` and `uninstall`, with the client's fake.

use std::path::Path;
use std::process::ExitCode;

use brain_guard::cmd::uninstall::uninstall;

use crate::plan::{install, installation};

/// Runs a verb in `root`.
pub fn run(verb: &str, root: &Path) -> ExitCode {
    let done = match verb {
        "install" => install(root),
        _ => uninstall(&installation(root), &mut std::io::sink()),
    };
    if let Err(e) = &done {
        eprintln!("{e:#}");
    }
    ExitCode::from(u8::from(done.is_err()))
}
