//! `inject` and `search` as tools: the verbs `show` and `search`.

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Said, read};
use super::session;
use crate::cli::{FidelityArgs, NarrowArgs, SearchArgs, ShowRoundArgs, Thinking};
use crate::cmd::look::Look;
use crate::cmd::{search, show_round};
use base::clock::Time;
use base::env::Env;
use sessions::operation::Level;

/// The default limit of a search.
const SHOWN: usize = 10;

pub fn inject_properties() -> Value {
    let much = |words: [&str; 3]| json!({ "type": "string", "enum": words });
    json!({
        "ref": { "type": "string", "description": "The round: its number, or SESSION:NUMBER" },
        "session": { "type": "string", "description": "Whose number it is; default: this session" },
        "thinking": much(["full", "ref", "omit"]),
        "tool_use": much(["full", "summary", "omit"]),
        "tool_result": much(["full", "summary", "omit"]),
    })
}

pub fn search_properties() -> Value {
    json!({
        "query": { "type": "string", "description": "Words, \"phrases\", beginnings*" },
        "session": { "type": "string", "description": "Only this one; `this`: the one this runs in" },
        "since": { "type": "string", "description": "A time, or an age: 90m, 2h, 3d" },
        "engagement": { "type": "string" },
        "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    #[serde(rename = "ref")]
    round: Number,
    session: Option<String>,
    thinking: Option<Part>,
    tool_use: Option<Part>,
    tool_result: Option<Part>,
}

/// A round number: models write `47` as often as `"47"`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Number {
    Text(String),
    Alone(u32),
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Part {
    Full,
    #[serde(alias = "ref")]
    Summary,
    Omit,
}

impl From<Part> for Level {
    fn from(part: Part) -> Self {
        match part {
            Part::Full => Self::Full,
            Part::Summary => Self::Summary,
            Part::Omit => Self::Omit,
        }
    }
}

/// Prints a round.
///
/// # Errors
/// Invalid arguments, or an unknown round.
pub fn inject(env: &Env, _now: Time, arguments: Value) -> Said {
    let asked: Page = read(arguments)?;
    let much = |part: Option<Part>| part.map(Level::from).unwrap_or_default();
    let args = ShowRoundArgs {
        round: match asked.round {
            Number::Text(text) => text,
            Number::Alone(number) => number.to_string(),
        },
        part: None,
        session: asked.session,
        fidelity: FidelityArgs {
            thinking: asked
                .thinking
                .map_or_else(Thinking::default, |part| Thinking::Kept(part.into())),
            tool_use: much(asked.tool_use),
            tool_result: much(asked.tool_result),
        },
        json: false,
    };
    Ok(vec![show_round::find_round(&session::now(env), &args)?.text])
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    query: String,
    session: Option<String>,
    since: Option<String>,
    engagement: Option<String>,
    limit: Option<usize>,
}

/// Finds rounds by words.
///
/// # Errors
/// Invalid arguments, a query without words, or an unknown session.
pub fn search(env: &Env, now: Time, arguments: Value) -> Said {
    let asked: Words = read(arguments)?;
    let limit = asked.limit.unwrap_or(SHOWN);
    anyhow::ensure!((1..=100).contains(&limit), "limit is {limit}; it takes 1 to 100");
    let args = SearchArgs {
        query: vec![asked.query],
        narrow: NarrowArgs { session: asked.session, agent: None, since: asked.since },
        engagement: asked.engagement,
        limit,
        json: false,
    };
    let found = search::of(&session::now(env), now, &args)?;
    if found.hits.is_empty() {
        return Ok(vec![found.nothing()]);
    }
    let lines = found.hits.iter().map(|hit| search::line(hit, Look::PLAIN));
    let lines: Vec<String> = lines.chain(found.left_out()).collect();
    Ok(vec![lines.join("\n")])
}
