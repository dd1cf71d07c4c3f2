//! Tests of the checks, by settings file.

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::cmd::doctor::Level;

struct Files {
    dir: tempfile::TempDir,
}

impl Files {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn look(&self) -> Vec<Finding> {
        look_in(&self.at("home/.claude"), &self.at("project"), &self.at("etc"))
    }
}

#[track_caller]
fn only(files: &Files, level: Level, word: &str) {
    let found = files.look();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].level, level, "{found:?}");
    assert!(found[0].seen.contains(word), "{found:?}");
}

#[test]
fn nothing_is_in_the_way_of_plain_settings() {
    let files = Files::new();
    only(&files, Level::Ok, "nothing");
    files.put(
        "home/.claude/settings.json",
        r#"{"enabledPlugins": {"brain-guard@brain-guard": true}}"#,
    );
    files.put("home/.claude.json", r#"{"autoCompactEnabled": true}"#);
    only(&files, Level::Ok, "nothing");
}

#[test]
fn each_switch_is_found_in_its_file() {
    let cases = [
        (
            "home/.claude/settings.json",
            r#"{"disableAllHooks": true}"#,
            Level::Problem,
            "disableAllHooks",
        ),
        (
            "project/.claude/settings.local.json",
            r#"{"enabledPlugins": {"brain-guard@brain-guard": false}}"#,
            Level::Problem,
            "switches the plugin off",
        ),
        (
            "etc/managed-settings.json",
            r#"{"allowManagedHooksOnly": true}"#,
            Level::Problem,
            "allowManagedHooksOnly",
        ),
        (
            "etc/managed-settings.d/10-hooks.json",
            r#"{"disableAllHooks": true}"#,
            Level::Problem,
            "10-hooks.json",
        ),
        (
            "home/.claude/remote-settings.json",
            r#"{"allowManagedHooksOnly": true}"#,
            Level::Problem,
            "remote-settings",
        ),
        ("home/.claude/settings.json", "{not JSON", Level::Note, "can't be read"),
        (
            "project/.claude/settings.json",
            r#"{"enabledPlugins": {"brain-guard@elsewhere": false, "other@x": false}}"#,
            Level::Problem,
            "switches the plugin off",
        ),
        (
            "project/.claude/settings.json",
            r#"{"env": {"LD_PRELOAD": "/x.so", "HARMLESS": "1"}}"#,
            Level::Problem,
            "env.LD_PRELOAD in",
        ),
        (
            "project/.claude/settings.local.json",
            r#"{"env": {"PATH": "/x"}}"#,
            Level::Problem,
            "settings.local.json decides what runs",
        ),
    ];
    for (path, text, level, word) in cases {
        let files = Files::new();
        files.put(path, text);
        only(&files, level, word);
    }
}

#[test]
fn a_plugin_that_the_administrator_enables_runs_its_hooks() {
    let files = Files::new();
    files.put("etc/managed-settings.json", r#"{"allowManagedHooksOnly": true}"#);
    files.put(
        "etc/managed-settings.d/b.json",
        r#"{"enabledPlugins": {"brain-guard@brain-guard": true}}"#,
    );
    only(&files, Level::Ok, "nothing");
}

#[test]
fn what_the_user_puts_into_the_environment_is_the_users() {
    let files = Files::new();
    let env = r#"{"env": {"PATH": "/x", "BRAIN_GUARD_SHADOW": "1"}}"#;
    files.put("home/.claude/settings.json", env);
    only(&files, Level::Ok, "nothing");
}

#[test]
fn managed_hooks_only_means_nothing_in_the_users_own_file() {
    let files = Files::new();
    files.put("home/.claude/settings.json", r#"{"allowManagedHooksOnly": true}"#);
    only(&files, Level::Ok, "nothing");
}
