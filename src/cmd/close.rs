//! `close`: marks an entry of the compaction file as done.

use anyhow::Context as _;

use super::{Context, Exit, Failure, Run, out, selector};
use crate::cli::CloseArgs;
use guard::files::jobs;
use guard::hook::boundary_flow;
use notes::compaction::{self, Shape};

impl Run for CloseArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        let found = selector::find(env, &self.selector)?;
        let mut facts = selector::facts(env, now, &found)?;
        let job = selector::job(&facts);
        if !facts.places.compaction(&job).exists() {
            let what = format!("the job {job} has no compaction file yet");
            return Err(Failure::refused(what).hint("`brain-guard append` makes one").into());
        }
        let shape = &facts.settings.file.shape.clone();
        let Some(id) = &self.id else {
            list(&jobs::read(&facts.places, &job)?.unwrap_or_default(), shape);
            return Ok(Exit::Done);
        };
        let open = selector::open(&mut facts)?;
        let path = facts.places.compaction(&open.job);
        super::keep_bytes(&facts.places, &open.job)?;
        let after = compaction::close(&open.text, shape, id)
            .map_err(|e| Failure::refused(format_args!("{}: {e}", path.display())))?;
        jobs::write_live(&facts.places, &open.job, &after)
            .with_context(|| format!("could not write {}", path.display()))?;
        drop(open);
        boundary_flow::after_note(&facts);
        out(format_args!("closed {id} in {}", path.display()));
        Ok(Exit::Done)
    }
}

/// One line per entry: its id, whether it is closed, its section, its first words.
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
