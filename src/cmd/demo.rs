//! `demo`: plays recorded events of a session through the installed hook, as the client does, in a
//! home of its own. It prints what came back, and stops where that is not what it should be.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::install::installation::Installation;
use super::install::place::BINARY;
use super::output::out_folded;
use super::{Context, Exit, Run};
use crate::cli::DemoArgs;
use base::env::{self, Env};
use base::{atomic, clock, plain, process, shown};

/// The recorded events, in order. `$PROJECT` is the demo's project.
const EVENTS: &str = include_str!("demo/events.jsonl");

/// The demo's settings: nothing presses keys, because the demo clears the session itself.
const SETTINGS: &str = r#"{"boundary": {"carrier": "manual"}}"#;

/// The session's transcript, in the home.
const TRANSCRIPT: &str = ".claude/projects/demo/session.jsonl";

/// Time limit of one process.
const PATIENCE: Duration = Duration::from_secs(5);

/// Characters that are shown of an answer.
const SHOWN: usize = 150;

/// One event, and the expected answer.
#[derive(Deserialize)]
struct Play {
    /// What happens, for people.
    step: String,
    /// The context usage from here on.
    tokens: Option<u64>,
    /// The tier that the guard must be in then.
    #[serde(default)]
    tier: String,
    event: Value,
    answer: Answer,
    /// A text in the answer. The line that has it is shown.
    #[serde(default)]
    with: String,
}

/// What the hook does at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    /// Nothing.
    Silence,
    /// Tells the agent something.
    Note,
    /// Blocks a tool call.
    Denied,
    /// Keeps the turn from ending.
    Refused,
    /// Allows a command of ours, and says how to run it.
    Runs,
}

impl Answer {
    /// The text of a hook's output, if it is this answer.
    fn text(self, output: &Value) -> Option<&str> {
        let specific = &output["hookSpecificOutput"];
        let (decision, text) = match self {
            Self::Silence => return output.is_null().then_some(""),
            Self::Note | Self::Refused => return specific["additionalContext"].as_str(),
            Self::Denied => ("deny", &specific["permissionDecisionReason"]),
            Self::Runs => ("allow", &specific["updatedInput"]["command"]),
        };
        text.as_str().filter(|_| specific["permissionDecision"] == decision)
    }
}

impl Run for DemoArgs {
    fn run(&self, Context { env, .. }: Context) -> anyhow::Result<Exit> {
        let installed = Installation::find(env)?.current();
        run(env, self.plugin.as_deref().unwrap_or(&installed))
    }
}

const WAY_OUT: &str = "run `brain-guard install` to reinstall the plugin";

/// Plays the events through the plugin in `plugin`.
///
/// # Errors
/// No plugin there, no temporary folder, or a step that failed.
pub fn run(env: &Env, plugin: &Path) -> anyhow::Result<Exit> {
    let stage = Stage::new(env, plugin)?;
    out_folded(format_args!("a session through {}", stage.plugin.join(BINARY).display()));
    let project = json!(stage.project()).to_string();
    for line in EVENTS.lines() {
        let play: Play =
            serde_json::from_str(&line.replace("$PROJECT", project.trim_matches('"')))?;
        let failed = || format!("the step `{}` failed; {WAY_OUT}", play.step);
        stage.play(&play).with_context(failed)?;
    }
    out_folded("Every step went as it should.");
    Ok(Exit::Done)
}

/// The plugin, and a home with one project. The home is removed in the end.
struct Stage {
    plugin: PathBuf,
    hooks: Value,
    home: TempDir,
    path: String,
}

