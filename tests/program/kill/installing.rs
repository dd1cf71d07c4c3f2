//! `install` and `uninstall` to kill. The client is a fake that keeps its lists in files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::kill::operations::{Operation, root};
use crate::kill::plan::{install, installation, program};
use crate::roles;
use crate::support::hook::Hook;
use crate::support::trace::Run;

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
    let run = Run {
        program: roles::program().to_owned(),
        args: vec![verb.to_owned(), folder.display().to_string()],
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
