//! `doctor`: faults are named with their way out, decide the exit code, and are mended by
//! `--fix` where that is safe. Each breakage is found by a finding of its own.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use brain_guard::clock;
use brain_guard::store::state::{self, Client, Override};
use serde_json::{Value, json};

use crate::harness::{Answer, Hook};

fn found(answer: &Answer) -> Vec<Value> {
    serde_json::from_str(&answer.stdout).unwrap_or_else(|e| panic!("{e}: {answer:?}"))
}

/// What one check says of itself.
fn check(hook: &Hook, name: &str) -> Value {
    let mut all = found(&hook.raw(&["doctor", "--json"], b""));
    let at = all.iter().position(|f| f["check"] == name);
    all.swap_remove(at.unwrap_or_else(|| panic!("no {name} in {all:?}")))
}

#[test]
fn nothing_installed_is_a_problem_with_a_way_out() {
    let hook = Hook::begun();
    let answer = hook.raw(&["doctor", "--json"], b"");
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(1), ""));
    for finding in found(&answer) {
        let keys: Vec<&str> =
            finding.as_object().expect("object").keys().map(String::as_str).collect();
        assert_eq!(keys, ["check", "level", "seen", "way_out"]);
        assert_eq!(finding["level"] == "ok", finding["way_out"].is_null(), "{finding}");
    }
    let plugin = check(&hook, "plugin");
    assert_eq!(plugin["level"], "problem");
    assert_eq!(plugin["way_out"], "run `brain-guard install`");
    let text = hook.raw(&["doctor"], b"").stdout;
    assert!(text.contains("problem  plugin       nothing is installed at"), "{text}");
    assert!(text.lines().all(|line| line.contains("  ")), "one line a check: {text}");
    // A first installation is the user's to make.
    hook.raw(&["doctor", "--fix"], b"");
    assert!(!hook.home.join(".local/share/brain-guard").exists());
}

#[test]
fn what_is_wrong_around_is_named() {
    let mut hook = Hook::begun();
    let level = |hook: &Hook, name: &str| check(hook, name)["level"].clone();
    for name in ["state", "settings", "environment", "compaction", "terminal"] {
        assert_eq!(level(&hook, name), "ok", "{}", check(&hook, name));
    }
    let keys = check(&hook, "keys");
    assert_eq!(keys["level"], "note");
    let file = hook.home.join(".claude/keybindings.json");
    fs::write(&file, "{\n  \"bindings\": [,]\n}").expect("file");
    let keys = check(&hook, "keys");
    assert_eq!(keys["level"], "problem");
    assert!(keys["seen"].as_str().expect("text").contains("line 2"), "{keys}");
    let bound =
        json!({"ctrl+x ctrl+l": "command:clear", "ctrl+] ctrl+f": "command:brain-guard:resume"});
    let text = json!({"bindings": [{"context": "Chat", "bindings": bound}]});
    fs::write(&file, text.to_string()).expect("file");
    let keys = check(&hook, "keys");
    assert_eq!(keys["level"], "ok");
    assert!(keys["seen"].as_str().expect("text").contains("ctrl+x ctrl+l clears"), "{keys}");

    hook.settings(&json!({"profil": 1, "boundary": {"carrier": "x11"}}));
    assert!(check(&hook, "settings")["seen"].as_str().expect("text").contains("profil"));
    assert_eq!(level(&hook, "terminal"), "problem");
    hook.set("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "20");
    assert!(check(&hook, "compaction")["seen"].as_str().expect("text").contains("200,000 tokens"));
    hook.set("CLAUDE_CODE_SIMPLE", "1");
    assert_eq!(level(&hook, "environment"), "problem");
    fs::write(hook.home.join(".claude/settings.json"), r#"{"disableAllHooks": true}"#)
        .expect("settings");
    assert!(check(&hook, "switches")["seen"].as_str().expect("text").contains("disableAllHooks"));
}

/// Answers `claude …` as the client does, from files beside itself.
const CLIENT: &str = r#"#!/bin/sh
cd "$(dirname "$0")" || exit 1
[ "$1" = --version ] && { cat version; exit; }
shift
case "$*" in
"marketplace list --json") if [ -e market ]; then printf '[{"name":"brain-guard","path":"%s"}]' "$(cat market)"; else echo '[]'; fi;;
"list --json") if [ -e plugin ]; then printf '[{"id":"brain-guard@brain-guard","version":"%s","enabled":%s}]' "$(cat plugin)" "$(cat enabled)"; else echo '[]'; fi;;
"marketplace add "*) printf %s "$3" > market;;
install*|update*) printf %s VERSION > plugin; printf true > enabled;;
esac
"#;

