//! Hook events in the guard's own terms.

use crate::files::shadows::{CLEAR, RESUME};
use serde_json::value::RawValue;

use super::wire::{Payload, Task};
use base::paths::is_safe_name;
use sessions::fill;

/// An event that the guard handles.
#[derive(Debug)]
pub struct Event<'a> {
    /// The main session's id, safe as a file name.
    pub session: &'a str,
    /// The main session's transcript.
    pub transcript: Option<&'a str>,
    /// The working directory of the agent's shell.
    pub cwd: Option<&'a str>,
    /// Whether it fired inside a subagent.
    pub subagent: bool,
    /// The client's permission mode.
    pub mode: Option<&'a str>,
    /// What happened.
    pub kind: Kind<'a>,
}

/// A tool call as far as the guard cares.
#[derive(Debug)]
pub struct ToolCall<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Its input.
    pub input: Option<&'a RawValue>,
    /// Its id.
    pub id: &'a str,
    /// How long it ran, in milliseconds, if the client reports it.
    pub took: Option<f64>,
    /// The error text of a failed call.
    pub error: Option<&'a str>,
}

/// How a session started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A new, empty session.
    Startup,
    /// An old session continues.
    Resume,
    /// An old session continues under a new id.
    Fork,
    /// The conversation was cleared.
    Clear,
    /// The client compacted the conversation.
    Compact,
}

