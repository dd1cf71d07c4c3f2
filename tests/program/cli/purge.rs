//! `brain-guard purge` on the real binary: what it lists, removes and keeps.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::clock;
use base::paths::Places;
use guard::files::state;
use serde_json::Value;

use crate::cli::doctor::check;
use crate::cli::watching::{World, aged, came, text};
use crate::support::hook::{Answer, Hook};

const OLD: &str = "01d00000-0000-4000-8000-000000000001";
const OTHER: &str = "07ee0000-0000-4000-8000-000000000002";

/// An open session and two ended ones; the user has a terminal.
fn scene() -> Hook {
    let mut hook = Hook::begun();
    hook.prompt("the open session's words");
    hook.set("CLAUDECODE", "").set("CLAUDE_CODE_SESSION_ID", "").set("CLAUDE_PID", "");
    leave_client(&hook);
    let places = hook.places();
    for (id, job) in [(OLD, "parser"), (OTHER, "docs")] {
        state::update(&places, id, |s| {
            (s.job, s.ended) = (job.into(), Some(clock::now()));
        })
        .expect("written");
        state::count_call(&places, id).expect("written");
        put(&places.session(id, "journal.jsonl"), "{}\n");
        put(&places.state.join("outputs").join(id).join("toolu_1.txt"), "a long output");
        put(&places.job(job).join("sealed/v0001.md"), "# sealed");
        put(&places.job(job).join("prompts.jsonl"), "more words");
    }
    put(&places.log(), "{}\n");
    hook
}

/// Removes the seat of this process, because its commands would count as an agent's.
fn leave_client(hook: &Hook) {
    let seat = hook.places().session(&format!("client-{}", std::process::id()), "seat");
    fs::remove_file(seat).expect("a seat");
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, text).expect("written");
}

fn purge(hook: &Hook, args: &[&str]) -> Answer {
    hook.raw(&[&["purge"], args].concat(), b"")
}

fn listed(hook: &Hook, args: &[&str]) -> Vec<Value> {
    let answer = purge(hook, &[&["--dry-run", "--json"], args].concat());
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    let list: Value = serde_json::from_str(&answer.stdout).expect("JSON");
    list["items"].as_array().expect("a list").clone()
}

/// The kind and the path's end of what would be removed.
fn planned_removals(hook: &Hook, args: &[&str]) -> Vec<String> {
    let all = listed(hook, args).into_iter().filter(|kept| kept["keep_reason"].is_null());
    all.map(|kept| {
        let name = Path::new(kept["path"].as_str().expect("a path")).file_name().expect("a name");
        format!("{} {}", kept["kind"].as_str().expect("a kind"), name.to_str().expect("utf-8"))
    })
    .collect()
}

/// Every file and link below a folder, with its content.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type().expect("a kind") {
            kind if kind.is_dir() => found.extend(files(&path)),
            kind if kind.is_symlink() => drop(found.insert(path, b"link".to_vec())),
            _ => drop(found.insert(path.clone(), fs::read(path).expect("read"))),
        }
    }
    found
}

#[test]
fn purge_refuses_in_an_agents_shell() {
    let mut hook = scene();
    let before = files(&hook.home);
    hook.set("CLAUDECODE", "1");
    for args in [&["--yes"][..], &["--dry-run"], &["--all-projects", "--forget", "--yes"]] {
        let refused = purge(&hook, args);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
        assert!(refused.stderr.contains("terminal of your own"), "{refused:?}");
    }
    assert_eq!(files(&hook.home), before);
}

