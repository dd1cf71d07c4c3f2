//! The jobs: each calls what the verbs call.

mod acting;
mod lists;

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;

use super::message::{Answer, Filter, Job, Opened};
use crate::cmd::surgery::revive;
use crate::cmd::surgery::source::Store;
use crate::cmd::{Context, advise, round_list, show_round};
use base::atomic::{self, Mark};
use base::clock;
use base::env::Env;
use base::when::When;
use sessions::operation::{Fidelity, Operation};
use sessions::refusal::Refusal;
use sessions::round::Session;
use store::index;
use surgery::context;

/// Most characters of a page.
const PAGE: usize = 100_000;

/// Does a job. Each opens the store anew, so that no other program's change is taken for a fault.
///
/// # Errors
/// Any error of the verb it calls.
pub fn run(env: &Env, job: Job) -> anyhow::Result<Answer> {
    let context = Context { env, now: clock::now() };
    Ok(match job {
        Job::List { all } => Answer::Listed(lists::sessions(context, all)?),
        Job::Open { name } => Answer::Opened(Box::new(open(context, name.as_deref())?)),
        Job::Reread { name, known } => Answer::Reread(reread(context, &name, known).map(Box::new)),
        Job::Page { session, seq } => page(env, &session, seq)?,
        Job::Search { session, words } => {
            let store = Store::open(env)?;
            let filter =
                index::Filter { session: Some(store.folder(&session)), ..index::Filter::default() };
            let found = store.index.search(&words, &filter, usize::MAX)?;
            let hits = found.iter().map(|hit| (hit.seq, hit.snippet.marked("", "")));
            Answer::Found(Filter { session: session.id.clone(), hits: hits.collect(), words })
        }
        Job::Advise { name } => {
            let report = advise::Report::of(env, context.now, Some(&name))?;
            let (advice, operation) =
                report.best().context("nothing would shorten this session")?;
            let (operation, why) = (operation.clone(), Some(advice.why.clone()));
            Answer::Planned { name, operation, why }
        }
        Job::Revive { name } => {
            let session = Store::open(env)?.session(env, Some(&name))?;
            let cut = revive::cut(&session)?;
            let operation = Operation::CompressBefore(When::Round(cut.seq));
            let why = format!(
                "rounds before {} become lines of the index table: they lie before {}",
                cut.seq, cut.why
            );
            Answer::Planned { name, operation, why: Some(why) }
        }
        Job::Mend { name, is_dry } => acting::mend(context, name, is_dry)?,
        Job::Matrix => Answer::Cells(lists::cells(env)?),
        Job::Measure { name, order, number } => {
            let figures = acting::measure(context, &name, &order);
            Answer::Figures { number, figures: figures.map_err(|e| format!("{e:#}")) }
        }
        Job::Make { name, order, how } => acting::make(context, name, order, how)?,
        Job::Tag { name, rounds, engagement } => acting::tag(env, name, rounds, engagement)?,
        Job::Undo(done) => acting::undo(context, done)?,
    })
}

/// The session as it is now, unless its file is as it was. Nobody asked, so errors say nothing.
fn reread(context: Context, name: &str, known: Option<Mark>) -> Option<Opened> {
    let is_changed = |known| atomic::mark(Path::new(name)).is_some_and(|now| now != known);
    known.is_none_or(is_changed).then(|| open(context, Some(name)).ok()).flatten()
}

fn page(env: &Env, session: &Session, seq: u32) -> anyhow::Result<Answer> {
    let round = session.round(seq).with_context(|| format!("there is no round {seq}"))?;
    let mut text = show_round::page(&Store::open(env)?, session, round, Fidelity::default())?;
    if let Some((end, _)) = text.char_indices().nth(PAGE) {
        text.truncate(end);
        text.push_str("\n\nall of it: brain-guard show ");
        text.push_str(&surgery::table::reference(session, seq));
    }
    Ok(Answer::Page { session: session.id.clone(), seq, text })
}

fn open(Context { env, now }: Context, name: Option<&str>) -> anyhow::Result<Opened> {
    let store = Store::open(env)?;
    // What is written while it is read counts as new.
    let mark = name.and_then(|name| atomic::mark(Path::new(name)));
    let session = store.session(env, name)?;
    let file = session.source.as_ref().map(std::path::PathBuf::from).filter(|file| file.is_file());
    let engagements = store.index.engagements()?.into_iter().map(|(name, _)| name).collect();
    Ok(Opened {
        name: file.as_ref().map_or_else(|| session.id.clone(), |file| file.display().to_string()),
        mark: mark.or_else(|| file.as_deref().and_then(atomic::mark)),
        context: context::Context::of(&session),
        scale: advise::scale_of(env, now, &store, &session)?,
        refusal: round_list::refusal(&store, &session).map(Refusal::words),
        engagements,
        session: Arc::new(session),
    })
}
