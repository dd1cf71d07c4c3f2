//! Ways to break an installation, the finding for each, and the repair.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use base::clock;
use guard::files::state::{self, Client};
use guard::session::Override;
use serde_json::json;

use super::lab::Lab;

/// A way to break an installation.
pub struct Breakage {
    pub check: &'static str,
    pub level: &'static str,
    pub word: &'static str,
    /// Whether `--fix` repairs it; otherwise `mend` does.
    pub fixed: bool,
    pub act: fn(&mut Lab),
    pub mend: fn(&mut Lab),
}

const fn fixed(
    check: &'static str,
    level: &'static str,
    word: &'static str,
    act: fn(&mut Lab),
) -> Breakage {
    Breakage { check, level, word, fixed: true, act, mend: |_| () }
}

const fn needs_mending(
    check: &'static str,
    level: &'static str,
    word: &'static str,
    act: fn(&mut Lab),
    mend: fn(&mut Lab),
) -> Breakage {
    Breakage { check, level, word, fixed: false, act, mend }
}

fn age(path: &Path, days: u64) {
    let at = SystemTime::now() - Duration::from_secs(days * 86_400);
    fs::File::options().write(true).open(path).expect("there").set_modified(at).expect("aged");
}

/// A client that is gone: no process can have this number.
const GONE: Client = Client { pid: 4_194_305, start: 1 };

fn token(lab: &Lab) {
    let now = clock::now();
    let token = json!({
        "id": "t1", "job": "lexer", "parent": "s", "child": null, "step": "clearing", "why": null,
        "carrier": "mod", "version": 1, "sealed": "/x", "client": GONE, "created": now, "since": now,
        "notice_until": null, "cancelled": false, "cut": false, "unanswered": 0, "retry_at": null,
    });
    let path = lab.state("boundary/t1.json");
    fs::write(&path, token.to_string()).expect("token");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("mode");
}

