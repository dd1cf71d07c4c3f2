//! Runs `install` and `uninstall` in a separate process, with a small program to install, because
//! copying and hashing the real one takes too long. The client is a fake that keeps its lists in
//! files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use brain_guard::cmd::install::{self, Installation, keys, shell};
use brain_guard::cmd::uninstall::uninstall;

use crate::harness::Hook;
use crate::operations::{Operation, root};
use crate::trace::Run;

const CLIENT: &str = r#"#!/bin/sh
cd "${0%/*}" || exit 1
shift
held() { read -r held < "$1" || :; }
case "$*" in
"marketplace list --json") if [ -e market ]; then held market; printf '[{"name":"brain-guard","path":"%s"}]' "$held"; else echo '[]'; fi;;
"list --json") if [ -e plugin ]; then held plugin; printf '[{"id":"brain-guard@brain-guard","version":"%s","enabled":true}]' "$held"; else echo '[]'; fi;;
"marketplace add "*) echo "$3" > market;;
install*|update*) echo VERSION > plugin;;
uninstall*) rm -f plugin;;
"marketplace remove"*) rm -f market;;
esac
"#;

const THEIRS: &str =
    "{\"bindings\": [\n  {\"context\": \"Chat\", \"bindings\": {\"ctrl+k\": \"chat:stash\"}}\n]}";

/// The argument that makes this a child process; the verb and its root folder follow.
const FLAG: &str = "--as-program";

/// Runs a verb if this process was started for it.
pub fn child(args: &[String]) -> Option<ExitCode> {
    let [flag, verb, root] = args else { return None };
    if flag != FLAG {
        return None;
    }
    let done = match verb.as_str() {
        "install" => install(Path::new(root)),
        _ => uninstall(&installation(Path::new(root)), &mut std::io::sink()),
    };
    if let Err(e) = &done {
        eprintln!("{e:#}");
    }
    Some(ExitCode::from(u8::from(done.is_err())))
}

fn install(root: &Path) -> Result<()> {
    let at = installation(root);
    install::install(&at, &program(root), &mut std::io::sink())?;
    keys::bind(&at.config, &mut std::io::sink())
}

/// The program that is installed.
fn program(root: &Path) -> PathBuf {
    root.join("home/program")
}

fn installation(root: &Path) -> Installation {
    let home = root.join("home");
    let data = home.join(".local/share");
    Installation {
        links: home.join(".local/bin"),
        shells: shell::folders(&data, &home.join(".config")),
        on_path: true,
        client: Some(home.join("client/claude")),
        config: home.join(".claude"),
        state: data.join("state"),
        store: data.join("brain-guard"),
        data: data.join("brain-guard"),
    }
}

fn fresh() -> Hook {
    let hook = Hook::new();
    let at = installation(&root(&hook));
    let client = at.client.expect("a client");
    fs::create_dir_all(client.parent().expect("folder")).expect("folder");
    let script = CLIENT.replace("VERSION", env!("CARGO_PKG_VERSION"));
    for (path, text) in [(client, script.as_str()), (program(&root(&hook)), "#!/bin/sh\n")] {
        fs::write(&path, text).expect("program");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("mode");
    }
    fs::write(at.config.join("keybindings.json"), THEIRS).expect("keys");
    hook
}

fn installed() -> Hook {
    let hook = fresh();
    install(&root(&hook)).expect("installed");
    hook
}

fn run(hook: Hook, verb: &str) -> Operation {
    let folder = root(&hook);
    let program: PathBuf = std::env::current_exe().expect("own path");
    let run = Run {
        program,
        args: vec![FLAG.to_owned(), verb.to_owned(), folder.display().to_string()],
        env: vec![
            ("HOME".to_owned(), hook.home.display().to_string()),
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
        ],
        folder,
        stdin: Vec::new(),
    };
    Operation { hook, run, session: false }
}

/// A first installation.
pub fn first() -> Operation {
    run(fresh(), "install")
}

/// An installation over an earlier release.
pub fn another() -> Operation {
    let hook = installed();
    fs::write(program(&root(&hook)), "#!/bin/sh\n# the next release\n").expect("program");
    run(hook, "install")
}

/// An uninstallation.
pub fn uninstalled() -> Operation {
    run(installed(), "uninstall")
}