#[test]
fn a_dry_run_or_unconfirmed_purge_changes_nothing() {
    let hook = scene();
    let before = files(hook.home.parent().expect("a folder"));
    let dry = purge(&hook, &["--dry-run"]);
    assert_eq!((dry.code, dry.stderr.as_str()), (Some(0), ""), "{dry:?}");
    let places = hook.places();
    for part in [
        places.job("parser").join("prompts.jsonl").to_str().expect("utf-8"),
        "toolu_1.txt",
        "(stays: its session is open)",
        "would be removed",
    ] {
        let shown = part == "toolu_1.txt";
        assert_eq!(dry.stdout.contains(part), !shown, "{part}: {}", dry.stdout);
    }
    let asked = purge(&hook, &[]);
    assert_eq!(asked.code, Some(1), "{asked:?}");
    assert!(asked.stdout.contains("prompts") && asked.stderr.contains("--yes"), "{asked:?}");
    let json = purge(&hook, &["--json"]);
    assert!(json.code == Some(1) && json.stderr.contains("--yes"), "{json:?}");
    let told: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert!(told["removed"] == false && told["total"]["files"].as_u64() > Some(8), "{told}");
    assert_eq!(files(hook.home.parent().expect("a folder")), before);
}

#[test]
fn purge_selects_by_session_job_kind_and_age() {
    let hook = scene();
    let places = hook.places();
    let session = |id: &str| {
        vec![
            format!("outputs {id}"),
            format!("journals {id}.journal.jsonl"),
            format!("sessions {id}.*"),
        ]
    };
    assert_eq!(planned_removals(&hook, &["--session", OLD]), session(OLD));
    assert_eq!(planned_removals(&hook, &["--session", &OLD[..4]]), session(OLD));
    let mut job = session(OLD);
    job.insert(0, "prompts prompts.jsonl".to_owned());
    job.insert(2, "sealed sealed".to_owned());
    assert_eq!(planned_removals(&hook, &["--job", "parser"]), job);
    assert_eq!(planned_removals(&hook, &["--only", "sealed"]), ["sealed sealed"; 2]);
    assert!(!planned_removals(&hook, &[]).contains(&"sealed sealed".to_owned()));
    assert!(planned_removals(&hook, &["--older-than", "30d"]).is_empty());
    aged(&places.state.join("outputs").join(OLD).join("toolu_1.txt"), 40 * 86_400);
    assert_eq!(planned_removals(&hook, &["--older-than", "30d"]), [format!("outputs {OLD}")]);
    for (args, code, says) in [
        (["--session", "nobody"], 1, "nothing is kept of a session nobody"),
        (["--session", "0"], 1, "several sessions begin with 0"),
        (["--older-than", "soon"], 2, "--older-than"),
        (["--older-than", "round:3"], 2, "2h or 3d"),
    ] {
        let refused = purge(&hook, &args);
        assert!(refused.code == Some(code) && refused.stderr.contains(says), "{refused:?}");
    }
    assert_eq!(purge(&hook, &["--only", "everything"]).code, Some(2));
}

