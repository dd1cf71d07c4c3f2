//! `tag --from engagement.md`: the phases of an engagement are spans of time. Rounds that began in
//! a phase belong to it.

use std::path::Path;

use anyhow::{Context as _, bail};

use super::{add, tag_all};
use crate::cli::TagArgs;
use crate::cmd::search::filter;
use crate::cmd::surgery::source::Store;
use crate::cmd::{Exit, err};
use base::atomic;
use base::clock::Time;
use base::env::Env;
use base::paths::resolve;
use store::blocks::Folder;
use store::engagement::{self, Engagement};
use surgery::matrix;

/// Reads the file, stores its phases for the matrix, and tags the rounds in them.
///
/// # Errors
/// A file that is not an engagement's, or has no phase; no session to tag.
pub fn run(env: &Env, now: Time, file: &Path, args: &TagArgs) -> anyhow::Result<Exit> {
    let shown = file.display();
    let text = atomic::read_text(file).with_context(|| shown.to_string())?;
    let Some(text) = text else { bail!("there is no file {shown}; name an engagement.md") };
    let engagement =
        engagement::parse(&text).map_err(|fault| anyhow::anyhow!("{shown}: {fault}"))?;
    let Engagement { id, phases, .. } = &engagement;
    if phases.is_empty() {
        bail!(
            "{shown}: no phase with a time is in it (a line like `| design | 2026-03-19T10:00Z | \
             2026-03-20T09:00Z |` below a heading `Phases`); brain-guard tag SESSION ROUNDS {id} \
             tags by number"
        );
    }
    for line in &engagement.unzoned {
        err(format_args!("{shown}: line {line}: a time without a zone is read as UTC"));
    }
    let store = Store::open(env)?;
    let filter = filter(&store, env, now, &args.narrow)?;
    let folders = match &filter.session {
        Some(folder) => vec![folder.clone()],
        None => of_project(&store, file)?,
    };
    store.index.set_phases(id, phases)?;
    let (mut groups, mut others) = (Vec::new(), 0);
    for folder in folders {
        let session = store.index.session(&folder)?;
        if filter.agent.as_ref().is_some_and(|agent| *agent != session.agent) {
            continue;
        }
        let within = session
            .rounds
            .iter()
            .filter(|round| round.is_work() && matrix::place(phases, round).is_some());
        let recent = within.filter(|round| filter.since.is_none_or(|at| round.started >= Some(at)));
        for round in recent {
            match &round.engagement {
                Some(tag) if tag == id => {}
                Some(_) if !args.retag => others += 1,
                _ => add(&mut groups, folder.clone(), round.seq),
            }
        }
    }
    let left = (others > 0).then(|| {
        format!("{others} rounds in these phases keep another tag; --retag gives them {id}")
    });
    tag_all(&store, groups, id, left, args.json)
}

/// The sessions that ran in the file's folder or below it, including subagents.
fn of_project(store: &Store, file: &Path) -> anyhow::Result<Vec<Folder>> {
    let file = resolve(file);
    let project = file.parent().unwrap_or(Path::new("/"));
    let sessions = store.index.sessions()?;
    let ran = |cwd: &str| resolve(Path::new(cwd)).starts_with(project);
    let own = sessions.iter().filter(|session| session.cwd.as_deref().is_some_and(ran));
    let folders: Vec<Folder> =
        own.map(|session| store.root.folder(&session.agent, &session.id)).collect();
    if folders.is_empty() {
        bail!(
            "no imported session ran in {}; import them with `brain-guard import --project {}`, \
             or name one with --session",
            project.display(),
            project.display()
        );
    }
    Ok(folders)
}
