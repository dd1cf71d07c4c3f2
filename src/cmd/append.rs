//! `append`: adds entries to the compaction file, routed by kind.

use anyhow::Context as _;

use super::whose;
use super::{Exit, err, out, stdin_text};
use crate::cli::Whose;
use crate::clock::Time;
use crate::compaction::{self, Role};
use crate::env::Env;
use crate::store::{atomic, jobs};

/// Runs the verb. Writes only in the job's folder: in the client's sandbox
/// nothing else can be written.
///
/// # Errors
/// No session, or what the system says of the file.
pub fn run(
    env: &Env,
    now: Time,
    whose: &Whose,
    kind: &str,
    text: &[String],
) -> anyhow::Result<Exit> {
    let found = whose::find(env, whose)?;
    let facts = whose::facts(env, now, &found)?;
    let shape = &facts.settings.file.shape;
    let Some(section) = shape.route(kind).and_then(|index| shape.sections.get(index)) else {
        let kinds: Vec<&str> = shape.routes.keys().map(String::as_str).collect();
        err(format_args!("unknown kind {kind:?}; kinds: {}", kinds.join(", ")));
        return Ok(Exit::Usage);
    };
    let text = text.join(" ");
    let entry = if text.is_empty() || text == "-" { stdin_text()? } else { text };
    if entry.trim().is_empty() {
        err("nothing to append; give the entry as an argument or on stdin");
        return Ok(Exit::Usage);
    }
    let open = match whose::open(&facts)? {
        Ok(open) => open,
        Err(exit) => return Ok(exit),
    };
    let path = facts.places.compaction(&open.job);
    let after = compaction::append(&open.text, shape, &section.name, &entry)?;
    atomic::write(&path, after.as_bytes())
        .with_context(|| format!("could not write {}", path.display()))?;
    if section.role == Role::Summary {
        let next = jobs::last_version(&facts.places, &open.job) + 1;
        jobs::summed(&facts.places, &open.job, facts.id, next)?;
    }
    let words = compaction::gauge_words(&after, shape);
    out(format_args!(
        "added to {}: {} of {} words ({})",
        section.name,
        words,
        facts.settings.file.words,
        path.display()
    ));
    Ok(Exit::Done)
}
