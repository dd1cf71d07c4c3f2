//! Plays one boundary, from the user's prompt to the end, with the scenario's disturbance.

use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

use crate::soak::agent::Work;
use crate::soak::dialog::Dialog;
use crate::soak::disturb::Disturbance;
use crate::soak::judge;
use crate::soak::naive::Naive;
use crate::soak::scenario::Scenario;
use crate::soak::stage::Stage;
use crate::soak::tally::{Fault, Outcome};
use crate::support::client::Tui;
use crate::support::mock::Gate;

/// Limit for a boundary from the turn's end.
const PATIENCE: Duration = Duration::from_secs(45);

/// Limit after a failed boundary, since late keys may still come.
const PATIENCE_FAILED: Duration = Duration::from_secs(25);

/// Limit without a carrier, since nothing retries.
const PATIENCE_NAIVE: Duration = Duration::from_secs(12);

/// The plan of one boundary.
#[derive(Debug, Clone)]
pub struct Plan {
    /// A unique number, which also goes into the notes.
    pub number: usize,
    pub scenario: Scenario,
    /// brain-guard chooses the carrier, instead of the settings naming it.
    pub auto: bool,
    /// Milliseconds from the turn's end to the disturbance; negative if before.
    pub offset: i64,
    /// Duration of a temporary disturbance in milliseconds.
    pub hold: u64,
    /// The soak itself types `/clear` and Enter, without checks.
    pub naive: bool,
}

/// A session that reaches its boundary in a scene.
pub struct Crossing {
    /// The work's name; the user's prompt is `please work <name> now`.
    pub name: String,
    /// The session that ends.
    pub parent: String,
    /// A word that is only in the notes.
    pub nonce: String,
}

/// The data of a scene for the judge.
pub struct Scene {
    pub crossings: Vec<Crossing>,
    /// Number of main requests before the scene.
    pub requests: usize,
    /// Number of hook events before the scene.
    pub hooks: usize,
    /// Prompts that the user sent or was about to send.
    pub sent: Vec<String>,
    /// When the last obstacle to the boundary ended.
    pub released: Option<f64>,
}

impl Scene {
    /// The prompt that the user sends around the turn's end, besides the work.
    pub fn about_to_send(&self) -> Option<&str> {
        self.sent.last().map(String::as_str).filter(|text| !text.starts_with("please work"))
    }
}

/// Plays one boundary and judges it.
pub fn play(stage: &mut Stage, plan: &Plan) -> Outcome {
    let mut outcome = Outcome::default();
    stage.played += 1;
    stage.settle(plan.auto);
    stage.empty_box();
    let mut scene = Scene {
        crossings: Vec::new(),
        requests: stage.world.mock.main().len(),
        hooks: stage.spy.look().len(),
        sent: Vec::new(),
        released: None,
    };
    let second = (plan.scenario == Scenario::TwoSessions).then(|| stage.second());
    let (gate, agent) = (Gate::default(), Gate::default());
    let gates = (&gate, &agent);
    let asked = work(stage, plan, &stage.tui, &format!("k{}", plan.number), gates, &mut scene);
    if let Some(second) = &second {
        work(stage, plan, second, &format!("k{}b", plan.number), gates, &mut scene);
    }
    let naive: Vec<Naive> = if plan.naive {
        let tuis = [Some(&stage.tui), second.as_ref()].into_iter().flatten();
        tuis.zip(&scene.crossings)
            .map(|(tui, crossing)| Naive::start(stage, tui.terminal(), &crossing.parent))
            .collect()
    } else {
        Vec::new()
    };
    if let Some(draft) = plan.scenario.draft().filter(|_| plan.scenario != Scenario::Typing) {
        type_into_the_box(&stage.tui, draft);
    }
    let mut disturbance = Disturbance::prepare(stage, plan, agent, &mut scene);
    disturbance.around(stage, plan, asked, &gate, &mut outcome);
    if matches!(plan.scenario, Scenario::TerminalKilled | Scenario::ClientKilled) {
        outcome.killed = true;
        drop(naive);
        judge::after_a_kill(stage, &scene, &mut outcome);
        return outcome;
    }
    let mut dialog = Dialog::of(plan);
    let ended = Instant::now();
    let over = loop {
        disturbance.pass(stage, &mut scene, &mut outcome);
        dialog.look(stage, &mut scene, &mut outcome);
        let all_done = scene.crossings.iter().all(|crossing| judge::acknowledged(stage, crossing));
        if all_done && disturbance.is_over() && dialog.is_over(stage, &scene) {
            break true;
        }
        let failed = scene.crossings.iter().any(|c| judge::failed(stage, c).is_some());
        let patience = match (plan.naive, failed) {
            (true, _) => PATIENCE_NAIVE,
            (false, true) => PATIENCE_FAILED,
            (false, false) => PATIENCE,
        };
        if ended.elapsed() >= patience {
            break false;
        }
        thread::sleep(Duration::from_millis(15));
    };
    drop(naive);
    disturbance.end(stage, &mut scene, &mut outcome);
    if dialog.answered() {
        outcome.met("a dialog was read and answered");
    }
    if !over {
        let why =
            scene.crossings.iter().find_map(|crossing| judge::unfinished_state(stage, crossing));
        outcome.refused = why;
    }
    judge::judge(stage, plan, &scene, over, &mut outcome);
    if let Some(second) = second {
        stage.world.evidence.add("second screen", {
            let screen = second.screen();
            move || screen.clone()
        });
    }
    outcome
}

