//! What a watch does with one session: it plans, checks the prompt cache, then extracts or waits. A
//! refusal is not an error: the next check retries.

use std::io;
use std::path::Path;

use chrono::TimeDelta;

use super::look::Came;
use crate::cmd::extract::planned::Planned;
use crate::cmd::extract::run;
use crate::cmd::extract::source::{self, Kind};
use base::clock::Time;
use extract::when::Verdict;
use sessions::files::Refused;
use sessions::settings::ExtractSettings;
use store::blocks::Root;

/// Why a database is skipped, and what works.
pub const DATABASE: &str = "a database of OpenClaw is never written; OpenClaw's plugin masks what the model gets (docs/openclaw.md)";

/// Reads a session, and extracts if it is due. `say` gets the message about doubtful rows.
pub fn act(
    root: &Root,
    settings: &ExtractSettings,
    now: Time,
    path: &Path,
    say: &mut dyn FnMut(&str),
) -> Came {
    attempt(root, settings, now, path, say).unwrap_or_else(|e| {
        let why = format!("{e:#}");
        match e.downcast_ref::<Refused>() {
            Some(Refused::Changed(_) | Refused::Busy(_) | Refused::Locked(_)) => {
                Came::Refused { why }
            }
            Some(Refused::Unsupported(_)) => Came::Unsupported { why },
            _ if waits(&e) => Came::Refused { why },
            _ => Came::Failed { why },
        }
    })
}

/// Whether another process held a lock for too long, such as a sweep of the store.
fn waits(e: &anyhow::Error) -> bool {
    let kinds = e.chain().filter_map(|e| e.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.into_iter().any(|kind| kind == io::ErrorKind::WouldBlock)
}

fn attempt(
    root: &Root,
    settings: &ExtractSettings,
    now: Time,
    path: &Path,
    say: &mut dyn FnMut(&str),
) -> anyhow::Result<Came> {
    if source::is_database_name(path) {
        return Ok(Came::Never { why: DATABASE.to_owned() });
    }
    let source = source::open(root, path)?;
    let never = match source.kind {
        Kind::Jsonl => None,
        Kind::Claude => Some(
            "a session of Claude Code is never changed; `brain-guard extract run SESSION` makes a lean one of it",
        ),
        Kind::Database => Some(DATABASE),
    };
    if let Some(why) = never {
        return Ok(Came::Never { why: why.to_owned() });
    }
    let planned = run::plan_session(&source, settings, now)?;
    if let Some(said) = &planned.read.doubt.said {
        say(said);
    }
    let items = &planned.plan.items;
    if !settings.enabled && !items.is_empty() {
        return Ok(Came::Would { values: items.len() as u64, bytes: planned.plan.bytes().0 });
    }
    Ok(match planned.verdict {
        // Values outside the context cost no cache: only the file shrinks.
        Verdict::Nothing if items.is_empty() => {
            Came::Nothing { until: protected(&planned, settings, now) }
        }
        Verdict::Little => Came::Little {
            values: items.len() as u64,
            bytes: planned.look.bytes,
            until: protected(&planned, settings, now),
        },
        Verdict::Waits(turns) => {
            let until = planned.look.last.unwrap_or(now) + cache(settings);
            Came::Waits { turns, until }
        }
        verdict => {
            let done = run::execute(&source, settings, now, &planned)?;
            Came::Extracted { done, verdict, until: protected(&planned, settings, now) }
        }
    })
}

/// How long the prompt cache lives.
fn cache(settings: &ExtractSettings) -> TimeDelta {
    TimeDelta::try_seconds(settings.fixed.cache_seconds as i64).unwrap_or(TimeDelta::MAX)
}

/// When the first protection of a restored entry ends.
fn protected(planned: &Planned, settings: &ExtractSettings, now: Time) -> Option<Time> {
    let protects = TimeDelta::try_seconds(settings.keep_after_restore_seconds as i64)?;
    let restored = planned.read.entries.iter().filter_map(|entry| entry.restored);
    restored.filter_map(|at| at.checked_add_signed(protects)).filter(|until| *until > now).min()
}
