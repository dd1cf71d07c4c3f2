//! `close`: marks an entry of the compaction file as done.

use anyhow::Context as _;

use super::whose;
use super::{Exit, err, out};
use crate::cli::Whose;
use base::beneath;
use base::clock::Time;
use base::env::Env;
use guard::compaction::{self, Shape};
use guard::files::jobs;

/// Runs the verb.
///
/// # Errors
/// No session, or what the system says of the file.
pub fn run(env: &Env, now: Time, whose: &Whose, id: Option<&str>) -> anyhow::Result<Exit> {
    let found = whose::find(env, whose)?;
    let facts = whose::facts(env, now, &found)?;
    let job = whose::job(&facts);
    let path = facts.places.compaction(&job);
    if !beneath::exists(&path) {
        err(format_args!(
            "the job {job} has no compaction file yet; `brain-guard append` makes one"
        ));
        return Ok(Exit::Refused);
    }
    let Some(id) = id else {
        list(&jobs::read(&facts.places, &job)?.unwrap_or_default(), &facts.settings.file.shape);
        return Ok(Exit::Done);
    };
    let open = match whose::open(&facts)? {
        Ok(open) => open,
        Err(exit) => return Ok(exit),
    };
    let path = facts.places.compaction(&open.job);
    super::keep_bytes(&facts.places, &open.job)?;
    match compaction::close(&open.text, &facts.settings.file.shape, id) {
        Ok(after) => {
            jobs::write_live(&facts.places, &open.job, &after)
                .with_context(|| format!("could not write {}", path.display()))?;
            out(format_args!("closed {id} in {}", path.display()));
            Ok(Exit::Done)
        }
        Err(e) => {
            err(format_args!("{}: {e}", path.display()));
            Ok(Exit::Refused)
        }
    }
}

/// One line an entry: its id, whether it is closed, its section, its first words.
fn list(text: &str, shape: &Shape) {
    let document = compaction::parse(text, shape);
    for entry in document.entries().filter(|e| !e.none) {
        let section =
            entry.section.map_or("elsewhere", |index| shape.sections[index].name.as_str());
        let closed = if entry.closed { "closed" } else { "" };
        let head: String = entry.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let head: String = head.chars().take(70).collect();
        out(format_args!("{}  {closed:<6}  {section:<20}  {head}", entry.id));
    }
}
