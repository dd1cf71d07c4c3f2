//! Checks tools whose input has no known shape: MCP tools, and tools that submit prompts.

use serde_json::Value;

use super::{Look, absolute, parsed};
use crate::hook::event::ToolCall;
use crate::policy::operator;
use base::shown::shell_quote;

impl Look<'_> {
    /// Whether the call touches operator paths or commands. Any path in its input may be written,
    /// any command run, any text submitted.
    pub(super) fn other(&self, call: &ToolCall) -> bool {
        let foreign = call.tool.starts_with("mcp__");
        let raw = call.input.map_or("", |i| i.get());
        if !foreign && !raw.contains("brain-guard:") {
            return false;
        }
        let Some(input) = parsed(call) else { return false };
        // A prompt for a subagent is not a command.
        let prompts = !matches!(call.tool, "Agent" | "Task" | "Workflow");
        let mut texts = input.as_object().into_iter().flat_map(|i| i.values());
        if prompts && texts.any(|text| text.as_str().is_some_and(operator::types_operator_verb)) {
            return true;
        }
        let text = |key: &str| input[key].as_str().unwrap_or_default();
        if !text("skill").is_empty()
            && operator::types_operator_verb(&format!("/{} {}", text("skill"), text("args")))
        {
            return true;
        }
        foreign
            && (self.runs(&input, 0)
                || (!only_reads(call.tool) && self.names(call, input.as_object())))
    }

    /// Whether a command in the input would touch operator paths.
    fn runs(&self, input: &Value, depth: usize) -> bool {
        let inside = |value: &Value| depth < DEPTH && self.runs(value, depth + 1);
        let map = match input {
            Value::Array(list) => return list.iter().any(inside),
            Value::Object(map) => map,
            _ => return false,
        };
        let arguments: Vec<String> = ARGUMENTS.iter().filter_map(|k| line(map.get(*k)?)).collect();
        let arguments = arguments.join(" ");
        let runs = |(key, command): (&str, String)| {
            // These keys do not tell the language, so both shell and script are checked.
            let code = || matches!(key, "script" | "code" | "program");
            self.shell_touches(&format!("{command} {arguments}"))
                || (code() && self.shell_touches(&format!("python -c {}", shell_quote(&command))))
        };
        let mut commands =
            COMMANDS.into_iter().filter_map(|key| Some((key, line(map.get(key)?)?))).peekable();
        let alone = commands.peek().is_none();
        commands.any(runs) || (alone && self.shell_touches(&arguments)) || map.values().any(inside)
    }

    fn names(&self, call: &ToolCall, input: Option<&serde_json::Map<String, Value>>) -> bool {
        let Some(input) = input else { return false };
        let mut texts = Vec::new();
        // Commands are checked elsewhere: one that only reads our settings names them too.
        let runs = COMMANDS.iter().any(|key| input.contains_key(*key));
        let run = |key: &str| COMMANDS.contains(&key) || (runs && ARGUMENTS.contains(&key));
        let named = input.iter().filter(|(key, _)| !run(key));
        named.for_each(|(_, value)| strings(value, 0, &mut texts));
        // A text with spaces counts as a path only if its first folder exists.
        let begins = |text: &str| {
            let first = text.split('/').next().unwrap_or_default();
            !first.contains(char::is_whitespace) || absolute(self.event, first).exists()
        };
        let path = |text: &&str| {
            text.contains('/') && text.len() < 4096 && !text.contains('\n') && begins(text)
        };
        let along = |path: &str| {
            takes_away(call.tool) && {
                let guarded = self.guarded();
                guarded.takes_along(&guarded.plain(path))
            }
        };
        texts.into_iter().filter(path).take(32).any(|text| self.file(call, text) || along(text))
    }
}

/// Input keys that hold the command a tool runs.
const COMMANDS: [&str; 7] = ["command", "cmd", "script", "code", "shell", "program", "argv"];

/// Input keys that hold its arguments.
const ARGUMENTS: [&str; 2] = ["args", "arguments"];

/// How deep nested inputs are checked.
const DEPTH: usize = 4;

/// The command line as a shell would get it. A list holds one word per item.
fn line(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(list) => {
            let words = list.iter().filter_map(Value::as_str).map(shell_quote);
            Some(words.collect::<Vec<_>>().join(" "))
        }
        _ => None,
    }
}

fn strings<'a>(value: &'a Value, depth: usize, into: &mut Vec<&'a str>) {
    let below = depth + 1;
    match value {
        Value::String(text) => into.push(text),
        Value::Array(list) if below <= DEPTH => list.iter().for_each(|v| strings(v, below, into)),
        Value::Object(map) if below <= DEPTH => map.values().for_each(|v| strings(v, below, into)),
        _ => {}
    }
}

/// Whether an MCP tool's name says that it only reads.
fn only_reads(tool: &str) -> bool {
    let name = tool.rsplit("__").next().unwrap_or(tool);
    ["read", "get", "list", "search", "find", "view", "directory_tree", "stat"]
        .iter()
        .any(|verb| name.starts_with(verb))
}

/// Whether an MCP tool's name says that it removes or renames.
fn takes_away(tool: &str) -> bool {
    let name = tool.rsplit("__").next().unwrap_or(tool);
    ["delete", "remove", "move", "rename", "trash", "rm", "mv"].iter().any(|v| name.starts_with(v))
}
