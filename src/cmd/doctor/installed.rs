//! The plugin's folder, its files, the command's link, and the client.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{FIX, Finding, INSTALL, World};
use crate::cmd::install::assets::ASSETS;
use crate::cmd::install::client::{Client, NOT_FOUND};
use crate::cmd::install::{self, COMMAND, place};
use base::paths::same_file;
use base::process;

/// Time limit for our own binary to print its version.
const PATIENCE: Duration = Duration::from_secs(5);

/// The oldest client that the plugin supports, and the newest one that the tests run with.
const OLDEST: [u32; 3] = [2, 1, 286];
const NEWEST: [u32; 3] = [2, 1, 332];

/// Completes the installation, as `install` does.
pub fn fix(world: &World) -> anyhow::Result<String> {
    install::repair(world.env)
}

pub fn plugin(world: &World) -> Vec<Finding> {
    let shown = world.current.display();
    vec![match fs::read_link(&world.current) {
        Ok(release) if world.current.is_dir() => {
            let (release, version) = (release.display().to_string(), env!("CARGO_PKG_VERSION"));
            if release.starts_with(&format!("{version}-")) {
                Finding::ok(format!("{shown} is {release}"))
            } else {
                Finding::note(format!("{shown} is {release}, this program {version}"), INSTALL)
            }
        }
        Ok(_) => Finding::problem(format!("{shown} leads nowhere"), FIX),
        Err(_) if matches!(&world.registered, Some(Ok(known)) if known.is_elsewhere()) => {
            Finding::ok("the client has it from a marketplace; nothing else is installed")
        }
        Err(_) => Finding::problem(format!("nothing is installed at {shown}"), INSTALL),
    }]
}

/// Compares the release with the digest in its name.
pub fn files(world: &World) -> Vec<Finding> {
    let release = fs::read_link(&world.current).unwrap_or_default().display().to_string();
    // Another version has other files; `plugin` says so.
    if !release.starts_with(concat!(env!("CARGO_PKG_VERSION"), "-")) || !world.current.is_dir() {
        return Vec::new();
    }
    let installed = |path: &str| fs::read(world.current.join(path)).unwrap_or_default();
    let all = ASSETS.iter().map(|(path, _)| (path.as_str(), installed(path)));
    let binary = installed(place::BINARY);
    let own = ASSETS.iter().map(|(path, bytes)| (path.as_str(), bytes));
    let path = world.current.join(place::BINARY);
    let is_running = world.env.program().is_some_and(|program| same_file(&program, &path));
    vec![if release.ends_with(&place::digest(all, &binary)) {
        Finding::ok(format!("{} files and the binary are as installed", ASSETS.len()))
    } else if is_running && !release.ends_with(&place::digest(own, &binary)) {
        let seen = format!("{} has changed since the installation", path.display());
        Finding::problem(seen, "install a release again; a damaged program can't repair itself")
    } else {
        Finding::problem("files are missing or changed since the installation", FIX)
    }]
}

/// Whether the installed program runs.
pub fn binary(current: &Path) -> Vec<Finding> {
    if !current.is_dir() {
        return Vec::new();
    }
    let path = current.join(place::BINARY);
    let shown = path.display();
    vec![match process::output(Command::new(&path).arg("--version"), PATIENCE) {
        Ok(output) if output.status.success() => {
            Finding::ok(String::from_utf8_lossy(&output.stdout).trim())
        }
        Ok(output) => Finding::problem(format!("{shown} ends with {}", output.status), FIX),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied && is_executable(&path) => {
            let way = "allow programs to run there (`mount` shows noexec), or set XDG_DATA_HOME to another folder and install again";
            Finding::problem(format!("{shown} can't be run: {e}"), way)
        }
        Err(e) => Finding::problem(format!("{shown} can't be run: {e}"), FIX),
    }]
}

fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|meta| meta.permissions().mode() & 0o100 != 0)
}

pub fn command(world: &World) -> Vec<Finding> {
    let link = world.plan.link();
    let shown = link.display();
    let is_from_marketplace = world.is_from_marketplace();
    let mut on_path = world.plan.path_folders.iter().map(|folder| folder.join(COMMAND));
    let first = on_path.find(|program| program.is_file());
    let is_on_path = world.plan.path_folders.contains(&world.plan.links);
    let is_same = |other: &Path| fs::canonicalize(other).ok() == fs::canonicalize(&link).ok();
    let is_ours = place::leads_to(&link, &world.current.join(place::BINARY))
        || is_from_marketplace && fs::read_link(&link).is_ok_and(|to| world.plan.is_ours(&to));
    vec![if !link.is_symlink() && !link.exists() {
        let way = if world.current.is_symlink() { FIX } else { world.install_hint() };
        Finding::note(format!("{shown} is not there"), way)
    } else if !is_ours {
        let seen = format!("{shown} is not the installed command");
        let program = world.current.join(place::BINARY);
        let way = format!("move away what is there, then run `{} install`", program.display());
        Finding::note(seen, way)
    } else if let Some(other) = first.filter(|first| is_on_path && !is_same(first)) {
        let seen = format!("{COMMAND} starts {}, which comes first on this PATH", other.display());
        Finding::note(seen, format!("move it away, or call {shown}"))
    } else if is_on_path {
        Finding::ok(shown.to_string())
    } else {
        let seen = format!("{} is not on this PATH", world.plan.links.display());
        Finding::note(seen, format!("add it, or call {shown}"))
    }]
}

/// Whether there is a client, and of which version.
pub fn client(program: Option<&Path>) -> Vec<Finding> {
    let Some(program) = program else {
        let way = format!("install Claude Code, then {INSTALL}");
        return vec![Finding::problem(NOT_FOUND, way)];
    };
    let shown = program.display();
    let (oldest, newest) = (written(OLDEST), written(NEWEST));
    let said = match Client::new(program).version() {
        Ok(said) => said,
        Err(e) => {
            return vec![Finding::problem(format!("{shown}: {e:#}"), "reinstall Claude Code")];
        }
    };
    vec![match numbers(&said) {
        Some(version) if version < OLDEST => Finding::problem(
            format!("{shown} is {said}"),
            format!("update it: the hooks are made for {oldest} and later"),
        ),
        Some(version) if version > NEWEST => Finding::note(
            format!("{shown} is {said}, newer than {newest}, the last one that was tried"),
            "nothing while it works; else look for a newer brain-guard",
        ),
        Some(_) => Finding::ok(format!("{shown} is {said}")),
        None => Finding::note(
            format!("{shown} calls itself {said:?}"),
            format!("the plugin was tried with Claude Code {oldest} to {newest}"),
        ),
    }]
}

fn written(version: [u32; 3]) -> String {
    version.map(|number| number.to_string()).join(".")
}

/// The three numbers a version begins with.
fn numbers(version: &str) -> Option<[u32; 3]> {
    let mut parts = version.split_whitespace().next()?.splitn(3, '.').map(|part| {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        part[..digits].parse().ok()
    });
    Some([parts.next()??, parts.next()??, parts.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(numbers("2.1.332 (Claude Code)"), Some(NEWEST));
        assert_eq!(numbers("2.1.286-beta.1"), Some(OLDEST));
        assert_eq!(numbers("nightly"), None);
        assert!(numbers("2.1.99") < Some(OLDEST) && numbers("2.2.0") > Some(OLDEST));
    }
}
