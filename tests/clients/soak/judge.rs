//! Judges a boundary by the client's hook events, the requests and the screen. Only whether it is
//! finished comes from brain-guard itself.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::soak::arrival;
use crate::soak::play::{Crossing, Plan, Scene, squeeze};
use crate::soak::remains;
use crate::soak::stage::Stage;
use crate::soak::tally::{Fault, Outcome};
use crate::support::mock::Request;
use crate::support::process;

/// Half the limit for closing the tokens after a kill.
const SETTLES: Duration = Duration::from_secs(8);

pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// Whether the turn of the user's prompt in this scene is over, or no prompt was sent.
pub fn turn_is_over(stage: &mut Stage, scene: &Scene) -> bool {
    let Some(text) = scene.about_to_send() else { return true };
    if !submitted(stage, scene, text) {
        return true;
    }
    let all = new_requests(stage, scene);
    let Some(asked) = all.iter().find(|request| request.last_user_text().contains(text)) else {
        return false;
    };
    let asked = wall(stage, asked);
    stage.spy.look()[scene.hooks..].iter().any(|seen| seen.is("Stop", "") && seen.at > asked)
}

/// The time of a request in seconds since the epoch.
fn wall(stage: &Stage, request: &Request) -> f64 {
    now() - stage.world.mock.started().elapsed().as_secs_f64() + request.at.as_secs_f64()
}

fn submitted(stage: &mut Stage, scene: &Scene, text: &str) -> bool {
    let new = &stage.spy.look()[scene.hooks..];
    new.iter().any(|seen| seen.is("UserPromptSubmit", "") && seen.event["prompt"] == text)
}

/// The newest boundary token of the old session.
pub fn token(stage: &Stage, crossing: &Crossing) -> Option<Value> {
    let mut mine = stage.tokens();
    mine.retain(|token| token["parent"] == crossing.parent.as_str());
    mine.sort_by_key(|token| token["created"].as_str().unwrap_or_default().to_owned());
    mine.pop()
}

/// Whether the new session has answered.
pub fn acknowledged(stage: &Stage, crossing: &Crossing) -> bool {
    token(stage, crossing).is_some_and(|token| token["step"] == "acknowledged")
}

/// Why the boundary failed, if it did.
pub fn failed(stage: &Stage, crossing: &Crossing) -> Option<String> {
    let token = token(stage, crossing)?;
    (token["step"] == "failed").then(|| token["why"].as_str().unwrap_or_default().to_owned())
}

/// The state of an unfinished boundary.
pub fn unfinished_state(stage: &Stage, crossing: &Crossing) -> Option<String> {
    if acknowledged(stage, crossing) {
        return None;
    }
    let Some(token) = token(stage, crossing) else { return Some("no token".to_owned()) };
    let field = |name: &str| token[name].as_str().unwrap_or_default().to_owned();
    let why = if token["why"].is_string() { format!(": {}", field("why")) } else { String::new() };
    Some(format!("{} by {}{why}", field("step"), field("carrier")))
}

/// Judges a boundary; `over` if it finished.
pub fn judge(stage: &mut Stage, plan: &Plan, scene: &Scene, over: bool, outcome: &mut Outcome) {
    if over {
        stage.tui.wait_idle();
    }
    let born = born(stage, scene);
    let expected = if over { scene.crossings.len() } else { born.len() };
    if born.len() != expected {
        let kind = if born.len() > expected { "cleared twice" } else { "not cleared" };
        outcome.fault(Fault::Misfire(kind), format!("{} new sessions", born.len()));
    }
    for crossing in &scene.crossings {
        carried_by(stage, crossing, outcome);
        arrival::judge(stage, scene, crossing, over, outcome);
    }
    if over {
        timed(stage, scene, &born, outcome);
    }
    prompts(stage, scene, outcome);
    in_the_box(stage, plan, scene, outcome);
    remains::strays(stage, outcome);
    remains::left_behind(stage, outcome);
}

/// Records the carrier and how it cleared.
fn carried_by(stage: &Stage, crossing: &Crossing, outcome: &mut Outcome) {
    let Some(token) = token(stage, crossing) else { return };
    let name = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for tried in token["tried"].as_array().into_iter().flatten() {
        outcome.met(format!("handed on by {}", name(tried)));
    }
    if token["step"] == "acknowledged" {
        outcome.met(format!("carried by {}", name(&token["carrier"])));
    }
    for event in stage.logged() {
        if event["kind"] == "carrier-acted" && event["token"] == token["id"] {
            outcome.met(format!("cleared by the {} road", name(&event["method"])));
        }
    }
}

/// The sessions that a clear started in this scene.
fn born(stage: &mut Stage, scene: &Scene) -> Vec<String> {
    let new = &stage.spy.look()[scene.hooks..];
    let started = new.iter().filter(|seen| seen.is("SessionStart", "clear"));
    started.map(|seen| seen.session().to_owned()).collect()
}

pub fn new_requests(stage: &Stage, scene: &Scene) -> Vec<Arc<Request>> {
    stage.world.mock.main().split_off(scene.requests)
}