pub const BREAKAGES: [Breakage; 25] = [
    fixed("files", "problem", "hooks/hooks.json", |lab| {
        fs::write(lab.plugin("hooks/hooks.json"), "{}").expect("broken");
    }),
    fixed("files", "problem", "templates/kickoff.md", |lab| {
        fs::remove_file(lab.plugin("templates/kickoff.md")).expect("broken");
    }),
    fixed("files", "problem", "is not the binary that was installed", |lab| {
        // A new file, because the running one cannot be written.
        fs::remove_file(lab.plugin("bin/brain-guard")).expect("broken");
        fs::write(lab.plugin("bin/brain-guard"), "#!/bin/sh\necho 0").expect("broken");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(lab.plugin("bin/brain-guard"), mode).expect("mode");
    }),
    fixed("binary", "problem", "may not be executed", |lab| {
        let mode = fs::Permissions::from_mode(0o644);
        fs::set_permissions(lab.plugin("bin/brain-guard"), mode).expect("broken");
    }),
    fixed("versions", "problem", "its module 9.9.9", |lab| {
        let path = lab.plugin("hooks/brain-guard.tsx");
        let text = fs::read_to_string(&path).expect("module");
        let own = format!("const VERSION = '{}'", env!("CARGO_PKG_VERSION"));
        fs::write(path, text.replace(&own, "const VERSION = '9.9.9'")).expect("broken");
    }),
    fixed("plugin", "problem", "leads nowhere", |lab| {
        let current = lab.plugin("");
        let current = Path::new(current.to_str().expect("utf-8").trim_end_matches('/'));
        fs::remove_file(current).expect("broken");
        symlink("0.0.0-00000000", current).expect("broken");
    }),
    fixed("command", "note", "is not there", |lab| {
        fs::remove_file(lab.at(".local/bin/brain-guard")).expect("broken");
    }),
    fixed("registered", "problem", "does not know the plugin", |lab| {
        fs::remove_file(lab.at("client/plugin")).expect("broken");
    }),
    needs_mending(
        "registered",
        "problem",
        "switched off",
        |lab| lab.put("client/enabled", "false"),
        |lab| lab.put("client/enabled", "true"),
    ),
    needs_mending(
        "registered",
        "note",
        "brain-guard@brain-guard and brain-guard@acme are enabled",
        |lab| {
            let version = env!("CARGO_PKG_VERSION");
            let copy = json!({"id": "brain-guard@acme", "version": version, "enabled": true});
            lab.put("client/others", &copy.to_string());
        },
        |lab| fs::remove_file(lab.at("client/others")).expect("mended"),
    ),
    needs_mending(
        "registered",
        "problem",
        "as version 0.0.9",
        |lab| lab.put("client/plugin", "0.0.9"),
        |lab| lab.put("client/plugin", env!("CARGO_PKG_VERSION")),
    ),
    needs_mending(
        "client",
        "problem",
        "2.1.200",
        |lab| lab.put("client/version", "2.1.200 (Claude Code)"),
        |lab| lab.put("client/version", "2.1.330 (Claude Code)"),
    ),
    needs_mending(
        "client",
        "note",
        "newer than 2.1.330",
        |lab| lab.put("client/version", "2.2.0 (Claude Code)"),
        |lab| lab.put("client/version", "2.1.330 (Claude Code)"),
    ),
    needs_mending(
        "hooks",
        "problem",
        "no hook of it has run",
        |lab| {
            let path =
                lab.hook.transcript.with_file_name("5e550000-0000-4000-8000-0000000000ff.jsonl");
            fs::write(path, "{}\n").expect("transcript");
        },
        |lab| {
            let path =
                lab.hook.transcript.with_file_name("5e550000-0000-4000-8000-0000000000ff.jsonl");
            fs::remove_file(path).expect("mended");
        },
    ),
    needs_mending(
        "hooks",
        "note",
        "mode is off",
        |lab| {
            lab.hook.settings(&json!({"mode": "off"}));
        },
        |lab| {
            lab.hook.settings(&json!({}));
        },
    ),
    needs_mending(
        "module",
        "problem",
        "version 0.0.9",
        |lab| {
            lab.hook.set("BRAIN_GUARD_MOD", "0.0.9:1");
        },
        |lab| {
            let alive = format!("{}:{}", env!("CARGO_PKG_VERSION"), std::process::id());
            lab.hook.set("BRAIN_GUARD_MOD", &alive);
        },
    ),
    needs_mending(
        "switches",
        "problem",
        "switches the plugin off",
        |lab| {
            let path = lab.hook.project.join(".claude/settings.json");
            fs::create_dir_all(path.parent().expect("parent")).expect("folder");
            let text = r#"{"enabledPlugins": {"brain-guard@brain-guard": false}}"#;
            fs::write(path, text).expect("broken");
        },
        |lab| fs::remove_file(lab.hook.project.join(".claude/settings.json")).expect("mended"),
    ),
    needs_mending(
        "environment",
        "problem",
        "counts as 100,000",
        |lab| {
            lab.hook.set("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "500");
        },
        |lab| {
            lab.hook.set("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "");
        },
    ),
    needs_mending(
        "settings",
        "problem",
        "profil",
        |lab| {
            lab.hook.settings(&json!({"profil": 1}));
        },
        |lab| {
            lab.hook.settings(&json!({}));
        },
    ),
    fixed("private", "problem", "others may get at the state", |lab| {
        let open = |path: PathBuf, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("broken");
        };
        open(lab.state("sessions"), 0o755);
        open(lab.hook.places().session(&lab.hook.session, "json"), 0o644);
    }),
    fixed("private", "note", "your prompts lie in there", |lab| {
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(lab.hook.project.join(".brain-guard/jobs"), mode).expect("broken");
    }),
    fixed("boundaries", "problem", "job lexer (clearing", |lab| token(lab)),
    fixed("jobs", "note", "held by sessions that are gone", |lab| {
        let path = lab.hook.project.join(".brain-guard/jobs/lexer/job.json");
        let record = json!({"holder": {"session": "s", "client": GONE}});
        fs::write(path, record.to_string()).expect("broken");
    }),
    fixed("sessions", "note", "2 sessions", |lab| {
        let places = lab.hook.places();
        for id in ["old", "older"] {
            state::update(&places, id, |s| s.client = Some(GONE)).expect("state");
            age(&places.session(id, "json"), 31);
        }
    }),
    needs_mending(
        "override",
        "note",
        "an override is active",
        |lab| {
            let until = Override::Until(clock::now() + chrono::TimeDelta::minutes(30));
            let (places, id) = (lab.hook.places(), lab.hook.session.clone());
            state::update(&places, &id, |s| s.override_ = Some(until)).expect("state");
        },
        |lab| {
            let (places, id) = (lab.hook.places(), lab.hook.session.clone());
            state::update(&places, &id, |s| s.override_ = None).expect("state");
        },
    ),
];
