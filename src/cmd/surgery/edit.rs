//! `surgery edit`: prints a session's rounds as a list, and makes what an edited list says.

use std::path::Path;

use anyhow::{Context as _, anyhow, bail};

use super::source::Store;
use super::{Children, pipeline};
use crate::cli::OutputArgs;
use crate::cmd::{Context, Exit, out_unchanged, show, stdin_text, succession};
use base::atomic;
use sessions::operation::Operation;
use surgery::plan::edit::{self, Mistake};

/// Edits a session by the list in a file; without one, prints the list.
pub fn run(
    context: Context,
    session: Option<&str>,
    plan: Option<&Path>,
    output: &OutputArgs,
) -> anyhow::Result<Exit> {
    let env = context.env;
    let store = Store::open(env)?;
    let session = store.session(env, session)?;
    if let Some(path) = plan {
        let fates = edit::parse(&read(path)?, &session)
            .map_err(|mistakes| anyhow!("{}\nnothing was made", told(path, &mistakes)))?;
        if fates.is_empty() {
            bail!("{} names no round; nothing was made", path.display());
        }
        let order = output.order(Operation::Edit(fates));
        if output.here {
            return succession::ask(context, &store, &session, order);
        }
        let made = pipeline::perform(context, &store, &session, &order, output.into())?;
        show(&Children { sessions: made }, output.json)?;
        return Ok(Exit::Done);
    }
    out_unchanged(edit::list(&session).trim_end());
    Ok(Exit::Done)
}

/// The list in a file, or on stdin for `-`.
fn read(path: &Path) -> anyhow::Result<String> {
    if path == Path::new("-") {
        return stdin_text();
    }
    let shown = path.display();
    atomic::read_text(path)
        .with_context(|| format!("could not read {shown}"))?
        .with_context(|| format!("there is no file {shown}"))
}

/// The mistakes in a list, each with its line.
fn told(path: &Path, mistakes: &[Mistake]) -> String {
    let lines = mistakes.iter().map(|mistake| format!("{}:{mistake}", path.display()));
    lines.collect::<Vec<_>>().join("\n")
}