#[test]
fn purge_removes_only_the_selection() {
    let hook = scene();
    let places = hook.places();
    let mut expected = files(hook.home.parent().expect("a folder"));
    expected.retain(|path, _| {
        let path = path.to_str().expect("utf-8");
        !(path.contains(OLD) || path.contains("jobs/parser"))
    });
    let done = purge(&hook, &["--job", "parser", "--yes"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    assert!(done.stdout.contains(" removed"), "{done:?}");
    assert_eq!(files(hook.home.parent().expect("a folder")), expected);
    assert_eq!(state::all(&places).expect("listed"), [OTHER, &hook.session]);
    let again = purge(&hook, &["--job", "parser", "--yes"]);
    assert!(again.code == Some(0) && again.stdout.contains("nothing to remove"), "{again:?}");
}

#[test]
fn purge_keeps_open_sessions_and_pending_boundaries() {
    let hook = scene();
    let places = hook.places();
    let open = |hook: &Hook| {
        let all = files(&hook.places().state);
        let own = all.into_iter().filter(|(path, _)| text(path).contains(&hook.session));
        own.collect::<BTreeMap<_, _>>()
    };
    let before = open(&hook);
    assert!(before.len() > 1, "{before:?}");
    let done = purge(&hook, &["--yes"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    assert_eq!(open(&hook), before);
    assert_eq!(state::all(&places).expect("listed"), [hook.session.as_str()]);
    // The notice of a boundary is showing, and the session counts as ended.
    let hook = Hook::begun();
    hook.agent("brain-guard append --kind next 'invalidate the cache'");
    hook.agent("brain-guard seal --clear");
    hook.stop();
    let places = hook.places();
    let tokens = || {
        let all = fs::read_dir(places.state.join("boundary")).expect("listed").flatten();
        let names = all.map(|entry| entry.path());
        names.filter(|path| path.extension().is_some_and(|e| e == "json")).count()
    };
    assert_eq!(tokens(), 1);
    state::update(&places, &hook.session, |s| s.ended = Some(clock::now())).expect("written");
    let mut hook = hook;
    hook.set("CLAUDECODE", "").set("CLAUDE_CODE_SESSION_ID", "").set("CLAUDE_PID", "");
    leave_client(&hook);
    let done = purge(&hook, &["--yes"]);
    assert!(done.stdout.contains("its boundary is under way"), "{done:?}");
    assert_eq!((tokens(), state::all(&places).expect("listed").len()), (1, 1));
}

#[test]
fn purge_removes_a_link_but_not_its_target() {
    let hook = scene();
    let places = hook.places();
    let outside = hook.home.join("outside");
    for path in ["prompts.jsonl", "deep/kept.txt", "s/kept.txt"] {
        put(&outside.join(path), "not ours");
    }
    let before = files(&outside);
    let job = places.job("parser");
    fs::remove_file(job.join("prompts.jsonl")).expect("removed");
    symlink(outside.join("prompts.jsonl"), job.join("prompts.jsonl")).expect("linked");
    symlink(outside.join("deep"), places.state.join("outputs").join(OLD).join("link"))
        .expect("linked");
    symlink(&outside, places.state.join("outputs/another")).expect("linked");
    fs::remove_dir_all(job.join("sealed")).expect("removed");
    symlink(&outside, job.join("sealed")).expect("linked");
    symlink(&outside, places.job("linked")).expect("linked");
    let listed = listed(&hook, &["--only", "sealed", "--job", "parser"]);
    assert_eq!((listed.len(), &listed[0]["count"]), (1, &1.into()), "the link: {listed:?}");
    state::update(&places, &hook.session, |s| s.ended = Some(clock::now())).expect("written");
    let done = purge(&hook, &["--yes", "--forget"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    assert_eq!(files(&outside), before);
    let left = files(&places.state);
    assert!(left.values().all(|bytes| bytes != b"link"), "{left:?}");
    assert!(state::all(&places).expect("listed").is_empty());
}

#[test]
fn purge_reports_a_failure_and_removes_the_rest() {
    let hook = scene();
    let places = hook.places();
    // The session is at work, because its lock is held.
    let held = base::lock::acquire(&places.session(OLD, "lock"), Duration::ZERO);
    let held = held.expect("free");
    let done = purge(&hook, &["--yes"]);
    assert!(done.code == Some(1) && done.stderr.contains("its session is at work"), "{done:?}");
    assert!(done.stdout.contains("could not be removed"), "{done:?}");
    let mut left = [OLD, &hook.session];
    left.sort_unstable();
    assert_eq!(state::all(&places).expect("listed"), left);
    drop(held);
    assert_eq!(purge(&hook, &["--yes"]).code, Some(0));
}

#[test]
fn purge_covers_all_projects_on_request() {
    let hook = scene();
    let elsewhere = hook.home.join("elsewhere");
    fs::create_dir(&elsewhere).expect("made");
    let env = hook.env();
    let other = Places::for_project(&env, &elsewhere).expect("places");
    state::update(&other, "e15e", |s| {
        (s.ended, s.cwd) = (Some(clock::now()), elsewhere.to_str().map(Into::into));
    })
    .expect("written");
    assert!(!planned_removals(&hook, &[]).iter().any(|kept| kept.contains("e15e")));
    let all = purge(&hook, &["--all-projects", "--dry-run"]);
    assert!(all.stdout.contains("e15e"), "{all:?}");
    assert_eq!(planned_removals(&hook, &["--project", text(&elsewhere)]), ["sessions e15e.*"]);
    assert_eq!(purge(&hook, &["--all-projects", "--yes"]).code, Some(0));
    assert!(state::all(&other).expect("listed").is_empty());
}

#[test]
fn purge_removes_imported_sessions_from_the_search() {
    let mut hook = scene();
    hook.respond(50_000, "claude-opus-5-5");
    let import = hook.raw(&["import", text(&hook.transcript.clone())], b"");
    assert_eq!(import.code, Some(0), "{import:?}");
    let folder = hook.home.join(".local/share/brain-guard/sessions");
    let kept = folder.join("claude").join(&hook.session);
    assert!(kept.is_dir());
    let store = |hook: &Hook| planned_removals(hook, &["--only", "store"]);
    assert!(store(&hook).is_empty(), "its session is open");
    state::update(&hook.places(), &hook.session, |s| s.ended = Some(clock::now()))
        .expect("written");
    assert_eq!(store(&hook), [format!("store {}", hook.session)]);
    hook.set("CLAUDE_PROJECT_DIR", hook.home.clone().to_str().expect("utf-8"));
    assert!(store(&hook).is_empty(), "of another project");
    hook.set("CLAUDE_PROJECT_DIR", hook.project.clone().to_str().expect("utf-8"));
    assert_eq!(hook.raw(&["search", "go on"], b"").code, Some(0));
    let done = purge(&hook, &["--only", "store", "--yes"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    assert!(!kept.exists());
    let found = hook.raw(&["search", "go on"], b"");
    assert!(!found.stdout.contains(&hook.session[..8]), "{found:?}");
    assert_eq!(check(&hook, "store")["level"], "ok");
}

#[test]
fn purge_removes_extracted_content_only_with_forget() {
    let mut world = World::new();
    world.hook.set("CLAUDECODE", "");
    let (path, other) = (world.session("mine", 3600), world.session("other", 3600));
    for path in [&path, &other] {
        assert_eq!(came(&world.once(path), path), "extracted");
    }
    let count = world.objects();
    let without = purge(&world.hook, &["--all-projects", "--session", "mine", "--yes"]);
    assert!(
        without.code == Some(0) && without.stdout.contains("session mine may need it"),
        "{without:?}"
    );
    assert_eq!(world.objects(), count);
    let dry = purge(&world.hook, &["--all-projects", "--session", "mine", "--forget", "--dry-run"]);
    assert!(dry.stdout.contains("extracted/sessions/pi/mine"), "{dry:?}");
    assert_eq!(world.objects(), count);
    let done = purge(&world.hook, &["--all-projects", "--session", "mine", "--forget", "--yes"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    assert_eq!(world.objects(), count / 2);
    let back = world.run(&["restore", text(&other), "all"]);
    assert_eq!(back.code, Some(0), "{back:?}");
    let gone = world.run(&["restore", text(&path), "all"]);
    assert_eq!(gone.code, Some(1), "{gone:?}");
}

#[test]
fn purge_escapes_names_from_the_state() {
    let hook = scene();
    let odd = hook.places().state.join("jobs/x\u{1b}[2J\u{202e}/sealed");
    put(&odd.join("v0001.md"), "x");
    let dry = purge(&hook, &["--dry-run"]);
    assert!(!dry.stdout.contains('\u{1b}') && !dry.stdout.contains('\u{202e}'), "{dry:?}");
    let done = purge(&hook, &["--only", "sealed", "--yes"]);
    assert!(done.code == Some(0) && !odd.exists(), "{done:?}");
}