/// An installation that is whole, with a session that runs.
struct Lab {
    hook: Hook,
}

impl Lab {
    fn installed() -> Self {
        let mut hook = Hook::begun();
        let client = hook.home.join("client/claude");
        fs::create_dir_all(client.parent().expect("parent")).expect("folder");
        fs::write(&client, CLIENT.replace("VERSION", env!("CARGO_PKG_VERSION"))).expect("client");
        fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).expect("mode");
        let path = format!("{0}/client:{0}/.local/bin:/usr/bin:/bin", hook.home.display());
        hook.set("PATH", &path);
        let lab = Self { hook };
        lab.put("client/version", "2.1.329 (Claude Code)");
        let answer = lab.hook.raw(&["install", "--no-demo"], b"");
        assert_eq!(answer.code, Some(0), "{answer:?}");
        // The transcript was there before the installation: it says nothing of it.
        lab
    }

    fn at(&self, path: &str) -> PathBuf {
        self.hook.home.join(path)
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        fs::write(path, text).expect("file");
    }

    fn plugin(&self, path: &str) -> PathBuf {
        self.at(".local/share/brain-guard/current").join(path)
    }

    fn state(&self, path: &str) -> PathBuf {
        self.hook.places().state.join(path)
    }

    /// What is not as it should be: checks, levels and what was seen.
    fn faults(&self) -> Vec<(String, String, String)> {
        faults(&found(&self.hook.raw(&["doctor", "--json"], b"")))
    }

    /// What was done, and what is left.
    fn fix(&self) -> (Vec<Value>, Vec<(String, String, String)>) {
        let answer = self.hook.raw(&["doctor", "--fix", "--json"], b"");
        let value: Value = serde_json::from_str(&answer.stdout).expect("JSON");
        let list = |name: &str| value[name].as_array().expect("a list").clone();
        (list("done"), faults(&list("found")))
    }
}

fn faults(found: &[Value]) -> Vec<(String, String, String)> {
    let text = |f: &Value, name: &str| f[name].as_str().expect("text").to_owned();
    let all = found.iter().filter(|f| f["level"] != "ok");
    all.map(|f| (text(f, "check"), text(f, "level"), text(f, "seen"))).collect()
}

/// A way to break an installation.
struct Breakage {
    check: &'static str,
    level: &'static str,
    word: &'static str,
    /// Whether `--fix` mends it; else `mend` does.
    fixed: bool,
    act: fn(&mut Lab),
    mend: fn(&mut Lab),
}

const fn fixed(
    check: &'static str,
    level: &'static str,
    word: &'static str,
    act: fn(&mut Lab),
) -> Breakage {
    Breakage { check, level, word, fixed: true, act, mend: |_| () }
}

