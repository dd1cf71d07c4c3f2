//! The project on its own full or read-only disk, while HOME is not. Each case runs in a child of
//! this program, in its own mount namespace.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::repository::attack::{Attack, Outcome};
use crate::repository::judge::judge;
use crate::repository::play::Player;
use crate::repository::world::World;
use crate::support::hook::percent_in;

/// The variable that makes this program play one case.
const CASE: &str = "BRAIN_GUARD_TEST_DISK";

/// Marks a fault on the output of the test harness.
const FAULT: &str = "fault: ";

/// How the project's disk fails, who is at the terminal, and when.
const CASES: [(&str, &str, &str); 12] = [
    ("full", "attended", "before"),
    ("full", "attended", "mid-turn"),
    ("full", "attended", "sealed"),
    ("full", "unattended", "before"),
    ("full", "unattended", "mid-turn"),
    ("full", "unattended", "sealed"),
    ("read-only", "attended", "before"),
    ("read-only", "attended", "mid-turn"),
    ("read-only", "attended", "sealed"),
    ("read-only", "unattended", "before"),
    ("read-only", "unattended", "mid-turn"),
    ("read-only", "unattended", "sealed"),
];

pub fn all() -> Vec<Attack> {
    let case = |(how, who, when): (&'static str, &'static str, &'static str)| {
        Attack::story(&format!("disk: {how}, {who}, {when}"), move || {
            play_in_namespace(&[how, who, when])
        })
    };
    CASES.into_iter().map(case).collect()
}

/// The case that this process was started for.
pub fn case_of_this_process() -> Option<Vec<String>> {
    let case = std::env::var(CASE).ok()?;
    Some(case.split(' ').map(str::to_owned).collect())
}

/// Plays a case in its own namespace.
fn play_in_namespace(case: &[&str]) -> Outcome {
    let itself = std::env::current_exe().expect("this program");
    let possible = |flags: &str| {
        let mut command = Command::new("unshare");
        command.args([flags, "sh", "-c", "mount -t tmpfs none /mnt"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let Some(flags) = ["-m", "-rm"].into_iter().find(|flags| possible(flags)) else {
        return Outcome::Missing("no mount namespace is to be had".to_owned());
    };
    let mut command = Command::new("unshare");
    let test = "repository::a_full_or_read_only_disk_blocks_nothing_forever";
    command.arg(flags).arg(itself).args(["--exact", test, "--nocapture"]);
    command.env(CASE, case.join(" "));
    let ended = base::process::output(&mut command, Duration::from_secs(120));
    let output = ended.expect("the case ended");
    let text = String::from_utf8_lossy(&output.stdout);
    let faults = text.lines().filter_map(|line| line.split_once(FAULT));
    let mut found: Vec<String> = faults.map(|(_, what)| what.to_owned()).collect();
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        found.push(format!("it ended with {}: {}", output.status, why.trim()));
    }
    Outcome::of(found)
}

/// Plays a case in this namespace; prints the faults.
pub fn play(case: &[String]) {
    let [how, who, when] = case else { panic!("three words: {case:?}") };
    for what in played(how, who == "attended", when) {
        println!("{FAULT}{what}");
    }
}

fn sh(script: &str, at: &Path) {
    let status = Command::new("sh").arg("-c").arg(script).env("AT", at).status();
    assert!(status.expect("sh").success(), "{script}");
}

/// A disk of 1 MB in place of the project.
fn mount(at: &Path) {
    sh("mount -t tmpfs -o size=1m none \"$AT\" && echo '# A project' > \"$AT/README.md\"", at);
}

fn spoil(how: &str, at: &Path) {
    match how {
        "full" => sh("head -c 2000000 /dev/zero > \"$AT/fill\" 2> /dev/null || true", at),
        _ => sh("mount -o remount,ro \"$AT\"", at),
    }
}

fn mend(how: &str, at: &Path) {
    match how {
        "full" => fs::remove_file(at.join("fill")).expect("space"),
        _ => sh("mount -o remount,rw \"$AT\"", at),
    }
}

fn played(how: &str, attended: bool, when: &str) -> Vec<String> {
    let mut world = World::new();
    let at = world.hook.project.clone();
    mount(&at);
    world.about("my-job");
    if !attended {
        // Nobody has typed for a long time.
        world.hook.set("CLAUDE_CODE_SESSION_ATTENDED", "");
        world.hook.settings(&json!({"boundary": {"attended_minutes": 0}}));
    }
    world.mark();
    let mut p = Player::new(&world);
    if when == "before" {
        spoil(how, &at);
    }
    p.start("startup");
    p.hook.fill(5.0);
    p.read();
    p.prompt("Build the parser");
    if when != "before" {
        assert!(p.verb("brain-guard append --kind next 'a note'"), "{:?}", p.steps);
        if when == "sealed" {
            assert!(p.verb("brain-guard seal --no-clear"), "{:?}", p.steps);
            assert!(p.verb("brain-guard append --kind next 'one more'"), "{:?}", p.steps);
        }
        p.hook.fill(percent_in("coach"));
        p.read();
        spoil(how, &at);
    }
    let mut found = Vec::new();
    let narrow = percent_in("narrow");
    for percent in [percent_in("block-reads"), narrow, narrow + 0.1, narrow + 0.2] {
        p.filled(percent);
    }
    for _ in 0..3 {
        let stop = json!({"background_tasks": [], "stop_hook_active": false});
        let reply = p.event("Stop", &stop).json();
        let denied = p.steps.iter().any(|step| step.verdict() == "deny");
        // With a way out in the state, an end without a seal may be refused.
        if reply["decision"] == "block" && !(denied && when == "before") {
            found.push("STUCK: the turn's end is refused".to_owned());
            break;
        }
        p.hook.fill(narrow + 0.3);
        p.read();
    }
    let told = p.verb("brain-guard explain");
    if !told {
        found.push("UNTOLD: explain fails".to_owned());
    }
    mend(how, &at);
    p.prompt("Go on");
    p.hook.fill(narrow + 0.4);
    p.event("PostToolBatch", &json!({"tool_calls": []}));
    p.verb("brain-guard append --kind next 'there is space again'");
    p.hook.fill(narrow + 0.5);
    let again = (0..4).map(|_| p.read()).last();
    let lifted = lifted(&p);
    if again.as_deref() != Some("deny") && (attended || lifted.is_none()) {
        found.push(format!("OFF: with space again a read is answered: {again:?}"));
    }
    found.extend(judge(&world, &p.steps, true));
    sh("umount -l \"$AT\"", &at);
    found
}

/// Why nothing is blocked for a while, from the state.
fn lifted(p: &Player) -> Option<String> {
    let path = p.hook.places().session(&p.hook.session, "json");
    let state: serde_json::Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (!state["lifted"].is_null()).then(|| state["lifted"].to_string())
}
