//! The tools: names, schemas and functions. Once the model has loaded them, every word is in its
//! context.

use super::call::Said;
use std::sync::Arc;

use anyhow::Context as _;
use rmcp::model::{JsonObject, ToolAnnotations};
use serde_json::{Value, json};

use super::{lists, purge, rounds};
use base::clock::Time;
use base::env::Env;

/// A tool.
pub struct Tool {
    /// Its name without the client's prefix.
    pub name: &'static str,
    description: &'static str,
    properties: fn() -> Value,
    required: &'static [&'static str],
    /// Whether it changes nothing.
    reads: bool,
    does: fn(&Env, Time, Value) -> Said,
}

/// All tools, in the order they are listed.
pub static TOOLS: [Tool; 5] = [
    Tool {
        name: "purge_control",
        description: "Content extracted from this session ([[extracted-ID]]): get_context lists it and long values that may go next, restore prints what an entry held, set_extractable says whether an entry may be extracted. Restore only what you need.",
        properties: purge::properties,
        required: &["action"],
        reads: false,
        does: purge::call,
    },
    Tool {
        name: "inject",
        description: "Prints an earlier round of a session in full, as a table of rounds names it.",
        properties: rounds::inject_properties,
        required: &["ref"],
        reads: true,
        does: rounds::inject,
    },
    Tool {
        name: "search",
        description: "Finds rounds of imported sessions by what was said in them; inject prints one.",
        properties: rounds::search_properties,
        required: &["query"],
        reads: true,
        does: rounds::search,
    },
    Tool {
        name: "sessions",
        description: "Lists the project's sessions, the newest first, with times and tags.",
        properties: lists::sessions_properties,
        required: &[],
        reads: true,
        does: lists::sessions,
    },
    Tool {
        name: "rounds",
        description: "Lists a session's last rounds, one line each: number, time, tokens, tag, first words.",
        properties: lists::rounds_properties,
        required: &[],
        reads: true,
        does: lists::rounds,
    },
];

/// The tool of this name.
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl Tool {
    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": (self.properties)(),
            "required": self.required,
            "additionalProperties": false,
        })
    }

    /// The tool as the plugin's module registers it with the client.
    pub fn to_spec(&self) -> Value {
        json!({"name": self.name, "description": self.description, "inputSchema": self.schema()})
    }

    /// The tool as the protocol lists it.
    pub fn to_protocol(&self) -> rmcp::model::Tool {
        let schema: JsonObject = self.schema().as_object().cloned().unwrap_or_default();
        let hints = ToolAnnotations::new().read_only(self.reads).destructive(false);
        rmcp::model::Tool::new(self.name, self.description, Arc::new(schema))
            .annotate(hints.open_world(false))
    }

    /// Runs the tool.
    ///
    /// # Errors
    /// Invalid arguments, or a failed call.
    pub fn call(&self, env: &Env, now: Time, arguments: Value) -> Said {
        (self.does)(env, now, arguments).with_context(|| self.name)
    }
}
