//! One attempt: what the agent calls, and what came of it.

use serde_json::{Value, json};

use crate::harness::{Hook, percent_in};
use crate::scene::Scene;

/// What came of an attempt.
#[derive(Debug)]
pub enum Outcome {
    /// The hook denied the call.
    Denied,
    /// It was let pass and done, and the guard stands.
    InVain,
    /// It worked, as the documents say.
    Left,
    /// It worked, or the documents are wrong; how.
    Through(String),
    /// A program that it needs is not here.
    Missing(String),
}

/// What is tried.
pub enum Try {
    /// One of the agent's calls, at every stance; `{project}` and the like stand for paths. With
    /// `true`, a shell command that passes is run, a file that may be written is written.
    Call(&'static str, Value, bool),
    /// The same where reads and shell are blocked: nothing but a denial will do.
    Squeezed(&'static str, Value),
    /// A story of its own.
    Story(fn(&Scene) -> Outcome),
}

/// An attempt.
pub struct Attempt {
    pub name: String,
    pub what: Try,
    /// Done before, by the agent while it was free or by somebody else.
    pub before: Option<fn(&Scene)>,
    /// Programs it needs.
    pub needs: &'static [&'static str],
    /// It is known to work; the documents name it.
    pub left: bool,
}

impl Attempt {
    fn of(name: &str, what: Try) -> Self {
        Self { name: name.to_owned(), what, before: None, needs: &[], left: false }
    }

    /// A call with this input.
    pub fn call(name: &str, tool: &'static str, input: Value) -> Self {
        Self::of(name, Try::Call(tool, input, true))
    }

    /// A call that is not carried out should it pass: it would reach beyond the scene.
    pub fn unrun(name: &str, tool: &'static str, input: Value) -> Self {
        Self::of(name, Try::Call(tool, input, false))
    }

    /// A shell command.
    pub fn bash(name: &str, command: &str) -> Self {
        Self::call(name, "Bash", json!({"command": command, "description": "d"}))
    }

    /// A shell command that is not run should it pass.
    pub fn bash_unrun(name: &str, command: &str) -> Self {
        Self::unrun(name, "Bash", json!({"command": command, "description": "d"}))
    }

    /// A call in narrow stance.
    pub fn squeezed(name: &str, tool: &'static str, input: Value) -> Self {
        Self::of(name, Try::Squeezed(tool, input))
    }

    /// A story.
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

    /// Makes it, in a session of its own.
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

/// A denial, or else.
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
    // What is the operator's is so at every stance, and for subagents.
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
