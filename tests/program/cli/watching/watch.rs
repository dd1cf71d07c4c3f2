//! What `watch` acts on, what waits, what it leaves alone, and how it ends.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{World, aged, came, text, wait_for};

/// A running watch, and its reports.
struct Watcher {
    child: Child,
    looks: Arc<Mutex<Vec<Value>>>,
}

impl Watcher {
    fn start(world: &World, path: &Path) -> Self {
        let mut child = world
            .hook
            .command(&["extract", "watch", text(path), "--json"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        let looks = Arc::new(Mutex::new(Vec::new()));
        let (told, out) = (Arc::clone(&looks), child.stdout.take().expect("piped"));
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                told.lock().expect("whole").push(serde_json::from_str(&line).expect("JSON"));
            }
        });
        Self { child, looks }
    }

    fn looks(&self) -> Vec<Value> {
        self.looks.lock().expect("whole").clone()
    }

    /// The latest outcome for a file.
    fn last(&self, path: &Path) -> Option<String> {
        let looks = self.looks();
        looks.iter().rev().find_map(|look| came(look, path).as_str().map(str::to_owned))
    }

    fn end(mut self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a pid");
        kill_process(pid, signal).expect("sent");
        assert_eq!(self.child.wait().expect("ended").code(), Some(0));
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // A failed test leaves the watch running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn watch_extracts_from_cold_sessions_and_reports_every_file() {
    let world = World::new();
    let cold = world.session("cold", 3600);
    let warm = world.session("warm", 60);
    let live = world.session("live", 5);
    let odd = world.folder.join("odd.jsonl");
    fs::write(&odd, "no session\n").expect("written");
    aged(&odd, 3600);
    let claude = world.folder.join("claude.jsonl");
    fs::write(&claude, "{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n")
        .expect("written");
    aged(&claude, 3600);
    // No extraction in a warm session breaks even at once.
    world.settings(&json!({"break_even_turns": 0}));
    let before: Vec<Vec<u8>> =
        [&warm, &live, &odd, &claude].map(|path| fs::read(path).expect("read")).into();
    let report = world.once(&world.folder);
    for (path, what) in [
        (&cold, "extracted"),
        (&warm, "waits"),
        (&live, "refused"),
        (&odd, "failed"),
        (&claude, "never"),
    ] {
        assert_eq!(came(&report, path), what, "{report:#}");
    }
    assert!(fs::read_to_string(&cold).expect("read").contains("[[extracted-cold-r1]]"));
    let after: Vec<Vec<u8>> =
        [&warm, &live, &odd, &claude].map(|path| fs::read(path).expect("read")).into();
    assert_eq!(before, after);
    aged(&cold, 3600);
    assert_eq!(came(&world.once(&cold), &cold), "nothing");
    // A failure sets the exit code; waiting does not.
    let all = world.run(&["watch", text(&world.folder), "--once"]);
    assert_eq!(all.code, Some(1), "{all:?}");
    assert!(all.stdout.contains("waits: ") && all.stdout.contains("1 failed"), "{all:?}");
    assert!(all.stderr.contains("odd.jsonl") && all.stderr.contains("extract run"), "{all:?}");
    assert_eq!(world.run(&["watch", text(&warm), "--once"]).code, Some(0));
    let missing = world.run(&["watch", "/nowhere/at/all", "--once"]);
    assert!(missing.code == Some(1) && missing.stderr.contains("/nowhere/at/all"), "{missing:?}");
}

#[test]
fn a_warm_session_waits_until_it_breaks_even() {
    let world = World::new();
    world.settings(&json!({"break_even_turns": 10_000}));
    let pays = world.session("pays", 60);
    let report = world.once(&pays);
    assert_eq!(came(&report, &pays), "extracted", "{report:#}");
    world.settings(&json!({"break_even_turns": 0, "when": "interval"}));
    let every = world.session("every", 60);
    assert_eq!(came(&world.once(&every), &every), "extracted");
}

#[test]
fn a_disabled_watch_only_reports() {
    let world = World::new();
    let cold = world.session("cold", 3600);
    let before = fs::read(&cold).expect("read");
    world.settings(&json!({"enabled": false}));
    let report = world.once(&cold);
    assert_eq!(came(&report, &cold), "would", "{report:#}");
    assert_eq!(world.objects(), 0);
    assert_eq!(fs::read(&cold).expect("read"), before);
    let told = world.run(&["watch", text(&cold), "--once"]);
    assert!(told.stdout.contains("`extract.enabled` is false"), "{told:?}");
    let word = "extract.enabled is false in your settings: nothing is extracted until it is true";
    assert!(told.stderr.contains(word), "{told:?}");
}

