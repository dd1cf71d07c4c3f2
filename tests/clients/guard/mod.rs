mod after_seal;
mod attended;
mod bare_seal;
mod broken_mod;
mod by_hand;
mod carrier;
mod checkout;
mod chords;
mod climb;
mod commits;
mod copies;
mod default_mode;
mod file_ramp;
mod first_turn;
mod four_sessions;
mod goes_on;
mod grace;
mod headless;
mod installed;
mod jobs;
mod kills;
mod listens;
mod live_run;
mod main_job;
mod marketplace;
mod mcp;
mod model_switch;
mod no_program;
mod notice;
mod notifications;
mod notify;
mod operator;
mod own_compaction;
mod phases;
mod picture;
mod places;
mod reground;
mod report;
mod sandbox;
mod screens;
mod settings;
mod shadows;
mod skill;
mod slow;
mod stop;
mod story;
mod subagents;
mod tiers;
mod tmux;
mod two_sessions;
mod typed_clear;
mod unanswered;
mod versions;

use serde_json::{Value, json};
pub use story::logged;

use crate::support::mock::{Reply, Request};
use crate::support::world::World;

/// Converts percent of the default model's limit to tokens. The limit is 1,000,000 minus the
/// client's buffer for its own compaction.
pub fn percent(percent: f64) -> u64 {
    (percent * 9_670.0) as u64
}

/// One move of the scripted agent: it answers a request.
pub type Move = Box<dyn FnMut(&Request) -> Reply + Send>;

/// An agent that makes these moves in order and then says that nothing is left.
pub fn moves(list: Vec<Move>) -> impl FnMut(&Request) -> Reply + Send + 'static {
    let mut list = list.into_iter();
    move |request| match list.next() {
        Some(mut next) => next(request),
        None => Reply::text("nothing more to do").tokens(percent(5.0)),
    }
}

pub fn step(act: impl FnMut(&Request) -> Reply + Send + 'static) -> Move {
    Box::new(act)
}

/// The moves that bring a session to the top tier, write a note there and seal. The next move
/// gets the seal's report.
pub fn climb_and_seal() -> Vec<Move> {
    vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| append("directive", "write the lexer next").tokens(percent(31.0))),
        step(|r| {
            assert!(!r.tool_results()[0].is_error, "{:?}", r.tool_results());
            Reply::bash("brain-guard seal").tokens(percent(31.1))
        }),
    ]
}

/// Calls `brain-guard append` with one entry.
pub fn append(kind: &str, text: &str) -> Reply {
    Reply::bash(&format!("brain-guard append --kind {kind} <<'EOF'\n- {text}\nEOF"))
}

/// The result of the call with this id, and whether it is an error.
pub fn result(request: &Request, id: &str) -> (String, bool) {
    let all = request.tool_results();
    let found = all.iter().find(|r| r.id == id);
    let found = found.unwrap_or_else(|| panic!("no result {id} among {all:?}"));
    (found.text.clone(), found.is_error)
}

/// The only result of the last move, and whether it is an error.
pub fn only_result(request: &Request) -> (String, bool) {
    let mut all = request.tool_results();
    assert_eq!(all.len(), 1, "{all:?}");
    let only = all.remove(0);
    (only.text, only.is_error)
}

/// The path of the sealed version that the last seal reported.
pub fn sealed_path(request: &Request) -> String {
    let (text, error) = only_result(request);
    let path = text.lines().find_map(|line| line.strip_prefix("sealed version: "));
    assert!(!error, "{text}");
    path.unwrap_or_else(|| panic!("no seal: {text}")).to_owned()
}

/// Counts a text in the `system` messages, which come from the client and the hooks.
pub fn told(request: &Request, text: &str) -> usize {
    request.system_texts().iter().map(|t| t.matches(text).count()).sum()
}

/// Counts the lines about the guard in the `system` messages, without the client's skill list.
pub fn heard(request: &Request) -> usize {
    let lines = request.system_texts().into_iter().flat_map(str::lines);
    let skills = ["brain-guard:brain-guard", "brain-guard:extraction"];
    let listed = |line: &str| skills.iter().any(|skill| line.contains(skill));
    lines.filter(|l| l.contains("brain-guard") && !listed(l)).count()
}

/// Counts the delivered compaction files.
pub fn deliveries(request: &Request) -> usize {
    request.notes().len()
}

/// Settings without a notice to the user, although a test types the prompt.
pub fn unattended() -> Value {
    json!({"boundary": {"attended_notice_seconds": 0, "min_interval_seconds": 0}})
}

/// The output of `brain-guard <verb> --json` about the only session.
pub fn asked(world: &World, verb: &str) -> Value {
    let output = world.guard(&[verb, "--json"]);
    serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{verb}: {output:?}"))
}
