//! Which program to install: from a source checkout, a static one built for it.
//!
//! `cargo run --release -- install` runs a program for the host, because cargo's configuration
//! cannot choose a target by subcommand. So this program builds a better one: musl, static, at a
//! fixed address (`.cargo/config.toml`). If that fails, it installs itself and says what that
//! costs.

use std::{
    env::split_paths,
    ffi::OsString,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::{
    COMMAND,
    elf::{self, Linkage},
};

/// The source that `cargo run` started this program from.
#[derive(Debug, Clone)]
pub struct Checkout {
    /// The cargo that started it (`$CARGO`).
    pub cargo: PathBuf,
    /// The rustup that adds a target; a bare name is searched on `PATH`.
    pub rustup: PathBuf,
    /// The package's folder (`$CARGO_MANIFEST_DIR`).
    pub folder: PathBuf,
    /// Where to search for the C compiler that builds SQLite (`$PATH`); `None` if the environment
    /// names a compiler.
    pub compilers: Option<OsString>,
}

/// The program to install: built from the source if there is one, else `own`.
///
/// # Errors
/// Only if `out` cannot be written. A failed build is reported, and `own` is used.
pub fn program(own: &Path, checkout: Option<&Checkout>, out: &mut dyn Write) -> Result<PathBuf> {
    let Some(checkout) = checkout else { return Ok(own.to_owned()) };
    let Some(target) = target() else { return Ok(own.to_owned()) };
    if fs::read(own).is_ok_and(|bytes| elf::linkage(&bytes) == Linkage::Static) {
        return Ok(own.to_owned());
    }
    writeln!(out, "building for {target}")?;
    let built = compiler(checkout, target)
        .and_then(|()| add_target(&checkout.rustup, target))
        .and_then(|()| build(checkout, target));
    match built {
        Ok(program) => Ok(program),
        Err(why) => {
            writeln!(out, "no static binary, the host's is used: {why:#}")?;
            Ok(own.to_owned())
        }
    }
}

/// The static target of this machine, if there is one.
fn target() -> Option<&'static str> {
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        Some("x86_64-unknown-linux-musl")
    } else if cfg!(all(target_os = "linux", target_arch = "aarch64")) {
        Some("aarch64-unknown-linux-musl")
    } else {
        None
    }
}

/// Variables that tell the crate `cc` which compiler to use for a target.
pub fn compiler_variables() -> Vec<String> {
    let own = target().into_iter();
    let own = own.flat_map(|t| [format!("CC_{t}"), format!("CC_{}", t.replace('-', "_"))]);
    own.chain(["TARGET_CC".into(), "CC".into(), "CROSS_COMPILE".into()]).collect()
}

/// Checks for the C compiler first: without it, a build of minutes would fail.
fn compiler(checkout: &Checkout, target: &str) -> Result<()> {
    let Some(path) = &checkout.compilers else { return Ok(()) };
    // The same names that `cc` tries.
    let own = target.replace("-unknown", "") + "-gcc";
    let names = [own.as_str(), "musl-gcc"];
    let there = |folder: &PathBuf| names.iter().any(|name| folder.join(name).is_file());
    if split_paths(path).any(|folder| there(&folder)) {
        return Ok(());
    }
    bail!(
        "no C compiler for it is on PATH ({}); on Debian and Ubuntu `sudo apt-get install \
         musl-tools`, then install again",
        names.join(" or ")
    )
}

fn add_target(rustup: &Path, target: &str) -> Result<()> {
    let run = Command::new(rustup)
        .args(["target", "add", target])
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("could not run `rustup target add {target}`"))?;
    if !run.status.success() {
        let why = String::from_utf8_lossy(&run.stderr);
        bail!("`rustup target add {target}` failed: {}", why.trim());
    }
    Ok(())
}

fn build(checkout: &Checkout, target: &str) -> Result<PathBuf> {
    let run = Command::new(&checkout.cargo)
        .args(["build", "--profile", "dist", "--bin", COMMAND, "--target", target])
        .arg("--message-format=json-render-diagnostics")
        .current_dir(&checkout.folder)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("could not run {}", checkout.cargo.display()))?;
    if !run.status.success() {
        bail!("the build for {target} failed");
    }
    executable(&String::from_utf8_lossy(&run.stdout))
        .with_context(|| format!("the build for {target} names no executable"))
}

/// The executable that a build's messages name last; each message is a line of JSON.
fn executable(messages: &str) -> Option<PathBuf> {
    let executable = |line| {
        let message: Value = serde_json::from_str(line).ok()?;
        Some(PathBuf::from(message["executable"].as_str()?))
    };
    messages.lines().rev().find_map(executable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executable_is_read_from_the_messages() {
        let messages = concat!(
            "{\"reason\":\"compiler-artifact\",\"executable\":null}\n",
            "{\"reason\":\"compiler-artifact\",\"executable\":\"/t/release/brain-guard\"}\n",
            "{\"reason\":\"build-finished\",\"success\":true}\n",
        );
        assert_eq!(executable(messages), Some(PathBuf::from("/t/release/brain-guard")));
        assert_eq!(executable("warning: nothing\n"), None);
    }

    /// The chosen program and the output, with these programs as rustup and cargo.
    fn chosen(rustup: &str, cargo: &str) -> (PathBuf, String) {
        let folder = tempfile::tempdir().expect("folder");
        let checkout = Checkout {
            cargo: cargo.into(),
            rustup: rustup.into(),
            folder: folder.path().to_owned(),
            compilers: None,
        };
        let mut out = Vec::new();
        let program = program(Path::new("/own"), Some(&checkout), &mut out).expect("told");
        (program, String::from_utf8(out).expect("utf-8"))
    }

    #[test]
    fn what_can_not_be_built_leaves_the_own_program_and_says_why() {
        let (program, said) = chosen("/bin/true", "/bin/false");
        assert_eq!(program, Path::new("/own"));
        assert!(said.contains("the host's is used: the build for"), "{said}");

        let (program, said) = chosen("/no/rustup", "/bin/false");
        assert_eq!(program, Path::new("/own"));
        assert!(said.contains("could not run `rustup target add"), "{said}");

        let (_, said) = chosen("/bin/true", "/bin/true");
        assert!(said.contains("names no executable"), "{said}");
    }

    #[test]
    fn without_a_c_compiler_nothing_is_begun() {
        let folder = tempfile::tempdir().expect("folder");
        let said = || {
            let checkout = Checkout {
                cargo: "/bin/false".into(),
                rustup: "/no/rustup".into(),
                folder: folder.path().to_owned(),
                compilers: Some(folder.path().into()),
            };
            let mut out = Vec::new();
            let chosen = program(Path::new("/own"), Some(&checkout), &mut out).expect("told");
            assert_eq!(chosen, Path::new("/own"));
            String::from_utf8(out).expect("utf-8")
        };
        let without = said();
        assert!(without.contains("the host's is used: no C compiler for it"), "{without}");
        assert!(without.contains("musl-gcc") && without.contains("musl-tools"), "{without}");
        fs::write(folder.path().join("musl-gcc"), "").expect("compiler");
        assert!(said().contains("could not run `rustup"), "found, so the build goes on");
    }

    #[test]
    fn without_a_source_nothing_is_built() {
        let mut out = Vec::new();
        let own = Path::new("/own");
        assert_eq!(program(own, None, &mut out).expect("path"), own);
        assert!(out.is_empty());
    }
}
