//! The client's part: it starts the hooks of an event, obeys their answers, and asks the program
//! what the plugin's module would ask.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::child::{Ended, Fault, Running, Start};
use super::plugin::Plugin;
use super::reply::Replies;
use super::stage::{Stop, expect};
use super::transcript::Transcript;
use super::world::World;
use base::env as names;

/// Time limit of a module request, in seconds.
const MODULE_SECONDS: u64 = 5;

/// A client with one session at a time.
pub struct Client<'a> {
    pub plugin: &'a Plugin,
    pub world: &'a World,
    pub session: String,
    pub transcript: Transcript,
    /// Where the module puts its readings, once the program has named the folder.
    pub snapshots: Option<PathBuf>,
    /// The module's flag: a seal waits for its boundary.
    pub sealed: bool,
    /// The hook that may start a turn; it runs in the background.
    pub rewake: Option<Running>,
    prompt: Option<String>,
    module: Option<String>,
    sessions: u64,
    calls: u64,
    deadline: Instant,
}

impl<'a> Client<'a> {
    pub fn new(plugin: &'a Plugin, world: &'a World, deadline: Instant) -> Self {
        let session = id(1);
        let transcript = Transcript::new(&world.home, &world.project, &session);
        Self {
            plugin,
            world,
            session,
            transcript,
            snapshots: None,
            sealed: false,
            rewake: None,
            prompt: None,
            module: None,
            sessions: 1,
            calls: 0,
            deadline,
        }
    }

    /// Clears the conversation: a new id and file in the same process.
    pub fn clear(&mut self) {
        self.sessions += 1;
        self.session = id(self.sessions);
        self.transcript = Transcript::new(&self.world.home, &self.world.project, &self.session);
        self.sealed = false;
        self.prompt = None;
    }

    pub fn next_call(&mut self) -> u64 {
        self.calls += 1;
        self.calls
    }

    /// The end of a time limit, never later than the demo's own.
    pub fn until(&self, limit: Duration) -> Instant {
        self.deadline.min(Instant::now() + limit)
    }

    /// Sleeps, at most until the demo's time limit.
    pub fn wait(&self, time: Duration) {
        std::thread::sleep(time.min(self.deadline.saturating_duration_since(Instant::now())));
    }

    /// The environment of every process of this client.
    fn env(&self) -> BTreeMap<String, String> {
        let mut env = self.world.env.clone();
        env.insert(names::CLAUDECODE.into(), "1".into());
        env.insert(names::SESSION_ID.into(), self.session.clone());
        env.insert(names::ATTENDED.into(), "1".into());
        if let Some(module) = &self.module {
            env.insert(names::MOD.into(), module.clone());
        }
        env
    }

    fn hook_env(&self) -> BTreeMap<String, String> {
        let mut env = self.env();
        env.insert(names::PLUGIN_ROOT.into(), self.plugin.root.to_string_lossy().into_owned());
        env.insert(names::PROJECT_DIR.into(), self.world.project.to_string_lossy().into_owned());
        env.insert(names::CLIENT_PID.into(), std::process::id().to_string());
        env.insert("CLAUDE_CODE_ENTRYPOINT".into(), "cli".into());
        env
    }

    fn start(
        &self,
        program: &std::path::Path,
        args: &[String],
        env: &BTreeMap<String, String>,
        input: &str,
    ) -> Result<Running, Fault> {
        Running::start(&Start { program, args, env, cwd: &self.world.project, input })
    }

    /// Fires an event: starts all its hooks at once and collects their answers.
    ///
    /// # Errors
    /// A hook that cannot be started, hangs, fails, or prints no JSON.
    pub fn fire(&mut self, event: &str, subject: &str, more: Value) -> Result<Replies, Stop> {
        let mut payload = json!({
            "session_id": self.session, "transcript_path": self.transcript.path, "cwd": self.world.project,
            "hook_event_name": event,
        });
        if let Some(prompt) = &self.prompt {
            payload["prompt_id"] = json!(prompt);
        }
        if !event.starts_with("Session") {
            payload["permission_mode"] = json!("default");
        }
        if let (Value::Object(payload), Value::Object(more)) = (&mut payload, more) {
            payload.extend(more);
        }
        let (env, input) = (self.hook_env(), payload.to_string());
        let mut running = Vec::new();
        for hook in self.plugin.hooks(event, subject) {
            let process = self.start(&hook.program, &hook.args, &env, &input)?;
            if hook.rewakes {
                self.rewake = Some(process);
            } else {
                running.push((process, self.until(Duration::from_secs(hook.timeout))));
            }
        }
        let mut replies = Replies::default();
        for (process, until) in running {
            let ended = process.wait(until)?;
            let came =
                || format!("{}: {}{}", ended.status, ended.stdout.trim(), ended.stderr.trim());
            expect(ended.status.success(), format_args!("a {event} hook that exits with 0"), came)?;
            let taken = replies.take(&ended.stdout);
            expect(taken.is_ok(), format_args!("JSON or nothing from the {event} hook"), came)?;
        }
        Ok(replies)
    }