/// Sends the user's prompt for the work, and waits until the agent is about to end its turn.
fn work(
    stage: &Stage,
    plan: &Plan,
    tui: &Tui,
    name: &str,
    (ending, agent): (&Gate, &Gate),
    scene: &mut Scene,
) -> Instant {
    let nonce = format!("nonce-{name}-{:08x}", plan.number.wrapping_mul(2_654_435_761) as u32);
    let notes = notes(plan.scenario, &nonce);
    // The command outlives the calls after it; the plan sets its end relative to the turn's end.
    let background = (plan.scenario == Scenario::Background).then_some(1.5);
    let subagent = (plan.scenario == Scenario::AgentDialog).then(|| agent.clone());
    let work = Work { notes: notes.into(), background, subagent, ending: ending.clone() };
    stage.agent.give(name, work);
    let prompt = format!("please work {name} now");
    tui.prompt(&prompt);
    let first = stage.world.mock.wait_request("the work's first request", |request| {
        request.last_user_text().contains(&prompt)
    });
    scene.sent.push(prompt);
    let parent = first.session.clone().unwrap_or_default();
    let done = stage.world.mock.wait_request("the seal's result", |request| {
        request.session == first.session
            && request.at > first.at
            && request.tool_results().iter().any(|result| result.text.contains("sealed version: "))
    });
    scene.crossings.push(Crossing { name: name.to_owned(), parent, nonce });
    // The answer before the seal's started the background command.
    let all = stage.world.mock.main();
    let before = all.iter().rev().find(|r| r.session == done.session && r.at < done.at);
    stage.world.mock.started() + before.map_or(done.at, |request| request.at)
}

/// The entries for the notes: the nonce, and more text if the scenario needs it.
fn notes(scenario: Scenario, nonce: &str) -> VecDeque<(&'static str, String)> {
    let mut notes = VecDeque::from([("next", format!("carry {nonce} over"))]);
    match scenario {
        Scenario::Words => {
            for part in 0..4 {
                let line = |n: usize| format!("entry {part}{n:02} {}", "of a few words ".repeat(5));
                let lines: Vec<String> = (0..19).map(line).collect();
                notes.push_back(("lesson", lines.join("\n- ")));
            }
        }
        Scenario::Characters => {
            for part in 0..3 {
                let line = |n: usize| {
                    format!(
                        "see crates/p{part}/src/{}é/rule_{n:03}.rs <tag>",
                        "grammar/".repeat(20)
                    )
                };
                let lines: Vec<String> = (0..20).map(line).collect();
                notes.push_back(("lesson", lines.join("\n- ")));
            }
        }
        _ => {}
    }
    notes
}

/// Types a text without sending it, and waits until the box shows it.
pub fn type_into_the_box(tui: &Tui, text: &str) {
    tui.type_text(text);
    tui.wait_screen("the draft in the box", |_| {
        tui.prompt_box().is_some_and(|shown| squeeze(&shown) == squeeze(text))
    });
}

/// Removes white space, because the box breaks lines.
pub fn squeeze(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The outcome of a scene that ended early by this panic.
pub fn stuck(cause: &(dyn std::any::Any + Send)) -> Outcome {
    let text = cause.downcast_ref::<String>().cloned();
    let text = text.or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    let text = text.unwrap_or_default();
    let mut outcome = Outcome::default();
    outcome.fault(Fault::Stuck, text.lines().next().unwrap_or_default());
    outcome
}
