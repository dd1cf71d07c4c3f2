//! An installation to break: a fake client that keeps its lists in files, the plugin from
//! `install`, and a session.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::Value;

use super::found;
use crate::support::hook::Hook;

/// A check, its level, and what it saw.
pub type Fault = (String, String, String);

/// Answers `claude …` like the client, from files in its own folder.
const CLIENT: &str = r#"#!/bin/sh
cd "$(dirname "$0")" || exit 1
[ "$1" = --version ] && { cat version; exit; }
shift
case "$*" in
"marketplace list --json") if [ -e market ]; then printf '[{"name":"brain-guard","path":"%s"}]' "$(cat market)"; else echo '[]'; fi;;
"list --json") printf '[{"id":"another@brain-guard"}'
  [ -e plugin ] && printf ',{"id":"brain-guard@brain-guard","version":"%s","enabled":%s}' "$(cat plugin)" "$(cat enabled)"
  [ -e others ] && printf ',%s' "$(cat others)"
  echo ']';;
"marketplace add "*) printf %s "$3" > market;;
install*|update*) printf %s VERSION > plugin; printf true > enabled;;
uninstall*) rm plugin;;
"marketplace remove"*) rm market;;
esac
"#;

/// A complete installation with a running session.
pub struct Lab {
    pub hook: Hook,
}

impl Lab {
    pub fn installed() -> Self {
        let mut hook = Hook::begun();
        let client = hook.home.join("client/claude");
        fs::create_dir_all(client.parent().expect("parent")).expect("folder");
        fs::write(&client, CLIENT.replace("VERSION", env!("CARGO_PKG_VERSION"))).expect("client");
        fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).expect("mode");
        let path = format!("{0}/client:{0}/.local/bin:/usr/bin:/bin", hook.home.display());
        hook.set("PATH", &path);
        let lab = Self { hook };
        lab.put("client/version", "2.1.332 (Claude Code)");
        let answer = lab.hook.raw(&["install", "--no-demo"], b"");
        assert_eq!(answer.code, Some(0), "{answer:?}");
        // The transcript is older than the installation, so it says nothing about it.
        lab
    }

    /// Removes the seat of this process, because its commands would count as an agent's.
    pub fn leave_client(&mut self) {
        self.hook.set("CLAUDECODE", "").set("CLAUDE_CODE_SESSION_ID", "").set("CLAUDE_PID", "");
        let seat = format!("client-{}", std::process::id());
        fs::remove_file(self.hook.places().session(&seat, "seat")).expect("a seat");
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.hook.home.join(path)
    }

    pub fn put(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        fs::write(path, text).expect("file");
    }

    pub fn plugin(&self, path: &str) -> PathBuf {
        self.at(".local/share/brain-guard/current").join(path)
    }

    pub fn state(&self, path: &str) -> PathBuf {
        self.hook.places().state.join(path)
    }

    /// The faults `doctor` finds.
    pub fn faults(&self) -> Vec<Fault> {
        faults(&found(&self.hook.raw(&["doctor", "--json"], b"")))
    }

    /// What `--fix` did, and the faults that remain.
    pub fn fix(&self) -> (Vec<Value>, Vec<Fault>) {
        let answer = self.hook.raw(&["doctor", "--fix", "--json"], b"");
        let value: Value = serde_json::from_str(&answer.stdout).expect("JSON");
        let list = |name: &str| value[name].as_array().expect("a list").clone();
        (list("done"), faults(&list("found")))
    }
}

fn faults(found: &[Value]) -> Vec<Fault> {
    let text = |f: &Value, name: &str| f[name].as_str().expect("text").to_owned();
    let all = found.iter().filter(|f| f["level"] != "ok");
    all.map(|f| (text(f, "check"), text(f, "level"), text(f, "seen"))).collect()
}