    /// Submits a prompt, from the user or the module.
    ///
    /// # Errors
    /// As [`Client::fire`].
    pub fn prompt(&mut self, text: &str) -> Result<Replies, Stop> {
        self.prompt = Some(format!("prompt-{}", self.session));
        let replies = self.fire("UserPromptSubmit", "", json!({"prompt": text}))?;
        self.transcript.user(&json!(text)).map_err(broken("could not write the transcript"))?;
        Ok(replies)
    }

    /// Ends the turn, as hooks see it.
    ///
    /// # Errors
    /// As [`Client::fire`].
    pub fn stop(&mut self, said: &str, again: bool) -> Result<Replies, Stop> {
        let more = json!({
            "stop_hook_active": again, "last_assistant_message": said, "background_tasks": [], "session_crons": [],
        });
        self.fire("Stop", "", more)
    }

    /// Sends one request of the module to the program.
    ///
    /// # Errors
    /// A program that cannot be started, hangs, or answers with no JSON object.
    pub fn ask(&mut self, verb: &str, mut question: Value) -> Result<Value, Stop> {
        question["session_id"] = json!(self.session);
        let args = ["mod".to_owned(), verb.to_owned()];
        let running =
            self.start(&self.plugin.program(), &args, &self.hook_env(), &question.to_string())?;
        let ended = running.wait(self.until(Duration::from_secs(MODULE_SECONDS)))?;
        let answer = serde_json::from_str::<Value>(&ended.stdout).ok().filter(Value::is_object);
        let came = || printed(&ended);
        expect(answer.is_some(), format_args!("an answer to `mod {verb}`"), came)?;
        let answer = answer.unwrap_or_default();
        if let Some(sealed) = answer["sealed"].as_bool() {
            self.sealed = sealed;
        }
        Ok(answer)
    }

    /// Sets the environment variable that says the module is running.
    pub fn announce_module(&mut self, snapshots: PathBuf) {
        self.module = Some(format!("{}:{}", self.plugin.module, std::process::id()));
        self.snapshots = Some(snapshots);
    }

    /// Runs a command that the guard rewrote, in the agent's shell.
    ///
    /// # Errors
    /// A shell that cannot be started or hangs.
    pub fn shell(&self, command: &str) -> Result<Ended, Fault> {
        let args = ["-c".to_owned(), command.to_owned()];
        let running = self.start("/bin/sh".as_ref(), &args, &self.env(), "")?;
        running.wait(self.until(Duration::from_secs(10)))
    }

    /// The guard's own view of the session: percent of the context, and the tier.
    ///
    /// # Errors
    /// A program that cannot be started or hangs.
    pub fn status(&self) -> Result<(Option<f64>, String), Fault> {
        let project = self.world.project.to_string_lossy().into_owned();
        let args = ["status", "--json", "--session", &self.session, "--project", &project]
            .map(str::to_owned);
        let running = self.start(&self.plugin.program(), &args, &self.hook_env(), "")?;
        let ended = running.wait(self.until(Duration::from_secs(MODULE_SECONDS)))?;
        let status: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
        let stance = status["stance"].as_str().unwrap_or("?").to_owned();
        Ok((status["context"]["percent"].as_f64(), stance))
    }
}

pub fn printed(ended: &Ended) -> String {
    let text = format!("{} {}", ended.stdout.trim(), ended.stderr.trim());
    let text = text.trim();
    format!("{} and {}", ended.status, if text.is_empty() { "no output" } else { text })
}

/// Maps an I/O error of the demo's own files.
pub fn broken(what: &str) -> impl Fn(io::Error) -> Fault + '_ {
    move |source| Fault::System { what: what.to_owned(), source }
}

/// An id in the client's format.
fn id(number: u64) -> String {
    format!("{:08x}-de30-4000-8000-{number:012x}", std::process::id())
}