#[test]
fn a_watch_reads_only_changes_and_ends_on_a_signal() {
    let world = World::new();
    let first = world.session("first", 3600);
    world.settings(&json!({"scan_interval_seconds": 10}));
    let settings = world.hook.places().user_settings;
    let kept = fs::read(&settings).expect("read");
    let watcher = Watcher::start(&world, &world.folder);
    wait_for("the first session", || watcher.last(&first).as_deref() == Some("extracted"));
    let so_far = watcher.looks().len();
    wait_for("more looks", || watcher.looks().len() > so_far + 2);
    let idle = watcher.looks().split_off(so_far);
    assert!(idle.iter().all(|look| look["files"] == 1 && look["seen"] == json!([])), "{idle:#?}");
    // A second watch on the same store.
    let second = world.run(&["watch", text(&world.folder), "--once"]);
    assert!(
        second.code == Some(1) && second.stderr.contains("another `extract watch`"),
        "{second:?}"
    );
    // A new session, and one that is being written.
    let new = world.session("new", 3600);
    wait_for("a new session", || watcher.last(&new).as_deref() == Some("extracted"));
    let mut file = fs::File::options().append(true).open(&first).expect("opened");
    file.write_all(
        b"{\"type\":\"custom\",\"id\":\"z\",\"parentId\":\"end\",\"customType\":\"x\"}\n",
    )
    .expect("written");
    drop(file);
    wait_for("the writer to be seen", || watcher.last(&first).as_deref() == Some("refused"));
    aged(&first, 3600);
    wait_for("its end", || watcher.last(&first).as_deref() == Some("nothing"));
    // Changed settings apply from the next pass on; faulty ones leave the old in effect.
    world.settings(&json!({"scan_interval_seconds": 10, "retention": "soon", "keep_recent": 0}));
    let so_far = watcher.looks().len();
    wait_for("looks with a fault in the settings", || watcher.looks().len() > so_far + 1);
    assert_eq!(watcher.last(&first).as_deref(), Some("nothing"));
    world.settings(
        &json!({"scan_interval_seconds": 10, "keep_recent": 0, "protect_turns": 0, "when": "interval"}),
    );
    wait_for("the new settings", || watcher.last(&first).as_deref() == Some("extracted"));
    fs::write(&settings, &kept).expect("written");
    let status = world.run(&["status", "--json"]);
    let status: Value = serde_json::from_str(&status.stdout).expect("JSON");
    assert_eq!(status["watched"], true, "{status:#}");
    watcher.end(Signal::TERM);
    assert_eq!(fs::read(&settings).expect("read"), kept, "what ran when is no setting");
    // The next run of a schedule is known, whoever watches.
    world.settings(&json!({"auto_cron": "* * * * *"}));
    let status = world.run(&["status", "--json"]);
    let status: Value = serde_json::from_str(&status.stdout).expect("JSON");
    assert_eq!(status["watched"], false);
    for key in ["last_run_at", "next_look"] {
        let at = status[key].as_str().unwrap_or_default();
        assert!(at.parse::<base::clock::Time>().is_ok(), "{key}: {status:#}");
    }
    fs::write(&settings, &kept).expect("written");
    let sessions = status["sessions"].as_array().expect("a list");
    assert_eq!(sessions.len(), 2, "{status:#}");
    assert!(
        sessions
            .iter()
            .all(|s| s["live"].as_u64() > Some(0) && s["stored_bytes"].as_u64() > Some(3000))
    );
    let words = world.run(&["status"]);
    assert!(words.code == Some(0) && words.stdout.contains("pi/first"), "{words:?}");
    Watcher::start(&world, &world.folder).end_soon();
}

impl Watcher {
    /// Ends it with the keyboard's signal after its first pass.
    fn end_soon(self) {
        wait_for("a look", || !self.looks().is_empty());
        self.end(Signal::INT);
    }
}

#[test]
fn watch_waits_for_a_live_gateways_lock() {
    let world = World::new();
    let path = world.session("held", 3600);
    let before = fs::read(&path).expect("read");
    let lock = world.folder.join("held.jsonl.lock");
    let stat = fs::read_to_string("/proc/self/stat").expect("read");
    let behind = stat.rsplit_once(')').expect("a name").1;
    let started: u64 = behind.split_whitespace().nth(19).and_then(|s| s.parse().ok()).expect("22");
    let held = json!({"pid": std::process::id(), "createdAt": chrono::Utc::now().to_rfc3339(), "starttime": started});
    fs::write(&lock, serde_json::to_string_pretty(&held).expect("JSON")).expect("written");
    let answer = world.run(&["watch", text(&path), "--once"]);
    assert_eq!(answer.code, Some(0), "a refusal is no fault: {answer:?}");
    assert!(answer.stderr.contains(&std::process::id().to_string()), "{answer:?}");
    assert_eq!(fs::read(&path).expect("read"), before);
    assert!(lock.is_file(), "it is not ours to take away");
    fs::remove_file(&lock).expect("removed");
    assert_eq!(came(&world.once(&path), &path), "extracted");
    assert!(!lock.exists());
}
