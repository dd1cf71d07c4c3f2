//! `sessions` and `rounds`: the verbs of the same names, as tools.

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Said, read};
use super::session;
use crate::cli::{RoundsArgs, SessionsArgs};
use crate::cmd::look::Look;
use crate::cmd::round_list::RoundList;
use crate::cmd::session_list::SessionList;
use base::clock::Time;
use base::env::Env;

/// The default limit of both lists, which stay in the context.
const SHOWN: usize = 20;

/// The most lines of a list.
const MOST: usize = 200;

pub fn sessions_properties() -> Value {
    json!({
        "all": { "type": "boolean", "description": "Of every project" },
        "limit": { "type": "integer", "minimum": 1, "maximum": MOST },
    })
}

pub fn rounds_properties() -> Value {
    json!({
        "session": { "type": "string", "description": "Default: this session" },
        "last": { "type": "integer", "minimum": 1, "maximum": MOST },
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WhichSessions {
    all: Option<bool>,
    limit: Option<usize>,
}

/// Lists sessions.
///
/// # Errors
/// Invalid arguments, or an unreadable index.
pub fn sessions(env: &Env, _now: Time, arguments: Value) -> Said {
    let asked: WhichSessions = read(arguments)?;
    let args = SessionsArgs {
        all: asked.all.unwrap_or_default(),
        limit: limit("limit", asked.limit)?,
        agents: false,
        json: false,
    };
    Ok(vec![SessionList::of(env, &args, Look::PLAIN)?.to_string()])
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WhichRounds {
    session: Option<String>,
    last: Option<usize>,
}

/// Lists a session's rounds.
///
/// # Errors
/// Invalid arguments, or an unknown session.
pub fn rounds(env: &Env, _now: Time, arguments: Value) -> Said {
    let asked: WhichRounds = read(arguments)?;
    let args = RoundsArgs {
        session: Some(session::session(env, asked.session.as_deref())?),
        last: Some(limit("last", asked.last)?),
        json: false,
    };
    Ok(vec![RoundList::of(env, &args, Look::PLAIN)?.to_string()])
}

fn limit(name: &str, asked: Option<usize>) -> anyhow::Result<usize> {
    let limit = asked.unwrap_or(SHOWN);
    anyhow::ensure!((1..=MOST).contains(&limit), "{name} is {limit}; it takes 1 to {MOST}");
    Ok(limit)
}
