//! A client at work in a world: its events, the agent's verbs, and all answers.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::repository::world::World;
use crate::support::hook::{Answer, Hook, percent_in};
use crate::support::run::{Ran, run};

/// A program still running after this hangs.
const HANGS: Duration = Duration::from_secs(10);

/// CPU time of a hook in a test build.
const CPU: Duration = Duration::from_millis(1_500);

/// After this many hangs or slow runs, the rest of a play is skipped.
const PATIENCE: usize = 3;

/// One request to the program.
#[derive(Debug)]
pub struct Step {
    pub what: String,
    /// A hook, not a verb.
    pub hook: bool,
    pub answer: Answer,
    pub cpu: Duration,
    pub hung: bool,
    /// The command or prompt itself names the job.
    pub names_job: bool,
    /// An unusual file that a verb would touch, so the verb must be refused.
    pub odd: Option<String>,
    /// A denial by a tier without a working way out; how it failed.
    pub stuck: Option<String>,
}

impl Step {
    /// The answer of a hook; null if empty or unreadable.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.answer.stdout).unwrap_or_default()
    }

    /// Whether it took too long.
    pub fn slow(&self) -> bool {
        self.hung || (self.hook && self.cpu > CPU)
    }

    pub fn verdict(&self) -> String {
        let reply = self.json();
        reply["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("pass").to_owned()
    }
}

pub struct Player<'w> {
    pub world: &'w World,
    pub hook: Hook,
    pub steps: Vec<Step>,
}

impl<'w> Player<'w> {
    pub fn new(world: &'w World) -> Self {
        let hook = world.hook.beside(&world.hook.session, std::process::id());
        Self { world, hook, steps: Vec::new() }
    }

    fn keep(&mut self, what: &str, hook: bool, command: Command, stdin: &[u8]) -> &mut Step {
        let ran = if self.steps.iter().filter(|step| step.slow()).count() < PATIENCE {
            run(command, stdin, HANGS)
        } else {
            let answer = Answer { stdout: String::new(), stderr: String::new(), code: Some(0) };
            Ran { answer, cpu: Duration::ZERO, hung: false }
        };
        self.steps.push(Step {
            what: what.to_owned(),
            hook,
            // Ended by `timeout`.
            hung: ran.hung || ran.answer.code == Some(124),
            answer: ran.answer,
            cpu: ran.cpu,
            names_job: what.contains(&self.world.job),
            odd: None,
            stuck: None,
        });
        self.steps.last_mut().expect("a step")
    }

    /// Sends an event of the client.
    pub fn event(&mut self, name: &str, more: &Value) -> &mut Step {
        let payload = self.hook.payload(name, more);
        let shown: String = format!("{name} {more}").chars().take(100).collect();
        let job = serde_json::Value::from(self.world.job.as_str()).to_string();
        let names_job = more.to_string().contains(job.trim_matches('"'));
        let command = self.hook.command(&["hook"]);
        let step = self.keep(&shown, true, command, payload.to_string().as_bytes());
        step.names_job = names_job;
        step
    }

    pub fn start(&mut self, source: &str) {
        self.event("SessionStart", &json!({"source": source}));
        if source != "clear" {
            return;
        }
        for piece in ["2", "3"] {
            let payload = self.hook.payload("SessionStart", &json!({"source": source}));
            let command = self.hook.command(&["hook", "--piece", piece]);
            self.keep(
                "SessionStart, further pieces",
                true,
                command,
                payload.to_string().as_bytes(),
            );
        }
    }

    pub fn prompt(&mut self, text: &str) {
        self.event("UserPromptSubmit", &json!({"prompt": text}));
    }

    /// One of our commands, typed by the user.
    pub fn typed(&mut self, command: &str, args: &str) -> Value {
        let prompt = format!("/brain-guard:{command} {args}");
        self.prompt(prompt.trim());
        let name = format!("brain-guard:{command}");
        let more = json!({"command_name": name, "command_args": args, "prompt": prompt.trim()});
        self.event("UserPromptExpansion", &more).json()
    }

    pub fn asked(&mut self, tool: &str, input: &Value) -> &mut Step {
        let more = json!({"tool_name": tool, "tool_input": input, "tool_use_id": "toolu_1"});
        self.event("PreToolUse", &more)
    }

