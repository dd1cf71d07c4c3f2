//! The list of sessions, and the matrix.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::cli::SessionsArgs;
use crate::cmd::look::Look;
use crate::cmd::session_list::{Row, SessionList};
use crate::cmd::surgery::source::Store;
use crate::cmd::tag::matrix;
use crate::cmd::{Context, advise};
use crate::view::message::{Cell, Entry};
use base::env::Env;
use base::paths::config_folder;
use base::shown::count_with_noun;
use store::index::Export;
use surgery::ranges;
use surgery::table::short;

/// Most sessions of the list.
const SESSIONS: usize = 2_000;

/// For how many sessions the limit is looked up, which takes a look into each file.
const MEASURED: usize = 60;

/// The sessions of the project, or of all, the newest first.
///
/// # Errors
/// What `sessions` may fail with.
pub fn sessions(context: Context, all: bool) -> anyhow::Result<Vec<Entry>> {
    let env = context.env;
    let args = SessionsArgs { all, limit: SESSIONS, agents: true, json: false };
    let list = SessionList::of(env, &args, Look::PLAIN)?;
    let exports = Store::open(env)?.index.exports()?;
    let made: BTreeMap<&str, &str> = exports
        .iter()
        .filter(|export| export.removed.is_none())
        .map(|export| (export.id.as_str(), export.operation.as_str()))
        .collect();
    let of = |row: &Row| Some((row.session.clone(), row.file.clone()?));
    let files: BTreeMap<String, PathBuf> = list.sessions.iter().filter_map(of).collect();
    let open = config_folder(env).map(|config| guard::client::open_sessions(&config));
    let open = open.unwrap_or_default();
    let entry = |(number, row): (usize, Row)| Entry {
        made: made.get(row.session.as_str()).map(|operation| (*operation).to_owned()),
        agent: row.is_subagent().then(|| row.agent.clone().unwrap_or_default()),
        is_open: open.contains(&row.session),
        percent: (number < MEASURED).then(|| percent(context, &row, &exports, &files)).flatten(),
        bytes: row.file.as_ref().and_then(|file| Some(file.metadata().ok()?.len())),
        figures: row.figures.as_ref().map(|figures| (figures.rounds, figures.tokens)),
        engagements: row.figures.into_iter().flat_map(|figures| figures.engagements).collect(),
        id: row.session,
        file: row.file,
        made_from: row.made_from,
        started: row.started,
        ended: row.ended,
    };
    Ok(list.sessions.into_iter().enumerate().map(entry).collect())
}

/// The tokens of a session of Claude Code in percent of its limit.
fn percent(
    Context { env, now }: Context,
    row: &Row,
    exports: &[Export],
    files: &BTreeMap<String, PathBuf>,
) -> Option<u64> {
    let clients = config_folder(env)?.join("projects");
    let file = row.file.clone().filter(|file| file.starts_with(clients) && !row.is_subagent())?;
    let (figures, project) = (row.figures.as_ref()?, row.project.as_ref()?);
    let sources = advise::sources_of(exports, &row.session);
    let sources = sources.into_iter().filter_map(|id| Some((id, files.get(id)?.as_path())));
    let all = std::iter::once((row.session.as_str(), file.as_path())).chain(sources);
    let scale = advise::scale(env, now, project, all)?;
    Some(advise::percent(figures.tokens, scale.limit))
}

/// The cells of the matrix, by engagement, phase and agent.
///
/// # Errors
/// An index that can't be read.
pub fn cells(env: &Env) -> anyhow::Result<Vec<Cell>> {
    let matrix = matrix::of(&Store::open(env)?, None)?;
    let mut cells = Vec::new();
    for line in matrix.lines {
        for (agent, own) in line.cells {
            for cell in own {
                let phase = line.phase.as_ref().map(|phase| format!("  {phase}"));
                let label = format!(
                    "{}{}  {agent}  {}:{} ({})",
                    line.engagement,
                    phase.unwrap_or_default(),
                    short(&cell.session),
                    cell.rounds,
                    count_with_noun(cell.count, "round", "rounds")
                );
                let rounds = ranges::parse(&cell.rounds).map_err(anyhow::Error::msg)?;
                let rounds = rounds.into_iter().flatten().collect();
                cells.push(Cell { label, session: cell.session, rounds });
            }
        }
    }
    Ok(cells)
}
