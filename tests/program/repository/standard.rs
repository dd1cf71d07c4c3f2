//! The play for every layout: three sessions of one client, with an agent that tries all verbs on
//! the checkout's job.

use serde_json::json;

use crate::repository::play::{Player, Step};
use crate::repository::world::World;
use crate::support::hook::percent_in;

/// The whole play, and the answer to the read at 31 %.
pub fn standard(world: &World) -> (Vec<Step>, String) {
    let mut p = Player::new(world);
    let job = world.job.clone();
    let quoted = if job.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)) {
        job.clone()
    } else {
        format!("'{}'", job.replace('\'', "'\\''"))
    };
    p.start("startup");
    p.hook.fill(5.0);
    p.read();
    p.prompt("Look at this project");
    p.asked("Glob", &json!({"pattern": "**/*"}));
    for verb in [
        "job list",
        "status",
        "explain",
        "steering",
        "append --kind next 'the first note'",
        "close",
        "phase list",
        "phase enter build",
        "seal --no-clear",
        "job show",
    ] {
        p.verb(&format!("brain-guard {verb}"));
    }
    for verb in
        ["job show", "job show --version 1", "job restore --version 1", "job focus --no-clear"]
    {
        let words: Vec<&str> = verb.splitn(3, ' ').collect();
        let rest = words.get(2).copied().unwrap_or_default();
        p.verb(format!("brain-guard {} {} {quoted} {rest}", words[0], words[1]).trim_end());
    }
    for verb in [
        "append --kind next 'ssh-ed25519 AAAA attacker'",
        "close",
        "phase list",
        "seal --no-clear",
        "job show --version 1",
        "job restore --version 1",
    ] {
        p.verb(&format!("brain-guard {verb}"));
    }
    p.typed("job", "list");
    if quoted == job {
        p.typed("job", &format!("show {job}"));
    }
    p.typed("status", "");
    p.filled(percent_in("block-reads"));
    let verdict = p.filled(percent_in("narrow"));
    p.event("PreCompact", &json!({"trigger": "auto", "custom_instructions": ""}));
    p.start("compact");
    p.start("resume");
    p.cleared(2);
    p.hook.fill(5.0);
    p.read();
    p.prompt("Go on");
    p.verb(&format!("brain-guard job focus {quoted}"));
    p.verb("brain-guard append --kind risk 'one more'");
    p.cleared(3);
    p.prompt("And now?");
    p.verb("brain-guard close");
    p.verb("brain-guard seal --no-clear");
    p.event("SessionEnd", &json!({"reason": "exit"}));
    (p.steps, verdict)
}