impl Stage {
    fn new(env: &Env, plugin: &Path) -> anyhow::Result<Self> {
        // Hooks run in the project, where a relative path would be wrong.
        let plugin = std::path::absolute(plugin)?;
        let text = atomic::read_text(&plugin.join("hooks/hooks.json"))?;
        let text = text.with_context(|| format!("no plugin in {}; {WAY_OUT}", plugin.display()))?;
        let hooks = serde_json::from_str(&text)
            .with_context(|| format!("hooks/hooks.json in {} is not JSON", plugin.display()))?;
        let temp = env.path("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"));
        let mut folder = tempfile::Builder::new();
        folder.prefix("brain-guard-demo-");
        let home = fs::canonicalize(&temp).and_then(|temp| folder.tempdir_in(temp));
        let home = home.with_context(|| format!("no folder in {}; set TMPDIR", temp.display()))?;
        let stage = Self { plugin, hooks, home, path: env.get("PATH").unwrap_or_default() };
        fs::create_dir(stage.project())?;
        stage.write(".claude/brain-guard/settings.json", SETTINGS)?;
        Ok(stage)
    }

    fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    /// Writes a file in the home.
    fn write(&self, file: &str, text: &str) -> anyhow::Result<()> {
        let path = self.home.path().join(file);
        fs::create_dir_all(path.parent().unwrap_or(&path))
            .and_then(|()| fs::write(&path, text))
            .with_context(|| format!("could not write {}", path.display()))
    }

    /// Plays one event, and prints what came of it.
    fn play(&self, play: &Play) -> anyhow::Result<()> {
        let Play { step, tokens, event, answer, with, .. } = play;
        if let Some(tokens) = tokens {
            let message = json!({"role": "assistant", "model": "claude-opus-5-5", "content": [],
                "usage": {"input_tokens": tokens, "output_tokens": 0}});
            let row = json!({"type": "assistant", "timestamp": clock::now(), "message": message});
            self.write(TRANSCRIPT, &format!("{row}\n"))?;
        }
        let output = self.hook(event)?;
        let Some(said) = answer.text(&output).filter(|said| said.contains(with)) else {
            bail!("expected {answer:?}, but the hook answered {output}");
        };
        let mut said = said.to_owned();
        if *answer == Answer::Runs {
            said = self.run("/bin/sh", &["-c", &said], event, "")?;
            let mut after = event.clone();
            after["hook_event_name"] = json!("PostToolUse");
            after["tool_response"] = json!({"stdout": said, "stderr": "", "interrupted": false});
            self.hook(&after)?;
        }
        if tokens.is_some() {
            self.measure(play)?;
        }
        let line = said.lines().find(|line| line.contains(with)).unwrap_or_default();
        if !line.is_empty() {
            out_folded(format_args!("  {step} '{}'", plain::line(line, SHOWN)));
        } else if tokens.is_some() {
            out_folded(format_args!("  {step}"));
        }
        Ok(())
    }

    /// Prints what the guard measures of the session.
    fn measure(&self, play: &Play) -> anyhow::Result<()> {
        let program = self.plugin.join(BINARY);
        let said = self.run(&program.to_string_lossy(), &["status", "--json"], &play.event, "")?;
        let status: Value = serde_json::from_str(&said)
            .with_context(|| format!("`brain-guard status` answered {said:?}"))?;
        let (context, tier) = (&status["context"], status["stance"].as_str().unwrap_or_default());
        let tokens = |name: &str| shown::tokens(context[name].as_u64().unwrap_or_default());
        let percent = context["percent"].as_f64().unwrap_or_default();
        let (used, limit) = (tokens("used"), tokens("limit"));
        out_folded(format_args!("context {percent:.0} % ({used} of {limit}): tier {tier}"));
        ensure!(tier == play.tier, "expected the tier {}", play.tier);
        Ok(())
    }

    /// The output of the hook that the plugin registers for an event; `null` if it prints nothing.
    fn hook(&self, event: &Value) -> anyhow::Result<Value> {
        let name = event["hook_event_name"].as_str().unwrap_or_default();
        let hook = &self.hooks["hooks"][name][0]["hooks"][0];
        let program = hook["command"].as_str();
        let program = program.with_context(|| format!("hooks.json has no hook for {name}"))?;
        let program = program.replace("${CLAUDE_PLUGIN_ROOT}", &self.plugin.to_string_lossy());
        let args: Vec<&str> =
            hook["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut input = event.clone();
        input["cwd"] = json!(self.project());
        input["transcript_path"] = json!(self.home.path().join(TRANSCRIPT));
        let said = self.run(&program, &args, event, &input.to_string())?;
        let said = if said.trim().is_empty() { "null" } else { &said };
        serde_json::from_str(said).with_context(|| format!("the hook answered {said:?}"))
    }

    /// Runs a program as the client does in the event's session, and returns what it prints.
    fn run(
        &self,
        program: &str,
        args: &[&str],
        event: &Value,
        input: &str,
    ) -> anyhow::Result<String> {
        let session = event["session_id"].as_str().unwrap_or_default();
        let mut command = Command::new(program);
        command.args(args).current_dir(self.project()).env_clear();
        command.env("HOME", self.home.path()).env("PATH", &self.path);
        command.env(env::CLAUDECODE, "1").env(env::ATTENDED, "1");
        command.env(env::SESSION_ID, session).env("CLAUDE_CODE_ENTRYPOINT", "cli");
        command.env(env::CLIENT_PID, std::process::id().to_string());
        command.env(env::PLUGIN_ROOT, &self.plugin).env(env::PROJECT_DIR, self.project());
        let ended = process::output_with_input(&mut command, input.as_bytes(), PATIENCE)
            .with_context(|| format!("could not run {program}"))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        ensure!(ended.status.success(), "{program}: {}, {}", ended.status, text(&ended.stderr));
        Ok(text(&ended.stdout))
    }
}
