//! `cargo xtask install`: one build, of the kind that is installed, and that program's `install`.
//!
//! A static program starts faster, and a hook starts at every tool call. So it is built for musl
//! where that can be done, else for the host.

use std::env::{self, consts, split_paths};
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

const PROGRAM: &str = "brain-guard";

/// The command that builds and installs. `brain-guard install`'s arguments are added to it.
///
/// # Errors
/// No cargo is known.
pub fn command(root: &Path) -> Result<Command, String> {
    let cargo = env::var_os("CARGO").ok_or("start it as `cargo xtask install`")?;
    let mut command = Command::new(cargo);
    command.args(["run", "--release", "--bin", PROGRAM]).current_dir(root);
    if consts::OS == "linux" {
        let target = format!("{}-unknown-linux-musl", consts::ARCH);
        let path = env::var_os("PATH").unwrap_or_default();
        let is_named = compiler_variables(&target).iter().any(|name| env::var_os(name).is_some());
        let ready = if is_named { Ok(()) } else { compiler(&path, &target) };
        match ready.and_then(|()| add_target(OsStr::new("rustup"), &target)) {
            Ok(()) => {
                command.args(["--target", &target]);
            }
            Err(why) => {
                eprintln!("the program will not be static, so its hooks start slower: {why}");
                // `install` says it again in the end.
                command.env("BRAIN_GUARD_NOT_STATIC", why);
            }
        }
    }
    command.args(["--", "install"]);
    Ok(command)
}

/// Variables that tell the crate `cc` which compiler to use for a target.
fn compiler_variables(target: &str) -> [String; 5] {
    let underscored = target.replace('-', "_");
    [
        format!("CC_{target}"),
        format!("CC_{underscored}"),
        "TARGET_CC".into(),
        "CC".into(),
        "CROSS_COMPILE".into(),
    ]
}

/// Checks for the C compiler first: without it, a build of minutes would fail.
fn compiler(path: &OsStr, target: &str) -> Result<(), String> {
    // The same names that `cc` tries.
    let names = [target.replace("-unknown", "") + "-gcc", "musl-gcc".into()];
    if split_paths(path).any(|folder| names.iter().any(|name| folder.join(name).is_file())) {
        return Ok(());
    }
    Err(format!(
        "no C compiler for musl, a static C library, is on PATH ({}); on Debian and Ubuntu `sudo \
         apt-get install musl-tools`, then `cargo xtask install` again",
        names.join(" or ")
    ))
}

fn add_target(rustup: &OsStr, target: &str) -> Result<(), String> {
    let run = Command::new(rustup)
        .args(["target", "add", target])
        .stdin(Stdio::null())
        .output()
        .map_err(|why| format!("could not run `rustup target add {target}`: {why}"))?;
    if run.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&run.stderr);
    let why = why.lines().find(|line| line.starts_with("error:")).unwrap_or(why.trim());
    Err(format!("`rustup target add {target}` failed: {why}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const TARGET: &str = "x86_64-unknown-linux-musl";

    #[test]
    fn a_c_compiler_is_looked_for_on_the_path() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().as_os_str();
        let why = compiler(path, TARGET).expect_err("an empty folder");
        assert!(why.contains("x86_64-linux-musl-gcc or musl-gcc"), "{why}");
        assert!(why.contains("musl-tools"), "{why}");
        fs::write(folder.path().join("musl-gcc"), "").expect("compiler");
        assert_eq!(compiler(path, TARGET), Ok(()));
    }

    #[test]
    fn a_target_that_cannot_be_added_says_why() {
        let why = add_target(OsStr::new("/no/rustup"), TARGET).expect_err("no rustup");
        assert!(why.contains("could not run `rustup target add"), "{why}");
        let why = add_target(OsStr::new("/bin/false"), TARGET).expect_err("it fails");
        assert!(why.contains("failed"), "{why}");
        assert_eq!(add_target(OsStr::new("/bin/true"), TARGET), Ok(()));
    }
}