/// What happened.
#[derive(Debug)]
pub enum Kind<'a> {
    /// A tool is about to be used.
    PreTool(ToolCall<'a>),
    /// A tool was used.
    PostTool(ToolCall<'a>, Option<&'a RawValue>),
    /// A tool failed.
    PostToolFailure(ToolCall<'a>),
    /// All tools of a response are done. Holds the bytes of their results.
    PostBatch(u64),
    /// A session started.
    SessionStart {
        /// How.
        source: Source,
        /// Its model, if the client reports it.
        model: Option<&'a str>,
        /// Tokens that the next request reads again, because the prompt cache has expired.
        uncached: Option<u64>,
    },
    /// A prompt was submitted, by a person or by the client.
    Prompt(&'a str),
    /// A slash command was entered.
    Expansion {
        /// Its name without the plugin's prefix. Only this plugin's commands become events.
        command: &'a str,
        /// Its arguments.
        args: &'a str,
        /// A file of the project or the user has the name of our command.
        is_foreign: bool,
    },
    /// A file of the project or the user runs in place of a command of the client that we run.
    Shadow(&'a str),
    /// A turn ended.
    Stop {
        /// Background agents that are still running.
        agents: u32,
        /// Background shells and monitors that are still running.
        shells: Vec<&'a str>,
    },
    /// An API error ended a turn. The client sends no [`Kind::Stop`] for it.
    TurnFailed,
    /// The client is about to compact.
    PreCompact {
        /// The user typed `/compact`.
        by_person: bool,
    },
    /// The model was switched.
    ModelSwitch(&'a str),
    /// The client shows the user a question from the agent.
    Question,
    /// The client has shown a dialog to the user for a while. Holds what it says of it.
    Dialog(&'a str),
    /// A session ended.
    SessionEnd,
}

impl Kind<'_> {
    /// The client's name for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::PreTool(_) => "PreToolUse",
            Self::PostTool(..) => "PostToolUse",
            Self::PostToolFailure(_) => "PostToolUseFailure",
            Self::PostBatch(_) => "PostToolBatch",
            Self::SessionStart { .. } => "SessionStart",
            Self::Prompt(_) => "UserPromptSubmit",
            Self::Expansion { .. } | Self::Shadow(_) => "UserPromptExpansion",
            Self::Stop { .. } => "Stop",
            Self::TurnFailed => "StopFailure",
            Self::PreCompact { .. } => "PreCompact",
            Self::ModelSwitch(_) => "PostModelSwitch",
            Self::Question => "PermissionRequest",
            Self::Dialog(_) => "Notification",
            Self::SessionEnd => "SessionEnd",
        }
    }
}

impl<'a> Event<'a> {
    /// Parses a payload. `None` for everything that the guard does not handle.
    pub fn from_payload(payload: &'a Payload<'a>) -> Option<Self> {
        let session = payload.session_id.as_deref().filter(|id| is_safe_name(id))?;
        Some(Self {
            session,
            transcript: payload.transcript_path.as_deref().filter(|p| !p.is_empty()),
            cwd: payload.cwd.as_deref().filter(|p| !p.is_empty()),
            subagent: payload.agent_id.is_some(),
            mode: payload.permission_mode.as_deref(),
            kind: kind(payload)?,
        })
    }
}

fn kind<'a>(payload: &'a Payload<'a>) -> Option<Kind<'a>> {
    let call = || {
        Some(ToolCall {
            tool: payload.tool_name.as_deref()?,
            input: payload.tool_input,
            id: payload.tool_use_id.as_deref().unwrap_or_default(),
            took: payload.duration_ms.and_then(|took| took.get().parse().ok()),
            error: payload.error.as_deref(),
        })
    };
    Some(match payload.hook_event_name.as_deref()? {
        "PreToolUse" => Kind::PreTool(call()?),
        "PostToolUse" => Kind::PostTool(call()?, payload.tool_response),
        "PostToolUseFailure" => Kind::PostToolFailure(call()?),
        "PostToolBatch" => Kind::PostBatch(payload.tool_calls.map_or(0, |c| fill::weight(c.get()))),
        "SessionStart" => Kind::SessionStart {
            source: match payload.source.as_deref()? {
                "startup" => Source::Startup,
                "resume" => Source::Resume,
                "fork" => Source::Fork,
                "clear" => Source::Clear,
                "compact" => Source::Compact,
                _ => return None,
            },
            model: payload.model.as_deref(),
            uncached: uncached(payload),
        },
        "UserPromptSubmit" => Kind::Prompt(payload.prompt.as_deref()?),
        "UserPromptExpansion" => {
            let name = payload.command_name.as_deref()?;
            let is_foreign =
                payload.command_source.as_deref().is_some_and(|s| s.ends_with("Settings"));
            match name.strip_prefix("brain-guard:") {
                Some(command) => {
                    let args = payload.command_args.as_deref().unwrap_or_default();
                    Kind::Expansion { command, args, is_foreign }
                }
                None if is_foreign && CLEAR.iter().chain(&RESUME).any(|own| *own == name) => {
                    Kind::Shadow(name)
                }
                None => return None,
            }
        }
        "Stop" => {
            let running = |t: &&Task| t.status.as_deref().is_none_or(|s| s == "running");
            let tasks = payload.background_tasks.as_deref().unwrap_or_default();
            let agent = |t: &&Task| t.kind.as_deref() == Some("subagent");
            Kind::Stop {
                agents: tasks.iter().filter(running).filter(agent).count() as u32,
                shells: tasks
                    .iter()
                    .filter(running)
                    .filter(|t| !agent(t))
                    .filter_map(|t| t.command.as_deref().or(t.description.as_deref()))
                    .collect(),
            }
        }
        "PreCompact" => {
            Kind::PreCompact { by_person: payload.trigger.as_deref() == Some("manual") }
        }
        "PostModelSwitch" => {
            Kind::ModelSwitch(payload.new_model.as_deref().or(payload.model.as_deref())?)
        }
        "StopFailure" => Kind::TurnFailed,
        "PermissionRequest" if payload.tool_name.as_deref() == Some(QUESTION_TOOL) => {
            Kind::Question
        }
        "Notification" => match payload.notification_type.as_deref()? {
            "permission_prompt" | "elicitation_dialog" => Kind::Dialog(payload.message.as_deref()?),
            _ => return None,
        },
        "SessionEnd" => Kind::SessionEnd,
        _ => return None,
    })
}

/// Whether a person typed the prompt. The client also submits notifications of agents, monitors and
/// woken hooks as prompts (seen with client 2.1.329).
pub fn is_from_person(prompt: &str) -> bool {
    let text = prompt.trim_start();
    !text.starts_with("<task-notification>") && !text.starts_with("<system-reminder>")
}

/// The client's tool that asks the user.
pub const QUESTION_TOOL: &str = "AskUserQuestion";

/// Tokens of a context whose prompt cache has expired.
fn uncached(payload: &Payload) -> Option<u64> {
    payload.prompt_cache_likely_expired.filter(|expired| expired.get() == "true")?;
    payload.context_tokens?.get().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str, check: impl Fn(Option<Event>)) {
        let payload: Payload = serde_json::from_str(text).unwrap();
        check(Event::from_payload(&payload));
    }

    #[test]
    fn unknown_is_no_opinion() {
        for text in [
            "{}",
            r#"{"session_id":"s"}"#,
            r#"{"session_id":"s","hook_event_name":"MessageDisplay"}"#,
            r#"{"session_id":"../x","hook_event_name":"Stop"}"#,
            r#"{"session_id":"s","hook_event_name":"PreToolUse"}"#,
            r#"{"session_id":"s","hook_event_name":"SessionStart","source":"new"}"#,
            r#"{"session_id":"s","hook_event_name":"UserPromptExpansion","command_name":"other:x"}"#,
        ] {
            event(text, |e| assert!(e.is_none(), "{text}"));
        }
    }

    #[test]
    fn stop_tells_agents_from_shells() {
        let text = r#"{"session_id":"s","hook_event_name":"Stop","background_tasks":[
            {"type":"subagent","status":"running"},{"type":"subagent","status":"completed"},
            {"type":"shell","status":"running","command":"npm run dev"}]}"#;
        event(text, |e| match e.unwrap().kind {
            Kind::Stop { agents, shells } => assert_eq!((agents, shells), (1, vec!["npm run dev"])),
            other => panic!("{other:?}"),
        });
    }

    #[test]
    fn notifications_are_nobodys() {
        assert!(is_from_person("Do the thing"));
        assert!(!is_from_person("<task-notification>\n<task-id>x"));
    }
}