    /// Asks whether an unknown file may be read; returns the verdict.
    pub fn read(&mut self) -> String {
        self.asked("Read", &json!({"file_path": "/etc/hostname"})).verdict()
    }

    /// Runs the agent's command as the hook rewrites it, or unchanged if the hook has no opinion.
    /// Returns whether it succeeded.
    pub fn verb(&mut self, command: &str) -> bool {
        let odd = self.odd(command);
        let asked = self.asked("Bash", &json!({"command": command}));
        asked.odd = odd;
        let (verdict, reply) = (asked.verdict(), asked.json());
        if verdict == "deny" {
            return false;
        }
        let rewritten = reply["hookSpecificOutput"]["updatedInput"]["command"].as_str();
        let command = rewritten.unwrap_or(command);
        let ran = self.shell(command);
        let (code, out) = (ran.answer.code, ran.answer.stdout.clone());
        let response = json!({"stdout": out, "stderr": "", "interrupted": false, "isImage": false});
        let told = json!({"tool_name": "Bash", "tool_use_id": "toolu_1",
            "tool_input": {"command": command}, "tool_response": response});
        self.event("PostToolUse", &told);
        code == Some(0)
    }

    /// Runs a command in the agent's shell.
    pub fn shell(&mut self, command: &str) -> &mut Step {
        let mut shell = Command::new("timeout");
        shell.args(["-k", "1", "8", "/bin/sh", "-c", command]);
        shell.env_clear().envs(self.hook.variables()).current_dir(&self.hook.project);
        self.keep(command, false, shell, b"")
    }

    /// The job that this session works on.
    pub fn job(&self) -> Option<String> {
        let path = self.hook.places().session(&self.hook.session, "json");
        let state: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        state["job"].as_str().map(str::to_owned)
    }

    /// What a verb would touch that is no regular file or real folder, in the job that it names or
    /// else the session's.
    fn odd(&self, command: &str) -> Option<String> {
        let own = ["append", "close", "seal", "phase enter", "job restore --version"];
        let job = if command.contains(&self.world.job) {
            self.world.job.clone()
        } else if own.iter().any(|verb| command.contains(verb)) {
            self.job()?
        } else {
            return None;
        };
        // The job is in the state if the project is unusable.
        if self.hook.places().state.join("jobs").join(&job).is_dir() {
            return None;
        }
        let folder = self.hook.project.join(".brain-guard/jobs").join(&job);
        let above = folder.ancestors().take(3);
        let mut below = vec!["compaction.md", "job.json", "prompts.jsonl", "sealed"];
        if command.contains("--version") {
            below.push("sealed/v0001.md");
        }
        above.map(Into::into).chain(below.into_iter().map(|name| folder.join(name))).find_map(
            |path| {
                let kind = fs::symlink_metadata(&path).ok()?.file_type();
                let odd = kind.is_symlink()
                    || kind.is_fifo()
                    || kind.is_socket()
                    || kind.is_char_device()
                    || kind.is_block_device();
                odd.then(|| path.display().to_string())
            },
        )
    }

    /// Sets the context usage and tries a read, and a shell in the top tier; records a denial
    /// without a way out.
    pub fn filled(&mut self, percent: f64) -> String {
        self.hook.fill(percent);
        self.event("PostToolBatch", &json!({"tool_calls": []}));
        let top = percent >= percent_in("narrow");
        let mut verdict = self.read();
        if top && verdict == "deny" {
            verdict = self.asked("Bash", &json!({"command": "make"})).verdict();
        }
        let denial = self.steps.len() - 1;
        if verdict == "deny" {
            let written = self.verb("brain-guard append --kind next 'what is left to do'");
            let sealed = !top || (written && (self.sealed() || self.sealed()));
            if !(written && sealed) {
                let what = if written { "seal" } else { "append" };
                self.steps[denial].stuck = Some(format!("denied, and {what} fails"));
            }
        }
        verdict
    }

    fn sealed(&mut self) -> bool {
        self.verb("brain-guard seal")
    }

    /// The session ends by a clear, and the client continues in this one.
    pub fn cleared(&mut self, number: u32) {
        self.event("Stop", &json!({"background_tasks": [], "stop_hook_active": false}));
        self.event("SessionEnd", &json!({"reason": "clear"}));
        let id = format!("5e550000-0000-4000-8000-{number:012}");
        self.hook = self.hook.beside(&id, std::process::id());
        self.start("clear");
    }
}