/// Measures the time from the turn's last end to the new session's first request.
fn timed(stage: &mut Stage, scene: &Scene, born: &[String], outcome: &mut Outcome) {
    let asked = new_requests(stage, scene);
    let first = |id: &String| asked.iter().find(|request| request.session.as_ref() == Some(id));
    let firsts = born.iter().filter_map(first).map(|request| wall(stage, request));
    let Some(arrived) = firsts.reduce(f64::min) else { return };
    let parents: Vec<&str> =
        scene.crossings.iter().map(|crossing| crossing.parent.as_str()).collect();
    let stops = stage.spy.look()[scene.hooks..].iter().filter(|seen| seen.is("Stop", ""));
    let ends = stops.filter(|seen| parents.contains(&seen.session()) && seen.at < arrived);
    let from = ends.map(|seen| seen.at).chain(scene.released.filter(|at| *at < arrived));
    outcome.seconds = from.reduce(f64::max).map(|from| arrived - from);
}

/// Checks that only the user's prompts were sent, each once.
fn prompts(stage: &mut Stage, scene: &Scene, outcome: &mut Outcome) {
    let new = &stage.spy.look()[scene.hooks..];
    let submitted = new.iter().filter(|seen| seen.is("UserPromptSubmit", ""));
    let texts: Vec<String> =
        submitted.filter_map(|seen| seen.event["prompt"].as_str().map(str::to_owned)).collect();
    for text in &texts {
        let ours = ["/brain-guard:", "brain-guard", "<task-notification"];
        let own =
            ours.iter().any(|head| text.starts_with(head)) || text.contains("compaction file ");
        if text.contains("/clear") && !own {
            outcome.fault(
                Fault::Misfire("/clear sent to the model"),
                crate::support::evidence::short(text, 80),
            );
        } else if !own && !scene.sent.contains(text) {
            let kind = Fault::Misfire("a prompt nobody sent");
            outcome.fault(kind, crate::support::evidence::short(text, 80));
        }
    }
    let asked = new_requests(stage, scene);
    for sent in &scene.sent {
        let reached = asked.iter().any(|request| request.said(sent));
        if texts.contains(sent) && !reached {
            let lost = format!("the prompt {sent:?} was sent and never reached the model");
            outcome.fault(Fault::DraftLost, lost);
        }
        if texts.iter().filter(|text| *text == sent).count() > 1 {
            outcome.fault(Fault::Misfire("a prompt sent twice"), sent.clone());
        }
    }
    for request in asked {
        let said = request.last_user_text().replace("<command-name>/clear</command-name>", "");
        let typed =
            said.lines().any(|line| line.trim() == "/clear" || line.trim().ends_with(" /clear"));
        if typed && !texts.iter().any(|text| text.contains("/clear")) {
            let kind = Fault::Misfire("/clear sent to the model");
            outcome.fault(kind, crate::support::evidence::short(&said, 80));
        }
    }
}

/// Checks that the box has the draft, or an unsent prompt, and no text of ours.
fn in_the_box(stage: &mut Stage, plan: &Plan, scene: &Scene, outcome: &mut Outcome) {
    let draft = plan.scenario.draft().map(squeeze).unwrap_or_default();
    let about = scene.about_to_send().map(str::to_owned);
    let unsent = about.filter(|text| !submitted(stage, scene, text)).map(|text| squeeze(&text));
    let wanted = unsent.unwrap_or(draft);
    let shown = |stage: &Stage| stage.tui.prompt_box().map(|text| squeeze(&text));
    let right = process::poll(Duration::from_secs(4), Duration::from_millis(50), || {
        (shown(stage).as_deref() == Some(wanted.as_str())).then_some(())
    });
    if right.is_some() {
        return;
    }
    let there = shown(stage).unwrap_or_else(|| "no prompt box".to_owned());
    if there.is_empty() || !there.contains(&wanted) {
        outcome.fault(Fault::DraftLost, format!("{wanted:?} became {there:?}"));
    }
    if !there.is_empty() && !wanted.contains(&there) {
        outcome.fault(Fault::Misfire("text left in the prompt box"), format!("{there:?}"));
    }
}

/// Judges a boundary whose terminal or client was killed.
pub fn after_a_kill(stage: &mut Stage, scene: &Scene, outcome: &mut Outcome) {
    // One that had not cleared yet waits for a client that resumes the session.
    let is_left = |token: &String| !token.contains("pending");
    let ended = process::poll(SETTLES + SETTLES, Duration::from_millis(50), || {
        (!remains::open_tokens(stage).iter().any(is_left)).then_some(())
    });
    if ended.is_none() {
        outcome.fault(Fault::Left("an open token"), remains::open_tokens(stage).join(", "));
    }
    let born = born(stage, scene).len();
    if born > scene.crossings.len() {
        outcome.fault(Fault::Misfire("cleared twice"), format!("{born} new sessions"));
    }
    remains::strays(stage, outcome);
    remains::left_behind(stage, outcome);
}
