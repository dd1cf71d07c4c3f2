//! One attempt: what the agent calls, and its outcome.

use serde_json::{Value, json};

use crate::attempts::scene::Scene;
use crate::support::hook::{Hook, percent_in};

/// The outcome of an attempt.
#[derive(Debug)]
pub enum Outcome {
    /// The hook denied the call.
    Denied,
    /// It passed and was done, but the guard is intact.
    InVain,
    /// It worked, as documented.
    Left,
    /// It worked, or the documentation is wrong; how.
    Through(String),
    /// A program that it needs is missing.
    Missing(String),
}

pub enum Try {
    /// One of the agent's calls, in every tier; `{project}` and the like stand for paths. `true`:
    /// if it passes, run the shell command or write the file.
    Call(&'static str, Value, bool),
    /// As `Call`, while reads and shell are blocked: only a denial counts.
    Squeezed(&'static str, Value),
    /// A scripted attempt.
    Story(fn(&Scene) -> Outcome),
}

pub struct Attempt {
    pub name: String,
    pub what: Try,
    /// Preparation, by the agent while unblocked or by somebody else.
    pub before: Option<fn(&Scene)>,
    pub needs: &'static [&'static str],
    /// Whether it is known to work and documented.
    pub left: bool,
}

impl Attempt {
    fn of(name: &str, what: Try) -> Self {
        Self { name: name.to_owned(), what, before: None, needs: &[], left: false }
    }

    pub fn call(name: &str, tool: &'static str, input: Value) -> Self {
        Self::of(name, Try::Call(tool, input, true))
    }

    /// A call that is not carried out if it passes, because it would reach beyond the scene.
    pub fn unrun(name: &str, tool: &'static str, input: Value) -> Self {
        Self::of(name, Try::Call(tool, input, false))
    }

    pub fn bash(name: &str, command: &str) -> Self {
        Self::call(name, "Bash", json!({"command": command, "description": "d"}))
    }

    /// A shell command that is not run if it passes.
    pub fn bash_unrun(name: &str, command: &str) -> Self {
        Self::unrun(name, "Bash", json!({"command": command, "description": "d"}))
    }

    /// A call in the tier `narrow`.
    pub fn squeezed(name: &str, tool: &'static str, input: Value) -> Self {
        Self::of(name, Try::Squeezed(tool, input))
    }

    pub fn story(name: &str, story: fn(&Scene) -> Outcome) -> Self {
        Self::of(name, Try::Story(story))
    }

    pub fn before(self, before: fn(&Scene)) -> Self {
        Self { before: Some(before), ..self }
    }

    pub fn needs(self, needs: &'static [&'static str]) -> Self {
        Self { needs, ..self }
    }

    pub fn left(self) -> Self {
        Self { left: true, ..self }
    }

    /// Runs the attempt in a new session.
    pub fn make(&self) -> Outcome {
        let there = |p: &&&str| std::env::split_paths("/usr/bin:/bin").any(|d| d.join(p).exists());
        if let Some(missing) = self.needs.iter().find(|p| !there(p)) {
            return Outcome::Missing((*missing).to_string());
        }
        let scene = Scene::new();
        if let Some(before) = self.before {
            before(&scene);
        }
        let outcome = match &self.what {
            Try::Call(tool, input, run) => call(&scene, tool, input, *run, self.left),
            Try::Squeezed(tool, input) => {
                scene.hook.fill(percent_in("narrow"));
                scene.hook.read();
                denied(&scene.hook, tool, &scene.filled(input))
            }
            Try::Story(story) => story(&scene),
        };
        match (outcome, self.left) {
            (Outcome::Through(_), true) => Outcome::Left,
            (Outcome::Denied | Outcome::InVain, true) => Outcome::Through(
                "it is refused now, so docs/security.md says too little of the guard".to_owned(),
            ),
            (outcome, _) => outcome,
        }
    }
}

/// Checks that a call is denied.
pub fn denied(hook: &Hook, tool: &str, input: &Value) -> Outcome {
    let answer = hook.pre(tool, input);
    match answer.verdict().as_str() {
        "deny" => Outcome::Denied,
        verdict => Outcome::Through(format!("{verdict}: {input}")),
    }
}

fn call(scene: &Scene, tool: &str, input: &Value, run: bool, left: bool) -> Outcome {
    let input = scene.filled(input);
    let hook = &scene.hook;
    let free = hook.pre(tool, &input).verdict();
    if free != "deny" {
        if !run {
            return Outcome::Through(format!("{free}: {input}"));
        }
        scene.carry_out(tool, &input);
        if let Some(how) = scene.lifted(left) {
            return Outcome::Through(format!("{how}, after {input}"));
        }
        return Outcome::InVain;
    }
    // What is the operator's stays so in every tier, and for subagents.
    let mut inside = hook.call(tool, &input);
    inside["agent_id"] = "a1".into();
    if hook.send(&inside).verdict() != "deny" {
        return Outcome::Through(format!("passes in a subagent: {input}"));
    }
    for percent in [percent_in("coach"), percent_in("block-reads"), percent_in("narrow")] {
        hook.fill(percent);
        hook.batch();
        if let Outcome::Through(how) = denied(hook, tool, &input) {
            return Outcome::Through(format!("at {percent} %: {how}"));
        }
    }
    match scene.lifted(false) {
        Some(how) => Outcome::Through(how),
        None => Outcome::Denied,
    }
}