const fn told(
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

/// A client that is gone: nobody has such a number.
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

const BREAKAGES: [Breakage; 24] = [
    fixed("files", "problem", "hooks/hooks.json", |lab| {
        fs::write(lab.plugin("hooks/hooks.json"), "{}").expect("broken");
    }),
    fixed("files", "problem", "templates/kickoff.md", |lab| {
        fs::remove_file(lab.plugin("templates/kickoff.md")).expect("broken");
    }),
    fixed("files", "problem", "is not the binary that was installed", |lab| {
        // A new file: the one that runs can't be written.
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
        let path = lab.plugin("hooks/brain-guard.ts");
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
    told(
        "registered",
        "problem",
        "switched off",
        |lab| lab.put("client/enabled", "false"),
        |lab| lab.put("client/enabled", "true"),
    ),
    told(
        "registered",
        "problem",
        "as version 0.0.9",
        |lab| lab.put("client/plugin", "0.0.9"),
        |lab| lab.put("client/plugin", env!("CARGO_PKG_VERSION")),
    ),
    told(
        "client",
        "problem",
        "2.1.200",
        |lab| lab.put("client/version", "2.1.200 (Claude Code)"),
        |lab| lab.put("client/version", "2.1.329 (Claude Code)"),
    ),
    told(
        "client",
        "note",
        "newer than 2.1.329",
        |lab| lab.put("client/version", "2.2.0 (Claude Code)"),
        |lab| lab.put("client/version", "2.1.329 (Claude Code)"),
    ),
    told(
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
    told(
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
    told(
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
    told(
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
    told(
        "environment",
        "problem",
        "is read as 500",
        |lab| {
            lab.hook.set("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "500k");
        },
        |lab| {
            lab.hook.set("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "");
        },
    ),
    told(
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
    told(
        "override",
        "note",
        "an override stands",
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

#[test]
fn each_breakage_is_found_by_a_finding_of_its_own_and_mended() {
    let mut lab = Lab::installed();
    lab.hook.agent("brain-guard job focus lexer && brain-guard append --kind thread 'a thread'");
    let whole = lab.faults();
    assert!(whole.iter().all(|(_, level, _)| level == "note"), "{whole:?}");
    let sealed = lab.hook.project.join(".brain-guard/jobs/lexer/compaction.md");
    let memory = fs::read_to_string(&sealed).expect("the job's file");
    for breakage in &BREAKAGES {
        (breakage.act)(&mut lab);
        let is_it = |(check, level, seen): &(String, String, String)| {
            check == breakage.check && level == breakage.level && seen.contains(breakage.word)
        };
        let faults = lab.faults();
        assert!(faults.iter().any(is_it), "{} {}: {faults:#?}", breakage.check, breakage.word);
        if breakage.fixed {
            let (done, left) = lab.fix();
            assert!(done.iter().all(|d| d["fixed"] == true) && !done.is_empty(), "{done:?}");
            assert_eq!(left, whole, "{} {}", breakage.check, breakage.word);
            continue;
        }
        (breakage.mend)(&mut lab);
        assert_eq!(lab.faults(), whole, "{} {}", breakage.check, breakage.word);
    }
    assert_eq!(lab.fix().0, Vec::<Value>::new(), "nothing is left to do");
    assert_eq!(fs::read_to_string(&sealed).expect("still there"), memory);
}

#[test]
fn a_lock_that_is_stuck_names_who_holds_it() {
    let hook = Hook::begun();
    let path = hook.places().session(&hook.session, "lock");
    let _held = brain_guard::store::lock::acquire(&path, Duration::ZERO).expect("free");
    let locks = check(&hook, "locks");
    assert_eq!(locks["level"], "problem");
    let way = locks["way_out"].as_str().expect("text");
    assert!(way.contains(&format!("kill {}", std::process::id())), "{locks}");
}

#[test]
fn what_a_fix_could_not_do_is_said_and_stays_a_problem() {
    let lab = Lab::installed();
    // The module's folder is a file, and no rename can put it right.
    fs::remove_dir_all(lab.plugin("hooks")).expect("broken");
    fs::write(lab.plugin("hooks"), "").expect("broken");
    let answer = lab.hook.raw(&["doctor", "--fix"], b"");
    assert_eq!(answer.code, Some(1));
    assert!(answer.stdout.contains("failed   files"), "{}", answer.stdout);
    assert!(answer.stdout.contains("problem  files"), "{}", answer.stdout);
}
