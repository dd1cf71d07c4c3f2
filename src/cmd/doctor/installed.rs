//! The plugin's folder, its binary, the command's link, and the client.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::copies::{self, Registered};
use super::mend::Mend;
use super::{FIX, Finding, World, files};
use crate::cmd::install::client::Client;
use crate::cmd::install::elf::{Linkage, linkage};
use crate::cmd::install::{COMMAND, place};
use crate::cmd::setup;
use crate::cmd::uninstall::UninstallPlan;
use base::env::Env;
use base::process;

/// Time limit for our own binary to print its version.
const PATIENCE: Duration = Duration::from_secs(5);

/// The oldest client whose hooks support everything that is blocked, and the newest one that the
/// tests run with.
const OLDEST: [u32; 3] = [2, 1, 250];
const NEWEST: [u32; 3] = [2, 1, 330];

const INSTALL: &str = "run `brain-guard install`";

/// What is installed, and whether the client uses it.
pub fn look(world: &World) -> Vec<Finding> {
    let World { env, plan, .. } = world;
    let current = plan.data.join(place::CURRENT);
    let registered = plan.client.as_deref().map(|program| Registered::ask(program, &current));
    let is_elsewhere = matches!(&registered, Some(Ok(known)) if known.is_elsewhere());
    let mut found = vec![plugin(&current, is_elsewhere)];
    if current.is_dir() {
        found.extend(files::look(&current, env));
        found.push(binary(&current.join(place::BINARY)));
    }
    found.push(command(plan, &current, env));
    match plan.client.as_deref().zip(registered) {
        None => found.push(Finding::problem(
            "client",
            "no claude on PATH",
            format!("install Claude Code, then {INSTALL}"),
        )),
        Some((program, registered)) => {
            found.push(client(program));
            found.extend(copies::look(world, &current, registered));
        }
    }
    found
}

fn plugin(current: &Path, is_elsewhere: bool) -> Finding {
    let shown = current.display();
    match fs::read_link(current) {
        Ok(release) if current.is_dir() => {
            let version = env!("CARGO_PKG_VERSION");
            let release = release.display().to_string();
            if release.starts_with(&format!("{version}-")) {
                Finding::ok("plugin", format!("{shown} is {release}"))
            } else {
                let seen = format!("{shown} is {release}, this program {version}");
                Finding::note("plugin", seen, INSTALL)
            }
        }
        Ok(_) => Finding::problem("plugin", format!("{shown} leads nowhere"), FIX)
            .mended_by(Mend::Install),
        Err(_) if is_elsewhere => {
            Finding::ok("plugin", "the client has it from a marketplace; nothing else is installed")
        }
        Err(_) => Finding::problem("plugin", format!("nothing is installed at {shown}"), INSTALL),
    }
}

fn binary(path: &Path) -> Finding {
    let shown = path.display();
    let answer = process::output(Command::new(path).arg("--version"), PATIENCE);
    let said = match answer {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
        Ok(output) => {
            return Finding::problem(
                "binary",
                format!("{shown} ends with {}", output.status),
                INSTALL,
            );
        }
        Err(e) => return Finding::problem("binary", format!("{shown} can't be run: {e}"), INSTALL),
    };
    match linkage(&fs::read(path).unwrap_or_default()) {
        Linkage::Static => Finding::ok("binary", format!("{said}, static")),
        Linkage::Dynamic => Finding::note(
            "binary",
            format!("{said}, not static: every hook starts slower"),
            "`cargo xtask install` in the source builds the static one",
        ),
        Linkage::Unknown => Finding::ok("binary", said),
    }
}

fn command(plan: &UninstallPlan, current: &Path, env: &Env) -> Finding {
    let link = plan.links.join(COMMAND);
    let shown = link.display();
    if !link.is_symlink() && !link.exists() {
        let found = |way| Finding::note("command", format!("{shown} is not there"), way);
        return if current.is_symlink() {
            found(FIX).mended_by(Mend::Install)
        } else {
            found(INSTALL)
        };
    }
    if !place::is_ours(&link, &current.join(place::BINARY)) {
        let seen = format!("{shown} is not the installed command");
        return Finding::note("command", seen, format!("move away what is there, then {INSTALL}"));
    }
    if setup::on_path(env, &plan.links) {
        return Finding::ok("command", shown.to_string());
    }
    let seen = format!("{} is not on this PATH", plan.links.display());
    Finding::note("command", seen, format!("add it, or call {shown}"))
}

fn client(program: &Path) -> Finding {
    let shown = program.display();
    let said = match Client::new(program).version() {
        Ok(said) => said,
        Err(e) => {
            let way = "reinstall Claude Code";
            return Finding::problem("client", format!("{shown}: {e:#}"), way);
        }
    };
    match numbers(&said) {
        Some(version) if version < OLDEST => Finding::problem(
            "client",
            format!("{shown} is {said}"),
            "update it: the hooks are made for 2.1.250 and later",
        ),
        Some(version) if version > NEWEST => Finding::note(
            "client",
            format!("{shown} is {said}, newer than 2.1.330, the last one that was tried"),
            "nothing while it works; else look for a newer brain-guard",
        ),
        Some(_) => Finding::ok("client", format!("{shown} is {said}")),
        None => Finding::note(
            "client",
            format!("{shown} calls itself {said:?}"),
            "the plugin was tried with Claude Code 2.1.250 to 2.1.330",
        ),
    }
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
    fn versions() {
        assert_eq!(numbers("2.1.330 (Claude Code)"), Some([2, 1, 330]));
        assert_eq!(numbers("2.1.250-beta.1"), Some([2, 1, 250]));
        assert_eq!(numbers("nightly"), None);
        assert!(numbers("2.1.99") < Some(OLDEST) && numbers("2.2.0") > Some(OLDEST));
    }
}
